//! The state of a run's session that must survive a restart: the agent, its session id, and the tokens and cost so far.
//!
//! One small file per run in the store, replaced atomically. The agent cannot read it: the store is hidden from programs.

#![expect(clippy::disallowed_methods, reason = "these files are in the store, which no program can change")]

use std::{
    fs, io,
    path::{Path, PathBuf},
};

use serde::{Deserialize, Serialize};

use crate::facts::Facts;

/// The number of rounds that are remembered for a session that cannot be resumed.
const ROUNDS_MAX: usize = 12;

/// The reply of a round that did not end by itself.
const CUT_OFF: &str = "(interrupted)";

/// The length to which prompts and replies of earlier rounds are cut.
const ROUND_CHARS_MAX: usize = 600;

/// The state of a run's session.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct Session {
    /// The name of the agent in the settings.
    pub(crate) agent: String,
    /// The agent's id of the session.
    pub(crate) id: Option<String>,
    /// The tokens of all turns.
    pub(crate) tokens: u64,
    /// The tokens that an open turn has used so far, noted if the run has a token budget.
    pub(crate) tokens_of_open_turn: u64,
    /// The cost of all sessions before the current one.
    pub(crate) cost_before: f64,
    /// The cost of the current session, as the agent reports it.
    pub(crate) cost_of_session: f64,
    /// True from the begin of a turn to its end. It stays true if the turn was cancelled, did not end by itself, or was cut
    /// off with its process: the next prompt says so.
    pub(crate) is_turn_open: bool,
    /// The tree before the open turn.
    pub(crate) tree: String,
    /// The prompt of the open turn, shortened.
    pub(crate) prompt: String,
    /// The changes of the last turn that were taken back, one sentence each: the next prompt says so.
    pub(crate) taken_back: Vec<String>,
    /// The protected paths that the agent wanted to change, in words that policy understands.
    pub(crate) wanted: Vec<String>,
    /// The last rounds.
    pub(crate) rounds: Vec<Round>,
}

/// One prompt and its reply, shortened.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Round {
    pub(crate) prompt: String,
    pub(crate) reply: String,
}

impl Session {
    /// Returns the cost of the run so far.
    pub(crate) fn cost(&self) -> f64 {
        self.cost_before + self.cost_of_session
    }

    /// Forgets the agent's session, so that the next turn opens a new one.
    pub(crate) fn lose(&mut self) {
        self.id = None;
        self.cost_before += std::mem::take(&mut self.cost_of_session);
    }

    /// Begins a turn on a tree, with a prompt whose secrets are redacted. A turn that was cut off becomes a round.
    pub(crate) fn open(&mut self, prompt: &str, tree: &str) {
        if self.is_turn_open && !self.prompt.is_empty() {
            let prompt = std::mem::take(&mut self.prompt);
            self.remember(&prompt, CUT_OFF);
        }
        self.is_turn_open = true;
        self.prompt = cut(prompt);
        tree.clone_into(&mut self.tree);
        self.taken_back.clear();
    }

    /// Ends the turn: counts its tokens and cost, and remembers it with its secrets redacted.
    pub(crate) fn close(&mut self, facts: &Facts, redacted: impl Fn(&str) -> String) {
        self.tokens += facts.usage.tokens;
        self.tokens_of_open_turn = 0;
        self.cost_of_session = facts.usage.session_cost.unwrap_or(self.cost_of_session);
        self.is_turn_open = facts.stopped.is_some() || facts.end.is_none();
        if !self.is_turn_open {
            let prompt = std::mem::take(&mut self.prompt);
            self.remember(&prompt, &redacted(&facts.reply));
        }
    }

    /// Counts the tokens of a turn that was cut off.
    pub(crate) fn count_cut_off_turn(&mut self) {
        self.tokens += std::mem::take(&mut self.tokens_of_open_turn);
    }

    /// Remembers a round.
    pub(crate) fn remember(&mut self, prompt: &str, reply: &str) {
        self.rounds.push(Round { prompt: cut(prompt), reply: cut(reply) });
        let excess = self.rounds.len().saturating_sub(ROUNDS_MAX);
        self.rounds.drain(..excess);
    }
}

fn cut(text: &str) -> String {
    text.chars().take(ROUND_CHARS_MAX).collect()
}

/// The files with the sessions of all runs.
#[derive(Clone, Debug)]
pub(crate) struct Sessions(PathBuf);

impl Sessions {
    /// Creates the collection in a store's directory.
    pub(crate) fn new(home: &Path) -> Self {
        Sessions(home.join("agents"))
    }

    /// Reads the session of a run. An unreadable file is an error, because a budget depends on it.
    pub(crate) fn read(&self, run: &str) -> Result<Session, String> {
        let path = self.path(run);
        match fs::read(&path) {
            Ok(bytes) => serde_json::from_slice(&bytes).map_err(|error| format!("{}: {error}", path.display())),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Session::default()),
            Err(error) => Err(format!("{}: {error}", path.display())),
        }
    }

    /// Replaces the session of a run.
    pub(crate) fn write(&self, run: &str, session: &Session) -> Result<(), String> {
        let path = self.path(run);
        let write = || {
            fs::create_dir_all(&self.0)?;
            let file = tempfile::NamedTempFile::new_in(&self.0)?;
            serde_json::to_writer(&file, session)?;
            file.as_file().sync_data()?;
            file.persist(&path).map(drop).map_err(|error| error.error)
        };
        write().map_err(|error: io::Error| format!("{}: {error}", path.display()))
    }

    /// Returns the agent that a run began with. A child run (`RUN.1`) has the agent of its parent.
    pub(crate) fn agent_of(&self, run: &str) -> Result<Option<String>, String> {
        let ancestors = std::iter::successors(Some(run), |run| run.rsplit_once('.').map(|(parent, _)| parent));
        for run in ancestors {
            let agent = self.read(run)?.agent;
            if !agent.is_empty() {
                return Ok(Some(agent));
            }
        }
        Ok(None)
    }

    fn path(&self, run: &str) -> PathBuf {
        self.0.join(format!("{}.json", plain(run)))
    }
}

/// Chooses the agent of a run that is about to start, or leaves it to the settings. A crash before the first prompt does
/// not lose the choice.
pub fn choose(store: &Path, run: &str, agent: Option<&str>) -> Result<(), String> {
    let sessions = Sessions::new(store);
    if let Some(agent) = agent {
        return sessions.write(run, &Session { agent: agent.to_owned(), ..Session::default() });
    }
    let path = sessions.path(run);
    match fs::remove_file(&path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(format!("{}: {error}", path.display())),
        _ => Ok(()),
    }
}

/// Gives a run that continues another the session of that run: the agent, its session, the rounds, tokens and cost so far.
/// The new run shares the records of the other, so its limits and its sums go on from there.
pub(crate) fn continue_session(store: &Path, from: &str, run: &str) -> Result<(), String> {
    let sessions = Sessions::new(store);
    let old = sessions.read(from)?;
    let agent = sessions.agent_of(from)?.unwrap_or_default();
    sessions.write(run, &Session { agent, ..old })
}

/// Returns a name with all characters escaped that are unsafe in a file name.
pub(crate) fn plain(name: &str) -> String {
    let escaped = |sign: char| match sign {
        'a'..='z' | 'A'..='Z' | '0'..='9' | '-' | '_' => sign.to_string(),
        other => format!("%{:x}", u32::from(other)),
    };
    name.chars().map(escaped).collect()
}

/// Returns a random id in the form of a UUID, version 4.
pub(crate) fn fresh_id() -> Result<String, String> {
    let mut bytes = [0_u8; 16];
    getrandom::fill(&mut bytes).map_err(|error| format!("could not get random bytes: {error}"))?;
    bytes[6] = bytes[6] & 0x0f | 0x40;
    bytes[8] = bytes[8] & 0x3f | 0x80;
    let hex: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
    Ok([&hex[..8], &hex[8..12], &hex[12..16], &hex[16..20], &hex[20..]].join("-"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn session_is_known_to_the_next_process() {
        let home = tempfile::tempdir().unwrap();
        let mut session = Session { id: Some("s".into()), tokens: 7, cost_of_session: 0.5, ..Session::default() };
        session.remember("a", "b");
        Sessions::new(home.path()).write("r/../1", &session).unwrap();
        assert_eq!(Sessions::new(home.path()).read("r/../1").unwrap(), session);
        session.lose();
        assert_eq!((session.id.as_deref(), session.cost()), (None, 0.5));
        assert!(home.path().join("agents/r%2f%2e%2e%2f1.json").exists());
    }

    #[test]
    fn chosen_agent_is_that_of_child_runs_too() {
        let home = tempfile::tempdir().unwrap();
        choose(home.path(), "p1", Some("goose")).unwrap();
        let sessions = Sessions::new(home.path());
        for (run, agent) in [("p1", Some("goose")), ("p1.2.1", Some("goose")), ("p2", None)] {
            assert_eq!(sessions.agent_of(run).unwrap().as_deref(), agent, "{run}");
        }
        choose(home.path(), "p1", None).unwrap();
        assert_eq!(sessions.agent_of("p1").unwrap(), None, "a start that failed leaves nothing");
    }

    #[test]
    fn run_that_continues_another_has_its_session_and_counts_on() {
        let home = tempfile::tempdir().unwrap();
        let sessions = Sessions::new(home.path());
        let mut session = Session { agent: "a".into(), id: Some("s".into()), tokens: 7, ..Session::default() };
        session.cost_of_session = 0.5;
        session.remember("count", "It counts.");
        sessions.write("r1", &session).unwrap();
        continue_session(home.path(), "r1", "r2").unwrap();
        let next = sessions.read("r2").unwrap();
        assert_eq!((next.agent.as_str(), next.id.as_deref(), next.rounds.len()), ("a", Some("s"), 1));
        assert_eq!((next.tokens, next.cost()), (7, 0.5));
    }

    #[test]
    fn unreadable_session_is_an_error() {
        let home = tempfile::tempdir().unwrap();
        fs::create_dir(home.path().join("agents")).unwrap();
        fs::write(home.path().join("agents/r.json"), "{\"tok").unwrap();
        assert!(Sessions::new(home.path()).read("r").is_err());
    }
}
