//! The server tells others: events for browsers, tools for models, and messages to programs.

use std::{
    io::{Read as _, Write as _},
    net::TcpListener,
    sync::mpsc,
    time::Duration,
};

use interlock_testkit_activity::model_server::{Step, agent_model};
use interlock_testkit_cli::session::Session;
use serde_json::{Value as Json, json};

use super::scene::{GATE, Scene};

#[test]
fn a_reader_that_reconnects_misses_no_record_and_sees_none_twice() {
    let scene = Scene::new("1h");
    let token = scene.token("operator");
    scene.start_gate(&token, "g1");
    let mut events = scene.events(&token, 0);
    let (first, run, seq) = events.next();
    assert_eq!((run.as_str(), seq), ("g1", 1));
    drop(events);
    scene.post(&token, "/runs/g1/events", json!({ "event": "open", "data": { "note": "fine" } }));
    // Another process writes to the same store.
    scene.session.run_shell("cd project && interlock run gate -s change=other --name g2").unwrap();
    let mut events = scene.events(&token, first);
    let (second, run, seq) = events.next();
    assert_eq!((run.as_str(), seq), ("g1", 2));
    let (third, run, seq) = events.next();
    assert_eq!((run.as_str(), seq), ("g2", 1));
    assert!(first < second && second < third);
}

/// Goes to and fro.
const STEPS: &str = "\
machine: steps
version: 1
summary: Goes to and fro.
events: { next: { from: user }, abort: { from: user } }
initial: one
on: { abort: { target: gone } }
states:
  one: { tags: [idle], on: { next: two } }
  two: { tags: [idle], on: { next: one } }
  gone: { type: final, outcome: aborted }
";

#[test]
fn every_notice_carries_the_state_of_its_own_record() {
    let mut scene = Scene::new("1h");
    scene.session.write("project/.interlock/machines/steps/machine.yaml", STEPS).unwrap();
    let token = scene.token("operator");
    let start = json!({ "machine": "steps", "folder": scene.project(), "name": "s1" });
    assert_eq!(scene.post(&token, "/runs", start).status, 201);
    for _ in 0..3 {
        assert_eq!(scene.post(&token, "/runs/s1/events", json!({ "event": "next" })).status, 200);
    }
    for action in ["pause", "resume", "abort"] {
        assert_eq!(scene.post(&token, &format!("/runs/s1/{action}"), json!(null)).status, 200, "{action}");
    }
    scene.until_phase(&token, "s1", "aborted");
    let told = |scene: &Scene| -> Vec<String> {
        let mut events = scene.events(&token, 0);
        let notices = (0..7).map(|_| events.notice());
        notices.map(|told| format!("{} {}", told["phase"].as_str().unwrap(), told["place"].as_str().unwrap())).collect()
    };
    let expected =
        ["waiting one", "waiting two", "waiting one", "waiting two", "paused two", "waiting two", "aborted gone"];
    assert_eq!(told(&scene), expected, "as it happened");
    // A server that has seen none of it tells the same.
    scene.restart();
    assert_eq!(told(&scene), expected, "after a restart");
}

#[test]
fn the_stream_is_not_held_back_by_a_proxy_and_gives_signs_of_life() {
    let scene = Scene::new("1h");
    let token = scene.token("viewer");
    let mut stream = std::net::TcpStream::connect(&scene.address).unwrap();
    stream.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
    let head =
        format!("GET /api/v1/events HTTP/1.1\r\nHost: {}\r\nAuthorization: Bearer {token}\r\n\r\n", scene.address);
    stream.write_all(head.as_bytes()).unwrap();
    let (mut heard, mut piece) = (String::new(), [0; 1024]);
    while !heard.contains("event: alive") {
        let read = stream.read(&mut piece).unwrap();
        assert!(read > 0, "{heard}");
        heard.push_str(&String::from_utf8_lossy(&piece[..read]));
    }
    assert!(heard.contains("x-accel-buffering: no") && heard.contains("\"alive_ms\":5000"), "{heard}");
}

#[test]
fn a_model_starts_and_reads_runs_but_answers_for_no_person() {
    let scene = Scene::new("1h");
    let operator = format!("Authorization: Bearer {}", scene.token("operator"));
    let ask = |method: &str, params: Json| {
        let message = json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params });
        scene.send("POST", "/mcp", &[&operator], &message.to_string()).json()["result"].clone()
    };
    let call = |tool: &str, arguments: Json| ask("tools/call", json!({ "name": tool, "arguments": arguments }));
    assert_eq!(ask("initialize", json!({ "protocolVersion": "2025-06-18" }))["protocolVersion"], "2025-06-18");
    assert!(ask("tools/list", json!({}))["tools"].as_array().unwrap().len() >= 8);
    let folder = scene.project();
    let started =
        call("start_run", json!({ "machine": "gate", "folder": folder, "name": "m1", "input": { "change": "x" } }));
    assert_eq!(started["isError"], false, "{started}");
    let shown = call("show_run", json!({ "run": "m1" }));
    assert!(shown["content"][0]["text"].as_str().unwrap().contains("\"place\":\"closed\""), "{shown}");
    let refused = call("send_event", json!({ "run": "m1", "event": "open", "data": { "note": "x" } }));
    assert_eq!(refused["isError"], true, "{refused}");
    assert_eq!(call("show_run", json!({}))["isError"], true);
}

#[test]
fn the_protocol_for_models_also_works_on_stdin_and_stdout() {
    let scene = Scene::new("1h");
    let messages = [
        "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}",
        "no json",
        "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}",
    ];
    scene.session.write("messages", &(messages.join("\n") + "\n")).unwrap();
    let answered = scene.session.run_shell("interlock mcp < messages").unwrap();
    let lines: Vec<Json> = answered.stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(lines.len(), 2, "a notification has no answer");
    assert_eq!((&lines[0]["result"], &lines[1]["error"]["code"]), (&json!({}), &json!(-32700)));
}

#[test]
fn a_receiver_hears_of_a_run_that_waits_and_of_its_end_even_if_it_was_away() {
    let folder = tempfile::tempdir().unwrap();
    let (address, heard) = receiver();
    let here = folder.path().canonicalize().unwrap();
    let session = Session::new(env!("CARGO_BIN_EXE_interlock"), &here)
        .with("INTERLOCK_HOME", here.join("home").display().to_string())
        .with("HOOK_KEY", "not-a-real-key");
    let rule =
        format!("[[notify]]\non = ['waiting', 'ended']\nurl = 'http://{address}/hook'\nsecret = 'env:HOOK_KEY'\n");
    session.write("home/notify.toml", &rule).unwrap();
    session.write("project/.interlock/machines/gate/machine.yaml", &GATE.replace("HOURS", "1h")).unwrap();
    let mut server = session.command("serve --listen 127.0.0.1:0 --folder project").spawn().unwrap();
    // The outbox begins with the present, so the run starts when the outbox is there.
    let deadline = std::time::Instant::now() + Duration::from_secs(60);
    while !here.join("home/outbox.sqlite").exists() {
        assert!(std::time::Instant::now() < deadline);
        std::thread::sleep(Duration::from_millis(20));
    }
    std::thread::sleep(Duration::from_millis(1_500));
    session.run_shell("cd project && interlock run gate -s change=x --name g1").unwrap();
    let first = heard.recv_timeout(Duration::from_secs(60)).unwrap();
    // The receiver refuses the first try, so the same message comes again.
    let again = heard.recv_timeout(Duration::from_secs(60)).unwrap();
    for (head, body) in [&first, &again] {
        let json: Json = serde_json::from_str(body).unwrap();
        assert_eq!((json["run"].as_str(), json["occasion"].as_str()), (Some("g1"), Some("waiting")));
        assert!(head.contains("interlock-signature: t=") && head.contains("interlock-id: g1-1-waiting"), "{head}");
        assert!(!body.contains("not-a-real-key") && !head.contains("not-a-real-key"));
    }
    session.run_shell("cd project && interlock send g1 open --data '{\"note\":\"fine\"}'").unwrap();
    let (_, body) = heard.recv_timeout(Duration::from_secs(60)).unwrap();
    assert_eq!(serde_json::from_str::<Json>(&body).unwrap()["occasion"], "ended");
    server.kill().unwrap();
    server.wait().unwrap();
}

/// Receives messages: refuses the first, accepts the others. Returns the head and body of each.
fn receiver() -> (String, mpsc::Receiver<(String, String)>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap().to_string();
    let (told, heard) = mpsc::channel();
    std::thread::spawn(move || {
        for (at, stream) in listener.incoming().enumerate() {
            let mut stream = stream.unwrap();
            let (mut bytes, mut piece) = (Vec::new(), [0; 4096]);
            let (head, body) = loop {
                let read = stream.read(&mut piece).unwrap();
                bytes.extend_from_slice(&piece[..read]);
                let text = String::from_utf8_lossy(&bytes).to_string();
                let Some((head, body)) = text.split_once("\r\n\r\n") else { continue };
                let length = head
                    .to_lowercase()
                    .lines()
                    .find_map(|line| line.strip_prefix("content-length: ")?.parse::<usize>().ok());
                if body.len() >= length.unwrap_or(0) {
                    break (head.to_lowercase(), body.to_owned());
                }
            };
            let status = if at == 0 { "503 Busy" } else { "204 No Content" };
            stream.write_all(format!("HTTP/1.1 {status}\r\nContent-Length: 0\r\n\r\n").as_bytes()).unwrap();
            if told.send((head, body)).is_err() {
                break;
            }
        }
    });
    (address, heard)
}

#[test]
fn a_real_agent_connects_to_the_protocol_for_models() {
    let scene = Scene::new("1h");
    let Some(agents) = interlock_testkit_activity::real_agents::installed() else { return };
    let claude = agents.join("bin/claude");
    let (claude, here) = (claude.display(), scene.session.folder().display());
    let shell =
        format!("cd project && export HOME={here} && {claude} mcp add interlock -- interlock mcp && {claude} mcp list");
    let listed = scene.session.run_shell(&shell).unwrap();
    assert!(listed.stdout.contains("Connected"), "{}{}", listed.stdout, listed.stderr);
}

/// Lets Claude Code, driven by a scripted model, use the tools of a server. Returns the results of its tool calls.
fn tool_results_of_claude(scene: &Scene, connect: &str) -> Option<Vec<(bool, String)>> {
    let agents = interlock_testkit_activity::real_agents::installed()?;
    let folder = scene.project();
    let change = json!({ "change": "more speed" });
    let model = agent_model(vec![(
        "Open the gate",
        vec![
            Step::tool("list_machines", json!({ "folder": folder })),
            Step::tool("start_run", json!({ "machine": "gate", "folder": folder, "name": "m1", "input": change })),
            Step::tool("show_run", json!({ "run": "m1" })),
            Step::tool("send_event", json!({ "run": "m1", "event": "open", "data": { "note": "by a model" } })),
            Step::tool("send_event", json!({ "run": "m1", "event": "knock" })),
            Step::tool("grant", json!({ "run": "m1", "scopes": ["fs.write:x"] })),
        ],
    )]);
    let (claude, here, url) = (agents.join("bin/claude"), scene.session.folder().display(), &model.url);
    let claude = claude.display();
    let shell = format!(
        "cd project && export HOME={here} ANTHROPIC_BASE_URL={url} ANTHROPIC_API_KEY=dummy CLAUDE_CODE_MAX_RETRIES=1 ENABLE_TOOL_SEARCH=false && \
         {claude} mcp add {connect} && {claude} --print 'Open the gate' --allowedTools mcp__interlock"
    );
    let said = scene.session.run_shell(&shell).unwrap();
    let asked = model.asked();
    let last = asked.iter().rfind(|asked| asked.text().contains("tool_result"));
    let last = last.unwrap_or_else(|| panic!("no tool was called: {said}"));
    let blocks = last.body["messages"].as_array().unwrap().iter();
    let blocks = blocks.flat_map(|message| message["content"].as_array().cloned().unwrap_or_default());
    let results = blocks.filter(|block| block["type"] == "tool_result");
    Some(results.map(|result| (result["is_error"] == true, result["content"].to_string())).collect())
}

fn check_tool_results(scene: &Scene, results: &[(bool, String)]) {
    let [machines, started, shown, opened, knocked] = results else { panic!("{results:?}") };
    assert!(!machines.0 && machines.1.contains("gate"), "{machines:?}");
    assert!(!started.0 && started.1.contains("waiting"), "{started:?}");
    assert!(!shown.0 && shown.1.contains("more speed"), "{shown:?}");
    assert!(opened.0 && opened.1.contains("only a person may send"), "{opened:?}");
    assert!(!knocked.0, "the machine takes it from runs: {knocked:?}");
    let token = scene.token("operator");
    let shown = scene.get(&token, "/runs/m1").json();
    assert_eq!((shown["phase"].clone(), shown["context"]["note"].clone()), (json!("waiting"), json!("")));
    let answer = json!({ "event": "open", "data": { "note": "by a person" } });
    assert_eq!(scene.post(&token, "/runs/m1/events", answer).status, 200);
}

#[test]
fn a_real_agent_starts_and_reads_a_run_on_stdio_and_cannot_answer_for_a_person() {
    let scene = Scene::new("1h");
    let Some(results) = tool_results_of_claude(&scene, "interlock -- interlock mcp --folder .") else { return };
    check_tool_results(&scene, &results);
}

#[test]
fn a_real_agent_with_the_token_of_an_operator_cannot_answer_for_a_person() {
    let scene = Scene::new("1h");
    let connect = format!(
        "--transport http interlock http://{}/mcp --header 'Authorization: Bearer {}'",
        scene.address,
        scene.token("operator")
    );
    let Some(results) = tool_results_of_claude(&scene, &connect) else { return };
    check_tool_results(&scene, &results);
}
