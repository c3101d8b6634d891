//! `command.run`: a command in the run's folder.

use std::{ffi::OsString, time::Duration};

use interlock_activity::{Activity, Attempt, Bad, Effect, Ending, Given, Outcome, code};
use interlock_chart::Value;
use interlock_workspace::Workspace;

use interlock_program::{self as program, Ended, FIELDS, How, Plan, Sandbox, Tell};

const KNOWN: [&str; 9] =
    ["command", "cwd", "env", "stdin", "timeout_s", "output_bytes_max", "ok_codes", "signals", "tree"];

/// How much of each stream is kept where the machine does not say.
const OUTPUT_BYTES: u64 = 16 * 1024 * 1024;

/// The code of an error: the folder is not the one that was checked before.
const TREE_CHANGED: &str = "TREE_CHANGED";

/// Runs a command.
#[derive(Clone, Debug)]
pub struct CommandRun {
    workspace: Workspace,
    sandbox: Sandbox,
}

impl CommandRun {
    /// With what hashes the folder afterwards, and what programs are allowed.
    pub fn new(workspace: Workspace, sandbox: Sandbox) -> Self {
        CommandRun { workspace, sandbox }
    }

    async fn run(self, attempt: Attempt) -> Result<Outcome, Outcome> {
        let order = Order::read(&attempt, &self.sandbox)?;
        if let Some(expected) = &order.tree {
            let found = self.tree(&attempt).await;
            if found.as_ref() != Some(expected) {
                let found = found.as_deref().unwrap_or("no tree that can be told");
                let message = format!("the folder is {found}, not the tree {expected} that the command is for");
                return Err(Outcome::error(TREE_CHANGED, message));
            }
        }
        let ended = program::run(&attempt, &order.plan).await?;
        let stopped = program::not_ended(&ended.how, &order.plan, ended.duration);
        let outcome = match (stopped, &ended.how) {
            (None, &How::Exited { code, signal }) => {
                let tree = self.tree(&attempt).await;
                let name = if order.ok_codes.contains(&code) { order.signals.0 } else { order.signals.1 };
                Outcome::signal(name, data(&ended, code, signal, tree))
            }
            (stopped, _) => stopped.unwrap_or_else(|| Outcome::error(code::FAILED, "it did not end")),
        };
        let evidence = program::keep(&attempt, vec![ended.stdout, ended.stderr], ended.confined).await?;
        Ok(outcome.with(evidence))
    }

    /// The tree that the folder is; nothing where it cannot be told.
    async fn tree(&self, attempt: &Attempt) -> Option<String> {
        let (workspace, folder) = (self.workspace.clone(), attempt.folder.clone());
        tokio::task::spawn_blocking(move || workspace.tree(&folder).ok()).await.ok().flatten()
    }
}

impl Activity for CommandRun {
    fn name(&self) -> &str {
        "command.run"
    }

    fn summary(&self) -> &str {
        "Runs a command in the run's folder; its exit code decides."
    }

    fn effect(&self) -> Effect {
        Effect::Write
    }

    fn signals(&self) -> &[&str] {
        &["passed", "failed"]
    }

    fn start(&self, attempt: Attempt) -> Ending {
        let this = self.clone();
        Box::pin(async move { this.run(attempt).await.unwrap_or_else(|error| error) })
    }
}

/// What a machine wants to be run.
struct Order {
    plan: Plan,
    ok_codes: Vec<i64>,
    /// How to say yes and no.
    signals: (String, String),
    /// What the folder must be.
    tree: Option<String>,
}

impl Order {
    fn read(attempt: &Attempt, sandbox: &Sandbox) -> Result<Self, Outcome> {
        let given = Given::new(&attempt.with, &[&KNOWN[..], &FIELDS].concat())?;
        let folder = given.folder("cwd", &attempt.folder)?;
        let env = given.pairs("env")?;
        if let Some(name) = env.keys().find(|name| name.is_empty() || name.contains(['=', '\0'])) {
            return Err(Bad::field("env", format!("has a name that no variable can have: `{name}`")).into());
        }
        let mut plan = Plan {
            words: Vec::new(),
            folder,
            env,
            stdin: given.text("stdin")?.unwrap_or_default().into(),
            timeout: given.seconds("timeout_s")?,
            output_bytes_max: given.whole("output_bytes_max")?.unwrap_or(OUTPUT_BYTES),
            tell: [Tell::NowAndThen; 2],
            rules: sandbox.rules(&given, attempt)?,
            launcher: sandbox.launcher.clone(),
        };
        let ok_codes = given.numbers("ok_codes")?.unwrap_or_else(|| vec![0]);
        let names = given.pairs("signals")?;
        if let Some(name) = names.keys().find(|name| !["zero", "nonzero"].contains(&name.as_str())) {
            return Err(Bad::field("signals", format!("has `{name}`; known are zero, nonzero")).into());
        }
        let name = |of: &str, otherwise: &str| names.get(of).cloned().unwrap_or_else(|| otherwise.to_owned());
        let tree = given.text("tree")?.map(str::to_owned);
        plan.words = words(&given, &plan)?;
        Ok(Order { plan, ok_codes, signals: (name("zero", "passed"), name("nonzero", "failed")), tree })
    }
}

/// A string is for the shell; a list is a program and its arguments.
fn words(given: &Given<'_>, plan: &Plan) -> Result<Vec<OsString>, Outcome> {
    match given.value("command") {
        None => Err(Bad::field("command", "is missing").into()),
        Some(Value::Str(text)) if text.trim().is_empty() => Err(Bad::field("command", "is empty").into()),
        Some(Value::Str(text)) => Ok(["/bin/sh", "-c", text].map(OsString::from).into()),
        Some(Value::List(_)) => {
            let words = given.texts("command")?.unwrap_or_default();
            let Some((program, arguments)) = words.split_first() else {
                return Err(Bad::field("command", "is empty").into());
            };
            let not_started = |why| Outcome::error(code::FAILED, format!("it could not be started: {why}"));
            let program = program::find(program, &plan.folder, &plan.env).map_err(not_started)?;
            Ok(std::iter::once(program.into()).chain(arguments.iter().map(OsString::from)).collect())
        }
        Some(other) => {
            Err(Bad::field("command", format!("is to be a string or a list, not a {}", other.kind())).into())
        }
    }
}

fn data(ended: &Ended, code: i64, signal: Option<i64>, tree: Option<String>) -> Value {
    let summary = ended.shown.last_line().unwrap_or_else(|| format!("exit code {code}"));
    Value::map([
        ("exit_code", Value::Int(code)),
        ("signal", signal.map_or(Value::Null, Value::Int)),
        ("duration_ms", Value::Int(milliseconds(ended.duration))),
        ("stdout", Value::from(ended.stdout.tail.text())),
        ("stderr", Value::from(ended.stderr.tail.text())),
        ("summary", Value::from(summary)),
        ("tree", tree.map_or(Value::Null, Value::from)),
        ("truncated", Value::Bool(ended.stdout.is_truncated || ended.stderr.is_truncated)),
        ("breaches", breaches(ended)),
    ])
}

/// What it did that it should not have.
fn breaches(ended: &Ended) -> Value {
    let breaches = ended.confined.ended.breaches.iter();
    let breaches = breaches.map(|breach| {
        Value::map([("rule", Value::from(breach.rule.as_str())), ("said", Value::from(breach.said.as_str()))])
    });
    Value::List(breaches.collect())
}

fn milliseconds(duration: Duration) -> i64 {
    i64::try_from(duration.as_millis()).unwrap_or(i64::MAX)
}
