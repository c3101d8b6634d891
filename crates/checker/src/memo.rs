//! Steps that have been tried before.
//!
//! What a step does depends on the control of a configuration, on the input, and on the answers it gets: the counters and facts it looks
//! at, and the choices made where a question is open. Most configurations differ in data that a given step never looks at. So the
//! answers of every step that was tried are kept as a tree, one for each control and input; in another configuration the tree is walked,
//! and the engine is asked only where it has no answer yet. A leaf says what the step does to any configuration that comes to it.

use smallvec::SmallVec;

use crate::{
    facts::Answer,
    layout::{Field, Layout},
};

/// A place in a tree.
pub(crate) type At = u32;

/// What a step does next.
#[derive(Debug)]
pub(crate) enum Branch {
    /// Not tried yet.
    Unknown,
    /// It looks at a number.
    Reads { field: Field, values: SmallVec<[(u32, At); 2]> },
    /// It looks whether a number is below a bound: no, yes.
    Compares { field: Field, bound: u32, ways: [At; 2] },
    /// It goes any of these ways.
    Chooses(SmallVec<[At; 2]>),
    /// It ends.
    Ends(u32),
}

/// What a step does to every configuration in which it gets the same answers.
#[derive(Debug)]
pub(crate) struct Leaf {
    pub(crate) control: u32,
    /// Numbers that become this.
    pub(crate) sets: SmallVec<[(Field, u32); 4]>,
    /// Numbers that grow by this.
    pub(crate) adds: SmallVec<[(Field, u32); 2]>,
    pub(crate) meaning: u32,
    /// Whether no transition had to do with it.
    pub(crate) is_still: bool,
    pub(crate) rounds: u64,
}

impl Leaf {
    /// Makes of a packed configuration the one after the step.
    pub(crate) fn apply(&self, packed: &mut [u64]) {
        packed[0] = u64::from(self.control);
        self.sets.iter().for_each(|(field, value)| field.set(packed, *value));
        self.adds.iter().for_each(|(field, more)| field.set(packed, field.get(packed).wrapping_add(*more)));
    }
}

/// All trees.
#[derive(Debug, Default)]
pub(crate) struct Memo {
    branches: Vec<Branch>,
    leaves: Vec<Leaf>,
}

impl Memo {
    /// A tree of which nothing is known.
    pub(crate) fn tree(&mut self) -> At {
        self.branches.push(Branch::Unknown);
        (self.branches.len() - 1) as At
    }

    pub(crate) fn branch(&self, at: At) -> &Branch {
        &self.branches[at as usize]
    }

    pub(crate) fn leaf(&self, number: u32) -> &Leaf {
        &self.leaves[number as usize]
    }

    /// Where a step goes on that has looked at this number; made where it is new.
    pub(crate) fn value(&mut self, at: At, value: u32) -> At {
        if let Branch::Reads { values, .. } = &self.branches[at as usize]
            && let Some((_, next)) = values.iter().find(|(known, _)| *known == value)
        {
            return *next;
        }
        let next = self.tree();
        if let Branch::Reads { values, .. } = &mut self.branches[at as usize] {
            values.push((value, next));
        }
        next
    }

    /// Keeps a step: its answers from the root of its tree on, and what it does.
    pub(crate) fn keep(&mut self, root: At, layout: &Layout, answers: &[Answer], leaf: Leaf) {
        let mut at = root;
        for answer in answers {
            at = match *answer {
                Answer::Choice { options, chosen } => self.choice(at, options, chosen),
                // Only what is packed is looked at as it was before the step.
                Answer::Mask { slot, mask } => layout.slot(slot).map_or(at, |field| self.read(at, field, mask)),
                Answer::Count { counter, count } => {
                    layout.counter(counter).map_or(at, |field| self.read(at, field, count))
                }
                Answer::Below { counter, bound, is_below } => {
                    layout.counter(counter).map_or(at, |field| self.compare(at, field, bound, is_below))
                }
            };
        }
        self.leaves.push(leaf);
        self.branches[at as usize] = Branch::Ends((self.leaves.len() - 1) as u32);
    }

    fn is_unknown(&self, at: At) -> bool {
        matches!(self.branches[at as usize], Branch::Unknown)
    }

    fn read(&mut self, at: At, field: Field, value: u32) -> At {
        if self.is_unknown(at) {
            self.branches[at as usize] = Branch::Reads { field, values: SmallVec::new() };
        }
        self.value(at, value)
    }

    fn compare(&mut self, at: At, field: Field, bound: u32, is_below: bool) -> At {
        if self.is_unknown(at) {
            let ways = [self.tree(), self.tree()];
            self.branches[at as usize] = Branch::Compares { field, bound, ways };
        }
        match &self.branches[at as usize] {
            Branch::Compares { ways, .. } => ways[usize::from(is_below)],
            _ => at,
        }
    }

    fn choice(&mut self, at: At, options: u8, chosen: u8) -> At {
        if self.is_unknown(at) {
            let ways = (0..options).map(|_| self.tree()).collect();
            self.branches[at as usize] = Branch::Chooses(ways);
        }
        match &self.branches[at as usize] {
            Branch::Chooses(ways) => ways.get(usize::from(chosen)).copied().unwrap_or(at),
            _ => at,
        }
    }
}
