//! Measures the speed of the project. `make bench` prints one line per measurement.
//!
//! A step is one call of the public [`step`] with its complete result: the new state, the effects, and the full trace.
//! Each measurement is repeated in rounds of a fixed number of steps and the best round counts: the aim is the speed of
//! the code, and other programs on the computer can only make a round slower. Node drives XState in the same way, in
//! the same run.

#![allow(clippy::disallowed_methods, reason = "benchmarks work in directories of their own")]
#![allow(clippy::print_stdout)] // The program's task is to print.

mod agents;
mod check;
mod coder;
mod cold;
mod crowd;
mod durable;
mod explore;
mod judge;
mod langgraph;
mod limits;
mod map;
mod notebook;
mod policy;
mod sandbox;
mod serve;
mod soak;
mod steps;
mod workspace;
mod xstate;

use std::{path::PathBuf, process::ExitCode};

/// A benchmark that cannot run returns the reason.
type Result<T> = std::result::Result<T, Box<dyn std::error::Error>>;

/// Measures and prints.
type Report = fn() -> Result<()>;

/// The measurements by name, in the order in which they are made.
const ALL: [(&str, Report); 18] = [
    ("steps", || steps::report(xstate::measure()?.as_ref())),
    ("check", check::report),
    ("explore", explore::report),
    ("load", cold::report_load),
    ("start", cold::report_start),
    ("record", cold::report_first_record),
    ("sandbox", sandbox::report),
    ("serve", serve::report),
    ("policy", policy::report),
    ("durable", durable::report),
    ("judge", judge::report),
    ("crowd", crowd::report),
    ("soak", soak::report),
    ("workspace", workspace::report),
    ("map", map::report),
    ("agents", agents::report),
    ("notebook", notebook::report),
    ("coder", coder::report),
];

/// Returns the size of a measurement. A build without optimisation measures nothing of interest, so it only tries each
/// benchmark, in a tiny size.
const fn size(full: usize, tiny: usize) -> usize {
    if cfg!(debug_assertions) { tiny } else { full }
}

fn main() -> ExitCode {
    let only: Vec<String> = std::env::args().skip(1).collect();
    let wanted = ALL.into_iter().filter(|(name, _)| only.is_empty() || only.iter().any(|one| one == name));
    // One that fails does not keep the others from being measured.
    let failed =
        wanted.filter(|(name, report)| report().inspect_err(|why| println!("{name:<8} failed: {why}")).is_err());
    match failed.count() {
        0 => ExitCode::SUCCESS,
        _ => ExitCode::FAILURE,
    }
}

/// Returns the program to measure, or `None` after a message if it is not built: the one that `INTERLOCK_PROGRAM` names, or
/// else the one beside this binary, which has the same profile.
fn program(measurement: &str) -> Result<Option<PathBuf>> {
    let beside = std::env::current_exe()?.with_file_name("interlock");
    let program = std::env::var_os("INTERLOCK_PROGRAM").map_or(beside, PathBuf::from);
    if program.exists() {
        return Ok(Some(program));
    }
    println!("{measurement:<8} not measured: build it with `cargo build --release -p interlock-cli`");
    Ok(None)
}
