//! Generates random machines and inputs.
//!
//! A machine is generated as the text of a file, so that a failing one can be read, saved and reduced by hand.
//! Everything depends on a seed: the same seed gives the same machine and the same inputs on every computer.

mod input;
mod write;

use std::sync::Arc;

pub use input::input;
use interlock_chart::yaml;
use interlock_core::Machine;
pub use write::Temper;

/// A small random number generator (splitmix64), good enough for tests and the same on every computer.
#[derive(Clone, Debug)]
pub struct Rng(u64);

impl Rng {
    /// Creates a generator with this seed.
    pub fn new(seed: u64) -> Self {
        Rng(seed)
    }

    /// Returns the next number.
    #[allow(clippy::should_implement_trait, reason = "it never ends, and one number is what is wanted")]
    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// Returns a number below `bound`.
    pub fn below(&mut self, bound: usize) -> usize {
        usize::try_from(self.next() % bound.max(1) as u64).unwrap_or(0)
    }

    /// Returns true with this probability in percent.
    pub fn percent(&mut self, chance: usize) -> bool {
        self.below(100) < chance
    }

    /// Returns a random item of the slice.
    pub fn pick<'a, T>(&mut self, from: &'a [T]) -> &'a T {
        &from[self.below(from.len())]
    }
}

/// Returns the text of a random machine file with nesting, parallel regions, history, guards, limits, actions, timeouts
/// and activities.
pub fn machine_text(seed: u64) -> String {
    write::machine(&mut Rng::new(seed), Temper::Wild)
}

/// Returns the text of a random machine of this temper.
pub fn text_of(temper: Temper, seed: u64) -> String {
    write::machine(&mut Rng::new(seed), temper)
}

/// Returns the machine of that text, or `None` if the reader rejects it: a random machine may have a transition that
/// can never be taken.
pub fn machine(seed: u64) -> Option<Machine> {
    yaml::read(&machine_text(seed)).chart.map(|chart| Machine::new(Arc::new(chart)))
}
