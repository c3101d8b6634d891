//! `policy.call`: decides if a tool call may be made, or several that only read.

use std::collections::BTreeSet;

use interlock_activity::{Attempt, Outcome, code, schema};
use interlock_chart::{Value, model::Schema};
use interlock_policy::{Permission, Request, Weighed, weigh};
use interlock_tools::Effect;
use serde::Deserialize;
use serde_json::{Map, Value as Json};

use super::{
    asked::{self, CautionSettings, PlannedWrites, PolicyAnswer},
    commit::uses,
    decider::Decider,
    gate::Gate,
    given,
    granted::Granted,
    project::Policies,
    reach,
    sight::Sight,
    steps,
};

#[derive(Deserialize)]
struct With {
    call: Call,
    plan: Option<Map<String, Json>>,
    #[serde(default)]
    sensitive_paths: Vec<String>,
    #[serde(flatten)]
    care: CautionSettings,
}

#[derive(Deserialize)]
struct Call {
    name: String,
    #[serde(default)]
    args: Map<String, Json>,
    /// Calls that are made side by side, instead of one.
    #[serde(default)]
    calls: Vec<Call>,
}

impl Call {
    /// Returns the actions of the call, with the effect of its tool.
    fn meant(&self) -> Result<(Vec<Request>, Effect), String> {
        if self.calls.is_empty() {
            return self.alone();
        }
        let mut requests = Vec::new();
        for call in &self.calls {
            let (more, effect) = call.alone()?;
            if effect != Effect::Read {
                return Err(format!("`{}` cannot be called together with others: it does not only read", call.name));
            }
            requests.extend(more);
        }
        Ok((requests, Effect::Read))
    }

    fn alone(&self) -> Result<(Vec<Request>, Effect), String> {
        let requests = interlock_tools::requests(&self.name, &self.args)?;
        let effect = interlock_tools::find(&self.name).map_or(Effect::External, |tool| tool.effect);
        Ok((requests, effect))
    }
}

/// Returns the activity that decides about tool calls.
pub fn policy_call(gate: &Gate) -> Decider {
    Decider::new("policy.call", "Decides whether a tool call is allowed.", fields, decide, gate)
}

fn fields() -> Schema {
    let call = schema::needing(
        schema::open(schema::fields([
            ("name", schema::text()),
            ("args", schema::object()),
            ("calls", schema::list(schema::any())),
        ])),
        &["name"],
    );
    let fields = schema::fields([("call", call), ("plan", schema::object())]);
    schema::needing(schema::also(fields, &CautionSettings::schema()), &["call"])
}

fn decide(policies: &Policies, attempt: &Attempt) -> Result<Outcome, Outcome> {
    let with: With = given(&attempt.with)?;
    let (requests, effect) = match with.call.meant() {
        Ok(meant) => meant,
        Err(why) => return Ok(deny("E_INVALID_ARGS", &why)),
    };
    let policy = policies.of(attempt)?.with_sensitive(&with.sensitive_paths).map_err(bad_paths)?;
    let cwd = with.call.args.get("cwd").and_then(Json::as_str);
    let sight = Sight::of(attempt, cwd, true).kept();
    let weighed: Vec<Weighed> =
        reach::weighed(&requests, &with.care.hosts, |request| weigh(request, &sight.view(), &policy))?;
    let plan = with.plan.as_ref().and_then(|plan| plan.get("plan_id")).and_then(Json::as_str).unwrap_or("?");
    let announced = with.plan.as_ref().map(steps::announced).unwrap_or_default();
    let announced = announced.iter().flat_map(|request| weigh(request, &sight.view(), &policy).findings);
    let announced: BTreeSet<String> =
        announced.filter(|found| found.permission == Permission::Write).map(|found| found.subject).collect();
    let writes = PlannedWrites { plan, announced: Some(&announced) };
    let asks_network = requests.iter().any(|request| matches!(request, Request::Unconfined { .. }));
    let is_online = asks_network || asked::uses_network(&weighed);
    // A confined command without network can only write to the workspace, and those writes can be undone.
    let runs_online = is_online && requests.iter().any(|request| matches!(request, Request::Command(_)));
    let effect = if runs_online { Effect::External } else { effect };
    let granted = Granted::of(policies, attempt, with.care.granted.clone())?;
    Ok(match with.care.answer(&weighed, writes, Vec::new(), &granted) {
        PolicyAnswer::Allow { by } => allow([("effect", Value::from(effect.name()))], &by),
        PolicyAnswer::Ask { permissions, reason } => ask(&permissions, &reason, None),
        PolicyAnswer::Deny { reason } => deny("E_POLICY_DENIED", &reason),
    })
}

pub(super) fn bad_paths(why: String) -> Outcome {
    Outcome::error(code::BAD_INPUT, format!("`with.sensitive_paths` {why}"))
}

/// Returns the signal `ALLOW` with these fields and the grants of the workspace that were used.
pub(super) fn allow<'f>(fields: impl IntoIterator<Item = (&'f str, Value)>, by: &[(String, String)]) -> Outcome {
    Outcome::signal("ALLOW", Value::map(fields.into_iter().chain(uses(by))))
}

pub(super) fn deny(code: &str, reason: &str) -> Outcome {
    Outcome::signal("DENY", Value::map([("code", Value::from(code)), ("reason", Value::from(reason))]))
}

pub(super) fn ask(permissions: &[String], reason: &str, plan: Option<Value>) -> Outcome {
    let permissions = Value::List(permissions.iter().map(|word| Value::from(word.as_str())).collect());
    let data = [("permissions", permissions), ("reason", Value::from(reason))];
    Outcome::signal("REQUIRE_CONFIRMATION", Value::map(data.into_iter().chain(plan.map(|plan| ("plan", plan)))))
}
