//! How many configurations a second the checker explores, on one core.
//!
//! The machine is an agent workflow of six stages, each of which may fail and go back to the first a limited number of times,
//! so that the counters alone make about a million configurations. The best of three runs is printed.

#![allow(clippy::print_stdout, clippy::expect_used, clippy::disallowed_methods, missing_docs)]

use std::{fmt::Write, sync::Arc, time::Instant};

use interlock_checker::{Options, size};

const STAGES: usize = 6;
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
        "explore: {} configurations, {} edges in {time:.2?}: {rate:.0} configurations/s (best of {RUNS}, one core)",
        size.configurations, size.edges
    );
}
