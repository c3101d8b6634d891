//! The process that holds a run also holds its kernel: an event from another process reaches the run there.

use std::{fs, path::Path};

use interlock_testkit_activity::{
    model_server::{ModelServer, ReceivedRequest, Scripted},
    parts,
};
use interlock_testkit_cli::{session::Session, terminal::Terminal};
use serde_json::{Value as Json, json};

use super::scene::Scene;

fn state(asked: &ReceivedRequest) -> &str {
    asked.body["observation"]["context"]["FSM"]["state"].as_str().unwrap_or_default()
}

/// A planner of two steps. The first step sets a variable in the kernel; then the planner proposes other steps, so that
/// the run waits for a person with a kernel. The second step reads the variable.
fn planner() -> ModelServer {
    ModelServer::start(|_, asked| {
        let location = &asked.body["observation"]["location"];
        let (is_first, is_new) =
            (location["current"]["step_id"] == "one", location["current"]["behavior_iteration"] == 1);
        let body = if asked.line.contains("/planning") {
            let is_last = state(asked) == "step_completed" && location["progress"]["steps"]["remaining"] == json!([]);
            let proposes = is_first && is_new && state(asked) == "behavior_completed";
            let is_done = matches!(state(asked), "behavior_completed" | "stage_completed") && !proposes;
            let achieved = is_last || is_done;
            let mut reply = json!({ "targetAchieved": achieved,
                "transition": { "continue_behaviors": proposes, "target_achieved": achieved } });
            if proposes {
                let steps = json!({ "stage_id": "a", "steps": [{ "id": "one" }, { "id": "check" }] });
                reply["context_update"] = json!({ "stage_steps_update": steps });
            }
            reply
        } else if is_first && !is_new {
            json!({ "actions": [{ "action": "add", "shot_type": "dialogue", "content": "Other steps?" }] })
        } else {
            let code = if is_first { "kept = 6 * 7" } else { "print('kept', kept)" };
            json!({ "actions": [
                { "action": "add", "shot_type": "action", "content": code },
                { "action": "exec", "codecell_id": "lastAddedCellId" },
            ] })
        };
        Scripted::new(200, "application/json", body.to_string())
    })
}

fn input(planner: &ModelServer) -> Json {
    let workflow = json!({ "name": "w", "stages": [{ "id": "a", "steps": [{ "id": "one" }, { "id": "two" }] }] });
    json!({ "problem": "Why?", "server": planner.url, "workflow": workflow, "stay_open": false })
}

/// Returns the number of kernels that work in a directory.
fn kernels(folder: &Path) -> usize {
    let folder = folder.canonicalize().unwrap();
    let all = fs::read_dir("/proc").unwrap().flatten().map(|entry| entry.path());
    let is_kernel = |process: &Path| {
        let line = fs::read(process.join("cmdline")).unwrap_or_default();
        let is_here = fs::read_link(process.join("cwd")).is_ok_and(|cwd| cwd.starts_with(&folder));
        is_here && String::from_utf8_lossy(&line).contains("ipykernel")
    };
    all.filter(|process| is_kernel(process)).count()
}

/// Checks that the second step has found the variable of the first one.
fn is_kept(session: &Session, notebook: &Path) {
    let notebook = fs::read_to_string(notebook).unwrap();
    assert!(notebook.contains("kept 42"), "{notebook}");
    let trace = session.run("trace n1").unwrap().stdout;
    assert!(!trace.contains("KERNEL_LOST") && !trace.contains("INTERRUPTED"), "{trace}");
}

#[test]
fn an_event_from_a_terminal_reaches_the_kernel_in_the_server() {
    let Some(jupyter) = parts::installed("jupyter.sh") else { return };
    let (scene, planner) = (Scene::new("1h"), planner());
    let project = std::path::PathBuf::from(scene.project());
    std::os::unix::fs::symlink(jupyter, project.join(".venv")).unwrap();
    let token = scene.token("operator");
    let body = json!({ "machine": "notebook", "folder": scene.project(), "name": "n1", "input": input(&planner) });
    let started = scene.post(&token, "/runs", body);
    assert_eq!(started.status, 201, "{started:?}");
    let shown = scene.until_phase(&token, "n1", "waiting");
    assert_eq!((&shown["place"], kernels(&project)), (&json!("step_update_pending"), 1));
    let sent = scene.session.run("send n1 UPDATE_STEP_CONFIRMED").unwrap();
    assert_eq!(sent.code, Some(0), "{sent}");
    assert!(sent.stderr.contains("continues it. Follow it with `interlock watch n1`"), "{sent}");
    scene.until_phase(&token, "n1", "succeeded");
    is_kept(&scene.session, &project.join("n1.ipynb"));
    assert_eq!(kernels(&project), 0, "the kernel ends with its run");
}

#[test]
fn an_event_reaches_the_kernel_of_a_run_on_another_terminal() {
    let Some(jupyter) = parts::installed("jupyter.sh") else { return };
    let (folder, planner) = (tempfile::tempdir().unwrap(), planner());
    let session = Session::new(env!("CARGO_BIN_EXE_interlock"), folder.path())
        .with("INTERLOCK_HOME", folder.path().join("home").display().to_string())
        .with("INTERLOCK_USER", "ada");
    session.write("input.json", &input(&planner).to_string()).unwrap();
    std::os::unix::fs::symlink(jupyter, folder.path().join(".venv")).unwrap();
    let arguments = "run notebook --input input.json --name n1";
    let mut terminal = Terminal::new(env!("CARGO_BIN_EXE_interlock"), &session, arguments);
    terminal.answer("to filter", "");
    let sent = session.run("send n1 UPDATE_STEP_CONFIRMED").unwrap();
    assert_eq!(sent.code, Some(0), "{sent}");
    assert!(sent.stderr.contains("continues it. Follow it with `interlock watch n1`"), "{sent}");
    let (code, seen) = terminal.end();
    assert_eq!(code, Some(0), "{seen}");
    assert!(seen.contains("The form is closed: the run has changed its state."), "{seen}");
    is_kept(&session, &folder.path().join("n1.ipynb"));
    assert_eq!(kernels(folder.path()), 0, "the kernel ends with its run");
}

/// A process that gives a run up ends its kernel, and another process continues the run without a false message.
#[test]
fn a_process_that_ends_releases_the_run_and_its_kernel() {
    let Some(jupyter) = parts::installed("jupyter.sh") else { return };
    let (mut scene, planner) = (Scene::new("1h"), planner());
    let project = std::path::PathBuf::from(scene.project());
    std::os::unix::fs::symlink(jupyter, project.join(".venv")).unwrap();
    let token = scene.token("operator");
    let body = json!({ "machine": "notebook", "folder": scene.project(), "name": "n1", "input": input(&planner) });
    scene.post(&token, "/runs", body);
    scene.until_phase(&token, "n1", "waiting");
    assert_eq!(kernels(&project), 1);
    assert_eq!(scene.stop(), Some(0));
    assert_eq!(kernels(&project), 0, "no kernel outlives its process");
    let sent = scene.session.run("send n1 UPDATE_STEP_CONFIRMED").unwrap();
    assert_eq!(sent.code, Some(4), "{sent}");
    assert!(sent.stderr.contains("KERNEL_LOST") && !sent.stderr.contains("continues it"), "{sent}");
    let agreed = scene.session.run("send n1 START_BEHAVIOR").unwrap();
    assert_eq!(agreed.code, Some(0), "{agreed}");
    assert!(fs::read_to_string(project.join("n1.ipynb")).unwrap().contains("kept 42"));
}
