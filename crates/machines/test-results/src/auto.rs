//! Detects the format of a text by lines that only that format prints.

use super::{Format, junit, lines::lines, reading::form, unity, xml};

/// The largest number of lines that are examined.
const LINES_MAX: usize = 200_000;

/// Returns the format of a text, if it is known. Formats that embed others are checked first: CTest prints the output
/// of GoogleTest.
pub(super) fn format(text: &str) -> Option<Format> {
    document(text).or_else(|| console(text))
}

fn document(text: &str) -> Option<Format> {
    let start = text.trim_start_matches(|c: char| c.is_whitespace() || c == '\u{feff}');
    if start.starts_with('<') {
        let root = xml::root(start, &["robot", junit::ROOTS[0], junit::ROOTS[1]])?;
        return Some(if root == "robot" { Format::Robot } else { Format::Junit });
    }
    (start.starts_with('{') && start.contains("\"testsuites\"")).then_some(Format::Twister)
}

fn console(text: &str) -> Option<Format> {
    let lines: Vec<String> = lines(text).into_iter().take(LINES_MAX).map(|line| line.text).collect();
    let has =
        |form: Option<&'static regex::Regex>| form.is_some_and(|form| lines.iter().any(|line| form.is_match(line)));
    if has(form!(r"^Test project \S|^\s*\d+/\d+ Test\s+#\d+: ")) {
        Some(Format::Ctest)
    } else if has(form!(r"^=+ test session starts =+$|^\S+\.py::\S+ (?:PASSED|FAILED)")) {
        Some(Format::Pytest)
    } else if has(form!(r"^running \d+ tests?$|^test result: ")) {
        Some(Format::Cargo)
    } else if has(form!(r"\[==========\] Running \d+ tests?|\[ RUN      \] ")) {
        Some(Format::Gtest)
    } else if has(form!(r"Running (?:TESTSUITE|test suite) \S|\bSTART - \w+$|PROJECT EXECUTION (?:SUCCESSFUL|FAILED)"))
    {
        Some(Format::Ztest)
    } else if has(form!(r"^(?:<\d+>)?(?:\[ *\d+\.\d+\](?:\[ *[TC]\d+\])? *)? *KTAP version \d")) {
        Some(Format::Ktap)
    } else if lines.iter().any(|line| unity::is_result(line))
        || has(form!(
            r"\b\d+ Tests? \d+ Failures? \d+ Ignored|^\S+:\d+: ?\S.*\s\[(?:PASSED|FAILED|IGNORED|SKIPPED|ERRORED)\]"
        ))
    {
        Some(Format::Unity)
    } else if has(form!(r"^TAP version \d|^1\.\.\d+(?:\s|$)|^(?:not )?ok \d+\b")) {
        Some(Format::Tap)
    } else if has(form!(r"^[.FEsxX]+\s+\[ *\d+%\]$")) {
        Some(Format::Pytest)
    } else {
        None
    }
}
