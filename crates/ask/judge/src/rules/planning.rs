//! Plans a change without a model: the plan names the location that the analysis found and requests templates for it.

use serde_json::{Value, json};

use super::QuestionFindings;
use crate::Verdict;

/// The confidence of a plan that was made by rules alone.
const SURE: f64 = 0.55;

/// Makes a plan from the analysis: a minimal change at the location that it names.
pub(super) fn plan(known: &QuestionFindings<'_>) -> Option<Verdict> {
    let facts = &known.question.facts;
    let analysis = facts.get("analysis")?;
    let summary = analysis.get("summary").and_then(Value::as_str).filter(|text| !text.is_empty())?;
    if known.is_diagnostic() {
        return observation(known, summary);
    }
    let hypotheses = analysis.get("hypothesis_list").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    let descriptions = hypotheses.iter().filter_map(|one| one.get("description").and_then(Value::as_str));
    let mut changes: Vec<Value> = descriptions.map(change).collect();
    changes.dedup();
    if changes.is_empty() {
        changes.push(change(summary));
    }
    let reasons = ["one expression of one file at a time, built and tested before it counts"];
    let plan = json!({
        "summary": format!("a minimal change by templates: {summary}"),
        "diagnostic": false,
        "changes": changes,
        "expected_effect": "all failing cases pass, and all passing cases still pass",
        "risk": { "score": 0.2, "reasons": reasons },
    });
    let data = json!({ "summary": plan["summary"], "patch_plan": plan });
    known.verdict("patch_plan_ok", data, SURE, format!("planned by rules: {summary}"))
}

/// Makes the plan of a diagnostic round: a template prints what functions get and return, and is taken out again.
fn observation(known: &QuestionFindings<'_>, summary: &str) -> Option<Verdict> {
    let change = json!({
        "file": "the sources that may be changed",
        "place": "the functions that run before the output ends",
        "change": "print arguments and results",
    });
    let plan = json!({
        "summary": format!("a diagnostic change by templates: {summary}"),
        "diagnostic": true,
        "changes": [change],
        "expected_effect": "the next analysis knows what the suspect functions get and return",
        "risk": { "score": 0.1, "reasons": ["lines that only print are added, and taken out again after one run"] },
    });
    let data = json!({ "summary": plan["summary"], "patch_plan": plan });
    known.verdict("patch_plan_ok", data, SURE, format!("planned by rules: {summary}"))
}

/// Requests templates because no model wrote a patch.
pub(super) fn templates(known: &QuestionFindings<'_>) -> Option<Verdict> {
    let reason = "no model wrote a patch: templates are tried where coverage points".to_owned();
    known.verdict("templates_wanted", json!({ "reason": reason }), SURE, reason.clone())
}

fn change(description: &str) -> Value {
    // The location of a failing test names the test; the fault is in the code that it tests.
    let is_test = |file: &str| file.split('/').any(|part| part.to_ascii_lowercase().starts_with("test"));
    let (file, place) = match place_in(description).filter(|(file, _)| !is_test(file)) {
        Some((file, line)) => (file, format!("line {line}")),
        None => ("the sources that the failing cases execute", "the lines that only failing cases execute".to_owned()),
    };
    json!({ "file": file, "place": place, "change": format!("template candidates for: {description}") })
}

/// Returns the location at the end of a description written by these rules: `… at src/frame.c:12`.
fn place_in(description: &str) -> Option<(&str, u32)> {
    let (_, place) = description.rsplit_once(" at ")?;
    let (file, line) = place.rsplit_once(':')?;
    Some((file, line.parse().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn location_of_a_hypothesis_is_parsed() {
        assert_eq!(place_in("an assertion failed at tests/a.c:12"), Some(("tests/a.c", 12)));
        assert_eq!(place_in("an assertion failed"), None);
        assert_eq!(place_in("at last: nothing"), None);
    }
}
