//! The permissions that a person has confirmed for a run, or for its workspace in an earlier run.
//!
//! A machine carries the confirmations of its run in `with.granted`. A machine file can claim anything, so the gate, and
//! the grants of workspaces, believe only the machines that come with the program, which are proved to add a permission
//! only after a person has confirmed it.

use interlock_activity::{Attempt, Outcome, code};
use interlock_chart::library;
use interlock_policy::{Decision, Scope};
use serde::Deserialize;
use serde_json::Value as Json;

use super::{
    project::{Policies, root},
    workspace_grants::{WorkspaceGrant, is_kept, is_of_plan},
};

/// Permissions that a person has granted, with the extent of the grant.
#[derive(Clone, Debug, Deserialize)]
pub(super) struct GrantedScope {
    scope: String,
    permissions: Vec<String>,
}

/// The basis on which a permission is granted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Basis {
    /// A person confirmed it in this run.
    Confirmation,
    /// A person granted it for the workspace; the id of the grant.
    Workspace(String),
}

/// The permissions that are granted to an attempt.
#[derive(Clone, Debug, Default)]
pub(super) struct Granted {
    given: Vec<GrantedScope>,
    kept: Vec<WorkspaceGrant>,
}

impl Granted {
    /// Returns the grants of an attempt. Permissions that were confirmed for the workspace are kept for later runs. May
    /// block.
    pub(super) fn of(policies: &Policies, attempt: &Attempt, mut given: Vec<GrantedScope>) -> Result<Self, Outcome> {
        let Some(grants) = policies.workspace_grants().filter(|_| is_built_in(attempt)) else {
            return Ok(Granted { given, kept: Vec::new() });
        };
        let failed = |why: String| Outcome::error(code::FAILED, why);
        let (workspace, machine) = (root(&attempt.folder), attempt.invocation.definition.machine.as_str());
        let (for_workspace, for_run): (Vec<_>, Vec<_>) =
            given.drain(..).partition(|granted| granted.scope == "workspace");
        let confirmed: Vec<String> = for_workspace.iter().flat_map(|granted| granted.permissions.clone()).collect();
        grants.keep(&workspace, machine, &attempt.run, &confirmed, attempt.host.now_ms()).map_err(failed)?;
        let mut kept = grants.list().map_err(failed)?;
        kept.retain(|grant| grant.workspace == workspace && grant.machine == machine);
        // A permission that cannot be kept lasts as long as the run. One that can be is valid until it is revoked.
        let ends_with_run = |granted: GrantedScope| {
            let permissions = granted.permissions.into_iter().filter(|permission| !is_kept(permission)).collect();
            GrantedScope { scope: "session".to_owned(), permissions }
        };
        Ok(Granted { given: for_run.into_iter().chain(for_workspace.into_iter().map(ends_with_run)).collect(), kept })
    }

    /// Returns the grants of an attempt that the gate may believe: none, if the machine is not one of the program's own.
    /// May block.
    pub(super) fn trusted(policies: &Policies, attempt: &Attempt) -> Result<Self, Outcome> {
        let given = attempt.with.get("granted").map(|given| serde_json::from_value(Json::from(given)));
        match given {
            Some(Ok(given)) if is_built_in(attempt) => Granted::of(policies, attempt, given),
            _ => Ok(Granted::default()),
        }
    }

    /// Returns the basis on which a permission is granted, or `None` if it is not.
    pub(super) fn basis(&self, permission: &str) -> Option<Basis> {
        let is_given = self.given.iter().any(|granted| {
            let is_lasting = ["session", "workspace"].contains(&granted.scope.as_str());
            let covers =
                |given: &String| given == permission || is_lasting && is_of_plan(given) && is_of_plan(permission);
            granted.permissions.iter().any(covers)
        });
        if is_given {
            return Some(Basis::Confirmation);
        }
        let kept = self.kept.iter().find(|grant| grant.covers(permission));
        kept.map(|grant| Basis::Workspace(grant.id.clone()))
    }

    /// Removes the scopes from a decision that are granted.
    pub(super) fn applied(&self, decision: Decision) -> Decision {
        let Decision::Confirm { mut scope, reason } = decision else { return decision };
        scope.retain(|scope: &Scope| self.basis(&scope.to_string()).is_none());
        match scope.is_empty() {
            true => Decision::Allow,
            false => Decision::Confirm { scope, reason },
        }
    }
}

/// Returns true if the attempt belongs to a machine that comes with the program, unchanged.
fn is_built_in(attempt: &Attempt) -> bool {
    let definition = &attempt.invocation.definition;
    let mut files = library::builtin_files(&definition.machine);
    files.any(|(path, content)| path == library::MACHINE_FILE && content == definition.text.as_bytes())
}
