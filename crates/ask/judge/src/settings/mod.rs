//! The settings of judges (`judges.toml`): the available judges, the chain of each activity, and the budget.
//!
//! There are two such files. The user's file, in the store, may contain every setting. The project's file
//! (`.interlock/judges.toml`) comes with a repository that a stranger may have written or that a run has changed: it
//! may choose among judges, ask for more votes and smaller budgets, and name servers on this machine, but no key, no
//! program and no other host. Without any settings, rules are the only judge.

mod file;

use std::{
    collections::BTreeMap,
    path::Path,
    sync::{PoisonError, RwLock},
};

use interlock_model::settings::{Backend, Server};

/// The name of the judge that needs no model.
pub const RULES: &str = "rules";

/// The name of the judge that is a person.
pub const PERSON: &str = "person";

/// The name of the settings file in the store.
pub const FILE: &str = "judges.toml";

/// The path of the settings file in a project.
pub const PROJECT_FILE: &str = ".interlock/judges.toml";

/// The maximum size of a project's file.
const BYTES_MAX: u64 = 1024 * 1024;

/// The judge that answers in this process instead of the configured chains.
static CHOSEN: RwLock<Option<String>> = RwLock::new(None);

/// Chooses the judge that answers in this process instead of the configured chains; `None` returns to the chains. A judge
/// that the settings do not have is ignored.
pub fn choose(name: Option<&str>) {
    *CHOSEN.write().unwrap_or_else(PoisonError::into_inner) = name.map(str::to_owned);
}

/// The available judges, the chain of each activity, and the budget.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Settings {
    /// The backend of each judge, by the judge's name.
    pub judges: BTreeMap<String, Backend>,
    /// The judges to ask, by activity name; `default` applies to all others.
    pub chains: BTreeMap<String, Vec<String>>,
    /// The number of answers that must agree, by activity name.
    pub votes: BTreeMap<String, u32>,
    /// The limit of tokens and cost of one run.
    pub budget: Budget,
    /// The embeddings server, if one is configured; it must speak OpenAI's embeddings protocol.
    pub embeddings: Option<Server>,
}

/// The limit of model usage for one run. An unset field means no limit.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Budget {
    /// The maximum number of tokens, input and output together.
    pub tokens: Option<u64>,
    /// The maximum cost, in the currency of the prices.
    pub cost: Option<f64>,
}

impl Budget {
    /// Returns the stricter limit of both.
    fn least(self, other: Budget) -> Budget {
        let least = |one: Option<f64>, two: Option<f64>| match (one, two) {
            (Some(one), Some(two)) => Some(one.min(two)),
            (one, two) => one.or(two),
        };
        let tokens = [self.tokens, other.tokens].into_iter().flatten().min();
        Budget { tokens, cost: least(self.cost, other.cost) }
    }
}

impl Settings {
    /// Loads the settings from the store and the project. Missing files are ignored.
    pub fn load(home: Option<&Path>, project: &Path) -> Result<Self, String> {
        let mut settings = Settings::default();
        if let Some(home) = home {
            let path = home.join(FILE);
            settings.add(&path, own_text(&path)?, Trusted::Yes)?;
        }
        let text = interlock_sandbox::read_project(home, project, PROJECT_FILE, BYTES_MAX)?;
        settings.add(&project.join(PROJECT_FILE), text, Trusted::No)?;
        settings.check()?;
        let chosen = CHOSEN.read().unwrap_or_else(PoisonError::into_inner).clone();
        if let Some(name) = chosen.filter(|name| settings.judges.contains_key(name)) {
            settings.chains = BTreeMap::from([("default".to_owned(), vec![name])]);
        }
        Ok(settings)
    }

    /// Returns the keys of all servers, as far as they can be read, so that they are redacted whatever their variables
    /// are called. May block.
    pub fn keys(&self) -> Vec<String> {
        let servers = self.judges.values().filter_map(|backend| match backend {
            Backend::Server(server) => Some(&**server),
            Backend::Command(_) => None,
        });
        servers.chain(&self.embeddings).filter_map(|server| server.key.read().ok().flatten()).collect()
    }

    fn add(&mut self, path: &Path, text: Option<String>, trusted: Trusted) -> Result<(), String> {
        let Some(text) = text else { return Ok(()) };
        let said = file::read(&text, trusted).map_err(|why| format!("{}: {why}", path.display()))?;
        self.judges.extend(said.judges);
        self.chains.extend(said.chains);
        for (name, votes) in said.votes {
            let known = self.votes.entry(name).or_insert(votes);
            *known = votes.max(*known);
        }
        self.budget = self.budget.least(said.budget);
        self.embeddings = said.embeddings.or(self.embeddings.take());
        Ok(())
    }

    fn check(&self) -> Result<(), String> {
        for (activity, chain) in &self.chains {
            for name in chain {
                if name != RULES && name != PERSON && !self.judges.contains_key(name) {
                    let known: Vec<&str> = self.judges.keys().map(String::as_str).chain([RULES, PERSON]).collect();
                    return Err(format!(
                        "chains.{activity}: there is no judge `{name}`; the judges are {}",
                        known.join(", ")
                    ));
                }
            }
            if chain.iter().rev().skip(1).any(|name| name == PERSON) {
                return Err(format!("chains.{activity}: a person always answers, so no judge can follow"));
            }
        }
        Ok(())
    }

    /// Returns the judges to ask, in order. Without a configured chain, only rules are asked.
    pub fn chain(&self, activity: &str) -> Vec<&str> {
        let chain = self.chains.get(activity).or_else(|| self.chains.get("default"));
        chain.map_or_else(|| vec![RULES], |chain| chain.iter().map(String::as_str).collect())
    }

    /// Returns the number of answers that must agree.
    pub fn votes(&self, activity: &str) -> u32 {
        self.votes.get(activity).copied().unwrap_or(1)
    }
}

/// Reads the user's file, which may be a symbolic link; `None` if it does not exist.
fn own_text(path: &Path) -> Result<Option<String>, String> {
    match std::fs::read_to_string(path) {
        Ok(text) => Ok(Some(text)),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(format!("{}: {error}", path.display())),
    }
}

/// States if a settings file was written by the user who pays for the requests.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Trusted {
    Yes,
    No,
}

#[cfg(test)]
mod tests;
