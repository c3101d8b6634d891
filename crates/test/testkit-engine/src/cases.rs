//! The cases: each opens a store as one or more processes and checks one duty of an engine.

use std::path::Path;

use interlock_chart::{Value, library};
use interlock_core::{Semantics, TimerId};
use interlock_journal::{
    Append, By, Change, Claim, Created, Definition, Engine, Entry, Error, Filter, Hash, Head, Lease, NewRun, Phase,
    Posted, RunKey, TimerChange,
};

use crate::Store;

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
        place: None,
        by: By::user("ada"),
        parent: None,
        detached: false,
        fork: None,
        unproved: None,
        project: None,
        made_with: None,
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

/// Appended records are visible to every process, and their hashes form a chain.
pub fn appended_records_are_visible_to_every_process_and_chained(store: &dyn Store) {
    let engine = store.open();
    let head = make(&*engine, "r");
    let more = append(&*engine, &[note("a"), note("b")]);
    assert_eq!(engine.append(head.key, 1, lease(&head), more).wait().unwrap(), 3);
    let other = store.open();
    let mut before = Hash::NONE;
    for record in &other.records(head.key, 1, 10).unwrap() {
        assert!(record.follows("r", &before), "{record:?}");
        before = record.hash;
    }
    let found = other.find("r").unwrap().unwrap();
    assert_eq!((found.seq, found.hash, found.place.as_str()), (3, before, "here"));
    assert_eq!(other.definition(&definition().hash).unwrap(), definition());
}

/// Of two different appends after the same record, the second is rejected and writes nothing.
pub fn concurrent_append_is_rejected_as_a_whole(store: &dyn Store) {
    let engine = store.open();
    let head = make(&*engine, "r");
    engine.append(head.key, 1, lease(&head), append(&*engine, &[note("a")])).wait().unwrap();
    let mut late = append(&*engine, &[note("b")]);
    late.timers = vec![TimerChange::Set { timer: TimerId(1), due_ms: 9 }];
    late.snapshot = Some("{}".into());
    let refused = engine.append(head.key, 1, lease(&head), late).wait();
    assert!(matches!(refused, Err(Error::Conflict { expected: 1, found: 2, .. })), "{refused:?}");
    let opened = engine.open(head.key).unwrap();
    assert_eq!((opened.head.seq, opened.timers.len(), opened.snapshot), (2, 0, None));
}

/// A worker whose lease is stale cannot append.
pub fn a_stale_lease_cannot_append(store: &dyn Store) {
    let engine = store.open();
    let head = make(&*engine, "r");
    let Claim::Ours(newer) = engine.claim(head.key, 0).wait().unwrap() else { panic!("it is ours already") };
    let refused = engine.append(head.key, 1, lease(&head), append(&*engine, &[note("a")])).wait();
    assert!(matches!(refused, Err(Error::Fenced { .. })), "{refused:?}");
    engine.append(head.key, 1, newer, append(&*engine, &[note("a")])).wait().unwrap();
    // The release of a stale lease has no effect on the current owner.
    engine.release(head.key, lease(&head)).wait().unwrap();
    assert_eq!(store.open().holder(head.key).unwrap().map(|holder| holder.worker), Some(engine.worker()));
}

/// A claim succeeds if the owner is dead and fails while the owner lives.
pub fn a_run_is_claimed_from_the_dead_and_never_from_the_living(store: &dyn Store) {
    let (first, second) = (store.open(), store.open());
    let head = make(&*first, "r");
    assert_eq!(second.claim(head.key, 0).wait().unwrap(), Claim::Held { worker: first.worker() });
    assert_eq!(second.work(0).unwrap().orphans, []);
    drop(first);
    assert_eq!(second.work(0).unwrap().orphans, [head.key]);
    assert!(matches!(second.claim(head.key, 0).wait().unwrap(), Claim::Ours(Lease { epoch: 2 })));
}

/// Any worker can claim a released run.
pub fn a_released_run_can_be_claimed_by_any_worker(store: &dyn Store) {
    let (first, second) = (store.open(), store.open());
    let head = make(&*first, "r");
    first.release(head.key, lease(&head)).wait().unwrap();
    assert!(matches!(second.claim(head.key, 0).wait().unwrap(), Claim::Ours(_)));
    assert!(matches!(first.claim(head.key, 0).wait().unwrap(), Claim::Held { .. }));
}

/// After a snapshot, only later records are in the tail.
pub fn a_snapshot_shortens_the_tail(store: &dyn Store) {
    let engine = store.open();
    let head = make(&*engine, "r");
    let mut with = append(&*engine, &[note("a")]);
    with.snapshot = Some("{\"x\":1}".into());
    engine.append(head.key, 1, lease(&head), with).wait().unwrap();
    engine.append(head.key, 2, lease(&head), append(&*engine, &[note("b")])).wait().unwrap();
    let opened = engine.open(head.key).unwrap();
    assert_eq!(opened.snapshot, Some((2, "{\"x\":1}".into())));
    assert_eq!(opened.tail.iter().map(|record| record.seq).collect::<Vec<_>>(), [3]);
    assert_eq!(opened.first.seq, 1);
}

/// Timers survive their process and wake only runs without an owner.
pub fn timers_outlive_the_process_and_wake_only_unowned_runs(store: &dyn Store) {
    let engine = store.open();
    let head = make(&*engine, "r");
    let mut with = append(&*engine, &[note("a")]);
    with.phase = Phase::Waiting;
    with.timers = vec![
        TimerChange::Set { timer: TimerId(1), due_ms: 100 },
        TimerChange::Set { timer: TimerId(2), due_ms: 200 },
        TimerChange::Clear { timer: TimerId(1) },
    ];
    engine.append(head.key, 1, lease(&head), with).wait().unwrap();
    assert_eq!(store.open().work(200).unwrap().due, []);
    drop(engine);
    let other = store.open();
    assert_eq!(other.open(head.key).unwrap().timers, [(TimerId(2), 200)]);
    assert_eq!((other.work(199).unwrap().due, other.work(199).unwrap().next_due_ms), (vec![], Some(200)));
    assert_eq!(other.work(200).unwrap().due, [head.key]);
}

/// A message reaches the owner of the run and gets one answer.
pub fn a_message_reaches_the_owner_and_is_answered_once(store: &dyn Store) {
    let (holder, sender) = (store.open(), store.open());
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
}

/// Names are unique, and lists honour their filter.
pub fn names_are_unique_and_lists_are_filtered(store: &dyn Store) {
    let engine = store.open();
    make(&*engine, "prd-1");
    make(&*engine, "prd-2");
    assert!(matches!(engine.create(new_run(&*engine, "prd-1")).wait(), Err(Error::Exists(_))));
    let unknown = NewRun { definition: "nothing".into(), ..new_run(&*engine, "prd-3") };
    assert!(matches!(engine.create(unknown).wait(), Err(Error::NoDefinition(_))));
    let names = |filter: Filter| engine.list(&filter).unwrap().into_iter().map(|head| head.name).collect::<Vec<_>>();
    assert_eq!(names(Filter::default()), ["prd-2", "prd-1"]);
    assert_eq!(names(Filter { at_most: 1, ..Filter::default() }), ["prd-2"]);
    assert_eq!(names(Filter { prefix: Some("prd-1".into()), ..Filter::default() }), ["prd-1"]);
    assert_eq!(names(Filter { phases: vec![Phase::Paused], ..Filter::default() }), [""; 0]);
    let count = |filter: Filter| engine.count(&filter).unwrap().values().sum::<u64>();
    assert_eq!(count(Filter { at_most: 1, ..Filter::default() }), 2, "a count has no pages");
    assert_eq!(count(Filter { prefix: Some("prd-1".into()), ..Filter::default() }), 1);
    assert_eq!(count(Filter { phases: vec![Phase::Paused], ..Filter::default() }), 0);
    assert!(matches!(engine.open(RunKey(99)), Err(Error::NoRun(_))));
}

/// A payload that is too big for a record is stored as evidence.
pub fn a_big_payload_is_stored_as_evidence(store: &dyn Store) {
    let engine = store.open();
    let head = make(&*engine, "r");
    let big = note(&"x".repeat(100_000));
    engine.append(head.key, 1, lease(&head), append(&*engine, std::slice::from_ref(&big))).wait().unwrap();
    let record = engine.records(head.key, 2, 1).unwrap().remove(0);
    assert!(record.payload.len() < 200, "{}", record.payload);
    assert_eq!(engine.entry(&record).unwrap(), big);
}

/// An append that is repeated after a lost answer succeeds and writes nothing; any other append at the same place is rejected.
pub fn a_repeated_append_succeeds_and_writes_nothing(store: &dyn Store) {
    let engine = store.open();
    let head = make(&*engine, "r");
    let mut first = append(&*engine, &[note("a"), note("b")]);
    first.timers = vec![TimerChange::Set { timer: TimerId(1), due_ms: 9 }];
    assert_eq!(engine.append(head.key, 1, lease(&head), first.clone()).wait().unwrap(), 3);
    let (before, numbers) = (engine.open(head.key).unwrap(), engine.changes(0, 10).unwrap());
    assert_eq!(engine.append(head.key, 1, lease(&head), first.clone()).wait().unwrap(), 3, "the answer was lost");
    let after = engine.open(head.key).unwrap();
    assert_eq!((after.head, after.timers, after.tail), (before.head, before.timers, before.tail));
    assert_eq!(engine.changes(0, 10).unwrap(), numbers);
    engine.append(head.key, 3, lease(&head), append(&*engine, &[note("c")])).wait().unwrap();
    assert_eq!(
        engine.append(head.key, 1, lease(&head), first.clone()).wait().unwrap(),
        3,
        "the run has advanced since"
    );
    let longer = append(&*engine, &[note("a"), note("b"), note("other")]);
    for (records, after) in [(append(&*engine, &[note("a"), note("other")]), 1), (longer, 1), (first.clone(), 2)] {
        let refused = engine.append(head.key, after, lease(&head), records).wait();
        assert!(matches!(refused, Err(Error::Conflict { found: 4, .. })), "{refused:?}");
    }
    let Claim::Ours(_) = engine.claim(head.key, 0).wait().unwrap() else { panic!("the run is ours already") };
    let stale = engine.append(head.key, 1, lease(&head), first).wait();
    assert!(matches!(stale, Err(Error::Fenced { .. })), "{stale:?}");
}

/// Pages of a list have every run once, newest first, also if runs are created between two pages.
pub fn a_list_is_read_page_by_page(store: &dyn Store) {
    let engine = store.open();
    for name in ["a", "b", "c", "d", "e"] {
        make(&*engine, name);
    }
    let (mut names, mut before) = (Vec::new(), None);
    loop {
        let page = engine.list(&Filter { before, at_most: 2, ..Filter::default() }).unwrap();
        let Some(last) = page.last() else { break };
        assert!(page.len() <= 2);
        before = Some(last.key);
        names.extend(page.iter().map(|head| head.name.clone()));
        make(&*engine, &format!("later-{}", names.len()));
    }
    assert_eq!(names, ["e", "d", "c", "b", "a"]);
}

/// The change feed has every record of every run once, in the order of their numbers, and continues at any number.
pub fn changes_are_read_since_a_number(store: &dyn Store) {
    let engine = store.open();
    assert_eq!(engine.changes(0, 10).unwrap(), []);
    assert_eq!(engine.last_change().unwrap(), 0);
    let (one, two) = (make(&*engine, "one"), make(&*engine, "two"));
    engine.append(one.key, 1, lease(&one), append(&*engine, &[note("a"), note("b")])).wait().unwrap();
    let all = store.open().changes(0, 10).unwrap();
    let records: Vec<_> = all.iter().map(|change| (change.run, change.seq)).collect();
    assert_eq!(records, [(one.key, 1), (two.key, 1), (one.key, 2), (one.key, 3)]);
    assert!(all.windows(2).all(|pair| pair[0].number < pair[1].number), "{all:?}");
    assert_eq!(engine.changes(all[1].number, 1).unwrap(), [all[2]], "a page");
    let last = all[3].number;
    assert_eq!(engine.changes(last, 10).unwrap(), []);
    assert_eq!(engine.last_change().unwrap(), last);
    engine.append(two.key, 1, lease(&two), append(&*engine, &[note("c")])).wait().unwrap();
    let [Change { number, run, seq: 2 }] = engine.changes(last, 10).unwrap()[..] else {
        panic!("one record was added")
    };
    assert!(number > last && run == two.key);
}

/// The owner of a run is named by the worker that claimed it, in every process.
pub fn an_owner_is_known_by_its_worker_name(store: &dyn Store) {
    let (first, second) = (store.open(), store.open());
    let head = make(&*first, "r");
    assert!(!first.worker().0.is_empty());
    for engine in [&first, &second] {
        assert_eq!(engine.holder(head.key).unwrap().map(|holder| holder.worker), Some(first.worker()));
    }
    first.release(head.key, lease(&head)).wait().unwrap();
    assert_eq!(second.holder(head.key).unwrap(), None);
}

/// Evidence is readable in every process, and the hash of a content is the SHA-256 of the content.
pub fn evidence_is_shared_and_named_by_its_content(store: &dyn Store) {
    let (first, second) = (store.open(), store.open());
    let kept = first.evidence().put("log", "text/plain", b"hello").unwrap();
    assert_eq!(kept.hash, Hash::of(b"hello"));
    assert_eq!(second.evidence().get(&kept.hash).unwrap(), b"hello");
    second.evidence().check(&kept.hash).unwrap();
    assert!(second.evidence().get(&Hash::of(b"other")).is_err());
}
