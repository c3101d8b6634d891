//! The confinement of an agent: the workspace and a private home are writable, and the network is limited to the listed
//! hosts.
//!
//! The home is in Interlock's cache directory: programs cannot read the store, and some agents refuse a home in the
//! temporary directory. It is kept between turns, because agents keep their sessions there.

use std::{
    fs,
    os::unix::fs::PermissionsExt as _,
    path::{Path, PathBuf},
};

use interlock_activity::{Arguments, Attempt, Outcome, code};
use interlock_chart::Value;
use interlock_process::{Sandbox, find};
use interlock_sandbox::{Network, Rules};

use crate::{session::plain, settings::Agent};

/// The private home of an agent in a run.
#[derive(Debug)]
pub(crate) struct Home {
    pub(crate) path: PathBuf,
    /// The copies of the user's credential files, removed after the turn.
    logins: Vec<PathBuf>,
}

impl Home {
    /// Creates the home, and copies the user's credential files into it.
    pub(crate) fn open(homes: &Path, run: &str, name: &str, agent: &Agent) -> Result<Self, String> {
        let path = homes.join(plain(run)).join(plain(name));
        let wrong = |error: std::io::Error| format!("{}: {error}", path.display());
        fs::create_dir_all(&path).map_err(wrong)?;
        fs::set_permissions(&path, fs::Permissions::from_mode(0o700)).map_err(wrong)?;
        let mut home = Home { path: path.canonicalize().map_err(wrong)?, logins: Vec::new() };
        for login in &agent.login {
            home.bring(login)?;
        }
        Ok(home)
    }

    fn bring(&mut self, login: &str) -> Result<(), String> {
        let (from, inside) = login_path(login)?;
        let to = self.path.join(inside);
        let wrong = |error: std::io::Error| format!("`login`: {login} cannot be passed on: {error}");
        if let Some(folder) = to.parent() {
            fs::create_dir_all(folder).map_err(wrong)?;
        }
        // An earlier copy is read-only.
        let _ = fs::remove_file(&to);
        fs::copy(&from, &to).map_err(wrong)?;
        self.logins.push(to.clone());
        fs::set_permissions(&to, fs::Permissions::from_mode(0o400)).map_err(wrong)
    }
}

impl Drop for Home {
    fn drop(&mut self) {
        for login in &self.logins {
            let _ = fs::remove_file(login);
        }
    }
}

/// Returns the path of a credential file, and its path relative to the user's home directory.
pub(crate) fn login_path(login: &str) -> Result<(PathBuf, PathBuf), String> {
    let user = std::env::home_dir().unwrap_or_default();
    let from = login.strip_prefix("~/").map_or_else(|| PathBuf::from(login), |rest| user.join(rest));
    let inside = from.strip_prefix(&user).map(Path::to_owned);
    let inside = inside.map_err(|_| format!("`login`: {login} is not in your home directory"))?;
    Ok((from, inside))
}

/// Returns the rules for an agent's program.
pub(crate) fn rules(sandbox: &Sandbox, attempt: &Attempt, agent: &Agent, home: &Home) -> Result<Rules, Outcome> {
    let none = Value::empty();
    let mut rules = sandbox.rules(&Arguments::new(&none, &[])?, attempt)?;
    rules.write.push(home.path.clone());
    rules.keeps_repository = true;
    (rules.network, rules.hosts) = match agent.network.is_empty() {
        true => (Network::Off, Vec::new()),
        false => (Network::Only, agent.network.clone()),
    };
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
