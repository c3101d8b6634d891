//! Prints a report as a few lines of text, so that a test can contain all of it.

#![allow(unreachable_pub, reason = "the modules beside this one use it")]

use std::{fmt::Write, sync::Arc};

use interlock_chart::{Chart, yaml};
use interlock_checker::{Bound, Options, Report, check};

/// The chart of a machine file; the test fails if the reader refuses the file.
pub fn chart(source: &str) -> Arc<Chart> {
    let reading = yaml::read(source);
    let problems: Vec<_> = reading.diagnostics.iter().map(|one| format!("{} {}", one.code, one.message)).collect();
    Arc::new(reading.chart.unwrap_or_else(|| panic!("{}", problems.join("\n"))))
}

/// The text of a built-in machine as it is in the repository.
pub fn builtin(id: &str) -> String {
    let path = format!("{}/../../../machines/{id}/machine.yaml", env!("CARGO_MANIFEST_DIR"));
    std::fs::read_to_string(path).unwrap()
}

/// Checks a machine file and prints the report.
pub fn report(source: &str) -> String {
    show(&check(chart(source), &Options::default()))
}

/// The report as text.
pub fn show(report: &Report) -> String {
    let mut out = String::new();
    let verdict = if report.ok { "proved" } else { "not proved" };
    let counters = if report.exact { "" } else { ", counters partly open" };
    _ = writeln!(out, "{verdict}: {} configurations{counters}", report.explored);
    _ = writeln!(out, "between inputs: {}", bound(report.bound));
    _ = writeln!(out, "whole run: {}", bound(report.run_bound));
    if !report.waits.is_empty() {
        _ = writeln!(out, "waits in {}", report.waits.join(", "));
    }
    for proof in &report.properties {
        _ = writeln!(out, "{} {}", if proof.ok { "yes" } else { "NO " }, proof.name);
        proof.counterexample.iter().for_each(|way| _ = write!(out, "{way}"));
    }
    for problem in &report.problems {
        _ = writeln!(out, "{} {}", problem.code, problem.message);
        problem.counterexample.iter().for_each(|way| _ = write!(out, "{way}"));
    }
    out
}

fn bound(bound: Option<Bound>) -> String {
    bound.map_or("no bound".to_owned(), |Bound { transitions, activities, judgements }| {
        format!("{transitions} transitions, {activities} activities, {judgements} judgements")
    })
}
