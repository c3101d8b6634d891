//! The ranking of suspect lines.

use expect_test::{Expect, expect};
use interlock_repair::{Coverage, Named, is_test, localise};

/// Parses cases as `name+ 1 2 3` (passes) or `name- 1 2 3` (fails). The lines are of `src/a.c`; lines with a `t` are of
/// the tests.
fn coverage(cases: &[&str]) -> Vec<Coverage> {
    let case = |text: &&str| {
        let mut words = text.split(' ');
        let name = words.next().unwrap();
        let place = |word: &str| match word.strip_prefix('t') {
            Some(line) => ("tests/test_a.c".to_owned(), line.parse().unwrap()),
            None => ("src/a.c".to_owned(), word.parse().unwrap()),
        };
        Coverage { case: name.to_owned(), failed: name.ends_with('-'), lines: words.map(place).collect() }
    };
    cases.iter().map(case).collect()
}

fn check(cases: &[&str], named: &[(&str, usize, &str)], expected: Expect) {
    let named: Vec<Named> = named
        .iter()
        .map(|(path, line, by)| Named { path: (*path).to_owned(), line: *line, by: (*by).to_owned() })
        .collect();
    let lines: Vec<String> = localise(&coverage(cases), &named)
        .iter()
        .map(|suspect| format!("{}:{} {:.2} {}\n", suspect.path, suspect.line, suspect.score, suspect.why))
        .collect();
    expected.assert_eq(&lines.concat());
}

#[test]
fn a_line_that_only_the_failing_case_executes_comes_first() {
    check(
        &["a+ 1 2", "b+ 1 3", "c- 1 4"],
        &[],
        expect![[r#"
            src/a.c:4 1.00 executed by 1 of 1 failing cases and 0 passing
            src/a.c:1 0.58 executed by 1 of 1 failing cases and 2 passing
        "#]],
    );
}

#[test]
fn a_line_of_all_failing_cases_comes_before_a_line_of_some() {
    check(
        &["a- 1 2", "b- 1 3", "c+ 9"],
        &[],
        expect![[r#"
            src/a.c:1 1.00 executed by 2 of 2 failing cases and 0 passing
            src/a.c:2 0.71 executed by 1 of 2 failing cases and 0 passing
            src/a.c:3 0.71 executed by 1 of 2 failing cases and 0 passing
        "#]],
    );
}

#[test]
fn the_place_of_a_fault_is_raised_and_a_new_place_is_added() {
    check(
        &["a+ 1 2", "b- 1 2"],
        &[("src/a.c", 2, "fault"), ("src/b.c", 7, "stack")],
        expect![[r#"
            src/a.c:2 1.00 executed by 1 of 1 failing cases and 1 passing; named by fault
            src/a.c:1 0.71 executed by 1 of 1 failing cases and 1 passing
            src/b.c:7 0.60 named by stack
        "#]],
    );
}

#[test]
fn tests_are_never_suspect() {
    check(&["a- t5 t6"], &[("tests/test_a.c", 5, "assertion")], expect![[""]]);
}

#[test]
fn nothing_is_suspect_if_nothing_fails() {
    check(&["a+ 1 2", "b+ 3"], &[], expect![[""]]);
    check(&[], &[], expect![[""]]);
}

#[test]
fn tests_are_recognised_by_directory_or_name() {
    for path in ["tests/a.c", "fw/test/x.h", "src/test_ring.c", "src/ring_test.c", "Tests\\a.c"] {
        assert!(is_test(path), "{path}");
    }
    for path in ["src/contest.c", "src/latest/a.c", "src/attestation.c", "testbench/a.c"] {
        assert!(!is_test(path), "{path}");
    }
}
