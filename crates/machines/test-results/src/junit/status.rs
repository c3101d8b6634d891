//! The status of a case of JUnit XML, from its elements and its attributes.

use roxmltree::Node;

use super::{Status, form};

/// Returns the status of a case. An element counts before an attribute.
pub(super) fn of(node: Node<'_, '_>) -> Status {
    let children = || node.children().filter(Node::is_element);
    if let Some(bad) = children().find(|child| of_child(*child) == Some(Status::Failed)) {
        return badly(bad);
    }
    // A skipped case did not fail, unless an attribute reports a failure.
    let by_attributes = of_attributes(node);
    if let Some(bad) = by_attributes.filter(|status| status.is_bad()) {
        return bad;
    }
    if let Some(skipped) = children().find(|child| of_child(*child) == Some(Status::Skipped)) {
        // CTest marks a missing program as skipped.
        let is_absent =
            skipped.attribute("message").is_some_and(|message| message.contains("Unable to find executable"));
        return if is_absent { Status::Failed } else { Status::Skipped };
    }
    // Failed attempts at a case whose final result is not reported.
    if children().any(is_repeated) {
        return Status::Failed;
    }
    by_attributes.unwrap_or(Status::Passed)
}

fn name(node: Node<'_, '_>) -> String {
    node.tag_name().name().to_ascii_lowercase()
}

/// Returns the status that an element within a case or a suite reports: `failure`, `error` and their variants.
pub(super) fn of_child(node: Node<'_, '_>) -> Option<Status> {
    let name = name(node);
    let is = |starts: &[&str]| starts.iter().any(|start| name.starts_with(start));
    match () {
        () if !node.is_element() => None,
        () if is(&["fail", "error", "timeout", "timedout", "crash", "abort"]) => Some(Status::Failed),
        () if is(&["skip", "ignored", "disabled"]) => Some(Status::Skipped),
        () => None,
    }
}

/// Returns true for an element that reports a failure, at any place of a document.
pub(super) fn says_failed(node: Node<'_, '_>) -> bool {
    node.is_element() && matches!(name(node).as_str(), "failure" | "error" | "failed")
}

/// Returns true for an attempt at a case that failed on every attempt.
pub(super) fn is_repeated(node: Node<'_, '_>) -> bool {
    node.is_element() && name(node).starts_with("rerun")
}

/// Returns true for a failed attempt at a case that passed on a later attempt.
pub(super) fn is_flaky(node: Node<'_, '_>) -> bool {
    node.is_element() && name(node).starts_with("flaky")
}

/// Returns the status that `status`, `result` and `outcome` give. The worst counts.
pub(super) fn of_attributes(node: Node<'_, '_>) -> Option<Status> {
    let said = ["status", "result", "outcome"].iter().filter_map(|name| word(node.attribute(*name)?));
    said.max_by_key(|status| match status {
        Status::Passed => 0,
        Status::Skipped => 1,
        Status::Missing => 2,
        Status::Failed => 3,
        Status::Timeout => 4,
        Status::Crashed => 5,
    })
}

/// Returns the value of a status attribute that has no known meaning.
pub(super) fn unknown<'a>(node: Node<'a, '_>) -> Option<&'a str> {
    let words = ["status", "result", "outcome"].iter().filter_map(|name| node.attribute(*name));
    words.into_iter().find(|text| word(text) == Some(Status::Missing))
}

fn word(text: &str) -> Option<Status> {
    Some(match text.trim().to_ascii_lowercase().as_str() {
        "" | "run" | "completed" | "complete" | "executed" | "finished" => return None,
        "pass" | "passed" | "ok" | "success" | "successful" | "succeeded" | "true" => Status::Passed,
        "notrun" | "not run" | "not_run" | "disabled" | "skip" | "skipped" | "ignored" | "suppressed" | "pending"
        | "inconclusive" | "filtered" => Status::Skipped,
        "timeout" | "timedout" | "timed out" | "timed_out" => Status::Timeout,
        "crash" | "crashed" | "aborted" | "abort" => Status::Crashed,
        text if text.starts_with("fail") || text.starts_with("error") || text == "broken" || text == "false" => {
            Status::Failed
        }
        _ => Status::Missing,
    })
}

/// Returns the exact kind of failure: timeout, crash, or failed.
fn badly(node: Node<'_, '_>) -> Status {
    let attribute = |name: &str| node.attribute(name).unwrap_or_default();
    let about = format!("{} {}", attribute("type"), attribute("message"));
    let is = |form: Option<&'static regex::Regex>| form.is_some_and(|form| form.is_match(&about));
    if is(form!(r"(?i)^\s*\S*\s*(?:timeout|timed out)\b")) || name(node).starts_with("time") {
        Status::Timeout
    } else if is(form!(r"(?i)\b(?:crash(?:ed)?|segfault|segmentation fault|subprocess aborted)\b"))
        || name(node).starts_with("crash")
    {
        Status::Crashed
    } else {
        Status::Failed
    }
}
