//! The result of a request: all findings, and the decision that follows.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::{Grant, Level, Permission};

/// The decision on a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Decision {
    /// The request is permitted.
    Allow,
    /// The request is refused.
    Deny {
        /// The reason as a code for programs: one of [`code`](crate::code).
        code: &'static str,
        /// The reason for people.
        reason: String,
    },
    /// The request is permitted only if a person confirms all of these scopes.
    Confirm {
        /// The scopes to confirm.
        scope: Vec<Scope>,
        /// The reason for people.
        reason: String,
    },
}

impl Decision {
    /// Returns only the level of the decision.
    pub fn level(&self) -> Level {
        match self {
            Decision::Allow => Level::Allow,
            Decision::Confirm { .. } => Level::Confirm,
            Decision::Deny { .. } => Level::Deny,
        }
    }

    /// Applies grants: a request whose scopes are all granted is allowed; a denied request stays denied.
    #[must_use]
    pub fn with_grants<'g>(self, grants: impl IntoIterator<Item = &'g Grant> + Clone) -> Decision {
        let Decision::Confirm { scope, reason } = self else { return self };
        let is_covered = |need: &Scope| grants.clone().into_iter().any(|grant| grant.covers(need));
        match scope.iter().all(is_covered) {
            true => Decision::Allow,
            false => Decision::Confirm { scope, reason },
        }
    }
}

/// The scope that a person is asked to confirm: a permission for one subject. Written `destroy:git reset --hard`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Scope {
    /// The permission that is needed.
    pub permission: Permission,
    /// The subject of the permission: a path, a host, a command.
    pub subject: String,
}

impl fmt::Display for Scope {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{}:{}", self.permission, self.subject)
    }
}

/// One finding about a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// The permission that is needed.
    pub permission: Permission,
    /// The subject of the permission: a path, a host, a command.
    pub subject: String,
    /// The level that the rules give to it.
    pub level: Level,
    /// The reason as a code for programs.
    pub code: &'static str,
    /// The reason for people.
    pub reason: String,
}

/// All findings about a request.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Weighed {
    /// The findings, in the order of the request.
    pub findings: Vec<Finding>,
}

/// The maximum number of reasons in one decision.
const REASONS_MAX: usize = 5;

impl Weighed {
    /// Returns the decision: the strictest of all findings.
    pub fn decision(&self) -> Decision {
        let strictest = self.findings.iter().map(|finding| finding.level).max().unwrap_or(Level::Allow);
        let first = self.findings.iter().find(|finding| finding.level == strictest);
        match (strictest, first) {
            (Level::Deny, Some(first)) => Decision::Deny { code: first.code, reason: self.reasons(strictest) },
            (Level::Confirm, Some(_)) => Decision::Confirm { scope: self.scope(), reason: self.reasons(strictest) },
            _ => Decision::Allow,
        }
    }

    /// Returns the permissions needed, each once.
    pub fn permissions(&self) -> Vec<Permission> {
        let mut permissions: Vec<_> = self.findings.iter().map(|finding| finding.permission).collect();
        permissions.sort_unstable();
        permissions.dedup();
        permissions
    }

    fn scope(&self) -> Vec<Scope> {
        let mut scope: Vec<Scope> = Vec::new();
        for finding in self.findings.iter().filter(|finding| finding.level == Level::Confirm) {
            let need = Scope { permission: finding.permission, subject: finding.subject.clone() };
            if !scope.contains(&need) {
                scope.push(need);
            }
        }
        scope
    }

    fn reasons(&self, level: Level) -> String {
        let mut reasons: Vec<&str> = Vec::new();
        for finding in self.findings.iter().filter(|finding| finding.level == level) {
            if !reasons.contains(&finding.reason.as_str()) {
                reasons.push(&finding.reason);
            }
        }
        let more = reasons.len().saturating_sub(REASONS_MAX);
        reasons.truncate(REASONS_MAX);
        let more = if more > 0 { format!("; and {more} more") } else { String::new() };
        format!("{}{more}", reasons.join("; "))
    }
}

impl std::str::FromStr for Scope {
    type Err = crate::BadGrant;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let (word, subject) = text.split_once(':').unwrap_or((text, ""));
        let permission = Permission::from_word(word).ok_or_else(|| crate::BadGrant::Permission(word.to_owned()))?;
        Ok(Scope { permission, subject: subject.to_owned() })
    }
}
