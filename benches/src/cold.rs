//! Measures the time a person waits: loading a machine, and starting the program.

use std::{
    fmt::Write,
    process::{Command, Stdio},
    time::{Duration, Instant},
};

use interlock_chart::yaml;

use crate::{Result, size};

const ROUNDS: usize = size(30, 2);

/// Reads, resolves and validates a machine of forty states.
pub(crate) fn report_load() -> Result<()> {
    let source = forty_states();
    let reading = yaml::read(&source);
    if !reading.is_usable() {
        return Err(format!("the bench's machine is not a machine: {:?}", reading.diagnostics).into());
    }
    let best = best_of(|| {
        let begin = Instant::now();
        let reading = yaml::read(&source);
        let took = begin.elapsed();
        reading.is_usable().then_some(took).ok_or_else(|| "not a machine".into())
    })?;
    println!("load     {:>8.3} ms for 40 states, {} lines (wanted 5)", milliseconds(best), source.lines().count());
    Ok(())
}

/// Measures the program from its start to the list of machines.
pub(crate) fn report_start() -> Result<()> {
    let Some(program) = crate::program("start")? else { return Ok(()) };
    let best = best_of(|| {
        let begin = Instant::now();
        let status = Command::new(&program).arg("machines").stdout(Stdio::null()).stderr(Stdio::null()).status()?;
        status.success().then(|| begin.elapsed()).ok_or_else(|| "`interlock machines` failed".into())
    })?;
    println!("start    {:>8.3} ms for `interlock machines` (wanted 20)", milliseconds(best));
    Ok(())
}

/// Measures the program from its start to the end of a run that records its beginning and waits. By then the first
/// record is durable.
pub(crate) fn report_first_record() -> Result<()> {
    let Some(program) = crate::program("record")? else { return Ok(()) };
    let home = tempfile::tempdir_in(concat!(env!("CARGO_MANIFEST_DIR"), "/../target"))?;
    let machine = concat!(env!("CARGO_MANIFEST_DIR"), "/../examples/approve");
    let best = best_of(|| {
        let begin = Instant::now();
        let mut run = Command::new(&program);
        run.args(["run", machine, "--set", "change=one"]).env("INTERLOCK_HOME", home.path()).stdin(Stdio::null());
        let status = run.stdout(Stdio::null()).stderr(Stdio::null()).status()?;
        let waits = status.code() == Some(4);
        waits.then(|| begin.elapsed()).ok_or_else(|| format!("`interlock run` ended with {status}").into())
    })?;
    println!(
        "record   {:>8.3} ms for `interlock run` to its first record and its end (wanted 60 to the record)",
        milliseconds(best)
    );
    Ok(())
}

fn best_of(mut round: impl FnMut() -> Result<Duration>) -> Result<Duration> {
    let rounds = (0..ROUNDS).map(|_| round()).collect::<Result<Vec<_>>>()?;
    Ok(rounds.into_iter().min().unwrap_or_default())
}

fn milliseconds(duration: Duration) -> f64 {
    duration.as_secs_f64() * 1e3
}

/// Builds a chain of 39 states and an end; every state in the chain has an activity, guards, limits and reasons.
fn forty_states() -> String {
    let mut out = String::from(
        "machine: forty\nversion: 1\ncontext: {round: 0, notes: []}\nevents:\n  abort: {from: user}\n  skip: {from: user}\ninitial: s0\non:\n  \
         abort: {target: end}\n  error: {target: end, reason: \"${event.message}\"}\n  timeout: {target: end}\ntimeout: 10m\nstates:\n",
    );
    for at in 0..39 {
        let next = if at == 38 { "end".to_owned() } else { format!("s{}", at + 1) };
        // Writing to a string cannot fail.
        let _ = write!(
            out,
            "  s{at}:\n    summary: The step of number {at}\n    invoke: {{activity: command.run, with: {{text: \"do ${{context.round}}\"}}, signals: [passed, \
             failed]}}\n    on:\n      passed: {{target: {next}, guard: \"event.score > 0.5 && context.round < 100\", assign: {{round: \"${{context.round + \
             1}}\"}}, reason: \"score ${{event.score}}\"}}\n      failed:\n        - {{target: s{at}, limit: 3, reason: again}}\n        - {{target: end, reason: three \
             times is enough}}\n      skip: {next}\n"
        );
    }
    out + "  end: {type: final, outcome: failure}\n"
}
