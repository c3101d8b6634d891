//! The answers of one step: the data that it read, and the choices made for open questions.
//!
//! The answers determine a step, so their list tells for which other configurations the step would take the same path
//! (`memo.rs`). Open questions are answered from a script and, beyond its end, with the first option.

use smallvec::SmallVec;

/// A question that a step asked, with the answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum StepAnswer {
    /// An open question with this many options.
    Choice { options: u8, chosen: u8 },
    /// The regions of a slot before the step.
    Mask { slot: usize, mask: u32 },
    /// The value of a counter before the step.
    Count { counter: usize, count: u32 },
    /// The comparison of a counter before the step with a bound.
    Below { counter: usize, bound: u32, is_below: bool },
}

/// The choices to make in a step, and all answers that it got.
#[derive(Clone, Debug, Default)]
pub(crate) struct Script {
    given: SmallVec<[u8; 16]>,
    at: usize,
    pub(crate) answers: Vec<StepAnswer>,
}

impl Script {
    /// Begins a step in which open questions get these answers.
    pub(crate) fn begin(&mut self, given: impl Iterator<Item = u8>) {
        self.given.clear();
        self.given.extend(given);
        self.at = 0;
        self.answers.clear();
    }

    /// Chooses one of `options` possibilities.
    pub(crate) fn choose(&mut self, options: u8) -> u8 {
        if options <= 1 {
            return 0;
        }
        let chosen = self.given.get(self.at).copied().unwrap_or(0);
        self.at += 1;
        self.answers.push(StepAnswer::Choice { options, chosen });
        chosen
    }

    /// Records an answer that the step depends on.
    pub(crate) fn note(&mut self, answer: StepAnswer) {
        self.answers.push(answer);
    }
}
