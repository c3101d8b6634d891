//! `verify.run`: decides if the changes of a turn are verified, by exit codes on the exact tree.
//!
//! The commands are those of the project, as they were when the turn began, those that the project has gained since, and
//! those of the plan: a plan adds commands and removes none. They count only if they leave the tree as it was; if they
//! changed it, they run once more on the new tree. A broken environment is not a failure of the change: the turn is then
//! unverified, and so is one whose plan does not require verification, or that redefined a command of the project.

use std::time::Duration;

use interlock_activity::{
    Activity, Arguments, Attempt, EffectClass, Ending, Outcome, code,
    report::{Account, RunRecord},
    schema,
};
use interlock_chart::{Value, model::Schema};
use interlock_journal::{Evidence, EvidenceStore};
use interlock_process::{self as program, FIELDS, Sandbox};
use interlock_project::Command;
use interlock_verification::{CommandRun, Finding, environment_fault};
use interlock_workspace::Workspace;
use serde::Deserialize;
use serde_json::{Value as Json, json};

use crate::{accounted::account, blocking, value};

const KNOWN: [&str; 5] = ["plan", "commands", "base", "timeout_s", "granted"];

/// The longest time of one command, if the machine sets none.
const COMMAND_TIMEOUT: Duration = Duration::from_secs(15 * 60);

/// The most characters of a log in the outcome; the whole log is evidence.
const LOG_CHARS_MAX: usize = 3_000;

/// The part of a plan that says how it is verified.
#[derive(Clone, Debug, Deserialize)]
#[serde(default)]
struct VerificationPolicy {
    commands: Vec<String>,
    required: bool,
    stop_on_fail: bool,
}

impl Default for VerificationPolicy {
    fn default() -> Self {
        VerificationPolicy { commands: Vec::new(), required: true, stop_on_fail: true }
    }
}

/// Verifies the changes of a turn.
#[derive(Clone, Debug)]
pub struct VerifyRun {
    workspace: Workspace,
    sandbox: Sandbox,
}

/// The parsed input of an attempt.
struct Order {
    policy: VerificationPolicy,
    /// The commands of the project when the turn began.
    own: Vec<Command>,
    base: Option<String>,
    timeout: Duration,
}

/// The commands of one pass.
#[derive(Default)]
struct Pass {
    runs: Vec<CommandRun>,
    evidence: Vec<Evidence>,
}

impl VerifyRun {
    /// Creates the activity. `workspace` keeps and hashes the tree, and `sandbox` confines the commands.
    pub fn new(workspace: Workspace, sandbox: Sandbox) -> Self {
        VerifyRun { workspace, sandbox }
    }

    async fn run(self, attempt: Attempt) -> Result<Outcome, Outcome> {
        let order = Order::read(&attempt)?;
        let mut tree = self.tree(&attempt).await?;
        let is_changed = order.base.as_ref() != Some(&tree);
        let (lines, redefined) = order.lines(&attempt, is_changed).await?;
        if lines.is_empty() {
            return Ok(match is_changed {
                true => unverified("the project has no command that verifies it, and the plan names none", &[]),
                false => Outcome::signal("nothing_changed", Value::map::<&str>([])),
            });
        }
        for _ in 0..2 {
            let pass = self.pass(&attempt, &order, &lines).await?;
            if let Some(failed) = pass.runs.iter().find(|run| run.exit_code != 0) {
                return Ok(order.failed(failed, &pass, &tree).with(pass.evidence));
            }
            let after = self.tree(&attempt).await?;
            if after == tree {
                return Ok(passed(&order, &pass, &tree, is_changed, &redefined).with(pass.evidence));
            }
            tree = after;
        }
        Ok(unverified("the commands change the files that they verify; ignore these files in git", &[]))
    }

    /// Runs the commands, until one fails if the plan says so.
    async fn pass(&self, attempt: &Attempt, order: &Order, lines: &[String]) -> Result<Pass, Outcome> {
        let given = Arguments::new(&attempt.with, &[&KNOWN[..], &FIELDS].concat())?;
        let rules = self.sandbox.rules(&given, attempt)?;
        let mut pass = Pass::default();
        for line in lines {
            let run =
                interlock_verification::run(attempt, &self.sandbox, rules.clone(), line, order.timeout, classify).await;
            let run = run.map_err(|stopped| stopped.with(std::mem::take(&mut pass.evidence)))?;
            pass.evidence.extend(run.evidence.iter().cloned());
            let is_last = run.exit_code != 0 && order.policy.stop_on_fail;
            pass.runs.push(run);
            if is_last {
                break;
            }
        }
        Ok(pass)
    }

    async fn tree(&self, attempt: &Attempt) -> Result<String, Outcome> {
        let (workspace, folder, run) = (self.workspace.clone(), attempt.folder.clone(), attempt.run.clone());
        blocking(move || {
            let taken = workspace.take_tree(&folder, &run);
            taken.map(|(_, tree)| tree).map_err(|error| Outcome::error(code::FAILED, error.to_string()))
        })
        .await
    }
}

impl Order {
    fn read(attempt: &Attempt) -> Result<Self, Outcome> {
        let given = Arguments::new(&attempt.with, &[&KNOWN[..], &FIELDS].concat())?;
        let bad = |name: &str, error: serde_json::Error| {
            Outcome::error(code::BAD_INPUT, format!("`with.{name}` does not fit: {error}"))
        };
        let policy = given.value("plan").and_then(|plan| plan.get("verification")).filter(|said| **said != Value::Null);
        let policy = policy.map(|policy| serde_json::from_value(Json::from(policy))).transpose();
        let own = given.value("commands").map(|own| serde_json::from_value(Json::from(own))).transpose();
        Ok(Order {
            policy: policy.map_err(|error| bad("plan.verification", error))?.unwrap_or_default(),
            own: own.map_err(|error| bad("commands", error))?.unwrap_or_default(),
            base: given.text("base")?.filter(|base| !base.is_empty()).map(str::to_owned),
            timeout: given.seconds("timeout_s")?.unwrap_or(COMMAND_TIMEOUT),
        })
    }

    /// Returns the command lines, and the commands of the project that the turn has redefined. A turn that changed
    /// nothing needs only the commands that its plan names.
    async fn lines(&self, attempt: &Attempt, is_changed: bool) -> Result<(Vec<String>, Vec<String>), Outcome> {
        let (own, folder) = (self.own.clone(), attempt.folder.clone());
        let (now, redefined) = blocking(move || {
            let redefined = interlock_project::redefined(&own, &folder);
            let mut redefined: Vec<String> = redefined.iter().map(|(command, _)| command.command.clone()).collect();
            redefined.dedup();
            Ok((interlock_project::detect(&folder).commands, redefined))
        })
        .await?;
        let mut lines: Vec<String> = Vec::new();
        let of_project = self.own.iter().chain(&now).map(|command| command.command.clone()).filter(|_| is_changed);
        for line in of_project.chain(self.policy.commands.iter().map(|line| line.trim().to_owned())) {
            if !line.is_empty() && !lines.contains(&line) {
                lines.push(line);
            }
        }
        Ok((lines, redefined))
    }

    /// Returns the outcome of a pass with a failed command.
    fn failed(&self, failed: &CommandRun, pass: &Pass, tree: &str) -> Outcome {
        let CommandRun { command, exit_code, log, .. } = failed;
        if let Some(cause) = environment_fault(*exit_code, log) {
            return unverified(&format!("`{command}`: {cause}"), &pass.runs);
        }
        let message = format!("`{command}` failed with exit code {exit_code}: {}", log.summary());
        if !self.policy.required {
            return unverified(&format!("{message}; the plan does not require it to pass"), &pass.runs);
        }
        let place = |place: &interlock_verification::Place| json!({ "file": place.file, "line": place.line, "message": place.message });
        let places: Vec<Json> = log.places().iter().map(place).collect();
        let data = [
            ("code", Value::from("E_BUILD_FAIL")),
            ("message", Value::from(message)),
            ("commands", told(&pass.runs)),
            ("failing", value(&log.failing)),
            ("places", value(&places)),
            ("log", Value::from(log.end(LOG_CHARS_MAX))),
            ("log_evidence", value(&log.evidence)),
            ("tree", Value::from(tree)),
        ];
        Outcome::signal("verify_fail", Value::map(data))
    }
}

fn passed(order: &Order, pass: &Pass, tree: &str, is_changed: bool, redefined: &[String]) -> Outcome {
    if !redefined.is_empty() {
        let why = format!("the turn changed what `{}` does", redefined.join("`, `"));
        return unverified(&why, &pass.runs);
    }
    let data = [
        ("commands", told(&pass.runs)),
        ("tree", Value::from(tree)),
        ("base", Value::from(order.base.clone().unwrap_or_default())),
        ("changed", Value::from(is_changed)),
    ];
    Outcome::signal("verify_pass", Value::map(data))
}

fn unverified(reason: &str, runs: &[CommandRun]) -> Outcome {
    Outcome::signal("verify_none", Value::map([("reason", Value::from(reason)), ("commands", told(runs))]))
}

/// Finds failures in a log by the built-in rules.
fn classify(text: &str) -> Vec<Finding> {
    let found = interlock_judge::rules::classify(text).into_iter();
    found.map(|found| Finding { cause: found.cause, file: found.file, line: found.line }).collect()
}

/// Lists the commands with their exit codes.
fn told(runs: &[CommandRun]) -> Value {
    let told = |run: &CommandRun| {
        let mut told = json!({ "command": run.command, "exit_code": run.exit_code, "took_ms": run.took_ms });
        if run.exit_code != 0 {
            told["summary"] = json!(run.log.summary());
        }
        told
    };
    value(&runs.iter().map(told).collect::<Vec<Json>>())
}

impl Activity for VerifyRun {
    fn name(&self) -> &str {
        "verify.run"
    }

    fn summary(&self) -> &str {
        "Runs the commands of the project and of the plan; they count only if they leave the tree as it was."
    }

    fn effect(&self) -> EffectClass {
        EffectClass::Write
    }

    fn signals(&self) -> &[&str] {
        &["verify_pass", "verify_none", "verify_fail", "nothing_changed"]
    }

    fn schema(&self) -> Schema {
        let fields = schema::fields([
            ("plan", schema::object()),
            ("commands", schema::list(schema::any())),
            ("base", schema::text()),
            ("timeout_s", schema::number()),
            ("granted", schema::list(schema::any())),
        ]);
        schema::also(fields, &program::schema())
    }

    fn account(&self, record: &RunRecord, _: &EvidenceStore) -> Option<Account> {
        Some(account(record).unwrap_or_default())
    }

    fn start(&self, attempt: Attempt) -> Ending {
        let this = self.clone();
        Box::pin(async move { this.run(attempt).await.unwrap_or_else(|error| error) })
    }
}
