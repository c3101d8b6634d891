//! The time for which a busy computer kept QEMU waiting for a processor. A firmware is judged by the time that it had,
//! not by the time that passed: under load, a slow emulator is no bug.

use std::{
    fs,
    path::PathBuf,
    time::{Duration, Instant},
};

/// The interval between two readings.
const EVERY: Duration = Duration::from_millis(500);

/// The time that is allowed for in any case, as a multiple of a time limit: nothing waits for ever.
pub(super) const ALLOWED_TIMES: u32 = 4;

/// The waiting time of one QEMU.
pub(super) struct Starved {
    /// The directory of QEMU's threads, if its process is known.
    threads: Option<PathBuf>,
    /// The waiting time at each reading.
    readings: Vec<(Instant, Duration)>,
}

impl Starved {
    /// Watches a process.
    pub(super) fn new(process: Option<i32>) -> Self {
        let threads = process.map(|process| PathBuf::from(format!("/proc/{process}/task")));
        Starved { threads, readings: vec![(Instant::now(), Duration::ZERO)] }
    }

    /// Reads the waiting time, now and then.
    pub(super) fn look(&mut self) {
        if self.readings.last().is_none_or(|(at, _)| at.elapsed() >= EVERY) {
            self.read();
        }
    }

    /// Reads the waiting time. What decides about a firmware must not rest on an old reading.
    pub(super) fn read(&mut self) {
        let most = self.readings.last().map_or(Duration::ZERO, |(_, waited)| *waited);
        let waited = self.waited().unwrap_or_default().max(most);
        self.readings.push((Instant::now(), waited));
    }

    /// Returns the waiting time since a moment.
    pub(super) fn since(&self, moment: Instant) -> Duration {
        let now = self.readings.last().map_or(Duration::ZERO, |(_, waited)| *waited);
        let then =
            self.readings.iter().rev().find(|(at, _)| *at <= moment).map_or(Duration::ZERO, |(_, waited)| *waited);
        now.saturating_sub(then)
    }

    /// Returns the longest time that one of QEMU's threads was ready to run and did not.
    fn waited(&self) -> Option<Duration> {
        let threads = fs::read_dir(self.threads.as_ref()?).ok()?;
        let waits =
            threads.flatten().filter_map(|thread| delay(&fs::read_to_string(thread.path().join("schedstat")).ok()?));
        waits.max()
    }
}

/// Reads the second figure of `schedstat`: the nanoseconds in which a thread was ready to run and waited.
fn delay(text: &str) -> Option<Duration> {
    text.split_ascii_whitespace().nth(1)?.parse().ok().map(Duration::from_nanos)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waiting_time_counts_since_a_moment() {
        let mut starved = Starved::new(None);
        let (first, later) = (Instant::now(), Instant::now() + Duration::from_secs(2));
        starved.readings = vec![(first, Duration::ZERO), (later, Duration::from_secs(1))];
        assert_eq!(starved.since(first), Duration::from_secs(1));
        assert_eq!(starved.since(later), Duration::ZERO);
        assert_eq!(delay("335924 1257877 2\n"), Some(Duration::from_nanos(1_257_877)));
        assert_eq!(delay("x"), None);
    }
}
