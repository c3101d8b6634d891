//! The verdict on one round of tests, based on the measured results. Rules may be stricter than the measurement, never
//! more lenient.

use interlock_triage::Fault;
use serde_json::{Value, json};

use super::{QuestionFindings, sureness};
use crate::Verdict;

/// Returns the decision; `None` if nothing was measured.
pub(super) fn of(known: &QuestionFindings<'_>) -> Option<Verdict> {
    let facts = &known.question.facts;
    let measured = facts.get("measured")?.as_str()?;
    let result = facts.get("test_result");
    let fault = result.and_then(|result| result.get("fault")).and_then(Value::as_str).unwrap_or_default();
    let cause = known.findings.first();
    let because = cause.map(|cause| known.reason(cause)).unwrap_or_default();
    let lost = regressions(facts);
    let (status, action, confidence, reasoning) = match measured {
        "PASS" if !fault.is_empty() => {
            ("FAIL", "CONTINUE", 0.9, format!("the tests passed, but a fault followed: {fault}"))
        }
        "PASS" if !lost.is_empty() => {
            ("FAIL", "ROLLBACK", 0.9, format!("tests that passed before now fail: {}", lost.join(", ")))
        }
        "PASS" => match cause.filter(|cause| known.rules.survives_pass(&cause.class)) {
            Some(_) => ("FAIL", "CONTINUE", 0.7, format!("the tests passed, but {because}")),
            None => {
                ("PASS", "CONTINUE", 0.85, "every test that was measured passed, and no log shows a fault".to_owned())
            }
        },
        "FAIL" => match cause.filter(|cause| known.fault(cause) == Some(Fault::Environment)) {
            Some(cause) => ("ENV_ERROR", "RETRY", sureness(cause), because),
            None if !lost.is_empty() => {
                ("FAIL", "ROLLBACK", 0.85, format!("tests that passed before now fail: {}", lost.join(", ")))
            }
            None if is_no_better(facts) => {
                ("FAIL", "ROLLBACK", 0.8, format!("no improvement; {}", failed(result, &because)))
            }
            None => ("FAIL", "CONTINUE", 0.8, failed(result, &because)),
        },
        "FLAKY" => ("FLAKY", "RETRY", 0.8, "the same image gave different results".to_owned()),
        "ENV_ERROR" => ("ENV_ERROR", "RETRY", 0.8, format!("the environment failed; {because}")),
        "INCONCLUSIVE" => ("INCONCLUSIVE", "RETRY", 0.8, format!("nothing conclusive was measured; {because}")),
        _ => return None,
    };
    let reasoning = reasoning.trim_end_matches([';', ' ']).to_owned();
    known.verdict(status, data(known, status, action, confidence, &reasoning), confidence, reasoning.clone())
}

/// Returns the data of the signal. If the decision schema is used, the fields that it requires are added.
fn data(known: &QuestionFindings<'_>, status: &str, action: &str, confidence: f64, reasoning: &str) -> Value {
    let mut data = json!({ "reasoning": reasoning, "next_action": action, "confidence": confidence });
    if known.question.schema.pointer("/properties/status").is_some() {
        data["evidence_refs"] = json!(known.refs);
        data["status"] = json!(status);
    }
    data
}

fn failed(result: Option<&Value>, because: &str) -> String {
    let number = |name: &str| result.and_then(|result| result.get(name)).and_then(Value::as_u64);
    match (number("failed_tests"), number("total_tests")) {
        (Some(failed), Some(total)) => format!("{failed} of {total} tests fail; {because}"),
        _ => format!("the tests fail; {because}"),
    }
}

/// Reports if no more target cases pass than before: a change without progress is not built upon.
fn is_no_better(facts: &Value) -> bool {
    let passed = facts.pointer("/test_result/passed_targets").and_then(Value::as_u64);
    let best = facts.get("best_passed").and_then(Value::as_u64);
    matches!((passed, best), (Some(passed), Some(best)) if passed <= best)
}

/// Returns the cases that passed in the baseline and fail now: the measured list, or a comparison of the case lists if
/// there is none.
fn regressions(facts: &Value) -> Vec<String> {
    if let Some(measured) = facts.pointer("/test_result/regressions").and_then(Value::as_array) {
        return measured.iter().filter_map(|name| name.as_str().map(str::to_owned)).collect();
    }
    let cases = |of: &str| {
        facts.get(of).and_then(|result| result.get("cases")).and_then(Value::as_array).cloned().unwrap_or_default()
    };
    let is = |case: &Value, status: &str| case.get("status").and_then(Value::as_str) == Some(status);
    let passed: Vec<Value> = cases("baseline").into_iter().filter(|case| is(case, "passed")).collect();
    let failing = cases("test_result").into_iter().filter(|case| !is(case, "passed") && !is(case, "skipped"));
    let lost = failing.filter(|case| passed.iter().any(|before| before.get("case_id") == case.get("case_id")));
    lost.filter_map(|case| case.get("case_id").and_then(Value::as_str).map(str::to_owned)).collect()
}
