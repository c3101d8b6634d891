//! What a profile says about its environment, read field by field, each into the type of whoever asks. Every field that does not fit is named, not only
//! the first; `fields.rs` is the same for what is read word by word.

use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use crate::Trouble;

/// Fields that are taken out one by one; one that is null counts as not given.
#[derive(Clone, Debug)]
pub(crate) struct Settings {
    /// What the fields are within: `boards.0.`.
    within: String,
    fields: Map<String, Value>,
    known: Vec<&'static str>,
    wrong: Vec<(String, String)>,
}

impl Settings {
    /// Those of a profile.
    pub(crate) fn new(fields: &Map<String, Value>) -> Self {
        Settings { within: String::new(), fields: fields.clone(), known: Vec::new(), wrong: Vec::new() }
    }

    /// Others that are within a field.
    pub(crate) fn within(field: &str, fields: Map<String, Value>) -> Self {
        Settings { within: format!("{field}."), fields, known: Vec::new(), wrong: Vec::new() }
    }

    /// A field that need not be there. One that cannot be used is noted, and counts as not there until the end.
    pub(crate) fn take<T: DeserializeOwned>(&mut self, name: &'static str) -> Result<Option<T>, Trouble> {
        self.known.push(name);
        match self.fields.shift_remove(name) {
            None | Some(Value::Null) => Ok(None),
            Some(value) => match serde_json::from_value(value) {
                Ok(read) => Ok(Some(read)),
                Err(error) => {
                    self.note(name, format!("cannot be used: {error}"));
                    Ok(None)
                }
            },
        }
    }

    /// A field that must be there.
    pub(crate) fn need<T: DeserializeOwned>(&mut self, name: &'static str) -> Result<T, Trouble> {
        self.take(name)?.ok_or_else(|| self.wrong(name, "is missing"))
    }

    /// A field, or what it is where it is not said.
    pub(crate) fn or<T: DeserializeOwned>(&mut self, name: &'static str, otherwise: T) -> Result<T, Trouble> {
        Ok(self.take(name)?.unwrap_or(otherwise))
    }

    /// Notes what is wrong with a field. What cannot be used is not also missing: the first that is wrong with it is enough.
    pub(crate) fn note(&mut self, name: &str, why: impl Into<String>) {
        let field = format!("{}{name}", self.within);
        if !self.wrong.iter().any(|(noted, _)| *noted == field) {
            self.wrong.push((field, why.into()));
        }
    }

    /// What is wrong with a field without which one cannot go on reading, after all that was noted before.
    pub(crate) fn wrong(&self, name: &str, why: impl Into<String>) -> Trouble {
        let mut all = self.clone();
        let why = why.into();
        all.note(name, why.as_str());
        Trouble::configs(all.wrong).unwrap_or_else(|| Trouble::config(name, why))
    }

    /// Nothing may be wrong, and nothing may be left that nobody asked for.
    pub(crate) fn end(mut self) -> Result<(), Trouble> {
        let known = self.known.join(", ");
        let unknown: Vec<String> = self.fields.keys().cloned().collect();
        unknown.iter().for_each(|name| self.note(name, format!("is not known; known are {known}")));
        Trouble::configs(self.wrong).map_or(Ok(()), Err)
    }
}

/// The things of a profile: those that a field lists, each with what is said for all of them at the top and what is said for it alone; or the
/// one that the top itself describes.
pub(crate) fn several<T>(
    config: &Map<String, Value>,
    field: &'static str,
    read: impl Fn(Settings) -> Result<T, Trouble>,
    name: impl Fn(&T) -> &str,
) -> Result<Vec<T>, Trouble> {
    let mut common = config.clone();
    let listed = match common.shift_remove(field) {
        None | Some(Value::Null) => return Ok(vec![read(Settings::new(&common))?]),
        Some(listed) => listed,
    };
    let listed: Vec<Map<String, Value>> =
        serde_json::from_value(listed).map_err(|error| Trouble::config(field, format!("cannot be used: {error}")))?;
    let own = |(at, own): (usize, Map<String, Value>)| {
        let mut all = common.clone();
        all.extend(own);
        read(Settings::within(&format!("{field}.{at}"), all))
    };
    let (mut all, mut wrong) = (Vec::new(), Vec::new());
    for read in listed.into_iter().enumerate().map(own) {
        match read {
            Ok(one) => all.push(one),
            Err(Trouble::Config { field, why }) => wrong.push((field, why)),
            Err(other) => return Err(other),
        }
    }
    if let Some(trouble) = Trouble::configs(wrong) {
        return Err(trouble);
    }
    let is_twice = |one: &&T| all.iter().filter(|other| name(other) == name(one)).count() > 1;
    match all.iter().find(is_twice) {
        Some(one) => Err(Trouble::config(field, format!("has two that are called `{}`", name(one)))),
        None if all.is_empty() => Err(Trouble::config(field, "is empty")),
        None => Ok(all),
    }
}
