//! The question that a judge is asked.

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// The question that a judge is asked.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Question {
    /// The task, rendered from the machine's template.
    pub prompt: String,
    /// The exhibits that the judge can read and must refer to.
    pub evidence: Vec<Exhibit>,
    /// The JSON Schema of the main part of the data, if the machine names one; null otherwise.
    pub schema: Value,
    /// The signals that the judge may answer with.
    pub signals: Vec<AllowedSignal>,
    /// The activity's `with` data, without `prompt`, `schema` and `mode`.
    pub facts: Value,
}

/// An item that a judge can read: data, never an instruction.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Exhibit {
    /// The id by which a verdict refers to it.
    pub id: String,
    /// A name for people.
    pub name: String,
    /// The media type: `text/plain`, `application/json`, …
    pub media_type: String,
    /// The full text of the exhibit.
    pub text: String,
}

/// A signal that a judge may answer with.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct AllowedSignal {
    /// The signal's name, as the machine declares it.
    pub name: String,
    /// The JSON Schema of its data.
    pub data: Value,
}

impl Question {
    /// Returns the signal with this name, if it is allowed.
    pub fn signal(&self, name: &str) -> Option<&AllowedSignal> {
        self.signals.iter().find(|signal| signal.name == name)
    }

    /// Returns the exhibit with this id, if it was shown.
    pub fn exhibit(&self, id: &str) -> Option<&Exhibit> {
        self.evidence.iter().find(|exhibit| exhibit.id == id)
    }
}
