//! Benchmarks of the checker on one core: configurations explored per second, next to SPIN on the same machine in the
//! same run; the time that `check` takes for a machine with guards, timers and user events; and the time for the five
//! built-in machines together.
//!
//! The explored machine is an agent workflow of six stages, each of which may fail and return to the first a limited
//! number of times, so that the counters alone make about a million configurations. The checked machine has four stages
//! and the features of real machines: facts that guards test, time limits, delayed events, a person who interferes, and
//! properties. The best of three runs is printed.

#![allow(clippy::print_stdout, clippy::expect_used, clippy::panic, clippy::disallowed_methods, missing_docs)]

use std::{fmt::Write, process::Command, sync::Arc, time::Instant};

use interlock_chart::{Chart, library};
use interlock_checker::{Options, check, size};
use interlock_exchange::{Format, export};

const STAGES: usize = 6;
const GUARDED_STAGES: usize = 4;
const LIMIT: usize = 6;
const RUNS: usize = 3;

fn workflow() -> String {
    let mut text = String::from("machine: workflow\nversion: 1\ninitial: s0\non: { error: failed }\nstates:\n");
    for stage in 0..STAGES {
        let next = if stage + 1 == STAGES { "done".to_owned() } else { format!("s{}", stage + 1) };
        write!(
            text,
            "  s{stage}:\n    invoke: {{ activity: work, signals: [passed, failed] }}\n    on:\n      passed: {next}\n      \
             failed:\n        - {{ target: s0, limit: {LIMIT} }}\n        - failed\n"
        )
        .expect("writing to a string");
    }
    text + "  done: { type: final, outcome: success }\n  failed: { type: final, outcome: failure }\n"
}

fn main() {
    let chart = interlock_chart::yaml::read(&workflow()).chart.expect("the workflow is a valid machine");
    let (chart, options) =
        (Arc::new(chart), Options { configurations_max: 20_000_000, work_max: u64::MAX, ..Options::default() });
    let best = (0..RUNS).map(|_| {
        let start = Instant::now();
        let size = size(chart.clone(), &options);
        (start.elapsed(), size)
    });
    let (time, size) = best.min_by_key(|(time, _)| *time).expect("at least one run");
    let rate = size.configurations as f64 / time.as_secs_f64();
    println!(
        "explore  {} configurations, {} edges in {time:.2?}: {rate:.0} configurations/s (best of {RUNS}, one core; wanted 400000)",
        size.configurations, size.edges
    );
    match spin(&chart) {
        Some((states, seconds)) => {
            println!(
                "SPIN     {states} states in {seconds:.2} s: {:.0} states/s on the exported Promela",
                states / seconds
            );
        }
        None => println!("SPIN     not measured: `spin` or `gcc` is missing"),
    }
    check_guarded();
    check_builtin();
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
        write!(
            text,
            "  s{stage}:\n    timeout: 5m\n    invoke:\n      activity: work\n      signals:\n        passed: {{ required: [grade, rate], \
             properties: {{ grade: {{ type: string }}, rate: {{ type: integer }} }} }}\n        failed: {{ properties: {{}} }}\n    on:\n      \
             passed:\n        - {{ target: w{stage}, guard: \"event.rate < 5 && input.careful\", assign: {{ grade: \"${{event.grade}}\" }} }}\n        \
             - {{ target: {next}, assign: {{ grade: \"${{event.grade}}\", asked: false }} }}\n      failed:\n        \
             - {{ target: s0, guard: context.grade != 'bad', limit: {LIMIT} }}\n        - failed\n      \
             hint: {{ target: s{stage}, limit: 2, assign: {{ asked: true }} }}\n  \
             w{stage}:\n    timeout: 1h\n    on:\n      hint:\n        - {{ target: s{stage}, guard: \"!context.asked\", assign: {{ asked: true }} }}\n        \
             - failed\n      timeout: {next}\n",
        )
        .expect("writing to a string");
    }
    text + "  done: { type: final, outcome: success }\n  failed: { type: final, outcome: failure }\n  \
            stopped: { type: final, outcome: aborted }\nproperties:\n  - terminates: true\n  - possible: stopped\n  \
            - never: done\n    without: \".passed\"\n    since: s0\n"
}

fn check_guarded() {
    let reading = interlock_chart::yaml::read(&guarded());
    let chart = Arc::new(reading.chart.unwrap_or_else(|| panic!("a valid machine: {:?}", reading.diagnostics)));
    let best = (0..RUNS).map(|_| {
        let start = Instant::now();
        let report = check(chart.clone(), &Options::default());
        (start.elapsed(), report)
    });
    let (time, report) = best.min_by_key(|(time, _)| *time).expect("at least one run");
    let word = if report.ok { "proved" } else { "not proved" };
    println!(
        "check    guards, timers, user events: {word} in {time:.2?} (best of {RUNS}); {} configurations, {} ways in {} explorations",
        report.total.configurations, report.total.ways, report.total.explorations
    );
}

/// Returns the number of states that SPIN visits and its time, if SPIN is installed.
fn spin(chart: &Chart) -> Option<(f64, f64)> {
    let folder = tempfile::tempdir().ok()?;
    std::fs::write(folder.path().join("model.pml"), export(chart, Format::Promela).text).ok()?;
    let run = |program: &str, arguments: &[&str]| {
        let output = Command::new(program).args(arguments).current_dir(folder.path()).output().ok()?;
        output.status.success().then(|| String::from_utf8_lossy(&output.stdout).into_owned())
    };
    run("spin", &["-a", "model.pml"])?;
    run("gcc", &["-O2", "-w", "-DSAFETY", "-DNOREDUCE", "-DVECTORSZ=4096", "-o", "pan", "pan.c"])?;
    let begun = Instant::now();
    let text = run("./pan", &["-E", "-n", "-m10000000", "-w24"])?;
    let seconds = begun.elapsed().as_secs_f64();
    let line = text.lines().find(|line| line.contains("states, stored"))?;
    Some((line.split_whitespace().next()?.parse().ok()?, seconds))
}

fn check_builtin() {
    let begun = Instant::now();
    for name in library::builtin_names() {
        let source = library::load(name, std::path::Path::new("/")).expect("a built-in machine");
        let chart = source.read().chart.expect("a built-in machine without errors");
        let start = Instant::now();
        let report = check(Arc::new(chart), &Options::default());
        println!("check    {name:<9} {:>7.2?}, {} configurations", start.elapsed(), report.explored);
    }
    println!("check    all five in {:.2?} (wanted 3 s)", begun.elapsed());
}
