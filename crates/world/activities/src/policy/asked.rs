//! Permissions that a person must grant in a conversation, and those that they have already granted.
//!
//! A permission is asked for with its subject: `proc.exec:npm test`, `fs.write:plan p-1: a.c`. A grant covers the subjects
//! that were shown, and no others: a write that no step of the plan announces is asked for by its own path. A grant for the
//! session or the workspace also covers them in later turns, and a permission to write what a plan announces then covers
//! the plans of later turns (`granted.rs`).

use std::collections::BTreeSet;

use interlock_activity::schema;
use interlock_chart::model::Schema;
use interlock_policy::{Finding, Level, Permission, Scope, Weighed};
use serde::Deserialize;

use super::granted::{Basis, Granted, GrantedScope};

/// The actions that a machine counts as dangerous, the actions that it asks about once, and the grants so far.
#[derive(Clone, Debug, Default, Deserialize)]
pub(super) struct CautionSettings {
    #[serde(default)]
    pub(super) dangerous: Vec<Danger>,
    #[serde(default)]
    pub(super) ask_once: Vec<Danger>,
    #[serde(default)]
    pub(super) allow_network: bool,
    /// The only hosts that a command can reach; any host if the list is empty.
    #[serde(default)]
    pub(super) hosts: Vec<String>,
    #[serde(default)]
    pub(super) granted: Vec<GrantedScope>,
    /// True if nothing but reading is allowed.
    #[serde(default)]
    pub(super) read_only: bool,
}

/// The kinds of dangerous actions, as machines name them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Danger {
    Delete,
    Command,
    Network,
    SensitivePath,
    Write,
}

/// The plan for which writes are asked about once.
#[derive(Clone, Copy, Debug)]
pub(super) struct PlannedWrites<'p> {
    /// The id of the plan.
    pub(super) plan: &'p str,
    /// The paths that the plan announces; `None` if the plan itself is decided on, so that it announces all of them.
    pub(super) announced: Option<&'p BTreeSet<String>>,
}

impl PlannedWrites<'_> {
    /// Returns the permission to ask for, with the reason.
    fn permission(&self, finding: &Finding) -> (String, String) {
        let (write, path) = (finding.permission, &finding.subject);
        match self.announced.is_none_or(|announced| announced.contains(path)) {
            true => (format!("{write}:plan {}: {path}", self.plan), "it writes to the workspace".to_owned()),
            // A path that looks like a plan must not be taken for one.
            false => {
                let prefix = if path.starts_with("plan ") { "./" } else { "" };
                (format!("{write}:{prefix}{path}"), format!("no step of the plan announces that {path} is written"))
            }
        }
    }
}

/// The answer of policy to a plan or a call.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum PolicyAnswer {
    /// It is allowed. `by` lists the grants of the workspace that it needed: their ids and the permissions.
    Allow {
        by: Vec<(String, String)>,
    },
    Ask {
        permissions: Vec<String>,
        reason: String,
    },
    Deny {
        reason: String,
    },
}

impl CautionSettings {
    /// Returns the schema of these fields of `with`, and of the sensitive paths, which only a person may allow to be
    /// changed.
    pub(super) fn schema() -> Schema {
        let dangers = || schema::list(schema::one_of(&["delete", "command", "network", "sensitive_path", "write"]));
        let granted =
            schema::open(schema::fields([("scope", schema::text()), ("permissions", schema::list(schema::text()))]));
        schema::fields([
            ("dangerous", dangers()),
            ("ask_once", dangers()),
            ("allow_network", schema::flag()),
            ("hosts", schema::list(schema::plain())),
            ("granted", schema::list(schema::needing(granted, &["scope", "permissions"]))),
            ("sensitive_paths", schema::list(schema::text())),
            ("read_only", schema::flag()),
        ])
    }

    /// Combines the findings of policy, the actions that the machine counts as dangerous, and the grants.
    pub(super) fn answer(
        &self,
        weighed: &[Weighed],
        writes: PlannedWrites<'_>,
        more: Vec<(String, String)>,
        granted: &Granted,
    ) -> PolicyAnswer {
        let findings = || weighed.iter().flat_map(|weighed| &weighed.findings);
        let mut denied: Vec<String> =
            findings().filter(|finding| finding.level == Level::Deny).map(|finding| finding.reason.clone()).collect();
        let uses_network = findings().find(|finding| finding.permission == Permission::Connect && !is_here(finding));
        denied.extend(
            uses_network
                .filter(|_| !self.allow_network)
                .map(|finding| format!("the network is off: {}", finding.subject)),
        );
        let beyond = findings().find(|finding| finding.permission != Permission::Read).filter(|_| self.read_only);
        denied.extend(beyond.map(|finding| {
            let scope = Scope { permission: finding.permission, subject: finding.subject.clone() };
            format!("this turn only reads, and it needs {scope}")
        }));
        denied.dedup();
        if !denied.is_empty() {
            return PolicyAnswer::Deny { reason: denied.join("; ") };
        }
        let mut asked: Vec<(String, String)> =
            findings().filter_map(|finding| self.needed(finding, writes)).chain(more).collect();
        let mut by: Vec<(String, String)> = Vec::new();
        asked.retain(|(permission, _)| match granted.basis(permission) {
            None => true,
            Some(Basis::Confirmation) => false,
            Some(Basis::Workspace(id)) => {
                by.push((id, permission.clone()));
                false
            }
        });
        by.sort();
        by.dedup();
        let mut permissions: Vec<String> = asked.iter().map(|(permission, _)| permission.clone()).collect();
        permissions.sort();
        permissions.dedup();
        let mut reasons: Vec<String> = asked.into_iter().map(|(_, reason)| reason).collect();
        reasons.dedup();
        match permissions.is_empty() {
            true => PolicyAnswer::Allow { by },
            false => PolicyAnswer::Ask { permissions, reason: reasons.join("; ") },
        }
    }

    /// Returns the permission to ask for and the reason, if the finding needs one.
    fn needed(&self, finding: &Finding, writes: PlannedWrites<'_>) -> Option<(String, String)> {
        let danger = match finding.permission {
            Permission::Delete => Some(Danger::Delete),
            Permission::Exec => Some(Danger::Command),
            Permission::Connect if !is_here(finding) => Some(Danger::Network),
            Permission::Write => Some(Danger::Write),
            _ => None,
        };
        let subject = Scope { permission: finding.permission, subject: finding.subject.clone() }.to_string();
        match (finding.level, danger) {
            (Level::Confirm, _) => Some((subject, finding.reason.clone())),
            (_, Some(Danger::Write)) if self.ask_once.contains(&Danger::Write) => Some(writes.permission(finding)),
            (_, Some(danger)) if self.dangerous.contains(&danger) => {
                Some((subject.clone(), format!("it needs {subject}")))
            }
            _ => None,
        }
    }
}

/// Returns true if one of the actions connects to another computer.
pub(super) fn uses_network(weighed: &[Weighed]) -> bool {
    let mut findings = weighed.iter().flat_map(|weighed| &weighed.findings);
    findings.any(|finding| finding.permission == Permission::Connect && !is_here(finding))
}

/// Returns true if the host is this computer, which does not count as network.
fn is_here(finding: &Finding) -> bool {
    finding.level == Level::Allow && ["localhost", "127.0.0.1", "::1"].contains(&finding.subject.as_str())
}
