//! The memory of a run: the parts of the observation that outlive one call. A call receives it from the machine's context
//! and returns it with its signal, so it is journalled like everything else.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value as Json, json};

use crate::achievement::Achievements;

/// The most characters of one effect that the memory keeps.
pub(crate) const EFFECT_CHARS_MAX: usize = 4_000;

/// The most characters of all current effects, and of the history.
const EFFECTS_CHARS_MAX: usize = 18_600;

/// The most effects of each kind.
const EFFECTS_MAX: usize = 50;

/// The most characters of an effect in the history.
const HISTORY_CHARS_MAX: usize = 400;

/// The most characters of a text that the planner writes.
const FOCUS_CHARS_MAX: usize = 4_000;

/// The most variables that the planner may set, and the most names in a list of outputs.
const NAMES_MAX: usize = 200;

/// The most actions that a completed behavior lists.
const ACTIONS_TAKEN_MAX: usize = 12;

/// The parts of the observation that outlive one call.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Memory {
    /// The variables that the planner has set.
    pub variables: Map<String, Json>,
    /// The real output of programs.
    pub effects: Effects,
    /// The planner's analysis of each level.
    pub focus: Levels<String>,
    /// The outputs of each level.
    pub outputs: Levels<Outputs>,
    /// The completed parts of each level.
    pub completed: Levels<Vec<Json>>,
    /// The filter of the next request to the generator; null if there is none.
    pub filter: Json,
    /// The achievements of the workflow.
    pub achievements: Achievements,
}

/// The output of programs.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Effects {
    /// The output of the current behavior.
    pub current: Vec<String>,
    /// The output of earlier behaviors.
    pub history: Vec<String>,
}

/// The names of variables that a level is to produce.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Outputs {
    /// The expected variables.
    pub expected: Vec<String>,
    /// The variables that exist.
    pub produced: Vec<String>,
    /// The expected variables that do not exist yet.
    pub in_progress: Vec<String>,
}

/// One value for each level of a workflow.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Levels<T> {
    /// The value of the stages.
    pub stages: T,
    /// The value of the steps.
    pub steps: T,
    /// The value of the behaviors.
    pub behaviors: T,
}

impl<T> Levels<T> {
    /// Returns the value of the level with this name.
    pub fn named(&mut self, level: &str) -> Option<&mut T> {
        match level {
            "stages" => Some(&mut self.stages),
            "steps" => Some(&mut self.steps),
            "behaviors" => Some(&mut self.behaviors),
            _ => None,
        }
    }
}

impl Memory {
    /// Adds the output of actions to the current effects.
    pub fn absorb(&mut self, effects: Vec<String>) {
        self.effects.current.extend(effects);
        bound(&mut self.effects.current, EFFECT_CHARS_MAX);
    }

    /// Appends a warning to the current effects.
    pub fn warn(&mut self, warning: impl std::fmt::Display) {
        self.absorb(vec![format!("⚠️ WARN: {warning}")]);
    }

    /// Moves the current effects to the history, because a new behavior begins.
    pub fn begin_behavior(&mut self) {
        self.effects.history.append(&mut self.effects.current);
        bound(&mut self.effects.history, HISTORY_CHARS_MAX);
    }

    /// Applies the `context_update` of a planner's reply. Updates of the workflow are not part of the memory.
    pub fn update(&mut self, update: &Json) {
        let fields = update.get("variables").and_then(Json::as_object).into_iter().flatten();
        fields.take(NAMES_MAX).for_each(|(name, value)| drop(self.variables.insert(name.clone(), value.clone())));
        for progress in each(update.get("progress_update")) {
            let focus = progress.get("focus").and_then(Json::as_str);
            let level = progress.get("level").and_then(Json::as_str).unwrap_or_default();
            if let (Some(place), Some(focus)) = (self.focus.named(level), focus) {
                *place = focus.chars().take(FOCUS_CHARS_MAX).collect();
            }
        }
        for outputs in each(update.get("outputs_update")) {
            let level = outputs.get("level").and_then(Json::as_str).unwrap_or_default();
            let given = outputs.get("outputs").cloned().unwrap_or_default();
            if let (Some(place), Ok(outputs)) = (self.outputs.named(level), serde_json::from_value(given)) {
                *place = outputs;
            }
        }
        if let Some(effects) = update.get("effects_update").cloned()
            && let Ok(effects) = serde_json::from_value(effects)
        {
            self.effects = effects;
            bound(&mut self.effects.current, EFFECT_CHARS_MAX);
            bound(&mut self.effects.history, HISTORY_CHARS_MAX);
        }
    }

    /// Compares the expected outputs of all levels with the variables that exist.
    pub fn track(&mut self, variables: &Map<String, Json>, is_running: bool) {
        for level in ["stages", "steps", "behaviors"] {
            let Some(outputs) = self.outputs.named(level) else { continue };
            outputs.expected.truncate(NAMES_MAX);
            let expected = outputs.expected.clone();
            for name in expected.iter().filter(|name| variables.contains_key(*name)) {
                if !outputs.produced.contains(name) {
                    outputs.produced.push(name.clone());
                }
            }
            outputs.produced.truncate(NAMES_MAX);
            let is_missing = |name: &String| is_running && !outputs.produced.contains(name);
            outputs.in_progress = expected.into_iter().filter(is_missing).collect();
        }
    }

    /// Marks the behavior as complete: its outputs become outputs of the step.
    pub fn complete_behavior(&mut self, id: &str, actions_taken: &[String]) {
        let outputs = std::mem::take(&mut self.outputs.behaviors);
        let goal = std::mem::take(&mut self.focus.behaviors);
        let taken = &actions_taken[..actions_taken.len().min(ACTIONS_TAKEN_MAX)];
        self.completed.behaviors.push(item("behavior_id", id, &goal, taken, &outputs));
        let missing = |name: &String| !self.outputs.steps.produced.contains(name);
        let new: Vec<String> = outputs.produced.into_iter().filter(missing).collect();
        self.outputs.steps.produced.extend(new);
    }

    /// Marks the step as complete, and begins with the next one.
    pub fn complete_step(&mut self, id: &str, goal: &str) {
        let outputs = std::mem::take(&mut self.outputs.steps);
        self.completed.steps.push(item("step_id", id, goal, &[], &outputs));
        let missing = |name: &String| !self.outputs.stages.produced.contains(name);
        let new: Vec<String> = outputs.produced.into_iter().filter(missing).collect();
        self.outputs.stages.produced.extend(new);
        self.outputs.behaviors = Outputs::default();
        self.completed.behaviors.clear();
        (self.focus.steps, self.focus.behaviors) = Default::default();
    }

    /// Marks the stage as complete, and begins with the next one.
    pub fn complete_stage(&mut self, id: &str, goal: &str) {
        let outputs = std::mem::take(&mut self.outputs.stages);
        self.completed.stages.push(item("stage_id", id, goal, &[], &outputs));
        (self.outputs.steps, self.outputs.behaviors) = Default::default();
        self.completed.steps.clear();
        self.completed.behaviors.clear();
        self.focus = Levels::default();
    }
}

/// Describes a completed part, as the protocol lists it.
fn item(kind: &str, id: &str, goal: &str, actions_taken: &[String], outputs: &Outputs) -> Json {
    json!({
        kind: id,
        "goal": goal,
        "actions_taken": actions_taken,
        "outputs_produced": { "variables": outputs.produced, "artifacts": [] },
    })
}

/// Returns the ids of completed parts; a bare string counts as an id too.
pub(crate) fn ids(completed: &[Json], kind: &str) -> Vec<String> {
    let id = |item: &Json| item.as_str().or_else(|| item.get(kind)?.as_str()).map(str::to_owned);
    completed.iter().filter_map(id).collect()
}

/// Returns the items of a list, or the one value that is not a list.
fn each(value: Option<&Json>) -> &[Json] {
    match value {
        Some(Json::Array(items)) => items,
        Some(one) => std::slice::from_ref(one),
        None => &[],
    }
}

/// Keeps the newest effects within the limits of length.
fn bound(effects: &mut Vec<String>, chars_each_max: usize) {
    effects.iter_mut().for_each(|effect| *effect = cut(effect, chars_each_max));
    let mut chars = 0;
    let kept = effects.iter().rev().take(EFFECTS_MAX).take_while(|effect| {
        chars += effect.chars().count();
        chars <= EFFECTS_CHARS_MAX
    });
    let skipped = effects.len() - kept.count();
    effects.drain(..skipped);
}

/// Cuts a text in its middle, because the first and the last lines of an output say most.
pub(crate) fn cut(text: &str, chars_max: usize) -> String {
    let count = text.chars().count();
    if count <= chars_max {
        return text.to_owned();
    }
    let head: String = text.chars().take(chars_max / 2).collect();
    let tail: String = text.chars().skip(count - chars_max / 3).collect();
    format!("{head}\n… {} characters left out …\n{tail}", count - chars_max / 2 - chars_max / 3)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_update_sets_variables_focus_outputs_and_effects() {
        let mut memory = Memory::default();
        memory.absorb(vec!["old".into()]);
        memory.update(&json!({
            "variables": { "n": 3 },
            "progress_update": { "level": "behaviors", "focus": "look closer" },
            "outputs_update": { "level": "steps", "outputs": { "expected": ["df"], "produced": [], "in_progress": [] } },
            "effects_update": { "current": ["new"], "history": ["before"] },
        }));
        assert_eq!(memory.variables["n"], 3);
        assert_eq!(memory.focus.behaviors, "look closer");
        assert_eq!(memory.outputs.steps.expected, ["df"]);
        assert_eq!((memory.effects.current, memory.effects.history), (vec!["new".into()], vec!["before".into()]));
    }

    #[test]
    fn broken_updates_change_nothing() {
        let mut memory = Memory::default();
        memory.update(&json!({ "variables": [], "progress_update": { "level": "x", "focus": 3 }, "effects_update": 7,
            "outputs_update": { "level": "steps", "outputs": { "expected": "df" } } }));
        assert_eq!(memory, Memory::default());
    }

    #[test]
    fn outputs_move_up_when_a_part_is_complete() {
        let mut memory = Memory::default();
        memory.outputs.behaviors.expected = vec!["df".into(), "x".into()];
        memory.track(json!({ "df": 1 }).as_object().unwrap(), true);
        assert_eq!(
            (&*memory.outputs.behaviors.produced, &*memory.outputs.behaviors.in_progress),
            (&["df".into()][..], &["x".into()][..])
        );
        memory.complete_behavior("behavior_001", &["ran a cell".into()]);
        assert_eq!(memory.outputs.steps.produced, ["df"]);
        assert_eq!(memory.outputs.behaviors, Outputs::default());
        memory.complete_step("load", "Load it");
        memory.complete_stage("data", "Get it");
        assert_eq!(ids(&memory.completed.stages, "stage_id"), ["data"]);
        assert_eq!(memory.completed.stages[0]["outputs_produced"]["variables"], json!(["df"]));
        assert!(memory.completed.steps.is_empty() && memory.completed.behaviors.is_empty());
    }

    #[test]
    fn effects_stay_within_their_limits() {
        let mut memory = Memory::default();
        memory.absorb((0..200).map(|at| format!("{at} {}", "x".repeat(10_000))).collect());
        let chars: usize = memory.effects.current.iter().map(|effect| effect.chars().count()).sum();
        assert!(chars <= EFFECTS_CHARS_MAX && memory.effects.current.last().unwrap().starts_with("199 "), "{chars}");
        memory.begin_behavior();
        assert!(memory.effects.current.is_empty() && memory.effects.history.len() >= 4);
    }
}
