//! `/commit`: it shows what it does, and holds exactly the change of the turn.

use std::os::unix::fs::PermissionsExt as _;

use interlock_testkit_activity::model_server::{CoderTurn, Move};
use serde_json::json;

use super::{
    keys::{ENTER, PROMPT, terminal},
    scene::{Scene, patch, repair, told},
};

const GOAL: &str = "count the arguments";

/// A project whose check leaves a report and sorts a list that is part of the project.
fn scene(moves: Vec<Move>) -> Scene {
    let scene = Scene::new(vec![CoderTurn::change(GOAL, &["count.sh"], &[], moves)]);
    scene.write("list.txt", "b\na\n");
    scene.write(".gitignore", "ignored.txt\n");
    scene.write("test.sh", "echo ran > report.txt\nsort -o list.txt list.txt\ntest \"$(sh count.sh a b)\" = 2\n");
    scene.git(&["add", "-A"]);
    scene.git(&["commit", "-qm", "A check that leaves files"]);
    scene
}

#[test]
fn a_commit_holds_what_the_turn_changed_and_nothing_else() {
    let moves = vec![
        Move::call("apply_patch", patch()),
        Move::call("run_terminal_cmd", json!({ "command": "echo made > generated.txt; echo x > ignored.txt" })),
        Move::call("run_terminal_cmd", json!({ "command": "make test 2>&1 | tail -3" })),
        Move::call("needs_user", json!({ "questions": ["Shall I go on?"] })),
        Move::done("done"),
    ];
    let scene = scene(moves);
    scene.write("before.txt", "a person's, from before the turn\n");
    scene.start(GOAL, "--set once=false");
    let mut asked = scene.send("CONFIRM", &json!({ "answer": "yes" }));
    for _ in 0..2 {
        assert!(told(&asked).contains("CALL_ASKED"), "{asked}");
        asked = scene.send("CONFIRM", &json!({ "answer": "yes" }));
    }
    assert!(told(&asked).contains("STEP_ASKED"), "{asked}");
    scene.write("meanwhile.txt", "a person's, from the middle of the turn\n");
    let ended = scene.send("CLARIFICATION_ANSWER", &json!({ "text": "yes" }));
    assert!(told(&ended).contains("verify_pass"), "{ended}");
    scene.send("COMMIT", &json!({ "message": "Count the arguments" }));
    let shown = scene.run("show c1");
    assert!(shown.stdout.contains("interlock/coder-c1") && shown.stdout.contains("generated.txt"), "{shown}");
    let committed = scene.send("CONFIRM", &json!({ "answer": "yes" }));
    assert!(told(&committed).contains("commit_success"), "{committed}");
    // The file of the command and the list that the check sorts are in it. The report that checks have made is not.
    let files = scene.git(&["show", "--name-only", "--format=", "interlock/coder-c1"]);
    assert_eq!(files, "count.sh\ngenerated.txt\nlist.txt");
    assert_eq!(scene.read("report.txt"), "ran\n");
}

/// A turn that uses a file of a person, which is in no commit, and asks a question before it ends.
fn uses_a_file_of_a_person() -> Scene {
    let patch = "--- a/count.sh\n+++ b/count.sh\n@@ -1 +1 @@\n-echo 0\n+. ./mine.sh; number $#\n";
    let moves = vec![
        Move::call("apply_patch", json!({ "patch": patch })),
        Move::call("needs_user", json!({ "questions": ["Shall I go on?"] })),
        Move::done("done"),
    ];
    Scene::new(vec![CoderTurn::change(GOAL, &["count.sh"], &[], moves)])
}

const MINE: &str = "number() { echo \"$1\"; }\n";

#[test]
fn a_commit_that_lacks_uncommitted_work_of_a_person_is_verified_without_it() {
    let scene = uses_a_file_of_a_person();
    scene.write("mine.sh", MINE);
    scene.start(GOAL, "--set once=false");
    scene.send("CONFIRM", &json!({ "answer": "yes" }));
    let ended = scene.send("CLARIFICATION_ANSWER", &json!({ "text": "yes" }));
    assert!(told(&ended).contains("verify_pass"), "{ended}");
    scene.send("COMMIT", &json!({}));
    let refused = scene.send("CONFIRM", &json!({ "answer": "yes" }));
    assert!(told(&refused).contains("not committed: on the tree to commit, `make test` failed"), "{refused}");
    assert_eq!(scene.git(&["branch", "--list", "interlock/*"]), "");
}

#[test]
fn a_branch_that_was_moved_during_the_turn_is_not_committed_to() {
    let scene = uses_a_file_of_a_person();
    scene.write("mine.sh", MINE);
    scene.start(GOAL, "--set once=false");
    scene.send("CONFIRM", &json!({ "answer": "yes" }));
    scene.git(&["add", "mine.sh"]);
    scene.git(&["commit", "-qm", "Whoever made this"]);
    scene.send("CLARIFICATION_ANSWER", &json!({ "text": "yes" }));
    scene.send("COMMIT", &json!({}));
    let refused = scene.send("CONFIRM", &json!({ "answer": "yes" }));
    let why = "somebody else than this run has moved the branch main from ";
    assert!(told(&refused).contains("not committed: ") && told(&refused).contains(why), "{refused}");
}

#[test]
fn what_a_person_does_during_a_turn_does_not_verify_it() {
    let scene = uses_a_file_of_a_person();
    scene.start(GOAL, "--set once=false");
    scene.send("CONFIRM", &json!({ "answer": "yes" }));
    scene.write("mine.sh", MINE);
    let ended = scene.send("CLARIFICATION_ANSWER", &json!({ "text": "yes" }));
    assert!(told(&ended).contains("verify_fail") && !told(&ended).contains("verify_pass"), "{ended}");
}

#[test]
fn a_commit_shows_branch_message_files_diff_and_hooks() {
    let scene = Scene::new(vec![repair(GOAL)]);
    let hook = scene.session.folder().join(".git/hooks/pre-commit");
    std::fs::create_dir_all(hook.parent().unwrap()).unwrap();
    std::fs::write(&hook, "#!/bin/sh\necho the hook has looked\n").unwrap();
    std::fs::set_permissions(&hook, std::fs::Permissions::from_mode(0o755)).unwrap();
    let mut terminal = terminal(&scene, &format!("'{GOAL}' --name c1"));
    terminal.answer("instead › ", &format!("yes{ENTER}"));
    terminal.answer("completed", "");
    terminal.answer(PROMPT, &format!("/commit Count all arguments{ENTER}"));
    terminal.answer("branch   interlock/coder-c1", "");
    terminal.answer("message  Count all arguments", "");
    terminal.answer("file     changed count.sh  +1 -1", "");
    terminal.answer("+echo $#", "");
    terminal.answer("instead › ", &format!("yes{ENTER}"));
    terminal.answer("hook pre-commit  (exit code 0)", "");
    terminal.answer("the hook has looked", "");
    terminal.answer("committed ", "");
    terminal.answer(PROMPT, &format!("/exit{ENTER}"));
    terminal.end();
    assert_eq!(scene.git(&["log", "-1", "--format=%s", "interlock/coder-c1"]), "Count all arguments");
}

#[test]
fn a_hook_that_refuses_is_shown_and_nothing_is_committed() {
    let scene = Scene::new(vec![repair(GOAL)]);
    let hook = scene.session.folder().join(".git/hooks/pre-commit");
    std::fs::create_dir_all(hook.parent().unwrap()).unwrap();
    std::fs::write(&hook, "#!/bin/sh\necho not like this\nexit 3\n").unwrap();
    std::fs::set_permissions(&hook, std::fs::Permissions::from_mode(0o755)).unwrap();
    scene.start(GOAL, "--set once=false");
    scene.send("CONFIRM", &json!({ "answer": "yes" }));
    scene.send("COMMIT", &json!({}));
    let refused = scene.send("CONFIRM", &json!({ "answer": "yes" }));
    assert!(told(&refused).contains("not committed") && told(&refused).contains("not like this"), "{refused}");
    assert_eq!(scene.git(&["branch", "--list", "interlock/*"]), "");
}
