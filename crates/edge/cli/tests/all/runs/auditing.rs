//! A store that can only be read, as an auditor has it: every view works and says the same, every change is refused.

use std::{fs, path::Path};

use interlock_testkit_cli::session::{Session, Transcript};

use super::scene::{project, run};

const WRITER: &str = "\
machine: writer
version: 1
initial: writing
on: { error: bad }
states:
  writing:
    invoke: { activity: command.run, with: { command: \"echo words > notes.txt; echo said\" }, signals: [passed, failed] }
    on: { passed: good, failed: bad }
  good: { type: final, outcome: success, data: { answer: 42 } }
  bad: { type: final, outcome: failure }
";

/// The views of an auditor.
const VIEWS: [&str; 12] = [
    "runs --json",
    "show w1",
    "show w1 --json",
    "trace w1",
    "report w1",
    "verify",
    "evidence w1",
    "evidence w1 stdout",
    "replay w1 --at 1",
    "undo w1 --dry-run",
    "snapshots w1",
    "sql 'select run, seq, kind from record'",
];

/// Makes a store with a run that has changed a file.
fn audited() -> (tempfile::TempDir, Session) {
    let (folder, session) = project();
    session
        .run_shell("git init -q . && git -c user.name=a -c user.email=a@b commit -q --allow-empty -m begin")
        .unwrap();
    session.write("writer.yaml", WRITER).unwrap();
    assert_eq!(run(&session, "run writer.yaml --name w1").code, Some(0));
    (folder, session)
}

/// Runs a command while the store is on a file system that is mounted read-only.
fn read_only(session: &Session, call: &str) -> Transcript {
    let script = "H=$INTERLOCK_HOME; mount --bind $H $H && mount -o remount,ro,bind $H && ! touch $H/probe 2>/dev/null || exit 99; exec interlock";
    session.run_shell(&format!("exec unshare -rm sh -c '{script} {}'", call.replace('\'', "\""))).unwrap()
}

fn compare_views(session: &Session) {
    for call in VIEWS {
        let (free, closed) = (run(session, call), read_only(session, call));
        assert_eq!(closed, free, "{call}");
        assert_eq!(closed.code, Some(0), "{call}: {closed}");
    }
}

#[test]
fn an_auditor_reads_everything_without_write_permission() {
    let (folder, session) = audited();
    // Its log is in the file, as after a clean end.
    compare_views(&session);
    // Another process has the store open, and the log has records.
    let open = rusqlite::Connection::open(folder.path().join("home/journal.sqlite")).unwrap();
    open.query_row("SELECT count(*) FROM record", [], |_| Ok(())).unwrap();
    assert_eq!(run(&session, "run writer.yaml --name w2").code, Some(0));
    compare_views(&session);
    // A copy of the file and the log, without the index of the log: the records of the log count.
    session.run_shell("cp -r home copy && rm copy/journal.sqlite-shm && test -s copy/journal.sqlite-wal").unwrap();
    let copy = session.clone().with("INTERLOCK_HOME", folder.path().join("copy").display().to_string());
    let all = read_only(&copy, "verify");
    assert!(all.stdout.contains("✓ w2: ") && all.code == Some(0), "{all}");
    compare_views(&copy);
}

/// Runs a command as a user who owns nothing.
fn as_another(session: &Session, call: &str) -> Transcript {
    session.run_shell(&format!("exec setpriv --reuid=65534 --regid=65534 --clear-groups interlock {call}")).unwrap()
}

/// Returns every path of a store with its permissions and its owner.
fn permissions(session: &Session) -> String {
    session.run_shell("find home -printf '%p %m %u\\n' | sort").unwrap().stdout
}

#[test]
fn an_auditor_who_is_another_user_reads_everything_and_changes_nothing() {
    // Only root can become another user.
    if !rustix::process::geteuid().is_root() {
        return;
    }
    let (_folder, session) = audited();
    let views = [&VIEWS[..], &["diff w1", "snapshots w1 1 --diff 2"]].concat();
    let expected: Vec<Transcript> = views.iter().map(|call| run(&session, call)).collect();
    session.run_shell("chmod a+rx . && chmod -R a+rX,u-w home").unwrap();
    let before = permissions(&session);
    for (call, expected) in views.iter().zip(expected) {
        let seen = as_another(&session, call);
        assert_eq!(seen, expected, "{call}");
        assert_eq!(seen.code, Some(0), "{call}: {seen}");
        assert_eq!(permissions(&session), before, "{call}");
    }
    session.run_shell("mkdir -m 777 copies").unwrap();
    assert_eq!(as_another(&session, "snapshots w1 2 --into copies/two").code, Some(0));
    assert_eq!(session.run_shell("cat copies/two/notes.txt").unwrap().stdout, "words\n");
    // The owner who reads does not close the store either.
    assert_eq!(run(&session, "snapshots w1").code, Some(0));
    assert_eq!(run(&session, "undo w1 --dry-run").code, Some(0));
    assert_eq!(permissions(&session), before);
}

#[test]
fn an_auditor_changes_nothing_and_is_told_why() {
    let (_folder, session) = audited();
    for call in ["run writer.yaml", "abort w1", "fork w1 --at 1", "undo w1", "gc", "resume"] {
        let refused = read_only(&session, call);
        let is_told = refused.stderr.contains("Read-only file system") || refused.stderr.contains("has ended");
        assert!(
            refused.code != Some(0) && is_told || refused.stderr.contains("Nothing to resume"),
            "{call}: {refused}"
        );
    }
    assert_eq!(run(&session, "verify").code, Some(0));
}

#[test]
fn the_database_of_another_program_is_refused_and_stays_as_it_is() {
    let (folder, session) = project();
    let home = folder.path().join("home");
    fs::create_dir(&home).unwrap();
    let file = home.join("journal.sqlite");
    // A program that sets neither a version nor an id, as most do.
    let other = rusqlite::Connection::open(&file).unwrap();
    other.execute_batch("CREATE TABLE recipes (name); INSERT INTO recipes VALUES ('bread')").unwrap();
    drop(other);
    let before = fs::read(&file).unwrap();
    let refused = run(&session, "runs");
    assert_eq!(refused.code, Some(1));
    assert!(refused.stderr.contains("home/journal.sqlite could not be opened: it is the database of another program"));
    assert!(
        refused.stderr.contains("Hint: it was left as it is; set INTERLOCK_HOME to another directory"),
        "{refused}"
    );
    assert_eq!(run(&session, "run tea --set leaf=oolong").code, Some(1));
    assert_eq!(fs::read(&file).unwrap(), before);
    assert_eq!(names(&home), ["journal.sqlite"], "nothing is put beside it");
}

fn names(folder: &Path) -> Vec<String> {
    let mut names: Vec<String> =
        fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned()).collect();
    names.sort();
    names
}
