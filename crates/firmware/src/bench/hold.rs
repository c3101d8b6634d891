//! What a run holds: boards and the like, which no other run may use meanwhile.
//!
//! The claim itself is a lock that ends with the process (`interlock_testbench::Resources`); here is only who of this process holds what. So after a
//! crash nothing is held, whatever a session says: what works on the thing itself takes it again or is not done.

use std::{
    collections::BTreeMap,
    sync::{Mutex, MutexGuard, PoisonError},
};

use interlock_activity::Attempt;
use interlock_testbench::{Held, Resources, Session, Trouble};

use crate::hand::Settings;

/// What runs of this process hold.
static HELD: Mutex<BTreeMap<String, Claims>> = Mutex::new(BTreeMap::new());

#[derive(Debug, Default)]
struct Claims {
    held: Option<Held>,
    /// The run that has used it since the session at hand was begun: what lies there may be that one's.
    stranger: Option<String>,
    /// What was given up for another of its kind, as long as there is another.
    spoiled: Vec<String>,
}

fn held() -> MutexGuard<'static, BTreeMap<String, Claims>> {
    HELD.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Takes hold of one of these things for a new session, waiting in line where all are taken; the one held already, where it is one of them.
pub(super) async fn take(settings: &Settings, attempt: &Attempt, names: &[String]) -> Result<Option<String>, Trouble> {
    if names.is_empty() {
        return Ok(None);
    }
    let spoiled = {
        let mut all = held();
        let claims = all.entry(attempt.run.to_string()).or_default();
        // What others have left there is cleared away when a session is set up.
        claims.stranger = None;
        if let Some(held) = claims.held.as_ref().filter(|held| names.contains(&held.name)) {
            return Ok(Some(held.name.clone()));
        }
        claims.spoiled.clone()
    };
    let fresh: Vec<String> = names.iter().filter(|name| !spoiled.contains(name)).cloned().collect();
    let wanted = if fresh.is_empty() { names } else { &fresh };
    let taken = acquire(settings, attempt, wanted).await?;
    let name = taken.name.clone();
    held().entry(attempt.run.to_string()).or_default().held = Some(taken);
    Ok(Some(name))
}

/// Takes hold of a session's thing again where it was let go, or where the process that held it has died; waits in line where somebody else has it.
/// The run that has used it meanwhile, if one did.
pub(super) async fn retake(
    settings: &Settings,
    attempt: &Attempt,
    session: &Session,
) -> Result<Option<String>, Trouble> {
    let Some(name) = &session.resource else { return Ok(None) };
    if !has(&attempt.run, session) {
        let taken = acquire(settings, attempt, std::slice::from_ref(name)).await?;
        let stranger = taken.before.clone().filter(|run| **run != *attempt.run);
        let mut all = held();
        let claims = all.entry(attempt.run.to_string()).or_default();
        (claims.held, claims.stranger) = (Some(taken), stranger);
    }
    Ok(held().get(&*attempt.run).and_then(|claims| claims.stranger.clone()))
}

async fn acquire(settings: &Settings, attempt: &Attempt, names: &[String]) -> Result<Held, Trouble> {
    let home = settings.home.clone().unwrap_or_else(std::env::temp_dir);
    let tell = |text: &str| attempt.host.progress(&attempt.run, attempt.activity, text);
    Resources::of_store(&home).acquire(names, &attempt.run, attempt.cancel.clone(), tell).await
}

/// Whether this process holds what a session uses. One that uses nothing of the kind needs no hold.
pub(super) fn has(run: &str, session: &Session) -> bool {
    let Some(name) = &session.resource else { return true };
    let all = held();
    let is_it = |claims: &Claims| claims.held.as_ref().is_some_and(|held| held.name == *name);
    all.get(run).is_some_and(is_it)
}

/// Gives a thing up, so that the next session takes another of its kind if there is one.
pub(super) fn switch(run: &str, used: &str, seen: String) -> String {
    let mut all = held();
    let claims = all.entry(run.to_owned()).or_default();
    claims.held = None;
    claims.spoiled.push(used.to_owned());
    format!("{seen}; {used} is given up for another of its kind")
}

/// Lets go of what a run holds. What it has given up it still remembers.
pub(crate) fn let_go(run: &str) {
    if let Some(claims) = held().get_mut(run) {
        claims.held = None;
    }
}

/// A run has ended: there is nothing to be remembered of it.
pub(crate) fn forget(run: &str) {
    held().remove(run);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn session(resource: Option<&str>) -> Session {
        let folder = std::env::temp_dir();
        let resource = resource.map(str::to_owned);
        Session {
            id: "s".to_owned(),
            sources: folder.clone(),
            folder,
            profile: Default::default(),
            resource,
            image: None,
        }
    }

    #[test]
    fn a_session_that_uses_nothing_needs_no_hold_and_another_does() {
        assert!(has("nobody", &session(None)));
        assert!(!has("nobody", &session(Some("bench-1"))));
    }

    #[test]
    fn a_run_that_has_ended_is_forgotten_wholly() {
        switch("ended", "bench-1", String::new());
        let_go("ended");
        assert_eq!(held().get("ended").map(|claims| claims.spoiled.clone()), Some(vec!["bench-1".to_owned()]));
        forget("ended");
        assert!(!held().contains_key("ended"));
    }
}
