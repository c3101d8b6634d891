//! A project with one machine.

use expect_test::Expect;
use interlock_testkit_cli::session::Session;
use tempfile::TempDir;

pub(crate) const DOOR: &str = "\
machine: door
version: 2
summary: A door that can be locked.
events:
  push: { from: user }
  turn_key: { from: user, summary: Lock or unlock }
initial: closed
states:
  closed: { tags: [idle], on: { push: open, turn_key: locked } }
  open: { tags: [idle], on: { push: closed } }
  locked: { tags: [idle], on: { turn_key: closed } }
";

/// Makes a directory with a project that has one machine.
pub(crate) fn project() -> (TempDir, Session) {
    let folder = tempfile::tempdir().unwrap();
    let session = Session::new(env!("CARGO_BIN_EXE_interlock"), folder.path().canonicalize().unwrap());
    session.write(".interlock/machines/door/machine.yaml", DOOR).unwrap();
    (folder, session)
}

pub(crate) fn check(arguments: &str, expected: Expect) {
    let (_folder, session) = project();
    check_in(&session, arguments, expected);
}

pub(crate) fn check_in(session: &Session, arguments: &str, expected: Expect) {
    expected.assert_eq(&session.run(arguments).unwrap().to_string());
}
