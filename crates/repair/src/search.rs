//! One candidate after the other: what came of those that were tried moves the rest.
//!
//! Who drives it builds and runs; a search only ranks. Where a change of a line moves a failing case (it passes, or fails in another
//! way), the line has to do with it; where nothing moves, it has less.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use crate::candidates::{Candidate, Candidates, Offer};
use crate::diff::unified;
use crate::template::Template;

/// The most candidates that a search gives out.
pub const TRIALS_MAX: usize = 1_000;
/// The most pairs of partial repairs that are joined.
const PAIRS_MAX: usize = 20;
/// What a trial makes of its line where a failing case ends otherwise than before, and where none does.
const MOVED: f64 = 1.01;
const UNMOVED: f64 = 0.995;
/// How far results can move a line, down and up.
const MOVED_MAX: (f64, f64) = (0.7, 1.6);
/// What a partial repair makes of the lines around it. Little: setting back what a check looks at repairs parts of much.
const NEAR_A_PART: f64 = 1.15;
/// Lines this near to a partial repair are raised with it.
const NEIGHBOURHOOD: usize = 3;

/// What came of a candidate.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Trial {
    /// Whether it was built.
    pub built: bool,
    /// The cases that passed.
    pub passed: BTreeSet<String>,
    /// The cases that failed, and what they said.
    pub failed: BTreeMap<String, String>,
}

/// A search for a repair.
pub struct Search {
    files: BTreeMap<String, String>,
    offered: Candidates,
    /// Partial repairs that were joined.
    joined: Vec<Candidate>,
    baseline: Trial,
    /// What was learnt of lines, by file.
    lines: BTreeMap<String, BTreeMap<usize, f64>>,
    partial: Vec<(Candidate, BTreeSet<String>)>,
    given: usize,
    pairs: usize,
}

impl Search {
    /// Begins with what templates offer and with what the untouched files do.
    pub fn new(files: BTreeMap<String, String>, offered: Candidates, baseline: Trial) -> Search {
        let (lines, joined, partial) = (BTreeMap::new(), Vec::new(), Vec::new());
        Search { files, offered, joined, baseline, lines, partial, given: 0, pairs: 0 }
    }

    /// How many candidates wait. Not all of them need be worth trying.
    pub fn waiting(&self) -> usize {
        self.offered.waiting() + self.joined.len()
    }

    /// The most likely of those that wait. `None` where none does, or as many were given out as may be.
    #[expect(clippy::should_implement_trait, reason = "what is told between two calls decides what comes next")]
    pub fn next(&mut self) -> Option<Candidate> {
        if self.given >= TRIALS_MAX {
            return None;
        }
        self.given += 1;
        while let Some(index) = self.best() {
            let taken = match index.checked_sub(self.offered.waiting()) {
                Some(joined) => Some(self.joined.remove(joined)),
                None => self.offered.pick(index),
            };
            if taken.is_some() {
                return taken;
            }
        }
        None
    }

    /// Which is the most likely, counted through what templates offer and then through what was joined.
    fn best(&self) -> Option<usize> {
        let joined = self.joined.iter().map(|one| Offer {
            template: one.template,
            path: &one.path,
            line: one.line,
            score: one.score,
        });
        let mut best: Option<(usize, (bool, f64))> = None;
        for (index, offer) in self.offered.offers().chain(joined).enumerate() {
            // What is not done cannot fail: whatever was learnt, nothing is taken out before all else was tried.
            let rank = (offer.template != Template::Delete, offer.score * self.factor(&offer));
            if best.is_none_or(|(_, most)| rank > most) {
                best = Some((index, rank));
            }
        }
        best.map(|(index, _)| index)
    }

    fn factor(&self, offer: &Offer<'_>) -> f64 {
        self.lines.get(offer.path).and_then(|lines| lines.get(&offer.line)).copied().unwrap_or(1.0)
    }

    /// Whether a trial is a repair: every case of the baseline is there and passes.
    pub fn repaired(&self, trial: &Trial) -> bool {
        let all = self.baseline.passed.iter().chain(self.baseline.failed.keys());
        trial.built
            && trial.failed.is_empty()
            && !trial.passed.is_empty()
            && all.into_iter().all(|case| trial.passed.contains(case))
    }

    /// Whether a trial repairs at least a part: a case that failed passes, and none that passed is lost.
    pub fn improved(&self, trial: &Trial) -> bool {
        trial.built
            && self.baseline.failed.keys().any(|case| trial.passed.contains(case))
            && self.baseline.passed.iter().all(|case| trial.passed.contains(case))
    }

    /// Says what came of a candidate.
    pub fn tell(&mut self, candidate: &Candidate, trial: &Trial) {
        if !trial.built {
            return;
        }
        let repaired: BTreeSet<String> =
            self.baseline.failed.keys().filter(|case| trial.passed.contains(*case)).cloned().collect();
        if self.improved(trial) {
            self.raise_around(candidate);
            self.join(candidate, repaired);
        } else {
            let moved = self.baseline.failed.iter().any(|(case, said)| trial.failed.get(case) != Some(said));
            self.move_line(candidate, if moved { MOVED } else { UNMOVED });
        }
    }

    fn move_line(&mut self, candidate: &Candidate, by: f64) {
        let factor = self.lines.entry(candidate.path.clone()).or_default().entry(candidate.line).or_insert(1.0);
        *factor = (*factor * by).clamp(MOVED_MAX.0, MOVED_MAX.1);
    }

    /// A part is repaired and nothing is broken: what is needed is near.
    fn raise_around(&mut self, candidate: &Candidate) {
        let from = candidate.line.saturating_sub(NEIGHBOURHOOD);
        let lines = self.lines.entry(candidate.path.clone()).or_default();
        for line in from..=candidate.line + NEIGHBOURHOOD {
            let factor = lines.entry(line).or_insert(1.0);
            *factor = (*factor * NEAR_A_PART).clamp(MOVED_MAX.0, MOVED_MAX.1);
        }
    }

    /// Joins a partial repair with every earlier one that repairs something else.
    fn join(&mut self, candidate: &Candidate, repaired: BTreeSet<String>) {
        if candidate.template == Template::Combined {
            return;
        }
        let joined: Vec<Candidate> = self
            .partial
            .iter()
            .filter(|(_, other)| !other.is_subset(&repaired) && !repaired.is_subset(other))
            .filter_map(|(other, _)| combine(&self.files, other, candidate))
            .take(PAIRS_MAX.saturating_sub(self.pairs))
            .collect();
        self.pairs += joined.len();
        self.joined.extend(joined);
        self.partial.push((candidate.clone(), repaired));
    }
}

/// Both changes at once; `None` where they touch each other.
fn combine(files: &BTreeMap<String, String>, first: &Candidate, second: &Candidate) -> Option<Candidate> {
    let mut edits = first.edits.clone();
    for (path, more) in &second.edits {
        let all = edits.entry(path.clone()).or_default();
        if more.iter().any(|edit| all.iter().any(|other| other.overlaps(edit))) {
            return None;
        }
        all.extend(more.iter().cloned());
    }
    let mut both = Candidate {
        template: Template::Combined,
        summary: format!("{}; {}", first.summary, second.summary),
        before: format!("{}\n{}", first.before, second.before),
        after: format!("{}\n{}", first.after, second.after),
        patch: String::new(),
        prior: Template::Combined.prior(),
        // Both did a part of it: nothing else is as likely.
        score: 2.0,
        edits,
        path: first.path.clone(),
        line: first.line,
    };
    for path in both.edits.keys() {
        let old = files.get(path)?;
        both.patch.push_str(&unified(path, old, &both.apply(path, old)?));
    }
    Some(both)
}
