//! Which judges there are, who is asked for what, and what it may cost: `judges.toml`.
//!
//! There are two such files. The user's own, in the store, may say everything. The project's (`.interlock/judges.toml`) came with a
//! repository that somebody else may have written, or that a run has changed: it may choose among judges and ask for more votes and
//! smaller budgets, and name servers on this machine; it names no key, no program and no other host. What no file says is judged by
//! rules.

mod file;
mod server;

use std::{collections::BTreeMap, path::Path};

use interlock_sandbox::{Kind, Network};

pub use server::{Key, Price, Provider, Server, Timeouts};

/// The name of the judge that needs no model.
pub const RULES: &str = "rules";

/// The name of the judge who is a person.
pub const PERSON: &str = "person";

/// The file's name, in the store.
pub const FILE: &str = "judges.toml";

/// The file's path, in a project.
pub const PROJECT_FILE: &str = ".interlock/judges.toml";

/// The longest file of a project that is read.
const BYTES_MAX: u64 = 1024 * 1024;

/// Which judges there are, who is asked for what, and what it may cost.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Settings {
    /// By name.
    pub judges: BTreeMap<String, Backend>,
    /// Who is asked, by the activity's name; `default` for all others.
    pub chains: BTreeMap<String, Vec<String>>,
    /// How many answers must agree, by the activity's name.
    pub votes: BTreeMap<String, u32>,
    /// What a run may use up.
    pub budget: Budget,
    /// What makes vectors of texts, where somebody named it: a server that speaks OpenAI's embeddings.
    pub embeddings: Option<Server>,
}

/// What stands behind a judge.
#[derive(Clone, Debug, PartialEq)]
pub enum Backend {
    /// A model on a server.
    Server(Box<Server>),
    /// A program that reads the question from stdin and prints the answer.
    Command(Command),
}

/// A program that judges.
#[derive(Clone, Debug, PartialEq)]
pub struct Command {
    /// It and its arguments.
    pub argv: Vec<String>,
    /// Variables that it gets besides the usual ones.
    pub env: Vec<String>,
    /// Whom it may talk to.
    pub network: Network,
    /// By what it is confined; as all programs are, where nothing is said.
    pub sandbox: Option<Kind>,
    /// How long it may take.
    pub timeouts: Timeouts,
    /// How much it can read.
    pub window_tokens: u64,
}

/// What a run may use up on models. Nothing said is no limit.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Budget {
    /// Tokens, read and written.
    pub tokens: Option<u64>,
    /// In the currency of the prices.
    pub cost: Option<f64>,
}

impl Budget {
    /// The stricter of both.
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
    /// From the store and the project, as far as there is anything.
    pub fn load(home: Option<&Path>, project: &Path) -> Result<Self, String> {
        let mut settings = Settings::default();
        if let Some(home) = home {
            let path = home.join(FILE);
            settings.add(&path, own_text(&path)?, Trusted::Yes)?;
        }
        let text = interlock_regular_file::read_text(project, Path::new(PROJECT_FILE), BYTES_MAX);
        settings.add(&project.join(PROJECT_FILE), text.map_err(|error| error.to_string())?, Trusted::No)?;
        settings.check()?;
        Ok(settings)
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
                        "chains.{activity}: there is no judge `{name}`; there are {}",
                        known.join(", ")
                    ));
                }
            }
            if chain.iter().rev().skip(1).any(|name| name == PERSON) {
                return Err(format!("chains.{activity}: a person always answers; nobody comes after them"));
            }
        }
        Ok(())
    }

    /// Who is asked, one after the other. Rules come last wherever nobody else was named.
    pub fn chain(&self, activity: &str) -> Vec<&str> {
        let chain = self.chains.get(activity).or_else(|| self.chains.get("default"));
        chain.map_or_else(|| vec![RULES], |chain| chain.iter().map(String::as_str).collect())
    }

    /// How many answers must agree.
    pub fn votes(&self, activity: &str) -> u32 {
        self.votes.get(activity).copied().unwrap_or(1)
    }
}

/// The user's own file, which may be a link to where they keep it; nothing if there is none.
fn own_text(path: &Path) -> Result<Option<String>, String> {
    match std::fs::read_to_string(path) {
        Ok(text) => Ok(Some(text)),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(format!("{}: {error}", path.display())),
    }
}

/// Whether whoever wrote a file is the one who pays.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Trusted {
    Yes,
    No,
}

#[cfg(test)]
mod tests;
