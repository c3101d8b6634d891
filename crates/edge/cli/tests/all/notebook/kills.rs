//! `kill -9` after every record of a whole workflow, and in the middle of a cell, with both settings of
//! `on_kernel_lost`: with `rerun` the run reaches its end by itself, with `ask` it waits where the documentation says.

use std::{
    io::{BufRead as _, BufReader},
    process::Child,
    time::{Duration, Instant},
};

use interlock_testkit_activity::model_server::{ModelServer, Scripted};
use serde_json::{Value as Json, json};

use super::{Project, text};

/// More records than a run of this workflow has.
const RECORDS_MAX: usize = 40;

/// The time within which a cell must have begun.
const BEGIN_MAX: Duration = Duration::from_secs(120);

const FIRST: &str = "x = 6 * 7";
const SECOND: &str = "y = x + 1\nprint(y)";

/// A second cell that says that it has begun, and then runs long enough to be killed.
const SLOW: &str = "import time\ny = x + 1\nopen('begun', 'w').write(str(time.time_ns()))\ntime.sleep(3)\nprint(y)";

/// A server whose workflow has one step with two cells: the second one needs the variable of the first.
fn server(second: &'static str) -> ModelServer {
    ModelServer::start(move |_, asked| {
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
                json!({ "actions": [cell(FIRST), exec, cell(second), exec] })
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

/// Kills the process while the slow cell runs.
fn kill_in_cell(project: &Project, mut process: Child) {
    let begun = || std::fs::read_to_string(project.path().join("begun")).unwrap_or_default();
    let (before, started) = (begun(), Instant::now());
    while begun().is_empty() || begun() == before {
        assert!(process.try_wait().unwrap().is_none(), "the process has ended before the cell");
        assert!(started.elapsed() < BEGIN_MAX, "the cell does not begin");
        std::thread::sleep(Duration::from_millis(20));
    }
    process.kill().unwrap();
    process.wait().unwrap();
}

fn shown(project: &Project) -> Json {
    serde_json::from_slice(&project.run(&["show", "n1", "--json"]).stdout).unwrap()
}

/// Resumes the run and returns its phase and its state.
fn resume(project: &Project) -> (String, String) {
    let resumed = project.run(&["resume", "n1"]);
    let shown = shown(project);
    let field = |name: &str| shown[name].as_str().unwrap_or_else(|| panic!("{}", text(&resumed))).to_owned();
    (field("phase"), field("place"))
}

fn is(phase: &str, place: &str) -> (String, String) {
    (phase.to_owned(), place.to_owned())
}

/// Returns the cells of the notebook with the texts of their outputs.
fn cells(project: &Project) -> Vec<(String, String)> {
    let joined = |value: &Json| match value {
        Json::Array(lines) => lines.iter().filter_map(Json::as_str).collect(),
        other => other.as_str().unwrap_or_default().to_owned(),
    };
    let notebook = project.notebook("n1.ipynb");
    let printed =
        |cell: &Json| cell["outputs"].as_array().into_iter().flatten().map(|it| joined(&it["text"])).collect();
    let all = notebook["cells"].as_array().unwrap();
    all.iter().map(|cell| (joined(&cell["source"]), printed(cell))).collect()
}

fn each_once(second: &str) -> Vec<(String, String)> {
    vec![(FIRST.to_owned(), String::new()), (second.to_owned(), "43\n".to_owned())]
}

/// Returns the failure that a killed run with `ask` waits with, if it waits: an action was being carried out, or cells
/// were executed and another one follows.
fn expected_failure(project: &Project) -> Option<&'static str> {
    let shown = shown(project);
    let action = shown["activities"].as_array().unwrap().iter().find(|it| it["state"] == "action_running")?;
    let (with, tries) = (&action["with"], action["try"].as_u64().unwrap());
    if tries > 0 {
        return Some("INTERRUPTED: ");
    }
    let rest = &with["actions"].as_array().unwrap()[with["index"].as_u64().unwrap() as usize..];
    let needs_kernel = rest.iter().any(|action| action["action"] == "exec");
    let is_executed = |cell: &Json| cell["execution_count"].is_number();
    let notebook = || project.notebook("n1.ipynb");
    let had_kernel =
        project.path().join("n1.ipynb").exists() && notebook()["cells"].as_array().unwrap().iter().any(is_executed);
    (needs_kernel && had_kernel).then_some("KERNEL_LOST: ")
}

/// Answers in `error` as a person does, and expects the run to end.
fn agree(project: &Project, failure: &str) {
    let waiting = shown(project);
    assert_eq!((&waiting["phase"], &waiting["place"]), (&json!("waiting"), &json!("error")));
    let why = waiting["context"]["failure"].as_str().unwrap();
    assert!(why.starts_with(failure), "{why}");
    let sent = project.run(&["send", "n1", "START_BEHAVIOR"]);
    assert_eq!(resume(project), is("succeeded", "closed"), "{}", text(&sent));
}

/// Kills runs after every record, beginning with record `first` and leaving out every second one.
fn kill_everywhere(on_kernel_lost: &str, first: usize) {
    let server = server(SECOND);
    let (mut kills, mut waits) = (0, 0);
    for records in (first..RECORDS_MAX).step_by(2) {
        let Some(project) = Project::with_kernels() else { return };
        if !kill_after(begin(&project, &server.url, on_kernel_lost), records) {
            break;
        }
        kills += 1;
        match expected_failure(&project).filter(|_| on_kernel_lost == "ask") {
            Some(failure) => {
                waits += 1;
                assert_eq!(resume(&project), is("waiting", "error"), "{records}: {failure}");
                agree(&project, failure);
                assert_eq!(cells(&project).last().unwrap().1, "43\n", "{records}");
            }
            None => {
                assert_eq!(resume(&project), is("succeeded", "closed"), "{records}");
                assert_eq!(cells(&project), each_once(SECOND), "{records}");
            }
        }
        let verified = project.run(&["verify", "n1"]);
        assert!(verified.status.success(), "{records}: {}", text(&verified));
    }
    assert!(kills >= 4, "only {kills} kills hit a run");
    assert_eq!(waits > 0, on_kernel_lost == "ask", "{waits} of {kills} runs waited");
}

/// Kills a run this many times while its second cell runs.
fn kill_cells(on_kernel_lost: &str, kills: usize) -> Option<(Project, ModelServer)> {
    let server = server(SLOW);
    let project = Project::with_kernels()?;
    kill_in_cell(&project, begin(&project, &server.url, on_kernel_lost));
    for _ in 1..kills {
        kill_in_cell(&project, project.command(&["resume", "n1"]).spawn().unwrap());
    }
    Some((project, server))
}

fn repeats(project: &Project) -> usize {
    project.trace("n1").iter().filter(|(_, reason)| reason.starts_with("the action is repeated")).count()
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

#[test]
fn a_cell_interrupted_three_times_is_repeated_with_rerun() {
    let Some((project, _server)) = kill_cells("rerun", 3) else { return };
    assert_eq!(resume(&project), is("succeeded", "closed"));
    assert_eq!((cells(&project), repeats(&project)), (each_once(SLOW), 3));
}

#[test]
fn a_person_decides_after_the_fourth_interruption_with_rerun() {
    let Some((project, _server)) = kill_cells("rerun", 4) else { return };
    assert_eq!(resume(&project), is("waiting", "error"));
    assert_eq!(repeats(&project), 3);
    agree(&project, "INTERRUPTED: ");
}

#[test]
fn an_interrupted_cell_waits_for_a_person_with_ask() {
    let Some((project, _server)) = kill_cells("ask", 1) else { return };
    assert_eq!(resume(&project), is("waiting", "error"));
    assert_eq!(repeats(&project), 0);
    assert_eq!(cells(&project).last().unwrap(), &(SLOW.to_owned(), String::new()), "its output is undone");
    agree(&project, "INTERRUPTED: ");
    assert_eq!(cells(&project).last().unwrap().1, "43\n");
}
