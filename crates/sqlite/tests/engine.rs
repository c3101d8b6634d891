//! What every engine must do. A second engine is right when it passes the same.

#![allow(clippy::unwrap_used, clippy::panic, clippy::print_stdout, reason = "a test that cannot go on has failed")]

use std::{path::Path, sync::Arc};

use interlock_chart::{Value, library};
use interlock_core::{Semantics, TimerId};
use interlock_journal::{
    Append, By, Claim, Created, Definition, Engine, Entry, Error, Filter, Hash, Head, Lease, NewRun, Phase, Posted,
    RunKey, TimerChange,
};
use interlock_sqlite::Journal;

/// Opens an engine over a folder, as a process of its own would.
type Open = fn(&Path) -> Arc<dyn Engine>;

/// Every engine there is.
const ENGINES: [(&str, Open); 2] = [
    ("on a thread", |folder| Arc::new(Journal::open(folder).unwrap())),
    ("inline", |folder| Arc::new(Journal::open_inline(folder).unwrap())),
];

/// Runs a case on every engine.
fn each(case: impl Fn(Open, &Path)) {
    for (name, open) in ENGINES {
        println!("{name}");
        let home = tempfile::tempdir().unwrap();
        case(open, home.path());
    }
}

fn definition() -> Definition {
    let source = library::load("prd", Path::new("/")).unwrap();
    let chart = source.read().chart.unwrap();
    Definition::new(&source, &chart)
}

fn created() -> Entry {
    Entry::Created(Created {
        machine: "prd".into(),
        definition: definition().hash,
        session: "r".into(),
        input: Value::empty(),
        folder: None,
        by: By::user("ada"),
        parent: None,
        detached: false,
        fork: None,
        unproved: None,
        project: None,
        semantics: Semantics::CURRENT,
    })
}

fn note(text: &str) -> Entry {
    Entry::Note { text: text.into(), data: Value::empty() }
}

fn append(engine: &dyn Engine, entries: &[Entry]) -> Append {
    Append {
        records: entries.iter().map(|entry| engine.record(5, entry).unwrap()).collect(),
        evidence: Vec::new(),
        phase: Phase::Active,
        place: "here".into(),
        snapshot: None,
        timers: Vec::new(),
        answer: None,
    }
}

fn new_run(engine: &dyn Engine, name: &str) -> NewRun {
    let first = append(engine, &[created()]);
    NewRun { name: name.into(), machine: "prd".into(), definition: definition().hash, parent: None, claim: true, first }
}

fn make(engine: &dyn Engine, name: &str) -> Head {
    engine.define(definition()).wait().unwrap();
    engine.create(new_run(engine, name)).wait().unwrap()
}

fn lease(head: &Head) -> Lease {
    Lease { epoch: head.epoch }
}

#[test]
fn what_is_appended_is_there_for_every_process_and_chained() {
    each(|open, home| {
        let engine = open(home);
        let head = make(&*engine, "r");
        let more = append(&*engine, &[note("a"), note("b")]);
        assert_eq!(engine.append(head.key, 1, lease(&head), more).wait().unwrap(), 3);
        let other = open(home);
        let mut before = Hash::NONE;
        for record in &other.records(head.key, 1, 10).unwrap() {
            assert!(record.follows("r", &before), "{record:?}");
            before = record.hash;
        }
        let found = other.find("r").unwrap().unwrap();
        assert_eq!((found.seq, found.hash, found.place.as_str()), (3, before, "here"));
        assert_eq!(other.definition(&definition().hash).unwrap(), definition());
    });
}

#[test]
fn of_two_who_append_after_the_same_record_one_is_refused_and_nothing_of_it_is_written() {
    each(|open, home| {
        let engine = open(home);
        let head = make(&*engine, "r");
        engine.append(head.key, 1, lease(&head), append(&*engine, &[note("a")])).wait().unwrap();
        let mut late = append(&*engine, &[note("b")]);
        late.timers = vec![TimerChange::Set { timer: TimerId(1), due_ms: 9 }];
        late.snapshot = Some("{}".into());
        let refused = engine.append(head.key, 1, lease(&head), late).wait();
        assert!(matches!(refused, Err(Error::Conflict { expected: 1, found: 2, .. })), "{refused:?}");
        let opened = engine.open(head.key).unwrap();
        assert_eq!((opened.head.seq, opened.timers.len(), opened.snapshot), (2, 0, None));
    });
}

#[test]
fn one_who_has_lost_the_run_cannot_write_to_it() {
    each(|open, home| {
        let engine = open(home);
        let head = make(&*engine, "r");
        let Claim::Ours(newer) = engine.claim(head.key, 0).wait().unwrap() else { panic!("it is ours already") };
        let refused = engine.append(head.key, 1, lease(&head), append(&*engine, &[note("a")])).wait();
        assert!(matches!(refused, Err(Error::Fenced { .. })), "{refused:?}");
        engine.append(head.key, 1, newer, append(&*engine, &[note("a")])).wait().unwrap();
        // An old lease that is given back takes nothing from the one who has the run now.
        engine.release(head.key, lease(&head)).wait().unwrap();
        assert_eq!(open(home).holder(head.key).unwrap().map(|holder| holder.pid), Some(std::process::id()));
    });
}

#[test]
fn a_run_is_taken_from_the_dead_at_once_and_from_the_living_never() {
    each(|open, home| {
        let (first, second) = (open(home), open(home));
        let head = make(&*first, "r");
        assert_eq!(second.claim(head.key, 0).wait().unwrap(), Claim::Held { pid: std::process::id() });
        assert_eq!(second.work(0).unwrap().orphans, []);
        drop(first);
        assert_eq!(second.work(0).unwrap().orphans, [head.key]);
        assert!(matches!(second.claim(head.key, 0).wait().unwrap(), Claim::Ours(Lease { epoch: 2 })));
    });
}

#[test]
fn a_run_that_was_given_back_is_anybodys() {
    each(|open, home| {
        let (first, second) = (open(home), open(home));
        let head = make(&*first, "r");
        first.release(head.key, lease(&head)).wait().unwrap();
        assert!(matches!(second.claim(head.key, 0).wait().unwrap(), Claim::Ours(_)));
        assert!(matches!(first.claim(head.key, 0).wait().unwrap(), Claim::Held { .. }));
    });
}

#[test]
fn a_snapshot_leaves_only_what_came_after_it_to_be_read() {
    each(|open, home| {
        let engine = open(home);
        let head = make(&*engine, "r");
        let mut with = append(&*engine, &[note("a")]);
        with.snapshot = Some("{\"x\":1}".into());
        engine.append(head.key, 1, lease(&head), with).wait().unwrap();
        engine.append(head.key, 2, lease(&head), append(&*engine, &[note("b")])).wait().unwrap();
        let opened = engine.open(head.key).unwrap();
        assert_eq!(opened.snapshot, Some((2, "{\"x\":1}".into())));
        assert_eq!(opened.tail.iter().map(|record| record.seq).collect::<Vec<_>>(), [3]);
        assert_eq!(opened.first.seq, 1);
    });
}

#[test]
fn timers_outlive_the_process_and_wake_only_runs_that_nobody_holds() {
    each(|open, home| {
        let engine = open(home);
        let head = make(&*engine, "r");
        let mut with = append(&*engine, &[note("a")]);
        with.phase = Phase::Waiting;
        with.timers = vec![
            TimerChange::Set { timer: TimerId(1), due_ms: 100 },
            TimerChange::Set { timer: TimerId(2), due_ms: 200 },
            TimerChange::Clear { timer: TimerId(1) },
        ];
        engine.append(head.key, 1, lease(&head), with).wait().unwrap();
        assert_eq!(open(home).work(200).unwrap().due, []);
        drop(engine);
        let other = open(home);
        assert_eq!(other.open(head.key).unwrap().timers, [(TimerId(2), 200)]);
        assert_eq!((other.work(199).unwrap().due, other.work(199).unwrap().next_due_ms), (vec![], Some(200)));
        assert_eq!(other.work(200).unwrap().due, [head.key]);
    });
}

#[test]
fn a_message_reaches_whoever_holds_the_run_and_is_answered_once() {
    each(|open, home| {
        let (holder, sender) = (open(home), open(home));
        let head = make(&*holder, "r");
        let message = sender.post(head.key, "hello".into()).wait().unwrap();
        sender.ring(head.key).unwrap();
        assert_eq!(holder.work(0).unwrap().messages, [head.key]);
        assert_eq!(sender.work(0).unwrap().messages, []);
        assert_eq!(holder.messages(head.key).unwrap()[0].body, "hello");
        assert_eq!(sender.posted(message).unwrap(), Posted::Open);
        holder.answer(message, "good day".into()).wait().unwrap();
        assert_eq!(sender.posted(message).unwrap(), Posted::Answered("good day".into()));
        assert_eq!(holder.messages(head.key).unwrap(), []);
        assert_eq!(sender.withdraw(message).wait().unwrap(), Posted::Answered("good day".into()));
        let other = sender.post(head.key, "and now?".into()).wait().unwrap();
        assert_eq!(sender.withdraw(other).wait().unwrap(), Posted::Open, "nobody had looked at it");
        assert_eq!(holder.messages(head.key).unwrap(), []);
    });
}

#[test]
fn names_are_given_once_and_runs_are_found_by_them() {
    each(|open, home| {
        let engine = open(home);
        make(&*engine, "prd-1");
        make(&*engine, "prd-2");
        assert!(matches!(engine.create(new_run(&*engine, "prd-1")).wait(), Err(Error::Exists(_))));
        let unknown = NewRun { definition: "nothing".into(), ..new_run(&*engine, "prd-3") };
        assert!(matches!(engine.create(unknown).wait(), Err(Error::NoDefinition(_))));
        let names =
            |filter: Filter| engine.list(&filter).unwrap().into_iter().map(|head| head.name).collect::<Vec<_>>();
        assert_eq!(names(Filter::default()), ["prd-2", "prd-1"]);
        assert_eq!(names(Filter { at_most: 1, ..Filter::default() }), ["prd-2"]);
        assert_eq!(names(Filter { prefix: Some("prd-1".into()), ..Filter::default() }), ["prd-1"]);
        assert_eq!(names(Filter { phases: vec![Phase::Paused], ..Filter::default() }), [""; 0]);
        assert!(matches!(engine.open(RunKey(99)), Err(Error::NoRun(_))));
    });
}

#[test]
fn what_is_too_big_for_a_record_is_kept_beside_it() {
    each(|open, home| {
        let engine = open(home);
        let head = make(&*engine, "r");
        let big = note(&"x".repeat(100_000));
        engine.append(head.key, 1, lease(&head), append(&*engine, std::slice::from_ref(&big))).wait().unwrap();
        let record = engine.records(head.key, 2, 1).unwrap().remove(0);
        assert!(record.payload.len() < 200, "{}", record.payload);
        assert_eq!(engine.entry(&record).unwrap(), big);
    });
}
