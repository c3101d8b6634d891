//! The workflow template: stages with steps, navigation between them, and the difference between two templates.

use serde_json::{Value as Json, json};
use similar::{ChangeTag, TextDiff};

/// The most stages of a workflow, and the most steps of a stage.
const PARTS_MAX: usize = 200;

/// The moves of a workflow beyond one for each step.
const MOVES_BACK_MAX: u64 = 40;

/// The most lines of a difference.
const DIFFERENCE_LINES_MAX: usize = 200;

/// A workflow template, parsed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Workflow {
    /// The name for people.
    pub name: String,
    /// The stages, in order; at least one.
    pub stages: Vec<Stage>,
}

/// A stage of a workflow.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Stage {
    /// The id, unique within the workflow.
    pub id: String,
    /// The title for people; the id if the template has none.
    pub title: String,
    /// The goal: the description, or the title.
    pub goal: String,
    /// The steps, in order; at least one.
    pub steps: Vec<Step>,
}

/// A step of a stage.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Step {
    /// The id, unique within the stage.
    pub id: String,
    /// The title for people; the id if the template has none.
    pub title: String,
    /// The goal: the description, or the title.
    pub goal: String,
}

impl Workflow {
    /// Parses a template. The error names the part that does not fit.
    pub fn parse(template: &Json) -> Result<Self, String> {
        let name = text(template, &["name", "id"]).unwrap_or_else(|| "workflow".to_owned());
        let stages = template.get("stages").and_then(Json::as_array).ok_or("the workflow has no list of stages")?;
        if stages.is_empty() || stages.len() > PARTS_MAX {
            return Err(format!("the workflow has {} stages instead of 1 to {PARTS_MAX}", stages.len()));
        }
        let stages = stages.iter().map(Stage::parse).collect::<Result<Vec<_>, _>>()?;
        unique("stage", stages.iter().map(|stage| stage.id.as_str()))?;
        Ok(Workflow { name, stages })
    }

    /// Returns the template with which a run starts if it has none and a server plans: one stage that designs the
    /// workflow.
    pub fn design() -> Json {
        json!({
            "id": "dcls_workflow",
            "name": "Data Science Lifecycle (DCLS) Analysis",
            "stages": [{
                "id": "chapter_0_planning",
                "title": "Planning",
                "description": "Design the workflow",
                "steps": [{
                    "step_id": "chapter_0_planning_section_1_design_workflow",
                    "title": "Design the workflow",
                    "description": "Propose a workflow that solves the problem",
                }],
            }],
        })
    }

    /// Replaces the steps of stages by confirmed updates, in order. Updates of unknown stages are ignored, because a
    /// later update of the workflow can have removed the stage.
    pub fn update_steps(&mut self, updates: &[Json]) {
        for update in updates {
            let id = update.get("stage_id").and_then(Json::as_str).unwrap_or_default();
            let stage = self.stages.iter_mut().find(|stage| stage.id == id);
            if let (Some(stage), Ok(steps)) = (stage, steps(update, id)) {
                stage.steps = steps;
            }
        }
    }

    /// Checks an update of a stage's steps.
    pub fn check_steps(&self, update: &Json) -> Result<(), String> {
        let id = update.get("stage_id").and_then(Json::as_str).unwrap_or_default();
        self.stage(id).ok_or_else(|| format!("an update has steps for the unknown stage `{id}`"))?;
        steps(update, id).map(drop)
    }

    /// Returns the stage with this id.
    pub fn stage(&self, id: &str) -> Option<&Stage> {
        self.stages.iter().find(|stage| stage.id == id)
    }

    /// Returns the step with this id of a stage.
    pub fn step(&self, stage: &str, step: &str) -> Option<&Step> {
        self.stage(stage)?.steps.iter().find(|known| known.id == step)
    }

    /// Returns the ids of the stages after the current one. If the current stage is not in the workflow, these are the
    /// stages that are not complete.
    pub fn stages_after(&self, current: &str, completed: &[String]) -> Vec<String> {
        let ids: Vec<&String> = self.stages.iter().map(|stage| &stage.id).collect();
        after(&ids, current, completed)
    }

    /// Returns the ids of the steps of a stage after the current one, by the same rule.
    pub fn steps_after(&self, stage: &str, current: &str, completed: &[String]) -> Vec<String> {
        let steps = self.stage(stage).map(|stage| stage.steps.as_slice()).unwrap_or_default();
        let ids: Vec<&String> = steps.iter().map(|step| &step.id).collect();
        after(&ids, current, completed)
    }

    /// Returns the number of steps of all stages. A workflow that goes through all of them makes one move less.
    pub fn steps_count(&self) -> u64 {
        self.stages.iter().map(|stage| stage.steps.len() as u64).sum()
    }

    /// Returns the most moves that are needed from a stage to the end, the move to that stage included; from the first
    /// stage if there is no such stage.
    pub fn moves_from(&self, stage: &str) -> u64 {
        let at = self.stages.iter().position(|known| known.id == stage).unwrap_or_default();
        self.stages[at..].iter().map(|stage| stage.steps.len() as u64).sum()
    }

    /// Returns the number of moves that a workflow of this size may make: enough for each step, and some to go back.
    pub fn moves_max(&self) -> u64 {
        self.steps_count() + MOVES_BACK_MAX
    }

    /// Returns the lines in which another workflow differs, each with its sign; unchanged lines begin with a space.
    pub fn difference(&self, other: &Workflow) -> Vec<String> {
        let (now, proposed) = (self.outline(), other.outline());
        let diff = TextDiff::from_lines(&now, &proposed);
        let lines = diff.iter_all_changes().map(|change| {
            let sign = match change.tag() {
                ChangeTag::Delete => '-',
                ChangeTag::Insert => '+',
                ChangeTag::Equal => ' ',
            };
            format!("{sign} {}", change.value().trim_end())
        });
        lines.take(DIFFERENCE_LINES_MAX).collect()
    }

    /// Renders one line per stage and step.
    fn outline(&self) -> String {
        let step = |step: &Step| format!("  step {}: {}\n", step.id, line(&step.goal));
        let stage = |stage: &Stage| {
            let steps: String = stage.steps.iter().map(step).collect();
            format!("stage {}: {}\n{steps}", stage.id, line(&stage.goal))
        };
        self.stages.iter().map(stage).collect()
    }
}

impl Stage {
    fn parse(stage: &Json) -> Result<Self, String> {
        let id = text(stage, &["id", "stage_id"]).ok_or("a stage has no id")?;
        let (title, goal) = titles(stage, &id);
        Ok(Stage { steps: steps(stage, &id)?, id, title, goal })
    }
}

/// Parses the steps of a stage or of an update.
fn steps(of: &Json, stage: &str) -> Result<Vec<Step>, String> {
    let steps = of.get("steps").and_then(Json::as_array).map(Vec::as_slice).unwrap_or_default();
    if steps.is_empty() || steps.len() > PARTS_MAX {
        return Err(format!("stage `{stage}` has {} steps instead of 1 to {PARTS_MAX}", steps.len()));
    }
    let parse = |step: &Json| {
        let id = text(step, &["step_id", "id"]).ok_or_else(|| format!("a step of stage `{stage}` has no id"))?;
        let (title, goal) = titles(step, &id);
        Ok(Step { id, title, goal })
    };
    let steps = steps.iter().map(parse).collect::<Result<Vec<_>, String>>()?;
    unique("step", steps.iter().map(|step| step.id.as_str()))?;
    Ok(steps)
}

fn titles(of: &Json, id: &str) -> (String, String) {
    let title = text(of, &["title", "name"]).unwrap_or_else(|| id.to_owned());
    let goal = text(of, &["description", "goal"]).unwrap_or_else(|| title.clone());
    (title, goal)
}

/// Returns the first of these fields that is a text with content.
fn text(of: &Json, names: &[&str]) -> Option<String> {
    let texts = names.iter().filter_map(|name| of.get(name)?.as_str());
    texts.map(str::trim).find(|text| !text.is_empty()).map(str::to_owned)
}

fn unique<'a>(kind: &str, ids: impl Iterator<Item = &'a str>) -> Result<(), String> {
    let mut known = std::collections::BTreeSet::new();
    ids.into_iter().try_for_each(|id| match known.insert(id) {
        true => Ok(()),
        false => Err(format!("two {kind}s have the id `{id}`")),
    })
}

fn after(ids: &[&String], current: &str, completed: &[String]) -> Vec<String> {
    match ids.iter().position(|id| *id == current) {
        Some(at) => ids.iter().skip(at + 1).map(|id| (*id).clone()).collect(),
        None => ids.iter().filter(|id| !completed.contains(id)).map(|id| (*id).clone()).collect(),
    }
}

/// Joins a text into one line.
fn line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn workflow(stages: &[(&str, &[&str])]) -> Json {
        let stage = |(id, steps): &(&str, &[&str])| {
            let steps: Vec<Json> = steps.iter().map(|step| json!({ "step_id": step })).collect();
            json!({ "id": id, "steps": steps })
        };
        json!({ "name": "w", "stages": stages.iter().map(stage).collect::<Vec<_>>() })
    }

    #[test]
    fn navigation_follows_the_order_of_the_template() {
        let known = Workflow::parse(&workflow(&[("a", &["1", "2"]), ("b", &["1"])])).unwrap();
        assert_eq!(known.steps_after("a", "1", &[]), ["2"]);
        assert_eq!(known.steps_after("a", "2", &["1".into()]), [""; 0]);
        assert_eq!(known.stages_after("a", &[]), ["b"]);
        assert_eq!(known.stages_after("gone", &["a".into()]), ["b"]);
        assert_eq!(known.steps_after("a", "", &[]), ["1", "2"]);
    }

    #[test]
    fn confirmed_steps_replace_those_of_their_stage() {
        let mut known = Workflow::parse(&workflow(&[("a", &["1"]), ("b", &["1"])])).unwrap();
        known.update_steps(&[json!({ "stage_id": "b", "steps": [{ "id": "x" }, { "id": "y" }] })]);
        known.update_steps(&[json!({ "stage_id": "gone", "steps": [{ "id": "x" }] }), json!({ "stage_id": "a" })]);
        assert_eq!(known.steps_after("b", "x", &[]), ["y"]);
        assert_eq!(known.steps_after("a", "", &[]), ["1"]);
    }

    #[test]
    fn templates_without_ids_stages_or_steps_are_refused() {
        let cases = [
            (json!({}), "the workflow has no list of stages"),
            (json!({ "stages": [] }), "the workflow has 0 stages instead of 1 to 200"),
            (json!({ "stages": [{ "steps": [{ "id": "x" }] }] }), "a stage has no id"),
            (workflow(&[("a", &[])]), "stage `a` has 0 steps instead of 1 to 200"),
            (workflow(&[("a", &["1", "1"])]), "two steps have the id `1`"),
            (workflow(&[("a", &["1"]), ("a", &["1"])]), "two stages have the id `a`"),
            (json!({ "stages": [{ "id": "a", "steps": [{}] }] }), "a step of stage `a` has no id"),
        ];
        for (template, expected) in cases {
            assert_eq!(Workflow::parse(&template).unwrap_err(), expected);
        }
        assert!(Workflow::parse(&Workflow::design()).is_ok());
    }

    #[test]
    fn a_difference_shows_added_and_removed_steps() {
        let now = Workflow::parse(&workflow(&[("a", &["1", "2"])])).unwrap();
        let then = Workflow::parse(&workflow(&[("a", &["1", "3"]), ("b", &["1"])])).unwrap();
        let expected =
            ["  stage a: a", "    step 1: 1", "-   step 2: 2", "+   step 3: 3", "+ stage b: b", "+   step 1: 1"];
        assert_eq!(now.difference(&then), expected);
    }
}
