//! `generating.call`: asks the generator for the actions of a behavior.

use interlock_activity::{Activity, Attempt, EffectClass, Ending, Outcome, Requests, Signal, Site, code};
use interlock_chart::{Value, model::Schema};
use serde_json::{Value as Json, json};

use crate::{
    Situation, Workflow,
    call::{self, Setup},
    client::{Endpoint, Server},
    filter, observation,
    reply::{BadReply, Generated},
};

/// Asks the generator.
#[derive(Clone, Debug)]
pub struct GeneratingCall(Setup);

impl GeneratingCall {
    /// Creates the activity.
    pub fn new(setup: Setup) -> Self {
        GeneratingCall(setup)
    }

    async fn run(self, attempt: Attempt) -> Result<Outcome, Outcome> {
        let mut situation = self.0.situation(&attempt)?;
        let server = self.0.server(&attempt, &situation).await?;
        let workflow = situation.workflow().map_err(|why| Outcome::error(code::BAD_INPUT, why))?;
        track(&mut situation);
        let request = request(&attempt, &situation, &workflow).await?;
        let (generated, judged) = match &server {
            Some(server) => (ask(&attempt, &situation, server, &request).await?, Vec::new()),
            None => {
                let answer = self.0.built_in.generating(&attempt, &request, Some(&attempt.folder)).await?;
                (Generated { actions: answer.value, warnings: Vec::new() }, answer.evidence)
            }
        };
        let reply = json!({ "actions": generated.actions });
        let kept = call::keep(&attempt, vec![("request", request), ("reply", reply)]).await?;
        let mut memory = situation.memory;
        memory.begin_behavior();
        generated.warnings.iter().for_each(|warning| memory.warn(warning));
        let outcome = match generated.actions.is_empty() {
            true => Outcome::signal("nothing_generated", Value::from(json!({ "memory": memory }))),
            false => {
                let data = json!({ "actions": generated.actions, "memory": memory });
                Outcome::signal("generated", Value::from(data))
            }
        };
        Ok(outcome.with(kept).with(judged))
    }
}

/// Compares the expected outputs with the variables; those that the filter names are expected of the behavior.
fn track(situation: &mut Situation) {
    let named = situation.memory.filter.pointer("/outputs_tracking/expected_variables").and_then(Json::as_array);
    let named: Vec<String> = named.into_iter().flatten().filter_map(Json::as_str).map(str::to_owned).collect();
    if !named.is_empty() {
        situation.memory.outputs.behaviors.expected = named;
    }
    let variables = observation::variables(situation);
    situation.memory.track(&variables, true);
}

/// Builds the request, reduced by the filter of the planner's last reply.
async fn request(attempt: &Attempt, situation: &Situation, workflow: &Workflow) -> Result<Json, Outcome> {
    let fsm = call::fsm(attempt).await?;
    let mut seen = observation::observation(situation, workflow, &fsm);
    for warning in filter::apply(&mut seen, &situation.memory.filter, situation) {
        attempt.host.progress(&attempt.run, attempt.activity, &warning);
    }
    Ok(json!({ "observation": seen, "options": { "stream": situation.stream } }))
}

async fn ask(attempt: &Attempt, situation: &Situation, server: &Server, request: &Json) -> Result<Generated, Outcome> {
    let read = |body: Vec<u8>| {
        Generated::read(&body).map_err(|bad| match bad {
            BadReply::Form(why) | BadReply::Inconsistent(why) => why,
        })
    };
    let asked = call::tries(attempt, situation, server, Endpoint::Generating, request, read).await;
    let failed = |failures: Vec<String>| format!("the generator failed: {}", call::described(&failures));
    asked.map_err(|failures| Outcome::error(code::UNREACHABLE, failed(failures)))
}

impl Activity for GeneratingCall {
    fn name(&self) -> &str {
        "generating.call"
    }

    fn summary(&self) -> &str {
        "Asks a generator for the actions of a behavior."
    }

    fn effect(&self) -> EffectClass {
        EffectClass::Read
    }

    fn signals(&self) -> &[Signal] {
        const { &[Signal::open("generated"), Signal::open("nothing_generated")] }
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

    fn start(&self, attempt: Attempt) -> Ending {
        let this = self.clone();
        Box::pin(call::unless_cancelled(attempt.clone(), this.run(attempt)))
    }
}
