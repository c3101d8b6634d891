//! Measures the checker on one core: configurations explored per second, next to SPIN on the same machine in the same
//! run; and the time that `check` takes for a machine with guards, timers and user events.
//!
//! The explored machine is an agent workflow of six stages, each of which may fail and return to the first a limited
//! number of times, so that the counters alone make about a million configurations. The checked machine has four stages
//! and the features of real machines: facts that guards test, time limits, delayed events, a person who interferes, and
//! properties. The best of three runs is printed.

use std::{
    fmt::Write,
    process::Command,
    sync::Arc,
    time::{Duration, Instant},
};

use interlock_chart::{Chart, yaml};
use interlock_checker::{Options, check, size as explore};
use interlock_exchange::{Format, export};

use crate::{Result, size};

const STAGES: usize = size(6, 2);
const GUARDED_STAGES: usize = size(4, 2);
const LIMIT: usize = size(6, 2);
const RUNS: usize = size(3, 1);

/// Prints both measurements.
pub(crate) fn report() -> Result<()> {
    let chart = read(&workflow())?;
    let options = Options { configurations_max: 20_000_000, work_max: u64::MAX, ..Options::default() };
    let (time, size) = best(|| explore(chart.clone(), &options)).ok_or("no run")?;
    let rate = size.configurations as f64 / time.as_secs_f64();
    println!(
        "explore  {} configurations, {} edges in {time:.2?}: {rate:.0} configurations/s (best of {RUNS}, one core; wanted 400000)",
        size.configurations, size.edges
    );
    match spin(&chart)? {
        Some((states, seconds)) => println!(
            "SPIN     {states} states in {seconds:.2} s: {:.0} states/s on the exported Promela",
            states / seconds
        ),
        None => println!("SPIN     not measured: `spin` or `gcc` is missing"),
    }
    report_guarded()
}

fn report_guarded() -> Result<()> {
    let chart = read(&guarded())?;
    let (time, report) = best(|| check(chart.clone(), &Options::default())).ok_or("no run")?;
    let word = if report.ok { "proved" } else { "not proved" };
    println!(
        "check    guards, timers, user events: {word} in {time:.2?} (best of {RUNS}); {} configurations, {} ways in {} explorations",
        report.total.configurations, report.total.ways, report.total.explorations
    );
    Ok(())
}

/// Returns the shortest time of several runs, with its result.
fn best<T>(mut run: impl FnMut() -> T) -> Option<(Duration, T)> {
    let timed = (0..RUNS).map(|_| {
        let start = Instant::now();
        let result = run();
        (start.elapsed(), result)
    });
    timed.min_by_key(|(time, _)| *time)
}

fn read(text: &str) -> Result<Arc<Chart>> {
    let reading = yaml::read(text);
    let chart =
        reading.chart.ok_or_else(|| format!("the bench's machine is not a machine: {:?}", reading.diagnostics))?;
    Ok(Arc::new(chart))
}

/// Builds a workflow whose stages return to the first.
fn workflow() -> String {
    let mut text = String::from("machine: workflow\nversion: 1\ninitial: s0\non: { error: failed }\nstates:\n");
    for stage in 0..STAGES {
        let next = if stage + 1 == STAGES { "done".to_owned() } else { format!("s{}", stage + 1) };
        // Writing to a string cannot fail.
        let _ = write!(
            text,
            "  s{stage}:\n    invoke: {{ activity: work, signals: [passed, failed] }}\n    on:\n      passed: {next}\n      \
             failed:\n        - {{ target: s0, limit: {LIMIT} }}\n        - failed\n"
        );
    }
    text + "  done: { type: final, outcome: success }\n  failed: { type: final, outcome: failure }\n"
}

/// Builds a workflow with guards, timers and user events.
fn guarded() -> String {
    let mut text = String::from(
        "machine: guarded\nversion: 1\ninput: { type: object, required: [careful], properties: { careful: { type: boolean } } }\n\
         context: { grade: low, asked: false }\nevents:\n  hint: { from: user, data: { required: [text], properties: { text: { type: string } } } }\n  \
         abort: { from: user }\ninitial: s0\non: { abort: stopped, error: failed, timeout: failed }\nstates:\n",
    );
    for stage in 0..GUARDED_STAGES {
        let next = if stage + 1 == GUARDED_STAGES { "done".to_owned() } else { format!("s{}", stage + 1) };
        // Writing to a string cannot fail.
        let _ = write!(
            text,
            "  s{stage}:\n    timeout: 5m\n    invoke:\n      activity: work\n      signals:\n        passed: {{ required: [grade, rate], \
             properties: {{ grade: {{ type: string }}, rate: {{ type: integer }} }} }}\n        failed: {{ properties: {{}} }}\n    on:\n      \
             passed:\n        - {{ target: w{stage}, guard: \"event.rate < 5 && input.careful\", assign: {{ grade: \"${{event.grade}}\" }} }}\n        \
             - {{ target: {next}, assign: {{ grade: \"${{event.grade}}\", asked: false }} }}\n      failed:\n        \
             - {{ target: s0, guard: context.grade != 'bad', limit: {LIMIT} }}\n        - failed\n      \
             hint: {{ target: s{stage}, limit: 2, assign: {{ asked: true }} }}\n  \
             w{stage}:\n    timeout: 1h\n    on:\n      hint:\n        - {{ target: s{stage}, guard: \"!context.asked\", assign: {{ asked: true }} }}\n        \
             - failed\n      timeout: {next}\n",
        );
    }
    text + "  done: { type: final, outcome: success }\n  failed: { type: final, outcome: failure }\n  \
            stopped: { type: final, outcome: aborted }\nproperties:\n  - terminates: true\n  - possible: stopped\n  \
            - never: done\n    without: \".passed\"\n    since: s0\n"
}

/// Returns the number of states that SPIN visits and its time, if SPIN is installed.
fn spin(chart: &Chart) -> Result<Option<(f64, f64)>> {
    let folder = tempfile::tempdir()?;
    std::fs::write(folder.path().join("model.pml"), export(chart, Format::Promela).text)?;
    let run = |program: &str, arguments: &[&str]| {
        let output = Command::new(program).args(arguments).current_dir(folder.path()).output().ok()?;
        output.status.success().then(|| String::from_utf8_lossy(&output.stdout).into_owned())
    };
    let options = ["-O2", "-w", "-DSAFETY", "-DNOREDUCE", "-DVECTORSZ=4096", "-o", "pan", "pan.c"];
    if run("spin", &["-a", "model.pml"]).and_then(|_| run("gcc", &options)).is_none() {
        return Ok(None);
    }
    let begun = Instant::now();
    let text = run("./pan", &["-E", "-n", "-m10000000", "-w24"]).ok_or("SPIN's program failed")?;
    let seconds = begun.elapsed().as_secs_f64();
    let line = text.lines().find(|line| line.contains("states, stored")).ok_or("SPIN counted no states")?;
    let states = line.split_whitespace().next().unwrap_or_default().parse()?;
    Ok(Some((states, seconds)))
}
