//! The kept conversation: a chain of evidence, in which each judgement adds its messages to those before.
//!
//! A judgement stores only its own messages and the hash of the evidence before it, so that its cost does not depend on
//! the length of the conversation. The process remembers the last conversation of each run; after a restart the chain is
//! read again.

use std::{
    collections::{BTreeMap, HashMap},
    sync::{Mutex, PoisonError},
};

use interlock_activity::Attempt;
use interlock_journal::{Evidence, Hash};
use serde::{Deserialize, Serialize};

use crate::{Exhibit, Question};
use interlock_model::Turn;

/// The name of the evidence.
pub(crate) const NAME: &str = "conversation";

/// The most links of a chain that are read.
const LINKS_MAX: usize = 2_000;

/// A conversation with a model.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Conversation {
    pub(super) id: String,
    pub(super) mark: String,
    pub(super) system: String,
    /// The facts that the model has seen, each with the hash of its text.
    shown: BTreeMap<String, String>,
    pub(super) turns: Vec<Turn>,
}

/// One link of the chain.
#[derive(Debug, Serialize, Deserialize)]
struct Link {
    id: String,
    mark: String,
    /// The evidence before; the first link, and one that begins with a digest, has none.
    before: Option<String>,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    system: String,
    shown: BTreeMap<String, String>,
    turns: Vec<Turn>,
}

/// The last conversation of each run.
#[derive(Debug, Default)]
pub(crate) struct Memory(Mutex<HashMap<String, (Hash, Conversation)>>);

impl Conversation {
    /// Begins a conversation.
    pub(super) fn begin(id: &str, mark: String) -> Self {
        Conversation { id: id.to_owned(), mark, ..Conversation::default() }
    }

    /// Returns the facts that the model has not seen in this form, and remembers that it sees them now.
    pub(super) fn news<'q>(&mut self, question: &'q Question) -> Vec<&'q Exhibit> {
        let is_fact = |exhibit: &&Exhibit| exhibit.id != super::RESULT && question.facts.get(&exhibit.id).is_some();
        let mut news = Vec::new();
        for fact in question.evidence.iter().filter(is_fact) {
            let hash = Hash::of(fact.text.as_bytes()).to_string();
            if !is_empty(&fact.text) && self.shown.insert(fact.id.clone(), hash.clone()).as_ref() != Some(&hash) {
                news.push(fact);
            }
        }
        news
    }
}

/// Reports if a fact says nothing.
fn is_empty(text: &str) -> bool {
    ["", "[]", "{}", "null"].contains(&text.trim())
}

impl Memory {
    /// Returns the newest conversation of a run, if it has this id. May block.
    pub(super) fn load(&self, attempt: &Attempt, id: &str) -> Result<Option<(Hash, Conversation)>, String> {
        let Some(head) = attempt.host.recorded(&attempt.run, NAME, 1)?.into_iter().next() else { return Ok(None) };
        let remembered = self.lock().get(&*attempt.run).filter(|(hash, _)| *hash == head).cloned();
        let found = match remembered {
            Some((_, found)) => found,
            None => read(attempt, head)?,
        };
        Ok((found.id == id).then_some((head, found)))
    }

    /// Stores the messages after the first `known` ones, or all if there is no such number. May block.
    pub(super) fn keep(
        &self,
        attempt: &Attempt,
        before: &Conversation,
        head: Option<Hash>,
        turns: &[Turn],
        known: Option<usize>,
    ) -> Result<Evidence, String> {
        let head = head.filter(|_| known.is_some());
        let link = Link {
            id: before.id.clone(),
            mark: before.mark.clone(),
            before: head.map(|head| head.to_string()),
            system: if head.is_none() { before.system.clone() } else { String::new() },
            shown: before.shown.clone(),
            turns: turns[if head.is_some() { known.unwrap_or_default().min(turns.len()) } else { 0 }..].to_vec(),
        };
        let mut json = serde_json::to_value(&link).map_err(|error| error.to_string())?;
        attempt.evidence.redactor().json(&mut json);
        let kept = attempt.evidence.put(NAME, "application/json", json.to_string().as_bytes());
        let kept = kept.map_err(|error| error.to_string())?;
        // The next request repeats the redacted form, because that is the stored one.
        let link: Link = serde_json::from_value(json).map_err(|error| error.to_string())?;
        let earlier = head.and(known).map(|known| before.turns[..known.min(before.turns.len())].to_vec());
        let turns = earlier.unwrap_or_default().into_iter().chain(link.turns).collect();
        let now = Conversation { turns, ..before.clone() };
        self.lock().insert(attempt.run.to_string(), (kept.hash, now));
        Ok(kept)
    }

    /// Forgets a run.
    pub(crate) fn forget(&self, run: &str) {
        self.lock().remove(run);
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, HashMap<String, (Hash, Conversation)>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Reads a chain from its newest link to its first.
fn read(attempt: &Attempt, head: Hash) -> Result<Conversation, String> {
    let link = |hash: &Hash| -> Result<Link, String> {
        let content = attempt.evidence.get(hash).map_err(|error| error.to_string())?;
        serde_json::from_slice(&content).map_err(|error| format!("the conversation {hash}: {error}"))
    };
    let mut links = vec![link(&head)?];
    while let Some(before) = links.last().and_then(|link| link.before.clone()) {
        if links.len() >= LINKS_MAX {
            return Err(format!("the conversation has more than {LINKS_MAX} parts"));
        }
        let hash =
            Hash::from_hex(&before).ok_or_else(|| format!("the conversation names {before}, which is no hash"))?;
        links.push(link(&hash)?);
    }
    let mut found = Conversation::default();
    for link in links.into_iter().rev() {
        if !link.system.is_empty() {
            found.system = link.system;
        }
        (found.id, found.mark, found.shown) = (link.id, link.mark, link.shown);
        found.turns.extend(link.turns);
    }
    Ok(found)
}
