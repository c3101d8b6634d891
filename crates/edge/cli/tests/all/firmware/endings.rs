//! A run that is stopped in any state leaves the sources unchanged or fixed, and a killed run reaches the same end.

use std::{
    collections::BTreeSet,
    fs,
    io::{BufRead, BufReader},
    path::{Path, PathBuf},
    process::{Child, Stdio},
    sync::mpsc::{Receiver, channel},
    thread,
    time::{Duration, Instant},
};

use serde_json::Value as Json;

use super::scene::{Scene, good, parts_are_missing};

/// Every stable state that a run with one good patch passes through.
const STATES: [&str; 23] = [
    "LOAD_CONFIG",
    "BASELINE_SNAPSHOT",
    "BASELINE_RUN",
    "LOG_TRIAGE",
    "SIMILAR_CASES",
    "SOURCES",
    "ROOT_CAUSE_HYPOTHESIS",
    "CHANGE_IMPACT_ESTIMATE",
    "GENERATE_PATCH",
    "POLICY_CHECK",
    "ROLLBACK_POINT",
    "APPLY_DIFF",
    "BUILD_SETUP",
    "BUILD_RUN",
    "RESOURCE_ALLOC",
    "FLASH_OR_DEPLOY",
    "HEALTH_CHECK",
    "TEST_RUN",
    "FETCH_LOGS",
    "NORMALIZE",
    "RESULT_ANALYSIS",
    "CONTROL_RUNS",
    "DELIVER",
];

/// The longest time that a run may take to reach a state.
const WAIT_MAX: Duration = Duration::from_secs(120);

/// Starts a run and returns when it has reached a state or has ended.
pub(crate) fn until(scene: &Scene, state: &str) -> Child {
    let mut command = scene.session.command("run firmware --input task.yaml --name r");
    let mut child = command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let lines = lines(&mut child);
    let deadline = Instant::now() + WAIT_MAX;
    while let Ok(line) = lines.recv_timeout(deadline.saturating_duration_since(Instant::now())) {
        if line.split_whitespace().any(|word| word == state) {
            break;
        }
    }
    child
}

/// Kills the first program whose command line contains these words, as soon as there is one.
pub(crate) fn kill_program(words: &str) -> bool {
    let deadline = Instant::now() + WAIT_MAX;
    while Instant::now() < deadline {
        let entries = std::fs::read_dir("/proc").unwrap().flatten();
        let pids = entries.filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok());
        let is_it = |pid: &u32| {
            let line = std::fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
            let line = String::from_utf8_lossy(&line).replace('\0', " ");
            line.starts_with("/bin/sh ") && line.contains(words)
        };
        if let Some(pid) = pids.into_iter().find(is_it) {
            return std::process::Command::new("kill").args(["-9", &pid.to_string()]).status().unwrap().success();
        }
        thread::sleep(Duration::from_millis(5));
    }
    false
}

fn lines(child: &mut Child) -> Receiver<String> {
    let (to, from) = channel();
    let (out, err) = (child.stdout.take().unwrap(), child.stderr.take().unwrap());
    let other = to.clone();
    thread::spawn(move || BufReader::new(out).lines().map_while(Result::ok).for_each(|line| drop(to.send(line))));
    thread::spawn(move || BufReader::new(err).lines().map_while(Result::ok).for_each(|line| drop(other.send(line))));
    from
}

/// Runs the check for each of these states, on several runs concurrently.
fn each(states: &[&'static str], check: fn(&'static str)) {
    thread::scope(|scope| {
        for some in states.chunks(states.len().div_ceil(2)) {
            scope.spawn(move || some.iter().for_each(|state| check(state)));
        }
    });
}

/// One of so many states, and all of them in the tests that need heavy parts.
const SOME: usize = 5;

#[test]
fn a_run_that_is_killed_in_some_states_comes_to_the_same_end() {
    kill_in_one_of(SOME);
}

#[test]
fn a_run_that_is_aborted_in_some_states_leaves_the_sources_as_they_were_or_fixed() {
    abort_in_one_of(SOME);
}

mod heavy {
    #[test]
    fn a_run_that_is_killed_in_any_state_comes_to_the_same_end() {
        super::kill_in_one_of(1);
    }

    #[test]
    fn a_run_that_is_aborted_in_any_state_leaves_the_sources_as_they_were_or_fixed() {
        super::abort_in_one_of(1);
    }
}

fn one_of(step: usize) -> Vec<&'static str> {
    STATES.iter().copied().step_by(step).collect()
}

fn kill_in_one_of(step: usize) {
    if parts_are_missing() {
        return;
    }
    each(&one_of(step), |state| {
        let scene = Scene::with_patches(&[good()]);
        let mut child = until(&scene, state);
        child.kill().unwrap();
        child.wait().unwrap();
        let resumed = scene.session.run("resume r").unwrap();
        let is_over = resumed.stderr.contains("has ended") || resumed.stdout.contains("has ended");
        assert!(resumed.code == Some(0) || is_over, "killed in {state}: {resumed}\n{}", scene.trace());
        scene.is_fixed();
        assert_eq!(scene.session.run("verify r").unwrap().code, Some(0), "killed in {state}");
    });
}

fn abort_in_one_of(step: usize) {
    if parts_are_missing() {
        return;
    }
    each(&one_of(step), |state| {
        let scene = Scene::with_patches(&[good()]);
        let mut child = until(&scene, state);
        let aborted = scene.session.run("abort r").unwrap();
        let code = child.wait().unwrap().code();
        let status = scene.story()["final_status"].as_str().unwrap().to_owned();
        match status.as_str() {
            "ABORTED" => {
                assert_eq!(code, Some(3), "aborted in {state}: {aborted}");
                // While a good fix is being delivered, the sources contain all of it or none of it.
                match scene.difference().is_empty() {
                    true => {}
                    false => scene.is_fixed(),
                }
            }
            // The run ended before the event arrived.
            "SUCCESS" => scene.is_fixed(),
            other => panic!("aborted in {state}, it ended in {other}: {aborted}\n{}", scene.trace()),
        }
    });
}

/// Returns the patches that the search of a run has tried, read from its working area.
fn tried(area: &Path) -> Vec<String> {
    let files = walk(area).into_iter().filter(|path| path.extension().is_some_and(|end| end == "jsonl"));
    let text: String = files.filter_map(|path| fs::read_to_string(path).ok()).collect();
    let lines = text.lines().filter_map(|line| serde_json::from_str::<Json>(line).ok());
    lines.map(|line| line["patch"].as_str().unwrap().to_owned()).collect()
}

/// Returns the files two directories down, which belong to runs.
fn walk(area: &Path) -> Vec<PathBuf> {
    let below = |folder: PathBuf| fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path());
    below(area.to_owned()).flat_map(below).flat_map(below).collect()
}

#[test]
fn a_search_that_is_killed_goes_on_where_it_was() {
    if parts_are_missing() {
        return;
    }
    let scene = Scene::without_model();
    // Two bugs in one file, which no single change repairs, so that the search takes long.
    let file = scene.root().join("parser/src/crc16.c");
    let wrong = fs::read_to_string(&file).unwrap().replace("0x1021u", "0x3456u").replace("byte << 8", "byte << 3");
    fs::write(&file, wrong).unwrap();
    scene.task("targets: [", "targets: [crc_of_the_check_string, ");
    let area = scene.folder.path().join("t");
    fs::create_dir(&area).unwrap();
    let session = scene.session.clone().with("TMPDIR", area.display().to_string());
    let tried_by = |command: &str, least: usize, count: usize| {
        let mut child = session.command(command).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        let deadline = Instant::now() + WAIT_MAX;
        while tried(&area).len() < count && Instant::now() < deadline {
            assert!(tried(&area).len() >= least, "what is known is not forgotten");
            thread::sleep(Duration::from_millis(10));
        }
        child.kill().unwrap();
        child.wait().unwrap();
        tried(&area)
    };
    let before = tried_by("run firmware --input task.yaml --name r", 0, 3);
    let after = tried_by("resume r", before.len(), before.len() + 3);
    assert!(before.len() >= 3 && after.len() > before.len(), "{} and {}", before.len(), after.len());
    assert_eq!(after[..before.len()], before[..]);
    assert_eq!(after.iter().collect::<BTreeSet<_>>().len(), after.len(), "each is tried once");
}
