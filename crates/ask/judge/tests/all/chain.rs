//! Tests of the chain: from one judge to the next.

use interlock_activity::Activity;
use interlock_testkit_activity::model_server::{Dialect, ModelServer};
use serde_json::json;

use crate::trial::{Trial, bad, good, judge};

#[tokio::test]
async fn problems_are_sent_back_three_times_before_the_next_judge() {
    let stubborn = ModelServer::saying(vec![Dialect::Chat.says(&bad())]);
    let better = ModelServer::saying(vec![Dialect::Anthropic.says(&good())]);
    let first = judge("first", Dialect::Chat, &stubborn, "");
    let second = judge("second", Dialect::Anthropic, &better, "");
    let trial =
        Trial::new().settings(&format!("{first}{second}[chains]\njudge.review = [\"first\", \"second\", \"rules\"]"));
    let ended = trial.run().await;
    assert_eq!(ended.name, "has_issue", "{:?}", ended.data);
    assert_eq!((stubborn.asked().len(), better.asked().len()), (4, 1));
    let messages = stubborn.asked()[3].body["messages"].clone();
    assert_eq!(messages.as_array().unwrap().len(), 4, "system prompt, question, answer, refusal");
    let refusal = messages[3]["content"].as_str().unwrap();
    assert!(refusal.contains("- signal: must be one of has_issue, no_issue, not \"approve\""), "{refusal}");
    let judgement = trial.judgement(&ended);
    assert_eq!(judgement["judge"], "second");
    assert_eq!(judgement["hearings"][0]["answers"].as_array().unwrap().len(), 4);
    assert_eq!(judgement["hearings"][0]["fault"].as_str().unwrap().split(',').next(), Some("4 answers were refused"));
    assert_eq!(judgement["verdict"]["evidence_refs"], json!(["diff"]));
}

#[tokio::test]
async fn corrected_answer_is_a_verdict() {
    let server = ModelServer::saying(vec![Dialect::Chat.says(&bad()), Dialect::Chat.says(&good())]);
    let trial = Trial::new().at(Dialect::Chat, &server, "");
    let ended = trial.run().await;
    assert_eq!((ended.name.as_str(), server.asked().len()), ("has_issue", 2));
    assert_eq!(trial.judgement(&ended)["hearings"][0]["answers"][0]["problems"][0]["path"], "signal");
}

#[tokio::test]
async fn without_a_model_rules_are_asked() {
    let trial = Trial::new();
    let ended = trial.run().await;
    let (code, message) = ended.error();
    assert_eq!(code, "MODEL_FAILURE");
    let expected = "there is no verdict; rules: no rule applies; no model is configured; add one to judges.toml";
    assert!(message.starts_with(expected), "{message}");
    assert_eq!(trial.judgement(&ended)["hearings"][0]["judge"], "rules");
    assert!(trial.evidence(&ended, "prompt").starts_with("Review the change for <data-"));
}

#[tokio::test]
async fn after_all_models_failed_rules_judge() {
    let stubborn = ModelServer::saying(vec![Dialect::Chat.says(&bad())]);
    let data = json!({ "properties": { "reason": { "type": "string" }, "suggestion": { "type": "string" } } });
    let signals = json!({ "has_issue": data, "no_issue": { "properties": {} } });
    let log = "main.c:3:5: error: 'n' undeclared (first use in this function)\n";
    let trial = Trial::of("judge.review", json!({ "prompt": "p.md", "log": log }), &signals, &[("p.md", "Why?")]);
    let trial = trial.at(Dialect::Chat, &stubborn, "");
    let ended = trial.run().await;
    assert_eq!((ended.name.as_str(), stubborn.asked().len()), ("has_issue", 4), "{:?}", ended.data);
    let judgement = trial.judgement(&ended);
    assert_eq!((&judgement["judge"], &judgement["verdict"]["evidence_refs"]), (&json!("rules"), &json!(["log"])));
    assert!(judgement["verdict"]["reason"].as_str().unwrap().contains("main.c:3"), "{judgement:#}");
}

#[tokio::test]
async fn three_votes_must_agree() {
    let no = json!({ "reason": "it is fine", "evidence_refs": ["diff"], "confidence": 0.6, "signal": "no_issue", "data": {} }).to_string();
    let surer = good().replace("0.75", "0.95");
    let cases = [
        (vec![surer.clone(), good(), surer.clone()], Ok(0.75)),
        (vec![good(), no.clone(), good()], Err("model was asked 3 times and answered has_issue, no_issue, has_issue")),
    ];
    for (answers, expected) in cases {
        let server = ModelServer::saying(answers.iter().map(|text| Dialect::Chat.says(text)).collect());
        let trial = Trial::new();
        let judge = judge("model", Dialect::Chat, &server, "");
        let trial = trial.settings(&format!("{judge}[chains]\ndefault = [\"model\"]\n[votes]\njudge.review = 3"));
        let ended = trial.run().await;
        assert_eq!(server.asked().len(), 3);
        match expected {
            Ok(confidence) => assert_eq!(trial.judgement(&ended)["verdict"]["confidence"], confidence),
            Err(message) => assert_eq!(ended.error(), ("UNDECIDED".to_owned(), message.to_owned())),
        }
    }
}

#[tokio::test]
async fn invalid_settings_are_an_error_and_no_judge_is_asked() {
    let trial = Trial::new().settings("[chains]\ndefault = [\"nobody\"]");
    let (code, message) = trial.run().await.error();
    assert_eq!(code, "BAD_SETTINGS");
    assert!(message.ends_with("chains.default: there is no judge `nobody`; the judges are rules, person"), "{message}");
}

#[tokio::test]
async fn judgement_of_a_person_alone_is_not_started() {
    let trial = Trial::new().settings("[chains]\njudge.review = [\"person\"]");
    let judge = trial.judge();
    assert!(!judge.takes("judge.review", &trial.folder));
    assert!(judge.takes("judge.plan", &trial.folder));
}

#[tokio::test]
async fn chain_that_ends_with_a_person_waits_for_them_after_the_others_failed() {
    let stubborn = ModelServer::saying(vec![Dialect::Chat.says(&bad())]);
    let model = judge("model", Dialect::Chat, &stubborn, "");
    let trial = Trial::new().settings(&format!("{model}[chains]\ndefault = [\"model\", \"person\"]"));
    assert!(trial.judge().takes("judge.review", &trial.folder), "the model is asked first");
    let ended = trial.run().await;
    assert_eq!(ended.name, "needs_person");
    let why = ended.data.as_str().unwrap();
    assert!(why.starts_with("model: 4 answers were refused"), "{why}");
    assert_eq!(
        trial.judgement(&ended)["hearings"].as_array().unwrap().len(),
        1,
        "rules are asked only if they are named"
    );
    assert!(trial.evidence(&ended, "prompt").contains("# Task"));
    let better = ModelServer::saying(vec![Dialect::Chat.says(&good())]);
    let model = judge("model", Dialect::Chat, &better, "");
    let trial = trial.settings(&format!("{model}[chains]\ndefault = [\"model\", \"person\"]"));
    assert_eq!(trial.run().await.name, "has_issue", "the person is not asked if the model answers");
}

#[tokio::test]
async fn invalid_input_of_the_machine_is_named() {
    let cases = [
        (json!({}), "`with.prompt` is missing: the path of a file of the machine"),
        (json!({ "prompt": 1 }), "`with.prompt` must be the path of a file of the machine, not 1"),
        (json!({ "prompt": "prompts/none.md" }), "`with.prompt`: the machine has no file prompts/none.md"),
        (json!({ "prompt": "p.md" }), "p.md line 1: undefined value: `goal` is undefined"),
        (
            json!({ "prompt": "p.md", "goal": "x", "schema": "none.json" }),
            "`with.schema`: the machine has no file none.json",
        ),
        (
            json!({ "prompt": "p.md", "goal": "x", "schema": "p.md" }),
            "`with.schema`: p.md: expected value at line 1 column 1",
        ),
        (
            json!({ "prompt": "p.md", "goal": "x", "schema": "s.json" }),
            "none of the signals has_issue, no_issue has data that fits the schema",
        ),
    ];
    for (with, expected) in cases {
        let files =
            [("p.md", "Goal: {{goal}}"), ("s.json", "{\"properties\": {\"path\": {}}, \"required\": [\"path\"]}")];
        let trial = Trial::of("judge.x", with.clone(), &crate::trial::review(), &files);
        assert_eq!(trial.run().await.error(), ("BAD_INPUT".to_owned(), expected.to_owned()), "{with}");
    }
}

#[tokio::test]
async fn stored_evidence_is_shown_and_can_be_referred_to() {
    let trial = Trial::new();
    let kept = trial.attempt.evidence.put("log", "text/plain", b"HardFault at 0x0800\n").unwrap();
    let id = kept.hash.to_string();
    let said = good().replace("\"diff\"", &format!("\"{id}\""));
    let server = ModelServer::saying(vec![Dialect::Chat.says(&said)]);
    let mut trial = trial.at(Dialect::Chat, &server, "");
    let with = json!({ "prompt": "prompts/review.md", "task": "t", "diff": "d", "state": { "evidence_refs": [id, "not-a-hash"] } });
    trial.attempt.with = with.into();
    let ended = trial.run().await;
    assert_eq!(ended.name, "has_issue", "{:?}", ended.data);
    assert!(server.asked()[0].text().contains("HardFault at 0x0800"));
    assert_eq!(trial.judgement(&ended)["verdict"]["evidence_refs"][0], kept.hash.to_string());
}

#[tokio::test]
async fn data_too_long_for_the_window_is_cut_and_recorded() {
    let server = ModelServer::saying(vec![Dialect::Chat.says(&good())]);
    let mut trial = Trial::new().at(Dialect::Chat, &server, "window_tokens = 8192");
    let log: String = (0..20_000).map(|at| format!("line {at} of the log\n")).collect();
    trial.attempt.with = json!({ "prompt": "prompts/review.md", "task": "t", "diff": log }).into();
    let ended = trial.run().await;
    assert_eq!(ended.name, "has_issue", "{:?}", ended.data);
    assert_eq!(trial.judgement(&ended)["hearings"][0]["is_cut"], true);
    let asked = server.asked()[0].text();
    assert!(asked.contains("line 0 of") && asked.contains("line 19999 of") && asked.contains("lines left out"));
    assert!(asked.len() < 3 * 8192, "{}", asked.len());
}
