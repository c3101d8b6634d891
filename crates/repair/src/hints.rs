//! What failing checks say beside that they failed: the names in the check, and what was expected and what was there.

use std::collections::{BTreeMap, BTreeSet};

/// Names that are in every check and say nothing.
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
/// As many names that most failed checks share say something; more say less.
const TELLING_WORDS: f64 = 5.0;

/// How much the owner of a field tells, where the field itself tells one.
const OWNER: f64 = 0.3;

/// A check that did not hold.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Failure {
    /// The case.
    pub case: String,
    /// The test's file.
    pub path: String,
    /// The line of the check; the first is 1.
    pub line: usize,
    /// What was printed: `Expected 3 Was 4`.
    pub message: String,
}

/// What is known of the failures, and what may not be changed.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Hints {
    /// Names in the checks that failed, and the share of the checks that name each.
    pub words: BTreeMap<String, f64>,
    /// What was expected, and what was there.
    pub differences: Vec<(i64, i64)>,
    /// Whether a case ended in a fault, not in a check.
    pub faulted: bool,
    /// Files that are read and never changed. Tests are never changed anyway.
    pub read_only: BTreeSet<String>,
}

impl Hints {
    /// Reads the lines that the failures name in the tests' texts.
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

    /// Whether a check that failed names the word.
    pub(crate) fn names(&self, word: &str) -> bool {
        self.words.contains_key(word)
    }

    /// How much a name tells, 0 to 1: by how many of the failed checks name it, and how few others they name.
    pub(crate) fn tells(&self, word: &str) -> f64 {
        let shared = self.words.values().filter(|share| **share >= 0.5).count().max(1) as f64;
        self.words.get(word).copied().unwrap_or_default() * (TELLING_WORDS / shared).min(1.0)
    }

    /// Whether something was expected to be one more or one less than it was.
    pub(crate) fn off_by_one(&self) -> bool {
        self.differences.iter().any(|(expected, actual)| expected.abs_diff(*actual) == 1)
    }
}

/// Whether a name only says whose field is meant: `wheel` in `wheel.running`.
fn is_owner(line: &str, word: &str) -> bool {
    [".", "->", "["].iter().any(|sign| line.contains(&format!("{word}{sign}")))
}

/// The names in a text.
pub(crate) fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !c.is_ascii_alphanumeric() && c != '_')
        .filter(|word| word.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_'))
        .filter(|word| !EMPTY_WORDS.contains(word))
}

/// The first two numbers after `Expected` and `Was`.
fn difference(message: &str) -> Option<(i64, i64)> {
    let after = |word: &str| {
        let rest = message.split_once(word)?.1.trim_start();
        let end = rest.char_indices().find(|(at, c)| !(c.is_ascii_digit() || (*at == 0 && *c == '-')));
        rest[..end.map_or(rest.len(), |(at, _)| at)].parse().ok()
    };
    Some((after("Expected")?, after("Was")?))
}
