//! A limit on the rate of requests: a bucket of permits that fills again over time.

use std::{
    collections::HashMap,
    sync::{Mutex, PoisonError},
    time::Instant,
};

/// The most callers that are remembered. Beyond that, callers with a full bucket are forgotten.
const CALLERS_MAX: usize = 1_000;

/// A limit for each caller.
#[derive(Debug)]
pub(crate) struct Rate {
    burst: f64,
    per_second: f64,
    callers: Mutex<HashMap<String, (f64, Instant)>>,
}

impl Rate {
    /// Allows this many requests at once, and this many per second after that.
    pub(crate) fn new(burst: u32, per_second: f64) -> Self {
        Rate { burst: f64::from(burst), per_second, callers: Mutex::default() }
    }

    /// Takes a permit for a request; false if the caller has none left.
    pub(crate) fn allows(&self, caller: &str) -> bool {
        self.allows_at(caller, Instant::now())
    }

    fn allows_at(&self, caller: &str, now: Instant) -> bool {
        let mut callers = self.callers.lock().unwrap_or_else(PoisonError::into_inner);
        if callers.len() >= CALLERS_MAX {
            callers.retain(|_, (left, since)| self.filled(*left, *since, now) < self.burst);
        }
        let (left, since) = callers.entry(caller.to_owned()).or_insert((self.burst, now));
        *left = self.filled(*left, *since, now);
        *since = now;
        let is_allowed = *left >= 1.0;
        if is_allowed {
            *left -= 1.0;
        }
        is_allowed
    }

    fn filled(&self, left: f64, since: Instant, now: Instant) -> f64 {
        (left + now.duration_since(since).as_secs_f64() * self.per_second).min(self.burst)
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn a_burst_is_allowed_and_then_the_rate() {
        let (rate, start) = (Rate::new(2, 1.0), Instant::now());
        let asked = |after_ms| rate.allows_at("a", start + Duration::from_millis(after_ms));
        assert_eq!(
            [asked(0), asked(0), asked(0), asked(500), asked(1_100), asked(1_200)],
            [true, true, false, false, true, false]
        );
        assert!(rate.allows_at("b", start), "each caller has its own limit");
    }
}
