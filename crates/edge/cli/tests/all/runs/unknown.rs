//! An attempt whose changes could not be stored: no view says that there are none.

use super::scene::{project, run};

const WRITER: &str = "\
machine: writer
version: 1
initial: writing
on: { error: bad }
states:
  writing:
    invoke: { activity: command.run, with: { command: \"echo bad > notes.txt; head -c 16000000 /dev/urandom > large\" }, signals: [passed, failed] }
    on: { passed: good, failed: bad }
  good: { type: final, outcome: success }
  bad: { type: final, outcome: failure }
";

/// The disk of the store has no room for the second snapshot.
#[test]
fn changes_that_are_not_known_are_told_and_not_called_nothing() {
    let (_folder, session) = project();
    session.write("writer.yaml", WRITER).unwrap();
    session.write("notes.txt", "mine\n").unwrap();
    let script = "\
        mount -t tmpfs -o size=8M none $INTERLOCK_HOME || exit 99
        interlock run writer.yaml --name e >/dev/null 2>&1; exec 2>&1
        for call in 'diff e' 'diff e --stat' 'undo e' 'undo e --skip-conflicts'; do echo \"> $call\"; interlock $call; echo \"exit code $?\"; done
        interlock diff e --json 2>/dev/null | grep -o '\"record\": *3'
        interlock snapshots e 1 --into old 2>/dev/null; cat old/notes.txt";
    session.write("script.sh", script).unwrap();
    session.run_shell("mkdir home").unwrap();
    let told = session.run_shell("exec unshare -rm sh script.sh").unwrap().stdout;
    expect_test::expect![[r#"
        > diff e
        The changes of record 3 of e are not known: git update-index: fatal: unable to write loose object file: No space left on device. `interlock snapshots e 1 --into DIR` copies the files before it
        0 files differ, +0 −0 lines
        error: the difference is incomplete: the changes of 1 write of e are not known
        exit code 1
        > diff e --stat
        The changes of record 3 of e are not known: git update-index: fatal: unable to write loose object file: No space left on device. `interlock snapshots e 1 --into DIR` copies the files before it
        0 files differ, +0 −0 lines
        error: the difference is incomplete: the changes of 1 write of e are not known
        exit code 1
        > undo e
        E_NOT_KEPT the changes of record 3 are not known: git update-index: fatal: unable to write loose object file: No space left on device
        the files before record 3 are kept: `interlock snapshots e 1 --into DIR` copies them
        error: E_NOT_KEPT: 1 of the run's changes were not stored or are not known; nothing was undone
        Hint: `--skip-conflicts` undoes the rest and skips those paths
        exit code 1
        > undo e --skip-conflicts
        E_NOT_KEPT the changes of record 3 are not known: git update-index: fatal: unable to write loose object file: No space left on device
        the files before record 3 are kept: `interlock snapshots e 1 --into DIR` copies them
        error: E_NOT_KEPT: 1 of the run's changes are not known; nothing was undone
        Hint: `interlock snapshots` lists the snapshots of the run and copies one; restore the files by hand
        exit code 1
        "record": 3
        mine
    "#]].assert_eq(&told);
    assert_eq!(run(&session, "runs").code, Some(0));
}
