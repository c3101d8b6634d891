//! What outlives a process in a simulation: what was really done, and the time.

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

/// What a simulation's choices follow from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Seed(pub u64);

impl Seed {
    /// A number below `below` that follows from the seed and from what is being decided.
    pub(crate) fn choose(self, what: u64, below: usize) -> usize {
        // Splitmix64: well mixed, and the same everywhere.
        let mut mixed = self.0 ^ what.wrapping_mul(0x9E37_79B9_7F4A_7C15);
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        ((mixed ^ (mixed >> 31)) % below.max(1) as u64) as usize
    }
}

/// What was really done for one start of an activity.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Done {
    /// Which activity.
    pub activity: String,
    /// Whether doing it twice would matter.
    pub writes: bool,
    /// How often it was done.
    pub times: usize,
}

#[derive(Debug, Default)]
pub(crate) struct World {
    pub(crate) done: Mutex<BTreeMap<ActivityId, Done>>,
    /// Moments at which a process can die, counted as they pass.
    moments: AtomicUsize,
    /// The moment at which one does.
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

    /// Passes a moment at which a process can die; whether it does. It dies once.
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

/// Time that passes only when everybody waits, and goes on in the next process where the last one left it.
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
