//! Errors of a journal whose file or directory is foreign, newer, locked, read-only or damaged. It never continues without its
//! records.

use std::{fs, os::unix::fs::PermissionsExt, path::Path};

use interlock_journal::{Engine, EvidenceStore, RunKey};
use interlock_sqlite::Journal;

fn said(home: &Path) -> (String, String) {
    let error = Journal::open(home).unwrap_err();
    (error.to_string(), error.hint().unwrap_or_default().to_owned())
}

#[test]
fn a_file_that_is_no_store_is_left_alone() {
    let home = tempfile::tempdir().unwrap();
    let file = home.path().join("journal.sqlite");
    fs::write(&file, "this is a shopping list, not a database, and it is long enough to be looked at twice").unwrap();
    let (error, hint) = said(home.path());
    assert!(error.contains("could not be opened") && hint.contains("restore"), "{error} / {hint}");
    assert!(fs::read_to_string(&file).unwrap().starts_with("this is a shopping list"));
}

#[test]
fn a_store_of_a_newer_version_is_not_touched() {
    let home = tempfile::tempdir().unwrap();
    drop(Journal::open(home.path()).unwrap());
    let connection = rusqlite::Connection::open(home.path().join("journal.sqlite")).unwrap();
    connection.pragma_update(None, "user_version", 99).unwrap();
    drop(connection);
    let (error, hint) = said(home.path());
    assert!(
        error.contains("newer version of Interlock (format 99") && hint.contains("newer version"),
        "{error} / {hint}"
    );
}

#[test]
fn the_database_of_another_program_is_not_taken_for_a_store() {
    let home = tempfile::tempdir().unwrap();
    let connection = rusqlite::Connection::open(home.path().join("journal.sqlite")).unwrap();
    connection.execute_batch("CREATE TABLE t (x); PRAGMA user_version = 1").unwrap();
    drop(connection);
    assert!(said(home.path()).0.contains("another program"));
}

#[test]
fn a_store_that_another_program_holds_is_waited_for_then_given_up() {
    let home = tempfile::tempdir().unwrap();
    let journal = Journal::open(home.path()).unwrap();
    let other = rusqlite::Connection::open(home.path().join("journal.sqlite")).unwrap();
    other.execute_batch("BEGIN IMMEDIATE").unwrap();
    let source = interlock_chart::library::load("prd", Path::new("/")).unwrap();
    let definition = interlock_journal::Definition::new(&source, &source.read().chart.unwrap());
    let error = journal.define(definition.clone()).wait().unwrap_err();
    assert!(error.hint().unwrap().contains("another program has locked the store"), "{error}");
    other.execute_batch("ROLLBACK").unwrap();
    journal.define(definition).wait().unwrap();
}

#[test]
fn a_folder_that_may_not_be_written_is_named() {
    let home = tempfile::tempdir().unwrap();
    let folder = home.path().join("closed");
    fs::create_dir(&folder).unwrap();
    fs::set_permissions(&folder, fs::Permissions::from_mode(0o500)).unwrap();
    if fs::write(folder.join("probe"), "").is_ok() {
        // Root may write everywhere; a file in place of the directory fails for root too.
        fs::set_permissions(&folder, fs::Permissions::from_mode(0o700)).unwrap();
        fs::remove_dir_all(&folder).unwrap();
        fs::write(&folder, "").unwrap();
    }
    let (error, _) = said(&folder.join("store"));
    assert!(error.contains("closed/store"), "{error}");
}

#[test]
fn evidence_is_stored_once_and_every_changed_byte_of_it_is_noticed() {
    let home = tempfile::tempdir().unwrap();
    let journal = Journal::open(home.path()).unwrap();
    let store: &EvidenceStore = journal.evidence();
    let content = "line after line\n".repeat(2_000);
    let kept = store.put("log", "text/plain", content.as_bytes()).unwrap();
    assert_eq!(store.put("log", "text/plain", content.as_bytes()).unwrap(), kept);
    assert_eq!(store.get(&kept.hash).unwrap(), content.as_bytes());
    store.check(&kept.hash).unwrap();
    let path = store.path(&kept.hash).unwrap();
    let good = fs::read(&path).unwrap();
    for at in 0..good.len() {
        let mut bad = good.clone();
        bad[at] ^= 1;
        fs::write(&path, &bad).unwrap();
        assert!(store.check(&kept.hash).is_err(), "byte {at} of {} was changed", good.len());
    }
    fs::write(&path, &good[..good.len() - 1]).unwrap();
    assert!(store.check(&kept.hash).is_err(), "its end was cut off");
    // A damaged file is written again when its content is stored the next time.
    store.put("log", "text/plain", content.as_bytes()).unwrap();
    store.check(&kept.hash).unwrap();
}

#[test]
fn what_is_kept_is_its_owners_alone_in_whatever_folder_it_is() {
    let home = tempfile::tempdir().unwrap();
    fs::set_permissions(home.path(), fs::Permissions::from_mode(0o755)).unwrap();
    let journal = Journal::open(home.path()).unwrap();
    journal.evidence().put("log", "text/plain", b"what somebody did").unwrap();
    journal.post(RunKey(1), "something to write".into()).wait().unwrap();
    let entries = fs::read_dir(home.path()).unwrap().map(|entry| entry.unwrap());
    let open_to_others: Vec<_> = entries
        .filter(|entry| entry.metadata().unwrap().permissions().mode() & 0o077 != 0)
        .map(|entry| entry.file_name())
        .collect();
    assert!(open_to_others.is_empty(), "{open_to_others:?}");
}

#[test]
fn whoever_brings_a_record_is_not_kept_waiting_for_another_process() {
    let home = tempfile::tempdir().unwrap();
    let journal = Journal::open(home.path()).unwrap();
    let other = rusqlite::Connection::open(home.path().join("journal.sqlite")).unwrap();
    other.execute_batch("BEGIN IMMEDIATE").unwrap();
    // A caller that waited here would wait forever: the other transaction ends only afterwards.
    let receipt = journal.post(RunKey(1), "written later".into());
    other.execute_batch("COMMIT").unwrap();
    receipt.wait().unwrap();
}
