//! No process that an attempt started outlives it.

use std::time::{Duration, Instant};

use interlock_activities::CommandRun;
use interlock_activity::Activity;
use serde_json::json;

use interlock_testkit_activity::processes::is_alive;

use crate::trial::{EndedAttempt, Trial, sandbox, until};

fn command() -> CommandRun {
    CommandRun::new(Default::default(), sandbox())
}

/// Writes `pid` as soon as a grandchild runs, then waits for it.
const GRANDCHILD: &str = "sh -c 'sleep 1000 & echo $! > pid; wait' & wait";

/// The same command in a separate session, which a signal to the process group does not reach.
const RUNAWAY: &str = "setsid sh -c 'sleep 1000 & echo $! > pid; wait' & until [ -e pid ]; do sleep 0.01; done";

#[tokio::test]
async fn cancelling_ends_grandchildren() {
    let trial = Trial::new(json!({ "command": GRANDCHILD }));
    let running = tokio::spawn(command().start(trial.attempt.clone()));
    let pid = trial.line_of("pid").await;
    assert!(is_alive(&trial.folder, &pid));
    let begun = Instant::now();
    trial.canceller.cancel();
    let (code, _) = EndedAttempt::new(running.await.unwrap()).error();
    assert_eq!(code, "CANCELLED");
    assert!(!is_alive(&trial.folder, &pid));
    assert!(begun.elapsed() < Duration::from_secs(2), "all of them have ended when asked");
}

#[tokio::test]
async fn what_does_not_listen_is_killed_and_its_output_kept() {
    let stubborn = "trap '' TERM; echo begun; sh -c 'echo $$ > pid; while :; do sleep 1; done'";
    let trial = Trial::new(json!({ "command": stubborn, "timeout_s": 0.3 }));
    let begun = Instant::now();
    let ended = trial.run(command()).await;
    assert!(begun.elapsed() >= Duration::from_secs(2), "it had time to end by itself");
    assert_eq!(ended.error(), ("TIMEOUT".into(), "it did not end within 0.3 seconds and was stopped".into()));
    assert_eq!(trial.evidence(&ended, "stdout").unwrap(), b"begun\n");
    assert!(!is_alive(&trial.folder, &trial.line_of("pid").await));
}

#[tokio::test]
async fn what_is_left_in_the_background_ends_with_the_command() {
    for left in ["sleep 1000 & echo $! > pid", RUNAWAY] {
        let trial = Trial::new(json!({ "command": left }));
        let begun = Instant::now();
        let ended = trial.run(command()).await;
        assert_eq!(ended.name, "passed");
        assert!(!is_alive(&trial.folder, &trial.line_of("pid").await), "{left}");
        assert!(begun.elapsed() < Duration::from_secs(5), "nobody waits for it");
    }
}

#[tokio::test]
async fn cancelling_ends_what_has_left_the_group() {
    let trial = Trial::new(json!({ "command": format!("{RUNAWAY}; sleep 1000") }));
    let running = tokio::spawn(command().start(trial.attempt.clone()));
    let pid = trial.line_of("pid").await;
    trial.canceller.cancel();
    EndedAttempt::new(running.await.unwrap()).error();
    assert!(!is_alive(&trial.folder, &pid));
}

#[test]
fn nothing_outlives_the_runtime() {
    let trial = Trial::new(json!({ "command": GRANDCHILD }));
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
    runtime.spawn(command().start(trial.attempt.clone()));
    let pid = runtime.block_on(trial.line_of("pid"));
    drop(runtime);
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(until(|| (!is_alive(&trial.folder, &pid)).then_some(())));
}
