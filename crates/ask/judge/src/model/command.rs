//! A program as a judge: it reads the question from stdin and prints the answer.
//!
//! It runs in the sandbox like every program of a run, with fewer rights: it can write only to its temporary directory,
//! and it has no network access unless the settings allow it.

use std::{collections::BTreeMap, ffi::OsString};

use interlock_activity::Attempt;
use interlock_process::{self as program, Confined, How, Plan, ProgramResult, Sandbox, Stream, Tell};
use interlock_sandbox::{Kind, Rules};
use serde_json::json;
use tempfile::TempDir;

use super::{Ask, Fault, Means, Reply, Usage, estimate_tokens};
use crate::settings::Command;

/// The maximum length of an answer, in bytes.
const ANSWER_BYTES_MAX: u64 = 8 * 1024 * 1024;

/// The maximum length of the program's stderr that an error message shows.
const COMPLAINT_CHARS: usize = 300;

/// Runs the program once. The program is stopped if the future is dropped.
pub(super) async fn run(
    command: &Command,
    ask: &Ask<'_>,
    attempt: &Attempt,
    sandbox: &Sandbox,
) -> Result<Reply, Fault> {
    let own = TempDir::new().map_err(|error| Fault::Local(format!("could not create its directory: {error}")))?;
    let plan = plan(command, ask, attempt, rules(command, sandbox, &own)?, sandbox)?;
    let ended = program::run(attempt, &plan).await.map_err(|outcome| Fault::Local(outcome.message()))?;
    let confined = confinement(&ended.confined);
    let text = answer(command, ended)?;
    let usage = Usage { input_tokens: ask.tokens(), output_tokens: estimate_tokens(&text), is_estimate: true };
    Ok(Reply { text, finish: "exit 0".to_owned(), usage, confined: Some(confined), ..Reply::default() })
}

/// Returns the program's sandbox rules: the usual ones, but only its temporary directory is writable.
fn rules(command: &Command, sandbox: &Sandbox, own: &TempDir) -> Result<Rules, Fault> {
    let own =
        own.path().canonicalize().map_err(|error| Fault::Local(format!("could not use its directory: {error}")))?;
    let mut rules = sandbox.usual_rules(own);
    rules.network = command.network;
    rules.sandbox = command.sandbox.unwrap_or(rules.sandbox);
    rules.write.clear();
    match rules.required && rules.sandbox == Kind::None {
        true => Err(Fault::Local("a sandbox is required here, but the judge has `sandbox = \"none\"`".to_owned())),
        false => Ok(rules),
    }
}

fn plan(command: &Command, ask: &Ask<'_>, attempt: &Attempt, rules: Rules, sandbox: &Sandbox) -> Result<Plan, Fault> {
    let [program, arguments @ ..] = command.argv.as_slice() else {
        return Err(Fault::Local("the command is empty".to_owned()));
    };
    let found = program::find(program, &attempt.folder, &BTreeMap::new());
    let found = found.map_err(|why| Fault::Local(format!("starting {program}: {why}")))?;
    let env = command.env.iter().filter_map(|name| Some((name.clone(), std::env::var(name).ok()?)));
    Ok(Plan {
        words: std::iter::once(found.into()).chain(arguments.iter().map(OsString::from)).collect(),
        folder: attempt.folder.clone(),
        env: env.collect(),
        stdin: question(ask).into_bytes(),
        timeout: Some(command.timeouts.total),
        output_bytes_max: ANSWER_BYTES_MAX,
        tell: [Tell::Nothing, Tell::Nothing],
        rules,
        launcher: sandbox.launcher.clone(),
    })
}

fn answer(command: &Command, mut ended: ProgramResult) -> Result<String, Fault> {
    let program = command.argv.first().map_or("", String::as_str);
    match ended.how {
        How::Exited { code: 0, .. } => {}
        How::Exited { code, .. } => {
            let complaints = text(&mut ended.stderr)?;
            let shown: String = complaints.trim().chars().take(COMPLAINT_CHARS).collect();
            return Err(Fault::Local(format!("{program} ended with exit code {code}: {shown}")));
        }
        How::TimedOut => {
            let after_ms = command.timeouts.total.as_secs_f64() * 1000.0;
            return Err(Fault::Timeout { what: "answer of the command", after_ms });
        }
        How::Cancelled => return Err(Fault::Local(format!("{program} was stopped"))),
        How::Limited(why) => return Err(Fault::Local(format!("{program} was stopped: {why}"))),
    }
    match ended.stdout.is_truncated {
        true => Err(Fault::TooLong(ANSWER_BYTES_MAX as usize)),
        false => text(&mut ended.stdout),
    }
}

fn text(stream: &mut Stream) -> Result<String, Fault> {
    let content = stream.content().map_err(|error| Fault::Local(format!("reading what it printed: {error}")))?;
    Ok(String::from_utf8_lossy(&content).into_owned())
}

/// Returns the enforced confinement as JSON, to be stored with the request.
fn confinement(confined: &Confined) -> serde_json::Value {
    json!({ "enforced": confined.enforced, "breaches": confined.ended.breaches, "left": confined.ended.left })
}

fn question(ask: &Ask<'_>) -> String {
    json!({ "system": ask.system(Means::Prompt), "messages": ask.texts(), "schema": ask.schema }).to_string()
}
