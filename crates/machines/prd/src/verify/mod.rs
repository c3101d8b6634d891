//! `project.verify`: runs the commands that decide if a task is done, on exactly one tree.
//!
//! The commands were fixed when a person confirmed the PRD. `interlock-verification` runs them in its room, on the tree
//! that will be committed. If they pass and prove nothing about the task, a person decides. A failure of the environment
//! is told apart from a failure of the code.

mod accounted;

use std::{path::Path, time::Duration};

use interlock_activity::{
    Activity, Arguments, Attempt, EffectClass, Ending, Outcome, Requests, Signal, Site, code,
    report::{Account, RunRecord},
    schema,
};
use interlock_chart::{Value, model::Schema};
use interlock_journal::{EvidenceStore, moment};
use interlock_policy::Request;
use interlock_process::{self as program, FIELDS, Sandbox};
use interlock_project::Command;
use interlock_verification::{Becomes, CommandRun, Question, Room, Verdict, environment_fault};
use interlock_workspace::Workspace;

use crate::{Task, tasks::list, value};

const KNOWN: [&str; 5] = ["task", "commands", "base", "timeout_s", "accepted"];

/// The longest time of one command, if the machine sets none.
const COMMAND_TIMEOUT: Duration = Duration::from_secs(15 * 60);

/// The most characters of a log or a diff in the outcome; the whole text is evidence.
const EXCERPT_CHARS_MAX: usize = 2_000;

/// The signals for success; the machine takes one of them.
const PASSED: [&str; 2] = ["verified", "FIX_SUCCESS"];

/// The signals for a failure of the code.
const FAILED: [&str; 2] = ["ERROR_DETECTED", "fix_failed"];

/// The signal for a failure of the environment.
const FAULT: &str = "ENVIRONMENT_FAULT";

/// The signals for commands that pass and prove nothing about the task; machines of older versions take the second.
const UNPROVED: [&str; 2] = ["unproved", "commands_changed"];

/// Verifies a project.
#[derive(Clone, Debug)]
pub struct ProjectVerify {
    workspace: Workspace,
    sandbox: Sandbox,
}

impl ProjectVerify {
    /// Creates the activity. `workspace` hashes and keeps the tree, and `sandbox` confines the commands.
    pub fn new(workspace: Workspace, sandbox: Sandbox) -> Self {
        ProjectVerify { workspace, sandbox }
    }

    async fn run(self, attempt: Attempt) -> Result<Outcome, Outcome> {
        let order = Order::read(&attempt.with)?;
        let given = Arguments::new(&attempt.with, &[&KNOWN[..], &FIELDS].concat())?;
        let tree = self.kept(&attempt).await?;
        let question = Question {
            lines: order.lines.clone(),
            base: order.base.clone().unwrap_or_else(|| tree.clone()),
            tree: tree.clone(),
            becomes: Becomes::Commit(None),
            timeout: order.timeout,
            accepted: order.accepted.clone(),
        };
        let (workspace, sandbox, rules) = (&self.workspace, &self.sandbox, self.sandbox.rules(&given, &attempt)?);
        let verdict = Room { attempt: &attempt, workspace, sandbox, rules }.verify(&question).await?;
        if verdict.failed().is_some() {
            return self.failed(&attempt, &order, verdict).await;
        }
        let missing = self.missing(&attempt, &order, &tree).await;
        if !missing.is_empty() {
            return self.incomplete(&attempt, &order, &missing.join("; "), verdict).await;
        }
        if !verdict.is_verified() {
            let data = [
                ("summary", Value::from(verdict.objections.join("; "))),
                ("objections", value(&verdict.objections)),
                ("difference", Value::from(verdict.changed_checks(&attempt))),
                // Machines of older versions read it.
                ("commands", value(&order.fixed)),
            ];
            return Ok(Outcome::signal(taken(&attempt, &UNPROVED), Value::map(data)).with(verdict.evidence));
        }
        let summary = format!("{} on tree {tree}: {}", passed_words(order.lines.len()), verdict.summary());
        let warnings: Vec<&str> = verdict.warnings.iter().map(|warning| warning.code).collect();
        let shortfall: Vec<&str> = verdict.warnings.iter().map(|warning| &*warning.text).collect();
        let data = [
            ("changed", Value::from(order.base.as_ref() != Some(&tree))),
            ("tree", Value::from(tree)),
            ("warnings", value(&warnings)),
            ("shortfall", Value::from(shortfall.join(", "))),
            ("shown", Value::from(verdict.shown)),
            ("summary", Value::from(summary)),
        ];
        Ok(Outcome::signal(taken(&attempt, &PASSED), Value::map(data)).with(verdict.evidence))
    }

    /// Reports a failed command: as a fault of the environment, or as an error with its log and the diff of the task.
    async fn failed(&self, attempt: &Attempt, order: &Order, verdict: Verdict) -> Result<Outcome, Outcome> {
        let Some(CommandRun { command, exit_code, log, .. }) = verdict.failed() else {
            return Err(Outcome::error(code::FAILED, "no command failed"));
        };
        let (exit_code, mut evidence) = (*exit_code, verdict.evidence.clone());
        if let Some(cause) = environment_fault(exit_code, log) {
            let summary = format!("`{command}`: {cause}");
            return Ok(fault(&summary, Value::from(last_chars(&log.text))).with(evidence));
        }
        let tree = self.kept(attempt).await?;
        let diff = self.diff(attempt, order.base.as_deref(), &tree).await;
        let kept = attempt.evidence.put("diff", "text/x-diff", diff.as_bytes());
        let kept = kept.map_err(|error| Outcome::not_stored(format!("the diff could not be kept: {error}")))?;
        let summary = format!("`{command}` failed with exit code {exit_code}: {}", log.summary());
        let data = [
            ("summary", Value::from(summary)),
            ("command", Value::from(command.as_str())),
            ("exit_code", Value::from(exit_code)),
            ("failing", value(&log.failing)),
            ("log", Value::from(last_chars(&log.text))),
            ("log_evidence", value(&log.evidence)),
            ("diff", Value::from(diff.chars().take(EXCERPT_CHARS_MAX).collect::<String>())),
            ("diff_evidence", Value::from(kept.hash.to_string())),
            ("tree", Value::from(tree)),
            ("at", Value::from(moment::rfc3339(attempt.host.now_ms()))),
        ];
        evidence.push(kept);
        Ok(Outcome::signal(taken(attempt, &FAILED), Value::map(data)).with(evidence))
    }

    /// Returns the files that the task asks for and has not made.
    async fn missing(&self, attempt: &Attempt, order: &Order, tree: &str) -> Vec<String> {
        let (workspace, folder, task) = (self.workspace.clone(), attempt.folder.clone(), order.task.clone());
        let (base, tree) = (order.base.clone(), tree.to_owned());
        let found = blocking(move || {
            let Some(base) = base else { return Ok(Vec::new()) };
            let changes = workspace.changes_between(&folder, &base, &tree).unwrap_or_default();
            let is_known =
                |path: &str| workspace.committed_file(&folder, Path::new(path)).is_ok_and(|text| text.is_some());
            Ok(task.missing(&changes, is_known))
        });
        found.await.unwrap_or_default()
    }

    /// Reports a task whose commands pass and whose files are missing, as an error of the code.
    async fn incomplete(
        &self,
        attempt: &Attempt,
        order: &Order,
        why: &str,
        verdict: Verdict,
    ) -> Result<Outcome, Outcome> {
        let tree = self.kept(attempt).await?;
        let diff = self.diff(attempt, order.base.as_deref(), &tree).await;
        let data = [
            ("summary", Value::from(why)),
            ("log", Value::from(why)),
            ("diff", Value::from(diff.chars().take(EXCERPT_CHARS_MAX).collect::<String>())),
            ("tree", Value::from(tree)),
            ("at", Value::from(moment::rfc3339(attempt.host.now_ms()))),
        ];
        Ok(Outcome::signal(taken(attempt, &FAILED), Value::map(data)).with(verdict.evidence))
    }

    /// Keeps the workspace and returns its tree, so that exactly this tree can be committed later.
    async fn kept(&self, attempt: &Attempt) -> Result<String, Outcome> {
        let (workspace, folder, run) = (self.workspace.clone(), attempt.folder.clone(), attempt.run.clone());
        blocking(move || {
            let taken = workspace.take_tree(&folder, &run);
            taken.map(|(_, tree)| tree).map_err(|error| Outcome::error(code::FAILED, error.to_string()))
        })
        .await
    }

    async fn diff(&self, attempt: &Attempt, base: Option<&str>, tree: &str) -> String {
        let (workspace, folder, tree) = (self.workspace.clone(), attempt.folder.clone(), tree.to_owned());
        let Some(base) = base.map(str::to_owned) else { return String::new() };
        let diff = blocking(move || {
            let diff = workspace.diff_trees(&folder, &base, &tree).unwrap_or_default();
            Ok(String::from_utf8_lossy(&diff).into_owned())
        });
        diff.await.unwrap_or_default()
    }
}

/// The parsed input of an attempt.
struct Order {
    task: Task,
    /// The commands that were fixed, with their definitions.
    fixed: Vec<Command>,
    /// All command lines: those of the project, then those of the task.
    lines: Vec<String>,
    /// The tree that the task began with.
    base: Option<String>,
    timeout: Duration,
    /// The objections that a person has accepted.
    accepted: Vec<String>,
}

impl Order {
    fn read(with: &Value) -> Result<Self, Outcome> {
        let given = Arguments::new(with, &[&KNOWN[..], &FIELDS].concat())?;
        let fixed: Vec<Command> = list(&given, "commands")?;
        let task = given.value("task").and_then(|task| serde_json::from_value(task.into()).ok()).unwrap_or_default();
        let of_task = given.value("task").and_then(|task| task.get("commands")).cloned().unwrap_or(Value::Null);
        let of_task: Vec<String> = serde_json::from_value((&of_task).into()).unwrap_or_default();
        let mut lines: Vec<String> = Vec::new();
        for line in fixed.iter().map(|command| command.command.clone()).chain(of_task) {
            if !lines.contains(&line) {
                lines.push(line);
            }
        }
        if lines.is_empty() {
            return Err(Outcome::error(code::BAD_INPUT, "there is no command to verify with"));
        }
        let base = given.text("base")?.filter(|base| !base.is_empty()).map(str::to_owned);
        let timeout = given.seconds("timeout_s")?.unwrap_or(COMMAND_TIMEOUT);
        let accepted = given.texts("accepted")?.unwrap_or_default();
        Ok(Order { task, fixed, lines, base, timeout, accepted })
    }
}

/// Returns the first of these signals that the machine takes.
fn taken(attempt: &Attempt, names: &[&'static str]) -> &'static str {
    let found = names.iter().find(|name| attempt.invocation.takes(name));
    found.or(names.first()).copied().unwrap_or_default()
}

fn fault(why: &str, log: Value) -> Outcome {
    Outcome::signal(FAULT, Value::map([("summary", Value::from(why)), ("log", log)]))
}

fn passed_words(count: usize) -> String {
    if count == 1 { "1 command passed".to_owned() } else { format!("{count} commands passed") }
}

fn last_chars(text: &str) -> String {
    let skip = text.chars().count().saturating_sub(EXCERPT_CHARS_MAX);
    text.chars().skip(skip).collect()
}

async fn blocking<T: Send + 'static>(work: impl FnOnce() -> Result<T, Outcome> + Send + 'static) -> Result<T, Outcome> {
    let done = tokio::task::spawn_blocking(work).await;
    done.unwrap_or_else(|error| Err(Outcome::error(code::FAILED, error.to_string())))
}

impl Activity for ProjectVerify {
    fn name(&self) -> &str {
        "project.verify"
    }

    fn summary(&self) -> &str {
        "Runs the commands that verify a task on the tree to commit; they count only if they prove something about it."
    }

    fn effect(&self) -> EffectClass {
        EffectClass::Write
    }

    fn signals(&self) -> &[Signal] {
        &[]
    }

    fn schema(&self) -> Schema {
        let fields = schema::fields([
            ("task", schema::object()),
            ("commands", schema::list(schema::any())),
            ("base", schema::text()),
            ("timeout_s", schema::number()),
            ("accepted", schema::list(schema::plain())),
        ]);
        schema::also(fields, &program::schema())
    }

    fn requests(&self, site: &Site<'_>) -> Requests {
        let given = Arguments::new(site.with, &[&KNOWN[..], &FIELDS].concat())?;
        let lines = Order::read(site.with)?.lines;
        let commands: Vec<_> = lines.into_iter().map(interlock_policy::Command::Shell).collect();
        let freedoms =
            commands.first().map(|command| self.sandbox.freedoms(&given, site.folder, command)).transpose()?;
        Ok(commands.into_iter().map(Request::Command).chain(freedoms.unwrap_or_default()).collect())
    }

    fn account(&self, record: &RunRecord, _: &EvidenceStore) -> Option<Account> {
        Some(accounted::account(record).unwrap_or_default())
    }

    fn start(&self, attempt: Attempt) -> Ending {
        let this = self.clone();
        Box::pin(async move { this.run(attempt).await.unwrap_or_else(|error| error) })
    }
}
