//! Events for browsers: turns the store's change feed into notices that any number of readers follow.
//!
//! One task reads the feed. Records of this process are noticed at once, because the runtime announces them; records of
//! other processes within one interval. A reader that was away continues after the last number that it has seen: from
//! memory if that is recent, otherwise from the store.

use std::{
    collections::{HashMap, VecDeque},
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use interlock_journal::{Change, Engine, Head, Phase, moment};
use interlock_runtime::{News, Runtime};
use serde::Serialize;
use tokio::sync::{broadcast, watch};

use crate::problem::Result;

/// The interval at which the feed is read if nothing is announced.
const LOOK_EVERY: Duration = Duration::from_millis(50);

/// The number of notices that are kept in memory.
const KEPT: usize = 4_096;

/// The number of changes that are read at a time.
const CHUNK: usize = 500;

/// The number of progress texts that are kept for slow readers.
const PROGRESS_KEPT: usize = 256;

/// A record that was added to the store, with the run as it is now.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Notice {
    /// The number of the record among those of all runs.
    pub(crate) number: u64,
    pub(crate) run: String,
    pub(crate) machine: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) parent: Option<String>,
    /// The number of the record in its run.
    pub(crate) seq: u64,
    pub(crate) phase: Phase,
    pub(crate) place: String,
    pub(crate) updated: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) due: Option<String>,
}

/// The progress of a running activity. It is not stored.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Progress {
    pub(crate) run: String,
    pub(crate) activity: String,
    pub(crate) text: String,
}

/// The notices of a store.
pub(crate) struct Hub {
    engine: Arc<dyn Engine>,
    recent: Mutex<VecDeque<Arc<Notice>>>,
    last: watch::Sender<u64>,
    progress: broadcast::Sender<Arc<Progress>>,
    /// The latest progress of each run, until the run has a new record.
    doing: Mutex<HashMap<String, Arc<Progress>>>,
}

impl Hub {
    /// Follows a store from now on.
    pub(crate) fn new(engine: Arc<dyn Engine>) -> Result<Self> {
        let last = watch::Sender::new(engine.last_change()?);
        let progress = broadcast::Sender::new(PROGRESS_KEPT);
        Ok(Hub { engine, recent: Mutex::default(), last, progress, doing: Mutex::default() })
    }

    /// Returns a receiver that changes whenever there are new notices.
    pub(crate) fn watch(&self) -> watch::Receiver<u64> {
        self.last.subscribe()
    }

    /// Returns a receiver of progress texts.
    pub(crate) fn progress(&self) -> broadcast::Receiver<Arc<Progress>> {
        self.progress.subscribe()
    }

    /// Reads the feed forever.
    pub(crate) async fn work(&self, runtime: &Runtime) {
        let mut news = runtime.news();
        loop {
            // An error of the store, such as a lock, is tried again in the next interval.
            let is_full = self.look().unwrap_or(false);
            if is_full {
                continue;
            }
            tokio::select! {
                heard = news.recv() => self.hear(heard.ok()),
                () = tokio::time::sleep(LOOK_EVERY) => {}
            }
        }
    }

    fn hear(&self, news: Option<News>) {
        if let Some(News::Progress { run, activity, text }) = news {
            let (run, activity, text) = (run.to_string(), activity.to_string(), text.to_string());
            let progress = Arc::new(Progress { run, activity, text });
            self.doing().insert(progress.run.clone(), Arc::clone(&progress));
            // Without readers there is nothing to do.
            let _ = self.progress.send(progress);
        }
    }

    fn doing(&self) -> std::sync::MutexGuard<'_, HashMap<String, Arc<Progress>>> {
        self.doing.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the latest progress of a run's activity.
    pub(crate) fn latest(&self, run: &str) -> Option<Arc<Progress>> {
        self.doing().get(run).cloned()
    }

    /// Reads the changes since the last call. Returns true if there may be more.
    fn look(&self) -> Result<bool> {
        let since = *self.last.borrow();
        let changes = self.engine.changes(since, CHUNK)?;
        let Some(last) = changes.last().map(|change| change.number) else { return Ok(false) };
        let notices = self.notices(&changes)?;
        notices.iter().for_each(|notice| drop(self.doing().remove(&notice.run)));
        let mut recent = self.recent.lock().unwrap_or_else(PoisonError::into_inner);
        recent.extend(notices);
        let extra = recent.len().saturating_sub(KEPT);
        recent.drain(..extra);
        drop(recent);
        self.last.send_replace(last);
        Ok(changes.len() == CHUNK)
    }

    fn notices(&self, changes: &[Change]) -> Result<Vec<Arc<Notice>>> {
        let mut known: Option<Head> = None;
        let mut notices = Vec::with_capacity(changes.len());
        for change in changes {
            if known.as_ref().is_none_or(|head| head.key != change.run) {
                known = Some(self.engine.head(change.run)?);
            }
            notices.extend(known.iter().map(|head| Arc::new(Notice::of(change, head))));
        }
        Ok(notices)
    }

    /// Returns the notices after a number, oldest first, at most [`CHUNK`] of them.
    pub(crate) fn since(&self, number: u64) -> Result<Vec<Arc<Notice>>> {
        let recent = self.recent.lock().unwrap_or_else(PoisonError::into_inner);
        if recent.front().is_some_and(|first| first.number <= number + 1) {
            let from = recent.partition_point(|notice| notice.number <= number);
            return Ok(recent.iter().skip(from).take(CHUNK).cloned().collect());
        }
        drop(recent);
        let last = *self.last.borrow();
        let mut changes = self.engine.changes(number, CHUNK)?;
        // Records that the task has not announced yet are sent when it does.
        changes.retain(|change| change.number <= last);
        self.notices(&changes)
    }
}

impl Notice {
    fn of(change: &Change, head: &Head) -> Self {
        Notice {
            number: change.number,
            run: head.name.clone(),
            machine: head.machine.clone(),
            parent: head.parent.clone(),
            seq: change.seq,
            phase: head.phase,
            place: head.place.clone(),
            updated: moment::rfc3339(head.updated_ms),
            due: head.due_ms.map(moment::rfc3339),
        }
    }
}
