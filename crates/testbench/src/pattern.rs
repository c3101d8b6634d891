//! Patterns of a profile: lines are told apart, and a line may end as serial consoles end it.

use std::ops::Deref;

use regex::bytes::{Regex, RegexBuilder};
use serde::Deserialize;

/// A pattern in what a console prints.
#[derive(Clone, Debug, Deserialize)]
#[serde(try_from = "String")]
pub(crate) struct Pattern(Regex);

impl TryFrom<String> for Pattern {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        let pattern = RegexBuilder::new(&text).multi_line(true).crlf(true).build();
        pattern.map(Pattern).map_err(|error| {
            let told = error.to_string();
            // The last line is what is wrong; those before show where, which takes more than one line.
            let why = told.lines().last().unwrap_or_default().trim_start_matches("error: ").to_owned();
            format!("is no pattern: {why}")
        })
    }
}

impl Deref for Pattern {
    type Target = Regex;

    fn deref(&self) -> &Regex {
        &self.0
    }
}
