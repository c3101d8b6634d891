//! `logs.triage`: classifies the known evidence of a failure by rules, before a judge or a person interprets it.
//!
//! Nothing is guessed: a failure that the judge's rules do not know is not named, and if there is nothing to read, the
//! outcome reports that. The latest evidence is read first, because an earlier failure may be repaired by now.

use interlock_activity::{
    Activity, Arguments, Attempt, EffectClass, Ending, Outcome, Requests, Signal, Site, code, schema,
};
use interlock_chart::{Value, model::Schema};
use interlock_journal::{Evidence, EvidenceStore, Hash};
use interlock_triage::{Finding, classify};
use serde_json::{Value as Json, json};

const KNOWN: [&str; 6] = ["failure_log", "baseline", "test_result", "error_state", "more_evidence", "diagnosed"];

/// The most findings that are kept, without and with a request for more evidence.
const FINDINGS_MAX: usize = 20;
const FINDINGS_MORE: usize = 100;

/// The number of lines kept before and after a finding if more evidence was requested.
const LINES_AROUND: usize = 8;

/// The most bytes read of a log, from its end: failures are usually reported there.
const LOG_BYTES_MAX: usize = 8 * 1024 * 1024;

/// The most logs that are read.
const LOGS_MAX: usize = 50;

/// Classifies logs by the judge's rules.
#[derive(Clone, Copy, Debug, Default)]
pub struct LogsTriage;

/// A text to classify.
struct Log {
    /// The field of `with` that it comes from.
    source: &'static str,
    /// The hash of its evidence.
    hash: String,
    text: String,
    /// True if it is evidence whether or not a rule matches it. An error message of this run is not, nor is an output
    /// without a failing case: a program that prints nothing useful has printed that, too.
    tells: bool,
}

/// A finding, with an excerpt of its log.
struct LogFinding {
    finding: Finding,
    excerpt: String,
    source: &'static str,
}

fn sort(attempt: &Attempt) -> Result<Outcome, Outcome> {
    let given = Arguments::new(&attempt.with, &KNOWN)?;
    let more = matches!(given.value("more_evidence"), Some(Value::Bool(true)));
    let mut evidence = Vec::new();
    let logs = logs(&given, &attempt.evidence, &mut evidence)?;
    let found = find(&logs, more);
    // After a diagnostic round, a tree that can be run has to do.
    let diagnosed = matches!(given.value("diagnosed"), Some(Value::Bool(true)));
    let has_to_do = diagnosed && given.text("baseline")?.is_some_and(|baseline| !baseline.is_empty());
    if found.is_empty() && !logs.iter().any(|log| log.tells) && !has_to_do {
        return Ok(EVIDENCE_MISSING.outcome(Value::empty()));
    }
    let sorted = json!({
        "findings": found.iter().map(in_json).collect::<Vec<_>>(),
        "looked_at": logs.iter().map(|log| json!({ "source": log.source, "evidence": log.hash })).collect::<Vec<_>>(),
    });
    let triage = keep(&attempt.evidence, "triage", "application/json", &sorted.to_string())?;
    let mut refs = vec![triage.hash.to_string()];
    refs.extend(logs.iter().map(|log| log.hash.clone()));
    evidence.insert(0, triage);
    let refs: Vec<Value> = refs.into_iter().map(Value::from).collect();
    let data = [("summary", Value::from(summary(&found))), ("evidence_refs", Value::List(refs.into()))];
    Ok(TRIAGED.outcome(Value::map(data)).with(evidence))
}

/// Returns all texts to classify, the latest first. Texts given in `with` are stored as evidence, so that findings can
/// refer to them.
fn logs(given: &Arguments<'_>, store: &EvidenceStore, evidence: &mut Vec<Evidence>) -> Result<Vec<Log>, Outcome> {
    let json = |name: &str| given.value(name).map_or(Json::Null, Json::from);
    let (error, result) = (json("error_state"), json("test_result"));
    let (baseline, failure_log) = (given.text("baseline")?, given.text("failure_log")?);
    let said = error["message"].as_str().unwrap_or_default().to_owned();
    let mut all = vec![("test_result", Form::Text(told(&result)))];
    all.extend(hashes(&result["artifacts"]).map(|hash| ("test_result", Form::Kept(hash))));
    all.extend(hashes(&error["evidence_refs"]).map(|hash| ("error_state", Form::Kept(hash))));
    all.push(("error_state", Form::Text(said)));
    all.push(("failure_log", Form::Text(failure_log.unwrap_or_default().to_owned())));
    all.extend(baseline.map(|hash| ("baseline", Form::Kept(hash))));
    let mut logs: Vec<Log> = Vec::new();
    for (source, form) in all {
        let (text, hash, tells) = match form {
            Form::Text(text) if text.trim().is_empty() => continue,
            Form::Text(text) => {
                let kept = keep(store, source, "text/plain", &text)?;
                evidence.push(kept.clone());
                (
                    text,
                    kept.hash.to_string(),
                    source == "failure_log" || source == "test_result" && has_failure(&result),
                )
            }
            Form::Kept(hash) => match text_of(hash, store) {
                Some((text, tells)) => (text, hash.to_owned(), source == "error_state" || tells),
                None => continue,
            },
        };
        if logs.len() < LOGS_MAX && !text.trim().is_empty() && logs.iter().all(|log| log.hash != hash) {
            logs.push(Log { source, hash, text, tells });
        }
    }
    Ok(logs)
}

/// The form of a log: a text in `with`, or evidence.
enum Form<'g> {
    Text(String),
    Kept(&'g str),
}

fn hashes(list: &Json) -> impl Iterator<Item = &str> {
    let items = list.as_array().into_iter().flatten().filter_map(Json::as_str);
    items.filter(|text| Hash::from_hex(text).is_some())
}

/// Renders a test result as text: the observed fault, and the cases that did not pass.
fn told(result: &Json) -> String {
    let mut lines: Vec<String> = vec![result["fault"].as_str().unwrap_or_default().to_owned()];
    let failing = result["cases"].as_array().into_iter().flatten();
    for case in failing.filter(|case| !matches!(case["status"].as_str(), Some("passed" | "skipped"))) {
        let text = |name: &str| case[name].as_str().unwrap_or_default();
        match (case["location"]["file"].as_str(), case["location"]["line"].as_u64()) {
            // A format of a test framework that the rules know.
            (Some(file), Some(line)) => {
                lines.push(format!("{file}:{line}:{}:FAIL: {}", text("case_id"), text("message")))
            }
            // The rules have separate patterns for a case without a location.
            _ => lines.extend([format!("case `{}` {}", text("case_id"), text("status")), text("message").to_owned()]),
        }
        lines.extend(case["stack"].as_array().into_iter().flatten().filter_map(Json::as_str).map(str::to_owned));
    }
    lines.retain(|line| !line.trim().is_empty());
    lines.join("\n")
}

/// Reports whether a test result shows a failure: a fault, or a case that was reported and did not pass. A case that was
/// never reported shows nothing.
fn has_failure(result: &Json) -> bool {
    let is_shown = |case: &Json| matches!(case["status"].as_str(), Some("failed" | "crashed" | "timeout"));
    let has_fault = result["fault"].as_str().is_some_and(|fault| !fault.is_empty());
    has_fault || result["cases"].as_array().into_iter().flatten().any(is_shown)
}

/// Returns the text of a log, and whether it shows a failure by itself; a test result is rendered as text.
fn text_of(hash: &str, store: &EvidenceStore) -> Option<(String, bool)> {
    let content = store.get(&Hash::from_hex(hash)?).ok()?;
    let end = &content[content.len().saturating_sub(LOG_BYTES_MAX)..];
    if end.contains(&0) {
        return None;
    }
    match serde_json::from_slice::<Json>(end) {
        Ok(result) if result["cases"].is_array() => Some((told(&result), has_failure(&result))),
        // A baseline: the build and the test result of the unchanged tree.
        Ok(result) if result["build"].is_object() => {
            let built = result["build"]["summary"].as_str().unwrap_or_default();
            let measured = &result["measured"];
            Some((format!("{built}\n{}", told(measured)), !built.is_empty() || has_failure(measured)))
        }
        _ => Some((String::from_utf8_lossy(end).into_owned(), false)),
    }
}

/// Applies the rules to the logs. Repeated findings count once.
fn find(logs: &[Log], more: bool) -> Vec<LogFinding> {
    let mut found = Vec::<LogFinding>::new();
    for log in logs {
        for finding in classify(&log.text) {
            let is_same =
                |other: &LogFinding| other.finding.class == finding.class && other.finding.cause == finding.cause;
            if !found.iter().any(is_same) {
                let excerpt = if more { around(&log.text, finding.at) } else { finding.excerpt.clone() };
                found.push(LogFinding { finding, excerpt, source: log.source });
            }
        }
    }
    found.truncate(if more { FINDINGS_MORE } else { FINDINGS_MAX });
    found
}

/// Returns the lines around line `at`, counted from 1.
fn around(text: &str, at: usize) -> String {
    let first = at.saturating_sub(1 + LINES_AROUND);
    let lines: Vec<&str> = text.lines().skip(first).take(2 * LINES_AROUND + 1).collect();
    lines.join("\n")
}

fn in_json(found: &LogFinding) -> Json {
    let Finding { class, cause, suggestion, file, line, rule, .. } = &found.finding;
    json!({
        "class": class, "cause": cause, "suggestion": suggestion, "file": file, "line": line,
        "excerpt": found.excerpt, "rule": rule, "source": found.source,
    })
}

/// Summarizes the findings in one line, and reports plainly if there are none.
fn summary(found: &[LogFinding]) -> String {
    let [first, rest @ ..] = found else { return "no rule matches anything that was printed".into() };
    let Finding { class, cause, .. } = &first.finding;
    let place = first.finding.place_beside_cause().map(|place| format!(" at {place}")).unwrap_or_default();
    let more = if rest.is_empty() { String::new() } else { format!(", and {} more", rest.len()) };
    format!("{class}: {cause}{place}{more}")
}

fn keep(store: &EvidenceStore, name: &str, media: &str, text: &str) -> Result<Evidence, Outcome> {
    let kept = store.put(name, media, text.as_bytes());
    kept.map_err(|error| Outcome::not_stored(format!("`{name}` could not be stored: {error}")))
}

const TRIAGED: Signal = Signal::new("triaged", || {
    schema::fields([("summary", schema::text()), ("evidence_refs", schema::list(schema::text()))])
});
const EVIDENCE_MISSING: Signal = Signal::new("evidence_missing", schema::nothing);

impl Activity for LogsTriage {
    fn name(&self) -> &str {
        "logs.triage"
    }

    fn summary(&self) -> &str {
        "Classifies a failure by rules: class, place, suggestion."
    }

    fn effect(&self) -> EffectClass {
        EffectClass::Read
    }

    fn signals(&self) -> &[Signal] {
        &[TRIAGED, EVIDENCE_MISSING]
    }

    fn schema(&self) -> Schema {
        schema::fields([
            ("failure_log", schema::text()),
            ("baseline", schema::text()),
            ("test_result", schema::any()),
            ("error_state", schema::any()),
            ("more_evidence", schema::flag()),
            ("diagnosed", schema::flag()),
        ])
    }

    fn requests(&self, _: &Site<'_>) -> Requests {
        Ok(Vec::new())
    }

    fn get_ready(&self) {
        // The rules compile hundreds of patterns for the first line that they classify.
        classify("");
    }

    fn start(&self, attempt: Attempt) -> Ending {
        Box::pin(async move {
            let sorted = tokio::task::spawn_blocking(move || sort(&attempt).unwrap_or_else(|error| error)).await;
            sorted.unwrap_or_else(|error| Outcome::error(code::FAILED, error.to_string()))
        })
    }
}
