//! Child runs: if one of them waits for a person, the command that follows the parent reports that.

use std::sync::Arc;

use interlock_journal::{Engine, Filter, Head, Phase, RunKey};
use interlock_runtime::{Live, StartedActivity};

use crate::{
    failure::Failure,
    follow::{Follower, Standing},
    store::registry,
};

/// The depth to which chains of child runs are followed.
const DEPTH_MAX: usize = 16;

/// A descendant of a run that waits for a person.
pub(crate) struct Asking {
    /// The run that waits for a person.
    pub(crate) follower: Follower,
    /// The ancestors of that run, the outermost first.
    pub(crate) chain: Vec<RunKey>,
}

/// Returns the descendant that waits for a person, if no other activity is in progress in any run between them.
pub(crate) fn asking(follower: &Follower) -> Result<Option<Asking>, Failure> {
    // Most runs start no other run: then nothing is read.
    if !follower.live.activities.values().any(|begun| is_child(&follower.live, begun)) {
        return Ok(None);
    }
    let prefix = Some(format!("{}.", follower.head.name));
    let phases = vec![Phase::Waiting, Phase::Paused];
    if follower.engine.list(&Filter { prefix, phases, at_most: 1, ..Filter::default() })?.is_empty() {
        return Ok(None);
    }
    below(&follower.engine, &follower.live, DEPTH_MAX)
}

/// Returns true if an activity may start another run: an agent can be a run of the machine `coder`.
fn is_child(live: &Live, begun: &StartedActivity) -> bool {
    matches!(live.loaded.chart().invoke(begun.invoke).activity.as_str(), "run.start" | "agent.prompt")
}

fn below(engine: &Arc<dyn Engine>, live: &Live, depth: usize) -> Result<Option<Asking>, Failure> {
    if live.phase(registry()) != Phase::Active || depth == 0 {
        return Ok(None);
    }
    let mut found = None;
    for (id, begun) in &live.activities {
        let head = if is_child(live, begun) { engine.find(&format!("{}.{id}", live.name))? } else { None };
        let Some(head) = head else { return Ok(None) };
        match asked(engine, head, depth)? {
            Some(asking) => found = found.or(Some(asking)),
            None => return Ok(None),
        }
    }
    Ok(found.map(|mut asking: Asking| {
        asking.chain.insert(0, live.key);
        asking
    }))
}

fn asked(engine: &Arc<dyn Engine>, head: Head, depth: usize) -> Result<Option<Asking>, Failure> {
    let follower = Follower::open(Arc::clone(engine), registry(), head)?;
    match follower.standing() {
        Standing::Person | Standing::Paused => Ok(Some(Asking { follower, chain: Vec::new() })),
        Standing::Moving => below(engine, &follower.live, depth - 1),
        Standing::Timer(_) | Standing::Over => Ok(None),
    }
}
