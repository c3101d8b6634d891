//! Ranks suspect lines: Ochiai on the lines that failing and passing cases executed, raised if other evidence names the
//! line.
//!
//! The module knows nothing about C. Lines of tests are never suspect, because a test defines the correct behaviour.

use std::collections::{BTreeMap, BTreeSet};

/// The factor for an executed line that an assertion, a stack or a fault names.
const NAMED_BOOST: f64 = 1.5;
/// The score of a named line without coverage.
const NAMED_ONLY: f64 = 0.6;

/// The lines that one case executed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Coverage {
    /// The name of the case.
    pub case: String,
    /// True if the case failed: an assertion, a fault, a hang.
    pub failed: bool,
    /// The lines it executed, as (path, line); the first line is 1.
    pub lines: BTreeSet<(String, usize)>,
}

/// A place that evidence other than coverage names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Named {
    /// The path of the file.
    pub path: String,
    /// The line; the first is 1.
    pub line: usize,
    /// The kind of evidence: "fault", "stack", "assertion".
    pub by: String,
}

/// A line that may be wrong.
#[derive(Clone, Debug, PartialEq)]
pub struct Suspect {
    /// The path of the file.
    pub path: String,
    /// The line; the first is 1.
    pub line: usize,
    /// The suspicion, from 0 to 1.
    pub score: f64,
    /// The reason in words: the cases that executed the line, and the evidence that names it.
    pub why: String,
}

#[derive(Default)]
struct Tally {
    failed: usize,
    passed: usize,
}

/// Ranks the lines that failing cases executed and the named lines, most suspect first; ties by path and line.
///
/// Without a failing case, only named lines are suspect.
pub fn localise(coverage: &[Coverage], named: &[Named]) -> Vec<Suspect> {
    let failing = coverage.iter().filter(|case| case.failed).count();
    let mut suspects: Vec<Suspect> =
        tally(coverage).iter().filter_map(|((path, line), tally)| executed(path, *line, tally, failing)).collect();
    for place in named.iter().filter(|place| !is_test(&place.path)) {
        name(&mut suspects, place);
    }
    suspects.sort_by(|a, b| b.score.total_cmp(&a.score).then_with(|| (&a.path, a.line).cmp(&(&b.path, b.line))));
    suspects
}

fn tally(coverage: &[Coverage]) -> BTreeMap<(String, usize), Tally> {
    let mut lines: BTreeMap<(String, usize), Tally> = BTreeMap::new();
    for case in coverage {
        for place in case.lines.iter().filter(|(path, _)| !is_test(path)) {
            let tally = lines.entry(place.clone()).or_default();
            if case.failed {
                tally.failed += 1;
            } else {
                tally.passed += 1;
            }
        }
    }
    lines
}

fn executed(path: &str, line: usize, tally: &Tally, failing: usize) -> Option<Suspect> {
    if tally.failed == 0 || failing == 0 {
        return None;
    }
    let all = tally.failed + tally.passed;
    let score = tally.failed as f64 / (failing as f64 * all as f64).sqrt();
    let why = format!("executed by {} of {failing} failing cases and {} passing", tally.failed, tally.passed);
    Some(Suspect { path: path.to_owned(), line, score, why })
}

fn name(suspects: &mut Vec<Suspect>, place: &Named) {
    let found = suspects.iter_mut().find(|suspect| suspect.path == place.path && suspect.line == place.line);
    if let Some(suspect) = found {
        suspect.score = (suspect.score * NAMED_BOOST).min(1.0);
        suspect.why = format!("{}; named by {}", suspect.why, place.by);
    } else {
        let why = format!("named by {}", place.by);
        suspects.push(Suspect { path: place.path.clone(), line: place.line, score: NAMED_ONLY, why });
    }
}

/// Returns true if a path belongs to a test, by its directories or its name. Such a file is never changed.
pub fn is_test(path: &str) -> bool {
    let mut parts = path.split(['/', '\\']).rev();
    let name = parts.next().unwrap_or_default().to_ascii_lowercase();
    let stem = name.split('.').next().unwrap_or_default();
    let by_name = stem.starts_with("test_") || stem.ends_with("_test") || stem.ends_with("_tests") || stem == "test";
    by_name || parts.any(|part| matches!(part.to_ascii_lowercase().as_str(), "test" | "tests" | "testing" | "unittest"))
}
