//! Only proved machines run: a machine that `check` refuses is refused by `run`, `fork` and `run.start`, unless the
//! user passes `--unproved`, which is recorded.

use std::fs;

use expect_test::expect;
use interlock_testkit_cli::session::Session;
use serde_json::{Value as Json, json};
use tempfile::TempDir;

use super::scene::{check, json, project, run};

/// A loop without a limit, which `check` refuses.
const ENDLESS: &str = "\
machine: endless
version: 1
summary: Tries for ever.
events: { abort: { from: user, summary: Stop it } }
initial: trying
on: { abort: stopped }
states:
  trying:
    invoke: { activity: nobody.knows, manual: true, signals: [passed, failed] }
    on: { passed: done, failed: trying, error: stopped }
  done: { type: final, outcome: success }
  stopped: { type: final, outcome: aborted }
";

/// A loop that ends because it counts in its data: `check` cannot prove that and refuses it.
const LOOSE: &str = "\
machine: loose
version: 1
summary: Counts to two without a limit.
context: { n: 0 }
initial: waiting
states:
  waiting:
    invoke: { activity: timer.wait, with: { seconds: 0 }, signals: [elapsed] }
    on:
      elapsed:
        - { target: done, guard: context.n > 1 }
        - { target: waiting, assign: { n: \"${context.n + 1}\" } }
      error: broken
  done: { type: final, outcome: success }
  broken: { type: final, outcome: failure }
";

/// A machine whose program tries to write into the store.
const FORGER: &str = "\
machine: forger
version: 1
summary: Runs a script.
initial: forging
states:
  forging:
    invoke: { activity: command.run, with: { command: [sh, forge.sh] }, signals: [passed, failed] }
    on: { passed: done, failed: broken, error: broken }
  done: { type: final, outcome: success }
  broken: { type: final, outcome: failure }
";

/// A machine that starts another and has the same outcome.
const PARENT: &str = "\
machine: parent
version: 1
summary: Has another machine run.
input: { type: object, properties: { machine: { type: string, default: loose } } }
initial: asking
states:
  asking:
    invoke: { activity: run.start, with: { machine: \"${input.machine}\" }, signals: [succeeded, failed, aborted] }
    on:
      succeeded: done
      failed: broken
      aborted: broken
      error: { target: broken, reason: \"${event.code}: ${event.message}\" }
  done: { type: final, outcome: success }
  broken: { type: final, outcome: failure }
";

/// Makes a project with a machine that is not proved, and a store outside the project.
fn scene() -> (TempDir, TempDir, Session) {
    let (folder, session) = project();
    let home = tempfile::tempdir().unwrap();
    let session = session.with("INTERLOCK_HOME", home.path().display().to_string());
    session.write(".interlock/machines/endless/machine.yaml", ENDLESS).unwrap();
    session.write(".interlock/machines/parent/machine.yaml", PARENT).unwrap();
    (folder, home, session)
}

const REFUSAL: &str = "E0603: this loop has no limit, so the machine may never come to rest";

#[test]
fn a_machine_that_check_refuses_is_not_run() {
    let (_folder, _home, session) = scene();
    assert_eq!(run(&session, "check endless").code, Some(1));
    check(
        &session,
        "run endless --name e1",
        expect![[r#"
            | error: the machine endless is not proved, so the run was not started:
            |   E0603: this loop has no limit, so the machine may never come to rest
            | Hint: `interlock check endless` shows the counterexamples; `--unproved` runs it anyway, which the run and its report record
            [exit 2]
        "#]],
    );
    assert_eq!(json(&session, "runs"), json!([]));
}

#[test]
fn an_override_is_recorded_and_shown_everywhere() {
    let (_folder, _home, session) = scene();
    assert_eq!(run(&session, "run endless --name e1 --unproved").code, Some(4));
    let said = format!("started with --unproved; `check` refuses the machine: {REFUSAL}");
    for looks in ["show e1", "trace e1", "report e1"] {
        let shown = run(&session, looks).stdout;
        assert!(shown.contains(&said), "{looks}:\n{shown}");
    }
    assert!(run(&session, "report e1 --format html").stdout.contains("started with --unproved"));
    assert_eq!(json(&session, "show e1")["unproved"], json!([REFUSAL]));
    assert_eq!(json(&session, "report e1")["unproved"], json!([REFUSAL]));
    let trace = run(&session, "trace e1 --json").stdout;
    let first: Json = serde_json::from_str(trace.lines().next().unwrap()).unwrap();
    assert_eq!(first["unproved"], json!([REFUSAL]));
    assert_eq!(run(&session, "verify e1").code, Some(0));
}

#[test]
fn nothing_is_said_of_a_proved_run() {
    let (_folder, _home, session) = scene();
    assert_eq!(run(&session, "run tea --set leaf=oolong --name t1").code, Some(4));
    for looks in ["show t1", "trace t1", "report t1", "show t1 --json", "trace t1 --json", "report t1 --json"] {
        let shown = run(&session, looks).stdout;
        assert!(!shown.contains("unproved"), "{looks}:\n{shown}");
    }
}

#[test]
fn a_fork_is_asked_anew() {
    let (_folder, _home, session) = scene();
    assert_eq!(run(&session, "run endless --name e1 --unproved").code, Some(4));
    let refused = run(&session, "fork e1 --at 1 --name e2");
    assert_eq!(refused.code, Some(2), "{refused}");
    assert!(refused.stderr.contains(REFUSAL) && refused.stderr.contains("--unproved"), "{refused}");
    assert_eq!(run(&session, "fork e1 --at 1 --name e2 --unproved").code, Some(0));
    assert_eq!(json(&session, "show e2")["unproved"], json!([REFUSAL]));
    assert_eq!(run(&session, "verify e2").code, Some(0));
}

#[test]
fn a_child_is_unproved_only_if_its_parent_was_started_so() {
    let (_folder, _home, session) = scene();
    session.write(".interlock/machines/loose/machine.yaml", LOOSE).unwrap();
    let refused = run(&session, "run parent --name p1");
    assert_eq!(refused.code, Some(1), "{refused}");
    assert!(
        refused.stderr.contains("UNPROVED: the machine loose is not proved, so the run was not started:"),
        "{refused}"
    );
    assert_eq!(json(&session, "runs").as_array().unwrap().len(), 1);
    // `check` accepts the parent itself. The `--unproved` is still recorded, and it applies to the child.
    let accepted = run(&session, "run parent --name p2 --unproved");
    assert_eq!(accepted.code, Some(0), "{accepted}");
    assert_eq!(json(&session, "show p2")["unproved"], json!([]));
    assert!(run(&session, "show p2").stdout.contains("`check` has no objection to the machine itself"));
    let runs = json(&session, "runs");
    let child = runs.as_array().unwrap().iter().find(|run| run["machine"] == "loose").unwrap();
    assert_eq!(json(&session, &format!("show {}", child["run"].as_str().unwrap()))["unproved"], json!([REFUSAL]));
}

#[test]
fn a_confined_program_cannot_write_a_verdict() {
    let (folder, home, session) = scene();
    session.write(".interlock/machines/forger/machine.yaml", FORGER).unwrap();
    let forged = home.path().join("proofs/forged.json");
    session.write("forge.sh", &format!("mkdir -p {:?}; echo '{{}}' > {forged:?}\n", forged.parent().unwrap())).unwrap();
    let ended = run(&session, "run forger --name f1");
    assert_eq!(ended.code, Some(1), "{ended}");
    assert!(!forged.exists() && folder.path().join("forge.sh").exists());
}

#[test]
fn a_kept_verdict_is_used_and_a_damaged_one_is_not() {
    let (_folder, home, session) = scene();
    assert_eq!(run(&session, "run tea --set leaf=oolong --name t1").code, Some(4));
    let kept =
        || fs::read_dir(home.path().join("proofs")).unwrap().map(|entry| entry.unwrap().path()).collect::<Vec<_>>();
    let [file] = &kept()[..] else { panic!("one verdict is kept: {:?}", kept()) };
    let before = fs::metadata(file).unwrap().modified().unwrap();
    assert_eq!(run(&session, "run tea --set leaf=oolong --name t2").code, Some(4));
    assert_eq!(fs::metadata(file).unwrap().modified().unwrap(), before, "it was found out again");
    let whole = fs::read(file).unwrap();
    fs::write(file, &whole[..whole.len() / 2]).unwrap();
    assert_eq!(run(&session, "run tea --set leaf=oolong --name t3").code, Some(4));
    assert_eq!(fs::read(file).unwrap(), whole, "it was not found out again");
}

#[test]
fn a_built_in_machine_starts_without_being_explored() {
    let (_folder, home, session) = scene();
    let started = run(&session, "run brain --set task=nothing --name b1");
    assert!(!json(&session, "runs").as_array().unwrap().is_empty(), "{started}");
    assert!(!home.path().join("proofs").exists(), "a verdict was found out");
}
