//! A real, small model on loopback: SmolLM2-135M behind llama.cpp's server. `scripts/setup.sh` fetches both.

use std::{
    io::{Read, Write},
    net::{TcpListener, TcpStream},
    process::{Child, Command, Stdio},
    time::{Duration, Instant},
};

use interlock_testkit_activity::parts;
use serde_json::json;

use crate::trial::{EndedAttempt, Trial};

/// The model server; it is stopped when the value is dropped.
struct Server {
    child: Child,
    port: u16,
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn start() -> Option<Server> {
    let folder = parts::installed("model.sh")?;
    let (python, model) = (folder.join("venv/bin/python"), folder.join("model.gguf"));
    let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/../../../scripts/model-server.py");
    let child = Command::new(python)
        .args([script, model.to_str().unwrap(), &port.to_string()])
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let server = Server { child, port };
    let deadline = Instant::now() + Duration::from_secs(60);
    while !is_ready(port) {
        assert!(Instant::now() < deadline, "the model's server is not ready after a minute");
        std::thread::sleep(Duration::from_millis(50));
    }
    Some(server)
}

/// Reports if the server is ready; it listens before it has loaded the model.
fn is_ready(port: u16) -> bool {
    let Ok(mut stream) = TcpStream::connect(("127.0.0.1", port)) else { return false };
    let mut answer = String::new();
    let asked = stream.write_all(b"GET /health HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n");
    asked.is_ok() && stream.read_to_string(&mut answer).is_ok() && answer.starts_with("HTTP/1.1 200")
}

/// Asks the model if the lamp is on, with additional settings.
async fn lamp(port: u16, more: &str) -> (Trial, EndedAttempt) {
    let signals = json!({ "on": { "properties": {} }, "off": { "properties": {} } });
    let files = [("p.md", "Say whether the lamp is on or off.")];
    let trial = Trial::of("judge.lamp", json!({ "prompt": "p.md", "log": "lamp: on" }), &signals, &files);
    let settings = format!(
        "[judges.small]\nprovider = \"openai-chat\"\nbase_url = \"http://127.0.0.1:{port}/v1\"\nmodel = \"smollm2\"\n\
         temperature = 0.0\nreply_tokens_max = 200\n\
         timeouts = {{ first_byte_s = 300, silence_s = 300, total_s = 300 }}\n{more}\n[chains]\ndefault = [\"small\"]"
    );
    let trial = trial.settings(&settings);
    let ended = trial.run().await;
    (trial, ended)
}

#[tokio::test]
async fn real_model_gives_a_verdict_with_the_schema_and_is_checked_without_it() {
    let Some(server) = start() else { return };
    let (trial, ended) = lamp(server.port, "").await;
    let judgement = trial.judgement(&ended);
    assert!(["on", "off"].contains(&ended.name.as_str()), "{:?}\n{judgement:#}", ended.data);
    let tries = judgement["hearings"][0]["tries"].as_array().unwrap();
    let last = tries.last().unwrap();
    assert_eq!(last["means"], "schema");
    assert!(last["usage"]["output_tokens"].as_u64().unwrap() > 0 && last["usage"]["is_estimate"] == false, "{last}");
    assert_eq!(judgement["verdict"]["evidence_refs"][0], "log");
    let (trial, ended) = lamp(server.port, "means = \"prompt\"").await;
    let judgement = trial.judgement(&ended);
    let hearing = &judgement["hearings"][0];
    assert_eq!(hearing["tries"][0]["means"], "prompt");
    match ended.name.as_str() {
        "on" | "off" => assert_eq!(judgement["verdict"]["signal"], ended.name),
        // A model this small seldom keeps the form without the schema: then its answers were refused with the problems,
        // and there is no verdict.
        _ => {
            assert_eq!(ended.error().0, "MODEL_FAILURE");
            let answers = hearing["answers"].as_array().unwrap();
            assert_eq!(answers.len(), 4);
            assert!(answers.iter().all(|answer| !answer["problems"].as_array().unwrap().is_empty()), "{judgement:#}");
        }
    }
}
