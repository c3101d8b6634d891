//! A kernel lives as long as its run, and no longer.

use std::{
    fs,
    path::Path,
    time::{Duration, Instant},
};

use interlock_activity::Activity as _;
use serde_json::json;

use crate::trial::Trial;

/// Returns the number of processes that work in a directory.
fn processes(folder: &Path) -> usize {
    let folder = folder.canonicalize().unwrap();
    let all = fs::read_dir("/proc").unwrap().flatten().map(|entry| entry.path());
    all.filter(|process| fs::read_link(process.join("cwd")).is_ok_and(|cwd| cwd.starts_with(&folder))).count()
}

/// Waits until no process works in a directory.
async fn gone(folder: &Path) {
    let deadline = Instant::now() + Duration::from_secs(60);
    while processes(folder) > 0 {
        assert!(Instant::now() < deadline, "a process is left");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_kernel_ends_with_its_run() {
    let Some(trial) = Trial::new() else { return };
    trial.effects("import subprocess\nsubprocess.Popen(['sleep', '600'])").await;
    assert!(processes(trial.folder.path()) >= 2);
    trial.activity.run_ended("another");
    assert_eq!(trial.effects("print(1)").await, ["1\n"], "the end of another run changes nothing");
    trial.activity.run_ended("run-1");
    gone(trial.folder.path()).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_unused_kernel_is_ended() {
    let Some(mut trial) = Trial::new() else { return };
    trial.activity = Trial::activity().with_idle(Duration::from_millis(200));
    trial.effects("x = 1").await;
    gone(trial.folder.path()).await;
    assert_eq!(trial.run("print(x)").await.error().0, "KERNEL_LOST");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_lost_kernel_is_reported_with_the_cells_to_execute_again() {
    let Some(mut trial) = Trial::new() else { return };
    trial.effects("x = 1").await;
    trial.effects("x += 1").await;
    trial.act(json!({ "action": "exec", "codecell_id": "cell-1" })).await;
    // A process that takes the run over knows the notebook and nothing else.
    trial.activity = Trial::activity();
    let (code, message) = trial.act(json!({ "action": "exec", "codecell_id": "cell-2" })).await.error();
    assert_eq!(code, "KERNEL_LOST");
    let expected = "the kernel of this run is gone: it ended with the process that had started it. To go on, 2 cells must be executed again: cell-2, cell-1";
    assert_eq!(message, expected, "in the order of their last execution");
    let added = trial.act(json!({ "action": "add", "content": "text" })).await;
    assert_eq!(added.name, "executed", "a cell can be added without a kernel");
    assert_eq!(trial.act(json!({ "action": "exec", "codecell_id": "cell-2" })).await.error().0, "KERNEL_LOST");
}

#[tokio::test(flavor = "multi_thread")]
async fn cells_are_executed_again_without_asking_if_the_machine_says_so() {
    let Some(mut trial) = Trial::new() else { return };
    trial.effects("x = [1]").await;
    trial.effects("x.append(2)").await;
    trial.activity = Trial::activity();
    trial.with["on_kernel_lost"] = json!("rerun");
    let notice = "[The kernel was lost; 2 cells were executed again in a new one.]";
    let added = trial.act(json!({ "action": "add", "shot_type": "action", "content": "print(x)" })).await;
    assert_eq!(added.data["effects"], json!([notice]), "the first action that allows it recovers the kernel");
    trial.with["on_kernel_lost"] = json!("ask");
    let ended = trial.act(json!({ "action": "exec", "codecell_id": "lastAddedCellId" })).await;
    assert_eq!(ended.data["effects"], json!(["[1, 2]\n"]));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_cancelled_cell_is_interrupted_and_thoughts_are_cleared() {
    let Some(trial) = Trial::new() else { return };
    trial.effects("x = 7").await;
    trial.act(json!({ "action": "is_thinking" })).await;
    trial.act(json!({ "action": "add", "shot_type": "action", "content": "open('begun', 'w')\nimport time\ntime.sleep(600)" })).await;
    let (attempt, canceller) = trial.attempt(json!({ "action": "exec", "codecell_id": "lastAddedCellId" }));
    let running = tokio::spawn(trial.activity.start(attempt));
    let deadline = Instant::now() + Duration::from_secs(60);
    while !trial.folder.path().join("begun").exists() {
        assert!(Instant::now() < deadline, "the cell did not begin");
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    canceller.cancel();
    let ended = interlock_testkit_activity::EndedAttempt::new(running.await.unwrap());
    assert_eq!(ended.error().0, "CANCELLED");
    let cells = trial.notebook()["cells"].as_array().unwrap().len();
    assert_eq!(cells, 2, "the thought is gone");
    assert_eq!(trial.effects("print(x)").await, ["7\n"], "the kernel goes on");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_kernel_that_does_not_start_says_why() {
    let Some(mut trial) = Trial::new() else { return };
    let place = trial.folder.path().join("venv/share/jupyter/kernels/bad");
    fs::create_dir_all(&place).unwrap();
    let spec = json!({ "argv": ["sh", "-c", "echo no such module >&2; exit 3"], "language": "bad" });
    fs::write(place.join("kernel.json"), spec.to_string()).unwrap();
    trial.with["kernel"] = json!("bad");
    let (code, message) = trial.run("1").await.error();
    assert_eq!(code, "FAILED");
    assert_eq!(message, "the kernel `bad` did not start: it ended with exit code 3: no such module");
    trial.with["kernel"] = json!("missing");
    assert_eq!(trial.run("1").await.error().0, "NO_KERNELSPEC");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_run_that_continues_the_notebook_of_another_is_told_so() {
    let Some(trial) = Trial::new() else { return };
    trial.effects("x = 1").await;
    let (mut attempt, _canceller) = trial.attempt(json!({ "action": "exec", "codecell_id": "cell-1" }));
    attempt.run = "run-2".into();
    let ended = interlock_testkit_activity::EndedAttempt::new(trial.activity.start(attempt).await);
    let expected = "[The kernel is new: it does not have the state of 1 cell that other runs have executed.]";
    assert_eq!(ended.data["effects"], json!([expected]));
}
