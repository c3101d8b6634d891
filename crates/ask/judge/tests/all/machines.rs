//! Every judgement of the built-in machines can be asked, and a well-formed answer to it is accepted.

use std::path::Path;

use interlock_chart::library;
use interlock_testkit_activity::model_server::{Dialect, ModelServer, ReceivedRequest};
use serde_json::{Map, Value, json};

use crate::trial::Trial;

/// Returns the smallest value that fits a schema, as a model would write it.
fn sample(schema: &Value) -> Value {
    if let Some(values) = schema.get("enum").and_then(Value::as_array) {
        return values[0].clone();
    }
    match schema.get("type").and_then(Value::as_str) {
        Some("string") => match schema["pattern"].as_str() {
            Some(pattern) if pattern.starts_with("^T-") => json!("T-001"),
            _ => json!("found it"),
        },
        Some("number" | "integer") => json!(0),
        Some("boolean") => json!(true),
        Some("array") => {
            let least = schema["minItems"].as_u64().unwrap_or(0);
            (0..least).map(|_| sample(&schema["items"])).collect()
        }
        _ => {
            let fields = schema["properties"].as_object().cloned().unwrap_or_default();
            let needed = schema["required"].as_array().cloned().unwrap_or_default();
            let fields = fields.iter().filter(|(name, _)| needed.contains(&json!(name)));
            Value::Object(fields.map(|(name, field)| (name.clone(), sample(field))).collect::<Map<_, _>>())
        }
    }
}

/// Answers with the signal at this index, in the form that the question asks for.
fn answer(asked: &ReceivedRequest, signal: usize) -> String {
    let text = asked.body["messages"][1]["content"].as_str().unwrap();
    let schema = text.rsplit("JSON Schema:\n\n").next().unwrap().trim();
    let schema: Value = serde_json::from_str(schema).unwrap();
    let fields = &schema["properties"];
    let name = &fields["signal"]["enum"][signal];
    let mut data = sample(fields["data"]["anyOf"].get(signal).unwrap_or(&fields["data"]));
    let id = &fields["evidence_refs"]["items"]["enum"][0];
    refer(&mut data, id);
    if data.get("status").is_some() {
        data["status"] = name.clone();
    }
    json!({ "reason": "the data shows it", "evidence_refs": [id], "confidence": 0.5, "signal": name, "data": data })
        .to_string()
}

/// Makes all references in the data name the given evidence.
fn refer(data: &mut Value, id: &Value) {
    match data {
        Value::Object(fields) => {
            for (name, value) in fields {
                match (name.as_str(), &mut *value) {
                    ("evidence_refs", Value::Array(_)) => *value = json!([id]),
                    ("hypothesis_list", Value::Array(items)) if items.is_empty() => items.push(json!({
                        "description": "d", "evidence_refs": [id], "suggested_actions": [], "confidence": 0.5
                    })),
                    (_, other) => refer(other, id),
                }
            }
        }
        Value::Array(items) => items.iter_mut().for_each(|item| refer(item, id)),
        _ => {}
    }
}

#[tokio::test]
async fn every_judgement_of_the_built_in_machines_can_be_asked_and_answered() {
    let mut asked = Vec::new();
    for machine in ["firmware", "coder", "prd", "brain", "notebook"] {
        let source = library::load(machine, Path::new("/")).unwrap();
        let chart = source.read().chart.unwrap();
        for invoke in chart.invokes.iter().filter(|invoke| invoke.is_judgement()) {
            let signals =
                invoke.signals.iter().map(|signal| (chart.event(signal.event).name.clone(), signal.data.clone()));
            let signals: Value = Value::Object(signals.collect());
            let prompts =
                source.files.iter().filter(|(name, _)| name.starts_with("prompts/") || name.starts_with("schemas/"));
            let files: Vec<(&str, &str)> =
                prompts.map(|(name, text)| (name.as_str(), std::str::from_utf8(text).unwrap())).collect();
            let with = with(&invoke.activity, machine);
            for signal in 0..invoke.signals.len() {
                let server = ModelServer::start(move |_, asked| Dialect::Chat.says(&answer(asked, signal)));
                let trial = Trial::of(&invoke.activity, with.clone(), &signals, &files).at(
                    Dialect::Chat,
                    &server,
                    "window_tokens = 32000",
                );
                let ended = trial.run().await;
                let what = format!("{machine} {} {signal}", invoke.activity);
                if (machine, invoke.activity.as_str()) == ("prd", "judge.prd") {
                    // It writes a file, which a judge cannot do; a separate activity implements it under that name.
                    assert_eq!(ended.error().0, "BAD_INPUT", "{what}");
                    continue;
                }
                assert_eq!(
                    ended.name,
                    *signals.as_object().unwrap().keys().nth(signal).unwrap(),
                    "{what}: {:?}\n{}",
                    ended.data,
                    trial.judgement(&ended)
                );
                asked.push(what);
            }
        }
    }
    assert!(asked.len() >= 25, "{asked:?}");
}

/// Builds the `with` data without running the machine: only the prompt and the schema matter.
fn with(activity: &str, machine: &str) -> Value {
    let (prompt, schema) = match (machine, activity) {
        ("brain", "judge.advise") => ("prompts/testing.md", None),
        ("brain", "judge.review") => ("prompts/reviewing.md", None),
        ("brain", "judge.refine") => ("prompts/refining.md", None),
        ("brain", "judge.summary") => ("prompts/done.md", None),
        ("brain", "judge.commit_message") => ("prompts/commit_message.md", None),
        ("brain", "judge.deploy_failure") => ("prompts/deploying.md", None),
        ("coder", "judge.intake") => ("prompts/intake.md", None),
        ("coder", "judge.plan") => ("prompts/planning.md", Some("schemas/plan.json")),
        ("coder", "judge.step") => ("prompts/executing.md", None),
        ("coder", "judge.repair") => ("prompts/recovering.md", Some("schemas/plan-patch.json")),
        ("coder", "judge.summary") => ("prompts/summarizing.md", None),
        ("firmware", "judge.analysis") => ("prompts/analysis.md", Some("schemas/analysis.json")),
        ("firmware", "judge.plan") => ("prompts/patch_plan.md", Some("schemas/patch_plan.json")),
        ("firmware", "judge.patch") => ("prompts/patch.md", Some("schemas/patch.json")),
        ("firmware", "judge.result") => ("prompts/decision.md", Some("schemas/decision.json")),
        ("prd", "judge.prd") => ("prompts/prd.md", Some("schemas/prd.json")),
        other => panic!("{other:?} is new: name its prompt here"),
    };
    let mut with = json!({ "prompt": prompt, "goal": "g", "iteration_index": 1, "requirement": "r", "failure": "it failed",
        "edited": true, "can_roll_back": false });
    with["schema"] = json!(schema);
    with
}
