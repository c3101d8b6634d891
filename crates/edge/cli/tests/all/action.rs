//! The action for GitHub: its script, with the settings that `action.yml` gives it.

use std::{
    collections::BTreeSet,
    path::{Path, PathBuf},
    process::Command,
};

use interlock_testkit_cli::session::Session;
use tempfile::TempDir;

const DOOR: &str = "\
machine: door
version: 1
events: { push: { from: user } }
initial: closed
states:
  closed: { tags: [idle], on: { push: open } }
  open: { tags: [idle], on: { push: closed } }
";
const SCENARIO: &str = "summary: A push opens it.\nsteps:\n  - send: push\n    expect: open\n";

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../..")
}

/// Makes a project with one machine, and one scenario of it.
fn project() -> (TempDir, Session) {
    let folder = tempfile::tempdir().unwrap();
    let session = Session::new(env!("CARGO_BIN_EXE_interlock"), folder.path());
    session.write(".interlock/machines/door/machine.yaml", DOOR).unwrap();
    session.write(".interlock/machines/door/tests/opens.yaml", SCENARIO).unwrap();
    (folder, session)
}

/// Runs the action's script and returns its exit code and its output.
fn act(session: &Session, machines: &str) -> (Option<i32>, String) {
    let mut script = Command::new(root().join("scripts/action.sh"));
    script.current_dir(session.folder()).env("ACTION_PROGRAM", env!("CARGO_BIN_EXE_interlock"));
    let output = script.env("ACTION_MACHINES", machines).env("ACTION_SARIF", "found.sarif").output().unwrap();
    let text = [output.stdout, output.stderr].map(|bytes| String::from_utf8(bytes).unwrap()).concat();
    (output.status.code(), text)
}

fn results(session: &Session) -> usize {
    let text = std::fs::read(session.folder().join("found.sarif")).unwrap();
    let document: serde_json::Value = serde_json::from_slice(&text).unwrap();
    document["runs"][0]["results"].as_array().unwrap().len()
}

#[test]
fn machines_of_the_project_are_proved_and_played() {
    let (_folder, session) = project();
    let (code, text) = act(&session, "");
    assert_eq!(code, Some(0), "{text}");
    assert!(text.contains("✓ door: proved") && text.contains("✓ door/opens: A push opens it."), "{text}");
    assert_eq!(results(&session), 0);
}

#[test]
fn scenarios_are_played_although_a_proof_fails() {
    let (_folder, session) = project();
    let promise = "properties:\n  - never: open\n";
    session.write(".interlock/machines/door/machine.yaml", &format!("{DOOR}{promise}")).unwrap();
    let (code, text) = act(&session, "door");
    assert_eq!(code, Some(1), "{text}");
    assert!(text.contains("✗ door: not proved") && text.contains("✓ door/opens"), "{text}");
    assert_eq!(results(&session), 1);
}

#[test]
fn failed_scenarios_fail_the_action() {
    let (_folder, session) = project();
    let wrong = SCENARIO.replace("expect: open", "expect: closed");
    session.write(".interlock/machines/door/tests/opens.yaml", &wrong).unwrap();
    let (code, text) = act(&session, ".interlock/machines/door/machine.yaml");
    assert_eq!(code, Some(1), "{text}");
    assert!(text.contains("✓ door: proved") && text.contains("✗ door/opens"), "{text}");
}

#[test]
fn repository_without_machines_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let (code, text) = act(&Session::new("interlock", folder.path()), "");
    assert_eq!(code, Some(2), "{text}");
    assert!(text.contains("no machine under .interlock/machines"), "{text}");
}

/// Returns the words of a text that begin with a prefix.
fn words(text: &str, prefix: &str) -> BTreeSet<String> {
    let is_word = |letter: char| letter.is_ascii_alphanumeric() || letter == '_' || letter == '.';
    text.split(|letter| !is_word(letter)).filter(|word| word.starts_with(prefix)).map(str::to_owned).collect()
}

#[test]
fn action_sets_what_its_script_reads_and_declares_what_it_takes() {
    let [action, script] =
        ["action.yml", "scripts/action.sh"].map(|file| std::fs::read_to_string(root().join(file)).unwrap());
    assert_eq!(words(&action, "ACTION_"), words(&script, "ACTION_"));
    let inputs = action.split("\nruns:").next().unwrap();
    let declared = inputs.lines().filter_map(|line| line.strip_prefix("  ")?.strip_suffix(':'));
    let declared: BTreeSet<String> =
        declared.filter(|name| !name.starts_with(' ')).map(|name| format!("inputs.{name}")).collect();
    assert_eq!(words(&action, "inputs."), declared);
}
