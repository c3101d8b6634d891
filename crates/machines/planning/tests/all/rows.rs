//! A fixture for every row of the four tables of the specification: the machine takes it, with the real calls, and a row
//! into a state that asks a server sends exactly the recorded request.
//!
//! `UPDATE_EXPECT=1` writes `tests/rows.txt`.

use std::fmt::Write as _;

use expect_test::expect_file;
use serde_json::{Value as Json, json};

use crate::drive::Drive;

/// Every row with the way to it, after the start of a run. The words of a way are explained at [`word`].
const ROWS: [(&str, &str); 45] = [
    ("idle START_WORKFLOW stage_running", ""),
    ("stage_running START_STEP step_running", "no"),
    ("stage_running COMPLETE_STAGE stage_completed", "yes"),
    ("step_running START_BEHAVIOR behavior_running", "no no"),
    ("step_running COMPLETE_STEP step_completed", "no yes"),
    ("behavior_running START_ACTION action_running", "no no actions"),
    ("behavior_running COMPLETE_BEHAVIOR behavior_completed", "no no nothing"),
    ("action_running COMPLETE_ACTION action_completed", "no no actions more last"),
    ("action_completed NEXT_ACTION action_running", "no no actions more"),
    ("action_completed COMPLETE_BEHAVIOR behavior_completed", "no no actions more last no"),
    ("behavior_completed NEXT_BEHAVIOR behavior_running", "no no actions more last no continue"),
    ("behavior_completed COMPLETE_STEP step_completed", "no no actions more last no yes"),
    ("step_completed NEXT_STEP step_running", "no yes no"),
    ("step_completed COMPLETE_STAGE stage_completed", "no yes yes"),
    ("stage_completed NEXT_STAGE stage_running", "yes no"),
    ("stage_completed COMPLETE_WORKFLOW workflow_completed", "yes yes"),
    ("workflow_completed RESET idle", "yes yes RESET"),
    ("action_running UPDATE_WORKFLOW workflow_update_pending", "no workflow actions more"),
    ("action_running UPDATE_STEP step_update_pending", "no steps actions more"),
    (
        "workflow_update_pending UPDATE_WORKFLOW_CONFIRMED action_completed",
        "no workflow actions last UPDATE_WORKFLOW_CONFIRMED",
    ),
    (
        "workflow_update_pending UPDATE_WORKFLOW_REJECTED action_completed",
        "no workflow actions last UPDATE_WORKFLOW_REJECTED",
    ),
    ("workflow_update_pending COMPLETE_ACTION workflow_update_pending", "no workflow actions more"),
    ("step_update_pending UPDATE_STEP_CONFIRMED action_completed", "no steps actions last UPDATE_STEP_CONFIRMED"),
    ("step_update_pending UPDATE_STEP_REJECTED error", "no steps actions last UPDATE_STEP_REJECTED"),
    ("stage_running FAIL error", "fail"),
    ("stage_running CANCEL cancelled", "CANCEL"),
    ("step_running FAIL error", "no fail"),
    ("step_running CANCEL cancelled", "no CANCEL"),
    ("behavior_running FAIL error", "no no fail"),
    ("behavior_running CANCEL cancelled", "no no CANCEL"),
    ("action_running FAIL error", "no no actions fail"),
    ("action_running CANCEL cancelled", "no no actions CANCEL"),
    ("action_completed FAIL error", "no no actions last fail"),
    ("action_completed CANCEL cancelled", "no no actions last CANCEL"),
    ("behavior_completed FAIL error", "no no nothing neither"),
    ("behavior_completed CANCEL cancelled", "no no nothing CANCEL"),
    ("step_completed FAIL error", "no yes fail"),
    ("step_completed CANCEL cancelled", "no yes CANCEL"),
    ("stage_completed CANCEL cancelled", "yes CANCEL"),
    ("workflow_update_pending CANCEL cancelled", "no workflow actions more CANCEL"),
    ("step_update_pending CANCEL cancelled", "no steps actions more CANCEL"),
    ("error RESET idle", "fail RESET"),
    ("error START_WORKFLOW stage_running", "no no actions fail START_WORKFLOW"),
    ("error START_BEHAVIOR behavior_running", "no no actions fail START_BEHAVIOR"),
    ("cancelled RESET idle", "CANCEL RESET"),
];

pub(crate) fn workflow() -> Json {
    json!({ "name": "w", "stages": [
        { "id": "data", "title": "Data", "description": "Get the data", "steps": [
            { "step_id": "load", "description": "Load it" }, { "id": "clean", "title": "Clean it" }] },
        { "id": "end", "name": "End", "steps": [{ "step_id": "say" }] },
    ] })
}

pub(crate) fn plan(achieved: bool, continues: bool) -> Json {
    json!({
        "targetAchieved": achieved,
        "transition": { "continue_behaviors": continues, "target_achieved": achieved },
        "context_update": {
            "variables": { "goal": "g" },
            "progress_update": { "level": "behaviors", "focus": "look at df" },
            "outputs_update": { "level": "steps", "outputs": { "expected": ["df", "model"], "produced": [], "in_progress": [] } },
        },
    })
}

/// Follows one word of a way: a reply of the server, the end of an action, a failure, or an event of a user.
pub(crate) async fn word(drive: &mut Drive, word: &str) {
    match word {
        "no" | "neither" => drive.reply(plan(false, false)).await,
        "yes" => drive.reply(plan(true, false)).await,
        "continue" => drive.reply(plan(false, true)).await,
        "workflow" => {
            let mut reply = plan(false, false);
            let template = json!({ "name": "w2", "stages": [{ "id": "end", "steps": [{ "id": "say" }] }] });
            reply["context_update"]["workflow_update"] = json!({ "workflowTemplate": template, "nextStageId": "end" });
            drive.reply(reply).await;
        }
        "steps" => {
            let mut reply = plan(false, false);
            let steps = json!({ "stage_id": "data", "steps": [{ "id": "load" }, { "id": "check" }] });
            reply["context_update"]["stage_steps_update"] = steps;
            drive.reply(reply).await;
        }
        "actions" => {
            let add = json!({ "action": "add", "shot_type": "action", "content": "df" });
            drive.reply(json!({ "actions": [{ "action": "new_section", "content": "S" }, add] })).await;
        }
        "nothing" => drive.reply(json!({ "actions": [] })).await,
        "more" => drive.act("first output", true),
        "last" => drive.act("second output", false),
        "fail" => drive.fail("BROKEN"),
        event => drive.user(event),
    }
}

#[tokio::test]
async fn every_row_is_taken_and_sends_the_recorded_request() {
    let schema = include_str!("../../../../../machines/notebook/schemas/observation.json");
    let schema = jsonschema::validator_for(&serde_json::from_str(schema).unwrap()).unwrap();
    let mut told = String::new();
    for (row, way) in ROWS {
        let mut drive = Drive::new(json!({
            "problem": "Why?", "workflow": workflow(), "variables": { "csv_file_path": "a.csv" }, "stay_open": true,
        }));
        for each in way.split_whitespace() {
            word(&mut drive, each).await;
        }
        assert!(drive.rows.iter().any(|taken| taken == row), "{row}: {way} took {:?}", drive.rows);
        let _ = writeln!(told, "{row}");
        let asks = drive.started.as_ref().filter(|it| matches!(it.name.as_str(), "planning.call" | "generating.call"));
        if let Some(name) = asks.map(|it| it.name.clone()) {
            let reply = if name == "planning.call" { plan(false, false) } else { json!({ "actions": [] }) };
            drive.reply(reply).await;
            let problems = schema.iter_errors(&drive.request["observation"]).map(|problem| problem.to_string());
            assert_eq!(problems.collect::<Vec<_>>(), [""; 0], "{row}");
            let endpoint = if name == "planning.call" { "/planning" } else { "/generating" };
            let _ = writeln!(told, "  {endpoint} {}", drive.request);
        }
    }
    expect_file!["../rows.txt"].assert_eq(&told);
}

#[tokio::test]
async fn a_confirmed_workflow_is_taken_and_its_next_stage_follows_the_behavior() {
    let mut drive = Drive::new(json!({ "problem": "Why?", "workflow": workflow(), "stay_open": true }));
    for each in "no workflow actions last UPDATE_WORKFLOW_CONFIRMED no continue yes no".split_whitespace() {
        word(&mut drive, each).await;
    }
    assert_eq!(drive.place(), "stage_running");
    drive.reply(plan(false, false)).await;
    assert_eq!(drive.request["observation"]["location"]["current"]["stage_id"], "end");
    assert_eq!(drive.request["observation"]["location"]["progress"]["stages"]["remaining"], json!([]));
}

#[tokio::test]
async fn an_update_is_confirmed_without_asking_if_the_input_says_so() {
    let input = json!({ "problem": "Why?", "workflow": workflow(), "auto_confirm": true });
    for way in ["no workflow actions last", "no steps actions last"] {
        let mut drive = Drive::new(input.clone());
        for each in way.split_whitespace() {
            word(&mut drive, each).await;
        }
        drive.go().await;
        assert_eq!(drive.place(), "action_completed", "{way}");
    }
    let mut drive = Drive::new(json!({ "problem": "Why?", "workflow": workflow() }));
    for each in "no steps actions last".split_whitespace() {
        word(&mut drive, each).await;
    }
    drive.go().await;
    assert_eq!(drive.place(), "step_update_pending", "a person decides");
}

#[tokio::test]
async fn a_lost_kernel_fails_the_action_and_a_restart_agrees_to_run_the_cells_again() {
    let mut drive = Drive::new(json!({ "problem": "Why?", "workflow": workflow() }));
    for each in "no no actions".split_whitespace() {
        word(&mut drive, each).await;
    }
    assert_eq!(drive.started.as_ref().unwrap().with["on_kernel_lost"], "ask");
    drive.fail("KERNEL_LOST");
    assert_eq!(drive.place(), "error");
    for each in ["START_BEHAVIOR", "actions"] {
        word(&mut drive, each).await;
    }
    assert_eq!(drive.started.as_ref().unwrap().with["on_kernel_lost"], "rerun");
    drive.act("added", true);
    assert_eq!(drive.started.as_ref().unwrap().with["on_kernel_lost"], "rerun", "no cell was executed yet");
    for each in "last no continue actions".split_whitespace() {
        word(&mut drive, each).await;
    }
    assert_eq!(drive.started.as_ref().unwrap().with["on_kernel_lost"], "ask");
}

#[tokio::test]
async fn a_step_that_the_planner_cannot_do_is_completed_as_unachieved_unless_the_input_refuses() {
    let mut cannot = plan(false, false);
    cannot["transition"]["on_unachieved"] = json!("complete_step");
    for (given, reply, place) in [
        (None, &cannot, "step_completed"),
        (Some("error"), &cannot, "error"),
        (Some("complete_step"), &plan(false, false), "step_completed"),
        (None, &plan(false, false), "error"),
    ] {
        let mut input = json!({ "problem": "Why?", "workflow": workflow() });
        if let Some(given) = given {
            input["on_unachieved"] = json!(given);
        }
        let mut drive = Drive::new(input);
        for each in "no no nothing".split_whitespace() {
            word(&mut drive, each).await;
        }
        drive.reply(reply.clone()).await;
        assert_eq!(drive.place(), place, "{given:?}");
    }
}

/// Interrupts the action in progress, and returns the state and the action that is carried out next, if any.
fn interrupt(drive: &mut Drive) -> (String, Json) {
    drive.fail("INTERRUPTED");
    (
        drive.place(),
        drive.started.as_ref().map_or(Json::Null, |it| json!([it.with["index"], it.with["on_kernel_lost"]])),
    )
}

#[tokio::test]
async fn an_interrupted_action_is_repeated_three_times_per_behavior_with_rerun() {
    let input = json!({ "problem": "Why?", "workflow": workflow(), "on_kernel_lost": "rerun" });
    let mut drive = Drive::new(input);
    for each in "no no actions more".split_whitespace() {
        word(&mut drive, each).await;
    }
    let repeated = ("action_running".to_owned(), json!([1, "rerun"]));
    for _ in 0..2 {
        assert_eq!(interrupt(&mut drive), repeated);
    }
    for each in "last no continue actions more".split_whitespace() {
        word(&mut drive, each).await;
    }
    for _ in 0..3 {
        assert_eq!(interrupt(&mut drive), repeated, "the next behavior counts from the beginning");
    }
    assert_eq!(interrupt(&mut drive), ("error".to_owned(), Json::Null));
    for each in "START_BEHAVIOR actions more".split_whitespace() {
        word(&mut drive, each).await;
    }
    assert_eq!(interrupt(&mut drive), repeated, "a person has begun another behavior");
}

#[tokio::test]
async fn only_an_interrupted_action_is_repeated_and_only_with_rerun() {
    for (setting, code) in [("ask", "INTERRUPTED"), ("rerun", "KERNEL_LOST"), ("rerun", "CELL_TIMEOUT")] {
        let input = json!({ "problem": "Why?", "workflow": workflow(), "on_kernel_lost": setting });
        let mut drive = Drive::new(input);
        for each in "no no actions".split_whitespace() {
            word(&mut drive, each).await;
        }
        drive.fail(code);
        assert_eq!(drive.place(), "error", "{setting} {code}");
    }
}

#[tokio::test]
async fn the_focus_of_a_reply_is_about_the_next_behavior() {
    let mut drive = Drive::new(json!({ "problem": "Why?", "workflow": workflow() }));
    for each in "no no nothing".split_whitespace() {
        word(&mut drive, each).await;
    }
    let mut more = plan(false, true);
    more["context_update"]["progress_update"]["focus"] = json!("try again");
    drive.reply(more).await;
    drive.reply(json!({ "actions": [] })).await;
    let behaviors = &drive.request["observation"]["location"]["progress"]["behaviors"];
    assert_eq!((&behaviors["focus"], &behaviors["completed"][0]["goal"]), (&json!("try again"), &json!("look at df")));
}

#[tokio::test]
async fn an_update_that_changes_nothing_is_not_proposed() {
    let mut drive = Drive::new(json!({ "problem": "Why?", "workflow": workflow() }));
    word(&mut drive, "no").await;
    let mut same = plan(false, false);
    same["context_update"]["workflow_update"] = json!({ "workflowTemplate": workflow() });
    drive.reply(same).await;
    for each in ["actions", "last"] {
        word(&mut drive, each).await;
    }
    assert_eq!(drive.place(), "action_completed");
}
