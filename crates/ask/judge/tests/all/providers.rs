//! Tests of every protocol: the requests, the answers, and the fallback if a server refuses a mechanism.

use interlock_testkit_activity::model_server::{Dialect, ModelServer, ReceivedRequest, Scripted};
use serde_json::json;

use crate::trial::{Trial, good};

#[tokio::test]
async fn every_provider_is_asked_in_its_protocol() {
    for dialect in Dialect::ALL {
        let server = ModelServer::saying(vec![dialect.says(&good())]);
        let trial = Trial::new().at(dialect, &server, "headers = { x-team = \"blue\" }\ntemperature = 0.0");
        let ended = trial.run().await;
        assert_eq!(ended.name, "has_issue", "{dialect:?}: {:?}", ended.data);
        assert_eq!(ended.data, json!({ "suggestion": "check for zero first" }));
        let asked = &server.asked()[0];
        assert!(dialect.is_constrained(asked), "{dialect:?}: {}", asked.body);
        assert_eq!(asked.headers["x-team"], "blue");
        assert_eq!(asked.body["model"], "tiny");
        assert_eq!(asked.body["stream"], true);
        let path = match dialect {
            Dialect::Anthropic => "POST /v1/messages HTTP/1.1",
            Dialect::Responses => "POST /responses HTTP/1.1",
            Dialect::Chat => "POST /chat/completions HTTP/1.1",
            Dialect::Ollama => "POST /api/chat HTTP/1.1",
        };
        assert_eq!(asked.line, path);
        let judgement = trial.judgement(&ended);
        let tried = &judgement["hearings"][0]["tries"][0];
        assert_eq!(judgement["judge"], "model");
        assert_eq!(
            tried["usage"],
            json!({ "input_tokens": 100, "output_tokens": 20, "is_estimate": false }),
            "{dialect:?}"
        );
        assert_eq!((&tried["means"], &tried["answered_by"]), (&json!("schema"), &json!("scripted")));
        assert_eq!(*trial.host.said.lock().unwrap(), ["judged by model: has_issue, it divides by zero"]);
    }
}

#[tokio::test]
async fn answer_that_is_not_streamed_is_understood() {
    for dialect in Dialect::ALL {
        let server = ModelServer::saying(vec![dialect.says_whole(&good())]);
        let ended = Trial::new().at(dialect, &server, "stream = false").run().await;
        assert_eq!(ended.name, "has_issue", "{dialect:?}: {:?}", ended.data);
        assert_eq!(server.asked()[0].body["stream"], false);
    }
}

#[tokio::test]
async fn keys_come_from_variables_and_files_and_are_not_stored() {
    let file = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(file.path(), "sk-from-a-file\n").unwrap();
    let key = format!("key_file = \"{}\"", file.path().display());
    for (dialect, header, value) in [
        (Dialect::Anthropic, "x-api-key", "sk-from-a-file"),
        (Dialect::Chat, "authorization", "Bearer sk-from-a-file"),
        (Dialect::Responses, "authorization", "Bearer sk-from-a-file"),
    ] {
        let server = ModelServer::saying(vec![dialect.says(&good())]);
        let trial = Trial::new().at(dialect, &server, &key);
        let ended = trial.run().await;
        assert_eq!(server.asked()[0].headers[header], value);
        for evidence in &ended.outcome.evidence {
            let bytes = trial.attempt.evidence.get(&evidence.hash).unwrap();
            assert!(!String::from_utf8_lossy(&bytes).contains("sk-from"), "{} holds the key", evidence.name);
        }
    }
    let server = ModelServer::saying(vec![Dialect::Chat.says(&good())]);
    let trial = Trial::new().at(Dialect::Chat, &server, "key_env = \"INTERLOCK_TEST_NO_SUCH_KEY\"");
    let (code, message) = trial.run().await.error();
    assert_eq!(code, "MODEL_FAILURE");
    assert!(message.contains("the variable INTERLOCK_TEST_NO_SUCH_KEY with the key is not set"), "{message}");
    assert_eq!(server.asked().len(), 0);
}

/// A server that refuses every request that `takes` does not accept.
fn weak(dialect: Dialect, takes: fn(&ReceivedRequest) -> bool, answer: Scripted) -> ModelServer {
    ModelServer::start(move |_, asked| match takes(asked) {
        true => answer.clone(),
        false => dialect.fails(400, "invalid_request_error", "unknown parameter"),
    })
}

#[tokio::test]
async fn refused_mechanism_is_replaced_by_the_next_and_remembered() {
    let plain = |asked: &ReceivedRequest| {
        ["response_format", "tools", "json_schema", "format", "text", "output_config"]
            .iter()
            .all(|name| asked.body.get(*name).is_none())
    };
    let tool = |asked: &ReceivedRequest| asked.body.get("tools").is_some() && !asked.text().contains("\"strict\":true");
    let json = |asked: &ReceivedRequest| asked.text().contains("json_object") || asked.body["format"] == "json";
    let cases = [
        (Dialect::Chat, plain as fn(&ReceivedRequest) -> bool, "prompt", 6),
        (Dialect::Chat, json, "json", 5),
        (Dialect::Chat, tool, "tool", 3),
        (Dialect::Anthropic, tool, "tool", 3),
        (Dialect::Anthropic, plain, "prompt", 4),
        (Dialect::Responses, json, "json", 4),
        (Dialect::Ollama, json, "json", 2),
    ];
    for (dialect, takes, means, requests) in cases {
        let answer = if means == "tool" { dialect.calls(&good()) } else { dialect.says(&good()) };
        let server = weak(dialect, takes, answer);
        let trial = Trial::new().at(dialect, &server, "");
        let judge = trial.judge();
        let ended = trial.run_with(&judge).await;
        assert_eq!(ended.name, "has_issue", "{dialect:?} {means}: {:?}", ended.data);
        assert_eq!(server.asked().len(), requests, "{dialect:?} {means}");
        let judgement = trial.judgement(&ended);
        let tries = judgement["hearings"][0]["tries"].as_array().unwrap();
        assert_eq!(tries.last().unwrap()["means"], means);
        assert!(
            tries[0]["fault"].as_str().unwrap().contains("status 400: invalid_request_error: unknown parameter")
                || dialect == Dialect::Ollama
        );
        trial.run_with(&judge).await;
        assert_eq!(server.asked().len(), requests + 1, "{dialect:?} {means} was detected twice");
    }
}

#[tokio::test]
async fn open_data_is_asked_for_without_strict_mode() {
    let signals = json!({ "call": { "required": ["args"], "properties": { "args": { "type": "object" } } } });
    let files = [("p.md", "Choose.")];
    let said = json!({ "reason": "it is next", "evidence_refs": ["step"], "confidence": 1, "signal": "call", "data": { "args": { "path": "a.c" } } });
    let server = ModelServer::saying(vec![Dialect::Anthropic.calls(&said.to_string())]);
    let trial = Trial::of("judge.step", json!({ "prompt": "p.md", "step": "read" }), &signals, &files);
    let ended = trial.at(Dialect::Anthropic, &server, "").run().await;
    assert_eq!((ended.name.as_str(), &ended.data), ("call", &json!({ "args": { "path": "a.c" } })));
    assert_eq!(server.asked()[0].body["tool_choice"], json!({ "type": "tool", "name": "verdict" }));
    assert_eq!(server.asked()[0].body["tools"][0].get("strict"), None);
    let server = ModelServer::saying(vec![Dialect::Chat.says(&said.to_string())]);
    let trial = Trial::of("judge.step", json!({ "prompt": "p.md", "step": "read" }), &signals, &files);
    assert_eq!(trial.at(Dialect::Chat, &server, "").run().await.name, "call");
    assert_eq!(server.asked()[0].body["response_format"]["json_schema"]["strict"], false);
}

#[tokio::test]
async fn proxy_is_used_for_a_remote_host() {
    let proxy = ModelServer::saying(vec![Dialect::Chat.says(&good())]);
    let judge = format!(
        "[judges.model]\nprovider = \"openai-chat\"\nbase_url = \"http://models.example/v1\"\nmodel = \"m\"\nproxy = \"http://me:pw@{}\"\n[chains]\ndefault = [\"model\"]",
        proxy.url.trim_start_matches("http://")
    );
    let ended = Trial::new().settings(&judge).run().await;
    assert_eq!(ended.name, "has_issue", "{:?}", ended.data);
    let asked = &proxy.asked()[0];
    assert_eq!(asked.line, "POST http://models.example/v1/chat/completions HTTP/1.1");
    assert_eq!(
        (asked.headers["host"].as_str(), asked.headers["proxy-authorization"].as_str()),
        ("models.example", "Basic bWU6cHc=")
    );
}

#[tokio::test]
async fn secrets_in_facts_reach_neither_the_server_nor_the_evidence() {
    let server = ModelServer::saying(vec![Dialect::Chat.says(&good())]);
    let mut trial = Trial::new().at(Dialect::Chat, &server, "");
    let secret = format!("ghp_{}", "FAKEfake0123456789abcdefABCDEF012345");
    let diff = format!("+ const KEY: &str = \"{secret}\";\n+ let half = 1 / n;");
    trial.attempt.with = json!({ "prompt": "prompts/review.md", "task": "divide", "diff": diff }).into();
    let ended = trial.run().await;
    assert_eq!(ended.name, "has_issue", "{:?}", ended.data);
    let asked = server.asked()[0].text();
    assert!(asked.contains("[redacted: ") && asked.contains("let half = 1 / n;"), "{asked}");
    for text in [asked, trial.evidence(&ended, "prompt"), trial.judgement(&ended).to_string()] {
        assert!(!text.contains(&secret), "{text}");
    }
}
