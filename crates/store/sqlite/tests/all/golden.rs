//! The tables and the chained hashes of a store. They must never change: stores of older versions have them.

use std::path::Path;

use expect_test::expect;
use interlock_chart::Value;
use interlock_journal::{Append, Definition, Engine, Entry, Lease, NewRun, Phase};
use interlock_sqlite::Journal;
use rusqlite::Connection;

fn append(engine: &dyn Engine, text: &str) -> Append {
    let entry = Entry::Note { text: text.into(), data: Value::empty() };
    Append {
        records: vec![engine.record(1_700_000_000_000, &entry).unwrap()],
        evidence: Vec::new(),
        phase: Phase::Active,
        place: "here".into(),
        snapshot: Some("{}".into()),
        timers: Vec::new(),
        answer: None,
    }
}

/// Creates a store with one run of two records.
fn store(home: &Path) -> Connection {
    let journal = Journal::open_inline(home).unwrap();
    let definition =
        Definition { hash: "d".into(), machine: "m".into(), version: 1, text: String::new(), files: Vec::new() };
    journal.define(definition).wait().unwrap();
    let (name, machine, first) = ("golden".into(), "m".into(), append(&journal, "first"));
    let run = NewRun { name, machine, definition: "d".into(), parent: None, claim: true, first };
    let head = journal.create(run).wait().unwrap();
    journal.append(head.key, 1, Lease { epoch: head.epoch }, append(&journal, "second")).wait().unwrap();
    drop(journal);
    Connection::open(home.join("journal.sqlite")).unwrap()
}

fn texts(connection: &Connection, sql: &str) -> String {
    let mut select = connection.prepare(sql).unwrap();
    let rows = select.query_map([], |row| row.get::<_, String>(0)).unwrap();
    rows.map(|row| row.unwrap() + "\n").collect()
}

#[test]
fn the_schema_is_what_it_always_was() {
    let home = tempfile::tempdir().unwrap();
    let connection = store(home.path());
    let schema = texts(&connection, "SELECT sql FROM sqlite_master WHERE sql IS NOT NULL ORDER BY type, name");
    let number = |name: &str| connection.pragma_query_value(None, name, |row| row.get::<_, i64>(0)).unwrap();
    let shown = format!("version {} of {:x}\n{schema}", number("user_version"), number("application_id"));
    expect![[r#"
        version 4 of 494c434b
        CREATE INDEX evidence_by_run ON evidence (run, seq)
        CREATE INDEX message_by_run ON message (run) WHERE answer IS NULL
        CREATE UNIQUE INDEX record_by_run ON record (run, seq)
        CREATE INDEX run_by_phase ON run (phase) WHERE phase = 0
        CREATE INDEX timer_by_due ON timer (due)
        CREATE TABLE definition (
                hash TEXT PRIMARY KEY, machine TEXT NOT NULL, version INTEGER NOT NULL, packed BLOB NOT NULL
            ) STRICT, WITHOUT ROWID
        CREATE TABLE evidence (
                hash BLOB NOT NULL, run INTEGER NOT NULL, seq INTEGER NOT NULL, PRIMARY KEY (hash, run, seq)
            ) STRICT, WITHOUT ROWID
        CREATE TABLE message (id INTEGER PRIMARY KEY AUTOINCREMENT, run INTEGER NOT NULL, body TEXT NOT NULL, answer TEXT, seal BLOB) STRICT
        CREATE TABLE record (
                id INTEGER PRIMARY KEY, run INTEGER NOT NULL, seq INTEGER NOT NULL, at INTEGER NOT NULL, kind INTEGER NOT NULL,
                payload TEXT NOT NULL, hash BLOB NOT NULL
            ) STRICT
        CREATE TABLE run (
                id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, machine TEXT NOT NULL, definition TEXT NOT NULL REFERENCES definition,
                parent TEXT, created INTEGER NOT NULL, updated INTEGER NOT NULL, seq INTEGER NOT NULL, hash BLOB NOT NULL,
                phase INTEGER NOT NULL, place TEXT NOT NULL, worker INTEGER, epoch INTEGER NOT NULL
            , seal BLOB, held_since INTEGER) STRICT
        CREATE TABLE sent (run INTEGER NOT NULL, id TEXT NOT NULL, seq INTEGER NOT NULL, PRIMARY KEY (run, id)) STRICT, WITHOUT ROWID
        CREATE TABLE snapshot (run INTEGER PRIMARY KEY, seq INTEGER NOT NULL, state TEXT NOT NULL, hash BLOB) STRICT
        CREATE TABLE sqlite_sequence(name,seq)
        CREATE TABLE store (name BLOB NOT NULL, records INTEGER NOT NULL, hash BLOB NOT NULL) STRICT
        CREATE TABLE timer (
                run INTEGER NOT NULL, timer INTEGER NOT NULL, due INTEGER NOT NULL, PRIMARY KEY (run, timer)
            ) STRICT, WITHOUT ROWID
        CREATE TABLE worker (id INTEGER PRIMARY KEY AUTOINCREMENT, pid INTEGER NOT NULL) STRICT
    "#]].assert_eq(&shown);
}

#[test]
fn records_chains_and_digests_are_what_they_always_were() {
    let home = tempfile::tempdir().unwrap();
    let connection = store(home.path());
    let rows = [
        "SELECT id || ' ' || seq || ' ' || kind || ' ' || payload || ' ' || lower(hex(hash)) FROM record ORDER BY id",
        "SELECT 'store ' || records || ' ' || lower(hex(hash)) FROM store",
        "SELECT 'lease ' || epoch || ' ' || lower(hex(seal)) FROM run",
        "SELECT 'snapshot ' || seq || ' ' || lower(hex(hash)) FROM snapshot",
    ];
    let shown: String = rows.iter().map(|sql| texts(&connection, sql)).collect();
    expect![[r#"
        1 1 8 {"text":"first"} ea2dfc8a7a3e57cea9e80b2515bcaf1a25895941e1aa1d98f41a275b8698b7e5
        2 2 8 {"text":"second"} 389b87a0d3a13790db68d60e95507d7de636cdb55cfbe7a727e3a5b338d5cd5d
        store 2 66081fa0a2e2dcd51db1175c925630f5254f8fc46fd44209a7fb0cd442bd2a8d
        lease 1 ce72c965d78521b4f2c3654bc7a6fbcf9b1b8e01b3451e3bf4aedeb9396fbd39
        snapshot 2 a9d6dcd93d476afe20e2442a6a63f23312d64fba323099adab230fa9b2511406
    "#]]
    .assert_eq(&shown);
}
