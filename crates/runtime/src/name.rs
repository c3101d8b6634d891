//! Names of runs: short enough to type, and unlikely to meet twice.

use std::hash::{BuildHasher, RandomState};

/// Digits and letters that nobody mistakes for one another.
const LETTERS: &[u8; 32] = b"0123456789abcdefghjkmnpqrstvwxyz";

/// A fresh name for a run of a machine: `firmware-7k3f9q`.
pub fn fresh_name(machine: &str) -> String {
    // The keys of the standard library's hash tables are random: chance without another dependency.
    let mut chance = RandomState::new().hash_one(machine);
    let tail: String = (0..7)
        .map(|_| {
            let letter = LETTERS[(chance % 32) as usize];
            chance /= 32;
            char::from(letter)
        })
        .collect();
    format!("{machine}-{tail}")
}
