//! The questions that rules answer.

use interlock_judge::{AllowedSignal, Exhibit, Question, rules::judge};
use interlock_triage::Rules;
use serde_json::{Value, json};

fn question(signals: &[&str], log: &str, facts: Value) -> Question {
    let signals = signals.iter().map(|name| AllowedSignal { name: (*name).to_owned(), data: json!({}) });
    let exhibit = Exhibit { id: "e1".into(), name: "stderr".into(), media_type: "text/plain".into(), text: log.into() };
    Question { evidence: vec![exhibit], signals: signals.collect(), facts, ..Question::default() }
}

const ERROR: &str = "main.c:3:18: error: 'counter' undeclared";
const DECISION: [&str; 5] = ["PASS", "FAIL", "FLAKY", "ENV_ERROR", "INCONCLUSIVE"];

/// Checks the signal and the reason of the verdict; `None` expects no verdict.
fn check(signals: &[&str], log: &str, facts: Value, expected: Option<(&str, &str)>) {
    let verdict = judge(&question(signals, log, facts), &Rules::default());
    let said = verdict.as_ref().map(|verdict| (verdict.signal.as_str(), verdict.reason.as_str()));
    assert_eq!(said, expected);
}

#[test]
fn questions_are_answered_from_findings_or_not_at_all() {
    let code = "the code does not compile: 'counter' undeclared at main.c:3 (rule c-error)";
    check(&["hypotheses_made", "analysis_failed"], ERROR, json!({}), Some(("hypotheses_made", code)));
    check(&["hypotheses_made", "analysis_failed"], "all is well", json!({}), None);
    check(&["code_bug", "check_bug"], "", json!({ "failure": ERROR }), Some(("code_bug", code)));
    let missing = "a program is not installed: the program frob is not installed (rule shell-not-found)";
    check(&["code_bug", "check_bug"], "sh: 1: frob: not found", json!({}), Some(("check_bug", missing)));
    check(&["repairable", "unrepairable"], ERROR, json!({}), Some(("repairable", code)));
    check(&["repairable", "unrepairable"], "sh: 1: frob: not found", json!({}), Some(("unrepairable", missing)));
    check(&["has_issue", "no_issue"], ERROR, json!({}), Some(("has_issue", code)));
    check(&["has_issue", "no_issue"], "compiled without a word", json!({}), None);
    check(&["plan_ready", "unplannable"], ERROR, json!({}), None);
}

#[test]
fn verdict_is_never_more_lenient_than_the_measurement() {
    let pass = "every test that was measured passed, and no log shows a fault";
    check(&DECISION, "", json!({ "measured": "PASS" }), Some(("PASS", pass)));
    let fault = json!({ "measured": "PASS", "test_result": { "fault": "HardFault" } });
    check(&DECISION, "", fault, Some(("FAIL", "the tests passed, but a fault followed: HardFault")));
    let cases = |status: &str| json!({ "cases": [{ "case_id": "t1", "status": status }] });
    let lost = json!({ "measured": "FAIL", "baseline": cases("passed"), "test_result": cases("failed") });
    check(&DECISION, "", lost, Some(("FAIL", "tests that passed before now fail: t1")));
    let refused =
        "another computer or a device could not be reached: no connection: Connection refused (rule connection)";
    check(
        &DECISION,
        "ssh: connect to host board: Connection refused",
        json!({ "measured": "FAIL" }),
        Some(("ENV_ERROR", refused)),
    );
    check(
        &DECISION,
        "",
        json!({ "measured": "INCONCLUSIVE" }),
        Some(("INCONCLUSIVE", "nothing conclusive was measured")),
    );
    check(&DECISION, "", json!({}), None);
}

#[test]
fn repair_step_gets_a_free_id() {
    let facts = json!({ "plan": { "steps": [{ "step_id": "repair-1" }] } });
    let verdict = judge(&question(&["repairable", "unrepairable"], ERROR, facts), &Rules::default()).unwrap();
    assert_eq!(verdict.data["patch"]["add_steps"][0]["step_id"], "repair-2");
}
