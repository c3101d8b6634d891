//! What people have said yes to, as far as it still counts. A grant is a record; so is each use of it. Nothing but a person's
//! request makes one: no activity, no machine and no other run can.

use interlock_activity::UseGrants;
use interlock_chart::model::Raiser;
use interlock_journal::{By, Entry, GrantUsed, Granted, moment};
use interlock_policy::{Grant, Scope};
use serde::{Deserialize, Serialize};

use crate::{Live, Refused};

/// The most grants that a run holds at once.
const HELD_MAX: usize = 100;

/// What people have said yes to.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Grants(Vec<Held>);

/// A grant that is not used up.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Held {
    /// Its record.
    pub seq: u64,
    /// What was granted, by whom, and until when.
    #[serde(flatten)]
    pub granted: Granted,
    /// How often it was used.
    #[serde(default)]
    pub used: u32,
}

impl Held {
    /// Whether it still counts at a time.
    pub fn is_live(&self, now_ms: i64) -> bool {
        self.granted.until_ms.is_none_or(|until| now_ms < until)
            && self.granted.uses.is_none_or(|most| self.used < most)
    }
}

impl Grants {
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Those that still count at a time.
    pub fn live(&self, now_ms: i64) -> impl Iterator<Item = &Held> {
        self.0.iter().filter(move |held| held.is_live(now_ms))
    }

    /// Lets a record happen.
    pub(crate) fn fold(&mut self, entry: &Entry, seq: u64) {
        match entry {
            Entry::Granted(granted) => {
                if self.0.len() >= HELD_MAX {
                    self.0.remove(0);
                }
                self.0.push(Held { seq, granted: granted.clone(), used: 0 });
            }
            Entry::GrantUsed(used) => {
                self.0.iter_mut().filter(|held| held.seq == used.grant).for_each(|held| held.used += 1);
                self.0.retain(|held| held.granted.uses.is_none_or(|most| held.used < most));
            }
            _ => {}
        }
    }

    /// Whether every scope is granted at a time.
    pub fn covers(&self, scopes: &[String], now_ms: i64) -> bool {
        let is_covered = |scope: &String| {
            let Ok(need) = scope.parse::<Scope>() else { return false };
            self.live(now_ms).any(|held| held.granted.scope.parse::<Grant>().is_ok_and(|grant| grant.covers(&need)))
        };
        scopes.iter().all(is_covered)
    }

    /// The uses to be recorded where everything that is needed is granted; nothing where something is not.
    pub(crate) fn cover(&self, order: &UseGrants, now_ms: i64) -> Option<Vec<GrantUsed>> {
        let mut uses: Vec<GrantUsed> = Vec::new();
        for scope in &order.scopes {
            let need: Scope = scope.parse().ok()?;
            let covers = |held: &&Held| held.granted.scope.parse::<Grant>().is_ok_and(|grant| grant.covers(&need));
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

/// A person's request to grant something, or why it is refused.
pub(crate) fn admit(
    live: &Live,
    scope: String,
    for_ms: Option<u64>,
    uses: Option<u32>,
    by: By,
    now_ms: i64,
) -> Result<Entry, Refused> {
    if by.kind != Raiser::User {
        return Err(Refused::new("only a person can grant something"));
    }
    if live.state.is_done() {
        return Err(Refused::new("the run has ended"));
    }
    let grant: Grant = scope.parse().map_err(|error: interlock_policy::BadGrant| Refused::new(error.to_string()))?;
    if grant.is_exact() && uses != Some(1) {
        return Err(Refused::new("a command that was not understood is granted once at a time"));
    }
    if (for_ms, uses) == (None, None) || uses == Some(0) || for_ms == Some(0) {
        return Err(Refused::new("a grant needs an end: a time, a number of uses, or both"));
    }
    let until_ms = for_ms.map(|ms| now_ms.saturating_add(i64::try_from(ms).unwrap_or(i64::MAX)));
    Ok(Entry::Granted(Granted { scope: grant.to_string(), by, until_ms, uses }))
}

/// A grant in words.
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

/// A use in words.
pub(crate) fn words_of_use(used: &GrantUsed) -> String {
    format!(
        "{} by the grant of record {}, attempt {} of activity {}",
        used.scopes.join(", "),
        used.grant,
        used.number,
        used.activity
    )
}
