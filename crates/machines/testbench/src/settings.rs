//! Reads the environment settings of a profile field by field, each into a typed value. Every field that does not fit
//! is reported, not only the first; `fields.rs` does the same for fields that are parsed value by value.

use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use crate::Trouble;

/// Fields that are taken out one by one; a null field counts as absent.
#[derive(Clone, Debug)]
pub(crate) struct Settings {
    /// The prefix of the field names, such as `boards.0.`.
    within: String,
    fields: Map<String, Value>,
    known: Vec<&'static str>,
    wrong: Vec<(String, String)>,
}

impl Settings {
    /// Returns the settings of a profile.
    pub(crate) fn new(fields: &Map<String, Value>) -> Self {
        Settings { within: String::new(), fields: fields.clone(), known: Vec::new(), wrong: Vec::new() }
    }

    /// Returns the settings within a field.
    pub(crate) fn within(field: &str, fields: Map<String, Value>) -> Self {
        Settings { within: format!("{field}."), fields, known: Vec::new(), wrong: Vec::new() }
    }

    /// Takes an optional field. An unusable one is recorded as a problem and counts as absent until the end.
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

    /// Takes a required field.
    pub(crate) fn need<T: DeserializeOwned>(&mut self, name: &'static str) -> Result<T, Trouble> {
        self.take(name)?.ok_or_else(|| self.wrong(name, "is missing"))
    }

    /// Takes a field or its default value.
    pub(crate) fn or<T: DeserializeOwned>(&mut self, name: &'static str, otherwise: T) -> Result<T, Trouble> {
        Ok(self.take(name)?.unwrap_or(otherwise))
    }

    /// Records a problem with a field. Only the first problem of a field is kept, so that an unusable field is not
    /// also reported as missing.
    pub(crate) fn note(&mut self, name: &str, why: impl Into<String>) {
        let field = format!("{}{name}", self.within);
        if !self.wrong.iter().any(|(noted, _)| *noted == field) {
            self.wrong.push((field, why.into()));
        }
    }

    /// Returns the error for a field that is needed to continue reading, after all recorded problems.
    pub(crate) fn wrong(&self, name: &str, why: impl Into<String>) -> Trouble {
        let mut all = self.clone();
        let why = why.into();
        all.note(name, why.as_str());
        Trouble::configs(all.wrong).unwrap_or_else(|| Trouble::config(name, why))
    }

    /// Checks that there is no problem and no unknown field left.
    pub(crate) fn end(mut self) -> Result<(), Trouble> {
        let known = self.known.join(", ");
        let unknown: Vec<String> = self.fields.keys().cloned().collect();
        unknown.iter().for_each(|name| self.note(name, format!("is not known; the fields are {known}")));
        Trouble::configs(self.wrong).map_or(Ok(()), Err)
    }
}

/// Reads the items that a field lists, each with the common top-level settings and its own. Without the field, the
/// top level itself describes the only item.
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
        Some(one) => Err(Trouble::config(field, format!("has two with the name `{}`", name(one)))),
        None if all.is_empty() => Err(Trouble::config(field, "is empty")),
        None => Ok(all),
    }
}
