//! The resources that a run holds: boards and other devices that no other run may use at the same time.
//!
//! The claim itself is a lock that ends with the process (`interlock_testbench::Resources`); this module only records
//! the owners within this process. So after a crash nothing is held, even if a session names a resource: work on the
//! resource must acquire it again first.

use std::{
    collections::BTreeMap,
    sync::{Mutex, MutexGuard, PoisonError},
};

use interlock_activity::Attempt;
use interlock_testbench::{HeldResource, Resources, Session, Trouble};

use crate::table::Settings;

/// The claims of the runs of this process, by run.
static HELD: Mutex<BTreeMap<String, Claims>> = Mutex::new(BTreeMap::new());

#[derive(Debug, Default)]
struct Claims {
    held: Option<HeldResource>,
    /// Another run that has used the resource since the current session began and may have changed its content.
    stranger: Option<String>,
    /// Resources that were given up for another of the same kind. They are avoided as long as there is another one.
    spoiled: Vec<String>,
}

fn held() -> MutexGuard<'static, BTreeMap<String, Claims>> {
    HELD.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Acquires one of the named resources for a new session and waits in line if all are taken. Keeps the resource
/// already held if it is among them.
pub(super) async fn take(settings: &Settings, attempt: &Attempt, names: &[String]) -> Result<Option<String>, Trouble> {
    if names.is_empty() {
        return Ok(None);
    }
    let spoiled = {
        let mut all = held();
        let claims = all.entry(attempt.run.to_string()).or_default();
        // The setup of a session removes the content that other runs left.
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

/// Acquires a session's resource again if it was released or the process that held it has died. Waits in line if
/// another run has it. Returns the other run that used it in the meantime, if any.
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

async fn acquire(settings: &Settings, attempt: &Attempt, names: &[String]) -> Result<HeldResource, Trouble> {
    let home = settings.home.clone().unwrap_or_else(std::env::temp_dir);
    let tell = |text: &str| attempt.host.progress(&attempt.run, attempt.activity, text);
    Resources::of_store(&home).acquire(names, &attempt.run, attempt.cancel.clone(), tell).await
}

/// Reports whether this process holds the resource of a session. A session without a resource needs no hold.
pub(super) fn has(run: &str, session: &Session) -> bool {
    let Some(name) = &session.resource else { return true };
    let all = held();
    let is_it = |claims: &Claims| claims.held.as_ref().is_some_and(|held| held.name == *name);
    all.get(run).is_some_and(is_it)
}

/// Gives up a resource, so that the next session takes another one of its kind if there is one.
pub(super) fn switch(run: &str, used: &str, seen: String) -> String {
    let mut all = held();
    let claims = all.entry(run.to_owned()).or_default();
    claims.held = None;
    claims.spoiled.push(used.to_owned());
    format!("{seen}; {used} is released and another of its kind is used")
}

/// Releases the resource of a run. The list of resources that it gave up is kept.
pub(crate) fn let_go(run: &str) {
    if let Some(claims) = held().get_mut(run) {
        claims.held = None;
    }
}

/// Forgets all claims of a run that has ended.
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
    fn only_a_session_with_a_resource_needs_a_hold() {
        assert!(has("nobody", &session(None)));
        assert!(!has("nobody", &session(Some("bench-1"))));
    }

    #[test]
    fn ended_run_is_forgotten_completely() {
        switch("ended", "bench-1", String::new());
        let_go("ended");
        assert_eq!(held().get("ended").map(|claims| claims.spoiled.clone()), Some(vec!["bench-1".to_owned()]));
        forget("ended");
        assert!(!held().contains_key("ended"));
    }
}
