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
/// Checks before the one that failed are read as far as this many lines up: they tell how things came there.
const LINES_BEFORE: usize = 3;

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
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Hints {
    /// Names in the checks that failed.
    pub words: BTreeSet<String>,
    /// Names in the lines just before them.
    pub nearby: BTreeSet<String>,
    /// What was expected, and what was there.
    pub differences: Vec<(i64, i64)>,
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
            for (number, line) in text.lines().enumerate().map(|(index, line)| (index + 1, line)) {
                if number == failure.line {
                    hints.words.extend(words(line));
                } else if number < failure.line && number + LINES_BEFORE >= failure.line {
                    hints.nearby.extend(words(line));
                }
            }
        }
        hints
    }

    /// Whether a check that failed names the word.
    pub(crate) fn names(&self, word: &str) -> bool {
        self.words.contains(word)
    }

    /// Whether something was expected to be one more or one less than it was.
    pub(crate) fn off_by_one(&self) -> bool {
        self.differences.iter().any(|(expected, actual)| expected.abs_diff(*actual) == 1)
    }
}

/// The names in a text.
pub(crate) fn words(text: &str) -> impl Iterator<Item = String> + '_ {
    text.split(|c: char| !c.is_ascii_alphanumeric() && c != '_')
        .filter(|word| word.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_'))
        .filter(|word| !EMPTY_WORDS.contains(word))
        .map(str::to_owned)
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
