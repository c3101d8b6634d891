//! Fuzzes the readers of test results: no reader panics on any text, and a text with a failure marker of its format is
//! never read as passed.

use std::{collections::BTreeMap, time::Duration};

use interlock_test_results::{Ran, Start, Stop, Format, Verdict, measure, parse, text};
use serde_json::{Map, json};

use interlock_testkit::markers::has_marker;

/// Reads a text in this format, as the output of a program that ended with exit code 0.
pub fn read(name: &str, bytes: &[u8]) {
    let text = text(bytes);
    let parsed = parse(&format(name), &text);
    let start = Start { id: "all".to_owned(), repetition: 1, timeout: Duration::from_secs(1), ..Start::default() };
    let ran = Ran {
        start,
        stop: Stop::Exited { code: 0 },
        duration_ms: 1,
        logs: Vec::new(),
        reports: Vec::new(),
        artifacts: Vec::new(),
        faults: Vec::new(),
        coverage: BTreeMap::new(),
    };
    let measured = measure(&[(parsed, &ran)], &[], None);
    let is_passed = measured.verdict == Verdict::Pass;
    assert!(!(is_passed && has_marker(name, &text)), "a text with a failure marker passes");
    assert!(!is_passed || measured.passed_tests > 0 && measured.failed_tests == 0 && measured.doubts.is_empty());
}

fn format(name: &str) -> Format {
    let patterns = json!({
        "plan": r"^run (?P<total>\d+) cases",
        "start": r"^#TEST (?P<case>\S+) begin",
        "result": r"^#TEST (?P<case>\S+) -> (?P<status>\w+) \((?P<duration_ms>\d+) ms\)",
        "summary": r"^#DONE (?P<total>\d+) run, (?P<failed>\d+) bad",
    });
    let config: Map<_, _> = [("patterns".to_owned(), patterns)].into_iter().collect();
    Format::configured(name, &config).expect("a format")
}
