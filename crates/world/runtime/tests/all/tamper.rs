//! `verify` reports every change that is made to a stored run behind the runtime's back.

use std::{
    collections::BTreeMap,
    path::Path,
    sync::{Arc, OnceLock},
};

use interlock_activity::Registry;
use interlock_chart::library;
use interlock_journal::{Engine, Hash, Head};
use interlock_runtime::{Problem, verify};
use interlock_sqlite::Journal;
use interlock_testkit_runs::{Seed, Stage, lively, play_in};
use rusqlite::{Connection, params, types::Value};

/// Creates a store with one finished run in it.
fn store() -> tempfile::TempDir {
    static STAGE: OnceLock<(Arc<Stage>, Seed)> = OnceLock::new();
    let (stage, seed) = STAGE.get_or_init(|| {
        let stage = Arc::new(Stage::new(&library::load("prd", Path::new("/")).unwrap()));
        let seed = lively(&stage);
        (stage, seed)
    });
    let home = tempfile::tempdir().unwrap();
    play_in(home.path(), stage, *seed, None, &BTreeMap::new());
    home
}

fn problems(home: &Path) -> Vec<Problem> {
    let journal = Journal::open_inline(home).unwrap();
    let head: Head = journal.list(&Default::default()).unwrap().remove(0);
    verify(&journal, &Registry::default(), &head).unwrap()
}

fn sql(home: &Path) -> Connection {
    Connection::open(home.join("journal.sqlite")).unwrap()
}

/// Returns the same value with one bit changed, at a position that varies.
fn changed(value: &Value, at: usize) -> Value {
    match value {
        Value::Integer(number) => Value::Integer(number ^ 1),
        Value::Text(text) => {
            let mut bytes = text.clone().into_bytes();
            let at = at % bytes.len();
            bytes[at] ^= 1;
            String::from_utf8(bytes).map_or_else(|_| Value::Text(format!("{text} ")), Value::Text)
        }
        Value::Blob(bytes) => {
            let mut bytes = bytes.clone();
            let at = at % bytes.len();
            bytes[at] ^= 1;
            Value::Blob(bytes)
        }
        other => other.clone(),
    }
}

#[test]
fn a_run_that_nobody_touched_is_as_it_was_written() {
    assert_eq!(problems(store().path()), []);
}

#[test]
fn a_change_to_any_field_of_any_record_is_named() {
    let home = store();
    let count: i64 = sql(home.path()).query_row("SELECT count(*) FROM record", [], |row| row.get(0)).unwrap();
    assert!(count > 10, "{count} records");
    for id in 1..=count {
        for column in ["at", "kind", "payload", "hash"] {
            let connection = sql(home.path());
            let select = format!("SELECT {column}, seq FROM record WHERE id = ?1");
            let (good, seq): (Value, u64) =
                connection.query_row(&select, [id], |row| Ok((row.get(0)?, row.get(1)?))).unwrap();
            let update = format!("UPDATE record SET {column} = ?2 WHERE id = ?1");
            connection.execute(&update, params![id, changed(&good, id as usize * 31)]).unwrap();
            let found = problems(home.path());
            assert!(found.iter().any(|problem| problem.seq == Some(seq)), "{column} of record {seq}: {found:?}");
            connection.execute(&update, params![id, good]).unwrap();
        }
    }
    assert_eq!(problems(home.path()), []);
}

#[test]
fn a_record_that_is_taken_out_is_missed() {
    for (place, what) in [("seq = 3", "in the middle"), ("seq = (SELECT max(seq) FROM record)", "at the end")] {
        let home = store();
        sql(home.path()).execute(&format!("DELETE FROM record WHERE {place}"), []).unwrap();
        assert_ne!(problems(home.path()), [], "{what}");
    }
}

#[test]
fn a_state_that_is_not_what_the_records_lead_to_is_named() {
    let home = store();
    sql(home.path()).execute("INSERT OR REPLACE INTO snapshot VALUES (1, 2, '{}', ?1)", [digest(home.path())]).unwrap();
    assert_ne!(problems(home.path()), [], "a forged state whose digest fits");
}

/// The digest that a forger would compute for the state `{}` after record 2.
fn digest(home: &Path) -> [u8; 32] {
    let record: [u8; 32] =
        sql(home).query_row("SELECT hash FROM record WHERE run = 1 AND seq = 2", [], |row| row.get(0)).unwrap();
    let mut bytes = Vec::new();
    for part in [b"snapshot".as_slice(), &record, b"{}"] {
        bytes.extend((part.len() as u64).to_le_bytes());
        bytes.extend(part);
    }
    Hash::of(&bytes).0
}

#[test]
fn a_row_that_the_records_do_not_lead_to_is_named() {
    for change in [
        "UPDATE run SET place = 'elsewhere'",
        "UPDATE run SET phase = 0",
        "UPDATE run SET machine = 'brain'",
        "UPDATE run SET created = created + 1",
        "UPDATE run SET updated = updated + 1",
        "UPDATE run SET parent = 'another'",
        "INSERT INTO timer VALUES (1, 9, 5)",
        "INSERT INTO evidence VALUES (zeroblob(32), 1, 3)",
    ] {
        let home = store();
        assert!(sql(home.path()).execute(change, []).unwrap() > 0);
        assert_ne!(problems(home.path()), [], "{change}");
    }
}

#[test]
fn evidence_that_is_taken_out_of_the_index_is_missed() {
    let home = store();
    let removed = sql(home.path()).execute("DELETE FROM evidence", []).unwrap();
    assert!(removed > 0, "the run has evidence");
    assert_ne!(problems(home.path()), []);
}

#[test]
fn a_definition_that_was_changed_is_named() {
    let home = store();
    let connection = sql(home.path());
    let packed: Vec<u8> = connection.query_row("SELECT packed FROM definition", [], |row| row.get(0)).unwrap();
    let Value::Blob(bad) = changed(&Value::Blob(packed), 1_000) else { unreachable!() };
    connection.execute("UPDATE definition SET packed = ?1", [bad]).unwrap();
    assert_ne!(problems(home.path()), []);
}

#[test]
fn a_change_to_any_evidence_file_is_named() {
    let home = store();
    let files: Vec<_> = std::fs::read_dir(home.path().join("evidence")).unwrap().flatten().collect();
    let files = files.iter().flat_map(|folder| std::fs::read_dir(folder.path()).unwrap().flatten());
    let files: Vec<_> = files.collect();
    assert!(!files.is_empty());
    for file in files {
        let good = std::fs::read(file.path()).unwrap();
        for at in 0..good.len() {
            let mut bad = good.clone();
            bad[at] ^= 0x10;
            std::fs::write(file.path(), bad).unwrap();
            assert!(problems(home.path()).iter().any(|problem| problem.evidence.is_some()), "byte {at} of {file:?}");
        }
        std::fs::write(file.path(), good).unwrap();
    }
    assert_eq!(problems(home.path()), []);
}
