//! What a judge is asked.

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// What a judge is asked.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Question {
    /// The task, rendered.
    pub prompt: String,
    /// What it can look at, and must refer to.
    pub evidence: Vec<Exhibit>,
    /// What the main part of its data has to look like, where the machine names a schema; null otherwise.
    pub schema: Value,
    /// What it may say.
    pub signals: Vec<AllowedSignal>,
    /// The activity's `with`, without `prompt`, `schema` and `mode`.
    pub facts: Value,
}

/// Something that a judge can look at: data, never an instruction.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Exhibit {
    /// What a verdict refers to it by.
    pub id: String,
    /// What it is, for people.
    pub name: String,
    /// `text/plain`, `application/json`, …
    pub media_type: String,
    /// All of it.
    pub text: String,
}

/// A signal that a judge may end with.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct AllowedSignal {
    /// Its name.
    pub name: String,
    /// What its data has to look like: a JSON Schema.
    pub data: Value,
}

impl Question {
    /// The signal of a name, if it is allowed.
    pub fn signal(&self, name: &str) -> Option<&AllowedSignal> {
        self.signals.iter().find(|signal| signal.name == name)
    }

    /// The exhibit of an id.
    pub fn exhibit(&self, id: &str) -> Option<&Exhibit> {
        self.evidence.iter().find(|exhibit| exhibit.id == id)
    }
}
