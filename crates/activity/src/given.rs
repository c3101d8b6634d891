//! What a machine gives an activity, field by field. Whatever does not fit is answered with `BAD_INPUT` and the field's name.

use std::{collections::BTreeMap, path::PathBuf, sync::Arc, time::Duration};

use crate::{Outcome, code};
use interlock_chart::Value;

/// The longest time an activity can be told to take or to wait: a hundred years.
const SECONDS_MAX: f64 = 3.2e9;

/// Why an activity cannot work with what it is given.
#[derive(Debug)]
pub struct Bad(String);

impl Bad {
    /// One field, and what is wrong with it.
    pub fn field(name: &str, why: impl std::fmt::Display) -> Self {
        Bad(format!("`with.{name}` {why}"))
    }
}

impl From<Bad> for Outcome {
    fn from(bad: Bad) -> Self {
        Outcome::error(code::BAD_INPUT, bad.0)
    }
}

/// The fields given. One that is null counts as not given.
#[derive(Debug)]
pub struct Given<'v>(Vec<(&'v str, &'v Value)>);

impl<'v> Given<'v> {
    /// Only the fields that the activity knows.
    pub fn new(with: &'v Value, known: &[&str]) -> Result<Self, Bad> {
        let Value::Map(fields) = with else {
            return Err(Bad(format!("`with` is to be a map, not a {}", with.kind())));
        };
        if let Some(name) = fields.keys().find(|name| !known.contains(&&***name)) {
            return Err(Bad::field(name, format!("is not known; known are {}", known.join(", "))));
        }
        let fields = fields.iter().filter(|(_, value)| **value != Value::Null);
        Ok(Given(fields.map(|(name, value)| (&**name, value)).collect()))
    }

    /// A field as it is.
    pub fn value(&self, name: &str) -> Option<&'v Value> {
        self.0.iter().find(|(known, _)| *known == name).map(|(_, value)| *value)
    }

    fn read<T>(&self, name: &str, what: &str, read: impl FnOnce(&'v Value) -> Option<T>) -> Result<Option<T>, Bad> {
        let Some(value) = self.value(name) else { return Ok(None) };
        match read(value) {
            Some(read) => Ok(Some(read)),
            None => Err(Bad::field(name, format!("is to be {what}, not {}", short(value)))),
        }
    }

    /// A string.
    pub fn text(&self, name: &str) -> Result<Option<&'v str>, Bad> {
        self.read(name, "a string", Value::as_str)
    }

    /// A string that must be given.
    pub fn need_text(&self, name: &str) -> Result<&'v str, Bad> {
        self.text(name)?.ok_or_else(|| Bad::field(name, "is missing"))
    }

    /// A time.
    pub fn seconds(&self, name: &str) -> Result<Option<Duration>, Bad> {
        self.read(name, "a number of seconds", |value| match value {
            Value::Int(seconds) => Some(*seconds as f64),
            Value::Float(seconds) => Some(*seconds),
            _ => None,
        })?
        .map(|seconds| match (0.0..=SECONDS_MAX).contains(&seconds) {
            true => Ok(Duration::from_secs_f64(seconds)),
            false => Err(Bad::field(name, format!("is to be between 0 and {SECONDS_MAX}, not {seconds}"))),
        })
        .transpose()
    }

    /// A whole number.
    pub fn whole(&self, name: &str) -> Result<Option<u64>, Bad> {
        self.read(name, "a whole number from 0", |value| match value {
            Value::Int(number) => u64::try_from(*number).ok(),
            _ => None,
        })
    }

    /// Whole numbers, say of exit codes.
    pub fn numbers(&self, name: &str) -> Result<Option<Vec<i64>>, Bad> {
        self.read(name, "a list of whole numbers", |value| {
            items(value)?.iter().map(|item| if let Value::Int(number) = item { Some(*number) } else { None }).collect()
        })
    }

    /// Strings.
    pub fn texts(&self, name: &str) -> Result<Option<Vec<String>>, Bad> {
        self.read(name, "a list of strings", |value| items(value)?.iter().map(plain).collect())
    }

    /// Names and their texts, say of an environment.
    pub fn pairs(&self, name: &str) -> Result<BTreeMap<String, String>, Bad> {
        let pairs = self.read(name, "a map of strings", |value| {
            let Value::Map(fields) = value else { return None };
            fields.iter().map(|(name, value)| Some((name.to_string(), plain(value)?))).collect()
        })?;
        Ok(pairs.unwrap_or_default())
    }

    /// A folder within another one, which it must not leave.
    pub fn folder(&self, name: &str, within: &std::path::Path) -> Result<PathBuf, Bad> {
        let real = |path: &std::path::Path| {
            path.canonicalize()
                .map_err(|error| Bad::field(name, format!("cannot be used: {}: {error}", path.display())))
        };
        let root = real(within)?;
        let folder = real(&root.join(self.text(name)?.unwrap_or(".")))?;
        match folder.starts_with(&root) {
            true if folder.is_dir() => Ok(folder),
            true => Err(Bad::field(name, "is not a folder")),
            false => Err(Bad::field(name, format!("leaves the run's folder {}", root.display()))),
        }
    }
}

fn items(value: &Value) -> Option<&Arc<[Value]>> {
    if let Value::List(items) = value { Some(items) } else { None }
}

/// A text, or what is written as one without doubt.
fn plain(value: &Value) -> Option<String> {
    match value {
        Value::Str(_) | Value::Int(_) | Value::Float(_) | Value::Bool(_) => Some(value.to_string()),
        _ => None,
    }
}

fn short(value: &Value) -> String {
    match value {
        Value::List(_) | Value::Map(_) => format!("a {}", value.kind()),
        other => serde_json::Value::from(other).to_string().chars().take(60).collect(),
    }
}
