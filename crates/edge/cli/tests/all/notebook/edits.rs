//! A notebook between two processes of a run: edits of people are kept and noticed, and a cancelled or reset run leaves
//! no notes about thinking.

use std::fs;

use interlock_testkit_activity::model_server::{ModelServer, ReceivedRequest, Scripted};
use serde_json::{Value as Json, json};

use super::{Project, text};

fn state(asked: &ReceivedRequest) -> &str {
    asked.body["observation"]["context"]["FSM"]["state"].as_str().unwrap_or_default()
}

/// A server that proposes other steps, so that the run waits for a person after its first action, which is a thought.
fn server() -> ModelServer {
    ModelServer::start(|_, asked| {
        let body = match asked.line.contains("/planning") {
            true => {
                let achieved = matches!(state(asked), "behavior_completed" | "step_completed" | "stage_completed");
                let mut reply = json!({ "targetAchieved": achieved,
                    "transition": { "continue_behaviors": false, "target_achieved": achieved } });
                if state(asked) == "step_running" {
                    let steps = json!({ "stage_id": "a", "steps": [{ "id": "one" }, { "id": "check" }] });
                    reply["context_update"] = json!({ "stage_steps_update": steps });
                }
                reply
            }
            false => json!({ "actions": [
                { "action": "is_thinking", "thinking_text": "hm" },
                { "action": "add", "shot_type": "dialogue", "content": "hello" },
            ] }),
        };
        Scripted::new(200, "application/json", body.to_string())
    })
}

/// Starts a run that waits for a person in `step_update_pending`, in no process.
fn waiting(server: &ModelServer) -> Option<Project> {
    let project = Project::with_kernels()?;
    let workflow = json!({ "name": "w", "stages": [{ "id": "a", "steps": [{ "id": "one" }, { "id": "two" }] }] });
    let input = json!({ "problem": "Why?", "server": server.url, "workflow": workflow });
    fs::write(project.path().join("input.json"), input.to_string()).unwrap();
    let ended = project.run(&["run", "notebook", "--input", "input.json", "--name", "n1"]);
    assert_eq!(ended.status.code(), Some(4), "{}", text(&ended));
    assert_eq!(thoughts(&project), 1);
    Some(project)
}

fn thoughts(project: &Project) -> usize {
    let notebook = project.notebook("n1.ipynb");
    let cells = notebook["cells"].as_array().unwrap().iter();
    cells.filter(|cell| cell["metadata"]["interlock"]["role"] == "thinking").count()
}

#[test]
fn an_edit_is_kept_and_noticed_when_another_process_goes_on() {
    let server = server();
    let Some(project) = waiting(&server) else { return };
    let path = project.path().join("n1.ipynb");
    let mut notebook: Json = project.notebook("n1.ipynb");
    let cell = json!({ "cell_type": "markdown", "id": "mine", "metadata": {}, "source": ["a person was here"] });
    notebook["cells"].as_array_mut().unwrap().push(cell);
    fs::write(&path, format!("{notebook:#}\n")).unwrap();
    let sent = project.run(&["send", "n1", "UPDATE_STEP_CONFIRMED"]);
    assert!(matches!(sent.status.code(), Some(0 | 4 | 5)), "{}", text(&sent));
    let notebook = project.notebook("n1.ipynb").to_string();
    assert!(notebook.contains("a person was here") && notebook.contains("hello"), "{notebook}");
    let trace = project.trace("n1");
    let noticed = trace.iter().filter(|(_, reason)| reason.contains("the notebook was edited outside of this run"));
    assert_eq!(noticed.count(), 1, "{trace:?}");
    let heard = server.asked().iter().any(|asked| {
        let effects = asked.body["observation"]["context"]["effects"]["current"].to_string();
        effects.contains("[The notebook was edited outside of this run: 1 added. The edit is kept.]")
    });
    assert!(heard, "the planner hears of the edit");
}

#[test]
fn a_run_that_goes_on_without_an_edit_notices_none() {
    let server = server();
    let Some(project) = waiting(&server) else { return };
    project.run(&["send", "n1", "UPDATE_STEP_CONFIRMED"]);
    let trace = project.trace("n1");
    assert!(trace.iter().any(|(_, reason)| reason.contains("added the markdown cell")), "{trace:?}");
    assert!(!trace.iter().any(|(_, reason)| reason.contains("edited outside")), "{trace:?}");
}

#[test]
fn a_cancelled_run_leaves_no_notes_about_thinking() {
    let Some(project) = waiting(&server()) else { return };
    let sent = project.run(&["send", "n1", "CANCEL"]);
    assert!(text(&sent).contains("removed the notes about thinking"), "{}", text(&sent));
    assert_eq!(thoughts(&project), 0);
    let verified = project.run(&["verify", "n1"]);
    assert!(verified.status.success(), "{}", text(&verified));
}

#[test]
fn a_reset_run_leaves_no_notes_about_thinking() {
    let Some(project) = waiting(&server()) else { return };
    // A refused update leads to `error`, from which the run is reset.
    project.run(&["send", "n1", "UPDATE_STEP_REJECTED"]);
    assert_eq!(thoughts(&project), 1);
    let sent = project.run(&["send", "n1", "RESET"]);
    assert!(text(&sent).contains("removed the notes about thinking"), "{}", text(&sent));
    assert_eq!(thoughts(&project), 0);
}
