//! What a workflow has shown so far: the steps that the planner has called achieved, and whether the problem is answered.
//!
//! A workflow is complete only if the planner has called each of its steps and the workflow itself achieved, and if there
//! is an answer. A step that was skipped, for any reason, counts as not achieved.

use std::collections::BTreeMap;

use interlock_journal::Hash;
use serde::{Deserialize, Serialize};
use serde_json::{Value as Json, json};

use crate::{Situation, Stage, Workflow, reply::Planned, situation::Part};

/// The most steps that a sentence names.
const NAMED_MAX: usize = 3;

/// The longest answer that is kept.
const ANSWER_CHARS_MAX: usize = 2_000;

/// The number of characters that identify the steps of a stage.
const DIGEST_CHARS: usize = 12;

/// The reason of a step that the planner was never asked about.
const SKIPPED: &str = "it was skipped";

/// The achievements of a workflow.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Achievements {
    /// The steps of the current stage that the planner has called achieved.
    achieved: Vec<String>,
    /// The steps of the current stage that the planner has called not achieved.
    missed: Vec<Missed>,
    /// The steps of complete stages that are not achieved.
    unachieved: Vec<Missed>,
    /// The complete stages, each with a digest of its steps: a later workflow can give a stage other steps.
    complete: BTreeMap<String, String>,
    /// True if an action of this workflow was carried out.
    has_worked: bool,
    /// The number of actions that had written or executed a cell of the notebook before this workflow started; `None`
    /// before its first call.
    actions_before: Option<u64>,
}

/// A step whose target is not achieved.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Missed {
    /// The stage of the step.
    pub stage_id: String,
    /// The step.
    pub step_id: String,
    /// The reason, as a clause.
    pub reason: String,
}

/// The result of a workflow that has no stage left.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct WorkflowEnd {
    /// The answer to the problem; empty if there is none.
    pub(crate) answer: String,
    /// The steps that are not achieved.
    pub(crate) unachieved: Vec<Missed>,
    /// The reason why the workflow is not complete; empty if it is.
    pub(crate) shortfall: String,
}

impl Achievements {
    /// Takes the planner's answer about a part of the workflow. `failure` says why the planner has not answered.
    pub(crate) fn take(
        &mut self,
        situation: &Situation,
        workflow: &Workflow,
        planned: &Planned,
        failure: Option<&str>,
    ) {
        self.has_worked |= !situation.results.is_empty();
        let so_far = situation.notebook.get("actions").and_then(Json::as_u64).unwrap_or_default();
        self.actions_before.get_or_insert(so_far);
        if situation.decides_step {
            self.take_step(situation, planned, failure);
        }
        if situation.completes == Some(Part::Stage) {
            self.complete_stage(&situation.stage_id, workflow, situation.keeps_unachieved);
        }
    }

    fn take_step(&mut self, situation: &Situation, planned: &Planned, failure: Option<&str>) {
        let step = &situation.step_id;
        self.achieved.retain(|known| known != step);
        self.missed.retain(|known| known.step_id != *step);
        if planned.target_achieved && failure.is_none() {
            self.achieved.push(step.clone());
            return;
        }
        let reason = match (failure, planned.reason.as_str()) {
            (Some(failure), _) => format!("the planner failed: {failure}"),
            (None, "") => "the planner says that its target is not achieved".to_owned(),
            (None, reason) => reason.to_owned(),
        };
        self.missed.push(Missed { stage_id: situation.stage_id.clone(), step_id: step.clone(), reason });
    }

    fn complete_stage(&mut self, stage_id: &str, workflow: &Workflow, keeps: bool) {
        let achieved = std::mem::take(&mut self.achieved);
        let mut missed = std::mem::take(&mut self.missed);
        let is_left_out = |known: &Missed| keeps && workflow.step(&known.stage_id, &known.step_id).is_none();
        self.unachieved.retain(|known| known.stage_id != stage_id || is_left_out(known));
        self.unachieved.extend(missed.iter().filter(|known| is_left_out(known)).cloned());
        let Some(stage) = workflow.stage(stage_id) else { return };
        self.complete.insert(stage_id.to_owned(), digest(stage));
        for step in stage.steps.iter().filter(|step| !achieved.contains(&step.id)) {
            let at = missed.iter().position(|known| known.step_id == step.id);
            let known = at.map(|at| missed.swap_remove(at));
            self.unachieved.push(known.unwrap_or_else(|| skipped(stage_id, &step.id)));
        }
    }

    /// Returns the result of a workflow that ends now.
    pub(crate) fn end(
        &self,
        situation: &Situation,
        workflow: &Workflow,
        planned: &Planned,
        failure: Option<&str>,
    ) -> WorkflowEnd {
        let is_known =
            |missed: &&Missed| situation.keeps_unachieved || workflow.step(&missed.stage_id, &missed.step_id).is_some();
        let mut unachieved: Vec<Missed> = self.unachieved.iter().filter(is_known).cloned().collect();
        for stage in workflow.stages.iter().filter(|stage| self.complete.get(&stage.id) != Some(&digest(stage))) {
            unachieved
                .retain(|known| stage.steps.iter().all(|step| step.id != known.step_id) || known.stage_id != stage.id);
            unachieved.extend(stage.steps.iter().map(|step| skipped(&stage.id, &step.id)));
        }
        let answer = match &planned.not_answered {
            Some(reason) => Err(format!("the problem is not answered: {reason}")),
            None => planned.answer.clone().or_else(|| self.last_output(&situation.notebook)).ok_or_else(|| {
                "the problem is not answered: the workflow has left no output and no text in the notebook".to_owned()
            }),
        };
        let mut reasons = Vec::new();
        reasons.extend(answer.as_ref().err().cloned());
        reasons.extend(named(&unachieved, planned.not_answered.as_deref().unwrap_or_default()));
        reasons.extend(match (failure, planned.target_achieved) {
            (Some(failure), _) => Some(format!("the planner could not be asked about the whole workflow: {failure}")),
            (None, false) => Some("the planner says that the target of the workflow is not achieved".to_owned()),
            (None, true) => None,
        });
        let answer = answer.unwrap_or_default().chars().take(ANSWER_CHARS_MAX).collect();
        WorkflowEnd { answer, unachieved, shortfall: reasons.join("; ") }
    }

    /// Returns the text with which a planner that names no answer ends: the last output of a cell, or else the last text.
    /// Only cells that an action of this workflow wrote or executed count: the notebook can have others, with the outputs
    /// of another day.
    fn last_output(&self, notebook: &Json) -> Option<String> {
        let cells = notebook.get("cells").and_then(Json::as_array).filter(|_| self.has_worked)?;
        let before = self.actions_before?;
        let is_own = |cell: &&Json| cell["written"].as_u64().is_some_and(|action| action > before);
        let cells: Vec<&Json> = cells.iter().filter(is_own).collect();
        let output = |cell: &Json| match &cell["outputs"] {
            Json::Array(all) => all.iter().rev().filter_map(Json::as_str).find_map(content),
            Json::String(text) => content(text),
            _ => None,
        };
        let text = |cell: &Json| {
            let is_text = cell["cell_type"] == "markdown";
            let source = cell["source"].as_str().filter(|source| is_text && !source.trim_start().starts_with('#'))?;
            content(source)
        };
        cells.iter().rev().copied().find_map(output).or_else(|| cells.iter().rev().copied().find_map(text))
    }
}

impl WorkflowEnd {
    /// Adds the result to the data of a signal.
    pub(crate) fn write(self, data: &mut Json) {
        data["is_complete"] = json!(self.shortfall.is_empty());
        data["answer"] = json!(self.answer);
        data["shortfall"] = json!(self.shortfall);
        data["unachieved"] = json!(self.unachieved);
    }
}

/// Returns a short text that two lists of steps share only if they are equal.
fn digest(stage: &Stage) -> String {
    let ids: Vec<&str> = stage.steps.iter().map(|step| step.id.as_str()).collect();
    Hash::of(json!(ids).to_string().as_bytes()).to_string().chars().take(DIGEST_CHARS).collect()
}

fn skipped(stage_id: &str, step_id: &str) -> Missed {
    Missed { stage_id: stage_id.to_owned(), step_id: step_id.to_owned(), reason: SKIPPED.to_owned() }
}

fn content(text: &str) -> Option<String> {
    Some(text.trim()).filter(|text| !text.is_empty()).map(str::to_owned)
}

/// Names the steps that are not achieved in a clause. Steps with the same reason share it, and a reason that was said is
/// not repeated.
fn named(unachieved: &[Missed], said: &str) -> Option<String> {
    let first = unachieved.first()?;
    let reason = |one: &Missed| match !said.is_empty() && one.reason.ends_with(said) {
        true => String::new(),
        false => format!(" ({})", one.reason),
    };
    let have = interlock_chart::counted(unachieved.len() as u64, "step is", "steps are");
    let names = |some: &[Missed]| some.iter().map(|one| one.step_id.as_str()).collect::<Vec<_>>().join(", ");
    let some = &unachieved[..unachieved.len().min(NAMED_MAX)];
    let more = match unachieved.len() - some.len() {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    if unachieved.iter().all(|one| one.reason == first.reason) {
        return Some(format!("{have} not achieved: {}{more}{}", names(some), reason(first)));
    }
    let each: Vec<String> = some.iter().map(|one| format!("{}{}", one.step_id, reason(one))).collect();
    Some(format!("{have} not achieved: {}{more}", each.join(", ")))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn workflow() -> Workflow {
        let step = |id: &str| json!({ "id": id });
        let stages = json!([
            { "id": "a", "steps": [step("1"), step("2")] }, { "id": "b", "steps": [step("1")] }
        ]);
        Workflow::parse(&json!({ "name": "w", "stages": stages })).unwrap()
    }

    fn about(step: &str) -> Situation {
        Situation { decides_step: true, stage_id: "a".into(), step_id: step.into(), ..Situation::default() }
    }

    fn stage(id: &str) -> Situation {
        Situation { completes: Some(Part::Stage), stage_id: id.into(), ..Situation::default() }
    }

    fn says(achieved: bool) -> Planned {
        Planned { target_achieved: achieved, answer: Some("42".into()), ..Planned::default() }
    }

    fn end(known: &Achievements, planned: &Planned) -> WorkflowEnd {
        known.end(&stage("b"), &workflow(), planned, None)
    }

    #[test]
    fn every_step_must_have_been_called_achieved() {
        let (known, workflow) = (&mut Achievements::default(), workflow());
        known.take(&about("1"), &workflow, &says(true), None);
        known.take(&about("2"), &workflow, &Planned { reason: "no table".into(), ..says(false) }, None);
        known.take(&stage("a"), &workflow, &says(true), None);
        let skipping = end(known, &says(true));
        assert_eq!(skipping.shortfall, "2 steps are not achieved: 2 (no table), 1 (it was skipped)");
        known.take(&about("1"), &workflow, &says(true), None);
        known.take(&Situation { stage_id: "b".into(), ..about("1") }, &workflow, &says(true), None);
        known.take(&stage("b"), &workflow, &says(true), None);
        assert_eq!(end(known, &says(true)).shortfall, "1 step is not achieved: 2 (no table)");
        known.take(&about("1"), &workflow, &says(true), None);
        known.take(&about("2"), &workflow, &says(true), None);
        known.take(&stage("a"), &workflow, &says(true), None);
        assert_eq!(end(known, &says(true)).shortfall, "", "the stage was repeated");
        assert_eq!(end(known, &says(true)).answer, "42");
        let mut other = workflow.clone();
        other.update_steps(&[json!({ "stage_id": "a", "steps": [{ "id": "1" }, { "id": "3" }] })]);
        let other = known.end(&stage("b"), &other, &says(true), None).shortfall;
        assert_eq!(other, "2 steps are not achieved: 1, 3 (it was skipped)", "the steps were replaced afterwards");
        let unsure = end(known, &says(false)).shortfall;
        assert_eq!(unsure, "the planner says that the target of the workflow is not achieved");
        known.take(&about("1"), &workflow, &says(true), Some("status 502 (3 tries)"));
        known.take(&about("2"), &workflow, &says(true), None);
        known.take(&stage("a"), &workflow, &says(true), None);
        assert!(end(known, &says(true)).shortfall.contains("1 (the planner failed: status 502"));
    }

    #[test]
    fn a_step_that_a_new_workflow_leaves_out_stays_unachieved_if_nobody_has_decided_about_it() {
        let other =
            Workflow::parse(&json!({ "name": "w", "stages": [{ "id": "b", "steps": [{ "id": "1" }] }] })).unwrap();
        for (keeps_unachieved, shortfall) in [(true, "1 step is not achieved: 2 (no table)"), (false, "")] {
            let known = &mut Achievements::default();
            let ends = |id: &str| Situation { keeps_unachieved, ..stage(id) };
            known.take(&about("1"), &workflow(), &says(true), None);
            known.take(&about("2"), &workflow(), &Planned { reason: "no table".into(), ..says(false) }, None);
            known.take(&ends("a"), &other, &says(true), None);
            known.take(&Situation { stage_id: "b".into(), ..about("1") }, &other, &says(true), None);
            known.take(&ends("b"), &other, &says(true), None);
            assert_eq!(known.end(&ends("b"), &other, &says(true), None).shortfall, shortfall);
        }
    }

    #[test]
    fn a_workflow_without_an_answer_is_not_complete() {
        let silent = Planned { answer: None, ..says(true) };
        let cells = |cells: Json| Situation { notebook: json!({ "cells": cells }), ..stage("b") };
        let code = json!({ "cell_type": "code", "source": "x", "outputs": ["old", " 42\n"], "written": 5 });
        let text = json!({ "cell_type": "markdown", "source": "It is 7.", "outputs": [], "written": 6 });
        let heading = json!({ "cell_type": "markdown", "source": "## End", "outputs": [], "written": 7 });
        let answer = |known: &Achievements, given: Json| {
            let end = known.end(&cells(given), &workflow(), &silent, None);
            (end.answer, end.shortfall.contains("not answered"))
        };
        let idle = Achievements::default();
        assert_eq!(answer(&idle, json!([code])), (String::new(), true), "the output is of another workflow");
        let known = Achievements { has_worked: true, actions_before: Some(4), ..Achievements::default() };
        assert_eq!(answer(&known, json!([code, text, heading])), ("42".into(), false));
        let old = json!({ "cell_type": "code", "source": "y", "outputs": ["last year: 41"] });
        let earlier = json!({ "cell_type": "code", "source": "y", "outputs": ["41"], "written": 4 });
        assert_eq!(answer(&known, json!([old, earlier, heading])), (String::new(), true), "this workflow wrote none");
        assert_eq!(answer(&known, json!([text, heading])), ("It is 7.".into(), false));
        assert_eq!(answer(&known, json!([heading])), (String::new(), true));
        let declined = Planned { not_answered: Some("no rule uses the word `nice`".into()), ..says(true) };
        let end = end(&known, &declined);
        assert!(end.shortfall.starts_with("the problem is not answered: no rule uses the word `nice`; "), "{end:?}");
        assert_eq!(end.answer, "");
    }
}
