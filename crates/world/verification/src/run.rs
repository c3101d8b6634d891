//! One command, run by a shell in the sandbox, with variables that make programs repeatable.

use std::{ffi::OsString, path::Path, time::Duration};

use interlock_activity::{Attempt, Outcome, code};
use interlock_journal::Evidence;
use interlock_process::{self as program, How, Plan, Sandbox, Tell};
use interlock_sandbox::Rules;

use crate::Log;

/// The exit code of a command that did not end in time, as `timeout` of coreutils reports it.
pub const TIMED_OUT: i64 = 124;

/// The most bytes kept of each stream of a command.
const OUTPUT_BYTES: u64 = 16 * 1024 * 1024;

/// No colours, no questions, no files beside the sources.
const ENVIRONMENT: [(&str, &str); 4] =
    [("CI", "1"), ("NO_COLOR", "1"), ("CARGO_TERM_COLOR", "never"), ("PYTHONDONTWRITEBYTECODE", "1")];

/// A command that has ended.
#[derive(Debug)]
pub struct CommandRun {
    /// The command line.
    pub command: String,
    /// The exit code; [`TIMED_OUT`] if the command did not end in time.
    pub exit_code: i64,
    /// The duration in milliseconds.
    pub took_ms: u64,
    /// The output.
    pub log: Log,
    /// The stored output.
    pub evidence: Vec<Evidence>,
}

/// Runs a command line to its end in the run's directory. Returns an outcome as the error if the command could not be started or was stopped.
pub async fn run(
    attempt: &Attempt,
    sandbox: &Sandbox,
    rules: Rules,
    line: &str,
    timeout: Duration,
) -> Result<CommandRun, Outcome> {
    attempt.host.progress(&attempt.run, attempt.activity, line);
    run_in(attempt, sandbox, (rules, &attempt.folder, &[]), line, timeout).await
}

/// Runs a command line by these rules, in this directory, with these variables besides the usual ones.
pub(crate) async fn run_in(
    attempt: &Attempt,
    sandbox: &Sandbox,
    (rules, folder, env): (Rules, &Path, &[(&str, &str)]),
    line: &str,
    timeout: Duration,
) -> Result<CommandRun, Outcome> {
    let plan = Plan {
        words: ["/bin/sh", "-c", line].map(OsString::from).into(),
        folder: folder.to_owned(),
        env: ENVIRONMENT.iter().chain(env).map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect(),
        stdin: Vec::new(),
        timeout: Some(timeout),
        output_bytes_max: OUTPUT_BYTES,
        tell: [Tell::NowAndThen; 2],
        rules,
        launcher: sandbox.launcher.clone(),
    };
    let ended = program::run(attempt, &plan).await?;
    let stopped = program::not_ended(&ended.how, &plan, ended.duration);
    let took_ms = u64::try_from(ended.duration.as_millis()).unwrap_or(u64::MAX);
    let evidence = program::keep(attempt, vec![ended.stdout, ended.stderr], ended.confined).await?;
    let log = Log::of(attempt, &evidence);
    let (exit_code, log) = match (stopped, ended.how) {
        (None, How::Exited { code, .. }) => (code, log),
        (_, How::TimedOut) => (TIMED_OUT, log.with_line(&format!("`{line}` did not end in time"))),
        (Some(stopped), _) => return Err(stopped.with(evidence)),
        (None, _) => return Err(Outcome::error(code::FAILED, "it did not end").with(evidence)),
    };
    Ok(CommandRun { command: line.to_owned(), exit_code, took_ms, log, evidence })
}
