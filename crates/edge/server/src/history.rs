//! Reads any part of a long run: its transitions from one record to another, and its state after any record.
//!
//! Transitions follow from the state before them, so reading record 90,000 means replaying the records before it. To do
//! that once only, the state after every [`STEP`] records is kept in memory for the runs that were read last.

use std::sync::{Arc, Mutex, PoisonError};

use interlock_follow::{Follower, Source, Step};
use interlock_journal::{Head, RunKey};
use interlock_runtime::Live;

use crate::problem::{Problem, Result};

/// The number of records between two states that are kept.
const STEP: u64 = 4_096;

/// The most runs whose states are kept.
const RUNS_MAX: usize = 8;

/// The states that are kept, most recently used last.
#[derive(Default)]
pub(crate) struct Histories(Mutex<Vec<(RunKey, Arc<Mutex<History>>)>>);

/// The states of a run after 0, [`STEP`], 2 × [`STEP`], … records.
#[derive(Default)]
struct History(Vec<Live>);

impl Histories {
    /// Returns the records from number `from` on, at most `at_most` of them, with the transitions that they caused.
    pub(crate) fn steps(&self, source: &impl Source, head: &Head, from: u64, at_most: usize) -> Result<Vec<Step>> {
        let mut follower = self.before(source, head, from)?;
        Ok(follower.read(at_most)?)
    }

    /// Returns the run as it was after a record, with the last record that was read.
    pub(crate) fn at(&self, source: &impl Source, head: &Head, seq: u64) -> Result<(Follower, Option<Step>)> {
        if seq == 0 || seq > head.seq {
            return Err(Problem::not_found(format!("{} has no record {seq}", head.name))
                .hint(format!("it has records 1 to {}", head.seq)));
        }
        let mut follower = self.before(source, head, seq)?;
        let last = follower.read(1)?.pop();
        Ok((follower, last))
    }

    /// Returns the run as it was before a record.
    pub(crate) fn before(&self, source: &impl Source, head: &Head, seq: u64) -> Result<Follower> {
        let history = self.history(head.key);
        let mut history = history.lock().unwrap_or_else(PoisonError::into_inner);
        let mut follower = history.nearest(source, head, seq.saturating_sub(1))?;
        while follower.live.seq + 1 < seq {
            let wanted = (seq - 1 - follower.live.seq).min(STEP - follower.live.seq % STEP);
            let read = follower.read(usize::try_from(wanted).unwrap_or(usize::MAX))?;
            if read.is_empty() {
                break;
            }
            history.keep(&follower.live);
        }
        Ok(follower)
    }

    fn history(&self, run: RunKey) -> Arc<Mutex<History>> {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let found = all.iter().position(|(key, _)| *key == run).map(|at| all.remove(at).1);
        let history = found.unwrap_or_default();
        if all.len() >= RUNS_MAX {
            all.remove(0);
        }
        all.push((run, Arc::clone(&history)));
        history
    }
}

impl History {
    /// Returns the run after the last record before `seq` for which its state is kept.
    fn nearest(&self, source: &impl Source, head: &Head, seq: u64) -> Result<Follower> {
        let mut follower = Follower::from_start(source, head.clone())?;
        if let Some(live) = self.0.iter().rev().find(|live| live.seq <= seq) {
            follower.live = live.clone();
        }
        Ok(follower)
    }

    fn keep(&mut self, live: &Live) {
        let is_next = self.0.last().map_or(STEP, |last| last.seq + STEP) == live.seq;
        if is_next {
            self.0.push(live.clone());
        }
    }
}
