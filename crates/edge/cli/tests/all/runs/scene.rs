//! A machine that makes tea, and a run of it.

use expect_test::Expect;
use interlock_testkit_cli::session::{Session, Transcript, without_times};
use serde_json::Value as Json;
use tempfile::TempDir;

pub(crate) const TEA: &str = "\
machine: tea
version: 1
summary: Makes tea, and asks how strong.
input: { type: object, required: [leaf], properties: { leaf: { type: string }, cups: { type: integer, default: 1 } } }
context: { strength: 0 }
events:
  drink: { from: user, summary: Drink it }
  stronger:
    from: user
    summary: Brew it longer
    data: { type: object, required: [minutes], properties: { minutes: { type: integer, minimum: 1 } } }
  abort: { from: user, summary: Pour it away }
initial: heating
on:
  abort: { target: poured_away, reason: nobody wants tea }
states:
  heating:
    invoke: { activity: kettle.boil, manual: true, with: { cups: \"${input.cups}\" }, signals: [boiled] }
    on:
      boiled: { target: brewed, reason: \"the water for ${input.leaf} boils\" }
      error: { target: cold, reason: \"${event.message}\" }
  brewed:
    on:
      stronger:
        - { guard: event.minutes > 10, reason: it would be bitter }
        - { target: brewed, limit: 2, assign: { strength: \"${context.strength + event.minutes}\" } }
        - { target: cold, reason: it stood too long }
      drink: { target: drunk }
  drunk: { type: final, outcome: success }
  cold: { type: final, outcome: failure }
  poured_away: { type: final, outcome: aborted }
";

/// Makes a project with one machine and a separate store.
pub(crate) fn project() -> (TempDir, Session) {
    let folder = tempfile::tempdir().unwrap();
    let here = folder.path().canonicalize().unwrap();
    let session = Session::new(env!("CARGO_BIN_EXE_interlock"), &here)
        .with("INTERLOCK_HOME", here.join("home").display().to_string())
        .with("INTERLOCK_USER", "ada");
    session.write(".interlock/machines/tea/machine.yaml", TEA).unwrap();
    (folder, session)
}

pub(crate) fn run(session: &Session, arguments: &str) -> Transcript {
    session.run(arguments).unwrap()
}

pub(crate) fn json(session: &Session, arguments: &str) -> Json {
    let transcript = run(session, &format!("{arguments} --json"));
    serde_json::from_str(&transcript.stdout).unwrap_or_else(|error| panic!("{arguments}: {error}\n{transcript}"))
}

pub(crate) fn check(session: &Session, arguments: &str, expected: Expect) {
    expected.assert_eq(&without_times(&run(session, arguments).to_string()));
}

/// Makes a project with a run of `tea` that has reached `brewed`.
pub(crate) fn brewed() -> (TempDir, Session) {
    let (folder, session) = project();
    assert_eq!(run(&session, "run tea --set leaf=oolong --name t1").code, Some(4));
    assert_eq!(run(&session, "send t1 boiled").code, Some(4));
    (folder, session)
}
