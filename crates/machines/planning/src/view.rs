//! The progress line of a run: stage, step, behavior and action, whenever the place changes.

use std::{
    collections::BTreeMap,
    sync::{Mutex, PoisonError},
};

use interlock_activity::{RunState, RunView};
use serde_json::{Value as Json, json};

use crate::Workflow;

/// Reports the place of a run when it changes.
#[derive(Debug, Default)]
pub struct ProgressView {
    /// The line that was reported last, by run.
    last: Mutex<BTreeMap<String, String>>,
}

impl RunView for ProgressView {
    fn update(&self, run: &RunState) -> Option<String> {
        let line = line(run);
        let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        if run.is_over {
            last.remove(&*run.run);
            return None;
        }
        let line = line?;
        let known = last.insert(run.run.to_string(), line.clone());
        (known.as_ref() != Some(&line)).then_some(line)
    }
}

/// Describes the place of a run in one line; `None` outside of a workflow.
fn line(run: &RunState) -> Option<String> {
    let of = |name: &str| run.context.get(name).unwrap_or(&Json::Null);
    let mut workflow = Workflow::parse(of("workflow")).ok()?;
    workflow.update_steps(of("stage_steps").as_array().map(Vec::as_slice).unwrap_or_default());
    let (stage_id, step_id) = (of("stage_id").as_str()?, of("step_id").as_str().unwrap_or_default());
    let at = workflow.stages.iter().position(|stage| stage.id == stage_id)?;
    let stage = workflow.stages.get(at)?;
    let mut parts = vec![format!("stage {} of {}: {}", at + 1, workflow.stages.len(), stage.title)];
    if let Some(at) = stage.steps.iter().position(|step| step.id == step_id) {
        parts.push(format!("step {} of {}: {}", at + 1, stage.steps.len(), stage.steps[at].title));
    }
    let count = |name: &str| run.counters.get(name).copied().unwrap_or_default();
    let is_in = |state: &str| run.states.iter().any(|known| known == state);
    if is_in("behavior_running") || is_in("action_running") {
        parts.push(format!("behavior {}", count("behaviors") + 1));
    }
    let queue = of("queue").as_array().map(Vec::as_slice).unwrap_or_default();
    if is_in("action_running") {
        let number = count("actions") as usize;
        let action = queue.get(number).map(action_words).unwrap_or_default();
        parts.push(format!("action {} of {}{action}", number + 1, queue.len()));
    }
    Some(parts.join(" · "))
}

/// Describes an action: its kind and the first line of its content.
fn action_words(action: &Json) -> String {
    let kind = action.get("action").and_then(Json::as_str).unwrap_or("unknown");
    let content = ["content", "title", "thinking_text"].iter().find_map(|name| action.get(name)?.as_str());
    let first: String = content.and_then(|text| text.lines().next()).unwrap_or_default().chars().take(60).collect();
    if first.is_empty() { format!(" ({kind})") } else { format!(" ({kind} {})", json!(first)) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_line_names_stage_step_behavior_and_action_and_is_reported_once() {
        let context = json!({
            "workflow": { "name": "w", "stages": [
                { "id": "a", "title": "Load", "steps": [{ "id": "x", "title": "Read" }, { "id": "y" }] },
                { "id": "b", "steps": [{ "id": "x" }] },
            ] },
            "stage_id": "a", "step_id": "x",
            "queue": [{ "action": "add", "content": "import csv\nx" }, { "action": "exec" }],
        });
        let mut run = RunState {
            run: "n1".into(),
            states: vec!["action_running".into()],
            context: context.as_object().unwrap().clone(),
            counters: [("behaviors".to_owned(), 1)].into(),
            ..RunState::default()
        };
        let view = ProgressView::default();
        let expected = r#"stage 1 of 2: Load · step 1 of 2: Read · behavior 2 · action 1 of 2 (add "import csv")"#;
        assert_eq!(view.update(&run).as_deref(), Some(expected));
        assert_eq!(view.update(&run), None);
        run.counters.insert("actions".to_owned(), 1);
        assert!(view.update(&run).unwrap().ends_with("action 2 of 2 (exec)"));
        run.is_over = true;
        assert_eq!(view.update(&run), None);
    }
}
