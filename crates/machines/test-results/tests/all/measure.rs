//! Measurements of several starts and repetitions.

use expect_test::{Expect, expect};
use interlock_test_results::{
    Fault, Format, Measured, Parsed, Stop, Verdict, Wanted, measure, measure_wanted, parse, read,
};

use crate::ran;

/// Returns a Unity console with these results: `a` passed, `!b` failed, `-c` ignored; with a summary unless the last
/// word is `…`.
fn console(words: &str) -> String {
    let mut text = String::new();
    let (mut failed, mut total) = (0, 0);
    let mut is_complete = true;
    for word in words.split_whitespace() {
        let (name, result) = match word.split_at_checked(1) {
            Some(("!", name)) => (name, "FAIL: wrong"),
            Some(("-", name)) => (name, "IGNORE"),
            _ => (word, "PASS"),
        };
        if word == "…" {
            is_complete = false;
            continue;
        }
        total += 1;
        failed += usize::from(word.starts_with('!'));
        text.push_str(&format!("t.c:1:{name}:{result}\n"));
    }
    if is_complete {
        text.push_str(&format!(
            "{total} Tests {failed} Failures 0 Ignored\n{}\n",
            if failed > 0 { "FAIL" } else { "OK" }
        ));
    }
    text
}

fn unity(words: &str) -> Parsed {
    parse(&Format::Unity, &console(words))
}

fn exited(code: i64) -> Stop {
    Stop::Exited { code }
}

fn names(text: &str) -> Vec<String> {
    text.split_whitespace().map(str::to_owned).collect()
}

/// A start: its id and repetition, its output, and the way it ended.
type Given<'a> = (&'a str, u32, &'a str, Stop);

fn measured(given: &[Given<'_>], expected: &str, targets: &str, baseline: Option<&Measured>) -> Measured {
    let starts: Vec<_> = given.iter().map(|(id, repetition, _, stop)| ran(id, *repetition, stop.clone())).collect();
    let all: Vec<(Parsed, &_)> = given.iter().zip(&starts).map(|((_, _, words, _), ran)| (unity(words), ran)).collect();
    let (expected, targets) = (names(expected), names(targets));
    measure_wanted(&all, Wanted { expected: &expected, targets: &targets, baseline })
}

fn shown(measured: &Measured) -> String {
    let cases: Vec<String> =
        measured.cases.iter().map(|case| format!("{}={}", case.case.case_id, case.case.status.name())).collect();
    let flaky: Vec<&str> = measured.flaky.iter().map(|flaky| flaky.case_id.as_str()).collect();
    let flaky = if flaky.is_empty() { String::new() } else { format!(" (flaky: {})", flaky.join(" ")) };
    format!("{:?}: {}{flaky}\n{}\n", measured.verdict, cases.join(" "), measured.reasons.join("\n"))
}

fn check(given: &[Given<'_>], expected: &str, outcome: Expect) {
    outcome.assert_eq(&shown(&measured(given, expected, "", None)));
}

#[test]
fn repetitions_that_agree_pass() {
    check(
        &[("all", 1, "a b", exited(0)), ("all", 2, "a b", exited(0))],
        "a b",
        expect![[r#"
            Pass: a=passed b=passed
            nothing is missing, in doubt or against it; passed: 2 of 2
        "#]],
    );
}

#[test]
fn case_with_differing_results_is_flaky_with_the_majority_status() {
    check(
        &[("all", 1, "a b", exited(0)), ("all", 2, "a !b", exited(1)), ("all", 3, "a b", exited(0))],
        "a b",
        expect![[r#"
            Flaky: a=passed b=passed (flaky: b)
            b does not end the same every time
        "#]],
    );
}

#[test]
fn tie_is_decided_by_the_worse_status() {
    check(
        &[("all", 1, "a b", exited(0)), ("all", 2, "a !b", exited(1))],
        "",
        expect![[r#"
            Flaky: a=passed b=failed (flaky: b)
            b does not end the same every time
        "#]],
    );
}

#[test]
fn unrequested_flaky_case_is_ignored() {
    check(
        &[("all", 1, "a b", exited(0)), ("all", 2, "a !b", exited(1))],
        "a",
        expect![[r#"
            Pass: a=passed b=failed (flaky: b)
            nothing is missing, in doubt or against it; passed: 1 of 2
        "#]],
    );
}

#[test]
fn a_flaky_case_does_not_hide_one_that_fails() {
    check(
        &[("all", 1, "a !c", exited(1)), ("all", 2, "!a !c", exited(1))],
        "",
        expect![[r#"
            Fail: a=failed c=failed (flaky: a)
            c failed: wrong
            a does not end the same every time
        "#]],
    );
}

#[test]
fn a_hang_in_one_of_three_repetitions_is_flaky() {
    check(
        &[
            ("all", 1, "a b c", exited(0)),
            ("all", 2, "a …", Stop::Hung { place: "ring.c:3".to_owned() }),
            ("all", 3, "a b c", exited(0)),
        ],
        "a b c",
        expect![[r#"
            Flaky: a=passed b=passed c=passed (flaky: b)
            b does not end the same every time
        "#]],
    );
}

#[test]
fn a_crash_in_one_of_three_repetitions_is_a_fault() {
    check(
        &[("all", 1, "a b", exited(0)), ("all", 2, "a …", exited(139)), ("all", 3, "a b", exited(0))],
        "a b",
        expect![[r#"
            Fail: a=passed b=passed (flaky: b)
            all (2): it crashed: exit code 139
            all (2): there is no summary (N Tests N Failures N Ignored)
            b does not end the same every time
        "#]],
    );
}

#[test]
fn repetition_with_an_early_end_is_inconclusive() {
    check(
        &[("all", 1, "a b", exited(0)), ("all", 2, "a …", exited(0))],
        "a b",
        expect![[r#"
            Inconclusive: a=passed b=passed
            all (2): there is no summary (N Tests N Failures N Ignored)
        "#]],
    );
}

#[test]
fn case_of_two_starts_is_named_by_start() {
    check(
        &[("uart", 1, "init send", exited(0)), ("spi", 1, "init read", exited(0))],
        "init send read",
        expect![[r#"
            Pass: uart.init=passed send=passed spi.init=passed read=passed
            nothing is missing, in doubt or against it; passed: 4 of 4
        "#]],
    );
}

#[test]
fn separately_started_cases_ignore_skips_of_other_starts() {
    check(
        &[("a", 1, "a -b", exited(0)), ("b", 1, "-a !b", exited(1))],
        "a b",
        expect![[r#"
            Fail: a=passed b=failed
            b failed: wrong
        "#]],
    );
    check(
        &[("a", 1, "a", exited(0)), ("b", 1, "…", Stop::TimedOut)],
        "a b",
        expect![[r#"
            Fail: a=passed b=timeout
            b took too long: its time was up
        "#]],
    );
}

#[test]
fn crash_in_one_suite_does_not_fail_a_case_of_another() {
    check(
        &[("uart", 1, "u1 …", exited(139)), ("spi", 1, "s1 s2", exited(0))],
        "s1 s2 u1 u2",
        expect![[r#"
            Fail: u1=passed u2=crashed s1=passed s2=passed
            uart (1): it crashed: exit code 139
            u2 crashed: it crashed: exit code 139
            uart (1): there is no summary (N Tests N Failures N Ignored)
        "#]],
    );
}

#[test]
fn a_lost_environment_outweighs_a_failed_case_but_not_a_fault() {
    let lost = Stop::Lost { why: "no answer".to_owned() };
    check(
        &[("all", 1, "!a …", lost)],
        "a b",
        expect![[r#"
            EnvError: a=failed b=missing
            it was lost: no answer
            a failed: wrong
            b is not reported
        "#]],
    );
    let parsed = parse(&Format::Unity, "t.c:1:a:PASS\nqemu: fatal: Lockup: can't escalate 3 to HardFault\n");
    let lost = ran("all", 1, Stop::Lost { why: "the emulator ended".to_owned() });
    assert_eq!(measure(&[(parsed, &lost)], &names("a b"), None).verdict, Verdict::Fail);
}

#[test]
fn only_skipped_cases_never_pass() {
    check(
        &[("all", 1, "-a -b", exited(0))],
        "",
        expect![[r#"
            Inconclusive: a=skipped b=skipped
            not one case was run
        "#]],
    );
}

#[test]
fn no_start_is_not_a_pass() {
    check(
        &[],
        "",
        expect![[r#"
            Inconclusive: 
            nothing was started
        "#]],
    );
}

#[test]
fn timeout_after_the_last_case_fails() {
    check(
        &[("all", 1, "a b", Stop::TimedOut)],
        "a b",
        expect![[r#"
            Fail: a=passed b=passed
            it did not end, and no case explains it
        "#]],
    );
}

#[test]
fn cases_of_the_baseline_must_be_reported_and_run() {
    let baseline = measured(&[("all", 1, "a !b c", exited(1))], "", "", None);
    let now = |words: &str| shown(&measured(&[("all", 1, words, exited(0))], "", "", Some(&baseline)));
    expect![[r#"
        Inconclusive: a=passed c=passed b=missing
        b is not reported
    "#]]
    .assert_eq(&now("a c"));
    expect![[r#"
        Inconclusive: a=passed b=skipped c=passed
        b was skipped: 
    "#]]
    .assert_eq(&now("a -b c"));
    expect![[r#"
        Pass: a=passed b=passed c=passed d=passed
        nothing is missing, in doubt or against it; passed: 4 of 4
    "#]]
    .assert_eq(&now("a b c d"));
}

#[test]
fn earlier_failure_that_is_no_target_is_ignored() {
    let baseline = measured(&[("all", 1, "!a !b c", exited(1))], "", "", None);
    let now = |words: &str| shown(&measured(&[("all", 1, words, exited(1))], "a b c", "a", Some(&baseline)));
    expect![[r#"
        Pass: a=passed b=failed c=passed
        nothing is missing, in doubt or against it; passed: 2 of 3
    "#]]
    .assert_eq(&now("a !b c"));
    expect![[r#"
        Fail: a=passed b=failed c=failed
        c failed: wrong
    "#]]
    .assert_eq(&now("a !b !c"));
    expect![[r#"
        Fail: a=failed b=failed c=passed
        a failed: wrong
    "#]]
    .assert_eq(&now("!a !b c"));
}

#[test]
fn environment_fault_locates_the_crashed_case() {
    let fault = Fault {
        banner: "HardFault at 0x00000a3c".to_owned(),
        stack: vec!["ring.c:31".to_owned(), "main.c:12".to_owned()],
        ..Fault::default()
    };
    let start = interlock_test_results::Ran { faults: vec![fault], ..ran("all", 1, exited(0)) };
    let measured = measure(&[(unity("a …"), &start)], &names("a b c"), None);
    let case = &measured.cases[1].case;
    assert_eq!((case.case_id.as_str(), case.status.name(), &case.stack[0]), ("b", "crashed", &"ring.c:31".to_owned()));
    assert_eq!(case.location.as_ref().map(|place| place.line), Some(31));
    assert_eq!((measured.fault.as_str(), measured.missing_tests), ("HardFault at 0x00000a3c", 1));
}

#[test]
fn emulator_faults_count_and_its_assertions_do_not() {
    let console = console("a");
    let fatal = read(&Format::Auto, &[&console], &["qemu: fatal: Lockup: can't escalate 3 to HardFault\n"]);
    assert_eq!(fatal.faults.len(), 1);
    let assertion = read(&Format::Auto, &[&console], &["a.c:3: Assertion `x' failed.\n"]);
    assert_eq!(assertion.faults, [""; 0]);
    let two = read(&Format::Auto, &[&console, &console], &[]);
    assert_eq!((two.cases.len(), two.summary), (2, Some((2, 0))));
    assert_eq!(two.cases[1].case_id, "a#2");
    assert_eq!(read(&Format::Auto, &[], &[]).doubts.len(), 1);
}

#[test]
fn measurement_contains_figures_and_files() {
    let mut start = ran("spi-dma", 2, exited(0));
    start.coverage = [("ring.c".to_owned(), vec![1, 2, 3])].into();
    let measured = measure(&[(unity("a"), &start), (unity("a"), &ran("all", 1, exited(3)))], &[], None);
    assert_eq!(measured.metrics["duration_ms"], 240.0);
    assert_eq!(measured.metrics["covered_lines"], 3.0);
    assert_eq!(measured.artifacts, ["spi-dma-2/serial.log", "all-1/serial.log"]);
    assert_eq!(measured.exit_code, 3);
}
