//! `policy.commit`: decides if a commit may be made.
//!
//! A commit needs the permission `git.write`. It is given by the project's policy, by a grant of a person to the run, or
//! by a confirmation that showed it.

use interlock_activity::{Activity, Attempt, EffectClass, Ending, Outcome, Requests, Signal, Site, UseGrants, schema};
use interlock_chart::{Value, model::Schema};
use interlock_policy::{Request, weigh};
use serde::Deserialize;

use super::{
    asked::{CautionSettings, PlannedWrites, PolicyAnswer},
    blocking,
    call::{allow, ask, deny},
    gate::{Gate, with_denial},
    given,
    granted::{Granted, GrantedScope},
    project::Policies,
    sight::Sight,
};

#[derive(Deserialize)]
struct With {
    #[serde(default)]
    granted: Vec<GrantedScope>,
}

/// Decides about commits.
#[derive(Clone, Debug)]
pub struct PolicyCommit(Policies);

impl PolicyCommit {
    /// Creates the activity with the same policies as a gate.
    pub fn new(gate: &Gate) -> Self {
        PolicyCommit(gate.policies.clone())
    }

    async fn run(self, attempt: Attempt) -> Result<Outcome, Outcome> {
        let (policies, asked) = (self.0, attempt.clone());
        let answer = blocking(move || decide(&policies, &asked)).await?;
        let (permissions, reason) = match answer {
            PolicyAnswer::Allow { by } => return Ok(allow([], &by)),
            PolicyAnswer::Deny { reason } => {
                return Ok(with_denial(&attempt, deny("E_POLICY_DENIED", &reason)));
            }
            PolicyAnswer::Ask { permissions, reason } => (permissions, reason),
        };
        let order = UseGrants {
            run: attempt.run.clone(),
            activity: attempt.activity,
            number: attempt.number,
            scopes: permissions.clone(),
        };
        Ok(match attempt.host.use_grants(order).await {
            true => allow([], &[]),
            false => ask(&permissions, &reason, None),
        })
    }
}

fn decide(policies: &Policies, attempt: &Attempt) -> Result<PolicyAnswer, Outcome> {
    let with: With = given(&attempt.with)?;
    let granted = Granted::of(policies, attempt, with.granted)?;
    let policy = policies.of(attempt)?;
    let sight = Sight::of(attempt, None, false).kept();
    let weighed = weigh(&Request::Git(vec!["commit".to_owned()]), &sight.view(), &policy);
    let writes = PlannedWrites { plan: "", announced: None };
    Ok(CautionSettings::default().answer(&[weighed], writes, Vec::new(), &granted))
}

impl Activity for PolicyCommit {
    fn name(&self) -> &str {
        "policy.commit"
    }

    fn summary(&self) -> &str {
        "Decides whether a commit is allowed."
    }

    fn effect(&self) -> EffectClass {
        EffectClass::Read
    }

    fn signals(&self) -> &[Signal] {
        const { &[Signal::open("ALLOW"), Signal::open("REQUIRE_CONFIRMATION"), Signal::open("DENY")] }
    }

    fn schema(&self) -> Schema {
        let granted =
            schema::open(schema::fields([("scope", schema::text()), ("permissions", schema::list(schema::text()))]));
        let granted = schema::list(schema::needing(granted, &["scope", "permissions"]));
        schema::fields([("branch", schema::text()), ("message", schema::text()), ("granted", granted)])
    }

    fn requests(&self, _: &Site<'_>) -> Requests {
        Ok(Vec::new())
    }

    fn start(&self, attempt: Attempt) -> Ending {
        let this = self.clone();
        Box::pin(async move { this.run(attempt).await.unwrap_or_else(|error| error) })
    }
}

/// The fields of a decision that grants of workspaces have made possible: the grants, and a note for people.
pub(super) fn uses(by: &[(String, String)]) -> Vec<(&'static str, Value)> {
    if by.is_empty() {
        return Vec::new();
    }
    let used = |(id, permission): &(String, String)| {
        Value::map([("id", Value::from(id.as_str())), ("permission", Value::from(permission.as_str()))])
    };
    let mut ids: Vec<&str> = by.iter().map(|(id, _)| id.as_str()).collect();
    ids.dedup();
    let note = format!("; granted for this workspace ({})", ids.join(", "));
    vec![("grants", Value::List(by.iter().map(used).collect())), ("note", Value::from(note))]
}
