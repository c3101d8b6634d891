//! `interlock acp`, spoken to as an editor does: JSON-RPC over its standard input and output. `scripts/acp.sh` does the same
//! with the client library of the protocol.

use std::{
    io::{BufRead as _, BufReader, Write as _},
    process::{Child, ChildStdin, ChildStdout, Command, Stdio},
};

use interlock_testkit_activity::model_server::{CoderTurn, Move};
use serde_json::{Value as Json, json};

use super::scene::{AFTER, BEFORE, Scene, repair};

const GOAL: &str = "count the arguments";

/// An editor that has started the agent.
struct Editor {
    child: Child,
    input: Option<ChildStdin>,
    output: BufReader<ChildStdout>,
    requests: u64,
    /// The option that is chosen when a permission is asked for; `None` cancels the turn.
    choice: Option<&'static str>,
    /// The updates and the permission requests so far.
    seen: Vec<Json>,
}

impl Editor {
    /// Starts the agent, for two minutes at most.
    fn open(scene: &Scene, choice: Option<&'static str>) -> Self {
        let home = scene.session.folder().join("../home").canonicalize().unwrap();
        let mut command = Command::new("timeout");
        command.args(["120", env!("CARGO_BIN_EXE_interlock"), "acp"]).env("INTERLOCK_HOME", home);
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let (input, output) = (child.stdin.take(), BufReader::new(child.stdout.take().unwrap()));
        let mut editor = Editor { child, input, output, requests: 0, choice, seen: Vec::new() };
        let ready = editor.request("initialize", json!({ "protocolVersion": 1, "clientCapabilities": {} }));
        assert_eq!((&ready["protocolVersion"], &ready["agentCapabilities"]["loadSession"]), (&json!(1), &json!(true)));
        editor
    }

    fn send(&mut self, message: &Json) {
        self.input.as_mut().unwrap().write_all(format!("{message}\n").as_bytes()).unwrap();
    }

    /// Sends a request and returns its result. Answers what the agent asks meanwhile.
    fn request(&mut self, method: &str, params: Json) -> Json {
        let answer = self.ask(method, params);
        assert!(answer.get("error").is_none(), "{answer}");
        answer["result"].clone()
    }

    fn ask(&mut self, method: &str, params: Json) -> Json {
        self.requests += 1;
        let id = json!(self.requests);
        self.send(&json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }));
        loop {
            let mut line = String::new();
            assert!(self.output.read_line(&mut line).unwrap() > 0, "the agent is gone");
            let message: Json = serde_json::from_str(&line).unwrap();
            match message["method"].as_str() {
                Some("session/request_permission") => self.permit(&message),
                Some("session/update") => self.seen.push(message["params"]["update"].clone()),
                Some(other) => panic!("the agent asks for {other}"),
                None if message["id"] == id => return message,
                None => {}
            }
        }
    }

    fn permit(&mut self, message: &Json) {
        self.seen.push(message["params"].clone());
        let outcome = match self.choice {
            Some(choice) => json!({ "outcome": "selected", "optionId": choice }),
            None => {
                let params = json!({ "sessionId": message["params"]["sessionId"] });
                self.send(&json!({ "jsonrpc": "2.0", "method": "session/cancel", "params": params }));
                json!({ "outcome": "cancelled" })
            }
        };
        self.send(&json!({ "jsonrpc": "2.0", "id": message["id"], "result": { "outcome": outcome } }));
    }

    fn session(&mut self, scene: &Scene) -> String {
        let params = json!({ "cwd": scene.session.folder(), "mcpServers": [] });
        self.request("session/new", params)["sessionId"].as_str().unwrap().to_owned()
    }

    fn prompt(&mut self, session: &str, text: &str) -> Json {
        let prompt = json!([{ "type": "text", "text": text }]);
        self.request("session/prompt", json!({ "sessionId": session, "prompt": prompt }))["stopReason"].clone()
    }

    fn updates(&self, kind: &str) -> Vec<&Json> {
        self.seen.iter().filter(|update| update["sessionUpdate"] == kind).collect()
    }

    fn text(&self) -> String {
        self.updates("agent_message_chunk").iter().filter_map(|update| update["content"]["text"].as_str()).collect()
    }

    /// Closes the connection, which ends the agent.
    fn close(mut self) {
        drop(self.input.take());
        assert!(self.child.wait().unwrap().success());
    }
}

#[test]
fn an_editor_confirms_a_plan_and_sees_the_change() {
    let scene = Scene::new(vec![repair(GOAL)]);
    let mut editor = Editor::open(&scene, Some("single_action"));
    let session = editor.session(&scene);
    assert_eq!(editor.prompt(&session, GOAL), "end_turn");
    assert_eq!(scene.read("count.sh"), AFTER);
    let asked = editor.seen.iter().find(|seen| seen["options"].is_array()).unwrap();
    assert_eq!(asked["toolCall"]["title"], "Carry out this plan");
    let calls: Vec<&str> = editor.updates("tool_call").iter().map(|call| call["title"].as_str().unwrap()).collect();
    assert_eq!(calls, ["read_file count.sh", "apply_patch count.sh"]);
    let diffs = editor.updates("tool_call_update").into_iter().flat_map(|update| update["content"].as_array().cloned());
    let diff = diffs.flatten().find(|content| content["type"] == "diff").unwrap();
    assert_eq!((&diff["oldText"], &diff["newText"]), (&json!(BEFORE), &json!(AFTER)));
    let last = editor.updates("plan").pop().unwrap();
    assert_eq!(last["entries"][0]["status"], "completed");
    assert!(editor.text().contains("Summary of count the arguments."), "{}", editor.text());
    let again = format!("{GOAL} again");
    assert_eq!(editor.prompt(&session, &again), "end_turn");
    editor.close();
    // The session is a run that another process can load and verify.
    assert_eq!(scene.run(&format!("verify {session}")).code, Some(0));
    let mut editor = Editor::open(&scene, None);
    editor.request("session/load", json!({ "sessionId": session, "cwd": scene.session.folder(), "mcpServers": [] }));
    let said: Vec<&Json> = editor.updates("user_message_chunk");
    assert_eq!([&said[0]["content"]["text"], &said[1]["content"]["text"]], [GOAL, &again]);
    assert!(editor.text().contains("Summary of count the arguments."), "{}", editor.text());
    editor.close();
}

#[test]
fn an_editor_sees_refused_calls_and_the_facts() {
    let moves = vec![
        Move::call("write_file", json!({ "path": "/etc/hosts", "content": "x" })),
        Move::done("Fixed. All tests pass."),
    ];
    let scene = Scene::new(vec![CoderTurn::change(GOAL, &["count.sh"], &[], moves)]);
    let mut editor = Editor::open(&scene, Some("single_action"));
    let session = editor.session(&scene);
    assert_eq!(editor.prompt(&session, GOAL), "end_turn");
    let refused = editor.updates("tool_call").into_iter().find(|call| call["status"] == "failed").unwrap();
    assert_eq!(refused["title"], "write_file /etc/hosts");
    let text = refused["content"][0]["content"]["text"].as_str().unwrap();
    assert!(text.starts_with("Refused: E_POLICY_DENIED: ") && text.contains("\nNext: "), "{text}");
    let said = editor.text();
    let expected =
        ["- no file was changed", "contradiction: the model says \"Fixed\"", "unchanged: E_MODEL: ", "Trace id: "];
    assert!(expected.iter().all(|text| said.contains(text)), "{said}");
    editor.close();
}

#[test]
fn an_editor_refuses_a_plan() {
    let scene = Scene::new(vec![repair(GOAL)]);
    let mut editor = Editor::open(&scene, Some("no"));
    let session = editor.session(&scene);
    assert_eq!(editor.prompt(&session, GOAL), "end_turn");
    assert_eq!(scene.read("count.sh"), BEFORE);
    editor.close();
}

#[test]
fn an_editor_cancels_a_turn() {
    let scene = Scene::new(vec![repair(GOAL)]);
    let mut editor = Editor::open(&scene, None);
    let session = editor.session(&scene);
    assert_eq!(editor.prompt(&session, GOAL), "cancelled");
    assert_eq!(scene.read("count.sh"), BEFORE);
    editor.close();
}

#[test]
fn questions_end_the_prompt_and_the_next_prompt_answers_them() {
    let mut turn = CoderTurn::question("which one", vec![Move::done("done")]);
    turn.brief = json!(["Which file?"]);
    let scene = Scene::new(vec![turn]);
    let mut editor = Editor::open(&scene, None);
    let session = editor.session(&scene);
    assert_eq!(editor.prompt(&session, "which one"), "end_turn");
    assert!(editor.text().contains("Which file?"), "{}", editor.text());
    editor.close();
}

#[test]
fn wrong_requests_are_answered_with_an_error() {
    let scene = Scene::new(vec![]);
    let mut editor = Editor::open(&scene, None);
    for (method, params) in [
        ("session/prompt", json!({ "sessionId": "none", "prompt": [{ "type": "text", "text": "x" }] })),
        ("session/new", json!({ "cwd": "relative", "mcpServers": [] })),
        ("session/load", json!({ "sessionId": "none", "cwd": "/" })),
        ("session/dance", json!({})),
    ] {
        let answer = editor.ask(method, params);
        assert!(answer["error"]["message"].is_string(), "{method}: {answer}");
    }
    editor.close();
}
