//! The client against servers that are dead, slow, wrong, inconsistent, or stream in single bytes.

use std::sync::{Arc, atomic::Ordering};

use interlock_activity::{Activity as _, Invocation};
use interlock_chart::Value;
use interlock_planning::{Kernels, PlanningCall, Setup};
use interlock_testkit_activity::{
    EndedAttempt, Recorder, attempt,
    model_server::{End, ModelServer, Scripted},
};
use serde_json::{Value as Json, json};

use crate::drive::{call, setup};

fn with(url: &str) -> Json {
    json!({
        "server": url, "problem": "Why?", "stage_id": "a", "step_id": "1", "behavior_iteration": 1, "stream": true,
        "workflow": { "name": "w", "stages": [{ "id": "a", "steps": [{ "id": "1" }] }] },
        "retry_after_ms": [1000, 2000], "timeout_s": 5,
    })
}

/// Carries out one call. Returns its outcome and the pauses that it made.
async fn ask(name: &str, state: &str, with: Json) -> (EndedAttempt, Vec<u64>, Arc<Recorder>) {
    let (home, host) = (tempfile::tempdir().unwrap(), Arc::<Recorder>::default());
    let (mut attempt, _canceller) = attempt(home.path(), home.path(), host.clone());
    attempt.with = Value::from(with);
    let invocation = Invocation { name: name.to_owned(), state: state.to_owned(), ..(*attempt.invocation).clone() };
    attempt.invocation = Arc::new(invocation);
    let ended = call(name, attempt).await;
    let slept = host.slept_ms.lock().unwrap().clone();
    (ended, slept, host)
}

fn json_body(body: &Json) -> Scripted {
    Scripted::new(200, "application/json", body.to_string())
}

#[tokio::test]
async fn a_dead_planner_is_tried_three_times_and_then_the_fallback_counts() {
    let url = { ModelServer::saying(vec![Scripted::page(200)]).url.clone() };
    let (ended, slept, _) = ask("planning.call", "behavior_completed", with(&url)).await;
    assert_eq!((ended.name.as_str(), &ended.data["targetAchieved"]), ("planned", &json!(false)));
    assert_eq!(ended.data["continue_behaviors"], false);
    assert_eq!(slept, [1000, 2000]);
}

#[tokio::test]
async fn a_planner_that_fails_is_recorded_with_its_error_and_not_as_a_reply() {
    let silent = Scripted { pieces: Vec::new(), ..Scripted::new(200, "application/json", "") }.ending(End::Silent);
    let cases = [
        (Scripted::page(500), "status 500: "),
        (Scripted::new(200, "text/html", "<html>"), "the answer is not JSON: "),
        (json_body(&json!({ "hello": 1 })), "the reply has no targetAchieved (3 tries)"),
        (silent, "no complete answer within 0.2 seconds (3 tries)"),
    ];
    for (answer, expected) in cases {
        let server = ModelServer::saying(vec![answer]);
        let mut with = with(&server.url);
        with["timeout_s"] = json!(0.2);
        let (ended, ..) = ask("planning.call", "step_running", with).await;
        let failure = ended.data["failure"].as_str().unwrap();
        assert!(failure.starts_with(expected) && failure.ends_with("(3 tries)"), "{failure}");
        let names: Vec<_> = ended.outcome.evidence.iter().map(|kept| &*kept.name).collect();
        assert_eq!(names, ["request", "failure"]);
    }
    let server = ModelServer::saying(vec![json_body(&json!({ "targetAchieved": true }))]);
    let (ended, ..) = ask("planning.call", "step_running", with(&server.url)).await;
    let names: Vec<_> = ended.outcome.evidence.iter().map(|kept| &*kept.name).collect();
    assert_eq!((&ended.data["failure"], names), (&json!(""), vec!["request", "reply"]));
}

/// Answers for kernels that all live, or that all are gone.
struct AllKernels(bool);

impl Kernels for AllKernels {
    fn is_alive(&self, _: &str) -> bool {
        self.0
    }
}

#[tokio::test]
async fn variables_of_a_kernel_that_is_gone_are_sent_only_with_feedback() {
    for (is_alive, feedback) in [(true, false), (false, false), (false, true)] {
        let server = ModelServer::saying(vec![json_body(&json!({ "targetAchieved": true }))]);
        let (home, host) = (tempfile::tempdir().unwrap(), Arc::<Recorder>::default());
        let (mut attempt, _canceller) = attempt(home.path(), home.path(), host);
        let mut with = with(&server.url);
        with["variables"] = json!({ "given": 1 });
        with["feedback"] = json!(feedback);
        with["kernel_variables"] = json!({ "df": { "type": "DataFrame", "shape": [3, 2], "text": "a b" } });
        attempt.with = Value::from(with);
        let setup = Setup { kernels: Some(Arc::new(AllKernels(is_alive))), ..setup() };
        PlanningCall::new(setup).start(attempt).await;
        let variables = server.asked().remove(0).body["observation"]["context"]["variables"].clone();
        let expected = (is_alive || feedback, &json!(1));
        assert_eq!((variables.get("df").is_some(), &variables["given"]), expected, "{variables}");
    }
}

#[tokio::test]
async fn a_dead_generator_fails_after_three_tries() {
    let server = ModelServer::saying(vec![Scripted::page(502)]);
    let (ended, slept, _) = ask("generating.call", "behavior_running", with(&server.url)).await;
    let (code, message) = ended.error();
    assert_eq!(code, "UNREACHABLE");
    assert!(message.contains("status 502"), "{message}");
    assert_eq!((slept, server.asked().len()), (vec![1000, 2000], 3));
}

#[tokio::test]
async fn an_answer_after_a_failure_counts() {
    let good = json!({ "targetAchieved": true });
    let server = ModelServer::saying(vec![Scripted::page(500), json_body(&json!({ "odd": 1 })), json_body(&good)]);
    let (ended, slept, _) = ask("planning.call", "step_running", with(&server.url)).await;
    assert_eq!((&ended.data["targetAchieved"], slept.len()), (&json!(true), 2));
}

#[tokio::test]
async fn a_slow_server_is_given_up_at_its_time_limit() {
    let silent = Scripted { pieces: Vec::new(), ..Scripted::new(200, "application/json", "") }.ending(End::Silent);
    let server = ModelServer::saying(vec![silent]);
    let mut with = with(&server.url);
    with["timeout_s"] = json!(0.2);
    let (ended, slept, _) = ask("planning.call", "step_running", with).await;
    assert_eq!((ended.name.as_str(), slept.len()), ("planned", 2));
}

#[tokio::test]
async fn an_inconsistent_reply_is_asked_again_once() {
    let odd =
        json!({ "targetAchieved": true, "transition": { "continue_behaviors": false, "target_achieved": false } });
    let server = ModelServer::saying(vec![json_body(&odd)]);
    let (ended, slept, _) = ask("planning.call", "step_running", with(&server.url)).await;
    assert_eq!(ended.error().0, "OUT_OF_SYNC");
    assert_eq!((slept.len(), server.asked().len()), (0, 2));
    let server = ModelServer::saying(vec![json_body(&odd), json_body(&json!({ "targetAchieved": true }))]);
    let (ended, ..) = ask("planning.call", "step_running", with(&server.url)).await;
    assert_eq!(ended.name, "planned");
}

#[tokio::test]
async fn a_stream_of_single_bytes_with_blank_and_broken_lines_is_read() {
    let add = json!({ "action": "add", "shot_type": "dialogue", "content": "héllo" });
    let body =
        format!("\n{}\r\n\n{{\"action\": tru\n{}", json!({ "action": add }), json!({ "action": { "action": "odd" } }));
    let pieces = body.bytes().map(|byte| vec![byte]).collect();
    let streamed = Scripted { pieces, ..Scripted::new(200, "application/x-ndjson", "") };
    let server = ModelServer::saying(vec![streamed]);
    let (ended, _, host) = ask("generating.call", "behavior_running", with(&server.url)).await;
    assert_eq!(ended.name, "generated");
    assert_eq!(ended.data["actions"], json!([add, { "action": "odd" }]));
    let warning = "⚠️ WARN: line 4 of the reply is not an action: {\"action\": tru";
    assert_eq!(ended.data["memory"]["effects"]["current"], json!([warning]));
    assert!(host.said.lock().unwrap().iter().any(|line| line == "action 1: add héllo"));
}

#[tokio::test]
async fn a_stream_that_breaks_off_is_tried_again() {
    let line = format!("{}\n", json!({ "action": { "action": "finish_thinking" } }));
    let whole = Scripted::new(200, "application/x-ndjson", line.clone());
    let server = ModelServer::saying(vec![whole.clone().ending(End::Abrupt), whole]);
    let (ended, slept, _) = ask("generating.call", "behavior_running", with(&server.url)).await;
    assert_eq!((ended.name.as_str(), slept.len()), ("generated", 1));
}

#[tokio::test]
async fn the_filter_of_the_planner_reduces_the_next_request() {
    let server = ModelServer::saying(vec![json_body(&json!({ "actions": [] }))]);
    let mut with = with(&server.url);
    with["variables"] = json!({ "a": 1, "b": [1, 2, 3] });
    with["effects"] = json!(["printed"]);
    with["memory"] = json!({
        "filter": { "variables_to_include": ["a", "gone"], "variables_to_summarize": { "b": "shape_only" } },
        "focus": { "stages": "s", "steps": "t", "behaviors": "b" },
    });
    let (ended, ..) = ask("generating.call", "behavior_running", with).await;
    assert_eq!(ended.name, "nothing_generated");
    let asked = server.asked().remove(0).body;
    assert_eq!(asked["options"], json!({ "stream": true }));
    assert_eq!(asked["observation"]["context"]["variables"], json!({ "a": 1, "b": "list(3)" }));
    let warning = "⚠️ WARN: Variable 'gone' requested but not found";
    assert_eq!(asked["observation"]["context"]["effects"]["current"], json!(["printed", warning]));
    assert_eq!(asked["observation"]["location"]["progress"]["steps"]["focus"], "");
    assert_eq!(ended.data["memory"]["effects"]["history"], json!(["printed"]));
}

#[tokio::test]
async fn wrong_input_is_refused() {
    for wrong in [json!({ "server": "ftp://x" }), json!({ "workflow": { "stages": [] } }), json!({ "stage_id": 3 })] {
        let mut with = with("");
        wrong.as_object().unwrap().iter().for_each(|(name, value)| with[name] = value.clone());
        let (ended, ..) = ask("planning.call", "step_running", with).await;
        assert_eq!(ended.error().0, "BAD_INPUT", "{wrong}");
    }
}

#[tokio::test]
async fn time_passes_only_in_pauses() {
    let url = { ModelServer::saying(vec![Scripted::page(200)]).url.clone() };
    let (_, _, host) = ask("planning.call", "step_running", with(&url)).await;
    assert_eq!(host.now_ms.load(Ordering::SeqCst), 3_000);
}
