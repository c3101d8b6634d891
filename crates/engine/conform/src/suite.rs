//! A directory of cases, and their results.

use std::{
    io,
    path::{Path, PathBuf},
};

use serde::Serialize;

use crate::{ConformanceCase, run};

/// The deepest nesting of directories that is searched: a link that leads back would never end.
const DEPTH_MAX: usize = 32;

/// The contents of a directory of cases.
#[derive(Debug, Default)]
pub struct SuiteContents {
    /// The cases, by name.
    pub cases: Vec<ConformanceCase>,
    /// Cases whose JSON cannot be understood: name and reason.
    pub broken: Vec<(String, String)>,
    /// Documents without expectations: parts that other documents include. They are not run.
    pub skipped: Vec<String>,
}

/// The result of a case.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// It behaved as expected.
    Passed,
    /// It did not behave as expected; this is the first difference.
    Failed(String),
    /// It needs something that machine files do not have, such as a script engine.
    Unsupported(String),
}

/// The result of a case, with its name.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct CaseReport {
    /// The path below the suite's directory, without extension.
    pub name: String,
    /// The verdict: `passed`, `failed` or `unsupported`.
    pub result: &'static str,
    /// The reason, unless it passed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
}

/// The results of a directory of cases.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Report {
    /// The number of cases that behaved as expected.
    pub passed: usize,
    /// The number of cases that did not.
    pub failed: usize,
    /// The number of cases that need something that machine files do not have.
    pub unsupported: usize,
    /// Documents without expectations, which were not run.
    pub skipped: Vec<String>,
    /// Every case that was run, by name.
    pub cases: Vec<CaseReport>,
}

/// Finds every `NAME.scxml` below a directory, with the `NAME.json` next to it.
pub fn find(folder: &Path) -> io::Result<SuiteContents> {
    let mut documents = Vec::new();
    collect(folder, 0, &mut documents)?;
    let mut named: Vec<_> = documents.into_iter().map(|path| (name_below(folder, &path), path)).collect();
    named.sort();
    let mut found = SuiteContents::default();
    for (name, path) in named {
        match ConformanceCase::beside(name.clone(), path) {
            Ok(case) if case.expects_pass() && has_no_pass(&case.scxml) => found.skipped.push(name),
            Ok(case) => found.cases.push(case),
            Err(why) => found.broken.push((name, why)),
        }
    }
    Ok(found)
}

fn collect(folder: &Path, depth: usize, documents: &mut Vec<PathBuf>) -> io::Result<()> {
    for entry in std::fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() && depth < DEPTH_MAX {
            collect(&path, depth + 1, documents)?;
        } else if path.extension().is_some_and(|extension| extension == "scxml") {
            documents.push(path);
        }
    }
    Ok(())
}

fn name_below(folder: &Path, path: &Path) -> String {
    let below = path.strip_prefix(folder).unwrap_or(path).with_extension("");
    let parts: Vec<_> = below.components().map(|part| part.as_os_str().to_string_lossy().into_owned()).collect();
    parts.join("/")
}

/// Returns true if this is a whole document without a final state `pass`. If `pass` is the only possible expectation,
/// the document does not check itself: it is a part of another document, or meant for people to look at.
fn has_no_pass(scxml: &Path) -> bool {
    std::fs::read(scxml).is_ok_and(|text| {
        let text = String::from_utf8_lossy(&text);
        let is_whole = text.trim_end().ends_with("</scxml>");
        is_whole && !["\"pass\"", "'pass'"].iter().any(|value| has_id(&text, value))
    })
}

/// Returns true if an attribute `id` has this value, quotes included.
fn has_id(text: &str, value: &str) -> bool {
    text.match_indices(value).any(|(at, _)| {
        let before = text[..at].trim_end().strip_suffix('=');
        before.is_some_and(|before| before.trim_end().ends_with("id"))
    })
}

/// Runs every case in order and reports each result to `each`.
pub fn run_all(found: &SuiteContents, mut each: impl FnMut(&CaseReport)) -> Report {
    let mut report = Report { skipped: found.skipped.clone(), ..Report::default() };
    let broken = found.broken.iter().map(|(name, why)| (name, Verdict::Failed(why.clone())));
    let run = found.cases.iter().map(|case| (&case.name, run(case)));
    for (name, verdict) in broken.chain(run) {
        let case = report.count(name, verdict);
        each(&case);
        report.cases.push(case);
    }
    report.cases.sort_by(|a, b| a.name.cmp(&b.name));
    report
}

impl Report {
    fn count(&mut self, name: &str, verdict: Verdict) -> CaseReport {
        let (counter, result, message) = match verdict {
            Verdict::Passed => (&mut self.passed, "passed", None),
            Verdict::Failed(why) => (&mut self.failed, "failed", Some(why)),
            Verdict::Unsupported(why) => (&mut self.unsupported, "unsupported", Some(why)),
        };
        *counter += 1;
        CaseReport { name: name.to_owned(), result, message }
    }
}
