//! Patterns of a profile: `^` and `$` match at line boundaries, and lines may end with CR LF as on serial consoles.

use std::ops::Deref;

use regex::bytes::{Regex, RegexBuilder};
use serde::Deserialize;

/// A pattern that is searched in console output.
#[derive(Clone, Debug, Deserialize)]
#[serde(try_from = "String")]
pub(crate) struct Pattern(Regex);

impl TryFrom<String> for Pattern {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        let pattern = RegexBuilder::new(&text).multi_line(true).crlf(true).build();
        pattern.map(Pattern).map_err(|error| {
            let told = error.to_string();
            // The last line states the error; the lines before it show the position over several lines.
            let why = told.lines().last().unwrap_or_default().trim_start_matches("error: ").to_owned();
            format!("is not a pattern: {why}")
        })
    }
}

impl Deref for Pattern {
    type Target = Regex;

    fn deref(&self) -> &Regex {
        &self.0
    }
}
