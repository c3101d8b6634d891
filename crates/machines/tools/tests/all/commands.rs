//! Commands, in the real sandbox.

use std::{
    fs,
    os::unix::fs::symlink,
    time::{Duration, Instant},
};

use interlock_activity::Activity as _;
use interlock_testkit_activity::EndedAttempt;
use interlock_workspace::Place;
use serde_json::json;

use crate::trial::Trial;

#[tokio::test(flavor = "multi_thread")]
async fn a_command_answers_with_its_exit_code_and_output() {
    let trial = Trial::new(&[("sub/a", "")]);
    let done =
        trial.call("run_terminal_cmd", json!({ "command": "pwd; echo oh >&2; exit 3", "cwd": "sub" })).await.unwrap();
    assert_eq!((&done["exit_code"], &done["stderr"]), (&json!(3), &json!("oh\n")));
    assert_eq!(done["stdout"], format!("{}\n", trial.folder.join("sub").display()));
    assert_eq!(done["truncated"], false);
}

#[tokio::test(flavor = "multi_thread")]
async fn long_output_is_cut_in_the_middle() {
    let trial = Trial::new(&[]);
    let done = trial.call("run_terminal_cmd", json!({ "command": "seq 1 20000" })).await.unwrap();
    let text = done["stdout"].as_str().unwrap();
    assert!(text.starts_with("1\n2\n") && text.ends_with("\n20000\n"), "{text}");
    assert!(text.contains("bytes are left out here; run it again with less output"), "{text}");
    assert_eq!(done["truncated"], true);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_command_that_hangs_is_stopped() {
    let trial = Trial::new(&[]);
    let begun = Instant::now();
    let (code, message) =
        trial.fail("run_terminal_cmd", json!({ "command": "echo begun; sleep 600", "timeout_s": 1 })).await;
    assert_eq!(code, "E_TOOL_TIMEOUT");
    assert!(message.starts_with("the command did not end within 1 seconds") && message.contains("begun"), "{message}");
    assert!(begun.elapsed() < Duration::from_secs(60));
}

#[tokio::test(flavor = "multi_thread")]
async fn files_that_a_command_changes_are_known_and_those_of_a_person_are_not() {
    let trial = Trial::new(&[("own.txt", "a\n"), ("theirs.txt", "b\n")]);
    for path in ["own.txt", "theirs.txt"] {
        trial.call("read_file", json!({ "path": path })).await.unwrap();
    }
    trial.write("theirs.txt", "by a person\n");
    trial.call("run_terminal_cmd", json!({ "command": "echo formatted > own.txt" })).await.unwrap();
    trial.call("write_file", json!({ "path": "own.txt", "content": "c\n" })).await.unwrap();
    assert_eq!(trial.fail("write_file", json!({ "path": "theirs.txt", "content": "c\n" })).await.0, "E_CONFLICT");
    assert_eq!(trial.text("theirs.txt"), "by a person\n");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_cancelled_command_ends_the_attempt() {
    let trial = Trial::new(&[]);
    let call = json!({ "call": { "name": "run_terminal_cmd", "args": { "command": "echo begun; sleep 600" } } });
    let running = trial.run(call);
    let stop = async {
        let deadline = Instant::now() + Duration::from_secs(60);
        while !trial.host.said.lock().unwrap().iter().any(|line| line == "begun") {
            assert!(Instant::now() < deadline, "the command did not begin");
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        trial.canceller.cancel();
    };
    let (ended, ()) = tokio::join!(running, stop);
    assert_eq!(ended.error().0, "CANCELLED");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_directory_outside_is_refused() {
    let trial = Trial::new(&[("a", "")]);
    assert_eq!(trial.fail("run_terminal_cmd", json!({ "command": "ls", "cwd": ".." })).await.0, "E_POLICY_DENIED");
    let (code, message) = trial.fail("run_terminal_cmd", json!({ "command": "ls", "cwd": "a" })).await;
    assert_eq!((code.as_str(), message.as_str()), ("E_INVALID_ARGS", "`cwd` is not a directory"));
}

/// A run in a directory of a repository, whose programs can rename that directory.
#[tokio::test(flavor = "multi_thread")]
async fn a_link_in_place_of_the_directory_of_the_run_leads_nowhere() {
    let mut trial = Trial::new(&[("sub/a", "a\n"), ("sub/.gitignore", "")]);
    let sub = trial.folder.join("sub");
    Place::now(&sub).unwrap().fix(&sub);
    trial.attempt.folder.clone_from(&sub);
    let elsewhere = tempfile::tempdir().unwrap();
    let swap = format!("mv sub s2; ln -s {} sub", elsewhere.path().display());
    let done = trial.call("run_terminal_cmd", json!({ "command": swap })).await.unwrap();
    assert!(done["breaches"].to_string().contains("sub was replaced and put back"), "{done}");
    assert!(!sub.is_symlink() && trial.text("sub/a") == "a\n");
    // Another program of the run does the same while no supervisor looks.
    fs::rename(&sub, trial.folder.join("s3")).unwrap();
    symlink(elsewhere.path(), &sub).unwrap();
    for (name, args) in [
        ("run_terminal_cmd", json!({ "command": "echo x > x; echo x > sub/x" })),
        ("write_file", json!({ "path": "sub/x", "content": "x\n" })),
        ("list_dir", json!({ "path": "sub" })),
    ] {
        let mut attempt = trial.attempt.clone();
        attempt.with = json!({ "call": { "name": name, "args": args } }).into();
        let ended = EndedAttempt::new(trial.tools.start(attempt).await);
        let (code, message) = ended.error();
        assert!(code == "FAILED" && message.contains("sub has become a symbolic link"), "{name}: {message}");
    }
    assert_eq!(fs::read_dir(elsewhere.path()).unwrap().count(), 0);
}
