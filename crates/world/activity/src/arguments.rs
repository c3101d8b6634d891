//! Reads the data that a machine gives an activity, field by field. A value that does not fit ends the attempt with
//! `BAD_INPUT` and the field's name.

use std::{collections::BTreeMap, path::PathBuf, sync::Arc, time::Duration};

use crate::{Outcome, code};
use interlock_chart::Value;

/// The longest time that an activity may take or wait: a hundred years.
const SECONDS_MAX: f64 = 3.2e9;

/// The reason why an activity cannot work with its data.
#[derive(Debug)]
pub struct BadArgument(String);

impl BadArgument {
    /// An error in one field, with the reason.
    pub fn field(name: &str, why: impl std::fmt::Display) -> Self {
        BadArgument(format!("`with.{name}` {why}"))
    }
}

impl From<BadArgument> for Outcome {
    fn from(bad: BadArgument) -> Self {
        Outcome::error(code::BAD_INPUT, bad.0)
    }
}

/// The given fields. A null field counts as missing.
#[derive(Debug)]
pub struct Arguments<'v>(Vec<(&'v str, &'v Value)>);

impl<'v> Arguments<'v> {
    /// Accepts only fields that the activity knows.
    pub fn new(with: &'v Value, known: &[&str]) -> Result<Self, BadArgument> {
        let Value::Map(fields) = with else {
            return Err(BadArgument(format!("`with` must be a map, not a {}", with.kind())));
        };
        if let Some(name) = fields.keys().find(|name| !known.contains(&&***name)) {
            return Err(BadArgument::field(name, format!("is not known; the fields are {}", known.join(", "))));
        }
        let fields = fields.iter().filter(|(_, value)| **value != Value::Null);
        Ok(Arguments(fields.map(|(name, value)| (&**name, value)).collect()))
    }

    /// The value of a field, unchanged.
    pub fn value(&self, name: &str) -> Option<&'v Value> {
        self.0.iter().find(|(known, _)| *known == name).map(|(_, value)| *value)
    }

    fn read<T>(
        &self,
        name: &str,
        what: &str,
        read: impl FnOnce(&'v Value) -> Option<T>,
    ) -> Result<Option<T>, BadArgument> {
        let Some(value) = self.value(name) else { return Ok(None) };
        match read(value) {
            Some(read) => Ok(Some(read)),
            None => Err(BadArgument::field(name, format!("must be {what}, not {}", short(value)))),
        }
    }

    /// The value of a string field.
    pub fn text(&self, name: &str) -> Result<Option<&'v str>, BadArgument> {
        self.read(name, "a string", Value::as_str)
    }

    /// The value of a required string field.
    pub fn need_text(&self, name: &str) -> Result<&'v str, BadArgument> {
        self.text(name)?.ok_or_else(|| BadArgument::field(name, "is missing"))
    }

    /// The value of a field in seconds.
    pub fn seconds(&self, name: &str) -> Result<Option<Duration>, BadArgument> {
        self.read(name, "a number of seconds", |value| match value {
            Value::Int(seconds) => Some(*seconds as f64),
            Value::Float(seconds) => Some(*seconds),
            _ => None,
        })?
        .map(|seconds| match (0.0..=SECONDS_MAX).contains(&seconds) {
            true => Ok(Duration::from_secs_f64(seconds)),
            false => Err(BadArgument::field(name, format!("must be between 0 and {SECONDS_MAX}, not {seconds}"))),
        })
        .transpose()
    }

    /// The value of a field with a whole number from 0.
    pub fn whole(&self, name: &str) -> Result<Option<u64>, BadArgument> {
        self.read(name, "a whole number from 0", |value| match value {
            Value::Int(number) => u64::try_from(*number).ok(),
            _ => None,
        })
    }

    /// A list of whole numbers, for example exit codes.
    pub fn numbers(&self, name: &str) -> Result<Option<Vec<i64>>, BadArgument> {
        self.read(name, "a list of whole numbers", |value| {
            items(value)?.iter().map(|item| if let Value::Int(number) = item { Some(*number) } else { None }).collect()
        })
    }

    /// The values of a field with a list of strings.
    pub fn texts(&self, name: &str) -> Result<Option<Vec<String>>, BadArgument> {
        self.read(name, "a list of strings", |value| items(value)?.iter().map(plain).collect())
    }

    /// A map of names to texts, for example an environment.
    pub fn pairs(&self, name: &str) -> Result<BTreeMap<String, String>, BadArgument> {
        let pairs = self.read(name, "a map of strings", |value| {
            let Value::Map(fields) = value else { return None };
            fields.iter().map(|(name, value)| Some((name.to_string(), plain(value)?))).collect()
        })?;
        Ok(pairs.unwrap_or_default())
    }

    /// A directory within another one, which it must not leave.
    pub fn folder(&self, name: &str, within: &std::path::Path) -> Result<PathBuf, BadArgument> {
        let real = |path: &std::path::Path| {
            path.canonicalize()
                .map_err(|error| BadArgument::field(name, format!("cannot be used: {}: {error}", path.display())))
        };
        let root = real(within)?;
        let folder = real(&root.join(self.text(name)?.unwrap_or(".")))?;
        match folder.starts_with(&root) {
            true if folder.is_dir() => Ok(folder),
            true => Err(BadArgument::field(name, "is not a directory")),
            false => Err(BadArgument::field(name, format!("is outside the run's directory {}", root.display()))),
        }
    }
}

fn items(value: &Value) -> Option<&Arc<[Value]>> {
    if let Value::List(items) = value { Some(items) } else { None }
}

/// Converts a string, a number or a bool to text; other values have no unambiguous text form.
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
