//! The commit: its content, its message, its branch and its hooks.

use std::os::unix::fs::PermissionsExt as _;

use serde_json::json;

use super::{
    agents::{says, scene},
    scene::{RIGHT, Scene, WRONG},
};

/// What an agent does that leaves a secret in two commits and in no file.
fn hides_a_secret() -> String {
    let (token, git) = (
        format!("ghp_FAKE0fake1FAKE2fake3{}", "FAKE4fake5FAKE6fake7FAKE8"),
        "git -c user.name=a -c user.email=a@localhost",
    );
    format!("echo {token} > k; git add k; {git} commit -qm add; git rm -q k; {git} commit -qm remove")
}

#[test]
fn branch_of_the_run_with_a_secret_in_a_commit_of_the_agent_is_not_committed_to() {
    let hides = hides_a_secret();
    let once = format!(
        "if [ $n = 1 ]; then {hides}; git branch interlock/b1; git reset -q --hard HEAD~2; fi; echo 'echo $#' > count.sh\n"
    );
    let scene = scene(&format!("{once}{}", says("Done.")));
    let asked = scene.run("run brain --input ../input.json --name b1 --in-place");
    assert_eq!((asked.code, scene.place().as_str()), (Some(4), "AWAITING_CHECKS"), "{asked}");
    let ended = scene.run("send b1 accept_checks");
    assert!(!matches!(ended.code, Some(0)), "{ended}");
    assert!(ended.stderr.contains("has a secret, so nothing was committed: k:1 (github token)"), "{ended}");
    assert_eq!(scene.git(&["log", "--format=%s", "interlock/b1"]), "remove\nadd\nBegin");
    assert_eq!(scene.context("committed"), json!(false));
    // Nor does anybody apply it.
    assert_ne!(scene.run("apply b1").code, Some(0));
    assert_eq!(scene.git(&["log", "--format=%s", "main"]), "Begin");
}

#[test]
fn branch_of_the_run_that_the_agent_has_made_is_no_base_and_needs_a_person() {
    let git = "git -c user.name=a -c user.email=a@localhost";
    let plants = format!(
        "echo 'test \"$(sh count.sh a b)\" = 7' > tests/run.sh; {git} commit -qam test; git branch interlock/b1; git reset -q --hard HEAD~1"
    );
    let scene = scene(&format!("if [ $n = 1 ]; then {plants}; fi; echo 'echo 7' > count.sh\n{}", says("Done.")));
    let asked = scene.run("run brain --input ../input.json --name b1 --in-place");
    assert_eq!((asked.code, scene.place().as_str()), (Some(4), "AWAITING_CHECKS"), "{asked}");
    let objections = scene.context("objections").to_string();
    assert!(objections.contains("somebody else than this run has moved the branch interlock/b1 from "), "{objections}");
    assert!(objections.contains("tests/run.sh"), "the old test fails: {objections}");
    assert_eq!(scene.git(&["log", "--format=%s", "interlock/b1"]), "test\nBegin", "nothing is committed");
}

#[test]
fn commits_of_an_agent_that_may_commit_are_taken_back_if_one_has_a_secret() {
    let hides = hides_a_secret();
    let once = format!("if [ $n = 1 ]; then {hides}; git tag v1; fi; echo 'echo $#' > count.sh\n");
    let scene = scene(&format!("{once}{}", says("Done.")));
    let settings = std::fs::read_to_string(scene.folder().join("../home/agents.toml")).unwrap();
    scene.write("../home/agents.toml", &format!("{settings}may_commit = true\n"));
    let done = scene.run("run brain --input ../input.json --name b1 --in-place");
    assert_eq!(done.code, Some(0), "{done}");
    assert_eq!(scene.git(&["log", "--format=%s", "main"]), "Begin");
    assert_eq!(scene.git(&["tag"]), "");
    assert_eq!(scene.git(&["log", "--format=%s", "interlock/b1"]), "Count the arguments\nBegin");
    let trace = scene.run("trace b1 --json").stdout;
    assert!(trace.contains("a commit or tag has a secret: k:1 (github token)"), "{trace}");
}

#[test]
fn failing_test_leads_to_a_verified_commit() {
    let scene = Scene::new();
    scene.write("notes.txt", "not part of the task\n");
    scene.start(&json!({}));
    let failed = scene.reply(WRONG);
    assert!(failed.code == Some(4) && failed.stdout.contains("CODING"), "{failed}");
    let done = scene.reply(RIGHT);
    assert_eq!(done.code, Some(0), "{done}");
    assert_eq!(scene.git(&["show", "interlock/b1:count.sh"]), RIGHT.trim_end());
    assert_eq!(scene.git(&["log", "-1", "--format=%s", "interlock/b1"]), "Count the arguments");
    assert_eq!(scene.git(&["log", "-1", "--format=%b", "interlock/b1"]), "- count.sh (+1 -1)");
    assert_eq!(scene.git(&["diff", "--name-only", "main", "interlock/b1"]), "count.sh");
    assert_eq!(scene.git(&["log", "--format=%s", "main"]), "Begin");
    assert_eq!(scene.git(&["status", "--short"]), " M count.sh\n?? notes.txt");
    let report = scene.run("report b1").stdout;
    let told = [
        "brain (\"Count the arguments\") ",
        "to `interlock/b1`: Count the arguments;",
        "verified: `sh tests/run.sh` passed in record ",
    ];
    assert!(told.iter().all(|words| report.contains(words)), "{report}");
}

#[test]
fn the_end_tells_the_verification_to_people_and_to_programs() {
    for (other, is_verified, told) in
        [("notes.md", true, "Verified: tree "), ("more.sh", false, "Measured, not verified: ")]
    {
        let scene = Scene::new();
        scene.start(&json!({}));
        scene.write("count.sh", RIGHT);
        scene.write(other, "echo $((1 + 1))\n");
        let data = json!({ "tree": "", "edited": true, "summary": "I counted them." });
        let done = scene.run(&format!("send b1 ai_reply_done --data '{data}' --json"));
        let end: serde_json::Value = serde_json::from_str(&done.stdout).unwrap();
        assert_eq!(end["verification"]["verified"], json!(is_verified), "{done}");
        assert!(end["verification"]["shown"].as_str().unwrap().starts_with("tree "), "{done}");
        assert!(done.stderr.contains(told), "{done}");
    }
}

#[test]
fn branch_of_an_undone_commit_comes_back_when_the_undo_is_undone() {
    let scene = Scene::new();
    scene.start(&json!({}));
    scene.reply(RIGHT);
    let commit = scene.git(&["rev-parse", "interlock/b1"]);
    let undone = scene.run("undo b1");
    assert!(undone.code == Some(0) && !scene.has_branch(), "{undone}");
    let report = scene.run("report b1").stdout;
    assert!(report.contains("its branches and tags were moved back in record "), "{report}");
    assert!(scene.run("show b1").stdout.contains("undone: branches and tags moved back"));
    let message = scene.send("user_message", &json!({ "text": "add a comment" }));
    assert!(message.code == Some(1) && message.stderr.contains("b1 was undone"), "{message}");
    let again = scene.run("undo b1");
    assert!(again.stderr.contains("Nothing to undo"), "{again}");
    let write = undone.stderr.split("undo b1 --write ").nth(1).unwrap().trim();
    let back = scene.run(&format!("undo b1 --write {write}"));
    assert!(back.stdout.contains("recreated  refs/heads/interlock/b1"), "{back}");
    assert_eq!(scene.git(&["rev-parse", "interlock/b1"]), commit);
    assert_eq!(std::fs::read_to_string(scene.folder().join("count.sh")).unwrap(), RIGHT);
    let once_more = scene.run("undo b1");
    assert!(once_more.code == Some(0) && !scene.has_branch(), "{once_more}");
}

#[test]
fn edit_after_the_test_goes_back_through_the_review() {
    let scene = Scene::new().with_person_for(&["judge.commit_message"]);
    scene.start(&json!({}));
    let tested = scene.reply(RIGHT);
    assert!(tested.stdout.contains("WRITING_MESSAGE"), "{tested}");
    scene.write("count.sh", WRONG);
    let message = json!({ "message": "Count the arguments" });
    let back = scene.send("message_written", &message);
    assert!(back.stdout.contains("CODING") && back.stderr.contains("reviewed and tested again"), "{back}");
    assert!(!scene.has_branch());
    scene.reply(RIGHT);
    assert_eq!(scene.send("message_written", &message).code, Some(0));
    assert_eq!(scene.git(&["show", "interlock/b1:count.sh"]), RIGHT.trim_end());
}

#[test]
fn hook_that_fails_twice_is_repaired() {
    let scene = Scene::new();
    let hook = scene.folder().join(".git/hooks/pre-commit");
    // The hook counts in an ignored file: what it writes into `.git` is put back.
    scene.write(".git/info/exclude", "tries\n");
    let counts =
        "n=$(cat tries 2>/dev/null || echo 0)\necho $((n + 1)) > tries\ntest $n -ge 2 || { echo too early; exit 1; }\n";
    std::fs::create_dir_all(hook.parent().unwrap()).unwrap();
    std::fs::write(&hook, format!("#!/bin/sh\ncd {}\n{counts}", scene.folder().display())).unwrap();
    std::fs::set_permissions(&hook, std::fs::Permissions::from_mode(0o755)).unwrap();
    scene.start(&json!({}));
    for round in 0..2 {
        let refused = scene.reply(&format!("{RIGHT}# {round}\n"));
        assert!(refused.stdout.contains("COMMIT_REPAIRING") && refused.stderr.contains("too early"), "{refused}");
    }
    let done = scene.reply(RIGHT);
    assert_eq!(done.code, Some(0), "{done}");
    assert_eq!(scene.json("show b1")["context"]["warnings"], json!([]));
}

#[test]
fn message_that_says_nothing_is_refused() {
    let scene = Scene::new().with_person_for(&["judge.commit_message"]);
    scene.start(&json!({ "commit_branch": "counted" }));
    scene.reply(RIGHT);
    let refused = scene.send("message_written", &json!({ "message": "fix bug" }));
    assert!(refused.code == Some(2) && refused.stderr.contains("says nothing about the change"), "{refused}");
    assert_eq!(scene.send("message_written", &json!({ "message": "Count every argument" })).code, Some(0));
    assert_eq!(scene.git(&["log", "-1", "--format=%s", "counted"]), "Count every argument");
}
