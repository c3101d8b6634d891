//! Planning servers that are dead, ask for updates all the time, send unknown actions, or never say achieved.

use interlock_testkit_activity::model_server::{ModelServer, ReceivedRequest, Scripted};
use serde_json::{Value as Json, json};

use super::{Project, text};

fn workflow() -> Json {
    json!({ "name": "w", "stages": [{ "id": "a", "steps": [{ "id": "one" }, { "id": "two" }] }] })
}

fn answer(body: &Json) -> Scripted {
    Scripted::new(200, "application/json", body.to_string())
}

fn plan(achieved: bool, continues: bool) -> Json {
    let transition = json!({ "continue_behaviors": continues, "target_achieved": achieved });
    json!({ "targetAchieved": achieved, "transition": transition })
}

fn is_planning(asked: &ReceivedRequest) -> bool {
    asked.line.contains("/planning")
}

fn state(asked: &ReceivedRequest) -> &str {
    asked.body["observation"]["context"]["FSM"]["state"].as_str().unwrap_or_default()
}

/// Runs the machine against a server with this input, and returns the exit code and everything that was printed.
fn run(project: &Project, server: &ModelServer, more: Json) -> (Option<i32>, String) {
    let mut input = json!({ "problem": "Why?", "server": server.url, "workflow": workflow() });
    more.as_object().unwrap().iter().for_each(|(name, value)| input[name] = value.clone());
    std::fs::write(project.path().join("input.json"), input.to_string()).unwrap();
    let ended = project.run(&["run", "notebook", "--input", "input.json", "--name", "n1"]);
    (ended.status.code(), text(&ended))
}

#[test]
fn a_planner_that_never_says_achieved_reaches_the_limit_of_behaviors() {
    let server = ModelServer::start(|_, asked| match is_planning(asked) {
        true => answer(&plan(false, true)),
        false => answer(&json!({ "actions": [] })),
    });
    let project = Project::new();
    let (code, said) = run(&project, &server, json!({}));
    assert_eq!(code, Some(4), "{said}");
    assert!(said.contains("a step has at most 10 behaviors"), "{said}");
    let generated = server.asked().iter().filter(|asked| !is_planning(asked)).count();
    assert_eq!(generated, 10);
}

#[test]
fn a_dead_planner_fails_the_step_and_a_person_closes_the_run() {
    let server = ModelServer::start(|_, asked| match is_planning(asked) && state(asked) == "behavior_completed" {
        true => Scripted::page(502),
        false if is_planning(asked) => answer(&plan(false, false)),
        false => answer(&json!({ "actions": [] })),
    });
    let project = Project::new();
    let (code, said) = run(&project, &server, json!({}));
    assert_eq!(code, Some(4), "{said}");
    assert!(said.contains("the planner failed: status 502"), "{said}");
    let trace = project.trace("n1");
    let told = trace.iter().filter(|(event, reason)| event == "planned" && reason.contains("status 502")).count();
    assert_eq!(told, 1, "{trace:?}");
    let report = text(&project.run(&["report", "n1"]));
    assert!(report.contains("planning.call") && report.contains("status 502"), "{report}");
    let closed = project.run(&["send", "n1", "CLOSE"]);
    assert_eq!(closed.status.code(), Some(1), "{}", text(&closed));
}

#[test]
fn the_failure_that_a_person_sees_has_the_last_error_of_the_cells() {
    let Some(project) = Project::with_kernels() else { return };
    // Otherwise the repository around this directory ignores it, and no changes are recorded.
    let made = std::process::Command::new("git").args(["init", "--quiet"]).current_dir(project.path()).status();
    assert!(made.unwrap().success());
    let server = ModelServer::start(|_, asked| match is_planning(asked) {
        true => answer(&plan(false, false)),
        false => answer(&json!({ "actions": [
            { "action": "add", "shot_type": "action", "content": "int('twelve')" },
            { "action": "exec", "codecell_id": "lastAddedCellId" },
        ] })),
    });
    let (code, said) = run(&project, &server, json!({}));
    assert_eq!(code, Some(4), "{said}");
    let expected = "The last error of a cell: executed cell-1: ValueError: invalid literal for int()";
    assert!(said.contains(expected), "{said}");
    let shown = text(&project.run(&["show", "n1"]));
    assert!(shown.contains(expected) && shown.contains("n1.ipynb"), "{shown}");
    let report = text(&project.run(&["report", "n1"]));
    let first = report.lines().find(|line| line.contains("Why?")).unwrap();
    for part in ["waits in error", "ValueError", "n1.ipynb"] {
        assert!(first.contains(part), "{first}");
    }
    assert!(report.contains("Failures") && report.contains("Changes"), "{report}");
}

#[test]
fn steps_without_their_target_are_named_at_the_end() {
    let Some(project) = Project::with_kernels() else { return };
    let server = ModelServer::start(|_, asked| match is_planning(asked) {
        true => answer(&plan(false, false)),
        false => answer(&json!({ "actions": [{ "action": "add", "shot_type": "dialogue", "content": "hi" }] })),
    });
    let (code, said) = run(&project, &server, json!({ "on_unachieved": "complete_step" }));
    assert_eq!(code, Some(5), "{said}");
    assert!(said.contains("2 steps are not achieved: one, two (the planner says that its target is not"), "{said}");
    let report = text(&project.run(&["report", "n1"]));
    assert!(report.contains("2 steps have not achieved their target: one, two"), "{report}");
}

#[test]
fn an_update_in_every_reply_is_proposed_as_a_difference() {
    let Some(project) = Project::with_kernels() else { return };
    let server = ModelServer::start(|at, asked| match is_planning(asked) {
        true => {
            let mut reply = plan(matches!(state(asked), "action_completed" | "behavior_completed"), false);
            let step = format!("step{at}");
            let steps = json!({ "stage_id": "a", "steps": [{ "id": "one" }, { "id": step }] });
            reply["context_update"] = json!({ "stage_steps_update": steps });
            if state(asked) == "step_completed" {
                reply["targetAchieved"] = json!(true);
                reply["transition"]["target_achieved"] = json!(true);
            }
            answer(&reply)
        }
        false => answer(&json!({ "actions": [{ "action": "add", "shot_type": "dialogue", "content": "hi" }] })),
    });
    let (code, said) = run(&project, &server, json!({}));
    assert_eq!(code, Some(4), "{said}");
    assert!(said.contains("UPDATE_STEP_CONFIRMED"), "{said}");
    let shown = text(&project.run(&["show", "n1"]));
    assert!(shown.contains("-   step two: two") && shown.contains("+   step step"), "{shown}");
    let confirmed = project.run(&["send", "n1", "UPDATE_STEP_CONFIRMED"]);
    // The planner ends the stage before its second step.
    assert_eq!(confirmed.status.code(), Some(5), "{}", text(&confirmed));
}

#[test]
fn an_unknown_action_is_skipped_with_a_warning_that_the_planner_hears() {
    let Some(project) = Project::with_kernels() else { return };
    let server = ModelServer::start(|_, asked| match is_planning(asked) {
        true => answer(&plan(!matches!(state(asked), "stage_running" | "step_running"), false)),
        false => answer(&json!({ "actions": [{ "action": "juggle" }, { "action": "newSection", "content": "S" }] })),
    });
    let (code, said) = run(&project, &server, json!({}));
    assert_eq!(code, Some(5), "{said}");
    assert!(said.contains("1 step is not achieved: two (it was skipped)"), "{said}");
    let asked = server.asked();
    let told = asked.iter().find(|asked| asked.body.get("behavior_feedback").is_some()).unwrap();
    assert!(told.body["observation"]["context"]["effects"]["current"].to_string().contains("juggle"), "{}", told.body);
    assert_eq!(told.body["behavior_feedback"]["sections_added"], 1);
    // The history comes from the journal, with the machine's own events.
    let history = told.body["observation"]["context"]["FSM"]["history"].as_array().unwrap();
    assert_eq!(history[0]["event"], "START_WORKFLOW");
    assert_eq!(history.last().unwrap()["to"], "action_completed");
}

#[test]
fn a_template_or_a_server_that_cannot_be_used_is_refused_before_the_run() {
    let project = Project::new();
    let cases = [
        ("workflow={\"stages\": []}", "0 stages"),
        ("workflow={\"name\": \"w\", \"stages\": [{\"id\": \"a\", \"stepz\": []}]}", "did you mean `steps`?"),
        ("server=localhost:28600", "must begin with http://"),
    ];
    for (set, expected) in cases {
        let ended = project.run(&["run", "notebook", "--set", "problem=Why?", "--set", set]);
        assert_eq!(ended.status.code(), Some(2), "{}", text(&ended));
        assert!(text(&ended).contains(expected), "{}", text(&ended));
    }
}

#[test]
fn another_host_needs_a_permission() {
    let project = Project::new();
    let ended = project.run(&[
        "run",
        "notebook",
        "--set",
        "problem=Why?",
        "--set",
        "server=http://planner.example:1",
        "--name",
        "n1",
    ]);
    assert_eq!(ended.status.code(), Some(4), "{}", text(&ended));
    assert!(text(&ended).contains("interlock grant n1"), "{}", text(&ended));
}

#[test]
fn the_server_of_the_binary_plans_for_the_client_of_the_binary() {
    use std::io::{BufRead as _, BufReader};
    let Some(project) = Project::with_kernels() else { return };
    std::fs::write(project.path().join("t.csv"), "a,b\n1,2\n3,5\n").unwrap();
    let mut server = project.command(&["notebook-server", "--port", "0"]).spawn().unwrap();
    let mut lines = BufReader::new(server.stdout.take().unwrap()).lines();
    let url = lines.next().unwrap().unwrap();
    let token = lines.next().unwrap().unwrap().split_once('=').unwrap().1.to_owned();
    let workflow =
        json!({ "name": "w", "stages": [{ "id": "data", "steps": [{ "id": "load" }, { "id": "conclude" }] }] });
    let input = json!({ "problem": "What is the mean b of t.csv?", "server": url, "workflow": workflow });
    std::fs::write(project.path().join("input.json"), input.to_string()).unwrap();
    let mut run = project.command(&["run", "notebook", "--input", "input.json", "--name", "n1"]);
    let ended = run.env("INTERLOCK_NOTEBOOK_TOKEN", token).output().unwrap();
    server.kill().unwrap();
    server.wait().unwrap();
    assert_eq!(ended.status.code(), Some(0), "{}", text(&ended));
    assert!(project.notebook("n1.ipynb").to_string().contains("t.csv: 2 rows, 2 columns"));
    assert!(text(&ended).contains("b: mean 3.5"), "{}", text(&ended));
}
