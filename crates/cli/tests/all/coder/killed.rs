//! `kill -9` at every record of a turn: the run goes on, repeats no write, and keeps its records in order.

use std::{
    process::{Child, Stdio},
    time::{Duration, Instant},
};

use interlock_journal::Engine as _;
use interlock_sqlite::Journal;
use interlock_testkit_activity::model_server::{CoderTurn, Move};
use serde_json::json;

use super::scene::{AFTER, BEFORE, Scene};

/// The longest time for one more record.
const PATIENCE: Duration = Duration::from_secs(60);

/// Returns the number of the run's last record. The store is read in this process: a command would take longer than
/// several records.
fn seq(journal: &Journal) -> u64 {
    journal.find("c1").unwrap().map_or(0, |head| head.seq)
}

/// Waits until the run has more records than `known`, or until its process has ended. Returns true if it has ended.
fn one_more(journal: &Journal, process: &mut Child, known: u64) -> bool {
    let begun = Instant::now();
    while begun.elapsed() < PATIENCE {
        if process.try_wait().unwrap().is_some() {
            return true;
        }
        if seq(journal) > known {
            return false;
        }
    }
    panic!("no record after {known} within {PATIENCE:?}");
}

#[test]
fn a_turn_survives_a_kill_at_every_record() {
    let write = || Move::call("write_file", json!({ "path": "count.sh", "content": AFTER }));
    let moves = vec![
        Move::call("read_file", json!({ "path": "count.sh" })),
        write(),
        Move::done("written"),
        // If the write was cut off, the repair begins here.
        write(),
        Move::done("written again"),
    ];
    let step = json!({ "step_id": "s2", "title": "Write it again", "intent": "It was cut off" });
    let patch = json!({ "remove_steps": [], "update_steps": [], "add_steps": [step] });
    let data = json!({ "patch": patch, "builds_on_change": true, "reason": "it was interrupted" });
    let turn = CoderTurn::change("count the arguments", &["count.sh"], &[], moves).repaired_by("repairable", data);
    let scene = Scene::new(vec![turn]);
    scene.start("count the arguments", "");
    let mut arguments = "send c1 CONFIRM --data '{\"answer\": \"yes\"}'".to_owned();
    let journal = Journal::open(&scene.session.folder().join("../home")).unwrap();
    let mut kills = 0;
    loop {
        let known = seq(&journal);
        let mut command = scene.session.command(&arguments);
        let mut process = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        let has_ended = one_more(&journal, &mut process, known);
        let _ = process.kill();
        process.wait().unwrap();
        if has_ended {
            break;
        }
        kills += 1;
        assert!(kills < 200, "the run does not come to an end");
        arguments = "resume c1".to_owned();
    }
    let shown = scene.run("show c1");
    assert!(shown.stdout.contains("TURN_") || shown.stdout.contains("_ASKED"), "{shown}");
    assert!(kills > 5, "only {kills} kills");
    assert_eq!(scene.run("verify c1").code, Some(0));
    let content = scene.read("count.sh");
    assert!([BEFORE, AFTER].contains(&content.as_str()), "{content}");
    let written = scene.trace().iter().filter(|line| line.starts_with("TOOL_WRITING TOOL_CALL_RESULT")).count();
    let asked = scene.count("write");
    assert!(written <= 2, "{written} writes ({asked}): {:?}", scene.trace());
}
