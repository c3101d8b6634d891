//! A set of states as bits, iterated in document order.

use interlock_chart::model::StateId;
use smallvec::SmallVec;

const BITS: usize = u64::BITS as usize;

/// A set of states. Two sets are equal if they have the same members and were made for the same number of states.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct StateSet {
    words: SmallVec<[u64; 2]>,
}

impl StateSet {
    /// An empty set with room for `states` states.
    pub fn new(states: usize) -> Self {
        StateSet { words: SmallVec::from_elem(0, states.div_ceil(BITS).max(1)) }
    }

    /// Adds a state to the set.
    #[inline]
    pub fn insert(&mut self, state: StateId) {
        self.words[state.index() / BITS] |= 1 << (state.index() % BITS);
    }

    /// Removes a state from the set.
    #[inline]
    pub fn remove(&mut self, state: StateId) {
        self.words[state.index() / BITS] &= !(1 << (state.index() % BITS));
    }

    /// Returns true if the state is in the set.
    #[inline]
    pub fn contains(&self, state: StateId) -> bool {
        self.words[state.index() / BITS] & (1 << (state.index() % BITS)) != 0
    }

    /// Removes all members from the set.
    #[inline]
    pub fn clear(&mut self) {
        self.words.fill(0);
    }

    /// Returns true if the set has no members.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.words.iter().all(|&word| word == 0)
    }

    /// The number of states in the set.
    pub fn len(&self) -> usize {
        self.words.iter().map(|word| word.count_ones() as usize).sum()
    }

    /// Returns true if the two sets have a member in common.
    #[inline]
    pub fn intersects(&self, other: &StateSet) -> bool {
        self.words.iter().zip(&other.words).any(|(a, b)| a & b != 0)
    }

    /// Adds all members of `other`.
    #[inline]
    pub fn union_with(&mut self, other: &StateSet) {
        self.words.iter_mut().zip(&other.words).for_each(|(a, b)| *a |= b);
    }

    /// Keeps only the members of `other`.
    #[inline]
    pub fn intersect_with(&mut self, other: &StateSet) {
        self.words.iter_mut().zip(&other.words).for_each(|(a, b)| *a &= b);
    }

    /// Becomes a copy of `other` and reuses its own memory.
    #[inline]
    pub fn copy_from(&mut self, other: &StateSet) {
        self.words.clone_from(&other.words);
    }

    /// The members in document order.
    #[inline]
    pub fn iter(&self) -> impl Iterator<Item = StateId> + '_ {
        self.words.iter().enumerate().flat_map(|(at, &word)| Ones(word).map(move |bit| StateId::at(at * BITS + bit)))
    }

    /// The members that are also in `other`, in document order.
    #[inline]
    pub fn iter_and<'a>(&'a self, other: &'a StateSet) -> impl Iterator<Item = StateId> + 'a {
        (self.words.iter().zip(&other.words).enumerate())
            .flat_map(|(at, (&a, &b))| Ones(a & b).map(move |bit| StateId::at(at * BITS + bit)))
    }

    /// The members in reverse document order.
    #[inline]
    pub fn iter_back(&self) -> impl Iterator<Item = StateId> + '_ {
        (self.words.iter().enumerate().rev())
            .flat_map(|(at, &word)| OnesBack(word).map(move |bit| StateId::at(at * BITS + bit)))
    }

    /// The bits, lowest state first; the checker packs them.
    pub fn words(&self) -> &[u64] {
        &self.words
    }

    /// The bits, for a caller that unpacks a set into them.
    pub fn words_mut(&mut self) -> &mut [u64] {
        &mut self.words
    }
}

struct Ones(u64);

impl Iterator for Ones {
    type Item = usize;

    #[inline]
    fn next(&mut self) -> Option<usize> {
        (self.0 != 0).then(|| {
            let bit = self.0.trailing_zeros() as usize;
            self.0 &= self.0 - 1;
            bit
        })
    }
}

struct OnesBack(u64);

impl Iterator for OnesBack {
    type Item = usize;

    #[inline]
    fn next(&mut self) -> Option<usize> {
        (self.0 != 0).then(|| {
            let bit = BITS - 1 - self.0.leading_zeros() as usize;
            self.0 &= !(1 << bit);
            bit
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn members_come_in_document_order_across_words() {
        let mut set = StateSet::new(200);
        for at in [130, 3, 64, 63, 199] {
            set.insert(StateId(at));
        }
        let forward: Vec<u16> = set.iter().map(|state| state.0).collect();
        let mut back: Vec<u16> = set.iter_back().map(|state| state.0).collect();
        back.reverse();
        assert_eq!(forward, [3, 63, 64, 130, 199]);
        assert_eq!(back, forward);
        set.remove(StateId(64));
        assert!(!set.contains(StateId(64)) && set.len() == 4);
    }
}
