//! The observation: where the workflow is and what is known, in the form of the protocol.

use interlock_activity::PastMove;
use interlock_journal::moment;
use serde_json::{Map, Value as Json, json};

use crate::{
    Memory, Situation, Workflow,
    memory::{self, Outputs, cut},
    variable,
};

/// The most transitions in `context.FSM`.
pub(crate) const HISTORY_MAX: usize = 50;

/// The most characters of the notebook's last output.
const LAST_OUTPUT_CHARS_MAX: usize = 1_000;

/// The event that the specification lets a pending update ignore: the only transition to the same state.
const IGNORED: &str = "COMPLETE_ACTION";

/// The state of the machine and the transitions that led to it.
#[derive(Clone, Debug, Default)]
pub struct Fsm {
    /// The current state.
    pub state: String,
    /// The transitions so far, oldest first.
    pub moves: Vec<PastMove>,
    /// The time of the call, in milliseconds since 1970, if there is no transition.
    pub now_ms: i64,
}

/// Builds the observation of a situation.
pub fn observation(situation: &Situation, workflow: &Workflow, fsm: &Fsm) -> Json {
    let memory = &situation.memory;
    json!({
        "location": {
            "current": {
                "stage_id": known(&situation.stage_id),
                "step_id": known(&situation.step_id),
                "behavior_id": situation.behavior_id(),
                "behavior_iteration": situation.behavior_iteration,
            },
            "progress": progress(situation, workflow, memory),
            "goals": {
                "stage": workflow.stage(&situation.stage_id).map(|stage| &stage.goal),
                "step": workflow.step(&situation.stage_id, &situation.step_id).map(|step| &step.goal),
                "behavior": situation.behavior_id().and_then(|_| known(&memory.focus.behaviors)),
            },
        },
        "context": {
            "variables": variables(situation),
            "effects": { "current": memory.effects.current, "history": memory.effects.history },
            "notebook": notebook(&situation.notebook),
            "FSM": fsm.json(),
        },
    })
}

/// Builds the feedback of the behavior that has just ended.
pub fn feedback(situation: &Situation) -> Json {
    let executed = situation.results.len();
    let failed = |result: &&Json| result.get("failed").and_then(Json::as_bool).unwrap_or_default();
    let failures = situation.results.iter().filter(failed).count();
    let sections = situation.actions.iter().take(executed).filter(|action| is_section(action)).count();
    let last = match situation.results.last() {
        None => "none",
        Some(result) if failed(&result) => "error",
        Some(_) => "success",
    };
    json!({
        "behavior_id": situation.behavior_id().unwrap_or_default(),
        "actions_executed": executed,
        "actions_succeeded": executed - failures,
        "sections_added": sections,
        "last_action_result": last,
    })
}

/// Returns all variables: those of the user, those of the planner, those of the kernel; later ones replace earlier ones.
pub fn variables(situation: &Situation) -> Map<String, Json> {
    let mut variables = Map::new();
    if !situation.problem.is_empty() {
        variables.insert("problem_description".to_owned(), json!(situation.problem));
    }
    variables.extend(situation.variables.clone());
    variables.extend(situation.memory.variables.clone());
    let kernel = situation.kernel_variables.iter();
    variables.extend(kernel.map(|(name, described)| (name.clone(), variable::short(described))));
    variables
}

fn progress(situation: &Situation, workflow: &Workflow, memory: &Memory) -> Json {
    let completed = &memory.completed;
    let stages = workflow.stages_after(&situation.stage_id, &memory::ids(&completed.stages, "stage_id"));
    let steps_done = memory::ids(&completed.steps, "step_id");
    let steps = workflow.steps_after(&situation.stage_id, &situation.step_id, &steps_done);
    let level = |completed: &[Json], current: &str, remaining: Vec<String>, focus: &str, outputs: &Outputs| {
        json!({
            "completed": completed,
            "current": known(current),
            "remaining": remaining,
            "focus": focus,
            "current_outputs": outputs,
        })
    };
    let (focus, outputs) = (&memory.focus, &memory.outputs);
    json!({
        "stages": level(&completed.stages, &situation.stage_id, stages, &focus.stages, &outputs.stages),
        "steps": level(&completed.steps, &situation.step_id, steps, &focus.steps, &outputs.steps),
        "behaviors": {
            "completed": completed.behaviors,
            "current": situation.behavior_id(),
            "iteration": situation.behavior_iteration,
            "focus": focus.behaviors,
            "current_outputs": outputs.behaviors,
        },
    })
}

/// Summarises the notebook: its title, the number of its cells, and the last cell.
fn notebook(notebook: &Json) -> Json {
    let cells = notebook.get("cells").and_then(Json::as_array).map(Vec::as_slice).unwrap_or_default();
    let count = notebook.get("cell_count").and_then(Json::as_u64).unwrap_or(cells.len() as u64);
    let last = cells.last();
    let outputs = last.and_then(|cell| cell.get("outputs")).filter(|outputs| !is_empty(outputs));
    let output = outputs.map(|outputs| match outputs {
        Json::String(text) => text.clone(),
        Json::Array(items) => items.iter().map(plain).collect::<Vec<_>>().join("\n"),
        other => other.to_string(),
    });
    json!({
        "title": notebook.get("title").and_then(Json::as_str).unwrap_or_default(),
        "cell_count": count,
        "last_cell_type": last.and_then(|cell| cell.get("cell_type")).and_then(Json::as_str),
        "last_output": output.map(|output| cut(&output, LAST_OUTPUT_CHARS_MAX)),
    })
}

fn plain(value: &Json) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

fn is_empty(value: &Json) -> bool {
    value.is_null() || value.as_str() == Some("") || value.as_array().is_some_and(Vec::is_empty)
}

impl Fsm {
    fn json(&self) -> Json {
        let moves = self.moves.iter().filter(|each| each.from_state != each.to_state || each.event == IGNORED);
        let moves: Vec<&PastMove> = moves.collect();
        let last = moves.last();
        let history: Vec<Json> = moves[moves.len().saturating_sub(HISTORY_MAX)..]
            .iter()
            .map(|each| {
                let at = moment::rfc3339(each.at_ms);
                json!({ "from": each.from_state, "event": each.event, "to": each.to_state, "timestamp": at })
            })
            .collect();
        json!({
            "state": self.state,
            "last_transition": last.map(|each| format!("{} -> {}", each.event, each.to_state)).unwrap_or_default(),
            "timestamp": moment::rfc3339(last.map_or(self.now_ms, |each| each.at_ms)),
            "history": history,
        })
    }
}

/// Returns true if an action adds a section.
fn is_section(action: &Json) -> bool {
    let metadata = action.get("metadata");
    let is_marked =
        ["is_section", "isSection"].iter().any(|name| metadata.and_then(|it| it.get(name)) == Some(&json!(true)));
    let name = action.get("action").and_then(Json::as_str).unwrap_or_default();
    is_marked || matches!(name, "new_section" | "newSection")
}

/// Returns a text that is not empty.
fn known(text: &str) -> Option<&str> {
    Some(text).filter(|text| !text.is_empty())
}
