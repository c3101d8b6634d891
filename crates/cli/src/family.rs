//! Runs that a run started: if one of them waits for a person, whoever follows the parent should hear of that.

use std::sync::Arc;

use interlock_journal::{Engine, Filter, Head, Lease, Phase, RunKey};
use interlock_runtime::{Live, Loaded};

use crate::{
    failure::Failure,
    follow::{Follower, Standing},
    store::registry,
};

/// Deepest chain of runs that start runs that is followed.
const DEPTH_MAX: usize = 16;

/// A run somewhere below another that waits for a person.
pub(crate) struct Asking {
    /// The run that waits.
    pub(crate) follower: Follower,
    /// The runs on the way to it, the outermost first.
    pub(crate) chain: Vec<RunKey>,
}

/// The run below this one that waits for a person, where nothing else is under way in any run on the way to it.
pub(crate) fn asking(follower: &Follower) -> Result<Option<Asking>, Failure> {
    let prefix = Some(format!("{}.", follower.head.name));
    let phases = vec![Phase::Waiting, Phase::Paused];
    // Most runs have started none: then one question to the store is all that it takes.
    if follower.engine.list(&Filter { prefix, phases, at_most: 1, ..Filter::default() })?.is_empty() {
        return Ok(None);
    }
    below(&follower.engine, &follower.live, DEPTH_MAX)
}

fn below(engine: &Arc<dyn Engine>, live: &Live, depth: usize) -> Result<Option<Asking>, Failure> {
    if live.phase(registry()) != Phase::Active || depth == 0 {
        return Ok(None);
    }
    let mut found = None;
    for (id, begun) in &live.activities {
        let is_child = live.loaded.chart().invoke(begun.invoke).activity == "run.start";
        let head = if is_child { engine.find(&format!("{}.{id}", live.name))? } else { None };
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
    let opened = engine.open(head.key)?;
    let loaded = Arc::new(Loaded::new(engine.definition(&head.definition)?)?);
    let live = Live::load(&opened, loaded, Lease { epoch: 0 }, engine.evidence())?;
    let follower = Follower { engine: Arc::clone(engine), head, live };
    match follower.standing() {
        Standing::Person | Standing::Paused => Ok(Some(Asking { follower, chain: Vec::new() })),
        Standing::Moving => below(engine, &follower.live, depth - 1),
        Standing::Timer(_) | Standing::Over => Ok(None),
    }
}
