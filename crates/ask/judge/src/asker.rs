//! The attempt as the one that asks a model: its clock, its viewers, and programs that act as a judge.

use std::{collections::BTreeMap, ffi::OsString};

use interlock_activity::Attempt;
use interlock_model::{Asker, Fault, Later, Reply, settings::Command};
use interlock_process::{self as program, Confined, How, Plan, ProgramResult, Sandbox, Stream, Tell};
use interlock_sandbox::{Kind, Rules};
use serde_json::json;
use tempfile::TempDir;

/// The maximum length of an answer, in bytes.
const ANSWER_BYTES_MAX: u64 = 8 * 1024 * 1024;

/// The maximum length of the program's stderr that an error message shows.
const COMPLAINT_CHARS: usize = 300;

/// The attempt of an activity that asks a model.
pub(crate) struct AttemptAsks<'a> {
    pub(crate) attempt: &'a Attempt,
    pub(crate) sandbox: &'a Sandbox,
}

impl Asker for AttemptAsks<'_> {
    fn now_ms(&self) -> i64 {
        self.attempt.host.now_ms()
    }

    fn sleep(&self, ms: u64) -> Later<'_, ()> {
        self.attempt.host.sleep(ms)
    }

    fn show(&self, text: &str) {
        show(self.attempt, text);
    }

    /// The program runs in the sandbox like every program of a run, with fewer rights: it can write only to its temporary
    /// directory, and it has no network access unless the settings allow it. It is stopped if the future is dropped.
    fn run<'a>(&'a self, command: &'a Command, question: String) -> Later<'a, Result<Reply, Fault>> {
        Box::pin(async move {
            let own =
                TempDir::new().map_err(|error| Fault::Local(format!("could not create its directory: {error}")))?;
            let plan = plan(command, question, self.attempt, rules(command, self.sandbox, &own)?, self.sandbox)?;
            let ended = program::run(self.attempt, &plan).await.map_err(|outcome| Fault::Local(outcome.message()))?;
            let confined = confinement(&ended.confined);
            let text = answer(command, ended)?;
            Ok(Reply { text, finish: "exit 0".to_owned(), confined: Some(confined), ..Reply::default() })
        })
    }
}

/// Shows a text, redacted, to the people who watch the run.
pub(crate) fn show(attempt: &Attempt, text: &str) {
    let Attempt { run, activity, host, evidence, .. } = attempt;
    host.progress(run, *activity, &evidence.redactor().text(text));
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

fn plan(
    command: &Command,
    question: String,
    attempt: &Attempt,
    rules: Rules,
    sandbox: &Sandbox,
) -> Result<Plan, Fault> {
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
        stdin: question.into_bytes(),
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
