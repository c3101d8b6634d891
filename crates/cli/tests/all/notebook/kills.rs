//! `kill -9` after every record of a whole workflow: the run reaches its end, with both settings of `on_kernel_lost`.

use std::{
    io::{BufRead as _, BufReader},
    process::Child,
};

use interlock_testkit_activity::model_server::{ModelServer, Scripted};
use serde_json::{Value as Json, json};

use super::{Project, text};

/// The most times that a run is resumed or sent on before it must have ended.
const ROUNDS_MAX: usize = 12;

/// More records than a run of this workflow has.
const RECORDS_MAX: usize = 40;

/// A server whose workflow has one step with two cells: the second one needs the variable of the first.
fn server() -> ModelServer {
    ModelServer::start(|_, asked| {
        let context = &asked.body["observation"]["context"];
        let state = context["FSM"]["state"].as_str().unwrap_or_default();
        let is_achieved = match state {
            "stage_running" => false,
            "step_completed" | "stage_completed" => true,
            _ => context["variables"].get("y").is_some(),
        };
        let body = match asked.line.contains("/planning") {
            true => json!({ "targetAchieved": is_achieved,
                "transition": { "continue_behaviors": !is_achieved, "target_achieved": is_achieved } }),
            false => {
                let cell = |code: &str| json!({ "action": "add", "shot_type": "action", "content": code });
                let exec = json!({ "action": "exec", "codecell_id": "lastAddedCellId" });
                json!({ "actions": [cell("x = 6 * 7"), exec, cell("y = x + 1\nprint(y)"), exec] })
            }
        };
        Scripted::new(200, "application/json", body.to_string())
    })
}

fn begin(project: &Project, url: &str, on_kernel_lost: &str) -> Child {
    let workflow = json!({ "name": "w", "stages": [{ "id": "a", "steps": [{ "id": "one" }] }] });
    let input = json!({ "problem": "Why?", "server": url, "workflow": workflow, "on_kernel_lost": on_kernel_lost });
    std::fs::write(project.path().join("input.json"), input.to_string()).unwrap();
    project.command(&["run", "notebook", "--input", "input.json", "--name", "n1"]).spawn().unwrap()
}

/// Kills the process after this many records have become visible: the start, and each outcome of an activity. Returns
/// false if it ended before.
fn kill_after(mut process: Child, records: usize) -> bool {
    let printed = BufReader::new(process.stderr.take().unwrap()).lines().map_while(Result::ok);
    let is_record = |line: &String| line.contains(" stays ") || line.ends_with("  start");
    let seen = printed.filter(is_record).take(records).count();
    let is_alive = process.try_wait().unwrap().is_none();
    let _ = process.kill();
    process.wait().unwrap();
    is_alive && seen == records
}

/// Brings a run to its end: resumes it, and answers in `error` as a person would.
fn finish(project: &Project) {
    for _ in 0..ROUNDS_MAX {
        let resumed = project.run(&["resume", "n1"]);
        let shown: Json = serde_json::from_slice(&project.run(&["show", "n1", "--json"]).stdout).unwrap();
        match shown["phase"].as_str().unwrap_or_default() {
            "succeeded" => return,
            "waiting" => {
                let sent = project.run(&["send", "n1", "START_BEHAVIOR"]);
                if text(&sent).contains("not started again") {
                    project.run(&["send", "n1", "START_WORKFLOW"]);
                }
            }
            other => assert!(other == "active", "{other}: {}", text(&resumed)),
        }
    }
    panic!("it does not end: {}", text(&project.run(&["trace", "n1"])));
}

/// Kills runs after every record, beginning with record `first` and leaving out every second one.
fn kill_everywhere(on_kernel_lost: &str, first: usize) {
    let server = server();
    let (mut kills, mut losses) = (0, 0);
    for records in (first..RECORDS_MAX).step_by(2) {
        let Some(project) = Project::with_kernels() else { return };
        if !kill_after(begin(&project, &server.url, on_kernel_lost), records) {
            break;
        }
        kills += 1;
        finish(&project);
        let verified = project.run(&["verify", "n1"]);
        assert!(verified.status.success(), "{records}: {}", text(&verified));
        let notebook = project.notebook("n1.ipynb");
        assert!(notebook["cells"].to_string().contains("43\\n"), "{records}: {notebook}");
        losses += usize::from(project.trace("n1").iter().any(|(_, reason)| reason.contains("KERNEL_LOST")));
    }
    assert!(kills >= 4, "only {kills} kills hit a run");
    assert_eq!(losses > 0, on_kernel_lost == "ask", "{losses} of {kills} runs lost their kernel");
}

#[test]
fn a_run_survives_kills_with_rerun() {
    kill_everywhere("rerun", 1);
}

#[test]
fn a_run_survives_other_kills_with_rerun() {
    kill_everywhere("rerun", 2);
}

#[test]
fn a_run_survives_kills_with_ask() {
    kill_everywhere("ask", 1);
}

#[test]
fn a_run_survives_other_kills_with_ask() {
    kill_everywhere("ask", 2);
}
