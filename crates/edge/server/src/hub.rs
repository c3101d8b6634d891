//! Events for browsers: turns the store's change feed into notices that any number of readers follow.
//!
//! One task reads the feed. Records of this process are noticed at once, because the runtime announces them; records of
//! other processes within one interval. A reader that was away continues after the last number that it has seen: from
//! memory if that is recent, otherwise from the store.

use std::{
    collections::{BTreeMap, HashMap, VecDeque},
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use interlock_activity::Registry;
use interlock_follow::{Follower, Source};
use interlock_journal::{Change, Engine, Head, Phase, RunKey, moment};
use interlock_runtime::{Live, News, Runtime};
use serde::Serialize;
use tokio::sync::{broadcast, watch};

use crate::{history::Histories, problem::Result};

/// The interval at which the feed is read if nothing is announced.
const LOOK_EVERY: Duration = Duration::from_millis(50);

/// The number of notices that are kept in memory.
const KEPT: usize = 4_096;

/// The number of changes that are read at a time.
const CHUNK: usize = 500;

/// The number of progress texts that are kept for slow readers.
const PROGRESS_KEPT: usize = 256;

/// The most runs whose last noticed state is kept.
const RUNS_MAX: usize = 64;

/// A record that was added to the store, with the run as it was after it.
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

/// The store whose records become notices.
struct Feed {
    engine: Arc<dyn Engine>,
    registry: &'static Registry,
}

impl Source for Feed {
    fn engine(&self) -> Arc<dyn Engine> {
        Arc::clone(&self.engine)
    }

    fn registry(&self) -> &'static Registry {
        self.registry
    }
}

/// The notices of a store.
pub(crate) struct Hub {
    feed: Feed,
    histories: Histories,
    /// The runs that were noticed last, after their last noticed record, most recent last.
    noticed: Mutex<Vec<(RunKey, Live)>>,
    recent: Mutex<VecDeque<Arc<Notice>>>,
    last: watch::Sender<u64>,
    progress: broadcast::Sender<Arc<Progress>>,
    /// The latest progress of each run, until the run has a new record.
    doing: Mutex<HashMap<String, Arc<Progress>>>,
}

impl Hub {
    /// Follows a store from now on.
    pub(crate) fn new(engine: Arc<dyn Engine>, registry: &'static Registry) -> Result<Self> {
        Ok(Hub {
            last: watch::Sender::new(engine.last_change()?),
            feed: Feed { engine, registry },
            histories: Histories::default(),
            noticed: Mutex::default(),
            recent: Mutex::default(),
            progress: broadcast::Sender::new(PROGRESS_KEPT),
            doing: Mutex::default(),
        })
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
        let changes = self.feed.engine.changes(since, CHUNK)?;
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

    /// Returns a notice for each change, with the state of the run after that very record.
    fn notices(&self, changes: &[Change]) -> Result<Vec<Arc<Notice>>> {
        let mut by_run: BTreeMap<RunKey, Vec<Change>> = BTreeMap::new();
        changes.iter().for_each(|change| by_run.entry(change.run).or_default().push(*change));
        let mut notices = Vec::with_capacity(changes.len());
        for (run, changes) in by_run {
            let head = self.feed.engine.head(run)?;
            match &changes[..] {
                // The usual case needs no replay: the run's only new record is its last one.
                [change] if change.seq == head.seq => notices.push(Notice::of(change, &head)),
                changes => notices.extend(self.replayed(changes, &head)),
            }
        }
        notices.sort_by_key(|notice| notice.number);
        Ok(notices.into_iter().map(Arc::new).collect())
    }

    /// Replays a run up to each of these changes, which are in order. A run that cannot be replayed is told about with
    /// its present state, because readers must not miss a record.
    fn replayed(&self, changes: &[Change], head: &Head) -> Vec<Notice> {
        let mut follower = changes.first().and_then(|first| self.before(head, first.seq));
        let mut notices = Vec::with_capacity(changes.len());
        for change in changes {
            let is_there = follower.as_mut().is_some_and(|follower| {
                let missing = usize::try_from(change.seq.saturating_sub(follower.live.seq)).unwrap_or(usize::MAX);
                follower.read(missing).is_ok() && follower.live.seq == change.seq
            });
            match follower.as_ref().filter(|_| is_there) {
                Some(follower) => notices.push(Notice::of(change, &seen(head, follower))),
                None => notices.push(Notice::of(change, head)),
            }
        }
        if let Some(follower) = follower {
            self.keep(follower.live);
        }
        notices
    }

    /// Returns a run as it was before a record, from the nearest state that is known.
    fn before(&self, head: &Head, seq: u64) -> Option<Follower> {
        let noticed = {
            let noticed = self.noticed.lock().unwrap_or_else(PoisonError::into_inner);
            noticed.iter().find(|(run, live)| *run == head.key && live.seq < seq).map(|(_, live)| live.clone())
        };
        if let Some(live) = noticed {
            let mut follower = Follower::from_start(&self.feed, head.clone()).ok()?;
            follower.live = live;
            return Some(follower);
        }
        let stored = Follower::before(&self.feed, head.clone(), seq).ok().filter(|follower| follower.live.seq > 0);
        stored.or_else(|| self.histories.before(&self.feed, head, seq).ok())
    }

    fn keep(&self, live: Live) {
        let mut noticed = self.noticed.lock().unwrap_or_else(PoisonError::into_inner);
        noticed.retain(|(run, _)| *run != live.key);
        if noticed.len() >= RUNS_MAX {
            noticed.remove(0);
        }
        noticed.push((live.key, live));
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
        let mut changes = self.feed.engine.changes(number, CHUNK)?;
        // Records that the task has not announced yet are sent when it does.
        changes.retain(|change| change.number <= last);
        self.notices(&changes)
    }
}

/// Returns the head of a run as it was when its last record was the one that was read last.
fn seen(head: &Head, follower: &Follower) -> Head {
    let live = &follower.live;
    Head {
        phase: follower.phase(),
        place: live.place(),
        updated_ms: live.at_ms,
        due_ms: live.due(i64::MAX).map(|(_, due_ms)| due_ms),
        ..head.clone()
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
