//! Evidence from failing checks: the names in the check, and the expected and actual values.

use std::collections::{BTreeMap, BTreeSet};

/// Names that occur in every check and have no information.
const EMPTY_WORDS: [&str; 12] = [
    "CHECK",
    "CHECK_EQ",
    "CHECK_BYTES",
    "TEST_ASSERT",
    "assert",
    "sizeof",
    "NULL",
    "true",
    "false",
    "int",
    "uint8_t",
    "const",
];
/// The number of names shared by most failed checks up to which each has full weight. More names have less weight each.
const TELLING_WORDS: f64 = 5.0;

/// The weight of a field's owner, relative to the field itself.
const OWNER: f64 = 0.3;

/// A check that failed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Failure {
    /// The name of the case.
    pub case: String,
    /// The path of the test's file.
    pub path: String,
    /// The line of the check; the first is 1.
    pub line: usize,
    /// The printed message: `Expected 3 Was 4`.
    pub message: String,
}

/// The evidence from the failures, and the files that may not be changed.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Hints {
    /// The names in the failed checks, with the share of the checks that contain each.
    pub words: BTreeMap<String, f64>,
    /// The expected and the actual values.
    pub differences: Vec<(i64, i64)>,
    /// True if a case ended in a fault, not in a check.
    pub faulted: bool,
    /// Files that are read but never changed. Tests are never changed in any case.
    pub read_only: BTreeSet<String>,
}

impl Hints {
    /// Collects hints from the lines of the tests that the failures name.
    pub fn of(tests: &BTreeMap<String, String>, failures: &[Failure]) -> Hints {
        let mut hints = Hints::default();
        for failure in failures {
            hints.differences.extend(difference(&failure.message));
            let Some(text) = tests.get(&failure.path) else { continue };
            let line = failure.line.checked_sub(1).and_then(|index| text.lines().nth(index)).unwrap_or_default();
            for word in words(line).collect::<BTreeSet<&str>>() {
                let telling = if is_owner(line, word) { OWNER } else { 1.0 };
                *hints.words.entry(word.to_owned()).or_default() += telling / failures.len() as f64;
            }
        }
        hints
    }

    /// Returns true if a failed check contains the word.
    pub(crate) fn names(&self, word: &str) -> bool {
        self.words.contains_key(word)
    }

    /// Returns the weight of a name, 0 to 1: it grows with the number of failed checks that contain it and shrinks with
    /// the number of other names.
    pub(crate) fn tells(&self, word: &str) -> f64 {
        let shared = self.words.values().filter(|share| **share >= 0.5).count().max(1) as f64;
        self.words.get(word).copied().unwrap_or_default() * (TELLING_WORDS / shared).min(1.0)
    }

    /// Returns true if an actual value differs from the expected one by one.
    pub(crate) fn off_by_one(&self) -> bool {
        self.differences.iter().any(|(expected, actual)| expected.abs_diff(*actual) == 1)
    }
}

/// Returns true if a name is only the owner of a field: `wheel` in `wheel.running`.
fn is_owner(line: &str, word: &str) -> bool {
    [".", "->", "["].iter().any(|sign| line.contains(&format!("{word}{sign}")))
}

/// Returns the names in a text.
pub(crate) fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !c.is_ascii_alphanumeric() && c != '_')
        .filter(|word| word.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_'))
        .filter(|word| !EMPTY_WORDS.contains(word))
}

/// Returns the numbers after `Expected` and `Was`.
fn difference(message: &str) -> Option<(i64, i64)> {
    let after = |word: &str| {
        let rest = message.split_once(word)?.1.trim_start();
        let end = rest.char_indices().find(|(at, c)| !(c.is_ascii_digit() || (*at == 0 && *c == '-')));
        rest[..end.map_or(rest.len(), |(at, _)| at)].parse().ok()
    };
    Some((after("Expected")?, after("Was")?))
}
