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

/// Kills the process after it has printed this many lines. Returns false if it ended before.
fn kill_after(mut process: Child, lines: usize) -> bool {
    let printed = BufReader::new(process.stderr.take().unwrap()).lines().take(lines).count();
    let is_alive = process.try_wait().unwrap().is_none();
    let _ = process.kill();
    process.wait().unwrap();
    is_alive && printed == lines
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

fn kill_everywhere(on_kernel_lost: &str, part: usize, parts: usize) {
    let server = server();
    for lines in (1..60).skip(part).step_by(parts) {
        let Some(project) = Project::with_kernels() else { return };
        let was_killed = kill_after(begin(&project, &server.url, on_kernel_lost), lines);
        let is_made = project.run(&["show", "n1"]).status.success();
        if is_made && was_killed {
            finish(&project);
        }
        if is_made {
            let verified = project.run(&["verify", "n1"]);
            assert!(verified.status.success(), "{lines}: {}", text(&verified));
        }
        if was_killed && is_made {
            let notebook = project.notebook("n1.ipynb");
            assert!(notebook["cells"].to_string().contains("43\\n"), "{lines}: {notebook}");
        }
        if !was_killed {
            return;
        }
    }
}

#[test]
fn a_run_survives_kills_with_rerun() {
    kill_everywhere("rerun", 0, 2);
}

#[test]
fn a_run_survives_other_kills_with_rerun() {
    kill_everywhere("rerun", 1, 2);
}

#[test]
fn a_run_survives_kills_with_ask() {
    kill_everywhere("ask", 0, 2);
}

#[test]
fn a_run_survives_other_kills_with_ask() {
    kill_everywhere("ask", 1, 2);
}
