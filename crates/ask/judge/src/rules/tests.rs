//! Asks the rules every question of the built-in machines about every log of the corpus: each answer must be a valid
//! verdict.

use std::{collections::BTreeMap, path::Path, sync::Arc};

use interlock_activity::{HandledSignal, Invocation, StandIn};
use interlock_chart::{Value as ChartValue, library, model::Template};
use interlock_journal::{Definition, EvidenceStore};
use interlock_triage::Rules;
use serde_json::{Value, json};

use crate::{
    case,
    check::{self, Form},
    prompt::Mark,
};

/// The judgements that rules answer if the logs show a failure. The other questions (writing text, planning again,
/// interpreting a request) cannot be answered by rules.
const ANSWERED: [&str; 11] = [
    "brain judge.advise",
    "brain judge.commit_message",
    "brain judge.deploy_failure",
    "brain judge.refine",
    "brain judge.review",
    "brain judge.summary",
    "coder judge.repair",
    "firmware judge.analysis",
    "firmware judge.patch",
    "firmware judge.plan",
    "firmware judge.result",
];

const MEASURED: [&str; 5] = ["PASS", "FAIL", "FLAKY", "ENV_ERROR", "INCONCLUSIVE"];

/// Returns the fact that a machine would pass under this name if a program had printed this log.
fn fact(machine: &str, name: &str, log: &str, kept: &str, measured: &str) -> Value {
    let case = |status: &str| json!([{ "case_id": "boots", "status": status }]);
    match (machine, name) {
        ("coder", "failure") => json!({ "code": "E_TEST", "message": log }),
        (_, "failure") => json!(log),
        (_, "error_state") => json!({ "type": "TEST_FAILURE", "message": log, "evidence_refs": [kept] }),
        (_, "test_result") => json!({
            "status": measured, "failed_tests": 1, "total_tests": 3, "log": log, "evidence_refs": [kept],
            "cases": case(if measured == "PASS" { "passed" } else { "failed" }),
        }),
        (_, "baseline") => json!({ "cases": case("failed") }),
        (_, "evidence_refs") => json!([kept]),
        (_, "sources") => json!({ "evidence_refs": [] }),
        (_, "measured") => json!(measured),
        (_, "analysis") => json!({
            "summary": "it divides by zero", "root_cause": "", "confidence": 0.7,
            "hypothesis_list": [{
                "description": "it divides by zero at src/main.c:12", "evidence_refs": [kept],
                "suggested_actions": [], "confidence": 0.7,
            }],
        }),
        (_, "plan") => json!({ "plan_id": "p", "steps": [{ "step_id": "repair-1", "title": "divide" }] }),
        (_, "diagnostic" | "edited" | "succeeded" | "can_roll_back" | "committed") => json!(false),
        (_, "files") => json!(["src/a.c (+1 -1)"]),
        (_, "observed" | "warnings") => json!([]),
        (_, "iteration_index" | "best_passed" | "retries" | "retries_max") => json!(1),
        _ => json!("something"),
    }
}

/// Builds the `with` data of one judgement.
fn with(machine: &str, template: &Template, log: &str, kept: &str, measured: &str) -> Value {
    let Template::Map(fields) = template else { panic!("{machine}: `with` is no map") };
    let fields = fields.iter().map(|(name, field)| {
        let value = match field {
            Template::Literal(value) => Value::from(value),
            _ if name == "prompt" => json!("prompts/testing.md"),
            _ if name == "mode" => json!("rules"),
            _ => fact(machine, name, log, kept, measured),
        };
        (name.clone(), value)
    });
    Value::Object(fields.collect())
}

/// Returns the signal that the rules choose, if any. Panics if their answer is not a valid verdict.
fn say(of: &StandIn<'_>, rules: &Rules, what: &str) -> Option<String> {
    let question = case::question(of, &Mark::fresh().unwrap()).unwrap_or_else(|why| panic!("{what}: {why}"));
    let form = Form::new(&question).unwrap_or_else(|why| panic!("{what}: {why}"));
    let verdict = super::judge(&question, rules)?;
    let said = serde_json::to_string(&verdict).unwrap();
    let checked = check::check(&form, &question, &said);
    Some(checked.unwrap_or_else(|problems| panic!("{what}: {problems:#?}\n{said}")).signal)
}

fn logs(evidence: &EvidenceStore) -> Vec<(String, String, String)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../triage/corpus/logs");
    let mut files: Vec<_> = std::fs::read_dir(folder).unwrap().map(|file| file.unwrap().path()).collect();
    files.sort();
    let read = |path: &std::path::PathBuf| {
        let log = std::fs::read_to_string(path).unwrap();
        let kept = evidence.put("log", "text/plain", log.as_bytes()).unwrap().hash.to_string();
        (path.file_stem().unwrap().to_string_lossy().into_owned(), log, kept)
    };
    files.iter().map(read).collect()
}

#[test]
fn rules_give_only_valid_verdicts_to_the_built_in_machines() {
    let store = tempfile::tempdir().unwrap();
    let evidence = EvidenceStore::open(store.path().to_owned()).unwrap();
    let (logs, rules) = (logs(&evidence), Rules::default());
    let mut said: BTreeMap<String, BTreeMap<String, usize>> = BTreeMap::new();
    for machine in ["firmware", "coder", "prd", "brain", "notebook"] {
        let source = library::load(machine, Path::new("/")).unwrap();
        let chart = source.read().chart.unwrap();
        let files = source.files.clone();
        let definition =
            Arc::new(Definition { hash: "h".into(), machine: machine.into(), version: 1, text: String::new(), files });
        for invoke in chart.invokes.iter().filter(|invoke| invoke.is_judgement()) {
            let signals = invoke.signals.iter();
            let taken = signals.map(|signal| HandledSignal {
                name: chart.event(signal.event).name.clone(),
                data: signal.data.clone(),
            });
            let name = invoke.activity.clone();
            if name == "judge.prd" {
                // A separate activity implements it, and that one does not ask rules.
                continue;
            }
            let invocation = Invocation {
                name,
                state: "S".into(),
                signals: taken.collect(),
                is_declared_read: false,
                definition: Arc::clone(&definition),
            };
            let what = format!("{machine} {}", invoke.activity);
            let measured = if invoke.activity == "judge.result" { &MEASURED[..] } else { &["FAIL"] };
            let counts = said.entry(what.clone()).or_default();
            for (log_name, log, kept) in &logs {
                for measured in measured {
                    let with = ChartValue::from(with(machine, &invoke.with, log, kept, measured));
                    let of = StandIn { invocation: &invocation, with: &with, evidence: &evidence };
                    if let Some(signal) = say(&of, &rules, &format!("{what} about {log_name}")) {
                        *counts.entry(signal).or_default() += 1;
                    }
                }
            }
        }
    }
    let answered: Vec<&str> =
        said.iter().filter(|(_, counts)| !counts.is_empty()).map(|(what, _)| what.as_str()).collect();
    assert_eq!(answered, ANSWERED, "{said:#?}");
    assert!(said.len() >= 13, "{said:#?}");
    assert_eq!(said["firmware judge.result"].len(), MEASURED.len(), "every decision is made: {said:#?}");
}
