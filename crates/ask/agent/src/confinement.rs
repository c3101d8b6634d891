//! The confinement of an agent: the workspace and a private home are writable, and the network is limited to the listed
//! hosts.
//!
//! The home is in Interlock's cache directory: programs cannot read the store, and some agents refuse a home in the
//! temporary directory. It is kept between turns, because agents keep their sessions there.

use std::{
    fs, io,
    path::{Path, PathBuf},
};

use interlock_activity::{Arguments, Attempt, Outcome, code};
use interlock_beneath::{Folder, Mode};
use interlock_chart::Value;
use interlock_process::{Sandbox, find};
use interlock_sandbox::{Network, Rules};

use crate::{logins::Logins, relay::Link, session::plain, settings::Agent};

/// The private home of an agent in a run.
#[derive(Debug)]
pub(crate) struct Home {
    pub(crate) path: PathBuf,
    /// The copies of the user's credential files, removed after the turn.
    logins: Logins,
}

impl Home {
    /// Creates the home, and copies the user's credential files into it.
    pub(crate) fn open(homes: &Path, run: &str, name: &str, agent: &Agent) -> Result<Self, String> {
        let path = make(homes, &Path::new(&plain(run)).join(plain(name)));
        let path = path.map_err(|error| format!("{}: {error}", homes.display()))?;
        let logins = Logins::bring(homes, run, name, &path, &agent.login)?;
        Ok(Home { path, logins })
    }
}

/// Makes a directory in that of the homes, which only the user can read, and returns its real path.
#[expect(clippy::disallowed_methods, reason = "no program can change the directories above the homes")]
fn make(homes: &Path, below: &Path) -> io::Result<PathBuf> {
    fs::create_dir_all(homes)?;
    let folder = Folder::open_through_links(homes)?;
    folder.make_folders(below)?;
    folder.folder(below)?.set_mode(Path::new(""), Mode::RWXU)?;
    homes.join(below).canonicalize()
}

/// Returns the rules for an agent's program.
pub(crate) fn rules(
    sandbox: &Sandbox,
    attempt: &Attempt,
    agent: &Agent,
    home: &Home,
    link: Option<&Link>,
) -> Result<Rules, Outcome> {
    let none = Value::empty();
    let mut rules = sandbox.rules(&Arguments::new(&none, &[])?, attempt)?;
    rules.write.push(home.path.clone());
    // The user's settings name the files; each may need what is installed beside it.
    for file in agent.command.iter().map(Path::new).filter(|word| word.is_absolute()) {
        rules.show_program(file);
    }
    rules.fleeting = home.logins.paths().to_vec();
    rules.keeps_repository = true;
    // Gemini CLI and Qwen Code run commands in a pseudo-terminal.
    rules.terminals = true;
    rules.hosts = agent.network.iter().cloned().chain(link.map(|link| link.host.clone())).collect();
    rules.network = if rules.hosts.is_empty() { Network::Off } else { Network::Only };
    Ok(rules)
}

/// Resolves the program of an agent. The error names the next action.
pub(crate) fn program(name: &str, agent: &Agent, attempt: &Attempt) -> Result<PathBuf, Outcome> {
    let word = agent.command.first().map(String::as_str).unwrap_or_default();
    find(word, &attempt.folder, &agent.env).map_err(|why| {
        Outcome::error(
            code::FAILED,
            format!("the agent `{name}` cannot be started: {why}. Install it, or correct `command` in agents.toml"),
        )
    })
}
