//! Weakened tests: fewer cases, fewer assertions, skipped tests, and changed expectations.
//!
//! The analysis matches the keywords of common frameworks, line by line. It misses much that only a test run would
//! show; its purpose is to notice changes that a patch should never make silently.

use std::fmt;

use super::Table;
use crate::{ChangeKind, FileChange, Patch};

/// One way in which a patch weakens tests.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Weakening {
    /// More cases are removed than added.
    FewerCases {
        /// The path of the test file.
        path: String,
        /// The number of missing cases.
        fewer: usize,
    },
    /// More assertions are removed than added.
    FewerAssertions {
        /// The path of the test file.
        path: String,
        /// The number of missing assertions.
        fewer: usize,
    },
    /// A test is skipped now.
    Skipped {
        /// The path of the test file.
        path: String,
        /// The line that skips it.
        line: String,
    },
    /// An expectation is changed.
    Expectation {
        /// The path of the test file.
        path: String,
        /// The line as it is now.
        line: String,
    },
    /// An assertion that can no longer fail.
    Empty {
        /// The path of the test file.
        path: String,
        /// The line as it is now.
        line: String,
    },
}

impl fmt::Display for Weakening {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Weakening::FewerCases { path, fewer } => write!(out, "{fewer} fewer cases in {path}"),
            Weakening::FewerAssertions { path, fewer } => write!(out, "{fewer} fewer assertions in {path}"),
            Weakening::Skipped { path, line } => write!(out, "skipped in {path}: {line}"),
            Weakening::Expectation { path, line } => write!(out, "expectation changed in {path}: {line}"),
            Weakening::Empty { path, line } => write!(out, "an assertion that cannot fail in {path}: {line}"),
        }
    }
}

/// Texts that begin a test case, in C (Unity, gtest, Catch, ztest), Rust, Python, JavaScript, Go and Java.
const CASES: [&str; 22] = [
    "void test_",
    "void Test",
    "static void test_",
    "RUN_TEST(",
    "TEST(",
    "TEST_F(",
    "TEST_P(",
    "TEST_CASE(",
    "ZTEST(",
    "SCENARIO(",
    "#[test]",
    "#[tokio::test]",
    "def test_",
    "async def test_",
    "it(",
    "test(",
    "it.each(",
    "test.each(",
    "func Test",
    "t.Run(",
    "@Test",
    "@ParameterizedTest",
];

/// Texts that mark an assertion.
const ASSERTIONS: [&str; 22] = [
    "TEST_ASSERT",
    "ASSERT_",
    "EXPECT_",
    "REQUIRE(",
    "CHECK(",
    "CHECK_",
    "zassert",
    "assert(",
    "assert!",
    "assert_eq!",
    "assert_ne!",
    "assert_matches!",
    "assert ",
    "self.assert",
    "pytest.raises",
    "expect(",
    "assert.",
    "t.Error",
    "t.Fatal",
    "require.",
    "assertEquals",
    "assertThat",
];

/// Texts that skip a test.
const SKIPS: [&str; 34] = [
    "TEST_IGNORE",
    "GTEST_SKIP",
    "DISABLED_",
    "ztest_test_skip",
    "#[ignore",
    "#[should_panic",
    "@pytest.mark.skip",
    "@pytest.mark.xfail",
    "pytest.skip(",
    "@unittest.skip",
    "self.skipTest",
    "pytest.xfail(",
    "it.skip(",
    "test.skip(",
    "describe.skip(",
    "xit(",
    "xdescribe(",
    "xtest(",
    "it.only(",
    "test.only(",
    "describe.only(",
    "it.todo(",
    "test.todo(",
    "fit(",
    "fdescribe(",
    "t.Skip",
    "b.Skip",
    "@Ignore",
    "@Disabled",
    "assumeTrue(",
    "#if 0",
    "#[cfg(any())]",
    "t.SkipNow",
    "pytestmark = pytest.mark.skip",
];

/// Assertions that always hold.
const EMPTY: [&str; 14] = [
    "assert True",
    "assert(true)",
    "assert!(true)",
    "assert(1)",
    "TEST_ASSERT(1)",
    "TEST_ASSERT_TRUE(1)",
    "TEST_ASSERT_TRUE(true)",
    "EXPECT_TRUE(true)",
    "ASSERT_TRUE(true)",
    "expect(true).toBe(true)",
    "assertTrue(true)",
    "assert 1",
    "REQUIRE(true)",
    "TEST_PASS()",
];

/// The maximum length of a line in a message.
const SHOWN_MAX: usize = 80;

/// Returns every way in which a patch weakens tests.
pub fn weakenings(patch: &Patch, table: &Table) -> Vec<Weakening> {
    let mut found = Vec::new();
    for file in patch.files.iter().filter(|file| file.kind != ChangeKind::Deleted) {
        // Rust keeps tests beside the code, so any line with an assertion belongs to a test; in other languages the
        // file name decides.
        if !table.is_test(&file.path) && !holds_tests(file) {
            continue;
        }
        of_file(file, &mut found);
    }
    found
}

fn is_code(path: &str) -> bool {
    let ending = path.rsplit('.').next().unwrap_or_default();
    ["c", "h", "cc", "cpp", "hpp", "rs", "py", "js", "ts", "jsx", "tsx", "go", "java", "kt", "s", "S", "ld"]
        .contains(&ending)
}

fn holds_tests(file: &FileChange) -> bool {
    let lines = || file.added.iter().chain(&file.removed);
    is_code(&file.path)
        && lines().any(|line| begins(line, &CASES) || begins(line, &SKIPS) || begins(line, &ASSERTIONS[..12]))
}

fn of_file(file: &FileChange, found: &mut Vec<Weakening>) {
    let path = || file.path.clone();
    let count = |lines: &[String], words: &[&str]| lines.iter().filter(|line| begins(line, words)).count();
    let fewer = |words: &[&str]| count(&file.removed, words).saturating_sub(count(&file.added, words));
    match fewer(&CASES) {
        0 => {}
        fewer => found.push(Weakening::FewerCases { path: path(), fewer }),
    }
    match fewer(&ASSERTIONS) {
        0 => {}
        fewer => found.push(Weakening::FewerAssertions { path: path(), fewer }),
    }
    for line in file.added.iter().filter(|line| has_any(line, &SKIPS) && !file.removed.contains(line)) {
        found.push(Weakening::Skipped { path: path(), line: shown(line) });
    }
    for line in file
        .added
        .iter()
        .filter(|line| has_any(&line.replace(' ', ""), &squeezed(&EMPTY)) && !file.removed.contains(line))
    {
        found.push(Weakening::Empty { path: path(), line: shown(line) });
    }
    expectations(file, found);
}

fn squeezed(words: &[&str]) -> Vec<String> {
    words.iter().map(|word| word.replace(' ', "")).collect()
}

/// Reports an assertion that is replaced by a similar one: the expectation has changed.
fn expectations(file: &FileChange, found: &mut Vec<Weakening>) {
    let mut gone: Vec<&String> = file.removed.iter().filter(|line| begins(line, &ASSERTIONS)).collect();
    for line in file.added.iter().filter(|line| begins(line, &ASSERTIONS)) {
        let like =
            gone.iter().position(|old| *old != line && strsim::normalized_levenshtein(old.trim(), line.trim()) > 0.6);
        if let Some(at) = like {
            gone.remove(at);
            found.push(Weakening::Expectation { path: file.path.clone(), line: shown(line) });
        }
    }
}

/// Reports if a line that is not a comment contains one of these words.
fn begins(line: &str, words: &[&str]) -> bool {
    let line = line.trim();
    if is_comment(line) {
        return false;
    }
    has_any(line, words)
}

fn is_comment(line: &str) -> bool {
    line.starts_with("//")
        || line.starts_with("/*")
        || line.starts_with("* ")
        || (line.starts_with('#') && !line.starts_with("#[") && !line.starts_with("#if"))
}

/// Reports if a line contains one of these words, not as the end of a longer one.
fn has_any(line: &str, words: &[impl AsRef<str>]) -> bool {
    words.iter().any(|word| {
        let word = word.as_ref();
        line.match_indices(word)
            .any(|(at, _)| !line[..at].ends_with(|letter: char| letter.is_alphanumeric() || letter == '_'))
    })
}

fn shown(line: &str) -> String {
    line.trim().chars().take(SHOWN_MAX).collect()
}
