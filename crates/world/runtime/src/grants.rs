//! The permissions that people have granted to a run and that are still valid. A grant is a record, and so is each use
//! of it. Only a request of a person creates one: activities, machines and other runs cannot.

use interlock_activity::UseGrants;
use interlock_chart::model::Raiser;
use interlock_journal::{By, Entry, GrantUsed, Granted, moment};
use interlock_policy::{Grant, Scope};
use serde::{Deserialize, Serialize};

use crate::{Live, Refused};

/// The most grants that a run holds at once.
const HELD_MAX: usize = 100;

/// The grants of a run that are not used up.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Grants(Vec<HeldGrant>);

/// A grant that is not used up.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct HeldGrant {
    /// The sequence number of its record.
    pub seq: u64,
    /// The granted scope, the person who granted it, and its expiry.
    #[serde(flatten)]
    pub granted: Granted,
    /// The number of times it was used.
    #[serde(default)]
    pub used: u32,
}

impl HeldGrant {
    /// Returns true if the grant is valid at `now_ms`.
    pub fn is_live(&self, now_ms: i64) -> bool {
        self.granted.until_ms.is_none_or(|until| now_ms < until)
            && self.granted.uses.is_none_or(|most| self.used < most)
    }
}

impl Grants {
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns the grants that are valid at `now_ms`.
    pub fn live(&self, now_ms: i64) -> impl Iterator<Item = &HeldGrant> {
        self.0.iter().filter(move |held| held.is_live(now_ms))
    }

    /// Applies a record to the grants.
    pub(crate) fn fold(&mut self, entry: &Entry, seq: u64) {
        match entry {
            Entry::Granted(granted) => {
                if self.0.len() >= HELD_MAX {
                    self.0.remove(0);
                }
                self.0.push(HeldGrant { seq, granted: granted.clone(), used: 0 });
            }
            Entry::GrantUsed(used) => {
                self.0.iter_mut().filter(|held| held.seq == used.grant).for_each(|held| held.used += 1);
                self.0.retain(|held| held.granted.uses.is_none_or(|most| held.used < most));
            }
            _ => {}
        }
    }

    /// Returns true if every scope is granted at `now_ms`.
    pub fn covers(&self, scopes: &[String], now_ms: i64) -> bool {
        let is_covered = |scope: &String| {
            let Ok(need) = scope.parse::<Scope>() else { return false };
            self.live(now_ms).any(|held| held.granted.scope.parse::<Grant>().is_ok_and(|grant| grant.covers(&need)))
        };
        scopes.iter().all(is_covered)
    }

    /// Returns the uses to record if every needed scope is granted, or `None` if one is not.
    pub(crate) fn cover(&self, order: &UseGrants, now_ms: i64) -> Option<Vec<GrantUsed>> {
        let mut uses: Vec<GrantUsed> = Vec::new();
        for scope in &order.scopes {
            let need: Scope = scope.parse().ok()?;
            let covers = |held: &&HeldGrant| held.granted.scope.parse::<Grant>().is_ok_and(|grant| grant.covers(&need));
            let held = self.live(now_ms).find(covers)?;
            match uses.iter_mut().find(|used| used.grant == held.seq) {
                Some(used) => used.scopes.push(scope.clone()),
                None => uses.push(GrantUsed {
                    grant: held.seq,
                    activity: order.activity,
                    number: order.number,
                    scopes: vec![scope.clone()],
                }),
            }
        }
        Some(uses)
    }
}

/// Returns the entry for a person's request to grant a scope, or the refusal.
pub(crate) fn admit(
    live: &Live,
    scope: String,
    for_ms: Option<u64>,
    uses: Option<u32>,
    by: By,
    now_ms: i64,
) -> Result<Entry, Refused> {
    if by.kind != Raiser::User {
        return Err(Refused::new("only a person can grant a permission"));
    }
    if live.state.is_done() {
        return Err(Refused::new("the run has ended"));
    }
    let grant: Grant = scope.parse().map_err(|error: interlock_policy::BadGrant| Refused::new(error.to_string()))?;
    if grant.is_exact() && uses != Some(1) {
        return Err(Refused::new("a command that could not be parsed can be granted for one use only"));
    }
    if (for_ms, uses) == (None, None) || uses == Some(0) || for_ms == Some(0) {
        return Err(Refused::new("a grant needs a limit: a time, a number of uses, or both"));
    }
    let until_ms = for_ms.map(|ms| now_ms.saturating_add(i64::try_from(ms).unwrap_or(i64::MAX)));
    Ok(Entry::Granted(Granted { scope: grant.to_string(), by, until_ms, uses }))
}

/// Describes a grant in a sentence.
pub(crate) fn words(granted: &Granted) -> String {
    let uses = match granted.uses {
        Some(1) => Some("once".to_owned()),
        Some(uses) => Some(format!("{uses} times")),
        None => None,
    };
    let until = granted.until_ms.map(|until| format!("until {}", moment::rfc3339(until)));
    let ends: Vec<String> = uses.into_iter().chain(until).collect();
    format!("{} granted, {}", granted.scope, ends.join(" "))
}

/// Describes one use of a grant in a sentence.
pub(crate) fn words_of_use(used: &GrantUsed) -> String {
    format!(
        "{} by the grant of record {}, attempt {} of activity {}",
        used.scopes.join(", "),
        used.grant,
        used.number,
        used.activity
    )
}
