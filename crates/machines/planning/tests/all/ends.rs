//! The ends of a run: success only if every step is achieved and the problem is answered, whatever people and planners do
//! in between. The real engine and the real calls move the machine.

use std::collections::BTreeSet;

use interlock_planning::Workflow;
use serde_json::{Value as Json, json};

use crate::{
    drive::Drive,
    rows::{plan, word, workflow},
};

/// A way through the whole workflow: all three steps are achieved, one after some work.
const COMPLETE: &str = "no no actions last no yes no yes yes no no yes yes yes";

async fn follow(drive: &mut Drive, way: &str) {
    for each in way.split_whitespace() {
        word(drive, each).await;
    }
}

async fn end(input: &Json, way: &str) -> (String, String) {
    let mut drive = Drive::new(input.clone());
    follow(&mut drive, way).await;
    (drive.place(), drive.context("shortfall").as_str().unwrap_or_default().to_owned())
}

#[tokio::test]
async fn only_a_complete_workflow_with_an_answer_is_a_success() {
    let input = json!({ "problem": "Why?", "workflow": workflow(), "on_unachieved": "complete_step" });
    let skipped = "3 steps are not achieved: load, clean, say (it was skipped)";
    let nothing = "the problem is not answered: the workflow has left no output and no text in the notebook";
    for (way, place, expected) in [
        (COMPLETE, "closed", String::new()),
        ("yes yes", "incomplete", format!("{nothing}; {skipped}")),
        // Every step is achieved, but nothing was done.
        ("no yes no yes yes no no yes yes yes", "incomplete", nothing.to_owned()),
        // The first step is not achieved, after work.
        (
            "no no actions last no neither no yes yes no no yes yes yes",
            "incomplete",
            "1 step is not achieved: load (the planner says that its target is not achieved)".to_owned(),
        ),
        // The stage ends before its second step.
        (
            "no no actions last no yes yes no no yes yes yes",
            "incomplete",
            "1 step is not achieved: clean (it was skipped)".to_owned(),
        ),
        // The workflow ends before its second stage.
        (
            "no no actions last no yes no yes yes yes",
            "incomplete",
            "1 step is not achieved: say (it was skipped)".to_owned(),
        ),
        // Nothing is left, but the planner does not call the workflow achieved.
        (
            "no no actions last no yes no yes yes no no yes yes no",
            "incomplete",
            "the planner says that the target of the workflow is not achieved".to_owned(),
        ),
    ] {
        assert_eq!(end(&input, way).await, (place.to_owned(), expected), "{way}");
    }
}

#[tokio::test]
async fn a_reset_forgets_the_answer_and_not_the_failure() {
    let input = json!({ "problem": "Why?", "workflow": workflow(), "stay_open": true });
    for (way, place) in [
        ("fail RESET CLOSE", "failed"),
        ("CANCEL RESET CLOSE", "aborted"),
        ("no no fail START_BEHAVIOR fail RESET CLOSE", "failed"),
        ("fail RESET START_WORKFLOW CANCEL RESET CLOSE", "aborted"),
        ("fail RESET START_WORKFLOW yes yes CLOSE", "incomplete"),
        ("yes yes RESET CLOSE", "incomplete"),
        ("yes yes CLOSE", "incomplete"),
    ] {
        assert_eq!(end(&input, way).await.0, place, "{way}");
    }
    assert_eq!(end(&input, &format!("{COMPLETE} CLOSE")).await.0, "closed");
    assert_eq!(end(&input, &format!("{COMPLETE} RESET CLOSE")).await.0, "incomplete");
    assert_eq!(end(&input, &format!("{COMPLETE} RESET START_WORKFLOW yes yes CLOSE")).await.0, "incomplete");
    assert_eq!(end(&input, &format!("fail RESET START_WORKFLOW {COMPLETE} CLOSE")).await.0, "closed");
}

#[tokio::test]
async fn nobody_can_start_a_behavior_before_the_planner_has_answered() {
    let input = json!({ "problem": "Why?", "workflow": workflow() });
    for way in ["no START_BEHAVIOR", "no yes no START_BEHAVIOR", "no no actions last no yes no START_BEHAVIOR"] {
        let mut drive = Drive::new(input.clone());
        follow(&mut drive, way).await;
        assert_eq!((drive.place().as_str(), drive.rows.len()), ("step_running", 0), "{way}");
        let name = drive.started.as_ref().map(|it| it.name.as_str());
        assert_eq!(name, Some("planning.call"), "the planner is still being asked: {way}");
        word(&mut drive, "no").await;
        assert_eq!(drive.place(), "behavior_running", "{way}");
    }
    // A planner that fails has not answered.
    let mut drive = Drive::new(input);
    word(&mut drive, "no").await;
    drive.reply(json!({ "hello": 1 })).await;
    assert_eq!(drive.place(), "error");
    assert!(drive.context("failure").as_str().unwrap().starts_with("the planner failed: the reply has no"));
    word(&mut drive, "START_BEHAVIOR").await;
    assert_eq!(drive.place(), "error", "the step was never planned");
}

fn large(stages: usize, steps: usize) -> Json {
    let stage = |stage: usize| {
        let steps: Vec<Json> = (0..steps).map(|step| json!({ "id": format!("p{step}") })).collect();
        json!({ "id": format!("s{stage}"), "steps": steps })
    };
    json!({ "name": "w", "stages": (0..stages).map(stage).collect::<Vec<_>>() })
}

#[tokio::test]
async fn a_long_workflow_finishes() {
    let mut drive = Drive::new(json!({ "problem": "Why?", "workflow": large(12, 4) }));
    follow(&mut drive, "no no actions last no yes").await;
    for _ in 0..1_000 {
        match drive.place().as_str() {
            "stage_running" => word(&mut drive, "no").await,
            "step_running" => word(&mut drive, "yes").await,
            "step_completed" => {
                let is_last = drive.started.as_ref().unwrap().with["step_id"] == "p3";
                word(&mut drive, if is_last { "yes" } else { "no" }).await;
            }
            "stage_completed" => {
                let is_last = drive.started.as_ref().unwrap().with["stage_id"] == "s11";
                word(&mut drive, if is_last { "yes" } else { "no" }).await;
            }
            _ => break,
        }
    }
    assert_eq!(drive.place(), "closed", "{}", drive.context("failure"));
    assert_eq!(drive.context("moves_max"), 88);
}

#[tokio::test]
async fn the_limits_cover_the_largest_workflow_and_bound_a_planner_that_goes_back() {
    let mut drive = Drive::new(json!({ "problem": "Why?", "workflow": large(200, 200) }));
    word(&mut drive, "yes").await;
    assert_eq!(drive.context("moves_max"), 40_040);
    // A planner that proposes the same stage again and again.
    let input = json!({ "problem": "Why?", "workflow": workflow(), "auto_confirm": true });
    let mut drive = Drive::new(input);
    word(&mut drive, "no").await;
    let mut moves = 0;
    for round in 0..200 {
        let mut again = plan(false, false);
        let template = json!({ "name": "w", "stages": [{ "id": format!("a{round}"), "steps": [{ "id": "x" }] }] });
        let update = json!({ "workflowTemplate": template, "nextStageId": format!("a{round}") });
        again["context_update"]["workflow_update"] = update;
        drive.reply(again).await;
        follow(&mut drive, "actions last").await;
        if drive.place() == "action_completed" {
            break; // The proposal was refused.
        }
        assert_eq!(drive.place(), "workflow_update_pending", "{round}");
        drive.go().await;
        follow(&mut drive, "no yes no no no").await;
        assert_eq!(drive.place(), "step_running", "{round}: {}", drive.context("failure"));
        moves += 1;
    }
    let effects = drive.context("memory")["effects"].to_string();
    assert!(effects.contains("the proposed workflow_update is refused"), "the planner hears of it: {effects}");
    assert!((30..=43).contains(&moves), "40 and one for each of the three steps of the first workflow: {moves}");
}

/// Pseudo-random numbers.
struct Chance(u64);

impl Chance {
    fn pick<'w>(&mut self, some: &[&'w str]) -> &'w str {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        some[(self.0 >> 33) as usize % some.len()]
    }
}

/// Random planners and people: a run that succeeds has an achieved answer for each step of its last workflow.
#[tokio::test]
async fn no_order_of_events_makes_a_success_of_an_incomplete_workflow() {
    let input =
        json!({ "problem": "Why?", "workflow": workflow(), "stay_open": true, "on_unachieved": "complete_step" });
    let mut ended = std::collections::BTreeMap::<String, usize>::new();
    for seed in 0..120 {
        let (mut drive, mut chance) = (Drive::new(input.clone()), Chance(seed));
        let (mut achieved, mut is_achieved, mut last) = (BTreeSet::<(String, String)>::new(), false, Json::Null);
        for _ in 0..60 {
            let place = drive.place();
            let next = match place.as_str() {
                "stage_running" => chance.pick(&["no", "no", "no", "no", "no", "yes", "fail", "CANCEL"]),
                "step_running" => {
                    chance.pick(&["yes", "yes", "no", "no", "workflow", "steps", "START_BEHAVIOR", "fail"])
                }
                "behavior_running" => chance.pick(&["actions", "actions", "nothing", "fail"]),
                "action_running" => chance.pick(&["last", "last", "last", "CANCEL", "fail"]),
                "action_completed" => chance.pick(&["no"]),
                "behavior_completed" => chance.pick(&["yes", "yes", "yes", "neither", "continue"]),
                "step_completed" => chance.pick(&["no", "no", "no", "yes", "fail"]),
                "stage_completed" => chance.pick(&["no", "yes", "yes"]),
                "workflow_update_pending" => chance.pick(&["UPDATE_WORKFLOW_CONFIRMED", "UPDATE_WORKFLOW_REJECTED"]),
                "step_update_pending" => chance.pick(&["UPDATE_STEP_CONFIRMED", "UPDATE_STEP_REJECTED"]),
                "workflow_completed" => chance.pick(&["CLOSE", "CLOSE", "RESET"]),
                "error" => chance.pick(&["RESET", "START_WORKFLOW", "START_BEHAVIOR", "START_BEHAVIOR"]),
                "cancelled" => chance.pick(&["RESET"]),
                "idle" => chance.pick(&["START_WORKFLOW", "START_WORKFLOW", "START_WORKFLOW", "CLOSE"]),
                _ => break,
            };
            let with = drive.started.as_ref().map(|it| it.with.clone()).unwrap_or_default();
            let at = |name: &str| with[name].as_str().unwrap_or_default().to_owned();
            let step = (at("stage_id"), at("step_id"));
            match (place.as_str(), next) {
                ("step_running" | "behavior_completed", "yes") => drop(achieved.insert(step)),
                ("behavior_completed", _) => drop(achieved.remove(&step)),
                (_, "START_WORKFLOW") => achieved.clear(),
                ("stage_completed", _) => (is_achieved, last) = (next == "yes", with.clone()),
                _ => {}
            }
            word(&mut drive, next).await;
        }
        *ended.entry(drive.place()).or_default() += 1;
        if drive.place() == "closed" {
            let mut workflow = Workflow::parse(&last["workflow"]).unwrap();
            workflow.update_steps(last["stage_steps"].as_array().map(Vec::as_slice).unwrap_or_default());
            let steps = workflow
                .stages
                .iter()
                .flat_map(|stage| stage.steps.iter().map(|step| (stage.id.clone(), step.id.clone())));
            let missing: Vec<_> = steps.filter(|step| !achieved.contains(step)).collect();
            assert!(is_achieved && missing.is_empty(), "seed {seed}: {missing:?}");
        }
    }
    for place in ["closed", "incomplete", "failed", "aborted"] {
        assert!(ended.contains_key(place), "{place} was never reached: {ended:?}");
    }
}
