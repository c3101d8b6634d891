//! `interlock machines`: lists the machines that can be found.
//!
//! Only the head of each file is read: listing must be instant, and a machine with problems is listed too.

use std::path::Path;

use interlock_chart::{
    library::{self, Listed},
    yaml,
};
use serde::Serialize;
use serde_json::Value as Json;

use super::Outcome;
use crate::{Exit, machine, output::Output};

/// A machine's name, version, summary and origin.
#[derive(Debug, Serialize)]
pub(crate) struct Row {
    id: String,
    version: Option<u32>,
    summary: String,
    origin: &'static str,
    path: String,
}

/// Lists all machines, as text or JSON.
pub(crate) fn run(output: &Output) -> Outcome {
    let rows = rows(&machine::here());
    if output.is_json() {
        output.json(&rows)?;
        return Ok(Exit::Good);
    }
    let width = rows.iter().map(|row| row.id.chars().count()).max().unwrap_or(0);
    for row in &rows {
        let name = output.bold(&format!("{:<width$}", row.id));
        output.data(&format!("{name}  {:<8}  {}\n", row.origin, row.summary))?;
    }
    Ok(Exit::Good)
}

/// Returns the machines that can be found from a directory.
pub(crate) fn rows(folder: &Path) -> Vec<Row> {
    library::list(folder).iter().map(|listed| row(listed, folder)).collect()
}

fn row(listed: &Listed, folder: &Path) -> Row {
    let source = library::load(&listed.name, folder).ok();
    let text = source.as_ref().map_or("", |source| source.text.as_str());
    Row {
        id: listed.name.clone(),
        version: field(text, "version").and_then(|version| version.parse().ok()),
        summary: field(text, "summary").unwrap_or_default(),
        origin: listed.origin.word(),
        path: machine::short(&listed.path.display().to_string()),
    }
}

/// Returns the value of a top-level key, if it is on the same line as the key.
fn field(text: &str, key: &str) -> Option<String> {
    let line = text.lines().find(|line| line.strip_prefix(key).is_some_and(|rest| rest.starts_with(':')))?;
    match yaml::to_json(line).ok()?.get(key)? {
        Json::String(text) => Some(text.clone()),
        Json::Null => Some(String::new()),
        other => Some(other.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_head_of_a_file_is_read_without_reading_the_file() {
        let cases = [
            ("summary: Change code. # not this", Some("Change code.")),
            ("# summary: no\nsummary: \"Do: this # that\"", Some("Do: this # that")),
            ("summary: 'it'\nstates: {}", Some("it")),
            ("states:\n  summary: inner", None),
            ("summaryx: no", None),
            ("summary:", Some("")),
            (r#"summary: "a \"b\" c""#, Some("a \"b\" c")),
        ];
        for (text, expected) in cases {
            assert_eq!(field(text, "summary").as_deref(), expected, "{text}");
        }
    }
}
