//! Whole runs of the machine `notebook` through the binary: every action is journalled, its workspace is kept, and the
//! file is written. A scripted server in this process plans and generates, so its time is small and the same for all.

use std::{
    path::Path,
    process::{Command, Stdio},
    time::Duration,
};

use interlock_testkit_activity::model_server::{ModelServer, ReceivedRequest, Scripted};
use serde_json::{Value as Json, json};

use crate::Result;

/// The number of actions of a behavior, and of behaviors of a step: the limits of the machine.
const ACTIONS: usize = 50;
const BEHAVIORS: usize = 10;

/// The milliseconds of a day. A run may begin before midnight and end after it.
const DAY_MS: i64 = 86_400_000;

/// A run that has ended.
pub(super) struct Run {
    /// The times of the actions' records in milliseconds, by behavior.
    pub(super) behaviors: Vec<Vec<i64>>,
    /// The time from the first record to the last action.
    pub(super) took: Duration,
    /// The number of calls that made something durable, if they were counted.
    pub(super) syncs: Option<usize>,
}

impl Run {
    /// Returns the mean time of an action of one behavior, in milliseconds.
    pub(super) fn action_ms(&self, behavior: usize) -> f64 {
        let times = &self.behaviors[behavior];
        let (first, last) = (times[0], times[times.len() - 1]);
        (last - first).rem_euclid(DAY_MS) as f64 / (times.len() - 1) as f64
    }

    /// Returns the number of actions.
    pub(super) fn actions(&self) -> usize {
        self.behaviors.iter().map(Vec::len).sum()
    }
}

/// Runs a workflow whose behaviors carry out these actions. `is_traced` counts the calls that make data durable.
pub(super) fn run(program: &Path, jupyter: &Path, actions: Vec<Json>, is_traced: bool) -> Result<Run> {
    let folder = tempfile::tempdir_in(concat!(env!("CARGO_MANIFEST_DIR"), "/../target"))?;
    let project = folder.path().join("project");
    std::fs::create_dir(&project)?;
    // A repository of its own. Otherwise the workspace would be the repository around `target`, with all its files.
    if !Command::new("git").args(["init", "--quiet"]).current_dir(&project).status()?.success() {
        return Err("git init failed".into());
    }
    std::os::unix::fs::symlink(jupyter, project.join(".venv"))?;
    let behaviors: Vec<Vec<Json>> = actions.chunks(ACTIONS).map(<[Json]>::to_vec).collect();
    let steps: Vec<Json> =
        (0..behaviors.len().div_ceil(BEHAVIORS)).map(|at| json!({ "id": format!("s{at}") })).collect();
    let server = server(behaviors);
    let workflow = json!({ "name": "bench", "stages": [{ "id": "a", "steps": steps }] });
    let input = json!({ "problem": "How fast is it?", "server": server.url, "workflow": workflow });
    std::fs::write(folder.path().join("input.json"), input.to_string())?;
    let command = |words: &[&str]| {
        let mut command = match is_traced && words[0] == "run" {
            true => {
                let mut strace = Command::new("strace");
                strace.args(["-f", "-qq", "-e", "trace=fsync,fdatasync", "-o"]).arg(folder.path().join("syncs"));
                strace.arg(program);
                strace
            }
            false => Command::new(program),
        };
        command.args(words).current_dir(&project).env("INTERLOCK_HOME", folder.path().join("home"));
        command.env("INTERLOCK_USER", "bench").env_remove("DSLC_BASE_URL").stdin(Stdio::null());
        command
    };
    let ended = command(&["run", "notebook", "--input", "../input.json", "--name", "n1"]).output()?;
    // The notebook of a benchmark need not answer anything.
    if !matches!(ended.status.code(), Some(0 | 5)) {
        return Err(format!("the run failed: {}", String::from_utf8_lossy(&ended.stderr)).into());
    }
    let trace = command(&["trace", "n1", "--json"]).output()?;
    let syncs = std::fs::read_to_string(folder.path().join("syncs")).ok();
    let syncs = syncs.map(|text| text.lines().filter(|line| line.contains("sync(")).count());
    Ok(Run { syncs, ..read(&String::from_utf8(trace.stdout)?)? })
}

/// Reads the times of the actions from a trace.
fn read(trace: &str) -> Result<Run> {
    let (mut behaviors, mut first, mut last) = (Vec::<Vec<i64>>::new(), None, 0);
    for line in trace.lines() {
        let step: Json = serde_json::from_str(line)?;
        let at = step["at"].as_str().and_then(time_of_day_ms).ok_or("a step of the trace has no time")?;
        first = first.or(Some(at));
        match step["event"].as_str() {
            Some("START_ACTION") => behaviors.push(Vec::new()),
            Some("executed") => {
                behaviors.last_mut().ok_or("an action came before its behavior")?.push(at);
                last = at;
            }
            _ => {}
        }
    }
    let took = Duration::from_millis(u64::try_from((last - first.unwrap_or(last)).rem_euclid(DAY_MS))?);
    Ok(Run { behaviors, took, syncs: None })
}

/// Reads the time of day from a moment such as `2025-01-31T12:34:56.789Z`.
fn time_of_day_ms(moment: &str) -> Option<i64> {
    let (hours, rest) = moment.get(11..23)?.split_once(':')?;
    let (minutes, seconds) = rest.split_once(':')?;
    let (seconds, milliseconds) = seconds.split_once('.')?;
    let [hours, minutes, seconds, milliseconds] =
        [hours, minutes, seconds, milliseconds].map(|digits| digits.parse::<i64>().ok());
    Some(((hours? * 60 + minutes?) * 60 + seconds?) * 1_000 + milliseconds?)
}

/// A planner that wants one behavior after the other, and the generator of their actions.
fn server(behaviors: Vec<Vec<Json>>) -> ModelServer {
    let mut done = 0;
    ModelServer::start(move |_, asked| {
        let body = match asked.line.contains("/planning") {
            true => plan(asked, done, behaviors.len()),
            false => {
                done += 1;
                json!({ "actions": behaviors.get(done - 1).cloned().unwrap_or_default() })
            }
        };
        Scripted::new(200, "application/json", body.to_string())
    })
}

fn plan(asked: &ReceivedRequest, done: usize, all: usize) -> Json {
    let state = asked.body["observation"]["context"]["FSM"]["state"].as_str().unwrap_or_default();
    let is_step_done = done == all || (done > 0 && done.is_multiple_of(BEHAVIORS));
    let is_achieved = match state {
        "action_completed" | "behavior_completed" => is_step_done,
        "step_completed" | "stage_completed" => done == all,
        _ => false,
    };
    let continues = !is_achieved && state.ends_with("_completed");
    json!({ "targetAchieved": is_achieved,
        "transition": { "continue_behaviors": continues, "target_achieved": is_achieved } })
}
