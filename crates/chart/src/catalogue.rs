//! The activities that a machine can name, as data: what each is given, how it ends, and what it may do to the world.
//!
//! The crates that implement activities fill a catalogue; whoever checks a machine looks it up here, without knowing any of them.

use std::collections::BTreeMap;

use crate::model::{Effect, Schema};

/// The keyword of a catalogue's schema by which a field says what its text stands for; see [`Meaning`].
pub const MEANING: &str = "x-interlock";

/// Activities by name. A name that ends in `.*` stands for a family: `judge.*` is `judge`, `judge.plan` and so on.
#[derive(Clone, Debug, Default)]
pub struct Catalogue(BTreeMap<String, Entry>);

/// One activity.
#[derive(Clone, Debug, PartialEq)]
pub struct Entry {
    /// The JSON Schema of `with`. Only the keywords that [`Catalogue`]'s users know are looked at: `type`, `properties`, `required`,
    /// `additionalProperties`, `items`, `enum`, `anyOf` and `minimum`.
    pub with: Schema,
    /// The signals it can end with; empty if it ends with whatever the machine takes.
    pub signals: Vec<String>,
    /// Its effect, unless the machine says otherwise.
    pub effect: Effect,
}

/// What the text of a field stands for, beyond being text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Meaning {
    /// The path of a file of the machine: a prompt, filled in with the other fields.
    Prompt,
    /// The path of a file of the machine: a JSON Schema.
    SchemaFile,
    /// The name or path of a machine.
    Machine,
    /// A command line for the shell, or a list of a program and its arguments.
    Command,
    /// A program.
    Program,
    /// The only folder that may be written.
    OwnFolder,
    /// A setting of the activity, which prompts do not see.
    Setting,
}

impl Meaning {
    const WORDS: [(&'static str, Meaning); 7] = [
        ("prompt", Meaning::Prompt),
        ("schema-file", Meaning::SchemaFile),
        ("machine", Meaning::Machine),
        ("command", Meaning::Command),
        ("program", Meaning::Program),
        ("own-folder", Meaning::OwnFolder),
        ("setting", Meaning::Setting),
    ];

    /// The meaning of a field, if its schema says one.
    pub fn of(field: &Schema) -> Option<Self> {
        let word = field.get(MEANING)?.as_str()?;
        Self::WORDS.iter().find(|(known, _)| *known == word).map(|(_, meaning)| *meaning)
    }
}

impl Catalogue {
    /// The activity of a name: its own entry, or else that of its family.
    pub fn get(&self, name: &str) -> Option<&Entry> {
        let family = name.split('.').next().unwrap_or(name);
        self.0.get(name).or_else(|| self.0.get(&format!("{family}.*")))
    }

    /// The names, in order.
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
    /// The schema of a field of `with`.
    pub fn field(&self, name: &str) -> Option<&Schema> {
        self.with.get("properties")?.get(name)
    }

    /// The fields that stand for something.
    pub fn meaning(&self, wanted: Meaning) -> impl Iterator<Item = &str> {
        let fields = self.with.get("properties").and_then(|fields| fields.as_object());
        let fields = fields.into_iter().flatten().filter(move |(_, field)| Meaning::of(field) == Some(wanted));
        fields.map(|(name, _)| name.as_str())
    }
}
