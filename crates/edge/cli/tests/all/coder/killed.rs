//! `kill -9` at every record of a turn, once per turn, and then the run is resumed.
//!
//! The machine defines the end: an activity that only reads is tried again; a write that was cut off is restored and
//! reported as a failure, which RECOVERING repairs; a verification that was cut off is reported too, and made again after
//! the repair. So every one of these turns is completed and verified, each cut write or verification costs one repair, the
//! file was changed exactly once in the end, and no process is left.

use std::{
    path::Path,
    process::{Child, Stdio},
    time::{Duration, Instant},
};

use interlock_journal::{AttemptResult, Engine as _, Entry};
use interlock_sqlite::Journal;
use interlock_testkit_activity::model_server::{CoderTurn, Dialect, ModelServer, Move, coder_answer};
use serde_json::{Value as Json, json};

use super::scene::{AFTER, Scene, patch, told};

const GOAL: &str = "count the arguments";

/// The longest time for one more record, and for leftover processes to end.
const PATIENCE: Duration = Duration::from_secs(120);

/// A model that reads the file, patches it once, and then says that it is done. It goes by the results that it has got, so
/// that a repair patches the file if the write was cut off, and does nothing if it was made.
fn scene() -> Scene {
    let step = json!({ "step_id": "s2", "title": "Make sure of it", "intent": "It was cut off" });
    let repair = json!({ "remove_steps": [], "update_steps": [], "add_steps": [step] });
    let data = json!({ "patch": repair, "builds_on_change": true, "reason": "it was interrupted" });
    let turn =
        |next: Move| CoderTurn::change(GOAL, &["count.sh"], &[], vec![next]).repaired_by("repairable", data.clone());
    let [read, patched, done] = [
        turn(Move::call("read_file", json!({ "path": "count.sh" }))),
        turn(Move::call("apply_patch", patch())),
        turn(Move::done("patched")),
    ];
    let model = ModelServer::start(move |_, asked| {
        let messages = asked.body["messages"].as_array().cloned().unwrap_or_default();
        let has = |text: &str| {
            let results = messages.iter().filter(|message| message["role"] == "tool");
            results.into_iter().any(|message| message["content"].as_str().unwrap_or_default().contains(text))
        };
        let turn = match (has("added_lines"), has("echo 0")) {
            (true, _) => &done,
            (false, true) => &patched,
            (false, false) => &read,
        };
        coder_answer(Dialect::Chat, std::slice::from_ref(turn), asked)
    });
    Scene::with_model(Dialect::Chat, model)
}

fn journal(scene: &Scene) -> Journal {
    Journal::open(&scene.session.folder().join("../home")).unwrap()
}

/// Returns the number of the run's last record. The store is read in this process: a command would take longer than
/// several records.
fn seq(journal: &Journal) -> u64 {
    journal.find("c1").unwrap().map_or(0, |head| head.seq)
}

fn entries(journal: &Journal) -> Vec<Entry> {
    let head = journal.find("c1").unwrap().unwrap();
    let records = journal.records(head.key, 1, usize::MAX).unwrap();
    records.iter().map(|record| journal.entry(record).unwrap()).collect()
}

/// Runs a command, and kills its process as soon as the run has `at` records. Returns true if it was killed.
fn killed(scene: &Scene, arguments: &str, at: u64) -> bool {
    let journal = journal(scene);
    // The command has done nothing before it has added a record.
    let at = at.max(seq(&journal) + 1);
    let mut process: Child =
        scene.session.command(arguments).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    let begun = Instant::now();
    loop {
        assert!(begun.elapsed() < PATIENCE, "{arguments}: no end after {PATIENCE:?}");
        if process.try_wait().unwrap().is_some() {
            return false;
        }
        if seq(&journal) >= at {
            process.kill().unwrap();
            process.wait().unwrap();
            return true;
        }
    }
}

/// Plays the turn with one kill at a record. Returns true if there was one.
fn play(scene: &Scene, at: u64) -> bool {
    let mut is_killed = killed(scene, &format!("run coder --set 'goal={GOAL}' --name c1"), at);
    if is_killed {
        let asked = scene.run("resume c1");
        assert!(asked.code == Some(4) && told(&asked).contains("PLAN_ASKED"), "killed at {at}: {asked}");
    }
    let confirm = "send c1 CONFIRM --data '{\"answer\": \"yes\"}'";
    match is_killed {
        true => drop(scene.run(confirm)),
        false => {
            is_killed = killed(scene, confirm, at);
            if is_killed {
                scene.run("resume c1");
            }
        }
    }
    is_killed
}

/// Returns the attempts of writing tool calls: whether each ended with a result that says it was made, with a result that
/// says it was not, or with an error.
fn writes(entries: &[Entry]) -> Vec<String> {
    let mut of_writes = Vec::new();
    let mut ended = Vec::new();
    for entry in entries {
        match entry {
            Entry::Attempt { activity, name, effect, .. }
                if name == "tool.call" && *effect == interlock_activity::EffectClass::Write =>
            {
                of_writes.push(*activity);
            }
            Entry::Outcome { activity, result, .. } if of_writes.contains(activity) => ended.push(match result {
                AttemptResult::Signal { data, .. } if Json::from(data)["ok"] == true => "made".to_owned(),
                AttemptResult::Signal { data, .. } => {
                    Json::from(data)["payload"]["error"]["code"].as_str().unwrap_or_default().to_owned()
                }
                AttemptResult::Error { data } => Json::from(data)["code"].as_str().unwrap_or_default().to_owned(),
            }),
            _ => {}
        }
    }
    ended
}

/// Returns the codes of the activities that were reported as failed.
fn errors(entries: &[Entry]) -> Vec<String> {
    let code = |entry: &Entry| match entry {
        Entry::Outcome { result: AttemptResult::Error { data }, .. } => {
            Some(Json::from(data)["code"].as_str().unwrap_or_default().to_owned())
        }
        _ => None,
    };
    entries.iter().filter_map(code).collect()
}

/// Waits until no process works in the folder of a scene.
fn no_process_is_left(folder: &Path) {
    let begun = Instant::now();
    loop {
        let processes = std::fs::read_dir("/proc").unwrap().flatten();
        let of_scene = processes
            .filter(|process| std::fs::read_link(process.path().join("cwd")).is_ok_and(|cwd| cwd.starts_with(folder)));
        let left: Vec<_> = of_scene.map(|process| process.file_name()).collect();
        if left.is_empty() {
            return;
        }
        assert!(begun.elapsed() < PATIENCE, "these processes are left: {left:?}");
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// Checks a turn with one kill at a record.
fn check(at: u64) -> bool {
    let scene = scene();
    let is_killed = play(&scene, at);
    let (entries, trace) = (entries(&journal(&scene)), scene.trace());
    let place = journal(&scene).find("c1").unwrap().unwrap().place;
    assert_eq!(place, "TURN_COMPLETED", "killed at {at}: {trace:?}");
    assert_eq!(scene.read("count.sh"), AFTER, "killed at {at}");
    let writes = writes(&entries);
    let is_legal = [
        // The write was not cut off.
        &["made"][..],
        // The write was cut off, restored and reported; the repair made it.
        &["INTERRUPTED", "made"],
    ];
    assert!(is_legal.iter().any(|legal| writes == *legal), "killed at {at}: {writes:?} {trace:?}");
    let errors = errors(&entries);
    let repairs = trace.iter().filter(|line| line.contains("repairable")).count();
    assert_eq!((repairs, errors.len() <= 1), (errors.len(), true), "killed at {at}: {errors:?} {trace:?}");
    assert_eq!(trace.iter().filter(|line| line.contains("verify_pass")).count(), 1, "killed at {at}: {trace:?}");
    let verified = scene.run("verify c1");
    assert_eq!(verified.code, Some(0), "killed at {at}: {verified}");
    no_process_is_left(scene.session.folder().parent().unwrap());
    is_killed
}

/// Kills turns at every fourth record, beginning with `first`, until a turn ends before it is killed.
fn every_fourth(first: u64) {
    let mut kills = 0;
    while check(first + 4 * kills) {
        kills += 1;
        assert!(kills < 100, "a turn has no end");
    }
    assert!(kills > 5, "only {kills} kills");
}

#[test]
fn a_turn_survives_a_kill_at_records_1_5_9_and_so_on() {
    every_fourth(1);
}

#[test]
fn a_turn_survives_a_kill_at_records_2_6_10_and_so_on() {
    every_fourth(2);
}

#[test]
fn a_turn_survives_a_kill_at_records_3_7_11_and_so_on() {
    every_fourth(3);
}

#[test]
fn a_turn_survives_a_kill_at_records_4_8_12_and_so_on() {
    every_fourth(4);
}
