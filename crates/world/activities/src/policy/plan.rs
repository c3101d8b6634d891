//! `policy.plan`: decides if a plan may be carried out, and lists the permissions that a person must grant first.

use std::collections::BTreeSet;

use interlock_activity::{Attempt, Outcome, schema};
use interlock_chart::{Value, counted, model::Schema};
use interlock_policy::{Command, Permission, Request, Weighed, weigh};
use serde::Deserialize;
use serde_json::{Map, Value as Json};

use super::{
    asked::{CautionSettings, PlannedWrites, PolicyAnswer},
    call::{allow, ask, bad_paths, deny},
    decider::Decider,
    gate::Gate,
    given,
    granted::Granted,
    project::Policies,
    reach,
    sight::Sight,
    steps::{self, PlanPatch},
};

#[derive(Deserialize)]
struct With {
    plan: Map<String, Json>,
    patch: Option<PlanPatch>,
    files_max: Option<usize>,
    /// The commands that verify the project, which run after every plan that changes something.
    #[serde(default)]
    commands: Vec<OwnCommand>,
    #[serde(default)]
    sensitive_paths: Vec<String>,
    #[serde(flatten)]
    care: CautionSettings,
}

/// A command of the project.
#[derive(Deserialize)]
struct OwnCommand {
    command: String,
}

/// Returns the activity that decides about plans.
pub fn policy_plan(gate: &Gate) -> Decider {
    Decider::new(
        "policy.plan",
        "Decides whether a plan may be carried out, and lists the permissions that a person must grant.",
        fields,
        decide,
        gate,
    )
}

fn fields() -> Schema {
    let patch = schema::fields([
        ("title", schema::text()),
        ("reason", schema::text()),
        ("remove_steps", schema::list(schema::text())),
        ("update_steps", schema::list(schema::object())),
        ("add_steps", schema::list(schema::object())),
    ]);
    let fields = schema::fields([
        ("plan", schema::object()),
        ("patch", patch),
        ("files_max", schema::whole()),
        ("commands", schema::list(schema::any())),
    ]);
    schema::needing(schema::also(fields, &CautionSettings::schema()), &["plan"])
}

fn decide(policies: &Policies, attempt: &Attempt) -> Result<Outcome, Outcome> {
    let with: With = given(&attempt.with)?;
    let plan = match with.patch.as_ref().map(|patch| steps::patched(&with.plan, patch)).transpose() {
        Ok(patched) => patched,
        Err(why) => return Ok(deny("E_INVALID_ARGS", &why)),
    };
    let whole = plan.as_ref().unwrap_or(&with.plan);
    let requests = match steps::requests(whole) {
        Ok(requests) => requests,
        Err(why) => return Ok(deny("E_INVALID_ARGS", &why)),
    };
    let policy = policies.of(attempt)?.with_sensitive(&with.sensitive_paths).map_err(bad_paths)?;
    let sight = Sight::of(attempt, None, true).kept();
    let weighed = |requests: &[Request]| {
        reach::weighed(requests, &with.care.hosts, |request| weigh(request, &sight.view(), &policy))
    };
    let mut weighed_all = weighed(&requests)?;
    if changes_something(&weighed_all) {
        let own = with.commands.iter().map(|own| Request::Command(Command::Shell(own.command.clone())));
        weighed_all.extend(weighed(&own.collect::<Vec<_>>())?);
    }
    let id = whole.get("plan_id").and_then(Json::as_str).unwrap_or("?");
    let granted = Granted::of(policies, attempt, with.care.granted.clone())?;
    let writes = PlannedWrites { plan: id, announced: None };
    let answer = with.care.answer(&weighed_all, writes, too_many(&weighed_all, with.files_max, id), &granted);
    let plan = plan.map(|plan| Value::from(Json::Object(plan)));
    Ok(match answer {
        PolicyAnswer::Allow { by } => allow(plan.map(|plan| ("plan", plan)), &by),
        PolicyAnswer::Ask { permissions, reason } => ask(&permissions, &reason, plan),
        PolicyAnswer::Deny { reason } => deny("E_POLICY_DENIED", &reason),
    })
}

fn changes_something(weighed: &[Weighed]) -> bool {
    weighed.iter().flat_map(|weighed| &weighed.findings).any(|finding| finding.permission != Permission::Read)
}

/// Returns the permission to ask for if a plan writes too many files, even if each write is harmless.
fn too_many(weighed: &[Weighed], most: Option<usize>, plan: &str) -> Vec<(String, String)> {
    let findings = weighed.iter().flat_map(|weighed| &weighed.findings);
    let written = findings.filter(|finding| matches!(finding.permission, Permission::Write | Permission::Delete));
    let files: BTreeSet<&str> = written.map(|finding| finding.subject.as_str()).collect();
    match most {
        Some(most) if files.len() > most => {
            vec![(
                format!("fs.write:{} files of plan {plan}", files.len()),
                format!("it changes {}, more than {most}", counted(files.len(), "file", "files")),
            )]
        }
        _ => Vec::new(),
    }
}
