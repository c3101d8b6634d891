//! The rows of the specifications of coder, brain and notebook: each is a transition of the built-in machine.

use std::{collections::BTreeSet, fs, path::PathBuf};

use interlock_chart::{
    Chart,
    model::{Raiser, StateId, Transition},
    yaml,
};

fn chart(machine: &str) -> Chart {
    let file = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../../machines").join(machine).join("machine.yaml");
    yaml::read(&fs::read_to_string(file).unwrap()).chart.unwrap()
}

/// Checks rows of the form `SOURCE event TARGET`. A source or target includes its descendants, and the machine's id
/// means any state.
fn check(machine: &str, rows: &str) {
    let chart = chart(machine);
    for row in rows.lines().map(str::trim).filter(|row| !row.is_empty()) {
        let [source, event, target] = row.split_whitespace().collect::<Vec<_>>()[..] else { unreachable!("{row}") };
        assert!(chart.transitions.iter().any(|it| is_row(&chart, it, source, event, target)), "{machine}: {row}");
    }
}

fn is_row(chart: &Chart, transition: &Transition, source: &str, event: &str, target: &str) -> bool {
    let within = |state: StateId, name: &str| {
        let outer = chart.find_state(name).unwrap();
        state == outer || (outer != Chart::ROOT && chart.is_descendant(state, outer))
    };
    let takes = match event {
        "-" => transition.events.is_empty(),
        event => transition.events.iter().any(|descriptor| descriptor.text == event),
    };
    takes && within(transition.source, source) && transition.targets.iter().any(|&state| within(state, target))
}

#[test]
fn every_rule_of_coder_exists() {
    check(
        "coder",
        "IDLE USER_MESSAGE INTAKE
        INTAKE unclear CLARIFYING
        INTAKE unclear SUMMARIZING
        INTAKE clear CONTEXT_BUILDING
        CLARIFYING CLARIFICATION_ANSWER INTAKE
        CONTEXT_BUILDING context_ready PLANNING
        PLANNING REQUIRE_CONFIRMATION AWAITING_CONFIRMATION
        PLANNING ALLOW EXECUTING
        AWAITING_CONFIRMATION CONFIRM EXECUTING
        AWAITING_CONFIRMATION CONFIRM TOOL_CHECKING
        AWAITING_CONFIRMATION CONFIRM PLANNING
        AWAITING_CONFIRMATION CONFIRM SUMMARIZING
        EXECUTING TOOL_CALL_REQUEST TOOL_CHECKING
        EXECUTING TOOL_CALL_RESULT STEP_RUNNING
        EXECUTING REQUIRE_CONFIRMATION AWAITING_CONFIRMATION
        EXECUTING needs_user CLARIFYING
        RECOVERING needs_user CLARIFYING
        EXECUTING step_failed RECOVERING
        EXECUTING TIMEOUT RECOVERING
        EXECUTING steps_done VERIFYING
        VERIFYING verify_pass SUMMARIZING
        VERIFYING verify_fail RECOVERING
        VERIFYING TIMEOUT RECOVERING
        RECOVERING ALLOW EXECUTING
        RECOVERING unrepairable SUMMARIZING
        RECOVERING - SUMMARIZING
        SUMMARIZING words_hold DONE
        DONE - IDLE
        coder CANCEL SUMMARIZING
        coder CANCEL UNDOING",
    );
}

#[test]
fn every_cell_of_the_brain_matrix_exists_and_every_failure_is_handled() {
    check(
        "brain",
        "IDLE init DEVELOPING
        DEVELOPING ai_reply_done REVIEWING
        REVIEWING has_issue DEVELOPING
        REVIEWING has_issue LINTING
        REVIEWING ai_question DEVELOPING
        REVIEWING ai_question AWAITING_USER
        REVIEWING no_issue LINTING
        LINTING lint_fail DEVELOPING
        LINTING lint_fail TESTING
        LINTING lint_pass TESTING
        LINTING no_tests COMMITTING
        TESTING test_fail DEVELOPING
        TESTING test_fail DONE
        TESTING test_pass COMMITTING
        COMMITTING commit_fail COMMITTING
        COMMITTING commit_fail DONE
        COMMITTING tree_changed REVIEWING
        COMMITTING ai_reply_done REVIEWING
        COMMITTING commit_success AWAITING_DEPLOY
        TESTING test_unproved DEVELOPING
        TESTING test_unproved AWAITING_CHECKS
        LINTING lint_pass REVIEWING
        TESTING test_pass REVIEWING
        DEVELOPING error AWAITING_USER
        COMMITTING commit_success DEPLOYING
        COMMITTING commit_success DONE
        DEPLOYING deploy_fail DEPLOYING
        DEPLOYING retry DEPLOYING
        DEPLOYING fix DEVELOPING
        DEPLOYING roll_back ROLLING_BACK
        DEPLOYING roll_back DONE
        DEPLOYING deploy_success DONE
        WORKING user_message REFINING
        REFINING go_on DEVELOPING
        REFINING deploy DEPLOYING
        REFINING deploy BEFORE
        REFINING ai_reply_done BEFORE
        brain cancel CANCELLED",
    );
}

#[test]
fn a_failed_or_skipped_test_never_leads_to_a_commit() {
    let chart = chart("brain");
    for event in ["test_fail", "skip", "error", "timeout"] {
        let is_short_cut = |it: &Transition| is_row(&chart, it, "TESTING", event, "COMMITTING");
        assert!(!chart.transitions.iter().any(is_short_cut), "{event}");
    }
    let skip = chart.event(chart.find_event("skip").unwrap());
    assert_eq!(skip.from, Raiser::User);
}

const NOTEBOOK: &str = "
    idle START_WORKFLOW stage_running
    stage_running START_STEP step_running
    stage_running COMPLETE_STAGE stage_completed
    step_running START_BEHAVIOR behavior_running
    step_running COMPLETE_STEP step_completed
    behavior_running START_ACTION action_running
    behavior_running COMPLETE_BEHAVIOR behavior_completed
    action_running COMPLETE_ACTION action_completed
    action_completed NEXT_ACTION action_running
    action_completed COMPLETE_BEHAVIOR behavior_completed
    behavior_completed NEXT_BEHAVIOR behavior_running
    behavior_completed COMPLETE_STEP step_completed
    step_completed NEXT_STEP step_running
    step_completed COMPLETE_STAGE stage_completed
    stage_completed NEXT_STAGE stage_running
    stage_completed COMPLETE_WORKFLOW workflow_completed
    workflow_completed RESET idle

    action_running UPDATE_WORKFLOW workflow_update_pending
    action_running UPDATE_STEP step_update_pending
    workflow_update_pending UPDATE_WORKFLOW_CONFIRMED action_completed
    workflow_update_pending UPDATE_WORKFLOW_REJECTED action_completed
    workflow_update_pending COMPLETE_ACTION workflow_update_pending
    step_update_pending UPDATE_STEP_CONFIRMED action_completed
    step_update_pending UPDATE_STEP_REJECTED error

    stage_running FAIL error
    stage_running CANCEL cancelled
    step_running FAIL error
    step_running CANCEL cancelled
    behavior_running FAIL error
    behavior_running CANCEL cancelled
    action_running FAIL error
    action_running CANCEL cancelled
    action_completed FAIL error
    action_completed CANCEL cancelled
    behavior_completed FAIL error
    behavior_completed CANCEL cancelled
    step_completed FAIL error
    step_completed CANCEL cancelled
    stage_completed CANCEL cancelled
    workflow_update_pending CANCEL cancelled
    step_update_pending CANCEL cancelled

    error RESET idle
    error START_WORKFLOW stage_running
    error START_BEHAVIOR behavior_running
    cancelled RESET idle";

/// Transitions for reached limits, for interrupted actions, and for the end of a run.
const NOTEBOOK_ADDED: &str = "
    action_running error action_running
    action_completed NEXT_ACTION error
    behavior_completed NEXT_BEHAVIOR error
    step_completed NEXT_STEP error
    stage_completed NEXT_STAGE error
    idle CLOSE failed
    idle CLOSE aborted
    idle CLOSE incomplete
    workflow_completed CLOSE closed
    workflow_completed CLOSE incomplete
    error CLOSE failed
    cancelled CLOSE aborted
    stage_completed error error
    stage_completed timeout error";

/// Policy asks for a permission: every state with an activity waits for the grant and goes on.
const NOTEBOOK_GRANTS: &str = "
    stage_running error awaiting_grant
    awaiting_grant GRANT_GIVEN stage_running
    step_running error awaiting_grant
    awaiting_grant GRANT_GIVEN step_running
    behavior_running error awaiting_grant
    awaiting_grant GRANT_GIVEN behavior_running
    action_running error awaiting_grant
    awaiting_grant GRANT_GIVEN action_running
    action_completed error awaiting_grant
    awaiting_grant GRANT_GIVEN action_completed
    behavior_completed error awaiting_grant
    awaiting_grant GRANT_GIVEN behavior_completed
    step_completed error awaiting_grant
    awaiting_grant GRANT_GIVEN step_completed
    stage_completed error awaiting_grant
    awaiting_grant GRANT_GIVEN stage_completed
    awaiting_grant GRANT_REFUSED error
    awaiting_grant timeout error
    awaiting_grant CANCEL cancelled";

#[test]
fn notebook_has_exactly_the_rows_of_the_four_tables() {
    let chart = chart("notebook");
    let lines = [NOTEBOOK, NOTEBOOK_ADDED, NOTEBOOK_GRANTS].into_iter().flat_map(str::lines).map(str::trim);
    let expected: BTreeSet<String> = lines.filter(|row| !row.is_empty()).map(str::to_owned).collect();
    let mut found = BTreeSet::new();
    for transition in &chart.transitions {
        for (event, target) in
            transition.events.iter().flat_map(|event| transition.targets.iter().map(move |target| (event, target)))
        {
            found.insert(format!(
                "{} {} {}",
                chart.state(transition.source).name,
                event.text,
                chart.state(*target).name
            ));
        }
    }
    assert_eq!(found, expected);
}
