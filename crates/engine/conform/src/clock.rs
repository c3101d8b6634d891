//! Virtual time: a clock that moves only on command, and the timers that are set on it.
//!
//! Timers that are due at the same moment fire in the order in which they were set.

use std::collections::BTreeSet;

use interlock_core::{Effect, TimerId};

/// A clock that moves only on command. It starts at 0.
#[derive(Clone, Debug, Default)]
pub struct Clock {
    now_ms: u64,
    /// Sorted by due time, then by id: ids grow, so this is the order in which they were set.
    timers: BTreeSet<(u64, TimerId)>,
}

impl Clock {
    /// The time since the start, in milliseconds.
    pub fn now_ms(&self) -> u64 {
        self.now_ms
    }

    /// Applies an effect on timers; ignores all other effects.
    pub fn apply<P>(&mut self, effect: &Effect<P>) {
        match effect {
            Effect::SetTimer { id, after_ms } => {
                self.timers.insert((self.now_ms.saturating_add(*after_ms), *id));
            }
            Effect::ClearTimer { id } => self.timers.retain(|(_, timer)| timer != id),
            Effect::StartActivity { .. } | Effect::CancelActivity { .. } | Effect::Finish { .. } => {}
        }
    }

    /// The due time of the next timer, if one is set.
    pub fn next_due_ms(&self) -> Option<u64> {
        self.timers.first().map(|(due, _)| *due)
    }

    /// Moves to the next timer that is due by `until_ms` and removes it; without one, moves to `until_ms`.
    pub fn next_by(&mut self, until_ms: u64) -> Option<TimerId> {
        match self.timers.first().copied() {
            Some((due, timer)) if due <= until_ms => {
                self.timers.pop_first();
                self.now_ms = self.now_ms.max(due);
                Some(timer)
            }
            _ => {
                self.now_ms = self.now_ms.max(until_ms);
                None
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn set(clock: &mut Clock, id: u64, after_ms: u64) {
        clock.apply::<()>(&Effect::SetTimer { id: TimerId(id), after_ms });
    }

    fn fired(clock: &mut Clock, until_ms: u64) -> Vec<u64> {
        std::iter::from_fn(|| clock.next_by(until_ms)).map(|timer| timer.0).collect()
    }

    #[test]
    fn timers_fire_by_time_and_then_in_the_order_of_setting() {
        let mut clock = Clock::default();
        set(&mut clock, 1, 20);
        set(&mut clock, 2, 10);
        set(&mut clock, 3, 20);
        assert_eq!(fired(&mut clock, 20), [2, 1, 3]);
        assert_eq!(clock.now_ms(), 20);
    }

    #[test]
    fn a_timer_that_is_not_due_stays_and_the_clock_advances() {
        let mut clock = Clock::default();
        set(&mut clock, 1, 20);
        assert_eq!(fired(&mut clock, 19), [0_u64; 0]);
        assert_eq!((clock.now_ms(), clock.next_due_ms()), (19, Some(20)));
        set(&mut clock, 2, 1);
        assert_eq!(fired(&mut clock, 20), [1, 2]);
    }

    #[test]
    fn a_cleared_timer_does_not_fire() {
        let mut clock = Clock::default();
        set(&mut clock, 1, 5);
        clock.apply::<()>(&Effect::ClearTimer { id: TimerId(1) });
        assert_eq!(fired(&mut clock, 100), [0_u64; 0]);
    }

    #[test]
    fn a_delay_beyond_the_largest_time_is_never_due() {
        let mut clock = Clock::default();
        assert_eq!(fired(&mut clock, 7), [0_u64; 0]);
        set(&mut clock, 1, u64::MAX);
        assert_eq!(clock.next_due_ms(), Some(u64::MAX));
    }
}
