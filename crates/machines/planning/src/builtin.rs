//! The built-in server: answers in the process. Configured judges are asked first; rules answer if there are none, or if
//! no judge has a verdict.

use std::path::{Path, PathBuf};

use interlock_activity::{Activity, Attempt, HandledSignal, Invocation, Outcome, OutcomeKind, code};
use interlock_chart::Value;
use interlock_journal::Evidence;
use interlock_judge::{
    Judge,
    settings::{PERSON, RULES, Settings},
};
use serde_json::{Value as Json, json};
use tokio::sync::mpsc;

use crate::{Situation, rules};

/// The number of actions that wait for their reader. A generator whose reader is slow makes no further ones.
pub(crate) const WAITING_MAX: usize = 1;

/// The signal that a judge answers with.
const ANSWERED: &str = "answered";

/// Answers requests of the protocol in the process.
#[derive(Clone, Debug, Default)]
pub struct BuiltIn {
    judge: Option<Judge>,
    home: Option<PathBuf>,
}

/// An answer of the built-in server, with the prompts and verdicts of the judges.
#[derive(Clone, Debug)]
pub struct Answer<T> {
    /// The answer itself.
    pub value: T,
    /// The evidence of the judges that were asked.
    pub evidence: Vec<Evidence>,
}

/// A question to the judges: the activity name of its chain, the prompt and the schema of the answer.
struct Asked {
    name: &'static str,
    prompt: &'static str,
    schema: &'static str,
}

const PLAN: Asked = Asked { name: "judge.planning", prompt: "prompts/planning.md", schema: "schemas/judged-plan.json" };
const CELLS: Asked =
    Asked { name: "judge.generating", prompt: "prompts/generating.md", schema: "schemas/judged-actions.json" };
const DESIGN: Asked =
    Asked { name: "judge.workflow", prompt: "prompts/workflow.md", schema: "schemas/judged-workflow.json" };

impl BuiltIn {
    /// Creates a server that asks judges; `home` is the store's directory with the user's settings.
    pub fn judged(judge: Judge, home: Option<PathBuf>) -> Self {
        BuiltIn { judge: Some(judge), home }
    }

    /// Returns the workflow for a problem.
    pub async fn workflow(&self, attempt: &Attempt, situation: &Situation) -> Result<Answer<Json>, Outcome> {
        self.design(attempt, json!({ "problem": situation.problem, "variables": situation.variables })).await
    }

    /// Returns a workflow: the judges' one if they have one, or that of the rules.
    async fn design(&self, attempt: &Attempt, facts: Json) -> Result<Answer<Json>, Outcome> {
        let Answer { value: judged, evidence } = self.ask(attempt, &DESIGN, facts).await?;
        let judged = judged.filter(|workflow| crate::Workflow::parse(workflow).is_ok());
        Ok(Answer { value: judged.unwrap_or_else(rules::workflow), evidence })
    }

    /// Answers a request to `/planning`.
    pub async fn planning(&self, attempt: &Attempt, request: &Json) -> Result<Answer<Json>, Outcome> {
        let state = request.pointer("/observation/context/FSM/state").and_then(Json::as_str).unwrap_or_default();
        if rules::wants_workflow(request) {
            let variables = request.pointer("/observation/context/variables").cloned().unwrap_or_default();
            let facts = json!({ "problem": variables["problem_description"], "variables": variables });
            let Answer { value, evidence } = self.design(attempt, facts).await?;
            return Ok(Answer { value: rules::proposal(&value), evidence });
        }
        let mut by_rules = rules::planning(request);
        // Cells that a judge has written leave the answer in their output; the rules know nothing about it.
        let is_judged = self.judge.is_some() && self.is_configured(attempt, CELLS.name);
        if is_judged && !rules::has_worked(request) {
            by_rules.as_object_mut().into_iter().for_each(|reply| drop(reply.remove("not_answered")));
        }
        // Whether steps or stages remain is a fact, not a judgement.
        if !matches!(state, "step_running" | "action_completed" | "behavior_completed" | "") {
            return Ok(Answer { value: by_rules, evidence: Vec::new() });
        }
        let mut facts = request.clone();
        facts["level"] = json!("step");
        let Answer { value: judged, evidence } = self.ask(attempt, &PLAN, facts).await?;
        Ok(Answer { value: judged.map_or(by_rules, |plan| reply(&plan)), evidence })
    }

    /// Answers a request to `/generating` with actions. Tables are looked for in `folder`.
    pub async fn generating(
        &self,
        attempt: &Attempt,
        request: &Json,
        folder: Option<&Path>,
    ) -> Result<Answer<Vec<Json>>, Outcome> {
        let (to, mut made) = mpsc::channel(WAITING_MAX);
        let collect = async {
            let mut actions = Vec::new();
            while let Some(action) = made.recv().await {
                actions.push(action);
            }
            actions
        };
        let (evidence, actions) = tokio::join!(self.generate(attempt, request, folder, to), collect);
        Ok(Answer { value: actions, evidence: evidence? })
    }

    /// Answers a request to `/generating`: sends every action as soon as it is made. Returns the evidence of the judges.
    /// If the receiver is dropped, the rest is not sent.
    pub async fn generate(
        &self,
        attempt: &Attempt,
        request: &Json,
        folder: Option<&Path>,
        to: mpsc::Sender<Json>,
    ) -> Result<Vec<Evidence>, Outcome> {
        let Answer { value: judged, evidence } = self.ask(attempt, &CELLS, request.clone()).await?;
        if let Some(mut answer) = judged {
            let Some(Json::Array(actions)) = answer.get_mut("actions").map(Json::take) else { return Ok(evidence) };
            for action in actions {
                if to.send(action).await.is_err() {
                    break;
                }
            }
            return Ok(evidence);
        }
        let (request, folder) = (request.clone(), folder.map(Path::to_owned));
        let made = tokio::task::spawn_blocking(move || {
            let csv = || rules::find_csv(&request, folder.as_deref());
            rules::generate(&request, csv, &mut |action| to.blocking_send(action).is_ok());
        });
        made.await.map_err(|error| Outcome::error(code::FAILED, error.to_string()))?;
        Ok(evidence)
    }

    /// Asks the configured judges. There is no value if there are none, or if none of them has a verdict.
    async fn ask(&self, attempt: &Attempt, asked: &Asked, facts: Json) -> Result<Answer<Option<Json>>, Outcome> {
        let Some(judge) = self.judge.as_ref().filter(|_| self.is_configured(attempt, asked.name)) else {
            return Ok(Answer { value: None, evidence: Vec::new() });
        };
        let outcome = judge.start(question(attempt, asked, facts)).await;
        let value = match &outcome.kind {
            OutcomeKind::Signal { data, .. } => Some(Json::from(data)["answer"].take()),
            OutcomeKind::Cancelled { .. } | OutcomeKind::NotStored { .. } => return Err(outcome),
            OutcomeKind::Error { .. } | OutcomeKind::NeedsPerson { .. } => {
                let text = format!("no judge has answered ({}); the rules answer", outcome.message());
                attempt.host.progress(&attempt.run, attempt.activity, &text);
                None
            }
        };
        Ok(Answer { value, evidence: outcome.evidence })
    }

    /// Returns true if a model or a program is configured for this question.
    fn is_configured(&self, attempt: &Attempt, name: &str) -> bool {
        let settings = Settings::load(self.home.as_deref(), &attempt.folder);
        settings.is_ok_and(|settings| settings.chain(name).iter().any(|judge| *judge != RULES && *judge != PERSON))
    }
}

/// Converts a judge's plan to a reply of the protocol.
fn reply(plan: &Json) -> Json {
    let flag = |name: &str| plan.get(name).and_then(Json::as_bool).unwrap_or_default();
    let achieved = flag("target_achieved");
    json!({
        "targetAchieved": achieved,
        "transition": { "continue_behaviors": flag("continue_behaviors") && !achieved, "target_achieved": achieved },
        "context_update": { "progress_update": { "level": "behaviors", "focus": plan["focus"] } },
    })
}

/// Returns the attempt with the question that the judge is asked.
fn question(attempt: &Attempt, asked: &Asked, facts: Json) -> Attempt {
    let data = json!({ "required": ["answer"], "properties": { "answer": { "type": "object" } } });
    let signals = vec![HandledSignal { name: ANSWERED.to_owned(), data }];
    let invocation = Invocation { name: asked.name.to_owned(), signals, ..(*attempt.invocation).clone() };
    let mut with = facts;
    with["prompt"] = json!(asked.prompt);
    with["schema"] = json!(asked.schema);
    Attempt { invocation: invocation.into(), with: Value::from(with), ..attempt.clone() }
}
