//! What a run holds: boards and the like, which no other run may use meanwhile.
//!
//! The claim itself is a lock that ends with the process (`interlock_testbench::Resources`); here is only who of this process holds what.

use std::{
    collections::BTreeMap,
    sync::{Mutex, MutexGuard, PoisonError},
};

use interlock_activity::Attempt;
use interlock_testbench::{Held, Resources, Trouble};

use crate::hand::Settings;

/// What runs of this process hold.
static HELD: Mutex<BTreeMap<String, Claims>> = Mutex::new(BTreeMap::new());

#[derive(Debug, Default)]
struct Claims {
    held: Option<Held>,
    /// What was given up for another of its kind, as long as there is another.
    spoiled: Vec<String>,
}

fn held() -> MutexGuard<'static, BTreeMap<String, Claims>> {
    HELD.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Takes hold of one of these things, waiting in line where all are taken; the one held already, where it is one of them.
pub(super) async fn take(settings: &Settings, attempt: &Attempt, names: &[String]) -> Result<Option<String>, Trouble> {
    if names.is_empty() {
        return Ok(None);
    }
    let spoiled = {
        let mut all = held();
        let claims = all.entry(attempt.run.to_string()).or_default();
        if let Some(held) = claims.held.as_ref().filter(|held| names.contains(&held.name)) {
            return Ok(Some(held.name.clone()));
        }
        claims.spoiled.clone()
    };
    let fresh: Vec<String> = names.iter().filter(|name| !spoiled.contains(name)).cloned().collect();
    let wanted = if fresh.is_empty() { names } else { &fresh };
    let home = settings.home.clone().unwrap_or_else(std::env::temp_dir);
    let resources = Resources::new(home.join("resources"));
    let tell = |text: &str| attempt.host.progress(&attempt.run, attempt.activity, text);
    let held_now = resources.acquire(wanted, &attempt.run, attempt.cancel.clone(), tell).await?;
    let name = held_now.name.clone();
    held().entry(attempt.run.to_string()).or_default().held = Some(held_now);
    Ok(Some(name))
}

/// Gives a thing up, so that the next session takes another of its kind if there is one.
pub(super) fn switch(run: &str, used: &str, seen: String) -> String {
    let mut all = held();
    let claims = all.entry(run.to_owned()).or_default();
    claims.held = None;
    claims.spoiled.push(used.to_owned());
    format!("{seen}; {used} is given up for another of its kind")
}

/// Lets go of what a run holds.
pub(crate) fn let_go(run: &str) {
    if let Some(claims) = held().get_mut(run) {
        claims.held = None;
    }
}
