//! Remembers steps that have been tried before.
//!
//! The result of a step depends on the control of a configuration, on the input, and on the answers that the step gets:
//! the counters and facts it reads, and the choices made for open questions. Most configurations differ in data that a
//! given step never reads. So the answers of every tried step are kept as a tree, one per control and input. In another
//! configuration the tree is walked, and the engine is asked only if the tree has no answer yet. A leaf states the
//! effect of the step on any configuration that reaches it.

use smallvec::SmallVec;

use crate::{
    facts::StepAnswer,
    layout::{Field, Layout},
};

/// A position in a tree.
pub(crate) type At = u32;

/// The next action of a step.
#[derive(Debug)]
pub(crate) enum Branch {
    /// The step was not tried yet.
    Unknown,
    /// It reads a number.
    Reads { field: Field, values: SmallVec<[(u32, At); 2]> },
    /// It compares a number with a bound; the two branches are for no and yes.
    Compares { field: Field, bound: u32, ways: [At; 2] },
    /// It takes any of these branches.
    Chooses(SmallVec<[At; 2]>),
    /// It ends with this leaf.
    Ends(u32),
}

/// The effect of a step on every configuration in which it gets the same answers.
#[derive(Debug)]
pub(crate) struct Leaf {
    pub(crate) control: u32,
    /// Fields that are set to a value.
    pub(crate) sets: SmallVec<[(Field, u32); 4]>,
    /// Fields that grow by an amount.
    pub(crate) adds: SmallVec<[(Field, u32); 2]>,
    pub(crate) meaning: u32,
    /// True if the step involved no transition.
    pub(crate) is_still: bool,
    pub(crate) rounds: u64,
}

impl Leaf {
    /// Turns a packed configuration into the one after the step.
    pub(crate) fn apply(&self, packed: &mut [u64]) {
        packed[0] = u64::from(self.control);
        self.sets.iter().for_each(|(field, value)| field.set(packed, *value));
        self.adds.iter().for_each(|(field, more)| field.set(packed, field.get(packed).wrapping_add(*more)));
    }
}

/// All trees with their leaves.
#[derive(Debug, Default)]
pub(crate) struct Memo {
    branches: Vec<Branch>,
    leaves: Vec<Leaf>,
}

impl Memo {
    /// Adds an empty tree.
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

    /// Returns the branch for this value of a number that was read, and adds it if it is new.
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

    /// Stores a step: its answers from the root of its tree on, and its effect.
    pub(crate) fn keep(&mut self, root: At, layout: &Layout, answers: &[StepAnswer], leaf: Leaf) {
        let mut at = root;
        for answer in answers {
            at = match *answer {
                StepAnswer::Choice { options, chosen } => self.choice(at, options, chosen),
                // Data that is not packed is the same before every step, so its answers are skipped.
                StepAnswer::Mask { slot, mask } => layout.slot(slot).map_or(at, |field| self.read(at, field, mask)),
                StepAnswer::Count { counter, count } => {
                    layout.counter(counter).map_or(at, |field| self.read(at, field, count))
                }
                StepAnswer::Below { counter, bound, is_below } => {
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
