//! Detects the commands that verify a project: static checks, builds and tests.
//!
//! [`detect`] reads the files in the root of a project and applies the table in `table.rs`, one row per build tool.
//! [`commands`] returns the configured commands instead, if there are any. Every command names the file it was found by,
//! the text that defines it (a script of `package.json`, the recipe of a Makefile target) and the hashes of the scripts
//! that it runs, so that a later change of what the command does can be detected.
//!
//! A project whose root has no tests is searched one and two directories below. This crate runs nothing and does not check
//! if a program is installed; a command can name another one to use if its program is missing.

mod files;
mod javascript;
mod make;
mod python;
mod scripts;
mod table;

use std::{collections::BTreeMap, path::Path};

use serde::{Deserialize, Serialize};

use files::Files;
use table::{Row, TABLE};

/// The purpose of a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    /// Analyses the sources without running them: a linter, a type checker.
    Static,
    /// Builds the project.
    Build,
    /// Runs the tests.
    Test,
}

/// A command that verifies a project.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Command {
    /// The purpose of the command.
    pub kind: Kind,
    /// The command line, for a shell in the root of the project.
    pub command: String,
    /// The file that the command was found by, relative to the root, or [`CONFIGURED`].
    pub found_by: String,
    /// The text in that file that says what the command does, if the file contains it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub definition: Option<String>,
    /// The command to use if the program of this one is not installed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub instead: Option<String>,
    /// The command to use if the program of that one is missing too.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub otherwise: Option<String>,
    /// The scripts that the command line or the definition names, each with the hash of its content.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub scripts: BTreeMap<String, String>,
}

/// A change of what a command does.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Redefinition {
    /// Its definition is another one now, or does not exist any more.
    Definition(Option<String>),
    /// A script was changed or removed.
    Script {
        /// Its path in the project.
        path: String,
        /// The hash of its content now; `None` if it does not exist any more, or is no script that can be read.
        now: Option<String>,
    },
}

impl Command {
    /// Creates a command that a person has configured. May block on the file system.
    pub fn configured(root: &Path, kind: Kind, line: &str, definition: Option<String>) -> Self {
        let (command, found_by) = (line.to_owned(), CONFIGURED.to_owned());
        Command { kind, command, found_by, definition, instead: None, otherwise: None, scripts: BTreeMap::new() }
            .with_scripts(&Files::new(root))
    }

    /// Returns the commands that can take the place of this one if its program is not installed, the best first.
    pub fn alternatives(&self) -> impl Iterator<Item = &String> {
        [&self.instead, &self.otherwise].into_iter().flatten()
    }

    fn with_scripts(mut self, files: &Files<'_>) -> Self {
        self.scripts = scripts::named(files, &self);
        self
    }
}

/// The value of [`Command::found_by`] for commands that a person has configured.
pub const CONFIGURED: &str = "configured";

/// The verification commands of a project.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Detected {
    /// The commands in the order in which they should run: static checks, builds, tests.
    pub commands: Vec<Command>,
    /// Files that could not be read, each with the reason.
    pub problems: Vec<String>,
}

impl Detected {
    /// Joins the commands of some kinds into one command line that stops at the first failure; `None` if there are none.
    pub fn joined(&self, kinds: &[Kind]) -> Option<String> {
        let chosen = self.commands.iter().filter(|command| kinds.contains(&command.kind));
        let lines: Vec<&str> = chosen.map(|command| command.command.as_str()).collect();
        (!lines.is_empty()).then(|| lines.join(" && "))
    }

    /// Returns true if one of the commands runs tests.
    pub fn has_tests(&self) -> bool {
        self.commands.iter().any(|command| command.kind == Kind::Test)
    }
}

/// Returns the configured commands, or the detected ones if none is configured. May block on the file system.
pub fn commands(root: &Path, configured: &[String]) -> Detected {
    let configured: Vec<&str> = configured.iter().map(|line| line.trim()).filter(|line| !line.is_empty()).collect();
    if configured.is_empty() {
        return detect(root);
    }
    let command = |line: &str| Command::configured(root, Kind::Test, line, None);
    Detected { commands: configured.into_iter().map(command).collect(), problems: Vec::new() }
}

/// How many directories below the root are searched if the root has no tests.
const INNER_MAX: usize = 8;

/// Directories that hold no project of their own.
const NO_PROJECTS: [&str; 8] = ["node_modules", "target", "vendor", "venv", "build", "dist", "third_party", "testdata"];

/// Detects the commands of a project from the files in its root, or else in directories below. May block on the file
/// system.
pub fn detect(root: &Path) -> Detected {
    let mut found = detect_in(root);
    if found.has_tests() {
        return found;
    }
    let mut tested: Vec<String> = Vec::new();
    for folder in inner(root) {
        // A project runs the tests in its own directory of tests.
        if is_folder_of_tests(&folder, &tested) {
            continue;
        }
        let mut below = detect_in(&root.join(&folder));
        if !below.has_tests() {
            continue;
        }
        let inside = |line: &str| format!("(cd {folder} && {line})");
        for command in &mut below.commands {
            command.command = inside(&command.command);
            command.instead = command.instead.as_deref().map(inside);
            command.otherwise = command.otherwise.as_deref().map(inside);
            command.found_by = format!("{folder}/{}", command.found_by);
            command.scripts = std::mem::take(&mut command.scripts)
                .into_iter()
                .map(|(path, hash)| (format!("{folder}/{path}"), hash))
                .collect();
        }
        found.commands.extend(below.commands);
        found.problems.extend(below.problems);
        tested.push(folder);
    }
    found.commands.sort_by_key(|command| command.kind);
    found
}

/// Returns true if a directory is called as Python's directories of tests are, and belongs to one of these projects.
fn is_folder_of_tests(folder: &str, projects: &[String]) -> bool {
    folder.rsplit_once('/').is_some_and(|(above, name)| {
        python::TEST_FOLDERS.contains(&name) && projects.iter().any(|project| project == above)
    })
}

/// Returns the directories one and two levels below the root that may hold a project. A name that a shell would read
/// otherwise is left out.
fn inner(root: &Path) -> Vec<String> {
    let is_plain = |name: &str| name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte));
    let below = |folder: &str| {
        let files = Files::new(root);
        let prefix = if folder == "." { String::new() } else { format!("{folder}/") };
        let names = files
            .names(folder)
            .into_iter()
            .filter(|name| !name.starts_with('.') && is_plain(name) && !NO_PROJECTS.contains(&name.as_str()));
        names.map(move |name| format!("{prefix}{name}")).filter(|path| files.has_folder(path)).collect::<Vec<_>>()
    };
    let first = below(".");
    let second: Vec<String> = first.iter().flat_map(|folder| below(folder)).collect();
    first
        .into_iter()
        .chain(second)
        .take(INNER_MAX * INNER_MAX)
        .filter(|folder| !detect_in(&root.join(folder)).commands.is_empty())
        .take(INNER_MAX)
        .collect()
}

fn detect_in(root: &Path) -> Detected {
    let files = Files::new(root);
    let mut commands: Vec<Command> = Vec::new();
    for Row { file, find, fills_gaps_only } in TABLE {
        let name = match file.split_once('*') {
            Some((begin, end)) => files.matching(begin, end),
            None => Some((*file).to_owned()),
        };
        let Some((file, text)) =
            name.and_then(|name| Some((files.text(&name)?, name))).map(|(text, name)| (name, text))
        else {
            continue;
        };
        let found = find(&files, &text);
        let is_missing = |kind: Kind| commands.iter().all(|known| known.kind != kind);
        let wanted: Vec<_> = found.into_iter().filter(|found| !fills_gaps_only || is_missing(found.kind)).collect();
        for found in wanted {
            if commands.iter().all(|known| known.command != found.command) {
                commands.push(found.into_command(&file).with_scripts(&files));
            }
        }
    }
    commands.sort_by_key(|command| command.kind);
    Detected { commands, problems: files.problems() }
}

/// Returns the recorded commands that do something else now: their definition or one of their scripts has changed. Scripts
/// that a command has gained are not reported, because a changed definition or a new project file is the cause.
pub fn redefined<'c>(recorded: &'c [Command], root: &Path) -> Vec<(&'c Command, Redefinition)> {
    let (now, files) = (detect(root).commands, Files::new(root));
    let mut changes = Vec::new();
    for command in recorded {
        let found = now.iter().find(|found| found.command == command.command);
        let definition = found.and_then(|found| found.definition.clone());
        if command.definition.is_some() && definition != command.definition {
            changes.push((command, Redefinition::Definition(definition)));
        }
        let scripts = scripts::named(&files, command);
        let changed = command.scripts.iter().filter(|(path, hash)| scripts.get(*path) != Some(*hash));
        let script = |path: &String| Redefinition::Script { path: path.clone(), now: scripts.get(path).cloned() };
        changes.extend(changed.map(|(path, _)| (command, script(path))));
    }
    changes
}

/// Returns the hash of a file of the project, as [`Command::scripts`] has it; `None` if it cannot be read.
pub fn content_hash(root: &Path, path: &str) -> Option<String> {
    Files::new(root).bytes(path).map(|content| scripts::hash(&content))
}

/// Returns commands as the project defines them now: configured ones with the present scripts, all others as detected.
pub fn renewed(recorded: &[Command], root: &Path) -> Vec<Command> {
    let configured: Vec<String> = recorded
        .iter()
        .filter(|command| command.found_by == CONFIGURED)
        .map(|command| command.command.clone())
        .collect();
    commands(root, &configured).commands
}
