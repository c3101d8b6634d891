//! Runs that were started by a run: they end when the state that started them is left, unless they are detached.
//!
//! The parent's record comes first, then the child is aborted. If the process dies in between, the child is aborted by whoever takes up the parent or
//! the child next: a child is wanted as long as its parent has the activity that started it.

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

/// The name of the run that a start of `run.start` makes.
fn child_name(parent: &str, id: ActivityId) -> String {
    format!("{parent}.{id}")
}

/// Which start made a run of this name.
fn started_by(parent: &str, child: &str) -> Option<ActivityId> {
    let number = child.strip_prefix(parent)?.strip_prefix(".a")?;
    number.parse().ok().map(ActivityId)
}

impl Runtime {
    /// A run as it is now, to be looked at.
    pub(crate) fn look_at(&self, head: &Head) -> Result<Live> {
        let opened = self.0.engine.open(head.key)?;
        let loaded = self.loaded(&opened.head.definition)?;
        Live::load(&opened, loaded, interlock_journal::Lease { epoch: 0 }, self.0.engine.evidence())
    }

    /// Whether whoever started a run still waits for it. A run that nobody started, or that is detached, always is.
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

    /// Aborts a child whose parent no longer waits for it, and waits until nothing of it is under way here.
    pub(crate) async fn abort_child(&self, head: &Head) {
        let Some(parent) = head.parent.clone().filter(|_| !self.is_detached(head).unwrap_or(true)) else { return };
        // One that could not be told is aborted when it is taken up next.
        let _ = self.ask(head, Request::Abort { why: left(&parent) }, By::run(parent)).await;
        let _ = self.settled(head).await;
    }
}

/// Why a child is aborted.
pub(crate) fn left(parent: &str) -> String {
    format!("{parent} has left the state that started it")
}

impl Actor {
    /// Ends the run that a start of an activity made, where it made one.
    pub(crate) fn end_child(&mut self, id: ActivityId) {
        let name = child_name(&self.live.name, id);
        if let Ok(Some(head)) = self.shared.engine.find(&name) {
            self.end_children(vec![head]);
        }
    }

    /// Ends the runs that this one started for states that it has left: whoever left them may have died before it came to that.
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
