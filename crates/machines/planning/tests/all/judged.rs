//! The built-in server with a model behind it, and the rules behind that.

use std::{path::Path, sync::Arc};

use interlock_activity::{Activity as _, Invocation};
use interlock_chart::{Value, library};
use interlock_journal::Definition;
use interlock_judge::Judge;
use interlock_planning::{GeneratingCall, PlanningCall, Setup, builtin::BuiltIn};
use interlock_testkit_activity::{
    EndedAttempt, Recorder, attempt,
    model_server::{Dialect, ModelServer, Scripted},
};
use serde_json::{Value as Json, json};

use crate::drive::setup;

/// Carries out a call with a model that gives this answer to every question.
async fn ask(name: &str, state: &str, with: Json, says: Scripted) -> (EndedAttempt, usize) {
    let server = ModelServer::saying(vec![says]);
    let home = tempfile::tempdir().unwrap();
    let (provider, url) = (Dialect::Chat.provider(), &server.url);
    let settings = format!(
        "[judges.model]\nprovider = \"{provider}\"\nbase_url = \"{url}\"\nmodel = \"tiny\"\n[chains]\ndefault = [\"model\"]\n"
    );
    std::fs::write(home.path().join("judges.toml"), settings).unwrap();
    let (mut attempt, _canceller) = attempt(home.path(), home.path(), Arc::new(Recorder::in_real_time()));
    let source = library::load("notebook", Path::new("/")).unwrap();
    let definition = Definition::new(&source, &source.read().chart.unwrap());
    attempt.invocation = Arc::new(Invocation {
        name: name.to_owned(),
        state: state.to_owned(),
        signals: Vec::new(),
        is_declared_read: false,
        definition: Arc::new(definition),
    });
    attempt.with = Value::from(with);
    let path = home.path().to_owned();
    let setup = Setup { built_in: BuiltIn::judged(Judge::new(Some(path.clone())), Some(path)), ..setup() };
    let outcome = match name {
        "planning.call" => PlanningCall::new(setup).start(attempt).await,
        _ => GeneratingCall::new(setup).start(attempt).await,
    };
    (EndedAttempt::new(outcome), server.asked().len())
}

fn verdict(answer: &Json) -> Scripted {
    let said = json!({ "signal": "answered", "data": { "answer": answer }, "confidence": 0.9, "reason": "r",
        "evidence_refs": ["observation"] });
    Dialect::Chat.says(&said.to_string())
}

fn with() -> Json {
    json!({ "problem": "Why?", "stage_id": "a", "step_id": "load", "behavior_iteration": 1,
        "workflow": { "name": "w", "stages": [{ "id": "a", "steps": [{ "id": "load" }] }] } })
}

#[tokio::test]
async fn a_model_plans_and_its_prompt_is_evidence() {
    let plan = verdict(&json!({ "target_achieved": true, "continue_behaviors": false, "focus": "done" }));
    let (ended, asked) = ask("planning.call", "behavior_completed", with(), plan).await;
    assert_eq!(
        (ended.name.as_str(), &ended.data["targetAchieved"], asked),
        ("planned", &json!(true), 1),
        "{:?}",
        ended.data
    );
    let names: Vec<&str> = ended.outcome.evidence.iter().map(|kept| kept.name.as_str()).collect();
    assert!(names.contains(&"prompt") && names.contains(&"request"), "{names:?}");
}

#[tokio::test]
async fn a_model_writes_actions() {
    let action = json!({ "action": "add", "shot_type": "dialogue", "content": "hello" });
    let (ended, _) = ask("generating.call", "behavior_running", with(), verdict(&json!({ "actions": [action] }))).await;
    assert_eq!(ended.data["actions"], json!([action]));
}

#[tokio::test]
async fn rules_answer_if_the_model_does_not() {
    let (ended, asked) = ask("generating.call", "behavior_running", with(), Scripted::page(400)).await;
    assert!(asked >= 1 && ended.data["actions"].to_string().contains("def load(path)"), "{:?}", ended.data);
}
