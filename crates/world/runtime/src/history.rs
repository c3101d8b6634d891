//! The newest transitions of runs, for activities that report them to a server.
//!
//! They are read from the journal. Each history is kept with the run's state after the last record that was read, so a
//! record is folded once per process, however often an activity asks.

use std::{
    collections::{HashMap, VecDeque},
    sync::{Arc, Mutex},
};

use interlock_activity::PastMove;
use interlock_journal::{Engine, Head};

use crate::{Live, LoadedMachine, Move, Result, replay::CHUNK, runtime::lock};

/// The most transitions that are kept for a run.
const MOVES_MAX: usize = 256;

/// The histories of the runs whose activities have asked for one.
#[derive(Debug, Default)]
pub(crate) struct Histories(Mutex<HashMap<String, Arc<Mutex<History>>>>);

/// The transitions of a run up to the record that was read last.
#[derive(Debug)]
struct History {
    live: Live,
    moves: VecDeque<PastMove>,
}

impl Histories {
    /// Returns the newest transitions of a run, oldest first.
    pub(crate) fn newest(&self, engine: &dyn Engine, run: &str, at_most: usize) -> Result<Vec<PastMove>> {
        let Some(head) = engine.find(run)? else { return Ok(Vec::new()) };
        let known = lock(&self.0).get(run).cloned();
        let history = match known {
            Some(history) => history,
            None => {
                let made = Arc::new(Mutex::new(History::new(engine, &head)?));
                Arc::clone(lock(&self.0).entry(run.to_owned()).or_insert(made))
            }
        };
        let mut history = lock(&history);
        history.catch_up(engine, &head)?;
        let skipped = history.moves.len().saturating_sub(at_most);
        Ok(history.moves.iter().skip(skipped).cloned().collect())
    }

    /// Forgets a run that is over.
    pub(crate) fn forget(&self, run: &str) {
        lock(&self.0).remove(run);
    }
}

impl History {
    fn new(engine: &dyn Engine, head: &Head) -> Result<Self> {
        let loaded = LoadedMachine::shared(engine, &head.definition)?;
        let (name, parent) = (head.name.as_str().into(), head.parent.clone());
        let mut live = Live::new(name, loaded, Default::default(), parent, engine.evidence().clone());
        live.key = head.key;
        Ok(History { live, moves: VecDeque::new() })
    }

    /// Folds the records that were written since the last call.
    fn catch_up(&mut self, engine: &dyn Engine, head: &Head) -> Result<()> {
        while self.live.seq < head.seq {
            let records = engine.records(head.key, self.live.seq + 1, CHUNK)?;
            if records.is_empty() {
                break;
            }
            for record in &records {
                let (moves, _) = self.live.relive(record, &engine.entry(record)?);
                self.moves.extend(moves.into_iter().filter_map(past));
            }
            let skipped = self.moves.len().saturating_sub(MOVES_MAX);
            self.moves.drain(..skipped);
        }
        Ok(())
    }
}

/// Returns a move that entered a state; moves without a target stay in the journal only.
fn past(each: Move) -> Option<PastMove> {
    let Move { from_state: Some(from_state), event: Some(event), to_state: Some(to_state), at_ms, taken: true, .. } =
        each
    else {
        return None;
    };
    Some(PastMove { from_state, event, to_state, at_ms })
}
