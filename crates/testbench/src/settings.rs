//! What a profile says about its environment, read field by field. What does not fit is answered with the field's name.

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
}

impl Settings {
    /// Those of a profile.
    pub(crate) fn new(fields: &Map<String, Value>) -> Self {
        Settings { within: String::new(), fields: fields.clone(), known: Vec::new() }
    }

    /// Others that are within a field.
    pub(crate) fn within(field: &str, fields: Map<String, Value>) -> Self {
        Settings { within: format!("{field}."), fields, known: Vec::new() }
    }

    /// A field that need not be there.
    pub(crate) fn take<T: DeserializeOwned>(&mut self, name: &'static str) -> Result<Option<T>, Trouble> {
        self.known.push(name);
        match self.fields.shift_remove(name) {
            None | Some(Value::Null) => Ok(None),
            Some(value) => {
                let read = serde_json::from_value(value);
                read.map(Some).map_err(|error| self.wrong(name, format!("cannot be used: {error}")))
            }
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

    /// What is wrong with a field.
    pub(crate) fn wrong(&self, name: &str, why: impl Into<String>) -> Trouble {
        Trouble::config(&format!("{}{name}", self.within), why)
    }

    /// Nothing may be left that nobody asked for.
    pub(crate) fn end(self) -> Result<(), Trouble> {
        match self.fields.keys().next() {
            Some(name) => Err(self.wrong(name, format!("is not known; known are {}", self.known.join(", ")))),
            None => Ok(()),
        }
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
    let all = listed.into_iter().enumerate().map(own).collect::<Result<Vec<_>, _>>()?;
    let is_twice = |one: &&T| all.iter().filter(|other| name(other) == name(one)).count() > 1;
    match all.iter().find(is_twice) {
        Some(one) => Err(Trouble::config(field, format!("has two that are called `{}`", name(one)))),
        None if all.is_empty() => Err(Trouble::config(field, "is empty")),
        None => Ok(all),
    }
}
