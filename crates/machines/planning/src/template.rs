//! Checks the workflow template that a person writes: its keys and its name.
//!
//! Templates of planners are read without this check, because servers may add fields of their own.

use interlock_suggest::did_you_mean_or_list;
use serde_json::Value as Json;

/// The keys of a template, of a stage and of a step.
const WORKFLOW: [&str; 4] = ["id", "name", "description", "stages"];
const STAGE: [&str; 9] = ["id", "stage_id", "title", "name", "description", "goal", "steps", "status", "index"];
const STEP: [&str; 8] = ["step_id", "id", "title", "name", "description", "goal", "status", "index"];

/// Returns the problems of a template, each with its place.
pub(crate) fn objections(template: &Json) -> Vec<String> {
    let mut found = unknown_keys(template, "the workflow", &WORKFLOW);
    if template["name"].as_str().is_none_or(|name| name.trim().is_empty()) {
        found.push("the workflow has no `name`".to_owned());
    }
    for (at, stage) in list(&template["stages"]).enumerate() {
        let place = place("stage", at, stage);
        found.extend(unknown_keys(stage, &place, &STAGE));
        for (at, step) in list(&stage["steps"]).enumerate() {
            found.extend(unknown_keys(step, &format!("{} of {place}", self::place("step", at, step)), &STEP));
        }
    }
    found
}

fn list(of: &Json) -> impl Iterator<Item = &Json> {
    of.as_array().into_iter().flatten()
}

/// Returns the words for a stage or a step: its id, or its number if it has none.
fn place(kind: &str, at: usize, part: &Json) -> String {
    let id = ["id", "step_id", "stage_id"].iter().find_map(|name| part[*name].as_str());
    id.map_or_else(|| format!("{kind} {}", at + 1), |id| format!("{kind} `{id}`"))
}

fn unknown_keys(of: &Json, place: &str, known: &[&str]) -> Vec<String> {
    let keys = of.as_object().into_iter().flat_map(serde_json::Map::keys);
    let unknown = keys.filter(|key| !known.contains(&key.as_str()));
    let told = unknown.map(|key| {
        let hint = did_you_mean_or_list(key, "the keys are", known.iter().copied());
        format!("{place} has the unknown key `{key}`{}", hint.map(|hint| format!("; {hint}")).unwrap_or_default())
    });
    told.collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn unknown_keys_are_named_with_their_place() {
        let template = json!({ "nam": "w", "stages": [
            { "id": "a", "stepz": [], "steps": [{ "id": "x", "descripton": "Load" }, { "titel": "T" }] },
        ] });
        assert_eq!(
            objections(&template),
            [
                "the workflow has the unknown key `nam`; did you mean `name`?",
                "the workflow has no `name`",
                "stage `a` has the unknown key `stepz`; did you mean `steps`?",
                "step `x` of stage `a` has the unknown key `descripton`; did you mean `description`?",
                "step 2 of stage `a` has the unknown key `titel`; did you mean `title`?",
            ]
        );
    }

    #[test]
    fn a_template_with_all_keys_is_accepted() {
        let step = json!({ "step_id": "x", "id": "x", "title": "t", "name": "n", "description": "d", "goal": "g",
            "status": "s", "index": 1 });
        let stage = json!({ "id": "a", "title": "t", "name": "n", "description": "d", "steps": [step] });
        let template = json!({ "id": "w", "name": "n", "description": "d", "stages": [stage] });
        assert_eq!(objections(&template), [""; 0]);
        assert_eq!(objections(&crate::Workflow::design()), [""; 0]);
    }
}
