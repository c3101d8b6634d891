//! The only module that reads the time.

use std::{
    sync::{
        LazyLock,
        atomic::{AtomicI64, Ordering},
    },
    time::{Instant, SystemTime, UNIX_EPOCH},
};

/// A source of the current time.
pub trait Clock: Send + Sync + 'static {
    /// Returns the time in milliseconds since 1970.
    fn now_ms(&self) -> i64;
}

/// The system's clock, made monotonic within a process: setting it back must not postpone a deadline. Setting it
/// forward takes effect, because time that the computer was suspended looks the same.
#[derive(Clone, Copy, Debug, Default)]
pub struct SystemClock;

impl Clock for SystemClock {
    fn now_ms(&self) -> i64 {
        static BEGUN: LazyLock<Instant> = LazyLock::new(Instant::now);
        static STEADY: Steady = Steady::new();
        let elapsed_ms = i64::try_from(BEGUN.elapsed().as_millis()).unwrap_or(i64::MAX);
        let wall = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        STEADY.now_ms(elapsed_ms, i64::try_from(wall.as_millis()).unwrap_or(i64::MAX))
    }
}

/// The largest difference seen between the wall clock and the monotonic clock.
#[derive(Debug)]
struct Steady(AtomicI64);

impl Steady {
    const fn new() -> Self {
        Steady(AtomicI64::new(i64::MIN))
    }

    /// Returns the monotonic clock shifted to the latest time that the wall clock has shown.
    fn now_ms(&self, elapsed_ms: i64, wall_ms: i64) -> i64 {
        let ahead_ms = wall_ms.saturating_sub(elapsed_ms);
        let most_ms = self.0.fetch_max(ahead_ms, Ordering::Relaxed).max(ahead_ms);
        most_ms.saturating_add(elapsed_ms)
    }
}

#[cfg(test)]
mod tests {
    use super::Steady;

    #[test]
    fn a_clock_set_back_goes_on_and_one_set_forward_is_believed() {
        let steady = Steady::new();
        assert_eq!(steady.now_ms(0, 1_000_000), 1_000_000);
        assert_eq!(steady.now_ms(5_000, 1_005_000), 1_005_000);
        assert_eq!(steady.now_ms(6_000, 400_000), 1_006_000, "set back by ten minutes");
        assert_eq!(steady.now_ms(7_000, 2_000_000), 2_000_000, "asleep, or set forward");
        assert_eq!(steady.now_ms(8_000, 1_008_000), 2_001_000);
    }
}
