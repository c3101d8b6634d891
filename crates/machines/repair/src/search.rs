//! Searches candidate by candidate: the result of each trial changes the order of the rest.
//!
//! The caller builds and runs; a search only ranks. If a change of a line affects a failing case (it passes, or fails
//! in another way), the line is related to the failure and is raised. If it has no effect, the line is lowered.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use crate::candidates::{Candidate, Candidates, Offer};
use crate::diff::unified;
use crate::siblings::siblings;
use crate::template::Template;

/// The maximum number of candidates that a search returns.
pub const TRIALS_MAX: usize = 1_000;
/// The maximum number of pairs of partial repairs that are combined.
const PAIRS_MAX: usize = 20;
/// The maximum number of candidates that make one edit at several places.
const REPEATED_MAX: usize = 30;
/// The score of a candidate whose parts have each repaired something.
const JOINED_SCORE: f64 = 2.0;
/// The factors for a line after a trial: if a failing case changed its result, and if none did.
const MOVED: f64 = 1.01;
const UNMOVED: f64 = 0.995;
/// The minimum and maximum factor of a line.
const MOVED_MAX: (f64, f64) = (0.7, 1.6);
/// The factor for the lines around a partial repair. It is small, because resetting the checked data repairs parts of
/// many cases.
const NEAR_A_PART: f64 = 1.15;
/// The distance up to which lines near a partial repair are raised with it.
const NEIGHBOURHOOD: usize = 3;

/// The result of a candidate.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Trial {
    /// True if the build succeeded.
    pub built: bool,
    /// The cases that passed.
    pub passed: BTreeSet<String>,
    /// The cases that failed, with their messages.
    pub failed: BTreeMap<String, String>,
}

/// A search for a repair.
pub struct Search {
    files: BTreeMap<String, String>,
    offered: Candidates,
    /// Combinations of partial repairs.
    joined: Vec<Candidate>,
    baseline: Trial,
    /// The learnt factors of lines, by file.
    lines: BTreeMap<String, BTreeMap<usize, f64>>,
    partial: Vec<(Candidate, BTreeSet<String>)>,
    given: usize,
    pairs: usize,
    /// The files that candidates may change.
    changeable: BTreeSet<String>,
    /// The number of candidates that make one edit at several places.
    repeated: usize,
}

impl Search {
    /// Creates a search from the offered candidates and the result of the unchanged files.
    pub fn new(files: BTreeMap<String, String>, offered: Candidates, baseline: Trial) -> Search {
        let (lines, joined, partial) = (BTreeMap::new(), Vec::new(), Vec::new());
        let changeable = offered.offers().map(|offer| offer.path.to_owned()).collect();
        Search { files, offered, joined, baseline, lines, partial, given: 0, pairs: 0, changeable, repeated: 0 }
    }

    /// Returns the number of waiting candidates, some of which may turn out not to be worth trying.
    pub fn waiting(&self) -> usize {
        self.offered.waiting() + self.joined.len()
    }

    /// Returns the most likely waiting candidate, or `None` if there is none or the maximum number was returned.
    #[expect(
        clippy::should_implement_trait,
        reason = "the results reported between two calls choose the next candidate"
    )]
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

    /// Returns the index of the most likely candidate, counted over the offers and then the combinations.
    fn best(&self) -> Option<usize> {
        let joined = self.joined.iter().map(|one| Offer {
            template: one.template,
            path: &one.path,
            line: one.line,
            score: one.score,
        });
        let mut best: Option<(usize, (bool, f64))> = None;
        for (index, offer) in self.offered.offers().chain(joined).enumerate() {
            // Deleted code cannot fail, so deletions come last, whatever the search has learnt.
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

    /// Returns true if a trial is a repair: every case of the baseline is reported and passes.
    pub fn repaired(&self, trial: &Trial) -> bool {
        let all = self.baseline.passed.iter().chain(self.baseline.failed.keys());
        trial.built
            && trial.failed.is_empty()
            && !trial.passed.is_empty()
            && all.into_iter().all(|case| trial.passed.contains(case))
    }

    /// Returns true if a trial is at least a partial repair: a failing case passes, and no passing case is lost.
    pub fn improved(&self, trial: &Trial) -> bool {
        trial.built
            && self.baseline.failed.keys().any(|case| trial.passed.contains(case))
            && self.baseline.passed.iter().all(|case| trial.passed.contains(case))
    }

    /// Reports the result of a candidate to the search.
    pub fn tell(&mut self, candidate: &Candidate, trial: &Trial) {
        if !trial.built {
            return;
        }
        let repaired: BTreeSet<String> =
            self.baseline.failed.keys().filter(|case| trial.passed.contains(*case)).cloned().collect();
        let moved = self.baseline.failed.iter().any(|(case, said)| trial.failed.get(case) != Some(said));
        if self.improved(trial) {
            self.raise_around(candidate);
            self.repeat(candidate, JOINED_SCORE);
            self.join(candidate, repaired);
        } else {
            // A change that lost cases is no better at two places.
            if moved && self.baseline.passed.iter().all(|case| trial.passed.contains(case)) {
                self.repeat(candidate, candidate.score);
            }
            self.move_line(candidate, if moved { MOVED } else { UNMOVED });
        }
    }

    /// Offers the same edit at sibling places as well.
    fn repeat(&mut self, candidate: &Candidate, score: f64) {
        let sibling = siblings(&self.files, &self.changeable, candidate).filter(|_| self.repeated < REPEATED_MAX);
        self.repeated += usize::from(sibling.is_some());
        self.joined.extend(sibling.map(|sibling| Candidate { score, ..sibling }));
    }

    fn move_line(&mut self, candidate: &Candidate, by: f64) {
        let factor = self.lines.entry(candidate.path.clone()).or_default().entry(candidate.line).or_insert(1.0);
        *factor = (*factor * by).clamp(MOVED_MAX.0, MOVED_MAX.1);
    }

    /// Raises the lines around a partial repair that breaks nothing, because the rest of the repair is probably near.
    fn raise_around(&mut self, candidate: &Candidate) {
        let from = candidate.line.saturating_sub(NEIGHBOURHOOD);
        let lines = self.lines.entry(candidate.path.clone()).or_default();
        for line in from..=candidate.line + NEIGHBOURHOOD {
            let factor = lines.entry(line).or_insert(1.0);
            *factor = (*factor * NEAR_A_PART).clamp(MOVED_MAX.0, MOVED_MAX.1);
        }
    }

    /// Combines a partial repair with every earlier one that repairs other cases.
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

/// Combines both changes, or returns `None` if they overlap.
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
        // Each change repaired a part, so the combination is the most likely candidate.
        score: JOINED_SCORE,
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
