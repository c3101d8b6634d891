//! The activities that a machine can name, as data: the arguments, the possible results and the effect of each.
//!
//! The crates that implement activities fill a catalogue. The checker reads the catalogue and does not depend on those
//! crates.

use std::collections::BTreeMap;

use crate::model::{EffectClass, Schema};

/// The schema keyword that assigns a [`Meaning`] to a text field.
pub const MEANING: &str = "x-interlock";

/// Activities by name. A name that ends in `.*` matches a family: `judge.*` matches `judge`, `judge.plan` and so on.
#[derive(Clone, Debug, Default)]
pub struct Catalogue(BTreeMap<String, Entry>);

/// The catalogue's description of one activity.
#[derive(Clone, Debug, PartialEq)]
pub struct Entry {
    /// The JSON Schema of `with`. Readers use only these keywords: `type`, `properties`, `required`,
    /// `additionalProperties`, `items`, `enum`, `anyOf` and `minimum`.
    pub with: Schema,
    /// The signals that the activity can finish with, each with the schema of its data. If empty, it can finish with any signal that the machine handles.
    pub signals: Vec<(String, Schema)>,
    /// The activity's effect, unless the machine declares another one.
    pub effect: EffectClass,
}

/// The purpose of a text field, beyond its type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Meaning {
    /// The path of a prompt file in the machine's directory. The other fields fill in the prompt.
    Prompt,
    /// The path of a JSON Schema file in the machine's directory.
    SchemaFile,
    /// The name or path of a machine.
    Machine,
    /// A command line for the shell, or a list of a program and its arguments.
    Command,
    /// The program that the activity starts.
    Program,
    /// The only directory that the activity may write to.
    OwnFolder,
    /// A setting of the activity; prompts do not see it.
    Setting,
    /// The number of seconds that the activity waits before it ends.
    WaitSeconds,
}

impl Meaning {
    const WORDS: [(&'static str, Meaning); 8] = [
        ("prompt", Meaning::Prompt),
        ("schema-file", Meaning::SchemaFile),
        ("machine", Meaning::Machine),
        ("command", Meaning::Command),
        ("program", Meaning::Program),
        ("own-folder", Meaning::OwnFolder),
        ("setting", Meaning::Setting),
        ("wait-seconds", Meaning::WaitSeconds),
    ];

    /// Returns the meaning of a field, if its schema declares one.
    pub fn of(field: &Schema) -> Option<Self> {
        let word = field.get(MEANING)?.as_str()?;
        Self::WORDS.iter().find(|(known, _)| *known == word).map(|(_, meaning)| *meaning)
    }
}

impl Catalogue {
    /// Returns the activity with this name: its exact entry, or else the entry of its family.
    pub fn get(&self, name: &str) -> Option<&Entry> {
        let family = name.split('.').next().unwrap_or(name);
        self.0.get(name).or_else(|| self.0.get(&format!("{family}.*")))
    }

    /// Returns the names of all activities in alphabetical order.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.0.keys().map(String::as_str)
    }
}

impl FromIterator<(String, Entry)> for Catalogue {
    fn from_iter<I: IntoIterator<Item = (String, Entry)>>(entries: I) -> Self {
        Catalogue(entries.into_iter().collect())
    }
}

impl Entry {
    /// Returns the schema of the data of a signal. A machine may rename signals; the schema of a renamed one is known if
    /// all signals have the same.
    pub fn data(&self, signal: &str) -> Option<&Schema> {
        let own = self.signals.iter().find(|(name, _)| name == signal).map(|(_, data)| data);
        let first = self.signals.first().map(|(_, data)| data);
        own.or(first.filter(|first| self.signals.iter().all(|(_, data)| data == *first)))
    }

    /// Returns the schema of a field of `with`.
    pub fn field(&self, name: &str) -> Option<&Schema> {
        self.with.get("properties")?.get(name)
    }

    /// Returns the names of the fields with the given meaning.
    pub fn meaning(&self, wanted: Meaning) -> impl Iterator<Item = &str> {
        let fields = self.with.get("properties").and_then(|fields| fields.as_object());
        let fields = fields.into_iter().flatten().filter(move |(_, field)| Meaning::of(field) == Some(wanted));
        fields.map(|(name, _)| name.as_str())
    }
}
