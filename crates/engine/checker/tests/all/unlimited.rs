//! Removes each limit of the built-in machines: the promise that it served is then broken, and the loop that it ended
//! is reported.
//!
//! If another limit still ends the loop, the machine still terminates; then the test shows any other broken promise.

use crate::show;
use std::{fmt::Write, sync::Arc};

use expect_test::{Expect, expect};
use interlock_chart::Chart;
use interlock_checker::{Counterexample, Options, Report, check};

/// Removes the limits of one counter after the other.
fn without_each(id: &str, expected: Expect) {
    let chart = show::chart(&show::builtin(id));
    let mut told = String::new();
    for (at, counter) in chart.counters.iter().enumerate() {
        let mut harmed = Chart::clone(&chart);
        for transition in &mut harmed.transitions {
            transition.limits.retain(|limit| limit.counter.index() != at);
        }
        // A small `exact_max`, because the loops are found with counters left open, which is fast.
        let report = check(Arc::new(harmed), &Options { exact_max: 1_000, ..Options::default() });
        _ = writeln!(told, "{}: {}", counter.name, verdict(&report));
    }
    expected.assert_eq(&told);
}

/// Prints the loop from its beginning, or any other broken promise.
fn verdict(report: &Report) -> String {
    let broken = || report.properties.iter().filter(|proof| !proof.ok);
    let ways = broken().filter_map(|proof| proof.counterexample.as_ref());
    let ways = ways.chain(report.problems.iter().filter_map(|problem| problem.counterexample.as_ref()));
    let too_big = report.problems.iter().any(|problem| problem.code == "E0604");
    match ways.clone().find_map(turn) {
        Some(turn) => turn,
        None if too_big => "too big to explore".to_owned(),
        None => broken().next().map_or("another limit ends it".to_owned(), |proof| format!("not {}", proof.name)),
    }
}

fn turn(way: &Counterexample) -> Option<String> {
    let stages = &way.stages[way.loops_to?..];
    let places: Vec<String> = stages.iter().map(|stage| stage.to.join(" + ")).collect();
    let (first, last) = (places.first()?, places.last()?);
    Some(match places.len() {
        1 => format!("{last} again and again"),
        2 => format!("{last} → {first} → {last}"),
        more => format!("{last} → {first} → … → {last}, {more} steps"),
    })
}

#[test]
fn firmware_without_a_limit() {
    without_each(
        "firmware",
        expect![[r#"
            grants: another limit ends it
            iterations: ROLLBACK_POINT → APPLY_DIFF → … → ROLLBACK_POINT, 21 steps
            baseline_tries: BASELINE_RUN again and again
            no_progress: another limit ends it
            control_tries: CONTROL_RUNS again and again
            rollbacks: not at most 5 of ROLL_BACK or ROLLBACK_TO_GOOD
            BUILD_FAILURE: not at most 1 of CLEAN_BUILD since BUILD_RUN.build_ok
            recoveries: RESULT_ANALYSIS → MEASURE_ROUND → … → RESULT_ANALYSIS, 21 steps
            unusable: another limit ends it
            templates: another limit ends it
            TEST_ENV_FAILURE: not at most 3 of RESET_ENVIRONMENT since RESULT_ANALYSIS.PASS or RESULT_ANALYSIS.FAIL
            FLAKY: another limit ends it
            INCONCLUSIVE: another limit ends it
            ARTIFACT_MISSING: not at most 2 of ERROR_RECOVERY -> RESULT_COLLECTION since RESULT_COLLECTION.result_normalized
            ANALYSIS_FAILURE: another limit ends it
            MODEL_FAILURE: another limit ends it
            POLICY_VIOLATION: another limit ends it
            PATCH_APPLY_FAILURE: another limit ends it
            UNHANDLED_EXCEPTION: another limit ends it
        "#]],
    );
}

#[test]
fn coder_without_a_limit() {
    without_each(
        "coder",
        expect![[r#"
            clarifications: not at most 2 of INTAKE_ASKED since .USER_MESSAGE or CONTEXT_BUILDING
            replans: DRAFTING → PLAN_CHECKING → DRAFTING
            actions: TOOL_EXECUTING → STEP_RUNNING → … → TOOL_EXECUTING, 3 steps
            interviews: not at most 3 of STEP_ASKED or REPAIR_ASKED since .USER_MESSAGE
            recoveries: DIAGNOSING → ROLLING_BACK → … → DIAGNOSING, 4 steps
            commit_questions: another limit ends it
        "#]],
    );
}

#[test]
fn prd_without_a_limit() {
    without_each(
        "prd",
        expect![[r#"
            grants: another limit ends it
            prd_repairs: WRITE_PRD → CHECK_PRD → WRITE_PRD
            auto_fix_attempts: APPLY_FIX → VERIFY_FIX → APPLY_FIX
            interruptions: ARCHIVING again and again
            tasks: MARK_DONE → TAKE_TASK → … → MARK_DONE, 5 steps
        "#]],
    );
}

#[test]
fn brain_without_a_limit() {
    without_each(
        "brain",
        expect![[r#"
            grants: another limit ends it
            interrupted: COMMIT_RUNNING again and again
            reviewing: CODING → COLLECTING → … → CODING, 3 steps
            questions: CODING → COLLECTING → … → CODING, 3 steps
            moved: WRITING_MESSAGE → COMMIT_RUNNING → … → WRITING_MESSAGE, 5 steps
            linting: CODING → COLLECTING → … → CODING, 5 steps
            testing: CODING → COLLECTING → … → CODING, 5 steps
            committing: WRITING_MESSAGE → COMMIT_RUNNING → … → WRITING_MESSAGE, 6 steps
            deploying: WRITING_MESSAGE → COMMIT_RUNNING → … → WRITING_MESSAGE, 8 steps
        "#]],
    );
}

#[test]
fn notebook_without_a_limit() {
    without_each(
        "notebook",
        expect![[r#"
            grants: another limit ends it
            interruptions: action_running again and again
            actions: action_running again and again
            behaviors: action_running → action_completed → … → action_running, 4 steps
            navigations: action_running → action_completed → … → action_running, 6 steps
            restarts: not at most 3 of error -> behavior_running or error -> stage_running since idle
        "#]],
    );
}
