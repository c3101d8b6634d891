//! Plans: the requests of their steps, and the result of applying a patch to them.

use interlock_policy::{Command, PathOp, Request};
use serde::Deserialize;
use serde_json::{Map, Value as Json, json};

/// The most steps that a plan may have.
const STEPS_MAX: usize = 12;

/// A patch to a plan: steps to remove, change and add.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct PlanPatch {
    #[serde(default, rename = "title")]
    _title: Option<String>,
    #[serde(default, rename = "reason")]
    _reason: Option<String>,
    remove_steps: Vec<String>,
    update_steps: Vec<Map<String, Json>>,
    add_steps: Vec<Map<String, Json>>,
}

fn id(step: &Map<String, Json>) -> &str {
    step.get("step_id").and_then(Json::as_str).unwrap_or_default()
}

/// Applies a patch to a plan: steps are removed, changed and added, in that order; finished steps stay as they are.
///
/// The step that failed is done again if the patch changes it, and is blocked otherwise. New steps come right after it,
/// because the steps behind it may build on them.
pub(super) fn patched(plan: &Map<String, Json>, patch: &PlanPatch) -> Result<Map<String, Json>, String> {
    let named: Vec<&str> = patch
        .remove_steps
        .iter()
        .map(String::as_str)
        .chain(patch.update_steps.iter().chain(&patch.add_steps).map(id))
        .collect();
    check_names(&named)?;
    let mut steps: Vec<Map<String, Json>> = match plan.get("steps").and_then(Json::as_array) {
        Some(steps) => steps.iter().filter_map(|step| step.as_object().cloned()).collect(),
        None => Vec::new(),
    };
    if let Some(done) = steps.iter().find(|step| is_finished(step) && named.contains(&id(step))) {
        return Err(format!("the step `{}` is finished and cannot be changed", id(done)));
    }
    let known = |wanted: &str, steps: &[Map<String, Json>]| steps.iter().any(|step| id(step) == wanted);
    let changed = patch.remove_steps.iter().map(String::as_str).chain(patch.update_steps.iter().map(id));
    if let Some(unknown) = changed.into_iter().find(|name| !known(name, &steps)) {
        return Err(format!("there is no step `{unknown}`"));
    }
    if let Some(double) = patch.add_steps.iter().map(id).find(|name| known(name, &steps)) {
        return Err(format!("the step `{double}` already exists"));
    }
    let failed = steps.iter().position(|step| status(step) == "in_progress");
    let at = failed.map_or(steps.len(), |failed| failed + 1);
    let behind = steps.split_off(at);
    let new = patch.add_steps.iter().map(|step| with_status(step.clone(), "pending"));
    let changed = |mut step: Map<String, Json>| {
        let update = patch.update_steps.iter().find(|update| id(update) == id(&step));
        step.extend(update.into_iter().flatten().map(|(name, value)| (name.clone(), value.clone())));
        match (status(&step), update) {
            ("in_progress", Some(_)) => with_status(step, "pending"),
            ("in_progress", None) => with_status(step, "blocked"),
            _ => step,
        }
    };
    let is_kept = |step: &Map<String, Json>| !patch.remove_steps.iter().any(|gone| gone == id(step));
    let old = |steps: Vec<Map<String, Json>>| steps.into_iter().filter(is_kept).map(changed).collect::<Vec<_>>();
    let steps: Vec<Map<String, Json>> = old(steps).into_iter().chain(new).chain(old(behind)).collect();
    if steps.len() > STEPS_MAX {
        return Err(format!("a plan has at most {STEPS_MAX} steps; this would have {}", steps.len()));
    }
    let mut plan = plan.clone();
    plan.insert("steps".to_owned(), steps.into_iter().map(Json::Object).collect());
    Ok(plan)
}

fn check_names(named: &[&str]) -> Result<(), String> {
    if named.is_empty() {
        return Err("the patch changes nothing".to_owned());
    }
    if named.contains(&"") {
        return Err("a step has no `step_id`".to_owned());
    }
    let mut sorted = named.to_vec();
    sorted.sort_unstable();
    match sorted.windows(2).find(|pair| pair[0] == pair[1]) {
        Some(pair) => Err(format!("the step `{}` is named twice", pair[0])),
        None => Ok(()),
    }
}

fn status(step: &Map<String, Json>) -> &str {
    step.get("status").and_then(Json::as_str).unwrap_or("pending")
}

fn with_status(mut step: Map<String, Json>, status: &str) -> Map<String, Json> {
    step.insert("status".to_owned(), json!(status));
    step
}

fn is_finished(step: &Map<String, Json>) -> bool {
    matches!(status(step), "done" | "skipped")
}

/// Returns the remaining steps of a plan as requests, including its verification.
pub(super) fn requests(plan: &Map<String, Json>) -> Result<Vec<Request>, String> {
    requests_of(plan, |step| !is_finished(step) && status(step) != "blocked")
}

/// Returns everything that the steps of a plan announce, also those that are finished.
pub(super) fn announced(plan: &Map<String, Json>) -> Vec<Request> {
    // A plan that cannot be read announces nothing.
    requests_of(plan, |_| true).unwrap_or_default()
}

fn requests_of(
    plan: &Map<String, Json>,
    is_meant: impl Fn(&Map<String, Json>) -> bool,
) -> Result<Vec<Request>, String> {
    let list =
        |from: &Map<String, Json>, name: &str| from.get(name).and_then(Json::as_array).cloned().unwrap_or_default();
    let command = |text: &str| Request::Command(Command::Shell(text.to_owned()));
    let mut requests = Vec::new();
    for step in list(plan, "steps").iter().filter_map(Json::as_object).filter(|step| is_meant(step)) {
        for call in list(step, "tool_calls").iter().filter_map(Json::as_object) {
            let args = call.get("args_hint").and_then(Json::as_object).cloned().unwrap_or_default();
            requests
                .extend(interlock_tools::hinted(call.get("name").and_then(Json::as_str).unwrap_or_default(), &args)?);
        }
        for artifact in list(step, "expected_artifacts").iter().filter_map(Json::as_object) {
            let text = |name: &str| artifact.get(name).and_then(Json::as_str).unwrap_or_default();
            match text("type") {
                "file" => requests.push(Request::Path { op: PathOp::Write, path: text("value").to_owned() }),
                "command" => requests.push(command(text("value"))),
                _ => {}
            }
        }
    }
    let verification = plan.get("verification").and_then(Json::as_object);
    let commands = verification.map(|verification| list(verification, "commands")).unwrap_or_default();
    requests.extend(commands.iter().filter_map(Json::as_str).map(command));
    Ok(requests)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(patch: Json, expected: Result<&str, &str>) {
        let plan = json!({ "plan_id": "p", "steps": [
            { "step_id": "a", "title": "A", "intent": "", "status": "done" },
            { "step_id": "b", "title": "B", "intent": "", "status": "pending" },
        ] });
        let patch: PlanPatch = serde_json::from_value(patch).unwrap();
        let found = patched(plan.as_object().unwrap(), &patch).map(|plan| {
            let steps = plan["steps"].as_array().unwrap().iter();
            steps
                .map(|step| format!("{}:{}:{}", step["step_id"], step["title"], step["status"]).replace('"', ""))
                .collect::<Vec<_>>()
                .join(" ")
        });
        assert_eq!(found.as_deref().map_err(String::as_str), expected);
    }

    #[test]
    fn a_patch_removes_updates_and_adds_in_that_order() {
        let add = json!({ "step_id": "c", "title": "C", "intent": "" });
        check(json!({ "remove_steps": ["b"], "update_steps": [], "add_steps": [add] }), Ok("a:A:done c:C:pending"));
        check(
            json!({ "remove_steps": [], "update_steps": [{ "step_id": "b", "title": "B2" }], "add_steps": [] }),
            Ok("a:A:done b:B2:pending"),
        );
    }

    #[test]
    fn a_failed_step_is_repaired_where_it_stands() {
        let step = |id: &str, status: &str| json!({ "step_id": id, "title": id, "intent": "", "status": status });
        let plan = json!({ "steps": [step("a", "done"), step("b", "in_progress"), step("c", "pending")] });
        let found = |patch: Json| {
            let patch: PlanPatch = serde_json::from_value(patch).unwrap();
            let plan = patched(plan.as_object().unwrap(), &patch).unwrap();
            let steps = plan["steps"].as_array().unwrap().iter();
            let told = steps.map(|step| format!("{}:{}", step["step_id"], step["status"]).replace('"', ""));
            told.collect::<Vec<_>>().join(" ")
        };
        let add = json!({ "step_id": "b2", "title": "B2", "intent": "" });
        let added = found(json!({ "remove_steps": [], "update_steps": [], "add_steps": [add] }));
        assert_eq!(added, "a:done b:blocked b2:pending c:pending");
        let update = json!({ "step_id": "b", "intent": "otherwise" });
        let updated = found(json!({ "remove_steps": [], "update_steps": [update], "add_steps": [] }));
        assert_eq!(updated, "a:done b:pending c:pending");
        let replaced = found(json!({ "remove_steps": ["b"], "update_steps": [], "add_steps": [add] }));
        assert_eq!(replaced, "a:done b2:pending c:pending");
    }

    #[test]
    fn a_patch_that_cannot_be_is_refused() {
        check(json!({ "remove_steps": [], "update_steps": [], "add_steps": [] }), Err("the patch changes nothing"));
        check(
            json!({ "remove_steps": ["a"], "update_steps": [], "add_steps": [] }),
            Err("the step `a` is finished and cannot be changed"),
        );
        check(json!({ "remove_steps": ["x"], "update_steps": [], "add_steps": [] }), Err("there is no step `x`"));
        check(
            json!({ "remove_steps": ["b"], "update_steps": [{ "step_id": "b" }], "add_steps": [] }),
            Err("the step `b` is named twice"),
        );
        check(
            json!({ "remove_steps": [], "update_steps": [], "add_steps": [{ "step_id": "b" }] }),
            Err("the step `b` already exists"),
        );
    }
}
