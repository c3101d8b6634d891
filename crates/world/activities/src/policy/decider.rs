//! An activity that only asks the policy. Deciders differ in their input and in the function that turns it into a
//! decision.

use interlock_activity::{Activity, Attempt, EffectClass, Ending, Outcome, Requests, Signal, Site};
use interlock_chart::model::Schema;

use super::{
    blocking,
    gate::{Gate, with_denial},
    project::Policies,
};

/// Decides if an action is allowed, without carrying it out.
#[derive(Clone, Debug)]
pub struct Decider {
    name: &'static str,
    summary: &'static str,
    schema: fn() -> Schema,
    decide: Decide,
    policies: Policies,
}

/// Decides about the input of an attempt. May block.
pub(super) type Decide = fn(&Policies, &Attempt) -> Result<Outcome, Outcome>;

impl Decider {
    /// Creates a decider with the same policies as a gate.
    pub(super) fn new(
        name: &'static str,
        summary: &'static str,
        schema: fn() -> Schema,
        decide: Decide,
        gate: &Gate,
    ) -> Self {
        Decider { name, summary, schema, decide, policies: gate.policies.clone() }
    }
}

impl Activity for Decider {
    fn name(&self) -> &str {
        self.name
    }

    fn summary(&self) -> &str {
        self.summary
    }

    fn effect(&self) -> EffectClass {
        EffectClass::Read
    }

    fn signals(&self) -> &[Signal] {
        const { &[Signal::open("ALLOW"), Signal::open("REQUIRE_CONFIRMATION"), Signal::open("DENY")] }
    }

    fn schema(&self) -> Schema {
        (self.schema)()
    }

    fn requests(&self, _: &Site<'_>) -> Requests {
        Ok(Vec::new())
    }

    fn start(&self, attempt: Attempt) -> Ending {
        let Decider { decide, policies, .. } = self.clone();
        let decide = move || decide(&policies, &attempt).map(|outcome| with_denial(&attempt, outcome));
        Box::pin(async move { blocking(decide).await.unwrap_or_else(|error| error) })
    }
}
