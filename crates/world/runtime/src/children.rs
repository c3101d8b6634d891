//! Child runs: they end when the state that started them is left, unless they are detached.
//!
//! The parent's record comes first, then the child is aborted. If the process dies in between, the child is aborted by
//! the process that next adopts the parent or the child: a child is wanted as long as its parent has the activity that
//! started it.

use std::sync::Arc;

use interlock_core::ActivityId;
use interlock_journal::{By, Filter, Head, Phase};

use crate::{
    Live, Result, Runtime,
    actor::{Actor, Mail},
    created,
    request::Request,
    runtime::Shared,
};

/// Returns the name of the child run that an activity of `run.start` creates.
fn child_name(parent: &str, id: ActivityId) -> String {
    format!("{parent}.{id}")
}

/// Returns the id of the activity that created the child run, read from the child's name.
fn started_by(parent: &str, child: &str) -> Option<ActivityId> {
    let number = child.strip_prefix(parent)?.strip_prefix(".a")?;
    number.parse().ok().map(ActivityId)
}

impl Runtime {
    /// Loads a run in its current state, for reading only.
    pub(crate) fn look_at(&self, head: &Head) -> Result<Live> {
        let opened = self.0.engine.open(head.key)?;
        let loaded = self.loaded(&opened.head.definition)?;
        Live::load(&opened, loaded, interlock_journal::Lease { epoch: 0 }, self.0.engine.evidence())
    }

    /// Returns true if the parent still waits for the run. A run without a parent, or a detached run, is always wanted.
    pub(crate) fn is_wanted(&self, head: &Head) -> Result<bool> {
        let Some(parent) = &head.parent else { return Ok(true) };
        let Some(id) = started_by(parent, &head.name) else { return Ok(true) };
        if self.is_detached(head)? {
            return Ok(true);
        }
        let Some(parent) = self.find(parent)? else { return Ok(true) };
        Ok(!parent.phase.is_over() && self.look_at(&parent)?.activities.contains_key(&id))
    }

    fn is_detached(&self, head: &Head) -> Result<bool> {
        Ok(created(&*self.0.engine, head)?.is_some_and(|created| created.detached))
    }

    /// Aborts a child whose parent no longer waits for it, and waits until this process has no attempts of it.
    pub(crate) async fn abort_child(&self, head: &Head) {
        let Some(parent) = head.parent.clone().filter(|_| !self.is_detached(head).unwrap_or(true)) else { return };
        // If the request fails, the child is aborted the next time a process adopts it.
        let _ = self.ask(head, Request::Abort { why: left(&parent) }, By::run(parent)).await;
        let _ = self.settled(head).await;
    }
}

/// Returns the reason that is recorded when a child is aborted.
pub(crate) fn left(parent: &str) -> String {
    format!("{parent} has left the state that started it")
}

impl Actor {
    /// Ends the child run that an activity started, if it started one.
    pub(crate) fn end_child(&mut self, id: ActivityId) {
        let name = child_name(&self.live.name, id);
        if let Ok(Some(head)) = self.shared.engine.find(&name) {
            self.end_children(vec![head]);
        }
    }

    /// Ends child runs of states that this run has left: the process that left the state may have died before it
    /// aborted them.
    pub(crate) fn end_orphans(&mut self) -> Result<()> {
        let phases = vec![Phase::Active, Phase::Waiting, Phase::Paused];
        let prefix = Some(format!("{}.", self.live.name));
        let children = self.shared.engine.list(&Filter { prefix, phases, ..Filter::default() })?;
        let is_orphan = |head: &Head| {
            let id = head.parent.as_deref().filter(|parent| **parent == *self.live.name);
            let id = id.and_then(|parent| started_by(parent, &head.name));
            id.is_some_and(|id| !self.live.activities.contains_key(&id))
        };
        let orphans = children.into_iter().filter(is_orphan).collect();
        self.end_children(orphans);
        Ok(())
    }

    fn end_children(&mut self, children: Vec<Head>) {
        for head in children.into_iter().filter(|head| !head.phase.is_over()) {
            self.ending += 1;
            let (shared, to): (Arc<Shared>, _) = (Arc::clone(&self.shared), self.to_self.clone());
            tokio::spawn(async move {
                Runtime(shared).abort_child(&head).await;
                let _ = to.send(Mail::ChildEnded);
            });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_child_is_named_after_the_start_that_made_it() {
        assert_eq!(started_by("r", &child_name("r", ActivityId(7))), Some(ActivityId(7)));
        assert_eq!(started_by("r", "r.a7.a2"), None);
        assert_eq!(started_by("r", "other.a7"), None);
    }
}
