//! Every built-in machine can be started and run by a person who types the commands that the command line suggests.

use interlock_testkit_cli::session::{Session, words};
use serde_json::Value as Json;

/// The most steps of one run.
const STEPS: usize = 12;

/// The required input of each machine.
const INPUTS: [(&str, &str); 5] = [
    (
        "firmware",
        r#"{"goal": "blink", "repo_path": ".", "test_profile": {"env_type": "local", "cases": ["boots"], "format": "tap",
            "config": {"command": "echo 1..1; echo not ok 1 - boots; exit 1"}}}"#,
    ),
    ("coder", r#"{"goal": "fix it"}"#),
    ("prd", r#"{"repo_path": "."}"#),
    ("brain", r#"{"task": "fix it"}"#),
    ("notebook", r#"{"problem": "why is it so"}"#),
];

fn json(session: &Session, arguments: &str) -> (Option<i32>, Json) {
    let transcript = session.run(&format!("{arguments} --json")).unwrap();
    let json = serde_json::from_str(&transcript.stdout);
    (transcript.code, json.unwrap_or_else(|error| panic!("{arguments}: {error}\n{transcript}")))
}

/// Types the suggested commands, a different one in each step, until the run ends or [`STEPS`] are done.
fn play(machine: &str, input: &str) {
    let folder = tempfile::tempdir().unwrap();
    let made = std::process::Command::new("git").args(["init", "-q"]).current_dir(folder.path()).status().unwrap();
    assert!(made.success());
    let home = folder.path().join("home").display().to_string();
    let session = Session::new(env!("CARGO_BIN_EXE_interlock"), folder.path()).with("INTERLOCK_HOME", home);
    session.write("input.json", input).unwrap();
    session.write("home/judges.toml", "[chains]\ndefault = [\"person\"]\n").unwrap();
    let (mut code, mut state) = json(&session, &format!("run {machine} --input input.json --name {machine}"));
    for step in 0..STEPS {
        if code != Some(4) {
            break;
        }
        let answers = state["waits_for"].as_array().unwrap().clone();
        assert!(!answers.is_empty(), "{machine} waits in {} for nothing", state["place"]);
        let tried = answers.iter().cycle().skip(step % answers.len()).take(answers.len());
        // An event that a guard refuses now is acceptable as long as another is taken.
        let taken = tried.map(|answer| suggested(&session, answer)).find(|(code, _)| *code != Some(2));
        (code, state) = taken.unwrap_or_else(|| panic!("{machine} takes nothing in {}", state["place"]));
    }
    assert!(state["seq"].as_u64().unwrap() > 2, "{machine} did not move: {state}");
    assert_eq!(session.run("verify").unwrap().code, Some(0), "{machine}");
    let trace = session.run(&format!("trace {machine} --json")).unwrap().stdout;
    assert!(trace.lines().count() > 2, "{trace}");
}

/// Types a suggested command, and asserts that the suggested data fits.
fn suggested(session: &Session, answer: &Json) -> (Option<i32>, Json) {
    let command = answer["command"].as_str().unwrap();
    // `…` is a placeholder that a person replaces with text.
    let mut typed = words(&command.replace('…', "as it should be"));
    typed.remove(0);
    let output = session.command("--json").args(&typed).output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(!said.contains("error: the data of"), "{command}\n{said}");
    (output.status.code(), serde_json::from_slice(&output.stdout).unwrap_or_default())
}

#[test]
fn every_built_in_machine_is_played_by_doing_what_is_suggested() {
    for (machine, input) in INPUTS {
        play(machine, input);
    }
}
