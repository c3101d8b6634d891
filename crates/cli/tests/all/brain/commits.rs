//! The commit: its content, its message, its branch and its hooks.

use std::os::unix::fs::PermissionsExt as _;

use serde_json::json;

use super::scene::{RIGHT, Scene, WRONG};

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
fn branch_of_an_undone_commit_comes_back_when_the_undo_is_undone() {
    let scene = Scene::new();
    scene.start(&json!({}));
    scene.reply(RIGHT);
    let commit = scene.git(&["rev-parse", "interlock/b1"]);
    let undone = scene.run("undo b1");
    assert!(undone.code == Some(0) && !scene.has_branch(), "{undone}");
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
    let counts = "n=$(cat .git/tries 2>/dev/null || echo 0)\necho $((n + 1)) > .git/tries\ntest $n -ge 2 || { echo too early; exit 1; }\n";
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
