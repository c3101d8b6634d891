//! No input causes a panic, and no truncated text passes.

use interlock_test_results::{Format, Measured, Parsed, Verdict, measure, parse};
use proptest::prelude::*;

use crate::{
    corpus::{Example, all},
    ran,
};

const NAMES: [&str; 12] =
    ["auto", "unity", "tap", "ktap", "junit", "gtest", "ctest", "pytest", "cargo", "twister", "ztest", "robot"];

fn formats() -> Vec<Format> {
    NAMES.iter().map(|name| Format::named(name).expect("a format")).collect()
}

fn green(parsed: Parsed, baseline: Option<&Measured>) -> Measured {
    measure(&[(parsed, &ran("all", 1, interlock_test_results::Stop::Exited { code: 0 }))], &[], baseline)
}

/// Checks the invariants of every parsed text.
fn check(text: &str) {
    for format in formats() {
        let parsed = parse(&format, text);
        let mut ids: Vec<&str> = parsed.cases.iter().map(|case| case.case_id.as_str()).collect();
        ids.sort_unstable();
        let count = ids.len();
        ids.dedup();
        assert_eq!(ids.len(), count, "ids are not unique: {format:?} {text:?}");
        let measured = green(parsed.clone(), None);
        if measured.verdict == Verdict::Pass {
            assert!(measured.passed_tests > 0 && measured.failed_tests == 0 && parsed.doubts.is_empty(), "{text:?}");
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn arbitrary_bytes_are_parsed(bytes in proptest::collection::vec(any::<u8>(), 0..400)) {
        check(&String::from_utf8_lossy(&bytes));
    }

    #[test]
    fn arbitrary_mixture_of_framework_output_is_parsed(
        pieces in proptest::collection::vec((any::<prop::sample::Index>(), any::<prop::sample::Index>(), 0usize..200), 1..8),
    ) {
        static TEXTS: std::sync::LazyLock<Vec<String>> =
            std::sync::LazyLock::new(|| all().into_iter().map(|example| example.text).collect());
        let mut text = String::new();
        for (which, start, length) in pieces {
            let from: Vec<char> = which.get(&TEXTS).chars().collect();
            let start = if from.is_empty() { 0 } else { start.index(from.len()) };
            text.extend(from.iter().skip(start).take(length));
        }
        check(&text);
    }
}

#[test]
fn large_texts_are_parsed_completely() {
    let mut unity = String::new();
    let mut tap = "1..20000\n".to_owned();
    let mut gtest = "[==========] Running 20000 tests from 1 test suite.\n".to_owned();
    for number in 1..=20_000 {
        unity.push_str(&format!("test_ring.c:{number}:test_push:PASS\n"));
        tap.push_str(&format!("ok {number} - case\n"));
        gtest.push_str(&format!("[ RUN      ] A.B{number}\n[       OK ] A.B{number} (0 ms)\n"));
    }
    let read = |name: &str, text: &str| parse(&Format::named(name).expect("a format"), text).cases.len();
    assert_eq!((read("unity", &unity), read("tap", &tap), read("gtest", &gtest)), (20_000, 20_000, 20_000));
}

#[test]
fn deep_nesting_is_parsed() {
    check(&(0..3000).map(|depth| format!("{}ok 1 - x\n", " ".repeat(depth))).collect::<String>());
    check(&"<testsuites>".repeat(3000));
    check(&"<robot><suite>".repeat(3000));
    check(&"{\"testsuites\":[".repeat(3000));
}

/// Returns the end of the last text that the format requires; the rest is other output.
fn end(example: &Example) -> usize {
    let text = example.text.as_str();
    let kind =
        example.path.parent().and_then(|path| path.file_name()).and_then(|name| name.to_str()).expect("a folder");
    let behind = |mark: &str| text.rfind(mark).map(|at| at + mark.len()).expect("its end");
    match kind {
        "gtest" => behind("[  PASSED  ] 5 tests."),
        "ctest" => behind("Total Test time"),
        "junit" => text.rfind('>').map(|at| at + 1).expect("its end"),
        // A plan at the top shows what is missing; the final totals may be absent.
        "tap" | "ktap" => {
            let is_result = |line: &&str| line.contains("ok ") || line.contains("1..");
            let last = text.lines().rfind(is_result).expect("a result");
            text.rfind(last).expect("its line") + last.len()
        }
        _ => text.trim_end().len(),
    }
}

/// Without a baseline that has its cases, it cannot be known that a second runner should have followed.
const COMPLETE_IN_THE_MIDDLE: [&str; 2] = ["two-files.log", "good-two-documents.xml"];

#[test]
fn truncated_texts_never_pass() {
    let mut seen = 0;
    for example in all() {
        let whole = example.measured();
        if whole.verdict != Verdict::Pass {
            continue;
        }
        seen += 1;
        let file = example.path.file_name().and_then(|name| name.to_str()).expect("a name");
        let needs_baseline = COMPLETE_IN_THE_MIDDLE.contains(&file);
        for cut in (0..end(&example)).filter(|cut| example.text.is_char_boundary(*cut)) {
            let parsed = parse(&example.format, &example.text[..cut]);
            let compared = green(parsed.clone(), Some(&whole)).verdict;
            assert_ne!(compared, Verdict::Pass, "{:?} cut at {cut} passes", example.path);
            let alone = green(parsed, None).verdict;
            assert!(needs_baseline || alone != Verdict::Pass, "{:?} cut at {cut} passes by itself", example.path);
        }
    }
    assert!(seen > 20, "{seen}");
}
