//! Tests of the exported telemetry.

use interlock_http::Client;
use interlock_model::telemetry::{Origin, Telemetry, name};
use interlock_testkit_activity::model_server::{Dialect, ModelServer, Scripted};
use serde_json::Value;

use crate::trial::{Trial, good};

fn attribute<'v>(span: &'v Value, key: &str) -> &'v Value {
    let found = span["attributes"].as_array().unwrap().iter().find(|attribute| attribute["key"] == key);
    &found.unwrap_or_else(|| panic!("no {key} in {span}"))["value"]
}

#[tokio::test]
async fn every_request_is_a_span_with_the_conventions_names() {
    let model = ModelServer::saying(vec![
        Dialect::Anthropic.fails(529, "overloaded_error", "busy"),
        Dialect::Anthropic.says(&good()),
    ]);
    let trial =
        Trial::new().at(Dialect::Anthropic, &model, "price = { input_per_million = 10, output_per_million = 50 }");
    let ended = trial.run().await;
    let tries: Vec<interlock_model::Try> = tries(&trial.judgement(&ended));
    let collector = ModelServer::saying(vec![Scripted::new(200, "application/json", "{}")]);
    let telemetry = Telemetry::new(format!("{}/v1/traces", collector.url), "X-Tenant=blue", &Client::default());
    telemetry.send(Origin { run: "run-1", activity: "judge.review" }, &tries).await.unwrap();
    let asked = &collector.asked()[0];
    assert_eq!((asked.line.as_str(), asked.headers["x-tenant"].as_str()), ("POST /v1/traces HTTP/1.1", "blue"));
    let spans = &asked.body["resourceSpans"][0]["scopeSpans"][0]["spans"];
    assert_eq!(spans.as_array().unwrap().len(), 2);
    let (failed, good) = (&spans[0], &spans[1]);
    assert_eq!((&failed["status"]["code"], &good["status"]["code"]), (&2.into(), &0.into()));
    assert!(attribute(failed, name::ERROR)["stringValue"].as_str().unwrap().contains("529"));
    assert_eq!(good["name"], "chat tiny");
    assert_eq!(attribute(good, "gen_ai.operation.name")["stringValue"], "chat");
    assert_eq!(attribute(good, "gen_ai.provider.name")["stringValue"], "anthropic");
    assert_eq!(attribute(good, "gen_ai.request.model")["stringValue"], "tiny");
    assert_eq!(attribute(good, "gen_ai.response.model")["stringValue"], "scripted");
    assert_eq!(attribute(good, "gen_ai.usage.input_tokens")["intValue"], "100");
    assert_eq!(attribute(good, "gen_ai.usage.output_tokens")["intValue"], "20");
    assert_eq!(attribute(good, "interlock.cost")["doubleValue"], 0.002);
    assert_eq!(attribute(good, "server.address")["stringValue"], "127.0.0.1");
    let length = |name: &str| good[name].as_str().unwrap().len();
    assert_eq!((length("traceId"), length("spanId")), (32, 16));
}

/// Reads the requests from the evidence, as an observer would.
fn tries(judgement: &Value) -> Vec<interlock_model::Try> {
    let all = judgement["hearings"].as_array().unwrap().iter().flat_map(|hearing| hearing["tries"].as_array().unwrap());
    all.map(|tried| serde_json::from_value(tried.clone()).unwrap()).collect()
}

#[tokio::test]
async fn failing_collector_is_reported_and_stops_no_run() {
    let collector = ModelServer::saying(vec![Scripted::page(500)]);
    let telemetry = Telemetry::new(collector.url.clone(), "", &Client::default());
    let model = ModelServer::saying(vec![Dialect::Chat.says(&good())]);
    let trial = Trial::new().at(Dialect::Chat, &model, "");
    let ended = trial.run().await;
    let sent = telemetry.send(Origin { run: "r", activity: "a" }, &tries(&trial.judgement(&ended))).await;
    assert_eq!(sent, Err("status 500".to_owned()));
    assert_eq!(telemetry.send(Origin { run: "r", activity: "a" }, &[]).await, Ok(()), "nothing to send");
    assert_eq!(collector.asked().len(), 1);
}
