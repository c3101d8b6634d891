//! Incomplete TAP streams: a stream with fewer results than its plan was cut off, regardless of the exit code.

use std::borrow::Cow;

use crate::find::Finding;

/// Returns a finding if a TAP stream ends before its plan is complete.
pub(crate) fn cut_short(lines: &[Cow<'_, str>]) -> Option<Finding> {
    let plan = |line: &str| line.trim().strip_prefix("1..").and_then(|count| count.parse::<usize>().ok());
    let (at, planned) = lines.iter().enumerate().find_map(|(at, line)| plan(line).map(|count| (at, count)))?;
    let is_result = |line: &&Cow<'_, str>| {
        let rest = line.strip_prefix("ok ").or_else(|| line.strip_prefix("not ok "));
        rest.is_some_and(|rest| rest.starts_with(|letter: char| letter.is_ascii_digit()))
    };
    let results = lines.iter().filter(is_result).count();
    // A plan without any result is an unrelated number in some other log.
    (results > 0 && results < planned).then(|| Finding {
        class: "crash".to_owned(),
        cause: format!("the tests ended after {results} of {planned}"),
        suggestion: "Run the test after the last result alone: it ended the program.".to_owned(),
        file: None,
        line: None,
        excerpt: lines[at].trim().to_owned(),
        rule: "tap-plan".to_owned(),
        at: at + 1,
        rank: 21,
    })
}
