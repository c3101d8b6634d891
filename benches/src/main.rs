//! Measures the speed of the project. `make bench` prints one line per measurement.
//!
//! A step is one call of the public [`step`] with its complete result: the new state, the effects, and the full trace.
//! Each measurement is repeated in rounds of a fixed number of steps and the best round counts: the aim is the speed of
//! the code, and other programs on the computer can only make a round slower. Node drives XState in the same way, in
//! the same run.

#![allow(clippy::print_stdout)] // The program's task is to print.

mod agents;
mod check;
mod coder;
mod cold;
mod crowd;
mod durable;
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

/// A benchmark that cannot run returns the reason and stops.
type Result<T> = std::result::Result<T, Box<dyn std::error::Error>>;

fn main() -> Result<()> {
    let only: Vec<String> = std::env::args().skip(1).collect();
    let is_wanted = |name: &str| only.is_empty() || only.iter().any(|one| one == name);
    let xstate = if is_wanted("xstate") { xstate::measure()? } else { None };
    if is_wanted("steps") {
        steps::report(xstate.as_ref())?;
    }
    if is_wanted("check") {
        check::report()?;
    }
    if is_wanted("load") {
        cold::report_load()?;
    }
    if is_wanted("start") {
        cold::report_start()?;
        cold::report_first_record()?;
    }
    if is_wanted("sandbox") {
        sandbox::report()?;
    }
    if is_wanted("serve") {
        serve::report()?;
    }
    if is_wanted("policy") {
        policy::report()?;
    }
    if is_wanted("durable") {
        durable::report()?;
    }
    if is_wanted("judge") {
        judge::report()?;
    }
    if is_wanted("crowd") {
        crowd::report()?;
    }
    if is_wanted("soak") {
        soak::report()?;
    }
    if is_wanted("workspace") {
        workspace::report()?;
    }
    if is_wanted("map") {
        map::report()?;
    }
    if is_wanted("agents") {
        agents::report()?;
    }
    if is_wanted("notebook") {
        notebook::report()?;
    }
    if is_wanted("coder") {
        coder::report()?;
    }
    Ok(())
}
