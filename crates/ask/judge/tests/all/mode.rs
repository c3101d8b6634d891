//! Tests of the mode: a machine escalates from model to model and then to rules.

use interlock_testkit_activity::model_server::{Dialect, ModelServer};
use serde_json::{Value as Json, json};

use crate::trial::{Trial, good, judge};

/// A failure that the rules can classify, too.
fn with(mode: &str) -> Json {
    let log = "main.c:3:5: error: 'n' undeclared (first use in this function)\n";
    json!({ "prompt": "p.md", "diff": "+ a / b\n", "log": log, "mode": mode })
}

fn trial(servers: &[&ModelServer]) -> Trial {
    let data = json!({ "properties": { "reason": { "type": "string" }, "suggestion": { "type": "string" } } });
    let signals = json!({ "has_issue": data, "no_issue": { "properties": {} } });
    let names: Vec<String> = (1..=servers.len()).map(|number| format!("m{number}")).collect();
    let judges: String =
        servers.iter().zip(&names).map(|(server, name)| judge(name, Dialect::Chat, server, "")).collect();
    let trial = Trial::of("judge.review", with("model"), &signals, &[("p.md", "What is wrong?")]);
    trial.settings(&format!("{judges}[chains]\ndefault = {names:?}\n"))
}

#[tokio::test]
async fn mode_climbs_from_model_to_model_and_ends_with_rules() {
    let [one, two] = [(); 2].map(|()| ModelServer::saying(vec![Dialect::Chat.says(&good())]));
    let mut trial = trial(&[&one, &two]);
    let rungs = [
        ("model", "m1", (1, 0)),
        ("next_model", "m2", (1, 1)),
        ("next_model", "rules", (1, 1)),
        ("model", "m1", (2, 1)),
        ("rules", "rules", (2, 1)),
        ("rules_more_evidence", "rules", (2, 1)),
    ];
    for (mode, by, asked) in rungs {
        trial.attempt.with = with(mode).into();
        // Every judgement is made by a new process: only the records know who answered last.
        let ended = trial.run().await;
        assert_eq!(ended.name, "has_issue", "{mode}: {:?}", ended.data);
        assert_eq!(trial.judgement(&ended)["judge"], by, "{mode}");
        assert_eq!((one.asked().len(), two.asked().len()), asked, "{mode}");
    }
}

#[tokio::test]
async fn next_model_without_an_earlier_verdict_skips_the_first() {
    let [one, two] = [(); 2].map(|()| ModelServer::saying(vec![Dialect::Chat.says(&good())]));
    let mut trial = trial(&[&one, &two]);
    trial.attempt.with = with("next_model").into();
    let ended = trial.run().await;
    assert_eq!(trial.judgement(&ended)["judge"], "m2");
    assert_eq!((one.asked().len(), two.asked().len()), (0, 1));
}

#[tokio::test]
async fn mode_is_not_a_fact_and_an_unknown_one_is_refused() {
    let server = ModelServer::saying(vec![Dialect::Chat.says(&good())]);
    let mut trial = trial(&[&server]);
    trial.run().await;
    assert!(!server.asked()[0].text().contains("id=\\\"mode\\\""), "the mode is not shown to the judge");
    trial.attempt.with = with("best").into();
    let (code, message) = trial.run().await.error();
    assert_eq!(code, "BAD_INPUT");
    assert!(message.starts_with("`with.mode` must be one of model, next_model"), "{message}");
}
