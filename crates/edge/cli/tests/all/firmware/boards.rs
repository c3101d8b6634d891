//! A run has exclusive use of its board, and a crash never causes a board to be flashed twice without a reset in
//! between.

use super::{
    bench::{Bench, change},
    scene::is_missing,
};

fn fix() -> Vec<String> {
    let one = change("A=1", "A=2\nB=2");
    let both = one.replace("-A=1\n+A=2\n+B=2\n B=1\n", "-A=1\n-B=1\n+A=2\n+B=2\n");
    vec![both.replace("@@ -1,3 +1,4 @@", "@@ -1,3 +1,3 @@")]
}

fn parts_are_missing() -> bool {
    is_missing(&["python3", "git"])
}

/// Resumes a killed run, and asserts that it ends with the fix and that no run holds the board.
fn resumes_to_the_fix(bench: &Bench) -> String {
    let resumed = bench.session.run("resume r").unwrap();
    let trace = bench.trace();
    assert_eq!(resumed.code, Some(0), "{resumed}\n{trace}");
    assert_eq!(bench.values(), ("2".to_owned(), "2".to_owned()));
    let resources = bench.session.run("resources --json").unwrap().stdout;
    assert!(resources.contains("pretend-1") && !resources.contains("\"pid\""), "{resources}");
    trace
}

#[test]
fn a_board_that_a_crash_left_in_the_middle_of_the_baseline_is_reset_before_it_is_flashed_again() {
    if parts_are_missing() {
        return;
    }
    let bench = Bench::with_board("deploy", &fix());
    bench.kill_when_told("deploy", 1);
    let trace = resumes_to_the_fix(&bench);
    assert!(trace.contains("the baseline is measured again, after a reset"), "{trace}");
    let told = bench.told();
    let at = |operation: &str, from: usize| from + told[from..].iter().position(|told| told == operation).unwrap();
    let (cut_off, reset) = (at("deploy", 0), at("reset", 0));
    assert!(cut_off < reset && reset < at("deploy", cut_off + 1), "{told:?}");
}

#[test]
fn a_session_whose_hold_died_with_its_process_is_set_up_anew() {
    if parts_are_missing() {
        return;
    }
    let bench = Bench::with_board("health_check", &fix());
    bench.kill_when_told("health_check", 1);
    let trace = resumes_to_the_fix(&bench);
    assert!(trace.contains("the lease of pretend-1 was lost, so the session is set up again"), "{trace}");
    assert!(trace.contains("TEST_ENV_FAILURE 1: reset the environment"), "{trace}");
}

#[test]
fn what_another_run_has_left_on_a_board_is_not_taken_for_ones_own() {
    if parts_are_missing() {
        return;
    }
    let bench = Bench::with_board("fetch_artifacts", &fix());
    bench.kill_when_told("fetch_artifacts", 1);
    let other = bench.session.run("run firmware --input task.yaml --name other").unwrap();
    assert_eq!(other.code, Some(0), "{other}");
    let undone = bench.session.run("undo other").unwrap();
    assert_eq!(undone.code, Some(0), "{undone}");
    let trace = resumes_to_the_fix(&bench);
    assert!(trace.contains("other has used the environment since"), "{trace}");
}

#[test]
fn templates_are_not_tried_on_a_board() {
    if parts_are_missing() {
        return;
    }
    let bench = Bench::with_board("none", &[]);
    let ran = bench.run();
    let trace = bench.trace();
    assert_eq!(ran.code, Some(1), "{ran}\n{trace}");
    assert!(trace.contains("templates are not tried on `program`"), "{trace}");
    assert_eq!(
        bench.told().iter().filter(|told| *told == "deploy").count(),
        1,
        "only the baseline: {:?}",
        bench.told()
    );
    bench.is_untouched();
}
