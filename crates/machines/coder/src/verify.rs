//! `verify.run`: decides if the change of a turn is verified, by exit codes on the exact tree.
//!
//! The change is what the turn's own tools and commands did (`change.rs`): files of a person and products of checks are no
//! change. The commands are those of the project, as they were when the turn began, those that the project has gained
//! since, and those of the plan: a plan adds commands and removes none. They run in the verification room, on the tree that
//! the turn began with and its change, without what anybody else has done meanwhile. Before a commit they run once more, on
//! the tree of that commit: uncommitted work from before the turn is not in it.
//!
//! `judged` is the one place that calls a change verified. A broken environment is not a failure of the change: the turn is
//! then unverified, and so is one whose plan does not require verification, whose green checks prove nothing about the
//! change, whose plan announces files or commands that are missing, or that only commands of its own plan have checked while nobody saw the plan.

use std::{
    collections::BTreeSet,
    path::{Path, PathBuf},
    time::Duration,
};

use interlock_activity::{
    Activity, Arguments, Attempt, EffectClass, Ending, Outcome, Requests, Signal, Site, code,
    report::{Account, RunRecord},
    schema,
};
use interlock_chart::{Value, counted, model::Schema};
use interlock_journal::{Evidence, EvidenceStore};
use interlock_policy::Request;
use interlock_process::{self as program, FIELDS, Sandbox};
use interlock_project::Command;
use interlock_verification::{Becomes, CommandRun, Question, Room, Verdict, Warning, asked_files, environment_fault};
use interlock_workspace::Workspace;
use serde::Deserialize;
use serde_json::{Value as Json, json};

use crate::{
    accounted::account,
    asking::may_ask_for_change,
    blocking,
    change::{Trees, TurnChange},
    record::TurnRecord,
    value,
};

/// `answer` comes from machines of older versions.
const KNOWN: [&str; 12] = [
    "plan",
    "commands",
    "base",
    "timeout_s",
    "granted",
    "message",
    "answer",
    "waived",
    "unattended",
    "branch",
    "change",
    "ran",
];

/// The longest time of one command, if the machine sets none.
const COMMAND_TIMEOUT: Duration = Duration::from_secs(15 * 60);

/// The most characters of a log in the outcome; the whole log is evidence.
const LOG_CHARS_MAX: usize = 3_000;

/// The part of a plan that says how it is verified.
#[derive(Clone, Debug, Deserialize)]
#[serde(default)]
pub(crate) struct VerificationPolicy {
    pub(crate) commands: Vec<String>,
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
#[derive(Clone)]
struct Order {
    policy: VerificationPolicy,
    /// The commands of the project when the turn began.
    own: Vec<Command>,
    /// The files that the steps of the plan leave behind.
    artifacts: Vec<String>,
    /// The commands that the steps of the plan promise to run.
    promised: Vec<String>,
    base: String,
    timeout: Duration,
    message: String,
    is_waived: bool,
    is_unattended: bool,
    /// The commit to verify, if the turn is verified already.
    commit: Option<TurnCommit>,
}

/// A commit of a verified turn that is to be made.
#[derive(Clone)]
struct TurnCommit {
    branch: String,
    /// The tree that the turn began with, with the change of the turn.
    change: String,
    /// The commands that verified the turn.
    lines: Vec<String>,
}

/// The commands that apply.
struct Checks {
    lines: Vec<String>,
    /// True if one of the lines is of the project and not only of the plan.
    has_own: bool,
}

/// The commands that ran, and what passing proves.
struct Pass {
    runs: Vec<CommandRun>,
    objections: Vec<String>,
    warnings: Vec<Warning>,
    shown: String,
}

impl Pass {
    /// Returns the reasons why passing proves nothing, if there are any.
    fn doubt(&self) -> Option<String> {
        let warnings: Vec<String> = self.warnings.iter().map(|warning| warning.text.clone()).collect();
        [&self.objections, &warnings].into_iter().find(|said| !said.is_empty()).map(|said| said.join("; "))
    }
}

impl VerifyRun {
    /// Creates the activity. `workspace` keeps and hashes the tree, and `sandbox` confines the commands.
    pub fn new(workspace: Workspace, sandbox: Sandbox) -> Self {
        VerifyRun { workspace, sandbox }
    }

    async fn run(self, attempt: Attempt) -> Result<Outcome, Outcome> {
        let order = Order::read(&attempt.with)?;
        if let Some(commit) = order.commit.clone() {
            return self.verify_commit(&attempt, &order, commit).await;
        }
        let first = self.tree(&attempt).await?;
        let checks = order.checks(&attempt).await?;
        let record = self.record(&attempt).await?;
        let change = self.change(&attempt, &order, &checks, &record, (&first, &first)).await?;
        if change.files.is_empty() {
            return Ok(order.nothing_changed(&record));
        }
        if order.is_waived {
            return Ok(unverified("the person waived the verification", &[]));
        }
        if checks.lines.is_empty() {
            return Ok(unverified("the project has no command that verifies it, and the plan names none", &[]));
        }
        let (pass, evidence) = self.pass(&attempt, &order, &checks.lines, (&change.tree, Becomes::Workspace)).await?;
        if let Some(failed) = pass.runs.iter().find(|run| run.exit_code != 0) {
            return Ok(order.failed(failed, &pass, &change.tree).with(evidence));
        }
        let root = self.workspace.root(&attempt.folder).map_err(failed)?;
        Ok(order.judged(&checks, &pass, (&change, &record), &root).with(evidence))
    }

    /// Runs the commands that verified a turn on exactly the tree that its commit will have.
    async fn verify_commit(&self, attempt: &Attempt, order: &Order, commit: TurnCommit) -> Result<Outcome, Outcome> {
        let TurnCommit { branch, change, lines } = commit;
        let becomes = Becomes::Commit(Some(branch));
        let (pass, evidence) = self.pass(attempt, order, &lines, (&change, becomes)).await?;
        let outcome = match (pass.runs.iter().find(|run| run.exit_code != 0), pass.doubt()) {
            (Some(failed), _) => order.failed(failed, &pass, &change),
            (None, Some(why)) => unverified(&why, &pass.runs),
            (None, None) => order.passed(&pass, &change),
        };
        Ok(outcome.with(evidence))
    }

    /// Runs the commands in the verification room, on a stored tree. Returns the pass with its evidence.
    async fn pass(
        &self,
        attempt: &Attempt,
        order: &Order,
        lines: &[String],
        (tree, becomes): (&str, Becomes),
    ) -> Result<(Pass, Vec<Evidence>), Outcome> {
        let given = Arguments::new(&attempt.with, &[&KNOWN[..], &FIELDS].concat())?;
        let question = Question {
            lines: lines.to_vec(),
            base: order.base.clone(),
            tree: tree.to_owned(),
            becomes,
            timeout: order.timeout,
            accepted: Vec::new(),
        };
        let (workspace, sandbox, rules) = (&self.workspace, &self.sandbox, self.sandbox.rules(&given, attempt)?);
        let verdict = Room { attempt, workspace, sandbox, rules }.verify(&question).await?;
        let Verdict { objections, warnings, runs, shown, evidence, .. } = verdict;
        Ok((Pass { runs, objections, warnings, shown }, evidence))
    }

    async fn tree(&self, attempt: &Attempt) -> Result<String, Outcome> {
        let (workspace, folder, run) = (self.workspace.clone(), attempt.folder.clone(), attempt.run.clone());
        blocking(move || workspace.take_tree(&folder, &run).map(|(_, tree)| tree).map_err(failed)).await
    }

    async fn record(&self, attempt: &Attempt) -> Result<TurnRecord, Outcome> {
        let attempt = attempt.clone();
        blocking(move || TurnRecord::read(&attempt)).await
    }

    /// Returns the change of the turn between its base and the tree `now`. The commands here have changed `first` into it.
    async fn change(
        &self,
        attempt: &Attempt,
        order: &Order,
        checks: &Checks,
        record: &TurnRecord,
        (first, now): (&str, &str),
    ) -> Result<TurnChange, Outcome> {
        let (workspace, attempt, record) = (self.workspace.clone(), attempt.clone(), record.clone());
        let (base, lines) = (order.base.clone(), checks.lines.clone());
        let (first, now) = (first.to_owned(), now.to_owned());
        blocking(move || {
            let checked = match first == now {
                true => BTreeSet::new(),
                false => {
                    let changed = workspace.changes_between(&attempt.folder, &first, &now).map_err(failed)?;
                    changed.into_iter().map(|change| change.path).collect()
                }
            };
            let trees = Trees { base: &base, now: &now, checks: &lines, checked };
            TurnChange::find(&workspace, &attempt, &record, trees)
        })
        .await
    }
}

fn failed(error: interlock_workspace::Error) -> Outcome {
    Outcome::error(code::FAILED, error.to_string())
}

impl Order {
    fn read(with: &Value) -> Result<Self, Outcome> {
        let given = Arguments::new(with, &[&KNOWN[..], &FIELDS].concat())?;
        let bad = |name: &str, error: serde_json::Error| {
            Outcome::error(code::BAD_INPUT, format!("`with.{name}` does not fit: {error}"))
        };
        let plan = given.value("plan").map(Json::from).unwrap_or_default();
        let own = given.value("commands").map(|own| serde_json::from_value(Json::from(own))).transpose();
        let text = |name: &str| Ok::<_, Outcome>(given.text(name)?.unwrap_or_default().to_owned());
        Ok(Order {
            policy: policy_of(&plan).map_err(|error| bad("plan.verification", error))?,
            own: own.map_err(|error| bad("commands", error))?.unwrap_or_default(),
            artifacts: artifacts(&plan),
            promised: promised(&plan),
            base: text("base")?,
            timeout: given.seconds("timeout_s")?.unwrap_or(COMMAND_TIMEOUT),
            message: text("message")?,
            is_waived: given.value("waived") == Some(&Value::Bool(true)),
            is_unattended: given.value("unattended") == Some(&Value::Bool(true)),
            commit: commit(&given)?,
        })
    }

    /// Returns the command lines that apply.
    async fn checks(&self, attempt: &Attempt) -> Result<Checks, Outcome> {
        let (this, folder) = (self.clone(), attempt.folder.clone());
        blocking(move || Ok(this.checks_in(&folder))).await
    }

    /// Returns the command lines that apply in a directory. May block.
    fn checks_in(&self, folder: &Path) -> Checks {
        if let Some(commit) = &self.commit {
            return Checks { lines: commit.lines.clone(), has_own: true };
        }
        let now = interlock_project::detect(folder).commands;
        let of_project = self.own.iter().chain(&now).map(|command| command.command.clone());
        let lines = distinct(of_project.chain(self.policy.commands.iter().cloned()));
        Checks { lines, has_own: !(self.own.is_empty() && now.is_empty()) }
    }

    /// Returns the outcome of a turn that changed nothing.
    fn nothing_changed(&self, record: &TurnRecord) -> Outcome {
        let (refused, failed) = (record.refused().len(), record.failed_writes());
        let mut reason = "nothing was changed, though a change was asked for".to_owned();
        for (count, one, many) in
            [(refused, "call was refused", "calls were refused"), (failed, "edit failed", "edits failed")]
        {
            if count > 0 {
                reason.push_str(&format!("; {}", counted(count, one, many)));
            }
        }
        let claimed = may_ask_for_change(&self.message);
        Outcome::signal(
            "nothing_changed",
            Value::map([("claimed", Value::from(claimed)), ("reason", Value::from(reason))]),
        )
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
            ("commands", told(&pass.runs, "")),
            ("failing", value(&log.failing)),
            ("places", value(&places)),
            ("log", Value::from(log.end(LOG_CHARS_MAX))),
            ("log_evidence", value(&log.evidence)),
            ("tree", Value::from(tree)),
        ];
        Outcome::signal("verify_fail", Value::map(data))
    }

    /// Returns what the request asks for by name and the change does not do.
    fn lacks(&self, change: &TurnChange) -> Vec<String> {
        let with = |is_there: bool| {
            change.files.iter().filter(move |file| file.after.is_some() == is_there).map(|file| file.path.as_path())
        };
        asked_files(&self.message).missing(with(true), with(false))
    }

    /// Returns what the plan announces and the turn has not done: files that it did not change, and commands that have not
    /// passed on the changed files. A file that existed before, or a command that ran before the last change, shows nothing.
    fn unmet(&self, pass: &Pass, change: &TurnChange, record: &TurnRecord, root: &Path) -> Vec<String> {
        let is_missing = |path: &&String| root.join(path).symlink_metadata().is_err();
        let missing: Vec<&String> = self.artifacts.iter().filter(is_missing).collect();
        let unchanged = unchanged(&self.artifacts, change);
        let unchanged = unchanged.into_iter().filter(|path| missing.iter().all(|missing| missing != path));
        let paths: BTreeSet<&Path> = change.files.iter().map(|file| file.path.as_path()).collect();
        let has_passed = |line: &String| {
            let is_check = pass.runs.iter().any(|run| run.command == *line && run.exit_code == 0);
            is_check || record.has_passed_since(line, &paths)
        };
        let mut unmet: Vec<String> =
            missing.iter().map(|path| format!("the plan announces `{path}`, which does not exist")).collect();
        unmet.extend(
            unchanged.map(|path| format!("the plan announces `{path}`, and nothing shows that this turn changed it")),
        );
        unmet.extend(self.promised.iter().filter(|line| !has_passed(line)).map(|line| {
            format!("the plan announces the command `{line}`, which has not passed after the last change")
        }));
        unmet
    }

    /// Decides if a change on which all commands passed is verified.
    fn judged(
        &self,
        checks: &Checks,
        pass: &Pass,
        (change, record): (&TurnChange, &TurnRecord),
        root: &Path,
    ) -> Outcome {
        let unmet = self.unmet(pass, change, record, root);
        let objection = match () {
            () if change.files.is_empty() => Some("the checks have taken the change of the turn back".to_owned()),
            () if pass.doubt().is_some() => pass.doubt(),
            () if self.is_unattended && !checks.has_own => {
                Some("only commands ran that the plan itself chose, and nobody saw the plan".to_owned())
            }
            () if !unmet.is_empty() => Some(unmet.join("; ")),
            () => Some(self.lacks(change).join("; ")).filter(|lacks| !lacks.is_empty()),
        };
        if let Some(why) = objection {
            return unverified(&why, &pass.runs);
        }
        self.passed(pass, &change.tree)
    }

    /// Returns the outcome of a pass that verifies a change, which is this tree.
    fn passed(&self, pass: &Pass, tree: &str) -> Outcome {
        let data = [
            ("commands", told(&pass.runs, &pass.shown)),
            ("shown", Value::from(pass.shown.as_str())),
            ("tree", Value::from(tree)),
            ("base", Value::from(self.base.clone())),
            ("change", Value::from(tree)),
        ];
        Outcome::signal("verify_pass", Value::map(data))
    }
}

/// Returns the commit to verify, if the machine names its branch.
fn commit(given: &Arguments<'_>) -> Result<Option<TurnCommit>, Outcome> {
    let Some(branch) = given.text("branch")?.map(str::to_owned) else { return Ok(None) };
    let ran = given.value("ran").map(Json::from).unwrap_or_default();
    let lines = ran.as_array().into_iter().flatten().filter_map(|run| run["command"].as_str().map(str::to_owned));
    Ok(Some(TurnCommit { branch, change: given.need_text("change")?.to_owned(), lines: distinct(lines) }))
}

/// Returns the part of a plan that says how it is verified.
pub(crate) fn policy_of(plan: &Json) -> Result<VerificationPolicy, serde_json::Error> {
    match &plan["verification"] {
        Json::Null => Ok(VerificationPolicy::default()),
        policy => serde_json::from_value(policy.clone()),
    }
}

/// Returns the command lines in order, each once.
pub(crate) fn distinct(lines: impl IntoIterator<Item = String>) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    for line in lines.into_iter().map(|line| line.trim().to_owned()) {
        if !line.is_empty() && !found.contains(&line) {
            found.push(line);
        }
    }
    found
}

/// Returns the files that the plan's steps leave behind, except those of steps that were left out and those that the plan
/// deletes.
pub(crate) fn artifacts(plan: &Json) -> Vec<String> {
    let list = |of: &Json, name: &str| of[name].as_array().cloned().unwrap_or_default();
    let text = |of: &Json, name: &str| of[name].as_str().unwrap_or_default().to_owned();
    let steps = list(plan, "steps");
    let kept = || steps.iter().filter(|step| !["blocked", "skipped"].contains(&text(step, "status").as_str()));
    let calls = kept().flat_map(|step| list(step, "tool_calls"));
    let deleted: Vec<String> =
        calls.filter(|call| text(call, "name") == "delete_file").map(|call| text(&call["args_hint"], "path")).collect();
    let files = kept().flat_map(|step| list(step, "expected_artifacts"));
    let files = files.filter(|artifact| text(artifact, "type") == "file").map(|artifact| text(&artifact, "value"));
    let is_plain = |path: &String| !path.is_empty() && !path.contains(['*', '?']);
    distinct(files.filter(|path| is_plain(path) && !deleted.contains(path)))
}

/// Returns the commands that the plan's steps promise to run, except those of steps that were left out.
fn promised(plan: &Json) -> Vec<String> {
    let steps = plan["steps"].as_array().into_iter().flatten();
    let kept = steps.filter(|step| !["blocked", "skipped"].contains(&step["status"].as_str().unwrap_or_default()));
    let announced = kept.flat_map(|step| step["expected_artifacts"].as_array().into_iter().flatten());
    let commands = announced.filter(|artifact| artifact["type"] == "command");
    distinct(commands.filter_map(|artifact| artifact["value"].as_str().map(str::to_owned)))
}

/// Returns the announced paths that the turn has not changed.
pub(crate) fn unchanged<'a>(announced: &'a [String], change: &TurnChange) -> Vec<&'a str> {
    let is_changed = |path: &str| {
        let path: PathBuf = Path::new(path).components().filter(|part| *part != std::path::Component::CurDir).collect();
        change.files.iter().any(|file| file.path.starts_with(&path))
    };
    announced.iter().map(String::as_str).filter(|path| !is_changed(path)).collect()
}

fn unverified(reason: &str, runs: &[CommandRun]) -> Outcome {
    Outcome::signal("verify_none", Value::map([("reason", Value::from(reason)), ("commands", told(runs, ""))]))
}

/// Lists the commands with their exit codes and what was shown with them.
fn told(runs: &[CommandRun], shown: &str) -> Value {
    let told = |run: &CommandRun| {
        let mut told = json!({
            "command": run.command, "exit_code": run.exit_code, "took_ms": run.took_ms, "by": "verification",
        });
        if let Some((passed, failed)) = run.log.counts() {
            (told["passed"], told["failed"]) = (json!(passed), json!(failed));
        }
        if run.exit_code != 0 {
            told["summary"] = json!(run.log.summary());
        }
        if !shown.is_empty() {
            told["shown"] = json!(shown);
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

    fn signals(&self) -> &[Signal] {
        const {
            &[
                Signal::open("verify_pass"),
                Signal::open("verify_none"),
                Signal::open("verify_fail"),
                Signal::open("nothing_changed"),
            ]
        }
    }

    fn schema(&self) -> Schema {
        let fields = schema::fields([
            ("plan", schema::object()),
            ("commands", schema::list(schema::any())),
            ("base", schema::text()),
            ("timeout_s", schema::number()),
            ("granted", schema::list(schema::any())),
            ("message", schema::text()),
            ("answer", schema::text()),
            ("waived", schema::flag()),
            ("unattended", schema::flag()),
            ("branch", schema::text()),
            ("change", schema::text()),
            ("ran", schema::list(schema::any())),
        ]);
        schema::also(fields, &program::schema())
    }

    fn requests(&self, site: &Site<'_>) -> Requests {
        let given = Arguments::new(site.with, &[&KNOWN[..], &FIELDS].concat())?;
        let lines = Order::read(site.with)?.checks_in(site.folder).lines;
        let commands: Vec<_> = lines.into_iter().map(interlock_policy::Command::Shell).collect();
        let freedoms =
            commands.first().map(|command| self.sandbox.freedoms(&given, site.folder, command)).transpose()?;
        Ok(commands.into_iter().map(Request::Command).chain(freedoms.unwrap_or_default()).collect())
    }

    fn account(&self, record: &RunRecord, _: &EvidenceStore) -> Option<Account> {
        Some(account(record).unwrap_or_default())
    }

    fn start(&self, attempt: Attempt) -> Ending {
        let this = self.clone();
        Box::pin(async move { this.run(attempt).await.unwrap_or_else(|error| error) })
    }
}
