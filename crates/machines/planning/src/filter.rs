//! The `context_filter` of a planner: reduces the observation that the generator gets.

use regex::Regex;
use serde_json::{Map, Value as Json, json};

use crate::{Situation, variable};

/// The most patterns of each kind, and the longest pattern.
const PATTERNS_MAX: usize = 20;
const PATTERN_CHARS_MAX: usize = 500;

/// The levels of a progress.
const LEVELS: [&str; 3] = ["stages", "steps", "behaviors"];

/// Reduces an observation by a filter. Returns the warnings, which are in its current effects too.
pub fn apply(observation: &mut Json, filter: &Json, situation: &Situation) -> Vec<String> {
    if !filter.is_object() {
        return Vec::new();
    }
    let mut warnings = Vec::new();
    let all = observation["context"]["variables"].take();
    observation["context"]["variables"] = variables(filter, &all, situation, &mut warnings);
    let effects = observation["context"]["effects"].take();
    observation["context"]["effects"] = filtered_effects(filter, &effects, &mut warnings);
    focus(observation, filter);
    let expected = names(filter.pointer("/outputs_tracking/expected_variables"));
    if !expected.is_empty() {
        observation["location"]["progress"]["behaviors"]["current_outputs"]["expected"] = json!(expected);
    }
    warnings.extend(unvalidated(filter, &all));
    if let Some(current) = observation["context"]["effects"]["current"].as_array_mut() {
        current.extend(warnings.iter().map(|warning| json!(format!("⚠️ WARN: {warning}"))));
    }
    warnings
}

fn variables(filter: &Json, all: &Json, situation: &Situation, warnings: &mut Vec<String>) -> Json {
    let summarised = filter.get("variables_to_summarize").and_then(Json::as_object).cloned().unwrap_or_default();
    let included = filter.get("variables_to_include");
    let mut kept = Map::new();
    let wanted = match included {
        Some(_) => names(included),
        None => all.as_object().into_iter().flat_map(Map::keys).cloned().collect(),
    };
    for name in wanted {
        match all.get(&name) {
            Some(value) => drop(kept.insert(name, value.clone())),
            None => warnings.push(format!("Variable '{name}' requested but not found")),
        }
    }
    for (name, strategy) in &summarised {
        let strategy = strategy.as_str().unwrap_or_default();
        let Some(value) = all.get(name) else {
            let warning = format!("Variable '{name}' requested but not found");
            if !warnings.contains(&warning) {
                warnings.push(warning);
            }
            kept.insert(name.clone(), json!(format!("<{strategy}: not available>")));
            continue;
        };
        match variable::summary(strategy, situation.kernel_variables.get(name), value) {
            Some(summary) => drop(kept.insert(name.clone(), json!(summary))),
            None => warnings.push(format!("Variable '{name}' cannot be summarised by '{strategy}'")),
        }
    }
    Json::Object(kept)
}

fn filtered_effects(filter: &Json, effects: &Json, warnings: &mut Vec<String>) -> Json {
    let config = filter.get("effects_config").cloned().unwrap_or_default();
    let flag = |name: &str, default: bool| config.get(name).and_then(Json::as_bool).unwrap_or(default);
    let limit = |name: &str, default: usize| {
        config.get(name).and_then(Json::as_u64).map_or(default, |limit| usize::try_from(limit).unwrap_or(usize::MAX))
    };
    let include = patterns(&config, "include", warnings);
    let exclude = patterns(&config, "exclude", warnings);
    let chosen = |kind: &str, is_wanted: bool, limit: usize| {
        let texts = effects.get(kind).and_then(Json::as_array).into_iter().flatten().filter_map(Json::as_str);
        let fits = |text: &&str| {
            is_wanted
                && (include.is_empty() || include.iter().any(|pattern| pattern.is_match(text)))
                && !exclude.iter().any(|pattern| pattern.is_match(text))
        };
        let texts: Vec<&str> = texts.filter(fits).collect();
        json!(texts[texts.len().saturating_sub(limit)..])
    };
    json!({
        "current": chosen("current", flag("include_current", true), limit("current_limit", usize::MAX)),
        "history": chosen("history", flag("include_history", false), limit("history_limit", 0)),
    })
}

fn patterns(config: &Json, kind: &str, warnings: &mut Vec<String>) -> Vec<Regex> {
    let given = names(config.pointer(&format!("/patterns/{kind}")));
    let mut patterns = Vec::new();
    for text in given.into_iter().take(PATTERNS_MAX) {
        match Regex::new(&text) {
            Ok(pattern) if text.len() <= PATTERN_CHARS_MAX => patterns.push(pattern),
            _ => warnings.push(format!("Pattern '{text}' of effects_config cannot be used")),
        }
    }
    patterns
}

/// Removes the focus and the outputs of levels that the filter does not name.
fn focus(observation: &mut Json, filter: &Json) {
    let given = filter.get("focus_to_include");
    let included = given.map_or_else(|| vec!["behaviors".to_owned()], |given| names(Some(given)));
    for level in LEVELS.iter().filter(|level| !included.iter().any(|one| one == *level)) {
        let progress = &mut observation["location"]["progress"][*level];
        progress["focus"] = json!("");
        progress["current_outputs"] = json!({ "expected": [], "produced": [], "in_progress": [] });
    }
}

/// Warns about variables that must exist and do not.
fn unvalidated(filter: &Json, all: &Json) -> Vec<String> {
    let required = names(filter.pointer("/outputs_tracking/validation_required"));
    let missing = required.into_iter().filter(|name| all.get(name).is_none());
    missing.map(|name| format!("Variable '{name}' must be validated but does not exist")).collect()
}

/// Returns the texts of a list.
fn names(list: Option<&Json>) -> Vec<String> {
    let items = list.and_then(Json::as_array).into_iter().flatten();
    items.filter_map(Json::as_str).map(str::to_owned).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn filtered(filter: Json) -> (Json, Vec<String>) {
        let level = |focus: &str| json!({ "focus": focus, "current_outputs": { "expected": [focus], "produced": [], "in_progress": [] } });
        let mut observation = json!({
            "location": { "progress": { "stages": level("a"), "steps": level("b"), "behaviors": level("c") } },
            "context": {
                "variables": { "df": "DataFrame(3×2)", "n": 3, "list": [1, 2, 3] },
                "effects": { "current": ["one", "two error", "three"], "history": ["old", "older"] },
            },
        });
        let described = json!({ "df": { "type": "DataFrame", "shape": [3, 2], "text": "a b" } });
        let situation = Situation { kernel_variables: described.as_object().unwrap().clone(), ..Situation::default() };
        let warnings = apply(&mut observation, &filter, &situation);
        (observation, warnings)
    }

    #[test]
    fn named_variables_are_kept_and_missing_ones_are_warned_about() {
        let (seen, warnings) = filtered(json!({
            "variables_to_include": ["n", "x"],
            "variables_to_summarize": { "df": "shape_only", "list": "last_1_only", "y": "head_only", "n": "odd" },
        }));
        let expected = json!({ "n": 3, "df": "DataFrame(3×2)", "list": "[3]", "y": "<head_only: not available>" });
        assert_eq!(seen["context"]["variables"], expected);
        assert_eq!(
            warnings,
            [
                "Variable 'x' requested but not found",
                "Variable 'y' requested but not found",
                "Variable 'n' cannot be summarised by 'odd'",
            ]
        );
        let current = seen["context"]["effects"]["current"].as_array().unwrap();
        assert!(current.contains(&json!("⚠️ WARN: Variable 'x' requested but not found")), "{current:?}");
    }

    #[test]
    fn effects_are_chosen_by_kind_number_and_pattern() {
        let effects = |config: Json| filtered(json!({ "effects_config": config })).0["context"]["effects"].clone();
        assert_eq!(effects(json!({})), json!({ "current": ["one", "two error", "three"], "history": [] }));
        let both = json!({ "current_limit": 1, "include_history": true, "history_limit": 1 });
        assert_eq!(effects(both), json!({ "current": ["three"], "history": ["older"] }));
        assert_eq!(effects(json!({ "include_current": false })), json!({ "current": [], "history": [] }));
        let patterns = json!({ "patterns": { "include": ["^t"], "exclude": ["error"] } });
        assert_eq!(effects(patterns)["current"], json!(["three"]));
        let broken = effects(json!({ "patterns": { "include": ["("] } }));
        assert_eq!(broken["current"][3], "⚠️ WARN: Pattern '(' of effects_config cannot be used");
    }

    #[test]
    fn only_named_levels_keep_their_focus() {
        let focus = |filter: Json| {
            let seen = filtered(filter).0;
            LEVELS.map(|level| seen["location"]["progress"][level]["focus"].as_str().unwrap().to_owned())
        };
        assert_eq!(focus(json!({})), ["", "", "c"]);
        assert_eq!(focus(json!({ "focus_to_include": ["steps", "behaviors"] })), ["", "b", "c"]);
        assert_eq!(focus(json!({ "focus_to_include": [] })), ["", "", ""]);
        assert_eq!(focus(Json::Null), ["a", "b", "c"]);
    }

    #[test]
    fn expected_outputs_are_tracked() {
        let (seen, warnings) = filtered(json!({
            "outputs_tracking": { "expected_variables": ["model"], "validation_required": ["n", "score"] },
        }));
        assert_eq!(seen["location"]["progress"]["behaviors"]["current_outputs"]["expected"], json!(["model"]));
        assert_eq!(warnings, ["Variable 'score' must be validated but does not exist"]);
    }
}
