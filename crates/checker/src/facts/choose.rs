//! The answers of one step: what it looked at, and what it was told where a question was open.
//!
//! A step is determined by the answers it gets, so the list of them says for which other configurations it would go the same way
//! (`memo.rs`). Open questions are answered from a script and, beyond its end, with the first possibility.

use smallvec::SmallVec;

/// Something a step asked for, and the answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Answer {
    /// An open question with so many possibilities.
    Choice { options: u8, chosen: u8 },
    /// The regions of a slot before the step.
    Mask { slot: usize, mask: u32 },
    /// A counter before the step.
    Count { counter: usize, count: u32 },
    /// Whether a counter before the step was below a bound.
    Below { counter: usize, bound: u32, is_below: bool },
}

/// The choices to be made in a step, and everything it was answered.
#[derive(Clone, Debug, Default)]
pub(crate) struct Script {
    given: SmallVec<[u8; 16]>,
    at: usize,
    pub(crate) answers: Vec<Answer>,
}

impl Script {
    /// Begins a step in which open questions are answered like this.
    pub(crate) fn begin(&mut self, given: impl Iterator<Item = u8>) {
        self.given.clear();
        self.given.extend(given);
        self.at = 0;
        self.answers.clear();
    }

    /// One of `options` possibilities.
    pub(crate) fn choose(&mut self, options: u8) -> u8 {
        if options <= 1 {
            return 0;
        }
        let chosen = self.given.get(self.at).copied().unwrap_or(0);
        self.at += 1;
        self.answers.push(Answer::Choice { options, chosen });
        chosen
    }

    /// Remembers what was looked at.
    pub(crate) fn note(&mut self, answer: Answer) {
        self.answers.push(answer);
    }
}
