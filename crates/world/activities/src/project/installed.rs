//! Whether the programs of commands are installed.
//!
//! A program is looked up as a shell would do it, and never started for this. Whether Python has a module can only be
//! asked of the project's own Python, which a program of the run may have replaced; so it is asked in the sandbox.

use std::{
    collections::{BTreeMap, BTreeSet},
    path::Path,
    time::Duration,
};

use interlock_activity::Outcome;
use interlock_process::{How, Plan, Tell, find, run};
use interlock_verification::Room;

/// The longest time that Python has to look for one module.
const ASKING_MAX: Duration = Duration::from_secs(60);

/// The most bytes of an answer that are kept. Only the exit code counts.
const ANSWER_BYTES_MAX: u64 = 4 * 1_024;

/// The words that begin a command of a shell and are no programs: those of POSIX, and those of common shells.
const OF_SHELLS: [&str; 54] = [
    ".", "alias", "bg", "break", "builtin", "case", "cd", "command", "continue", "declare", "do", "done", "echo",
    "elif", "else", "esac", "eval", "exec", "exit", "export", "false", "fc", "fg", "fi", "for", "function", "getopts",
    "hash", "if", "jobs", "kill", "let", "local", "printf", "pwd", "read", "readonly", "return", "select", "set",
    "shift", "source", "test", "then", "time", "times", "trap", "true", "type", "ulimit", "umask", "unset", "until",
    "while",
];

/// The modules that the project's Python has, of those that were asked for.
#[derive(Debug, Default)]
pub(super) struct Installed(BTreeSet<String>);

impl Installed {
    /// Asks for the modules of these command lines.
    pub(super) async fn ask(room: &Room<'_>, lines: &[String]) -> Result<Self, Outcome> {
        let asked: BTreeSet<&str> = lines.iter().filter_map(|line| module(line)).collect();
        let mut there = BTreeSet::new();
        for module in asked {
            if has_module(room, module).await? {
                there.insert(module.to_owned());
            }
        }
        Ok(Installed(there))
    }

    /// Returns true if the program of a command line can be found, and the module if it is Python's.
    pub(super) fn has(&self, line: &str, folder: &Path) -> bool {
        if let Some(module) = module(line) {
            return self.0.contains(module);
        }
        let program = inner(line).split_whitespace().find(|word| !word.contains('=')).unwrap_or_default();
        find(program, folder, &BTreeMap::new()).is_ok()
    }
}

/// Returns the command within `(cd DIR && …)`.
fn inner(line: &str) -> &str {
    let within = line.split_once(" && ").filter(|_| line.starts_with("(cd "));
    within.map_or(line, |(_, inner)| inner.trim_end_matches(')'))
}

/// Returns the module of Python that a command line runs.
fn module(line: &str) -> Option<&str> {
    let module = inner(line).strip_prefix("python3 -m ")?.split_whitespace().next()?;
    Some(module)
}

/// Returns true if Python has a module. The directory of the project is not searched, so that none of its files answers.
async fn has_module(room: &Room<'_>, module: &str) -> Result<bool, Outcome> {
    let folder = &room.attempt.folder;
    let is_plain = module.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
    let Some(python) = find("python3", folder, &BTreeMap::new()).ok().filter(|_| is_plain) else { return Ok(false) };
    let mut rules = room.rules.clone();
    rules.keeps_workspace = true;
    let script = format!("import sys; sys.path = [place for place in sys.path if place]; import {module}");
    let plan = Plan {
        words: vec![python.into(), "-c".into(), script.into()],
        folder: folder.clone(),
        env: BTreeMap::new(),
        stdin: Vec::new(),
        timeout: Some(ASKING_MAX),
        output_bytes_max: ANSWER_BYTES_MAX,
        tell: [Tell::Nothing; 2],
        rules,
        launcher: room.sandbox.launcher.clone(),
    };
    let ended = run(room.attempt, &plan).await?;
    Ok(matches!(ended.how, How::Exited { code: 0, .. }))
}

/// Returns the program of a command line that no shell finds. Only a first word that is a plain name is judged: a path may
/// be a file that is yet to be written.
pub(super) fn unknown_program<'l>(line: &'l str, folder: &Path) -> Option<&'l str> {
    let program = line.split_whitespace().next()?;
    let is_plain = program.chars().all(|sign| sign.is_ascii_alphanumeric() || "_-.+".contains(sign));
    let is_known = OF_SHELLS.contains(&program) || find(program, folder, &BTreeMap::new()).is_ok();
    (is_plain && !is_known).then_some(program)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_of_shells_and_files_to_be_written_are_no_missing_programs() {
        let folder = Path::new("/");
        for line in ["test -f x", "if true; then true; fi", ". ./x", "FOO=1 no-such-program", "./later", "sh x"] {
            assert_eq!(unknown_program(line, folder), None, "{line}");
        }
        assert_eq!(unknown_program("no-such-program --all", folder), Some("no-such-program"));
    }
}
