//! `project.try`: runs the commands that will check the work on the files as they are, before anybody is paid for work.
//!
//! Only a missing program counts: the commands may fail, and there may be no tests yet. The verification compares with the
//! same run later, so it is made once.

use std::{path::Path, time::Duration};

use interlock_activity::{
    Activity, Arguments, Attempt, EffectClass, Ending, Outcome, Requests, Signal, Site,
    report::{Account, RunRecord, Worker},
    schema,
};
use interlock_chart::{Value, model::Schema};
use interlock_journal::EvidenceStore;
use interlock_policy::Request;
use interlock_process::Sandbox;
use interlock_project::{Command, Kind, detect};
use interlock_verification::{Becomes, Question, Room};
use interlock_workspace::Workspace;

use super::Installed;
use crate::workspace::failed;

const KNOWN: [&str; 2] = ["commands", "timeout_s"];

/// The longest time of one command, as in `project.verify`.
const COMMAND_TIMEOUT: Duration = Duration::from_secs(15 * 60);

/// Commands that often do the work of a missing program.
const ALTERNATIVES: [(&str, &str); 3] =
    [("tox", "python3 -m pytest"), ("nox", "python3 -m pytest"), ("pytest", "python3 -m unittest discover")];

/// Tries the commands of a project.
#[derive(Clone, Debug)]
pub struct ProjectTry(Workspace, Sandbox);

impl ProjectTry {
    /// Creates the activity. `workspace` keeps the tree, and `sandbox` confines the commands.
    pub fn new(workspace: Workspace, sandbox: Sandbox) -> Self {
        ProjectTry(workspace, sandbox)
    }

    async fn run(self, attempt: Attempt) -> Result<Outcome, Outcome> {
        let given = Arguments::new(&attempt.with, &KNOWN)?;
        let lines = lines(&given);
        let timeout = given.seconds("timeout_s")?.unwrap_or(COMMAND_TIMEOUT);
        let rules = self.1.rules(&given, &attempt)?;
        let (workspace, folder, run) = (self.0.clone(), attempt.folder.clone(), attempt.run.clone());
        let taken = tokio::task::spawn_blocking(move || workspace.take_tree(&folder, &run)).await;
        let (_, tree) = taken.map_err(|error| broken(&error))?.map_err(|error| failed(&error))?;
        let room = Room { attempt: &attempt, workspace: &self.0, sandbox: &self.1, rules };
        let (signal, summary) = match missing(&room, lines, &tree, timeout).await? {
            Some(summary) => (MISSING, summary),
            None => (TRIED, "every program of the commands is installed".to_owned()),
        };
        Ok(signal.outcome(Value::map([("summary", Value::from(summary))])))
    }
}

fn broken(error: &tokio::task::JoinError) -> Outcome {
    Outcome::error(interlock_activity::code::FAILED, error.to_string())
}

/// Returns the command lines. They have the form that `prd.check` gives them.
fn lines(given: &Arguments<'_>) -> Vec<String> {
    let commands = given.value("commands").map(serde_json::Value::from).unwrap_or_default();
    let lines = commands.as_array().into_iter().flatten().filter_map(|command| command["command"].as_str());
    lines.map(str::to_owned).collect()
}

/// Runs the lines as one check on a tree. Says which program is missing, and what is installed in its place.
pub(super) async fn missing(
    room: &Room<'_>,
    lines: Vec<String>,
    tree: &str,
    timeout: Duration,
) -> Result<Option<String>, Outcome> {
    if lines.is_empty() {
        return Ok(None);
    }
    let question = Question {
        lines: lines.clone(),
        base: tree.to_owned(),
        tree: tree.to_owned(),
        becomes: Becomes::Workspace,
        timeout,
        accepted: Vec::new(),
    };
    let Some(cause) = room.missing_program(&question).await? else { return Ok(None) };
    let (folder, said) = (room.attempt.folder.clone(), cause.clone());
    let tried = lines.clone();
    let others = tokio::task::spawn_blocking(move || alternatives(&said, &tried, &folder)).await;
    let others = others.map_err(|error| broken(&error))?;
    let installed = Installed::ask(room, &others).await?;
    let instead = others.iter().find(|line| installed.has(line, &room.attempt.folder));
    let hint = instead.map(|instead| format!("; `{instead}` is installed")).unwrap_or_default();
    Ok(Some(format!("`{}` cannot run: {cause}. Install it, or name another command{hint}", lines.join(" && "))))
}

/// Returns the known commands that check the same. May block.
fn alternatives(cause: &str, tried: &[String], folder: &Path) -> Vec<String> {
    let found = detect(folder).commands.into_iter().filter(|command| command.kind == Kind::Test);
    let found = found.flat_map(|command: Command| [Some(command.command), command.instead]).flatten();
    let of_table = ALTERNATIVES.iter().filter(|(program, _)| cause.split(' ').any(|word| word == *program));
    let all = found.chain(of_table.map(|(_, instead)| (*instead).to_owned()));
    all.filter(|line| !tried.contains(line)).collect()
}

const TRIED: Signal = Signal::new("commands_tried", said);
const MISSING: Signal = Signal::new("program_missing", said);

fn said() -> Schema {
    schema::fields([("summary", schema::text())])
}

impl Activity for ProjectTry {
    fn name(&self) -> &str {
        "project.try"
    }

    fn summary(&self) -> &str {
        "Runs the commands that will check the work on the files as they are, to find missing programs."
    }

    fn effect(&self) -> EffectClass {
        EffectClass::Read
    }

    fn signals(&self) -> &[Signal] {
        &[TRIED, MISSING]
    }

    fn schema(&self) -> Schema {
        schema::fields([("commands", schema::list(schema::any())), ("timeout_s", schema::number())])
    }

    fn requests(&self, site: &Site<'_>) -> Requests {
        let lines = lines(&Arguments::new(site.with, &KNOWN)?).into_iter();
        Ok(lines.map(|line| Request::Command(interlock_policy::Command::Shell(line))).collect())
    }

    fn account(&self, _: &RunRecord, _: &EvidenceStore) -> Option<Account> {
        Some(Account { worker: Worker::Programs, ..Account::default() })
    }

    fn start(&self, attempt: Attempt) -> Ending {
        let this = self.clone();
        Box::pin(async move { this.run(attempt).await.unwrap_or_else(|error| error) })
    }
}
