//! `planning.call`: asks the planner whether a target is achieved.

use std::{path::Path, sync::Arc};

use interlock_activity::{Activity, Attempt, EffectClass, Ending, Outcome, Requests, RunView, Signal, Site, code};
use interlock_chart::{Value, model::Schema};
use serde_json::{Map, Value as Json, json};

use crate::{
    Memory, Situation, Workflow,
    builtin::Answer,
    call::{self, OUT_OF_SYNC, Setup},
    client::{Endpoint, Server},
    memory,
    observation::{self, Fsm},
    reply::{self, BadReply, Planned},
    situation::Part,
    template,
    view::ProgressView,
};

/// Asks the planner.
#[derive(Clone, Debug)]
pub struct PlanningCall(Setup);

/// A question to the planner, with everything that its reply is compared with.
struct Question<'a> {
    attempt: &'a Attempt,
    situation: &'a Situation,
    workflow: &'a Workflow,
    server: Option<Server>,
    request: Json,
}

/// A reply, or the fallback that takes its place.
struct Reply {
    answer: Answer<Json>,
    /// The failures that led to the fallback, one for each try; empty if the planner replied.
    failures: Vec<String>,
}

impl PlanningCall {
    /// Creates the activity.
    pub fn new(setup: Setup) -> Self {
        PlanningCall(setup)
    }

    async fn run(self, attempt: Attempt) -> Result<Outcome, Outcome> {
        let mut situation = self.0.situation(&attempt)?;
        let server = self.0.server(&attempt, &situation).await?;
        let is_new = situation.is_without_workflow();
        let mut judged = Vec::new();
        if is_new {
            situation.workflow = match &server {
                Some(_) => Workflow::design(),
                None => {
                    let designed = self.0.built_in.workflow(&attempt, &situation).await?;
                    judged.extend(designed.evidence);
                    designed.value
                }
            };
        }
        let workflow = situation.workflow().map_err(|why| Outcome::error(code::BAD_INPUT, why))?;
        if situation.stage_id.is_empty() {
            situation.stage_id = workflow.stages.first().map(|stage| stage.id.clone()).unwrap_or_default();
        }
        let variables = observation::variables(&situation);
        situation.memory.track(&variables, situation.behavior_iteration > 0);
        let fsm = call::fsm(&attempt).await?;
        let request = request(&situation, &workflow, &fsm);
        let question = Question { attempt: &attempt, situation: &situation, workflow: &workflow, server, request };
        let (planned, Reply { answer: Answer { value: reply, evidence }, failures }) = question.ask(&self.0).await?;
        judged.extend(evidence);
        let failure = Some(call::described(&failures)).filter(|_| !failures.is_empty());
        let mut data = answer(&situation, &workflow, &planned, failure.as_deref());
        let reply = match failures.is_empty() {
            true => ("reply", reply),
            // The server has not sent this reply.
            false => ("failure", json!({ "failures": failures, "fallback": reply })),
        };
        let kept = call::keep(&attempt, vec![("request", question.request), reply]).await?;
        if is_new {
            data.insert("workflow".to_owned(), situation.workflow.clone());
        }
        Ok(Outcome::signal("planned", Value::from(Json::Object(data))).with(kept).with(judged))
    }
}

/// Builds the request of a situation.
fn request(situation: &Situation, workflow: &Workflow, fsm: &Fsm) -> Json {
    let mut request = json!({ "observation": observation::observation(situation, workflow, fsm) });
    if situation.feedback {
        request["behavior_feedback"] = observation::feedback(situation);
    }
    request["options"] = json!({ "stream": false });
    request
}

impl Question<'_> {
    /// Returns a usable reply. An inconsistent one is asked for again once.
    async fn ask(&self, setup: &Setup) -> Result<(Planned, Reply), Outcome> {
        let mut why = String::new();
        for _ in 0..2 {
            let reply = self.once(setup).await?;
            match Planned::read(&reply.answer.value, self.workflow, self.situation.feedback) {
                Ok(planned) => return Ok((planned, reply)),
                Err(BadReply::Inconsistent(contradiction)) => {
                    let text = format!("the planner's reply is inconsistent: {contradiction}; asking again");
                    self.attempt.host.progress(&self.attempt.run, self.attempt.activity, &text);
                    why = contradiction;
                }
                Err(BadReply::Form(why)) => return Err(Outcome::error(code::FAILED, why)),
            }
        }
        Err(Outcome::error(OUT_OF_SYNC, format!("the planner's reply is inconsistent, asked twice: {why}")))
    }

    /// Returns one reply in the form of the protocol, or the fallback.
    async fn once(&self, setup: &Setup) -> Result<Reply, Outcome> {
        let Some(server) = &self.server else {
            let answer = setup.built_in.planning(self.attempt, &self.request).await?;
            return Ok(Reply { answer, failures: Vec::new() });
        };
        let read = |body: Vec<u8>| {
            let reply: Json =
                serde_json::from_slice(&body).map_err(|error| format!("the answer is not JSON: {error}"))?;
            match Planned::read(&reply, self.workflow, self.situation.feedback) {
                Err(BadReply::Form(why)) => Err(why),
                Ok(_) | Err(BadReply::Inconsistent(_)) => Ok(reply),
            }
        };
        let asked = call::tries(self.attempt, self.situation, server, Endpoint::Planning, &self.request, read).await;
        let (value, failures) = match asked {
            Ok(reply) => (reply, Vec::new()),
            Err(failures) => {
                let text = format!("the planner failed: {}; the fallback reply is used", call::described(&failures));
                self.attempt.host.progress(&self.attempt.run, self.attempt.activity, &text);
                let given = &self.situation.fallback;
                (if given.is_object() { given.clone() } else { reply::fallback() }, failures)
            }
        };
        Ok(Reply { answer: Answer { value, evidence: Vec::new() }, failures })
    }
}

/// Builds the data of the signal: the planner's decision, the next place, and the memory.
fn answer(situation: &Situation, workflow: &Workflow, planned: &Planned, failure: Option<&str>) -> Map<String, Json> {
    let mut memory = situation.memory.clone();
    memory.achievements.take(situation, workflow, planned, failure);
    // The planner's update is about the part that follows.
    complete(&mut memory, situation, workflow);
    memory.update(&planned.context_update);
    memory.filter = planned.context_filter.clone();
    let (stage, step) = (situation.stage_id.as_str(), situation.step_id.as_str());
    let stages_done = memory::ids(&memory.completed.stages, "stage_id");
    let steps_done = memory::ids(&memory.completed.steps, "step_id");
    let first = |ids: Vec<String>| ids.into_iter().next().unwrap_or_default();
    let next_step = match situation.next_stage_id.is_empty() {
        true => first(workflow.steps_after(stage, step, &steps_done)),
        false => String::new(),
    };
    let next_stage = match workflow.stage(&situation.next_stage_id) {
        Some(next) => next.id.clone(),
        None => first(workflow.stages_after(stage, &stages_done)),
    };
    let first_step = first(workflow.steps_after(stage, "", &steps_done));
    let mut data = json!({
        "targetAchieved": planned.target_achieved,
        "continue_behaviors": planned.continue_behaviors,
        "stage_id": stage,
        "step_id": if step.is_empty() { first_step } else { step.to_owned() },
        "next_step": next_step,
        "next_stage": next_stage,
        "on_unachieved": on_unachieved(&situation.on_unachieved, planned),
        "moves_max": workflow.moves_max().max(situation.moves_max),
        "failure": failure.unwrap_or_default(),
    });
    if situation.completes == Some(Part::Stage) {
        memory.achievements.end(situation, workflow, planned, failure).write(&mut data);
    }
    for (name, update) in updates(situation, workflow, planned, &mut memory) {
        data[name] = update;
    }
    data["memory"] = json!(memory);
    if let Json::Object(data) = data { data } else { Map::new() }
}

/// Returns what becomes of a step whose target is not achieved. The planner is asked only if the machine leaves it to it.
fn on_unachieved(given: &str, planned: &Planned) -> &'static str {
    match given {
        "complete_step" => "complete_step",
        "planner" if planned.completes_unachieved => "complete_step",
        _ => "error",
    }
}

/// Returns the updates that a person decides about. One that changes nothing is left out, and one that does not fit into
/// its limit of moves is refused with a warning that the planner hears.
fn updates(
    situation: &Situation,
    workflow: &Workflow,
    planned: &Planned,
    memory: &mut Memory,
) -> Vec<(&'static str, Json)> {
    let whole = planned
        .workflow_update
        .as_ref()
        .and_then(|update| Some(("workflow_update", update, Workflow::parse(&update["workflowTemplate"]).ok()?)));
    let steps = planned.stage_steps_update.as_ref().map(|update| {
        let mut changed = workflow.clone();
        changed.update_steps(std::slice::from_ref(update));
        ("stage_steps_update", update, changed)
    });
    let each = whole.into_iter().chain(steps).filter_map(|(name, update, proposed)| {
        let next = update.get("nextStageId").and_then(Json::as_str);
        if proposed.stages == workflow.stages && next.is_none() {
            return None;
        }
        // The update is held until the next action; by then the rest of the current workflow may have been passed.
        let passed = situation.moves + workflow.moves_from(&situation.stage_id);
        let needed = proposed.moves_from(next.unwrap_or(&situation.stage_id));
        let moves_max = proposed.moves_max().max(situation.moves_max);
        if passed + needed > moves_max {
            memory.warn(format!(
                "the proposed {name} is refused: with it the run could make {} moves to other steps, and its limit is \
                 {moves_max}",
                passed + needed
            ));
            return None;
        }
        let mut update = update.clone();
        update["difference"] = json!(workflow.difference(&proposed));
        update["moves_max"] = json!(moves_max);
        Some((name, update))
    });
    each.collect()
}

/// Marks the part of the workflow that the state has completed.
fn complete(memory: &mut Memory, situation: &Situation, workflow: &Workflow) {
    let (stage, step) = (&situation.stage_id, &situation.step_id);
    match situation.completes {
        Some(Part::Behavior) => {
            let summary = |result: &Json| result.get("summary").and_then(Json::as_str).map(str::to_owned);
            let taken: Vec<String> = situation.results.iter().filter_map(summary).collect();
            memory.complete_behavior(&situation.behavior_id().unwrap_or_default(), &taken);
        }
        Some(Part::Step) => {
            let goal = workflow.step(stage, step).map(|step| step.goal.as_str()).unwrap_or_default();
            memory.complete_step(step, goal);
        }
        Some(Part::Stage) => {
            let goal = workflow.stage(stage).map(|stage| stage.goal.as_str()).unwrap_or_default();
            memory.complete_stage(stage, goal);
        }
        None => {}
    }
}

impl Activity for PlanningCall {
    fn name(&self) -> &str {
        "planning.call"
    }

    fn summary(&self) -> &str {
        "Asks a planner whether a target of the workflow is achieved."
    }

    fn effect(&self) -> EffectClass {
        EffectClass::Read
    }

    fn signals(&self) -> &[Signal] {
        const { &[Signal::open("planned")] }
    }

    fn schema(&self) -> Schema {
        Situation::schema()
    }

    fn requests(&self, _: &Site<'_>) -> Requests {
        Ok(Vec::new())
    }

    fn uses_cores(&self) -> bool {
        false
    }

    /// Refuses a run whose template or server cannot be used.
    fn objections(&self, input: &Value, _: &Path) -> Vec<String> {
        let template = input.get("workflow").map(Json::from);
        let keys = template.as_ref().map(template::objections).unwrap_or_default();
        let workflow = template.and_then(|template| Workflow::parse(&template).err());
        let url = input.get("server").and_then(Value::as_str);
        let server = url.and_then(|url| Server::new(url, None).err().map(|why| format!("the server `{url}` {why}")));
        keys.into_iter().chain(workflow).chain(server).collect()
    }

    fn view(&self) -> Option<Arc<dyn RunView>> {
        Some(Arc::new(ProgressView::default()))
    }

    fn start(&self, attempt: Attempt) -> Ending {
        let this = self.clone();
        Box::pin(call::unless_cancelled(attempt.clone(), this.run(attempt)))
    }
}
