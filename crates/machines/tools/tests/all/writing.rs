//! Tools that change files.

use std::{fs, os::unix::fs::symlink};

use interlock_activity::Activity;
use interlock_chart::Value;
use interlock_testkit_activity::EndedAttempt;
use serde_json::json;

use crate::trial::Trial;

const PATCH: &str = "*** Begin Patch\n*** Update File: a.txt\n@@\n one\n-two\n+2\n three\n*** End Patch\n";

#[tokio::test]
async fn a_patch_in_either_form_changes_files() {
    let trial = Trial::new(&[("a.txt", "one\ntwo\nthree\n"), ("gone.txt", "x\n")]);
    let done = trial.call("apply_patch", json!({ "patch": PATCH })).await.unwrap();
    assert_eq!(trial.text("a.txt"), "one\n2\nthree\n");
    assert_eq!(done["files"], json!([{ "path": "a.txt", "change": "modified", "added_lines": 1, "removed_lines": 1 }]));
    assert_eq!(done["diff"], "--- a/a.txt\n+++ b/a.txt\n@@ -1,3 +1,3 @@\n one\n-two\n+2\n three\n");
    let unified = "--- a/a.txt\n+++ b/a.txt\n@@ -1,3 +1,3 @@\n one\n-2\n+zwei\n three\n--- a/gone.txt\n+++ /dev/null\n@@ -1 +0,0 @@\n-x\n";
    trial.call("apply_patch", json!({ "patch": unified })).await.unwrap();
    assert_eq!(trial.text("a.txt"), "one\nzwei\nthree\n");
    assert!(!trial.folder.join("gone.txt").exists());
}

#[tokio::test]
async fn a_patch_that_does_not_apply_changes_nothing() {
    let trial = Trial::new(&[("a.txt", "one\nTWO\nthree\n"), ("b.txt", "b\n")]);
    let two = "*** Begin Patch\n*** Delete File: b.txt\n*** Update File: a.txt\n@@\n one\n-two\n+2\n*** End Patch\n";
    let (code, message) = trial.fail("apply_patch", json!({ "patch": two })).await;
    assert_eq!(code, "E_CONFLICT");
    assert!(message.contains("a.txt: hunk 1") && message.ends_with("nothing was written"), "{message}");
    assert_eq!((trial.text("a.txt").as_str(), trial.text("b.txt").as_str()), ("one\nTWO\nthree\n", "b\n"));
    let (code, message) = trial.fail("apply_patch", json!({ "patch": "change a to b please" })).await;
    assert_eq!(code, "E_INVALID_ARGS", "{message}");
}

#[tokio::test]
async fn a_file_is_made_replaced_and_deleted() {
    let trial = Trial::new(&[]);
    let made = trial.call("write_file", json!({ "path": "src/new.rs", "content": "fn a() {}" })).await.unwrap();
    assert_eq!(made["files"][0]["change"], "added");
    assert_eq!(trial.text("src/new.rs"), "fn a() {}");
    let replaced = trial.call("write_file", json!({ "path": "src/new.rs", "content": "" })).await.unwrap();
    assert_eq!(replaced["files"][0]["change"], "modified");
    assert_eq!(trial.text("src/new.rs"), "");
    let same = trial.call("write_file", json!({ "path": "src/new.rs", "content": "" })).await.unwrap();
    assert_eq!(same["files"], json!([]));
    trial.call("delete_file", json!({ "path": "src/new.rs" })).await.unwrap();
    assert!(!trial.folder.join("src/new.rs").exists());
    let (code, message) = trial.fail("delete_file", json!({ "path": "src/new.rs" })).await;
    assert_eq!((code.as_str(), message.as_str()), ("E_IO", "src/new.rs does not exist"));
}

#[tokio::test]
async fn an_executable_file_stays_executable() {
    use std::os::unix::fs::PermissionsExt;
    let trial = Trial::new(&[("run.sh", "#!/bin/sh\n")]);
    let path = trial.folder.join("run.sh");
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
    trial.call("write_file", json!({ "path": "run.sh", "content": "#!/bin/sh\ntrue\n" })).await.unwrap();
    assert_eq!(fs::metadata(path).unwrap().permissions().mode() & 0o777, 0o755);
}

#[tokio::test]
async fn a_change_by_a_person_since_the_last_read_is_a_conflict() {
    let mut trial = Trial::new(&[("a.txt", "one\ntwo\nthree\n")]);
    trial.call("read_file", json!({ "path": "a.txt" })).await.unwrap();
    trial.write("a.txt", "one\ntwo\nthree\nfour by a person\n");
    // The record of what was read is evidence, so a restart does not lose it.
    trial.restart();
    for (tool, args) in [
        ("apply_patch", json!({ "patch": PATCH })),
        ("write_file", json!({ "path": "a.txt", "content": "mine\n" })),
        ("delete_file", json!({ "path": "a.txt" })),
    ] {
        let (code, message) = trial.fail(tool, args).await;
        assert_eq!(code, "E_CONFLICT", "{tool}: {message}");
        assert!(message.contains("changed by somebody else since it was last read: a.txt"), "{message}");
        assert_eq!(trial.text("a.txt"), "one\ntwo\nthree\nfour by a person\n", "{tool}");
    }
    trial.call("read_file", json!({ "path": "a.txt" })).await.unwrap();
    trial.call("apply_patch", json!({ "patch": PATCH })).await.unwrap();
    assert_eq!(trial.text("a.txt"), "one\n2\nthree\nfour by a person\n");
    // The tool's own write counts as known.
    trial.call("write_file", json!({ "path": "a.txt", "content": "mine\n" })).await.unwrap();
}

#[tokio::test]
async fn no_tool_writes_outside_of_the_workspace_or_to_ignored_files() {
    let trial = Trial::new(&[(".gitignore", "build/\n"), ("a", "a\n")]);
    let elsewhere = trial.home.path().join("elsewhere");
    fs::create_dir(&elsewhere).unwrap();
    symlink(&elsewhere, trial.folder.join("out")).unwrap();
    symlink("a", trial.folder.join("link")).unwrap();
    for path in ["../x", "/tmp/x", ".git/hooks/pre-commit", "out/x", "link", "build/x", "a/../.git/config"] {
        let (code, message) = trial.fail("write_file", json!({ "path": path, "content": "x" })).await;
        assert_eq!(code, "E_POLICY_DENIED", "{path}: {message}");
    }
    assert_eq!(fs::read_dir(elsewhere).unwrap().count(), 0);
    assert_eq!(trial.text("a"), "a\n");
    let patch = "*** Begin Patch\n*** Add File: out/x\n+x\n*** End Patch\n";
    assert_eq!(trial.fail("apply_patch", json!({ "patch": patch })).await.0, "E_POLICY_DENIED");
}

#[tokio::test]
async fn the_mark_of_a_secret_is_never_written_to_a_file() {
    let trial =
        Trial::new(&[("a.toml", "token = \"abc\"\nport = 1\n"), ("about.md", "marks look like [redacted: x]\n")]);
    let content = "token = \"[redacted: token]\"\nport = 2\n";
    let (code, message) = trial.fail("write_file", json!({ "path": "a.toml", "content": content })).await;
    assert!(code == "E_INVALID_ARGS" && message.contains("`content` has `[redacted: …]`"), "{message}");
    let patch = "*** Begin Patch\n*** Update File: a.toml\n@@\n-token = \"abc\"\n+token = \"[redacted: token]\"\n*** End Patch\n";
    assert_eq!(trial.fail("apply_patch", json!({ "patch": patch })).await.0, "E_INVALID_ARGS");
    assert_eq!(trial.text("a.toml"), "token = \"abc\"\nport = 1\n");
    // A text about such marks can be changed.
    trial.call("write_file", json!({ "path": "about.md", "content": "a mark: [redacted: y]\n" })).await.unwrap();
}

#[tokio::test]
async fn nothing_is_written_without_a_snapshot() {
    let trial = Trial::new(&[]);
    let mut attempt = trial.attempt.clone();
    attempt.with = Value::from(json!({ "call": { "name": "write_file", "args": { "path": "a", "content": "a" } } }));
    let ended = EndedAttempt::new(trial.tools.start(attempt).await);
    assert_eq!(ended.data["payload"]["error"]["code"], "E_POLICY_DENIED", "{:?}", ended.data);
    assert!(!trial.folder.join("a").exists());
}
