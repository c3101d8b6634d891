//! Many runs and long runs, written into the store as copies of a small run.

use std::path::Path;

use interlock_journal::{Append, By, Engine, Head, NewRun, Unchained};
use interlock_runtime::{AnyMachine, NewFork, fork};
use interlock_sqlite::Journal;

/// Waits for ticks. Its state after any number of ticks is the same.
pub(crate) const TICKER: &str = "\
machine: ticker
version: 1
summary: Waits for ticks.
events: { tick: { from: any, summary: Go round } }
initial: even
states:
  even: { tags: [idle], on: { tick: { target: odd, reason: a tick } } }
  odd: { tags: [idle], on: { tick: { target: even, reason: a tock } } }
";

/// Copies the run `model` under new names.
pub(crate) fn copies(home: &Path, model: &str, names: impl Iterator<Item = String>) {
    let journal = Journal::open(home).unwrap();
    let head = journal.find(model).unwrap().unwrap();
    let records = journal.records(head.key, 1, 100).unwrap();
    let records: Vec<Unchained> =
        records.iter().map(|record| journal.record(record.at_ms, &journal.entry(record).unwrap()).unwrap()).collect();
    let snapshot = snapshot(&journal, &head);
    let made: Vec<_> = names.map(|name| journal.create(run(&head, name, records.clone(), &snapshot))).collect();
    for made in made {
        made.wait().unwrap();
    }
}

/// Writes a run with this many records: those of `model`, which was ticked twice, with its ticks again and again.
pub(crate) fn long_run(home: &Path, model: &str, name: &str, length: usize) {
    let journal = Journal::open(home).unwrap();
    let head = journal.find(model).unwrap().unwrap();
    let records = journal.records(head.key, 1, 10).unwrap();
    assert!(records.len() == 3 && length % 2 == 1, "the start and two ticks, so that a whole number of rounds remains");
    let entries: Vec<_> = records.iter().map(|record| journal.entry(record).unwrap()).collect();
    let ticks = entries[1..].iter().cycle().take(length - 1);
    let first_ms = records[0].at_ms;
    let mut all = vec![journal.record(first_ms, &entries[0]).unwrap()];
    for (at, tick) in (1..).zip(ticks) {
        // An id is accepted once per run.
        let mut tick = tick.clone();
        if let interlock_journal::Entry::Event { id, .. } = &mut tick {
            *id = None;
        }
        all.push(journal.record(first_ms + at, &tick).unwrap());
    }
    let snapshot = snapshot(&journal, &head);
    journal.create(run(&head, name.to_owned(), all, &snapshot)).wait().unwrap();
}

fn snapshot(journal: &Journal, head: &Head) -> Option<String> {
    let wanted = NewFork { at: head.seq, by: By::user("ada"), accepts_unproved: true };
    fork(journal, &AnyMachine, head, wanted).unwrap().first.snapshot
}

fn run(head: &Head, name: String, records: Vec<Unchained>, snapshot: &Option<String>) -> NewRun {
    let first = Append {
        records,
        evidence: Vec::new(),
        phase: head.phase,
        place: head.place.clone(),
        snapshot: snapshot.clone(),
        timers: Vec::new(),
        answer: None,
    };
    let (machine, definition) = (head.machine.clone(), head.definition.clone());
    NewRun { name, machine, definition, parent: None, claim: false, first }
}
