//! Reads the fields of `test_profile.config` one by one. Every problem is reported, not only the first: missing
//! fields, fields of the wrong type, and unknown fields.

use std::{fmt::Display, time::Duration};

use regex::bytes::{Regex, RegexBuilder};
use serde_json::{Map, Value};

use crate::Trouble;

/// The largest duration that is accepted: a hundred years.
const SECONDS_MAX: f64 = 3.2e9;

/// The size limit of a compiled pattern.
const PATTERN_BYTES_MAX: usize = 1 << 20;

/// The fields of a configuration, with the problems found so far.
#[derive(Debug)]
pub(crate) struct Fields<'m> {
    map: &'m Map<String, Value>,
    /// The prefix of field names, for an item of a list.
    within: String,
    known: Vec<&'static str>,
    wrong: Vec<(String, String)>,
}

impl<'m> Fields<'m> {
    /// Reads the fields of the configuration itself.
    pub(crate) fn new(map: &'m Map<String, Value>) -> Self {
        Fields { map, within: String::new(), known: Vec::new(), wrong: Vec::new() }
    }

    /// Records that a field cannot be used.
    pub(crate) fn bad(&mut self, name: &str, why: impl Display) {
        self.wrong.push((format!("{}{name}", self.within), why.to_string()));
    }

    fn get(&mut self, name: &'static str) -> Option<&'m Value> {
        self.known.push(name);
        self.map.get(name).filter(|value| !value.is_null())
    }

    /// Reads a field with a custom function; `what` describes the expected value.
    pub(crate) fn read<T>(
        &mut self,
        name: &'static str,
        what: &str,
        read: impl FnOnce(&'m Value) -> Option<T>,
    ) -> Option<T> {
        let value = self.get(name)?;
        let read = read(value);
        if read.is_none() {
            self.bad(name, format!("must be {what}, not {}", short(value)));
        }
        read
    }

    /// Reads an optional text.
    pub(crate) fn text(&mut self, name: &'static str) -> Option<String> {
        self.read(name, "a text", |value| value.as_str().map(str::to_owned))
    }

    /// Reads a required text.
    pub(crate) fn need_text(&mut self, name: &'static str) -> String {
        if self.map.get(name).is_none_or(Value::is_null) {
            self.bad(name, "is missing");
        }
        self.text(name).unwrap_or_default()
    }

    /// Reads one of a fixed set of words.
    pub(crate) fn word<T: Copy>(&mut self, name: &'static str, words: &[(&str, T)]) -> Option<T> {
        let known: Vec<_> = words.iter().map(|(word, _)| *word).collect();
        self.read(name, &format!("one of {}", known.join(", ")), |value| {
            words.iter().find(|(word, _)| Some(*word) == value.as_str()).map(|(_, what)| *what)
        })
    }

    /// Reads a list of texts, empty if absent.
    pub(crate) fn texts(&mut self, name: &'static str) -> Vec<String> {
        let texts = self.read(name, "a list of texts", |value| {
            value.as_array()?.iter().map(|item| item.as_str().map(str::to_owned)).collect()
        });
        texts.unwrap_or_default()
    }

    /// Reads an optional boolean.
    pub(crate) fn flag(&mut self, name: &'static str) -> Option<bool> {
        self.read(name, "true or false", Value::as_bool)
    }

    /// Reads an optional whole number.
    pub(crate) fn whole(&mut self, name: &'static str) -> Option<u64> {
        self.read(name, "a whole number from 0", Value::as_u64)
    }

    /// Reads an optional duration in seconds.
    pub(crate) fn seconds(&mut self, name: &'static str) -> Option<Duration> {
        let seconds = self.read(name, "a number of seconds", |value| {
            value.as_f64().filter(|seconds| (0.0..=SECONDS_MAX).contains(seconds))
        });
        seconds.map(Duration::from_secs_f64)
    }

    /// Reads an optional pattern.
    pub(crate) fn pattern(&mut self, name: &'static str) -> Option<Regex> {
        let text = self.text(name)?;
        self.compiled(name, &text)
    }

    /// Reads a required pattern.
    pub(crate) fn need_pattern(&mut self, name: &'static str) -> Option<Regex> {
        if self.map.get(name).is_none_or(Value::is_null) {
            self.bad(name, "is missing");
        }
        self.pattern(name)
    }

    /// Reads a list of patterns, empty if absent.
    pub(crate) fn patterns(&mut self, name: &'static str) -> Vec<Regex> {
        let texts = self.texts(name);
        texts.iter().filter_map(|text| self.compiled(name, text)).collect()
    }

    fn compiled(&mut self, name: &str, text: &str) -> Option<Regex> {
        let pattern = RegexBuilder::new(text).multi_line(true).crlf(true).size_limit(PATTERN_BYTES_MAX).build();
        let pattern = pattern.map_err(|error| {
            // The last line states the error; the lines before it show the position over several lines.
            let told = error.to_string();
            told.lines().last().unwrap_or_default().trim_start_matches("error: ").to_owned()
        });
        pattern.map_err(|why| self.bad(name, format!("is not a pattern: {why}"))).ok()
    }

    /// Reads a list of maps with a function for each item.
    pub(crate) fn items<T>(&mut self, name: &'static str, mut read: impl FnMut(&mut Fields<'m>) -> T) -> Vec<T> {
        let items = self.read(name, "a list of maps", |value| {
            value.as_array()?.iter().map(Value::as_object).collect::<Option<Vec<_>>>()
        });
        let mut all = Vec::new();
        for (number, map) in items.unwrap_or_default().into_iter().enumerate() {
            let within = format!("{}{name}[{number}].", self.within);
            let mut fields = Fields { map, within, known: Vec::new(), wrong: Vec::new() };
            all.push(read(&mut fields));
            fields.unknown();
            self.wrong.append(&mut fields.wrong);
        }
        all
    }

    fn unknown(&mut self) {
        let known = self.known.join(", ");
        let unknown: Vec<_> = self.map.keys().filter(|name| !self.known.contains(&name.as_str())).collect();
        for name in unknown {
            self.bad(name, format!("is not known; the fields are {known}"));
        }
    }

    /// Returns all problems as one error, if there are any.
    pub(crate) fn finish(mut self) -> Result<(), Trouble> {
        self.unknown();
        Trouble::configs(self.wrong).map_or(Ok(()), Err)
    }
}

fn short(value: &Value) -> String {
    match value {
        Value::Array(_) => "another list".to_owned(),
        Value::Object(_) => "another map".to_owned(),
        other => other.to_string().chars().take(60).collect(),
    }
}
