//! Anchors: changes of the store that only an anchor detects.

use interlock_testkit_cli::session::Session;

use super::scene::{brewed, json, run};

/// Makes a store with a run, and an anchor of it in the file `anchors`, signed with a key outside the store.
fn anchored() -> (tempfile::TempDir, Session) {
    let (folder, session) = brewed();
    let session = session.with("INTERLOCK_ANCHOR_KEY", folder.path().join("keys/anchor.key").display().to_string());
    let anchor = run(&session, "anchor");
    assert_eq!(anchor.code, Some(0), "{anchor}");
    assert!(anchor.stderr.contains("created the key"), "{anchor}");
    session.write("anchors", &anchor.stdout).unwrap();
    (folder, session)
}

/// Forges the store: the run is recreated in a new store, which replaces the first.
fn replace_store(folder: &std::path::Path, session: &Session) {
    std::fs::remove_dir_all(folder.join("home")).unwrap();
    assert_eq!(run(session, "run tea --set leaf=oolong --name t1").code, Some(4));
    assert_eq!(run(session, "send t1 boiled").code, Some(4));
}

#[test]
fn an_anchor_fits_the_store_it_was_made_of_also_later() {
    let (_folder, session) = anchored();
    let verified = run(&session, "verify --anchor anchors");
    assert!(verified.code == Some(0) && verified.stdout.contains("1 anchor"), "{verified}");
    run(&session, "send t1 drink");
    let verified = run(&session, "verify --anchor anchors");
    assert_eq!(verified.code, Some(0), "{verified}");
    let key = run(&session, "anchor --public-key").stdout;
    let verified = run(&session, &format!("verify --anchor anchors --public-key {}", key.trim()));
    assert_eq!(verified.code, Some(0), "{verified}");
}

#[test]
fn a_store_that_was_replaced_is_noticed_only_by_the_anchor() {
    let (folder, session) = anchored();
    replace_store(folder.path(), &session);
    assert_eq!(run(&session, "verify").code, Some(0));
    let verified = run(&session, "verify --anchor anchors");
    assert!(verified.code == Some(1) && verified.stdout.contains("belongs to the store"), "{verified}");
}

#[test]
fn a_forged_anchor_is_refused() {
    let (_folder, session) = anchored();
    let text = run(&session, "anchor").stdout;
    for (from, to) in [("\"records\":", "\"records\":1"), ("\"at\":\"2", "\"at\":\"1")] {
        assert!(text.contains(from), "{text}");
        session.write("forged", &text.replace(from, to)).unwrap();
        let verified = run(&session, "verify --anchor forged");
        assert!(verified.code == Some(1) && verified.stdout.contains("is not signed"), "{verified}");
    }
    session.write("other", "hello\n").unwrap();
    let verified = run(&session, "verify --anchor other");
    assert!(verified.code == Some(2) && verified.stderr.contains("other:1: not an anchor"), "{verified}");
}

#[test]
fn a_key_in_the_store_is_refused() {
    let (folder, session) = brewed();
    let inside = folder.path().canonicalize().unwrap().join("home/anchor.key");
    let anchor = run(&session, &format!("anchor --key {}", inside.display()));
    assert!(anchor.code == Some(2) && anchor.stderr.contains("lies in the store"), "{anchor}");
}

#[test]
fn a_key_in_a_repository_is_refused() {
    let (folder, session) = brewed();
    std::fs::create_dir_all(folder.path().join("project/.git")).unwrap();
    let anchor = run(&session, "anchor --key project/anchor.key");
    assert!(anchor.code == Some(2) && anchor.stderr.contains("is in the repository"), "{anchor}");
    assert!(!folder.path().join("project/anchor.key").exists());
}

#[test]
fn anchors_are_delivered_by_themselves() {
    let (folder, session) = anchored();
    let settings = "every = 2\nfile = \"delivered\"\ncommand = [\"tee\", \"piped\"]\n";
    session.write("home/anchor.toml", settings).unwrap();
    assert_eq!(run(&session, "send t1 stronger --data '{\"minutes\":3}'").code, Some(4));
    assert_eq!(run(&session, "send t1 drink").code, Some(0));
    for file in ["delivered", "piped"] {
        let text = std::fs::read_to_string(folder.path().join(file)).unwrap();
        assert!(text.lines().count() > 0, "{file}: {text}");
        let verified = run(&session, &format!("verify --anchor {file}"));
        assert_eq!(verified.code, Some(0), "{verified}");
    }
}

#[test]
fn the_store_is_a_row_of_its_own_in_json() {
    let (_folder, session) = anchored();
    let rows = json(&session, "verify --anchor anchors");
    let rows = rows.as_array().unwrap();
    assert_eq!((rows.len(), &rows[0]["run"], &rows[1]["anchors"]), (2, &"t1".into(), &1.into()));
    assert!(rows[1]["ok"].as_bool().unwrap() && rows[1]["store"].is_string());
}
