//! Journals that older versions wrote, kept as text: they must replay exactly, byte for byte and state for state.
//!
//! `journals/broadcast` was recorded when every active state received every signal. The signal `passed` of lint ended
//! the region of the tests, too, and the tests were cancelled. Such a run continues by the rules that it began with; a
//! new run of the same machine uses the current rules.
//!
//! `journals/scoped` was recorded when a guard that could not be evaluated was false: the run says `released` although
//! nobody knows whether there was a critical finding, and an assignment that failed left the old number in the output.

use std::{path::Path, sync::Arc};

use interlock_chart::{Value, library, model::Raiser, yaml};
use interlock_core::{ActivityEnd, Input, Machine, Semantics, State, step};
use interlock_journal::{Append, By, Definition, Engine, Entry, Head, Lease, NewRun, Phase};
use interlock_runtime::{AnyMachine, Live, LoadedMachine, NewFork, fork, replay};
use interlock_sqlite::Journal;

/// The active states after each record of the recorded run.
const PLACES: [&str; 10] = [
    "linting, testing",
    "linting, testing",
    "linting, testing",
    "deciding",
    "deciding",
    "linting, testing",
    "linting, testing",
    "linting, testing",
    "deciding",
    "deciding",
];

/// The active states after each record of the run that says `released`.
const RELEASED: [&str; 3] = ["waiting", "checked", "released"];

/// The record after which `snapshot.json` was stored.
const SNAPSHOT_SEQ: usize = 5;

#[derive(serde::Deserialize)]
struct Recorded {
    at: i64,
    kind: u8,
    hash: String,
    payload: String,
}

fn folder(name: &str) -> std::path::PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/journals").join(name)
}

fn text(name: &str) -> String {
    std::fs::read_to_string(folder("broadcast").join(name)).unwrap()
}

fn records() -> Vec<Recorded> {
    records_of("broadcast")
}

fn records_of(name: &str) -> Vec<Recorded> {
    let text = std::fs::read_to_string(folder(name).join("records.jsonl")).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn definition() -> Definition {
    definition_of("broadcast")
}

fn definition_of(name: &str) -> Definition {
    let source = library::load(folder(name).to_str().unwrap(), Path::new("/")).unwrap();
    let chart = yaml::read_again(&source.text, &source.files).unwrap();
    Definition::new(&source, &chart)
}

/// Creates a store with the first records of the recorded run, with or without the state stored after them.
async fn store(home: &Path, count: usize, snapshot: Option<String>) -> (Journal, Head) {
    store_of("broadcast", home, PLACES[count - 1], count, snapshot).await
}

async fn store_of(name: &str, home: &Path, place: &str, count: usize, snapshot: Option<String>) -> (Journal, Head) {
    let journal = Journal::open_inline(home).unwrap();
    let definition = definition_of(name);
    journal.define(definition.clone()).await.unwrap();
    let entries = records_of(name).into_iter().take(count);
    let records =
        entries.map(|one| journal.record(one.at, &Entry::from_json(one.kind, &one.payload).unwrap()).unwrap());
    let first = Append {
        records: records.collect(),
        evidence: Vec::new(),
        phase: Phase::Waiting,
        place: place.to_owned(),
        snapshot,
        timers: Vec::new(),
        answer: None,
    };
    // The name is part of the chain of hashes.
    let created: serde_json::Value = serde_json::from_str(&records_of(name)[0].payload).unwrap();
    let new = NewRun {
        name: created["session"].as_str().unwrap().to_owned(),
        machine: definition.chart().unwrap().id,
        definition: definition.hash,
        parent: None,
        claim: false,
        first,
    };
    let head = journal.create(new).await.unwrap();
    (journal, head)
}

#[tokio::test]
async fn an_old_run_replays_as_it_was_and_its_records_keep_their_bytes() {
    let home = tempfile::tempdir().unwrap();
    let (journal, head) = store(home.path(), PLACES.len(), None).await;
    let hashes: Vec<String> =
        journal.records(head.key, 1, 100).unwrap().iter().map(|one| one.hash.to_string()).collect();
    assert_eq!(hashes, records().iter().map(|one| one.hash.clone()).collect::<Vec<_>>());
    let mut places = Vec::new();
    let live = replay(&journal, &head, head.seq, |frame| places.push(frame.live.place())).unwrap();
    assert_eq!(places, PLACES);
    assert_eq!(live.state.semantics, Semantics::Broadcast);
}

#[tokio::test]
async fn an_old_stored_state_goes_on_by_the_rules_that_the_run_began_with() {
    let home = tempfile::tempdir().unwrap();
    let (journal, head) = store(home.path(), SNAPSHOT_SEQ, Some(text("snapshot.json").trim().to_owned())).await;
    let loaded = Arc::new(LoadedMachine::new(journal.definition(&head.definition).unwrap()).unwrap());
    let opened = journal.open(head.key).unwrap();
    assert!(opened.snapshot.is_some() && opened.tail.is_empty());
    let mut live = Live::load(&opened, loaded, Lease { epoch: 1 }, journal.evidence()).unwrap();
    for (at, one) in records().into_iter().enumerate().skip(SNAPSHOT_SEQ) {
        let entry = Entry::from_json(one.kind, &one.payload).unwrap();
        if let Some(input) = entry.input() {
            live.state = step(&live.loaded.machine, live.state.clone(), input).state;
        }
        assert_eq!(live.place(), PLACES[at]);
    }
    assert_eq!(live.state.semantics, Semantics::Broadcast);
}

#[tokio::test]
async fn a_fork_of_an_old_run_keeps_its_rules() {
    let home = tempfile::tempdir().unwrap();
    let (journal, head) = store(home.path(), SNAPSHOT_SEQ, None).await;
    let wanted = |accepts_unproved| NewFork { at: 3, by: By::user("ada"), accepts_unproved };
    let refused = fork(&journal, &AnyMachine, &head, wanted(false)).unwrap_err().to_string();
    assert!(refused.contains("semantics version 1"), "{refused}");
    let new = fork(&journal, &AnyMachine, &head, wanted(true)).unwrap();
    assert!(!new.first.snapshot.as_ref().unwrap().contains("semantics"));
    let head = journal.create(new).await.unwrap();
    assert_eq!(replay(&journal, &head, head.seq, |_| {}).unwrap().state.semantics, Semantics::Broadcast);
}

#[test]
fn a_new_run_of_the_same_machine_does_not_let_lint_end_the_tests() {
    let chart = definition().chart().unwrap();
    let machine = Machine::new(Arc::new(chart));
    let places = |semantics: Semantics| {
        let start = Input::Started { session: "s".into(), input: Value::empty(), semantics };
        let begun = step(&machine, State::ready(&machine), start).state;
        let lint = begun.running.iter().find(|one| machine.chart().invoke(one.invoke).id.index() == 0).unwrap().id;
        let ended = ActivityEnd::Signal { name: "passed".into(), data: Value::empty() };
        let ended = Input::ActivityFinished { activity: lint, ended };
        step(&machine, begun, ended).state.places(&machine).join(", ")
    };
    assert_eq!(places(Semantics::Broadcast), "deciding");
    assert_eq!(places(Semantics::Scoped), "linted, testing");
}

#[tokio::test]
async fn an_old_run_that_a_failed_guard_decided_replays_as_it_was() {
    let home = tempfile::tempdir().unwrap();
    let (journal, head) = store_of("scoped", home.path(), "released", RELEASED.len(), None).await;
    let hashes: Vec<String> =
        journal.records(head.key, 1, 100).unwrap().iter().map(|one| one.hash.to_string()).collect();
    assert_eq!(hashes, records_of("scoped").iter().map(|one| one.hash.clone()).collect::<Vec<_>>());
    let mut places = Vec::new();
    let live = replay(&journal, &head, head.seq, |frame| places.push(frame.live.place())).unwrap();
    assert_eq!(places, RELEASED);
    assert_eq!((live.state.semantics, live.failure()), (Semantics::Scoped, None));
    assert_eq!(live.output.unwrap().to_string(), r#"{"seen":1}"#);
}

#[tokio::test]
async fn a_fork_of_a_run_that_a_failed_guard_decided_is_not_proved() {
    let home = tempfile::tempdir().unwrap();
    let (journal, head) = store_of("scoped", home.path(), "released", RELEASED.len(), None).await;
    let wanted = |accepts_unproved| NewFork { at: 1, by: By::user("ada"), accepts_unproved };
    let refused = fork(&journal, &AnyMachine, &head, wanted(false)).unwrap_err().to_string();
    assert!(refused.contains("semantics version 2"), "{refused}");
    let head = journal.create(fork(&journal, &AnyMachine, &head, wanted(true)).unwrap()).await.unwrap();
    assert_eq!(replay(&journal, &head, head.seq, |_| {}).unwrap().state.semantics, Semantics::Scoped);
}

#[test]
fn a_new_run_of_the_same_machine_does_not_release_what_nobody_knows() {
    let machine = Machine::new(Arc::new(definition_of("scoped").chart().unwrap()));
    let ends = |semantics: Semantics| {
        let start = Input::Started { session: "s".into(), input: Value::empty(), semantics };
        let begun = step(&machine, State::ready(&machine), start).state;
        let high = Value::map([("findings", Value::map([("high", Value::Int(2))]))]);
        let scanned = Input::EventRaised { event: "scanned".into(), data: high, by: Raiser::User };
        let after = step(&machine, begun, scanned).state;
        (after.places(&machine).join(", "), after.is_done())
    };
    assert_eq!(ends(Semantics::Scoped), ("checked".to_owned(), false));
    assert_eq!(ends(Semantics::Strict), ("waiting".to_owned(), true));
}
