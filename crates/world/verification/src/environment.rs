//! Recognises a broken environment: a missing program or SDK, a full disk, no network.
//!
//! A log with failed tests is never a fault of the environment: tests may print anything.

use std::sync::LazyLock;

use regex::Regex;

use crate::Log;

/// The exit codes of a shell that did not find a program, or could not start it.
const NOT_FOUND: i64 = 127;
const NOT_STARTED: i64 = 126;

/// Patterns of log lines, each with the cause that it shows. `$1` is the first group of the pattern.
const TABLE: &[(&str, &str)] = &[
    (r"No space left on device|Disk quota exceeded|\bENOSPC\b", "the disk is full"),
    (r"(?:Could not resolve host|could not resolve host):? ?(\S*)", "the network cannot be reached ($1)"),
    (
        r"Temporary failure in name resolution|getaddrinfo (?:ENOTFOUND|EAI_AGAIN)|Network is unreachable|network is unreachable|spurious network error",
        "the network cannot be reached",
    ),
    (r"(?m)^(?:/bin/)?(?:ba|da)?sh: (?:line )?\d+: (\S+): (?:command )?not found$", "the program $1 is not installed"),
    (r"(?m)^(?:/bin/)?(?:ba|da)?sh: \d+: (\S+): Permission denied$", "the program $1 cannot be started"),
    (r"(?m)^make(?:\[\d+\])?: (\S+): No such file or directory$", "the program $1 is not installed"),
    (r"python3?: No module named (pytest|tox|mypy|ruff|unittest)\b", "the Python module $1 is not installed"),
    (r"linker `(\S+)` not found", "the linker $1 is not installed"),
    (
        r"toolchain '([^']+)' is not installed|no (?:override and no )?default toolchain",
        "the Rust toolchain $1 is not installed",
    ),
    (r"Unable to locate (?:the |a )?Android SDK|ANDROID_(?:HOME|SDK_ROOT)\b.*not", "the Android SDK is missing"),
    (r"JAVA_HOME (?:is not|environment variable is not)|Unable to locate a Java Runtime", "the Java SDK is missing"),
    (r"No Flutter SDK|Unable to find the Flutter SDK|Dart SDK (?:is )?not found", "the Flutter SDK is missing"),
];

static PATTERNS: LazyLock<Vec<(Regex, &str)>> =
    LazyLock::new(|| TABLE.iter().filter_map(|(pattern, cause)| Some((Regex::new(pattern).ok()?, *cause))).collect());

/// Returns the cause if the environment, and not the code, made a command fail.
pub fn fault(exit_code: i64, log: &Log) -> Option<String> {
    if !log.failing.is_empty() {
        return None;
    }
    let found = PATTERNS.iter().find_map(|(pattern, cause)| {
        let found = pattern.captures(&log.text)?;
        let word = found.get(1).map_or("", |word| word.as_str());
        Some(cause.replace("$1", word).replace(" ()", ""))
    });
    match (found, exit_code) {
        (Some(cause), _) => Some(cause),
        (None, NOT_FOUND) => Some("a program is not installed".to_owned()),
        (None, NOT_STARTED) => Some("a program cannot be started".to_owned()),
        (None, _) => None,
    }
}

/// Returns true if the cause is a program or module that is not installed. A path may be a file that is yet to be written.
pub(crate) fn is_missing_program(cause: &str) -> bool {
    cause.starts_with("the ") && cause.ends_with(" is not installed") && !cause.contains('/')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn log(text: &str) -> Log {
        Log { text: text.into(), failing: Vec::new(), evidence: Vec::new(), findings: Vec::new() }
    }

    #[test]
    fn every_pattern_is_valid() {
        assert_eq!(PATTERNS.len(), TABLE.len());
    }

    #[test]
    fn faults_of_the_environment_have_a_cause() {
        let cases = [
            ("/bin/sh: 1: flutter: not found\n", 127, "the program flutter is not installed"),
            ("sh: line 1: go: command not found\n", 127, "the program go is not installed"),
            ("make: pytest: No such file or directory\n", 2, "the program pytest is not installed"),
            ("error: write: No space left on device (os error 28)", 101, "the disk is full"),
            ("Could not resolve host: example.test\n", 101, "the network cannot be reached (example.test)"),
            ("npm error code EAI_AGAIN\nnpm error getaddrinfo EAI_AGAIN x", 1, "the network cannot be reached"),
            ("/usr/bin/python3: No module named pytest", 1, "the Python module pytest is not installed"),
            ("error: linker `cc` not found", 101, "the linker cc is not installed"),
            ("Unable to locate Android SDK.", 1, "the Android SDK is missing"),
            ("", 127, "a program is not installed"),
        ];
        for (text, code, cause) in cases {
            assert_eq!(fault(code, &log(text)).as_deref(), Some(cause), "{text}");
        }
    }

    #[test]
    fn a_failure_of_the_code_is_no_fault_of_the_environment() {
        assert_eq!(fault(1, &log("error[E0308]: mismatched types")), None);
        let failing = Log { failing: vec!["disk".into()], ..log("assertion: No space left on device") };
        assert_eq!(fault(1, &failing), None);
    }
}
