//! Permissions that a person must grant.

use interlock_testkit_cli::session::Transcript;
use serde_json::Value as Json;

use super::scene::{brewed, json, project, run};

const CAREFUL: &str = "\
machine: careful
version: 1
summary: Asks where policy asks.
events: { again: { from: user, summary: Try it again } }
initial: working
states:
  working:
    invoke: { activity: command.run, with: { command: \"mkdir -p infra && touch infra/made\" }, signals: [passed, failed] }
    on:
      passed: { target: asking, reason: it is done }
      failed: { target: broken }
      error: { target: asking, reason: \"${event.code}: ${event.message}\" }
  asking:
    on: { again: working }
  broken: { type: final, outcome: failure }
";

/// Returns the scopes that a refused run has named.
fn asked(said: &Transcript) -> String {
    let (_, scopes) =
        said.stderr.split_once("`interlock grant c1 ").unwrap_or_else(|| panic!("nothing is asked\n{said}"));
    scopes.split_once('`').unwrap().0.to_owned()
}

#[test]
fn a_command_waits_for_a_person_to_grant_it_and_each_use_is_told() {
    let (_folder, session) = project();
    session.write("careful/machine.yaml", CAREFUL).unwrap();
    let refused = run(&session, "run ./careful --name c1");
    assert!(refused.stderr.contains("CONFIRMATION_NEEDED"), "{refused}");
    assert!(!session.folder().join("infra").exists());
    let scopes = asked(&refused);
    let granted = run(&session, &format!("grant c1 {scopes}"));
    assert!(granted.stdout.starts_with("c1  granted fs.write:infra"), "{granted}");
    let done = run(&session, "send c1 again");
    assert!(done.stderr.contains("it is done") && session.folder().join("infra/made").exists(), "{done}");
    let trace = run(&session, "trace c1").stdout;
    for told in ["granted, once", "by the grant of record", "user ada"] {
        assert!(trace.contains(told), "{told} is not in\n{trace}");
    }
    let used_up = run(&session, "send c1 again");
    assert_eq!(asked(&used_up), scopes);
    assert_eq!(run(&session, &format!("grant c1 {scopes} --for 1h --uses 5")).code, Some(0));
    for _ in 0..2 {
        let again = run(&session, "send c1 again");
        assert!(again.stderr.contains("it is done"), "{again}");
    }
    assert_eq!(run(&session, "verify").code, Some(0));
}

#[test]
fn what_cannot_be_granted_is_said() {
    let (_folder, session) = brewed();
    let cases = [
        ("", "required arguments were not provided"),
        ("fs.wrote:x", "`fs.wrote` is not a permission"),
        ("destroy", "`destroy` needs a command"),
        ("fs.write --for 1x", "a time is a number and a unit"),
        ("fs.write --for 0s", "must be a whole number from 1"),
        ("fs.write --uses 0", "0 is not in"),
    ];
    for (arguments, message) in cases {
        let said = run(&session, &format!("grant t1 {arguments}"));
        assert!(said.code == Some(2) && said.stderr.contains(message), "{arguments}: {said}");
    }
    let granted = json(&session, "grant t1 fs.write:docs/** --for 1h");
    assert_eq!((&granted["for_ms"], &granted["uses"]), (&Json::from(3_600_000), &Json::Null));
    assert_eq!(json(&session, "grant t1 'destroy:git clean -fd'")["uses"], 1);
    assert_eq!(run(&session, "send t1 drink").code, Some(0));
    assert_eq!(run(&session, "grant t1 fs.write").code, Some(2));
}

/// Makes a project with the example of this pattern: refused, wait for a grant, retry.
fn waiting_for_grant() -> (tempfile::TempDir, interlock_testkit_cli::session::Session) {
    let (folder, session) = project();
    let machine = include_str!("../../../../../../examples/wait-for-grant/machine.yaml");
    session.write("wait-for-grant/machine.yaml", machine).unwrap();
    let waiting = run(&session, "run ./wait-for-grant --name g1");
    assert_eq!(waiting.code, Some(4), "{waiting}");
    assert!(waiting.stderr.contains("interlock grant g1 'net.connect:true'  # Grant this once"), "{waiting}");
    (folder, session)
}

#[test]
fn a_run_that_waits_for_a_grant_goes_on_when_it_is_granted() {
    let (_folder, session) = waiting_for_grant();
    let granted = json(&session, "grant g1 'net.connect:true'");
    assert_eq!(granted["granted"][0]["scope"], "net.connect:true");
    assert_eq!((&granted["sent"]["event"], &granted["phase"]), (&"grant_given".into(), &"succeeded".into()));
}

#[test]
fn another_permission_or_only_a_grant_leaves_the_run_where_it_waits() {
    let (_folder, session) = waiting_for_grant();
    let other = json(&session, "grant g1 'net.connect:false'");
    assert_eq!((&other["sent"], &other["uses"]), (&Json::Null, &1.into()));
    let only = json(&session, "grant g1 'net.connect:true' --only");
    assert_eq!(only["sent"], Json::Null);
    assert_eq!(json(&session, "show g1")["place"], "awaiting_grant");
    let done = run(&session, "send g1 grant_given");
    assert!(done.code == Some(0) && done.stdout.contains("succeeded  done"), "{done}");
}

#[test]
fn a_command_is_asked_about_three_times_at_most() {
    let (_folder, session) = waiting_for_grant();
    for _ in 0..2 {
        assert_eq!(run(&session, "send g1 grant_given").code, Some(4));
    }
    let last = run(&session, "send g1 grant_given");
    assert!(last.code == Some(1) && last.stdout.contains("failed  stopped"), "{last}");
    let refused = run(&session, "run ./wait-for-grant --name g2");
    assert_eq!(refused.code, Some(4), "{refused}");
    assert_eq!(run(&session, "send g2 grant_refused").code, Some(1));
}

#[test]
fn a_built_in_machine_waits_for_a_grant_instead_of_failing() {
    let (_folder, session) = project();
    let made = std::process::Command::new("git").args(["init", "-q"]).current_dir(session.folder()).status().unwrap();
    assert!(made.success(), "a run that commits needs a repository");
    session.write("home/judges.toml", "[chains]\ndefault = [\"person\"]\n").unwrap();
    let input = r#"{"task": "fix it", "test": "env LD_PRELOAD=./x.so true"}"#;
    session.write("input.json", input).unwrap();
    // A command that policy asks about is found before the first turn of an agent.
    let asked = run(&session, "run brain --input input.json --name b1");
    assert!(asked.code == Some(4) && asked.stdout.contains("GRANT_FOR_CHECKS"), "{asked}");
    let grant = json(&session, "show b1")["offers"]["grant"].clone();
    let scope = grant["scopes"][0].as_str().unwrap();
    assert!(scope.starts_with("proc.exec:exact:"), "{grant}");
    let granted = run(&session, &format!("grant b1 '{scope}'"));
    assert!(granted.stderr.contains("GRANT_FOR_CHECKS → "), "{granted}");
    assert!(!granted.stdout.contains("GRANT_FOR_WORK"), "{granted}");
}
