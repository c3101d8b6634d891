//! `project.detect`: determines the commands that check a project, and fixes them for the run.
//!
//! A command that the machine gives is used as it is. A missing one is detected from the project's files
//! (`crates/world/project`). If policy allows the commands, they are tried on the files as they are.

mod installed;
mod story;
mod trying;

use std::path::Path;

use interlock_activity::{
    Activity, Arguments, Attempt, EffectClass, Ending, Outcome, Requests, Signal, Site, code,
    report::{RecordedRun, Story},
    schema,
};
use interlock_chart::{Value, model::Schema};
use interlock_process::Sandbox;
use interlock_project::{CONFIGURED, Command, Kind, detect};
use interlock_verification::Room;
use interlock_workspace::Workspace;
use serde_json::json;

use crate::{
    command::VERIFY_TIMEOUT,
    policy::{CONFIRMATION_NEEDED, Gate},
    workspace::failed,
};

use installed::Installed;
pub use trying::ProjectTry;

const KNOWN: [&str; 2] = ["lint", "test"];

/// The code of an error: a program that a check needs is not installed.
const COMMAND_MISSING: &str = "COMMAND_MISSING";

/// The code of an error: the folder is in no git repository, so a run that ends with a commit cannot succeed.
const NO_REPOSITORY: &str = "NO_REPOSITORY";

/// The command of a missing check: it always passes.
pub(crate) const NOTHING: &str = "true";

/// Determines the check commands of a project.
#[derive(Clone, Debug)]
pub struct ProjectDetect(Workspace, Gate, Sandbox);

/// The checks of a run, and the tree that it begins with.
struct Detected {
    signal: Signal,
    data: serde_json::Value,
    /// The command lines that may run, each of them a check.
    lines: Vec<String>,
    tree: String,
}

/// Returns the lines of commands, and of those that can run instead.
fn lines(commands: &[Command]) -> Vec<String> {
    let both = commands.iter().flat_map(|command| [Some(command.command.clone()), command.instead.clone()]);
    both.flatten().collect()
}

/// One check of a run: its command line, and the commands that it consists of.
struct Check {
    line: Option<String>,
    commands: Vec<Command>,
    /// Detected commands whose program is not installed, in words.
    missing: Vec<String>,
    /// The detected commands whose program is not installed and that no alternative replaces.
    lost: Vec<String>,
}

impl ProjectDetect {
    /// Creates the activity. `workspace` takes the snapshot that the run starts from; `gate` knows the permissions that the
    /// commands will need, and `sandbox` confines them when they are tried.
    pub fn new(workspace: Workspace, gate: Gate, sandbox: Sandbox) -> Self {
        ProjectDetect(workspace, gate, sandbox)
    }

    async fn run(self, attempt: Attempt) -> Result<Outcome, Outcome> {
        let rules = self.2.rules(&Arguments::new(&attempt.with, &KNOWN)?, &attempt)?;
        let room = Room { attempt: &attempt, workspace: &self.0, sandbox: &self.2, rules };
        let folder = attempt.folder.clone();
        let commands = tokio::task::spawn_blocking(move || detect(&folder).commands).await;
        let commands = commands.map_err(|error| Outcome::error(code::FAILED, error.to_string()))?;
        let installed = Installed::ask(&room, &lines(&commands)).await?;
        let (this, asked) = (self.clone(), attempt.clone());
        let found = tokio::task::spawn_blocking(move || this.detect(&asked, &commands, &installed)).await;
        let found = found.map_err(|error| Outcome::error(code::FAILED, error.to_string()))??;
        for line in found.lines {
            if let Some(why) = trying::missing(&room, vec![line], &found.tree, VERIFY_TIMEOUT).await? {
                return Err(Outcome::error(COMMAND_MISSING, why));
            }
        }
        Ok(found.signal.outcome(Value::from(found.data)))
    }

    fn detect(&self, attempt: &Attempt, found: &[Command], installed: &Installed) -> Result<Detected, Outcome> {
        // Before anything else, and before an agent is paid: nothing that it does could be committed.
        if !self.0.is_repository(&attempt.folder).map_err(|error| failed(&error))? {
            let why =
                "the folder is in no git repository, so nothing can be committed: run `git init`, then start a new run";
            return Err(Outcome::error(NO_REPOSITORY, why));
        }
        let given = Arguments::new(&attempt.with, &KNOWN)?;
        let lint = Check::new(given.text("lint")?, Kind::Static, found, &attempt.folder, installed);
        let test = Check::new(given.text("test")?, Kind::Test, found, &attempt.folder, installed);
        test.unrunnable().map_or(Ok(()), Err)?;
        let needs = self.needs(attempt, &[&lint, &test])?;
        let mut summary = vec![lint.words("lint"), test.words("test")];
        if test.line.is_none() {
            summary.push("nothing will be tested before the commit".to_owned());
        }
        let summary = summary.join("; ");
        attempt.host.progress(&attempt.run, attempt.activity, &summary);
        // A run without the list still works; its verification says that it is missing.
        let _ = interlock_verification::remember_dependencies(&self.0, self.0.store(), &attempt.folder, &attempt.run);
        let (_, tree) = self.0.take_tree(&attempt.folder, &attempt.run).map_err(|error| failed(&error))?;
        let commands: Vec<&Command> = lint.commands.iter().chain(&test.commands).collect();
        let mut data = json!({
            "lint": lint.line.as_deref().unwrap_or(NOTHING),
            "test": test.line.as_deref().unwrap_or_default(),
            "has_tests": test.line.is_some(),
            "commands": commands,
            "summary": summary,
            "tree": tree,
        });
        let (signal, lines) = match needs {
            Some(needs) => {
                data["needs"] = needs;
                (GRANT_NEEDED, Vec::new())
            }
            None => (DETECTED, [test.line, lint.line].into_iter().flatten().collect()),
        };
        Ok(Detected { signal, data, lines, tree })
    }
}

impl ProjectDetect {
    /// Returns the permission that the commands need and nobody has given, before an agent is paid for work that could not
    /// be checked. A command that cannot run is an error for the same reason.
    fn needs(&self, attempt: &Attempt, checks: &[&Check]) -> Result<Option<serde_json::Value>, Outcome> {
        let lines: Vec<&str> = checks.iter().filter_map(|check| check.line.as_deref()).collect();
        if let Some((line, program)) =
            lines.iter().find_map(|line| Some((line, installed::unknown_program(line, &attempt.folder)?)))
        {
            let message = format!(
                "the check `{line}` cannot run: `{program}` is not installed. Install it, or name another command with `--set`"
            );
            return Err(Outcome::error(COMMAND_MISSING, message));
        }
        let (scopes, reasons) = self.1.needs(attempt, &lines)?;
        let needed = || json!({ "code": CONFIRMATION_NEEDED, "reason": reasons.join("; "), "scope": scopes, "state": "LINTING and TESTING", "activity": "command.run" });
        Ok((!scopes.is_empty()).then(needed))
    }
}

impl Check {
    fn new(configured: Option<&str>, kind: Kind, found: &[Command], folder: &Path, installed: &Installed) -> Self {
        if let Some(line) = configured.map(str::trim).filter(|line| !line.is_empty()) {
            let known = found.iter().find(|known| known.command == line);
            let definition = known.and_then(|known| known.definition.clone());
            let command = Command::configured(folder, kind, line, definition);
            return Check {
                line: Some(line.to_owned()),
                commands: vec![command],
                missing: Vec::new(),
                lost: Vec::new(),
            };
        }
        let wanted = found.iter().filter(|command| command.kind == kind).cloned();
        let (mut commands, mut missing, mut lost) = (Vec::new(), Vec::new(), Vec::new());
        for command in wanted {
            let instead = command.alternatives().find(|instead| installed.has(instead, folder)).cloned();
            match (installed.has(&command.command, folder), instead) {
                (true, _) => commands.push(command),
                (false, Some(instead)) => {
                    missing.push(format!("`{}` is not installed; `{instead}` runs instead", command.command));
                    commands.push(Command { command: instead, definition: None, ..command });
                }
                (false, None) => {
                    missing.push(format!("`{}` is not installed", command.command));
                    lost.push(command.command);
                }
            }
        }
        let lines: Vec<&str> = commands.iter().map(|command| command.command.as_str()).collect();
        let line = (!lines.is_empty()).then(|| lines.join(" && "));
        Check { line, commands, missing, lost }
    }

    /// Returns the error of a detected command that neither its program nor an alternative can run: the files say how the
    /// project is checked, so work that was not checked like that would not be verified.
    fn unrunnable(&self) -> Option<Outcome> {
        let line = self.lost.first()?;
        let message = format!(
            "the check `{line}` cannot run: its program is not installed. Install it, or name another command with `--set`"
        );
        Some(Outcome::error(COMMAND_MISSING, message))
    }

    /// Describes the check and its origin.
    fn words(&self, name: &str) -> String {
        let missing = self.missing.iter().map(|line| format!(" ({line})")).collect::<String>();
        match (&self.line, self.commands.first().map(|command| command.found_by.as_str())) {
            (Some(line), Some(CONFIGURED)) => format!("{name}: `{line}`, as given"),
            (Some(line), Some(file)) => format!("{name}: `{line}`, found by {file}{missing}"),
            _ => format!("{name}: no command was given or found{missing}"),
        }
    }
}

const DETECTED: Signal = Signal::new("detected", found);
const GRANT_NEEDED: Signal =
    Signal::new("grant_needed", || schema::also(found(), &schema::fields([("needs", schema::object())])));

/// The schema of what was found.
fn found() -> Schema {
    schema::fields([
        ("lint", schema::text()),
        ("test", schema::text()),
        ("has_tests", schema::flag()),
        ("commands", schema::list(schema::object())),
        ("summary", schema::text()),
        ("tree", schema::text()),
    ])
}

impl Activity for ProjectDetect {
    fn name(&self) -> &str {
        "project.detect"
    }

    fn summary(&self) -> &str {
        "Determines the lint and test commands of a project and takes the snapshot that the run starts from."
    }

    fn effect(&self) -> EffectClass {
        EffectClass::Read
    }

    fn signals(&self) -> &[Signal] {
        &[DETECTED, GRANT_NEEDED]
    }

    fn schema(&self) -> Schema {
        schema::fields([("lint", schema::text()), ("test", schema::text())])
    }

    fn requests(&self, _: &Site<'_>) -> Requests {
        Ok(Vec::new())
    }

    fn story(&self, run: &RecordedRun) -> Option<Story> {
        story::of(run)
    }

    fn start(&self, attempt: Attempt) -> Ending {
        let this = self.clone();
        Box::pin(async move { this.run(attempt).await.unwrap_or_else(|error| error) })
    }
}
