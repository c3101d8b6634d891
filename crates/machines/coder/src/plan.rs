//! `plan.next`: marks the step that was done, takes the next pending one, and returns the plan with both.
//!
//! The plan is data of the run. A finished step never changes again; a step that failed stays `in_progress` until a plan
//! patch changes, removes or blocks it.

use interlock_activity::{
    Activity, Arguments, Attempt, BadArgument, EffectClass, Ending, Outcome, Requests, Signal, Site, schema,
};
use interlock_chart::{Value, model::Schema};
use serde_json::{Map, Value as Json};

use crate::{begin, value};

/// Takes the next step of a plan.
#[derive(Clone, Copy, Debug)]
pub struct PlanNext;

impl Activity for PlanNext {
    fn name(&self) -> &str {
        "plan.next"
    }

    fn summary(&self) -> &str {
        "Marks the step that was done and takes the plan's next step."
    }

    fn effect(&self) -> EffectClass {
        EffectClass::Read
    }

    fn signals(&self) -> &[Signal] {
        const { &[Signal::open("step_started"), Signal::open("steps_done")] }
    }

    fn schema(&self) -> Schema {
        let fields = schema::fields([("plan", schema::object()), ("done", schema::text())]);
        schema::needing(fields, &["plan"])
    }

    fn requests(&self, _: &Site<'_>) -> Requests {
        Ok(Vec::new())
    }

    fn start(&self, attempt: Attempt) -> Ending {
        begin(attempt, |attempt| {
            let given = Arguments::new(&attempt.with, &["plan", "done"])?;
            let plan = given.value("plan").ok_or_else(|| BadArgument::field("plan", "is missing"))?;
            let done = given.text("done")?.unwrap_or_default();
            let (plan, step) = next(Json::from(plan), done).map_err(|why| BadArgument::field("plan", why))?;
            let plan = ("plan", Value::from(plan));
            Ok(match step {
                Some(step) => Outcome::signal("step_started", Value::map([plan, ("step", value(&step))])),
                None => Outcome::signal("steps_done", Value::map([plan])),
            })
        })
    }
}

/// Returns the plan with its steps' new status, and the step that is in progress now.
fn next(mut plan: Json, done: &str) -> Result<(Json, Option<Map<String, Json>>), String> {
    let steps = plan.get_mut("steps").and_then(Json::as_array_mut).ok_or("has no `steps`")?;
    let mut started = None;
    for step in steps.iter_mut().filter_map(Json::as_object_mut) {
        let is_done = !done.is_empty() && step.get("step_id").and_then(Json::as_str) == Some(done);
        let status = step.get("status").and_then(Json::as_str).unwrap_or("pending").to_owned();
        match status.as_str() {
            "done" | "skipped" | "blocked" => {}
            _ if is_done => drop(step.insert("status".to_owned(), "done".into())),
            // A step in progress that is not done goes first: it is being repaired, or was interrupted.
            _ if started.is_none() => {
                step.insert("status".to_owned(), "in_progress".into());
                started = Some(step.clone());
            }
            _ => drop(step.insert("status".to_owned(), "pending".into())),
        }
    }
    Ok((plan, started))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn check(statuses: &[&str], done: &str, expected: &[&str], started: Option<&str>) {
        let steps = statuses.iter().enumerate();
        let steps: Vec<Json> =
            steps.map(|(at, status)| json!({ "step_id": format!("s{at}"), "status": status })).collect();
        let (plan, step) = next(json!({ "steps": steps }), done).unwrap();
        let found: Vec<&str> =
            plan["steps"].as_array().unwrap().iter().map(|step| step["status"].as_str().unwrap()).collect();
        assert_eq!(found, expected);
        assert_eq!(step.as_ref().map(|step| step["step_id"].as_str().unwrap()), started);
    }

    #[test]
    fn one_step_at_a_time_is_in_progress() {
        check(&["pending", "pending"], "", &["in_progress", "pending"], Some("s0"));
        check(&["in_progress", "pending"], "s0", &["done", "in_progress"], Some("s1"));
        check(&["done", "in_progress"], "s1", &["done", "done"], None);
    }

    #[test]
    fn a_step_that_was_not_done_is_taken_again() {
        check(&["done", "in_progress", "pending"], "", &["done", "in_progress", "pending"], Some("s1"));
    }

    #[test]
    fn finished_and_blocked_steps_stay_as_they_are() {
        check(
            &["done", "blocked", "skipped", "pending"],
            "s1",
            &["done", "blocked", "skipped", "in_progress"],
            Some("s3"),
        );
        check(&["done"], "s0", &["done"], None);
    }

    #[test]
    fn a_plan_without_steps_is_refused() {
        assert_eq!(next(json!({}), ""), Err("has no `steps`".to_owned()));
    }
}
