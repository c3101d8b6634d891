//! Whatever is read, nothing panics; and nothing that was cut off passes.

use interlock_testbench::results::{Format, Measured, Parsed, Verdict, measure, parse};
use proptest::prelude::*;

use super::{
    corpus::{Example, all},
    ran,
};

const NAMES: [&str; 12] =
    ["auto", "unity", "tap", "ktap", "junit", "gtest", "ctest", "pytest", "cargo", "twister", "ztest", "robot"];

fn formats() -> Vec<Format> {
    NAMES.iter().map(|name| Format::named(name).expect("a format")).collect()
}

fn green(parsed: Parsed, baseline: Option<&Measured>) -> Measured {
    measure(&[(parsed, &ran("all", 1, interlock_testbench::Stop::Exited { code: 0 }))], &[], baseline)
}

/// What holds of anything that was read.
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
    fn any_bytes_are_read(bytes in proptest::collection::vec(any::<u8>(), 0..400)) {
        check(&String::from_utf8_lossy(&bytes));
    }

    #[test]
    fn any_mixture_of_what_frameworks_print_is_read(
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
fn very_large_texts_are_read_in_time_that_grows_with_them() {
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
fn deep_nesting_is_read() {
    check(&(0..3000).map(|depth| format!("{}ok 1 - x\n", " ".repeat(depth))).collect::<String>());
    check(&"<testsuites>".repeat(3000));
    check(&"<robot><suite>".repeat(3000));
    check(&"{\"testsuites\":[".repeat(3000));
}

/// Where the last thing ends that the format has to say; what follows is somebody else's.
fn end(example: &Example) -> usize {
    let text = example.text.as_str();
    let kind =
        example.path.parent().and_then(|path| path.file_name()).and_then(|name| name.to_str()).expect("a folder");
    let behind = |mark: &str| text.rfind(mark).map(|at| at + mark.len()).expect("its end");
    match kind {
        "gtest" => behind("[  PASSED  ] 5 tests."),
        "ctest" => behind("Total Test time"),
        "junit" => text.rfind('>').map(|at| at + 1).expect("its end"),
        // A plan at the top says what is missing; what counts the results once more may be absent.
        "tap" | "ktap" => {
            let is_result = |line: &&str| line.contains("ok ") || line.contains("1..");
            let last = text.lines().rfind(is_result).expect("a result");
            text.rfind(last).expect("its line") + last.len()
        }
        _ => text.trim_end().len(),
    }
}

/// Nobody can tell that a second runner was to follow, unless the baseline has its cases.
const COMPLETE_IN_THE_MIDDLE: [&str; 2] = ["two-files.log", "good-two-documents.xml"];

#[test]
fn nothing_that_is_cut_off_passes() {
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
