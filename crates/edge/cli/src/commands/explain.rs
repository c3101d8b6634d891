//! `interlock explain`: prints the page of a diagnostic's code.
//!
//! The pages are those of `docs/errors/`, embedded by the build script, so that they fit the version of the binary.

use interlock_suggest::did_you_mean;
use serde_json::json;

use super::Outcome;
use crate::{Exit, failure::Failure, output::Output, page, table};

/// The code and the Markdown text of each page, ordered by code.
const PAGES: &[(&str, &str)] = include!(concat!(env!("OUT_DIR"), "/errors.rs"));

/// Prints the page of a code, or the list of all codes.
pub(crate) fn run(code: Option<&str>, output: &Output) -> Outcome {
    match code {
        Some(code) => one(code, output)?,
        None => all(output)?,
    }
    Ok(Exit::Good)
}

/// Returns the codes that have a page.
pub(crate) fn codes() -> impl Iterator<Item = (&'static str, &'static str)> {
    PAGES.iter().map(|(code, text)| (*code, title(code, text)))
}

/// Returns the title and the text of a code's page.
pub(crate) fn page(code: &str) -> Option<(&'static str, &'static str)> {
    PAGES.iter().find(|(known, _)| *known == code).map(|(code, text)| (title(code, text), *text))
}

fn one(code: &str, output: &Output) -> Result<(), Failure> {
    let code = code.to_uppercase();
    let (code, text) = PAGES.iter().find(|(known, _)| *known == code).ok_or_else(|| unknown(&code))?;
    match output.is_json() {
        true => output.json(&json!({ "code": code, "title": title(code, text), "text": text }))?,
        false => output.data(&page::text(text, output))?,
    }
    Ok(())
}

fn all(output: &Output) -> Result<(), Failure> {
    if output.is_json() {
        output.json(&codes().map(|(code, title)| json!({ "code": code, "title": title })).collect::<Vec<_>>())?;
        return Ok(());
    }
    let rows = codes().map(|(code, title)| [code.to_owned(), title.to_owned()]);
    Ok(output.data(&table::text(["code", "problem"], rows, output))?)
}

/// Returns the page's heading without the code.
fn title<'t>(code: &str, text: &'t str) -> &'t str {
    let heading = text.lines().next().unwrap_or_default().trim_start_matches('#').trim();
    heading.strip_prefix(code).map_or(heading, |rest| rest.trim_start_matches(':').trim())
}

fn unknown(code: &str) -> Failure {
    // The digits of a code are unique: E0212 can only mean W0212.
    let same = PAGES.iter().find(|(known, _)| code.get(1..).is_some_and(|digits| known.get(1..) == Some(digits)));
    let same = same.map(|(known, _)| format!("did you mean `{known}`?"));
    let hint = same.or_else(|| did_you_mean(code, PAGES.iter().map(|(code, _)| *code)));
    let hint = hint.unwrap_or_else(|| "`interlock explain` lists all codes".to_owned());
    Failure::bad_input(format!("there is no error code `{code}`")).hint(hint)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_page_begins_with_its_code_and_a_title() {
        assert!(PAGES.len() > 80, "only {} pages are embedded", PAGES.len());
        for (code, text) in PAGES {
            assert!(text.starts_with(&format!("# {code}: ")), "{code}");
            assert!(!title(code, text).is_empty(), "{code}");
        }
    }
}
