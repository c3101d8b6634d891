//! Names of runs: short enough to type, and unlikely to meet twice. Ids of events: never meant to be typed.

use std::hash::{BuildHasher, RandomState};

/// Digits and letters that nobody mistakes for one another.
const LETTERS: &[u8; 32] = b"0123456789abcdefghjkmnpqrstvwxyz";

/// Letters of a name that are random.
const NAME_LETTERS: usize = 7;

/// Letters of an id: 120 random bits.
const ID_LETTERS: usize = 24;

/// A fresh name for a run of a machine: `firmware-7k3f9q`.
pub fn fresh_name(machine: &str) -> String {
    format!("{machine}-{}", letters(NAME_LETTERS))
}

/// A fresh id for something that is sent to a run.
pub fn fresh_id() -> String {
    letters(ID_LETTERS)
}

fn letters(count: usize) -> String {
    /// Letters that the 64 bits of one hash give.
    const LETTERS_PER_HASH: usize = 12;
    let mut letters = String::new();
    while letters.len() < count {
        // The keys of the standard library's hash tables are random: chance without another dependency.
        let mut chance = RandomState::new().hash_one(letters.len());
        for _ in 0..LETTERS_PER_HASH.min(count - letters.len()) {
            letters.push(char::from(LETTERS[(chance % 32) as usize]));
            chance /= 32;
        }
    }
    letters
}
