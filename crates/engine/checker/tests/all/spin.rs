//! A second opinion: SPIN counts the same configurations.
//!
//! Every built-in machine is reduced to its control, with limits small enough for both checkers to finish in seconds.
//! SPIN explores the exported Promela, which is generated from the chart alone; the checker explores the same chart
//! with the engine. The numbers must be equal.

use crate::show;
use std::{path::Path, process::Command, sync::Arc};

use interlock_chart::{Chart, model::Max};
use interlock_checker::{Knowledge, Options, check};
use interlock_exchange::{Format, export};

/// Returns the chart with no limit above `max`.
fn clamped(chart: &Chart, max: u32) -> Chart {
    let mut chart = chart.clone();
    for limit in chart.transitions.iter_mut().flat_map(|transition| &mut transition.limits) {
        match &mut limit.max {
            Max::Fixed(fixed) => *fixed = (*fixed).min(max),
            Max::Input { at_most, .. } => *at_most = (*at_most).min(max),
        }
    }
    chart.counters.iter_mut().for_each(|counter| counter.max = counter.max.min(max));
    let mut limited = vec![0; chart.states.len()];
    for transition in chart.transitions.iter_mut().filter(|transition| !transition.limits.is_empty()) {
        let before = &mut limited[transition.source.index()];
        *before += 1;
        if *before > LIMITED_MAX {
            transition.limits.clear();
        }
    }
    chart
}

/// The number of transitions of a state that keep their limits. If each of twenty transitions may be selected and
/// disabled by its limit, there are a million paths through them, and every one is tried.
const LIMITED_MAX: usize = 6;

fn ours(chart: &Chart) -> usize {
    let options =
        Options { configurations_max: 4_000_000, exact_max: 4_000_000, work_max: u64::MAX, data: Knowledge::Nothing };
    let report = check(Arc::new(chart.clone()), &options);
    assert!(report.exact, "{} was not explored with exact counters: {:?}", chart.id, report.problems);
    report.explored
}

fn run(folder: &Path, program: &str, arguments: &[&str]) -> String {
    let output = Command::new(program).args(arguments).current_dir(folder).output();
    let output = output.unwrap_or_else(|error| {
        panic!("`{program}` cannot be started ({error}); this test needs it: apt-get install spin gcc")
    });
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{program} {arguments:?} failed:\n{text}\n{said}");
    text
}

/// The number of configurations that SPIN finds, without the one before the start.
fn spins(chart: &Chart) -> usize {
    let folder = std::env::temp_dir().join(format!("interlock-spin-{}-{}", std::process::id(), chart.id));
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(folder.join("model.pml"), export(chart, Format::Promela).text).unwrap();
    run(&folder, "spin", &["-a", "model.pml"]);
    run(&folder, "gcc", &["-O0", "-w", "-DSAFETY", "-DNOREDUCE", "-DVECTORSZ=4096", "-o", "pan", "pan.c"]);
    let text = run(&folder, "./pan", &["-E", "-n", "-m1000000"]);
    assert!(text.contains("errors: 0"), "{text}");
    assert!(!text.contains("max search depth too small"), "{text}");
    std::fs::remove_dir_all(&folder).unwrap();
    let line = text.lines().find(|line| line.contains("states, stored")).unwrap_or_else(|| panic!("{text}"));
    line.split_whitespace().next().unwrap().parse::<usize>().unwrap() - 1
}

fn same(chart: &Chart) -> usize {
    let (ours, spins) = (ours(chart), spins(chart));
    assert_eq!(ours, spins, "{}: we count {ours} configurations, SPIN {spins}", chart.id);
    ours
}

fn builtin(id: &str, limit_max: u32) {
    let counted = same(&clamped(&show::chart(&show::builtin(id)), limit_max));
    assert!(counted > 20, "{id} has only {counted} configurations, too few for a comparison");
}

#[test]
fn spin_counts_the_same_for_firmware() {
    builtin("firmware", 1);
}

#[test]
fn spin_counts_the_same_for_coder() {
    builtin("coder", 2);
}

#[test]
fn spin_counts_the_same_for_prd() {
    builtin("prd", 2);
}

#[test]
fn spin_counts_the_same_for_brain() {
    builtin("brain", 1);
}

#[test]
fn spin_counts_the_same_for_notebook() {
    builtin("notebook", 2);
}

/// A machine with features that not all built-in machines have: both kinds of history, actions of initial transitions,
/// done events, exit content.
#[test]
fn spin_counts_the_same_with_history_initial_content_and_done_events() {
    let machine = show::chart(
        r"
machine: corners
version: 1
events: { x: { from: user }, y: { from: user }, away: { from: user }, back: { from: user }, deep: { from: user }, stop: { from: user } }
initial: a
on: { stop: end, pushed: { reason: somebody left } }
states:
  a:
    initial: { target: b, actions: [{ raise: begun }] }
    on: { away: c, begun: [{ target: d, limit: { counter: begins, max: 2 } }, { reason: enough }], done: { target: c, reset: begins } }
    exit: [{ raise: pushed }]
    states:
      shallow: { type: history, target: b }
      deep: { type: history, history: deep, initial: { target: d, actions: [{ raise: pushed }] } }
      b:
        initial: b0
        on: { x: d }
        states:
          b0: { timeout: 1m, on: { y: b1, timeout: [{ target: b1, guard: 'count.begins == 1' }, { target: d }] } }
          b1: { invoke: { activity: work, signals: [ok] }, on: { y: b0, ok: f, error: { reason: it stays } } }
      d: { on: { x: b } }
      f: { type: final }
  c: { on: { back: shallow, deep: deep } }
  end: { type: final, outcome: success }
",
    );
    assert!(same(&machine) > 5);
}

#[test]
fn a_chart_that_cannot_be_translated_reports_the_reason() {
    let machine = show::chart(
        "{machine: p, version: 1, initial: a, states: {a: {type: parallel, states: {b: {tags: [idle]}, c: {}}}}}",
    );
    let exported = export(&machine, Format::Promela);
    assert_eq!(exported.warnings, ["nothing was translated: `a` is a parallel state"]);
    assert_eq!(exported.text, "/* p is not translated: `a` is a parallel state */\n");
}
