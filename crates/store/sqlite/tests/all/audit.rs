//! Changes that bypass the store: deleted runs, a shortened log, an emptied database, rows that no record vouches for.

use std::{
    collections::BTreeSet,
    path::{Path, PathBuf},
};

use interlock_chart::{Value, library};
use interlock_journal::{Append, By, Created, Definition, Engine, Entry, Lease, NewRun, Phase, StoreHead};
use interlock_sqlite::{Audit, Journal};
use rusqlite::Connection;

fn definition() -> Definition {
    let source = library::load("prd", Path::new("/")).unwrap();
    let chart = source.read().chart.unwrap();
    Definition::new(&source, &chart)
}

fn entry() -> Entry {
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
        semantics: interlock_core::Semantics::CURRENT,
    })
}

fn append(journal: &Journal, entry: &Entry, snapshot: Option<String>) -> Append {
    Append {
        records: vec![journal.record(5, entry).unwrap()],
        evidence: Vec::new(),
        phase: Phase::Waiting,
        place: "here".into(),
        snapshot,
        timers: Vec::new(),
        answer: None,
    }
}

/// Creates three runs of three records each, with a message. The last write is a record.
fn fill(journal: &Journal) {
    journal.define(definition()).wait().unwrap();
    for name in ["a", "b", "c"] {
        let first = append(journal, &entry(), None);
        let run = NewRun {
            name: name.into(),
            machine: "prd".into(),
            definition: definition().hash,
            parent: None,
            claim: true,
            first,
        };
        let head = journal.create(run).wait().unwrap();
        journal.post(head.key, "hello".into()).wait().unwrap();
        let note = Entry::Note { text: "x".into(), data: Value::empty() };
        for after in 1..3 {
            let lease = Lease { epoch: head.epoch };
            journal.append(head.key, after, lease, append(journal, &note, Some("{}".into()))).wait().unwrap();
        }
    }
}

fn store() -> tempfile::TempDir {
    let home = tempfile::tempdir().unwrap();
    fill(&Journal::open_inline(home.path()).unwrap());
    home
}

fn audit(home: &Path) -> Audit {
    Journal::open_inline(home).unwrap().audit(&BTreeSet::new()).unwrap()
}

fn head(home: &Path) -> StoreHead {
    Journal::open_inline(home).unwrap().store_head().unwrap()
}

fn sql(home: &Path, statement: &str) {
    let changed = Connection::open(home.join("journal.sqlite")).unwrap().execute(statement, []).unwrap();
    assert!(changed > 0, "{statement} changes something");
}

#[test]
fn an_untouched_store_has_no_problems() {
    let home = store();
    let found = audit(home.path());
    assert_eq!(found.problems, [] as [String; 0]);
    assert_eq!((found.head.records, &found.head), (9, &head(home.path())));
}

#[test]
fn rows_that_no_record_vouches_for_are_checked() {
    for statement in [
        "UPDATE run SET epoch = epoch + 1 WHERE name = 'b'",
        "UPDATE run SET worker = 77 WHERE name = 'b'",
        "UPDATE run SET seal = NULL WHERE name = 'b'",
        "UPDATE message SET body = 'another'",
        "UPDATE message SET answer = 'forged' WHERE run = 2",
        "UPDATE message SET seal = NULL",
        "UPDATE message SET run = 77",
        "UPDATE snapshot SET state = '{\"a\":1}' WHERE run = 1",
        "UPDATE snapshot SET seq = 2",
        "UPDATE definition SET version = 99",
        "UPDATE definition SET machine = 'brain'",
        "INSERT INTO timer VALUES (99, 1, 5)",
        "INSERT INTO evidence VALUES (zeroblob(32), 99, 1)",
        "UPDATE store SET records = 8",
        "UPDATE store SET hash = zeroblob(32)",
    ] {
        let home = store();
        sql(home.path(), statement);
        assert_ne!(audit(home.path()).problems, [] as [String; 0], "{statement}");
    }
}

#[test]
fn every_change_of_the_tables_themselves_is_named() {
    for (statement, named) in [
        ("CREATE TRIGGER t AFTER INSERT ON record BEGIN DELETE FROM message; END", "the trigger `t` was added"),
        ("CREATE TEMP TABLE x (a); CREATE TABLE extra (a)", "the table `extra` was added"),
        ("CREATE VIEW seen AS SELECT * FROM run", "the view `seen` was added"),
        ("CREATE INDEX more ON record (kind)", "the index `more` was added"),
        ("DROP INDEX record_by_run", "the index `record_by_run` of the store is missing"),
        (
            "DROP INDEX timer_by_due; CREATE INDEX timer_by_due ON timer (run)",
            "the index `timer_by_due` of the store was changed",
        ),
        ("DROP TABLE timer", "the table `timer` of the store is missing"),
        ("ALTER TABLE sent ADD COLUMN more TEXT", "the table `sent` of the store was changed"),
    ] {
        let home = store();
        Connection::open(home.path().join("journal.sqlite")).unwrap().execute_batch(statement).unwrap();
        let problems = audit(home.path()).problems;
        assert!(problems.iter().any(|problem| problem.contains(named)), "{statement}: {problems:?}");
    }
}

#[test]
fn made_up_ids_of_sendings_are_named() {
    let home = store();
    let journal = Journal::open_inline(home.path()).unwrap();
    let head = journal.find("a").unwrap().unwrap();
    let data = Value::empty();
    let event = Entry::Event { event: "go".into(), data, by: By::user("ada"), id: Some("mine".into()) };
    journal.append(head.key, 3, Lease { epoch: head.epoch }, append(&journal, &event, None)).wait().unwrap();
    drop(journal);
    assert_eq!(audit(home.path()).problems, [] as [String; 0]);
    for (statement, named) in [
        ("INSERT INTO sent VALUES (1, 'future', 2)", "the id `future` of a sending to run a is not that of record 2"),
        ("INSERT INTO sent VALUES (1, 'future', 99)", "belongs to a record that does not exist (1 rows of `sent`)"),
        ("UPDATE sent SET id = 'other'", "the id `other` of a sending"),
        (
            "INSERT INTO evidence VALUES (zeroblob(32), 1, 99)",
            "an evidence entry belongs to a record that does not exist",
        ),
    ] {
        let copied = tempfile::tempdir().unwrap();
        // The log is there unless the last writer has moved it into the store.
        let files = ["journal.sqlite", "journal.sqlite-wal", "journal.head"];
        for name in files.iter().filter(|name| home.path().join(name).exists()) {
            std::fs::copy(home.path().join(name), copied.path().join(name)).unwrap();
        }
        sql(copied.path(), statement);
        let problems = audit(copied.path()).problems;
        assert!(problems.iter().any(|problem| problem.contains(named)), "{statement}: {problems:?}");
    }
}

#[test]
fn a_deleted_run_is_noticed() {
    let home = store();
    for statement in [
        "DELETE FROM record WHERE run = 2",
        "DELETE FROM snapshot WHERE run = 2",
        "DELETE FROM message WHERE run = 2",
        "DELETE FROM run WHERE id = 2",
    ] {
        sql(home.path(), statement);
    }
    let problems = audit(home.path()).problems;
    assert!(problems.iter().any(|problem| problem.contains("records 4 to 6 of the store are missing")), "{problems:?}");
}

#[test]
fn a_deleted_tail_is_noticed_even_if_the_chain_was_adjusted() {
    let home = store();
    let before = audit_at(home.path(), 8);
    sql(home.path(), "DELETE FROM record WHERE id = 9");
    let connection = Connection::open(home.path().join("journal.sqlite")).unwrap();
    connection.execute("UPDATE store SET records = 8, hash = ?1", [before.0]).unwrap();
    drop(connection);
    let problems = audit(home.path()).problems;
    assert!(problems.iter().any(|problem| problem.contains("the store had 9 records")), "{problems:?}");
    // The loss is still reported after more records were written.
    fill_more(home.path());
    assert!(audit(home.path()).problems.iter().any(|problem| problem.contains("the store had 9 records")));
}

fn audit_at(home: &Path, records: u64) -> interlock_journal::Hash {
    Journal::open_inline(home).unwrap().audit(&BTreeSet::from([records])).unwrap().hashes[&records]
}

fn fill_more(home: &Path) {
    let journal = Journal::open_inline(home).unwrap();
    let first = append(&journal, &entry(), None);
    let (name, machine, definition) = ("d".to_owned(), "prd".to_owned(), definition().hash);
    journal.create(NewRun { name, machine, definition, parent: None, claim: false, first }).wait().unwrap();
}

/// Copies a store as it is on the disk while a process has it open.
fn copy(from: &Path, to: &Path) {
    for name in ["journal.sqlite", "journal.sqlite-wal", "journal.head"] {
        std::fs::copy(from.join(name), to.join(name)).unwrap();
    }
}

fn wal(home: &Path) -> PathBuf {
    home.join("journal.sqlite-wal")
}

#[test]
fn a_shortened_or_damaged_log_is_noticed() {
    let home = tempfile::tempdir().unwrap();
    let journal = Journal::open(home.path()).unwrap();
    fill(&journal);
    let length = std::fs::metadata(wal(home.path())).unwrap().len();
    for cut in [length / 2, length - 1, length - 4_000] {
        let copied = tempfile::tempdir().unwrap();
        copy(home.path(), copied.path());
        std::fs::OpenOptions::new().write(true).open(wal(copied.path())).unwrap().set_len(cut).unwrap();
        assert_ne!(audit(copied.path()).problems, [] as [String; 0], "cut at {cut} of {length}");
    }
    let copied = tempfile::tempdir().unwrap();
    copy(home.path(), copied.path());
    let mut bytes = std::fs::read(wal(copied.path())).unwrap();
    let middle = bytes.len() * 3 / 4;
    bytes[middle] ^= 1;
    std::fs::write(wal(copied.path()), bytes).unwrap();
    assert_ne!(audit(copied.path()).problems, [] as [String; 0], "a byte of the log");
    let whole = tempfile::tempdir().unwrap();
    copy(home.path(), whole.path());
    assert_eq!(audit(whole.path()).problems, [] as [String; 0], "the copy itself is good");
}

#[test]
fn an_emptied_database_is_noticed() {
    let home = store();
    for name in ["journal.sqlite", "journal.sqlite-wal", "journal.sqlite-shm"] {
        let _ = std::fs::remove_file(home.path().join(name));
    }
    let problems = audit(home.path()).problems;
    assert!(problems.iter().any(|problem| problem.contains("the store had 9 records")), "{problems:?}");
}

#[test]
fn a_missing_note_of_the_end_is_noticed() {
    let home = store();
    std::fs::remove_file(home.path().join("journal.head")).unwrap();
    let problems = audit(home.path()).problems;
    assert!(problems.iter().any(|problem| problem.contains("journal.head is missing")), "{problems:?}");
}

#[test]
fn a_changed_stored_state_is_not_used() {
    let home = store();
    sql(home.path(), "UPDATE snapshot SET state = 'forged' WHERE run = 1");
    let journal = Journal::open_inline(home.path()).unwrap();
    let opened = journal.open(journal.find("a").unwrap().unwrap().key).unwrap();
    assert_eq!((opened.snapshot, opened.tail.len()), (None, 3));
}

#[test]
fn a_store_of_the_version_before_is_chained_when_it_is_opened() {
    let home = store();
    let connection = Connection::open(home.path().join("journal.sqlite")).unwrap();
    for statement in [
        "DROP TABLE store",
        "ALTER TABLE run DROP COLUMN seal",
        "ALTER TABLE message DROP COLUMN seal",
        "ALTER TABLE snapshot DROP COLUMN hash",
        "DROP TABLE sent",
        "ALTER TABLE run DROP COLUMN held_since",
        "PRAGMA user_version = 2",
    ] {
        connection.execute_batch(statement).unwrap();
    }
    drop(connection);
    std::fs::remove_file(home.path().join("journal.head")).unwrap();
    fill_more(home.path());
    let found = audit(home.path());
    assert_eq!((found.problems, found.head.records), (Vec::new(), 10));
}
