//! Tests of `external` with real programs.

use interlock_activities::External;
use interlock_activity::OutcomeKind;
use serde_json::{Value, json};

use interlock_testkit_activity::processes::is_alive;

use crate::trial::{Trial, sandbox};

fn external() -> External {
    External::new(sandbox())
}

fn ask(script: &str, with: Value) -> Trial {
    Trial::new(with).with_program("program", &format!("#!/bin/sh\n{script}\n"))
}

#[tokio::test]
async fn a_program_is_asked_and_its_answer_is_the_outcome() {
    let script = "read -r question; echo \"{\\\"signal\\\": \\\"yes\\\", \\\"data\\\": {\\\"got\\\": $question, \\\"args\\\": \\\"$*\\\"}}\"";
    let trial = ask(script, json!({ "program": "./program", "args": ["a", 1], "input": { "x": [1, null] } }));
    let ended = trial.run(external()).await;
    assert_eq!(ended.name, "yes");
    let got = json!({
        "run": "run-1", "activity": 7, "attempt": 1, "with": { "x": [1, null] }, "signals": ["yes", "no"],
        "folder": trial.folder.to_str().unwrap(),
    });
    assert_eq!(ended.data, json!({ "got": got, "args": "a 1" }));
}

#[tokio::test]
async fn talk_is_progress_and_evidence() {
    let trial = ask("echo one >&2; echo two >&2; echo '{\"signal\":\"no\"}'", json!({ "program": "./program" }));
    let ended = trial.run(external()).await;
    assert_eq!((ended.name.as_str(), &ended.data), ("no", &json!({})));
    assert_eq!(*trial.host.said.lock().unwrap(), ["one", "two"]);
    assert_eq!(trial.evidence(&ended, "stderr").unwrap(), b"one\ntwo\n");
    assert_eq!(trial.evidence(&ended, "stdout").unwrap(), b"{\"signal\":\"no\"}\n");
}

#[tokio::test]
async fn no_error_code_of_a_program_steers_the_runtime() {
    for code in ["NOT_KEPT", "LEFT_TO_PERSON", "CANCELLED"] {
        let script = format!("echo '{{\"error\":{{\"code\":\"{code}\",\"message\":\"m\"}}}}'");
        let ended = ask(&script, json!({ "program": "./program" })).run(external()).await;
        assert!(matches!(ended.outcome.kind, OutcomeKind::Error { .. }), "{code}: {:?}", ended.outcome.kind);
        assert_eq!(ended.error().0, code);
    }
}

#[tokio::test]
async fn what_is_wrong_with_an_answer_is_said() {
    let cases = [
        ("exit 3", "it printed nothing on stdout (exit code 3)"),
        ("echo 'no such host' >&2", "it printed nothing on stdout (exit code 0); its last line was: no such host"),
        ("echo hello", "its answer is not one JSON object: expected value at line 1 column 1 (exit code 0)"),
        ("echo '{\"signal\":\"yes\"} {}'", "its answer is not one JSON object: trailing characters"),
        ("echo '[]'", "its answer is not a JSON object"),
        ("echo '{}'", "its answer must have either `signal` or `error`"),
        ("echo '{\"signal\":\"yes\",\"error\":{}}'", "its answer must have either `signal` or `error`"),
        ("echo '{\"signal\":1}'", "the signal in its answer is not a string"),
        ("echo '{\"signal\":\"maybe\"}'", "it answered with the signal `maybe`; the machine accepts yes, no"),
        (
            "echo '{\"signal\":\"yes\",\"dat\":1}'",
            "its answer has the unknown field `dat`; the fields are signal, data and error",
        ),
        ("echo '{\"error\":\"x\"}'", "the error in its answer has no `code`"),
        ("yes | head -c 17000000", "its answer is longer than 16777216 bytes"),
    ];
    for (script, message) in cases {
        let (code, found) = ask(script, json!({ "program": "./program" })).run(external()).await.error();
        assert_eq!(code, "FAILED", "{script}");
        assert!(found.starts_with(message), "{script}: {found}");
    }
}

#[tokio::test]
async fn an_error_of_the_program_is_handed_through() {
    let script = "echo '{\"error\": {\"code\": \"BUSY\", \"message\": \"later\"}}'; exit 1";
    let ended = ask(script, json!({ "program": "./program" })).run(external()).await;
    assert_eq!(ended.error(), ("BUSY".into(), "later".into()));
}

#[tokio::test]
async fn what_cannot_be_used_is_named() {
    let cases = [
        (json!({}), "BAD_INPUT", "`with.program` is missing"),
        (json!({ "program": "./program", "args": "x" }), "BAD_INPUT", "`with.args` must be a list of strings"),
        (json!({ "program": "./program", "with": {} }), "BAD_INPUT", "`with.with` is not known"),
        (json!({ "program": "./nothing" }), "FAILED", "it could not be started: `./nothing` is not a program"),
    ];
    for (with, code, message) in cases {
        let (found_code, found) = ask("", with.clone()).run(external()).await.error();
        assert_eq!(found_code, code, "{with}");
        assert!(found.starts_with(message), "{with}: {found}");
    }
}

#[tokio::test]
async fn a_program_that_takes_too_long_is_stopped() {
    let trial = ask("echo $$ > pid; sleep 1000", json!({ "program": "./program", "timeout_s": 0.3 }));
    let (code, _) = trial.run(external()).await.error();
    assert_eq!(code, "TIMEOUT");
    assert!(!is_alive(&trial.folder, &trial.line_of("pid").await));
}
