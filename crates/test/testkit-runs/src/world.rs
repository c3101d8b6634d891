//! The state that outlives a process in a simulation: the executed activities and the time.

use std::{
    collections::BTreeMap,
    sync::{
        Mutex,
        atomic::{AtomicI64, AtomicUsize, Ordering},
    },
};

use interlock_core::ActivityId;
use interlock_runtime::Clock;
use tokio::sync::Notify;

/// The seed of all choices in a simulation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Seed(pub u64);

impl Seed {
    /// Returns a number below `below` that depends only on the seed and on `what`.
    pub(crate) fn choose(self, what: u64, below: usize) -> usize {
        // Splitmix64: well mixed, and the same on every computer.
        let mut mixed = self.0 ^ what.wrapping_mul(0x9E37_79B9_7F4A_7C15);
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        ((mixed ^ (mixed >> 31)) % below.max(1) as u64) as usize
    }
}

/// The executions of one started activity.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Done {
    /// The name of the activity.
    pub activity: String,
    /// True if a second execution would be an error.
    pub writes: bool,
    /// The number of executions.
    pub times: usize,
}

#[derive(Debug, Default)]
pub(crate) struct World {
    pub(crate) done: Mutex<BTreeMap<ActivityId, Done>>,
    /// The number of moments so far at which a process could have died.
    moments: AtomicUsize,
    /// The moment at which the process dies, until it has died.
    fatal: Mutex<Option<usize>>,
    pub(crate) died_at: Mutex<String>,
    pub(crate) death: Notify,
    now_ms: AtomicI64,
}

impl World {
    pub(crate) fn new(fatal: Option<usize>) -> Self {
        World { fatal: Mutex::new(fatal), now_ms: AtomicI64::new(1_000_000), ..World::default() }
    }

    pub(crate) fn moments(&self) -> usize {
        self.moments.load(Ordering::Relaxed)
    }

    /// Counts a moment at which the process can die. Returns true if it dies now, which happens at most once.
    pub(crate) fn dies(&self, what: impl FnOnce() -> String) -> bool {
        let moment = self.moments.fetch_add(1, Ordering::Relaxed);
        let mut fatal = self.fatal.lock().unwrap();
        if *fatal != Some(moment) {
            return false;
        }
        *fatal = None;
        *self.died_at.lock().unwrap() = what();
        self.death.notify_one();
        true
    }
}

/// A virtual clock. Time passes only when all tasks wait, and continues in the next process from the same value.
#[derive(Debug)]
pub(crate) struct VirtualClock {
    world: std::sync::Arc<World>,
    base_ms: i64,
    begun: tokio::time::Instant,
}

impl VirtualClock {
    pub(crate) fn new(world: std::sync::Arc<World>) -> Self {
        let base_ms = world.now_ms.load(Ordering::Relaxed);
        VirtualClock { world, base_ms, begun: tokio::time::Instant::now() }
    }
}

impl Clock for VirtualClock {
    fn now_ms(&self) -> i64 {
        let now = self.base_ms + i64::try_from(self.begun.elapsed().as_millis()).unwrap_or(0);
        self.world.now_ms.fetch_max(now, Ordering::Relaxed);
        now
    }
}
