//! Names of runs, short enough to type and unlikely to collide, and ids of events, which are never typed.

use std::hash::{BuildHasher, RandomState};

/// Digits and letters that are not easily confused with each other.
const LETTERS: &[u8; 32] = b"0123456789abcdefghjkmnpqrstvwxyz";

/// The number of random letters in a name.
const NAME_LETTERS: usize = 7;

/// The number of letters in an id: 120 random bits.
const ID_LETTERS: usize = 24;

/// Returns a new name for a run of a machine, for example `firmware-7k3f9q`.
pub fn fresh_name(machine: &str) -> String {
    format!("{machine}-{}", letters(NAME_LETTERS))
}

/// Returns a new id for an event that is sent to a run.
pub fn fresh_id() -> String {
    letters(ID_LETTERS)
}

fn letters(count: usize) -> String {
    /// The number of letters that the 64 bits of one hash provide.
    const LETTERS_PER_HASH: usize = 12;
    let mut letters = String::new();
    while letters.len() < count {
        // The keys of the standard library's hash tables are random, which gives random bits without another
        // dependency.
        let mut chance = RandomState::new().hash_one(letters.len());
        for _ in 0..LETTERS_PER_HASH.min(count - letters.len()) {
            letters.push(char::from(LETTERS[(chance % 32) as usize]));
            chance /= 32;
        }
    }
    letters
}
