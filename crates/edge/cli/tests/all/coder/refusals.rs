//! What a person sees of refusals and failures: servers that refuse requests, models that cannot be asked, calls and plans that
//! policy denies, commands that fail.

use std::sync::atomic::{AtomicUsize, Ordering};

use interlock_testkit_activity::model_server::{
    CoderTurn, Dialect, ModelServer, Move, ReceivedRequest, Scripted, coder_answer,
};
use interlock_testkit_cli::session::Transcript;
use serde_json::{Value as Json, json};

use super::scene::{AFTER, BEFORE, Scene, patch, repair};

const GOAL: &str = "count the arguments";

/// A model that plays a turn, except for the requests to which `instead` has an answer. Its arguments are the request and
/// the number of requests of steps before it.
fn model(
    turn: CoderTurn,
    instead: impl Fn(&ReceivedRequest, usize) -> Option<Scripted> + Send + 'static,
) -> ModelServer {
    let steps = AtomicUsize::new(0);
    ModelServer::start(move |_, asked| {
        let number = if is_step(asked) { steps.fetch_add(1, Ordering::SeqCst) } else { 0 };
        instead(asked, number).unwrap_or_else(|| coder_answer(Dialect::Chat, std::slice::from_ref(&turn), asked))
    })
}

fn is_step(asked: &ReceivedRequest) -> bool {
    asked.text().contains("# Executing")
}

fn refuse(status: u16, message: &str) -> Scripted {
    Dialect::Chat.fails(status, "invalid_request_error", message)
}

fn lines(played: &Transcript) -> Vec<Json> {
    played.stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn play(scene: &Scene) -> (Transcript, Vec<Json>) {
    let played = scene.run(&format!("coder '{GOAL}' --name c1 --unattended --json"));
    let lines = lines(&played);
    (played, lines)
}

fn of_type<'l>(lines: &'l [Json], kind: &str) -> Vec<&'l Json> {
    lines.iter().filter(|line| line["type"] == kind).collect()
}

#[test]
fn one_refused_request_does_not_switch_tools_off() {
    let update = json!({ "step_id": "s1", "intent": "again" });
    let patch = json!({ "remove_steps": [], "update_steps": [update], "add_steps": [] });
    let data = json!({ "patch": patch, "builds_on_change": true, "reason": "the server refused one request" });
    let turn = repair(GOAL).repaired_by("repairable", data);
    let refused = |asked: &ReceivedRequest, number: usize| {
        (is_step(asked) && number == 0).then(|| refuse(400, "messages: roles must alternate"))
    };
    let scene = Scene::with_model(Dialect::Chat, model(turn, refused));
    let (played, _) = play(&scene);
    assert_eq!((played.code, scene.read("count.sh").as_str()), (Some(0), AFTER), "{played}");
    let steps: Vec<ReceivedRequest> = scene.model.asked().into_iter().filter(is_step).collect();
    assert!(steps.len() > 3 && steps.iter().all(|asked| asked.body["tools"].is_array()), "{}", steps.len());
    // The refusal is reported as the server worded it.
    let trace = scene.run("trace c1").stdout;
    assert!(trace.contains("status 400: invalid_request_error: messages: roles must alternate"), "{trace}");
}

#[test]
fn a_model_without_tools_answers_with_json_and_people_are_told() {
    let refused = |asked: &ReceivedRequest, number: usize| {
        if asked.body["tools"].is_array() {
            return Some(refuse(400, "this model does not support tools"));
        }
        let calls = [("read_file", json!({ "path": "count.sh" })), ("apply_patch", patch())];
        let done = ("step_done", json!({ "summary": "It counts." }));
        // The first request of a step offered tools.
        let (tool, args) = calls.get(number.saturating_sub(1)).cloned().unwrap_or(done);
        is_step(asked).then(|| Dialect::Chat.says(&json!({ "say": "", "tool": tool, "args": args }).to_string()))
    };
    let scene = Scene::with_model(Dialect::Chat, model(repair(GOAL), refused));
    let (played, lines) = play(&scene);
    assert_eq!((played.code, scene.read("count.sh").as_str()), (Some(0), AFTER), "{played}");
    let notices = of_type(&lines, "notice");
    let text = notices[0]["text"].as_str().unwrap();
    assert!(
        notices.len() == 1 && text.contains("model has no tools") && text.contains("does not support tools"),
        "{text}"
    );
}

#[test]
fn a_conversation_that_does_not_fit_is_compacted_and_goes_on() {
    let calls: Vec<(String, Json)> = (0..6)
        .map(|_| ("read_file".to_owned(), json!({ "path": "long.txt" })))
        .chain([("apply_patch".to_owned(), patch()), ("step_done".to_owned(), json!({ "summary": "It counts." }))])
        .collect();
    const ROOM_BYTES: usize = 60_000;
    let made = AtomicUsize::new(0);
    let turn = repair(GOAL);
    let server = ModelServer::start(move |_, asked| {
        if !is_step(asked) {
            return coder_answer(Dialect::Chat, std::slice::from_ref(&turn), asked);
        }
        if asked.text().len() > ROOM_BYTES {
            return refuse(
                400,
                "This model's maximum context length is 16000 tokens. However, you requested 17000 tokens.",
            );
        }
        let (name, args) = calls[made.fetch_add(1, Ordering::SeqCst).min(calls.len() - 1)].clone();
        Dialect::Chat.calls_tools("I go on.", &[(name.as_str(), args)])
    });
    let scene = Scene::with_model(Dialect::Chat, server);
    scene.write("long.txt", &"one of many lines of a long file\n".repeat(400));
    scene.git(&["add", "-A"]);
    scene.git(&["commit", "-qm", "A long file"]);
    let (played, lines) = play(&scene);
    assert_eq!((played.code, scene.read("count.sh").as_str()), (Some(0), AFTER), "{played}");
    let notices = of_type(&lines, "notice");
    assert!(
        notices.iter().any(|line| line["text"].as_str().unwrap().contains("it was compacted from about")),
        "{played}"
    );
    let steps = scene.model.asked().into_iter().filter(is_step);
    assert!(steps.into_iter().all(|asked| asked.body["tools"].is_array()));
}

#[test]
fn a_model_that_cannot_be_asked_has_a_code_a_next_step_and_a_trace_id() {
    let judges = |scene: &Scene, more: &str| {
        let judges =
            scene.read("../home/judges.toml").replace("retries_max = 0\n", &format!("retries_max = 0\n{more}\n"));
        scene.write("../home/judges.toml", &judges);
    };
    let fails =
        |status: u16| ModelServer::start(move |_, _| Dialect::Chat.fails(status, "api_error", "scripted outage"));
    let cases = [(401, "check the key of `model`"), (529, "busy or broken"), (404, "check `model` and `base_url`")];
    for (status, next_step) in cases {
        let scene = Scene::with_model(Dialect::Chat, fails(status));
        check_failure(&scene, &format!("status {status}"), next_step);
        // Nobody asks a model that cannot be asked for a summary.
        let asked = scene.model.asked();
        assert!(asked.iter().all(|asked| asked.text().contains("# Intake")), "{status}");
    }
    let no_key = Scene::new(vec![repair(GOAL)]);
    judges(&no_key, "key_env = \"A_KEY_THAT_NOBODY_HAS_SET\"");
    check_failure(&no_key, "A_KEY_THAT_NOBODY_HAS_SET", "correct `model` in judges.toml");
    let offline = Scene::new(vec![repair(GOAL)]);
    let gone = offline.read("../home/judges.toml").replace(&offline.model.url, "http://127.0.0.1:1");
    offline.write("../home/judges.toml", &gone);
    check_failure(&offline, "127.0.0.1:1", "check the network");
    let nothing = Scene::new(vec![repair(GOAL)]);
    nothing.write("../home/judges.toml", "");
    check_failure(&nothing, "no model is configured", "add a model to judges.toml");
}

fn check_failure(scene: &Scene, message: &str, next_step: &str) {
    let (played, lines) = play(scene);
    let end = lines.last().unwrap();
    let text = |name: &str| end["failure"][name].as_str().unwrap_or_default().to_owned();
    assert_eq!((played.code, text("code").as_str(), text("trace_id").as_str()), (Some(1), "E_MODEL", "c1"), "{played}");
    assert!(text("message").contains(message) && text("next_step").contains(next_step), "{end}");
    let shown = scene.run(&format!("coder '{GOAL}' --name c2 --unattended"));
    let expected = ["✗ blocked: E_MODEL: ", "  next: ", "  trace id: c2"];
    assert!(shown.code == Some(1) && expected.iter().all(|text| shown.stderr.contains(text)), "{shown}");
}

#[test]
fn a_denied_plan_says_what_was_denied_and_by_which_rule() {
    let calls = json!([{ "name": "run_terminal_cmd", "args_hint": { "command": "sudo make install" } }]);
    let step =
        json!({ "step_id": "s1", "title": "Install it", "intent": "", "status": "pending", "tool_calls": calls });
    let scene = Scene::new(vec![CoderTurn::planned(GOAL, "change", vec![step], &[], vec![Move::done("done")])]);
    let played = scene.run(&format!("coder '{GOAL}' --name c1 --unattended"));
    assert_eq!(played.code, Some(1), "{played}");
    let denied =
        "E_POLICY_DENIED: `sudo make install`: it would run with the rights of another user (rule other-rights)";
    // Each plan that was denied is shown, and the end says why.
    assert!(played.stderr.contains(&format!("✗ refused: {denied}")), "{played}");
    assert!(played.stderr.contains(&format!("✗ blocked: {denied}")), "{played}");
}

#[test]
fn a_refused_call_is_shown_at_once_with_its_code_and_the_next_action() {
    let moves = vec![
        Move::call("write_file", json!({ "path": "/etc/hosts", "content": "x" })),
        Move::call("launch_missiles", json!({})),
        Move::call("write_file", json!({ "path": "infra/a.txt", "content": "x" })),
        Move::call("apply_patch", patch()),
        Move::done("done"),
    ];
    let scene = Scene::new(vec![CoderTurn::change(GOAL, &["count.sh"], &[], moves)]);
    let (played, lines) = play(&scene);
    assert_eq!((played.code, scene.read("count.sh").as_str()), (Some(0), AFTER), "{played}");
    let refused = of_type(&lines, "refused");
    let codes: Vec<&str> = refused.iter().map(|line| line["error"]["code"].as_str().unwrap()).collect();
    assert_eq!(codes, ["E_POLICY_DENIED", "E_INVALID_ARGS", "E_POLICY_DENIED"], "{played}");
    assert!(refused.iter().all(|line| !line["error"]["next_step"].as_str().unwrap().is_empty()), "{played}");
    assert_eq!((&refused[0]["name"], &refused[0]["args"]["path"]), (&json!("write_file"), &json!("/etc/hosts")));
    let first = lines.iter().position(|line| line["type"] == "refused").unwrap();
    let patched = lines.iter().position(|line| line["type"] == "tool_result").unwrap();
    assert!(first < patched, "{played}");
    let shown = scene.run(&format!("coder '{GOAL}' --name c2 --unattended"));
    assert!(shown.stderr.contains("✗ refused write_file /etc/hosts: E_POLICY_DENIED: "), "{shown}");
}

#[test]
fn the_output_of_a_command_is_shown_and_a_failed_one_has_no_tick() {
    let command = "for n in $(seq 1 60); do echo line $n; done; exit 3";
    let moves = vec![
        Move::call("run_terminal_cmd", json!({ "command": command })),
        Move::call("run_terminal_cmd", json!({ "command": "echo all is well" })),
        Move::call("apply_patch", patch()),
        Move::done("done"),
    ];
    let scene = Scene::new(vec![CoderTurn::change(GOAL, &["count.sh"], &[], moves)]);
    let shown = scene.run(&format!("coder '{GOAL}' --name c1 --unattended"));
    let failed = shown.stderr.lines().find(|line| line.contains("(exit code 3")).unwrap_or_else(|| panic!("{shown}"));
    assert!(failed.starts_with("✗ run_terminal_cmd for n in"), "{failed}");
    let hash =
        shown.stderr.split("… 20 lines before; all: `interlock evidence ").nth(1).unwrap_or_else(|| panic!("{shown}"));
    let all = scene.run(&format!("evidence {}", hash.split('`').next().unwrap()));
    assert!(all.stdout.starts_with("line 1\n") && all.stdout.ends_with("line 60\n"), "{all}");
    assert!(shown.stderr.contains("    line 60") && shown.stderr.contains("    all is well"), "{shown}");
    assert!(shown.stderr.contains("✓ run_terminal_cmd echo all is well  (exit code 0"), "{shown}");
    let trace = scene.run("trace c1").stdout;
    assert!(trace.contains("run_terminal_cmd ended with exit code 3"), "{trace}");
}

#[test]
fn a_command_that_plants_a_hook_is_seen() {
    let command = "mkdir -p .git/hooks; echo 'echo planted' > .git/hooks/pre-commit; true";
    let moves = vec![
        Move::call("run_terminal_cmd", json!({ "command": command })),
        Move::call("apply_patch", patch()),
        Move::done("done"),
    ];
    let scene = Scene::new(vec![CoderTurn::change(GOAL, &["count.sh"], &[], moves)]);
    let shown = scene.run(&format!("coder '{GOAL}' --name c1 --unattended"));
    assert!(shown.stderr.contains(".git/hooks"), "{shown}");
    assert!(
        !scene.session.folder().join(".git/hooks/pre-commit").exists() && scene.read("count.sh") != BEFORE,
        "{shown}"
    );
}
