//! The input of a call: the place in the workflow and the data of the run, as the machine passes them under `with`.

use std::time::Duration;

use interlock_activity::{Attempt, Outcome, code, schema};
use interlock_chart::model::Schema;
use serde::Deserialize;
use serde_json::{Map, Value as Json};

use crate::{Memory, Workflow};

/// The time limit of one request if the machine sets none: three tries fit into the machine's ten minutes.
const TIMEOUT: Duration = Duration::from_secs(180);

/// The pauses before the second and the third try.
const PAUSES_MS: [u64; 2] = [1_000, 2_000];

/// A part of a workflow that a state has completed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Part {
    /// The current behavior.
    Behavior,
    /// The current step.
    Step,
    /// The current stage.
    Stage,
}

/// The input of a call.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub struct Situation {
    /// The part of the workflow that is complete once the planner has answered.
    pub completes: Option<Part>,
    /// True if the planner's answer says whether the target of the step is achieved.
    pub decides_step: bool,
    /// The number of moves to other steps and stages so far.
    pub moves: u64,
    /// The number of moves that the size of the workflow has allowed so far.
    pub moves_max: u64,
    /// True if the request carries the feedback of a behavior.
    pub feedback: bool,
    /// The base URL of the server; empty for the built-in one.
    pub server: String,
    /// The problem, in the user's words.
    pub problem: String,
    /// The workflow template; empty before the first call.
    pub workflow: Json,
    /// The confirmed updates of steps, oldest first.
    pub stage_steps: Vec<Json>,
    /// The current stage; empty before the first call.
    pub stage_id: String,
    /// The current step; empty between steps.
    pub step_id: String,
    /// The number of the behavior within its step, from 1; 0 outside of behaviors.
    pub behavior_iteration: u64,
    /// The stage that a confirmed update of the workflow names as the next one.
    pub next_stage_id: String,
    /// The variables that the user gave.
    pub variables: Map<String, Json>,
    /// The variables of the kernel: `{type, shape?, text}` by name.
    pub kernel_variables: Map<String, Json>,
    /// The summary of the notebook: `{title, cells, path}`.
    pub notebook: Json,
    /// The memory of the run.
    pub memory: Memory,
    /// The output of the actions since the last call.
    pub effects: Vec<String>,
    /// The actions of the behavior.
    pub actions: Vec<Json>,
    /// The results of the actions that were carried out: `{summary, failed}`.
    pub results: Vec<Json>,
    /// The choice between an error and a completed step, if the target of a step is not achieved.
    pub on_unachieved: String,
    /// True if nobody has decided about new workflows: a step that they leave out stays unachieved.
    pub keeps_unachieved: bool,
    /// The pauses between tries, in milliseconds.
    pub retry_after_ms: Option<Vec<u64>>,
    /// The time limit of one try, in seconds.
    pub timeout_s: Option<f64>,
    /// The reply that takes the place of a planner that cannot be reached.
    pub fallback: Json,
    /// True if the generator may stream its actions.
    pub stream: bool,
}

impl Situation {
    /// Reads the input of an attempt. Fields that are null count as missing.
    pub fn of(attempt: &Attempt) -> Result<Self, Outcome> {
        let mut given = Json::from(&attempt.with);
        if let Some(fields) = given.as_object_mut() {
            fields.retain(|_, value| !value.is_null());
        }
        let wrong = |error: serde_json::Error| Outcome::error(code::BAD_INPUT, format!("`with` does not fit: {error}"));
        let mut situation: Situation = serde_json::from_value(given).map_err(wrong)?;
        situation.memory.absorb(std::mem::take(&mut situation.effects));
        Ok(situation)
    }

    /// Returns the schema of `with`.
    pub(crate) fn schema() -> Schema {
        schema::fields([
            ("completes", schema::one_of(&["behavior", "step", "stage"])),
            ("decides_step", schema::flag()),
            ("moves", schema::whole()),
            ("moves_max", schema::whole()),
            ("feedback", schema::flag()),
            ("server", schema::text()),
            ("problem", schema::text()),
            ("workflow", schema::object()),
            ("stage_steps", schema::list(schema::object())),
            ("stage_id", schema::text()),
            ("step_id", schema::text()),
            ("behavior_iteration", schema::whole()),
            ("next_stage_id", schema::text()),
            ("variables", schema::object()),
            ("kernel_variables", schema::object()),
            ("notebook", schema::object()),
            ("memory", schema::object()),
            ("effects", schema::list(schema::text())),
            ("actions", schema::list(schema::object())),
            ("results", schema::list(schema::object())),
            ("on_unachieved", schema::one_of(&["error", "complete_step", "planner"])),
            ("keeps_unachieved", schema::flag()),
            ("retry_after_ms", schema::list(schema::whole())),
            ("timeout_s", schema::number()),
            ("fallback", schema::object()),
            ("stream", schema::flag()),
        ])
    }

    /// Returns the workflow with the confirmed steps. Fails if the template cannot be used.
    pub fn workflow(&self) -> Result<Workflow, String> {
        let mut workflow = Workflow::parse(&self.workflow)?;
        workflow.update_steps(&self.stage_steps);
        Ok(workflow)
    }

    /// Returns true if the run has no workflow yet.
    pub fn is_without_workflow(&self) -> bool {
        self.workflow.as_object().is_none_or(Map::is_empty)
    }

    /// Returns the id of the behavior, such as `behavior_001`; `None` outside of behaviors.
    pub fn behavior_id(&self) -> Option<String> {
        (self.behavior_iteration > 0).then(|| format!("behavior_{:03}", self.behavior_iteration))
    }

    /// Returns the time limit of one try.
    pub(crate) fn timeout(&self) -> Duration {
        let given = self.timeout_s.and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
        given.map_or(TIMEOUT, |given| given.min(TIMEOUT))
    }

    /// Returns the pauses between tries.
    pub(crate) fn pauses_ms(&self) -> &[u64] {
        self.retry_after_ms.as_deref().unwrap_or(&PAUSES_MS)
    }
}
