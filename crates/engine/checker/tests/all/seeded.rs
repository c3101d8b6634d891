//! Faults inserted into copies of the built-in machines: each is caught, with the path that shows its effect.
//!
//! A fault is an edit of the file's text: a limit removed, a check bypassed, an edge dropped. The promises of the
//! unchanged machine are proved; the changed one breaks the promise that the fault is about, and the last steps of the
//! path show how.

use crate::show;
use std::fmt::Write;

use expect_test::{Expect, expect};
use interlock_checker::{Counterexample, Options, Report, check};

/// The number of last steps that are shown.
const STEPS: usize = 3;

/// Replaces `from` by `to`, once, and prints the result for the promise: a property's name, or a problem's code.
fn caught(id: &str, from: &str, to: &str, promise: &str, expected: Expect) {
    let source = show::builtin(id);
    assert_eq!(source.matches(from).count(), 1, "{id}: the text must occur exactly once: {from}");
    let harmed = check(show::chart(&source.replace(from, to)), &Options::default());
    assert!(!harmed.ok, "{id}: the fault was not detected");
    expected.assert_eq(&told(&harmed, promise));
}

fn told(report: &Report, promise: &str) -> String {
    let broken = report.properties.iter().find(|proof| proof.name.starts_with(promise) && !proof.ok);
    if let Some(proof) = broken {
        return format!("{}\n{}", proof.name, proof.counterexample.as_ref().map_or(String::new(), last_steps));
    }
    let problem = report.problems.iter().find(|problem| problem.code == promise);
    let problem = problem.unwrap_or_else(|| panic!("{promise} is not broken:\n{}", show::show(report)));
    format!("{}\n{}", problem.message, problem.counterexample.as_ref().map_or(String::new(), last_steps))
}

fn last_steps(way: &Counterexample) -> String {
    let mut out = String::new();
    for stage in way.stages.iter().rev().take(STEPS).rev() {
        _ = writeln!(out, "{} ({}): {} → {}", stage.event, stage.by, stage.from.join(" + "), stage.to.join(" + "));
    }
    if way.loops_to.is_some() {
        out += "… and again\n";
    }
    out
}

#[test]
fn firmware_a_patch_bypasses_the_policy_check() {
    caught(
        "firmware",
        "target: POLICY_CHECK\n            assign: { patch: \"${event.patch}\", patch_origin: model",
        "target: PATCH_APPLY\n            assign: { patch: \"${event.patch}\", patch_origin: model",
        "never PATCH_APPLY without",
        expect![[r#"
            never PATCH_APPLY without PATCH_GENERATION.patch_valid since PATCH_GENERATION
            hypotheses_made (judge.analysis): ROOT_CAUSE_HYPOTHESIS → CHANGE_IMPACT_ESTIMATE
            patch_plan_ok (judge.plan): CHANGE_IMPACT_ESTIMATE → GENERATE_PATCH
            patch_generated (judge.patch): GENERATE_PATCH → ROLLBACK_POINT
        "#]],
    );
}

#[test]
fn firmware_a_patch_is_applied_without_a_rollback_point() {
    caught(
        "firmware",
        "    initial: ROLLBACK_POINT\n",
        "    initial: APPLY_DIFF\n",
        "never APPLY_DIFF without",
        expect![[r#"
            never APPLY_DIFF without ROLLBACK_POINT.rollback_point_made since PATCH_APPLY
            patch_plan_ok (judge.plan): CHANGE_IMPACT_ESTIMATE → GENERATE_PATCH
            patch_generated (judge.patch): GENERATE_PATCH → POLICY_CHECK
            patch_valid (policy.check): POLICY_CHECK → APPLY_DIFF
        "#]],
    );
}

#[test]
fn firmware_flaky_tests_are_rerun_without_a_limit() {
    caught(
        "firmware",
        "          limit: [{ counter: FLAKY, max: 3 }, { counter: recoveries, max: 20 }]\n",
        "          limit: [{ counter: FLAKY, max: 3 }, { counter: recoveries, max: 20 }]\n          reset: [FLAKY, recoveries]\n",
        "terminates",
        expect![[r#"
            terminates
            result_normalized (testbench.fetch_artifacts): ATTACH_ARTIFACTS → RESULT_ANALYSIS
            FLAKY (judge.result): RESULT_ANALYSIS → COLLECT_EVIDENCE
            evidence_collected (evidence.collect): COLLECT_EVIDENCE → RESOURCE_ALLOC
            … and again
        "#]],
    );
}

#[test]
fn firmware_the_environment_is_reset_once_more() {
    caught(
        "firmware",
        "limit: [{ counter: TEST_ENV_FAILURE, max: 3 },",
        "limit: [{ counter: TEST_ENV_FAILURE, max: 4 },",
        "at most 3 of RESET_ENVIRONMENT",
        expect![[r#"
            at most 3 of RESET_ENVIRONMENT since RESULT_ANALYSIS.PASS or RESULT_ANALYSIS.FAIL
            evidence_collected (evidence.collect): COLLECT_EVIDENCE → RESET_ENVIRONMENT
            error (testbench.reset): RESET_ENVIRONMENT → COLLECT_EVIDENCE
            evidence_collected (evidence.collect): COLLECT_EVIDENCE → RESET_ENVIRONMENT
        "#]],
    );
}

#[test]
fn coder_a_dangerous_plan_is_executed_without_asking() {
    caught(
        "coder",
        "            - target: PLAN_ASKED\n              assign: { asked: \"${event.permissions}\" }\n              reason: \"${event.reason}\"\n          DENY:\n            - target: DRAFTING",
        "            - target: EXECUTING\n              assign: { asked: \"${event.permissions}\" }\n              reason: \"${event.reason}\"\n          DENY:\n            - target: DRAFTING",
        "never EXECUTING without",
        expect![[r#"
            never EXECUTING without PLAN_CHECKING.ALLOW or PATCH_CHECKING.ALLOW or AWAITING_CONFIRMATION.CONFIRM since PLANNING or RECOVERING or AWAITING_CONFIRMATION
            context_ready (workspace.context): COLLECTING → DRAFTING
            plan_ready (judge.plan): DRAFTING → PLAN_CHECKING
            REQUIRE_CONFIRMATION (policy.plan): PLAN_CHECKING → STEP_SELECTING
        "#]],
    );
}

#[test]
fn coder_a_turn_is_repaired_a_fourth_time() {
    caught(
        "coder",
        "limit: { counter: recoveries, max: 3 }",
        "limit: { counter: recoveries, max: 4 }",
        "at most 3 of TRIAGE -> DIAGNOSING",
        expect![[r#"
            at most 3 of TRIAGE -> DIAGNOSING since .USER_MESSAGE
            repairable (judge.repair): DIAGNOSING → PATCH_CHECKING
            ALLOW (policy.plan): PATCH_CHECKING → STEP_SELECTING
            error (plan.next): STEP_SELECTING → DIAGNOSING
        "#]],
    );
}

#[test]
fn firmware_a_measured_regression_is_kept() {
    caught(
        "firmware",
        "came: worse, next_action: ROLLBACK }",
        "came: worse }",
        "after .regression_measured",
        expect![[r#"
            after .regression_measured leads to ROLLBACK_TO_GOOD.restored or ERROR_RECOVERY or FAILURE or ABORTED
            round_measured (convergence.measure): MEASURE_ROUND → CONTROL_RUNS
            controls_agreed (delivery.examine): CONTROL_RUNS → DELIVER
            delivered (copy.deliver): DELIVER → SUCCESS
        "#]],
    );
}

#[test]
fn coder_the_tree_to_commit_is_not_verified() {
    caught(
        "coder",
        "ALLOW: { target: COMMIT_VERIFYING,",
        "ALLOW: { target: COMMITTING,",
        "never @git.commit without COMMIT_VERIFYING",
        expect![[r#"
            never @git.commit without COMMIT_VERIFYING.verify_pass since COMMIT_CHECKING
            facts_alone (turn.facts): FACTS_COLLECTING → IDLE
            COMMIT (user): IDLE → COMMIT_CHECKING
            ALLOW (policy.commit): COMMIT_CHECKING → COMMITTING
        "#]],
    );
}

#[test]
fn coder_an_unverified_change_is_committed() {
    caught(
        "coder",
        "        guard: context.verified\n",
        "",
        "never @git.commit without VERIFYING",
        expect![[r#"
            never @git.commit without VERIFYING.verify_pass since EXECUTING
            COMMIT (user): IDLE → COMMIT_CHECKING
            ALLOW (policy.commit): COMMIT_CHECKING → COMMIT_VERIFYING
            verify_pass (verify.run): COMMIT_VERIFYING → COMMITTING
        "#]],
    );
}

#[test]
fn coder_a_turn_that_changed_nothing_is_completed() {
    caught(
        "coder",
        "assign: { ending: unchanged, failure:",
        "assign: { ending: completed, failure:",
        "never COMPLETED without",
        expect![[r#"
            never COMPLETED without VERIFYING.verify_pass or ANSWERED or WAIVED since .USER_MESSAGE or EXECUTING
            steps_done (plan.next): STEP_SELECTING → VERIFYING
            nothing_changed (verify.run): VERIFYING → FACTS_COLLECTING
            facts_alone (turn.facts): FACTS_COLLECTING → IDLE
        "#]],
    );
}

#[test]
fn coder_a_question_writes() {
    caught(
        "coder",
        "              guard: context.read_only\n",
        "              guard: context.read_only && input.ask\n",
        "never ANSWERED without",
        expect![[r#"
            never ANSWERED without .USER_MESSAGE since TOOL_WRITING or TOOL_EXECUTING
            step_done (judge.step): STEP_RUNNING → STEP_SELECTING
            steps_done (plan.next): STEP_SELECTING → VERIFYING
            nothing_changed (verify.run): VERIFYING → FACTS_COLLECTING
        "#]],
    );
}

#[test]
fn coder_a_commit_is_made_without_asking() {
    caught(
        "coder",
        "            - target: COMMIT_ASKED\n              limit: { counter: commit_questions, max: 3 }",
        "            - target: COMMITTING\n              limit: { counter: commit_questions, max: 3 }",
        "never @git.commit without COMMIT_CHECKING",
        expect![[r#"
            never @git.commit without COMMIT_CHECKING.ALLOW since COMMIT_CHECKING or IDLE
            facts_alone (turn.facts): FACTS_COLLECTING → IDLE
            COMMIT (user): IDLE → COMMIT_CHECKING
            REQUIRE_CONFIRMATION (policy.commit): COMMIT_CHECKING → COMMITTING
        "#]],
    );
}

#[test]
fn coder_a_turn_ends_without_a_summary() {
    caught(
        "coder",
        "        - target: SUMMARIZING\n          assign: { ending: unverified,",
        "        - target: DONE\n          assign: { ending: unverified,",
        "never DONE without",
        expect![[r#"
            never DONE without SUMMARIZING since IDLE
            ALLOW (policy.plan): PLAN_CHECKING → STEP_SELECTING
            steps_done (plan.next): STEP_SELECTING → VERIFYING
            verify_none (verify.run): VERIFYING → IDLE
        "#]],
    );
}

#[test]
fn prd_work_begins_before_a_person_approves() {
    caught(
        "prd",
        "      PRD_GENERATED:\n        target: CONFIRMING\n",
        "      PRD_GENERATED:\n        target: EXECUTING\n",
        "never EXECUTING without",
        expect![[r#"
            never EXECUTING without CONFIRMING.USER_CONFIRM since PLANNING
            USER_INPUT_REQUIREMENT (user): READY → WRITE_PRD
            prd_written (judge.prd): WRITE_PRD → CHECK_PRD
            PRD_GENERATED (prd.check): CHECK_PRD → SEAL_PRD
        "#]],
    );
}

#[test]
fn prd_an_unverified_text_is_committed() {
    caught(
        "prd",
        "- { target: VERIFY_TASK, reason: \"${context.task.id} is written\" }",
        "- { target: COMMIT_TASK, reason: \"${context.task.id} is written\" }",
        "never COMMIT_TASK without",
        expect![[r#"
            never COMMIT_TASK without VERIFY_TASK.verified or AUTO_FIX.FIX_SUCCESS since IMPLEMENT_TASK or APPLY_FIX
            commands_tried (project.try): TRY_COMMANDS → TAKE_TASK
            task_taken (tasks.next): TAKE_TASK → IMPLEMENT_TASK
            code_changed (agent.prompt): IMPLEMENT_TASK → COMMIT_TASK
        "#]],
    );
}

#[test]
fn prd_a_session_with_an_untested_task_ends_as_complete() {
    caught(
        "prd",
        "&& context.warned\", target: CLOSED_WITH_WARNINGS,",
        "&& context.warned\", target: CLOSED,",
        "after .shortfall_noted",
        expect![[r#"
            after .shortfall_noted leads to CLOSED_WITH_WARNINGS or CLOSED_WITH_SKIPPED or NOT_DONE or ABORTED
            ROLLBACK (user): BLOCKED → RESTORE_CHECKPOINT
            checkpoint_restored (workspace.restore): RESTORE_CHECKPOINT → READY
            CLOSE (user): READY → CLOSED
        "#]],
    );
}

#[test]
fn prd_a_refused_prd_is_rewritten_without_a_limit() {
    caught(
        "prd",
        "              limit: { counter: prd_repairs, max: 3 }\n",
        "              limit: { counter: prd_repairs, max: 3 }\n              reset: prd_repairs\n",
        "terminates",
        expect![[r#"
            terminates
            USER_INPUT_REQUIREMENT (user): READY → WRITE_PRD
            prd_written (judge.prd): WRITE_PRD → CHECK_PRD
            prd_refused (prd.check): CHECK_PRD → WRITE_PRD
            … and again
        "#]],
    );
}

#[test]
fn brain_the_tests_are_bypassed() {
    caught(
        "brain",
        "- target: TESTING\n              guard: context.has_tests\n              reason:",
        "- target: COMMITTING\n              guard: context.has_tests\n              reason:",
        "never COMMITTING without",
        expect![[r#"
            never COMMITTING without TESTING.test_pass or LINTING.no_tests since DEVELOPING
            collected (workspace.changes): COLLECTING → JUDGING
            no_issue (judge.review): JUDGING → LINTING
            lint_pass (command.run): LINTING → WRITING_MESSAGE
        "#]],
    );
}

#[test]
fn brain_a_failing_test_is_repaired_without_a_limit() {
    caught(
        "brain",
        "limit: { counter: testing, max: 3 }\n              assign: { stage: testing,",
        "limit: { counter: testing, max: 3 }\n              reset: testing\n              assign: { stage: testing,",
        "terminates",
        expect![[r#"
            terminates
            lint_pass (command.run): LINTING → TESTING
            test_fail (command.run): TESTING → ADVISING
            code_bug (judge.advise): ADVISING → CODING
            … and again
        "#]],
    );
}

#[test]
fn brain_an_uncommitted_change_is_deployed() {
    caught(
        "brain",
        "- { target: DEPLOYING, guard: \"context.committed && (",
        "- { target: DEPLOYING, guard: \"(",
        "never DEPLOYING without",
        expect![[r#"
            never DEPLOYING without COMMITTING.commit_success since DEVELOPING
            start ():  → DONE
            user_message (user): DONE → REWRITING
            deploy (judge.refine): REWRITING → DEPLOY_RUNNING
        "#]],
    );
}

#[test]
fn notebook_a_step_begins_with_an_action_before_a_plan() {
    caught(
        "notebook",
        "START_STEP: { target: step_running,",
        "START_STEP: { target: action_running,",
        "never behavior_running or action_running",
        expect![[r#"
            never behavior_running or action_running or @generating.call without step_running.NOT_ACHIEVED since step_running
            start ():  → stage_running
            planned (planning.call): stage_running → action_running
        "#]],
    );
}

#[test]
fn notebook_a_person_starts_a_behavior_before_the_planner_has_answered() {
    caught(
        "notebook",
        "START_BEHAVIOR: { target: behavior_running, guard: context.planned,",
        "START_BEHAVIOR: { target: behavior_running,",
        "never behavior_running or action_running",
        expect![[r#"
            never behavior_running or action_running or @generating.call without step_running.NOT_ACHIEVED since step_running
            start ():  → stage_running
            planned (planning.call): stage_running → step_running
            START_BEHAVIOR (user): step_running → behavior_running
        "#]],
    );
}

#[test]
fn notebook_a_failed_run_is_reset_and_closed_as_a_success() {
    caught(
        "notebook",
        "- { target: failed, guard: context.ended == 'error',",
        "- { target: closed, guard: context.ended == 'error',",
        "never closed without stage_completed.ANSWERED",
        expect![[r#"
            never closed without stage_completed.ANSWERED since .START_WORKFLOW or .RESET or .CANCEL or .FAIL or error or cancelled
            error (planning.call): stage_running → error
            RESET (user): error → idle
            CLOSE (user): idle → closed
        "#]],
    );
}

#[test]
fn notebook_a_workflow_with_an_unachieved_step_is_a_success() {
    caught(
        "notebook",
        "event.is_complete && !context.has_unachieved",
        "event.is_complete",
        "never closed without .START_WORKFLOW",
        expect![[r#"
            never closed without .START_WORKFLOW or .UPDATE_WORKFLOW_CONFIRMED since .STEP_UNACHIEVED
            planned (planning.call): behavior_completed → step_completed
            planned (planning.call): step_completed → stage_completed
            planned (planning.call): stage_completed → closed
        "#]],
    );
}

#[test]
fn notebook_a_workflow_is_restarted_once_more() {
    caught(
        "notebook",
        "limit: { counter: restarts, max: 3 }\n          reset:",
        "limit: { counter: restarts, max: 4 }\n          reset:",
        "at most 3 of error -> behavior_running",
        expect![[r#"
            at most 3 of error -> behavior_running or error -> stage_running since idle
            START_WORKFLOW (user): error → stage_running
            error (planning.call): stage_running → error
            START_WORKFLOW (user): error → stage_running
        "#]],
    );
}

#[test]
fn notebook_the_planner_asks_for_behaviors_without_a_limit() {
    caught(
        "notebook",
        "- { target: behavior_running, limit: { counter: behaviors, max: 9 }, reason: the planner wants another behavior }",
        "- { target: behavior_running, guard: \"context.stage_id != ''\", reason: the planner wants another behavior }",
        "terminates",
        expect![[r#"
            terminates
            planned (planning.call): action_completed → behavior_completed
            planned (planning.call): behavior_completed → behavior_running
            generated (generating.call): behavior_running → action_running
            … and again
        "#]],
    );
}
