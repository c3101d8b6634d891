//! Tries the candidates of a search one by one until one is good enough or the time is up.

use std::{
    collections::BTreeMap,
    ops::ControlFlow,
    time::{Duration, Instant},
};

use interlock_activity::{Attempt, Outcome};
use interlock_repair::{Candidate, Candidates, Search, Suspect, TRIALS_MAX, candidates, confidence, localise};
use serde_json::{Value, json};

use super::{
    SearchResult, With,
    memory::Memory,
    sight::Sight,
    trials::{Came, Trials},
    tried::Tried,
};
use crate::{rounds::SURE, table::blocking};

/// The time limit of a search.
const SEARCH_MAX: Duration = Duration::from_secs(20 * 60);

/// The number of candidates tried after the first good one if its confidence is too low: an equally good one may be
/// more likely.
const SECOND_THOUGHTS: usize = 15;

/// The upper bound of the confidence in a partial repair, regardless of the number of cases that execute it. It is
/// below the limit for delivery without a person, because many changes satisfy a single check by chance.
const PART_SURE_MAX: f64 = 0.7;

/// The score of a line that is known to run, if nothing is known of the others.
const OBSERVED_SCORE: f64 = 0.8;

/// The number of suspects that the evidence names.
const SUSPECTS_TOLD: usize = 20;

/// A search while candidates are tried.
struct Look<'a> {
    attempt: &'a Attempt,
    memory: &'a Memory,
    trials: &'a mut Trials,
    tried: &'a mut Tried,
    sight: Sight,
    found: &'a mut SearchResult,
    /// The number of candidates after which the search ends.
    last: usize,
}

/// Tries the candidates one by one until one is good enough or the time is up.
pub(super) async fn look(
    attempt: &Attempt,
    with: &With,
    memory: &Memory,
    trials: &mut Trials,
    tried: &mut Tried,
    (begun, found): (Instant, &mut SearchResult),
) -> Result<(), Outcome> {
    let (sight, offered) = survey(with, memory, trials, found).await?;
    let mut search = Search::new(trials.sources.texts.clone(), offered, trials.trial(&trials.measured));
    let mut look = Look { attempt, memory, trials, tried, sight, found, last: usize::MAX };
    loop {
        let next;
        // Many candidates may have to be examined before one is worth trying.
        (search, next) = blocking(move || {
            let next = search.next();
            Ok((search, next))
        })
        .await?;
        let Some(candidate) = next else { break };
        if look.is_over(begun.elapsed()) || look.examine(candidate, &mut search).await?.is_break() {
            break;
        }
    }
    // The waiting candidates were not examined, so some of them may turn out invalid.
    look.found.made = look.found.tried + search.waiting();
    Ok(())
}

/// Ranks the lines of the sources and makes the candidates for them.
async fn survey(
    with: &With,
    memory: &Memory,
    trials: &mut Trials,
    found: &mut SearchResult,
) -> Result<(Sight, Candidates), Outcome> {
    let sight = Sight::of(trials).await?;
    trials.hurry();
    let sources = trials.sources.clone();
    let mut suspects = localise(&sight.coverage, &sight.named);
    if suspects.is_empty() {
        suspects = anywhere(&sources.texts);
        suspects.iter_mut().filter(|one| memory.has_run(one)).for_each(was_observed);
    }
    let hints = sight.hints(&sources, with)?;
    *found = SearchResult {
        cases: sight.coverage.len(),
        suspects: suspects.iter().take(SUSPECTS_TOLD).map(told).collect(),
        kept_from: hints.read_only.len(),
        oddity: sight.oddity.clone(),
        ..SearchResult::default()
    };
    let offered = blocking(move || Ok(candidates(&sources.texts, &suspects, &hints))).await?;
    Ok((sight, offered))
}

fn told(suspect: &Suspect) -> Value {
    json!({ "path": suspect.path, "line": suspect.line, "score": suspect.score, "why": suspect.why })
}

/// Returns every line with the same score, for the case that neither coverage nor a named place points anywhere.
pub(super) fn anywhere(texts: &BTreeMap<String, String>) -> Vec<Suspect> {
    let why = "no evidence points elsewhere";
    let line = |path: &str, line| Suspect { path: path.to_owned(), line, score: 0.5, why: why.to_owned() };
    texts.iter().flat_map(|(path, text)| (1..=text.lines().count()).map(move |at| line(path, at))).collect()
}

/// Raises a line of a function that a diagnostic change has shown to run before the output ends.
fn was_observed(suspect: &mut Suspect) {
    (suspect.score, suspect.why) = (OBSERVED_SCORE, "a diagnostic change showed that its function runs".to_owned());
}

impl Look<'_> {
    fn is_over(&self, took: Duration) -> bool {
        took > SEARCH_MAX || self.found.tried >= self.last || self.found.is_deaf()
    }

    /// Tries one candidate, unless it is known. Breaks if the search need not go on.
    async fn examine(&mut self, candidate: Candidate, search: &mut Search) -> Result<ControlFlow<()>, Outcome> {
        if self.memory.knows(&candidate.patch) {
            self.found.known += 1;
            return Ok(ControlFlow::Continue(()));
        }
        self.found.tried += 1;
        self.report(&candidate, search.waiting());
        let Came { trial, is_good, image, .. } = self.result_of(&candidate).await?;
        self.found.trials.push(json!({
            "change": candidate.summary,
            "built": trial.built,
            "passed": trial.passed.len(),
            "failed": trial.failed.len(),
            "is_good": is_good,
        }));
        self.found.unchanged += usize::from(image.is_some() && image == self.trials.first_image);
        if self.memory.knows_image(image.as_deref()) {
            // An equivalent patch was found before.
            self.found.known += 1;
            return Ok(ControlFlow::Continue(()));
        }
        search.tell(&candidate, &trial);
        let covering = self.sight.covering(&candidate);
        let sure = confidence(candidate.template, covering, self.found.cases);
        if is_good {
            let witnesses = self.sight.witnesses(&candidate);
            self.last = self.last.min(self.found.tried + SECOND_THOUGHTS);
            self.found.accept(candidate, sure, (covering, witnesses), image);
            return Ok(if sure >= SURE { ControlFlow::Break(()) } else { ControlFlow::Continue(()) });
        }
        if self.found.part.is_none() && search.improved(&trial) {
            self.found.part = Some((candidate, sure.min(PART_SURE_MAX)));
        }
        Ok(ControlFlow::Continue(()))
    }

    fn report(&self, candidate: &Candidate, waiting: usize) {
        let made = (self.found.tried + waiting).min(TRIALS_MAX);
        let text = format!("candidate {} of at most {made}: {}", self.found.tried, candidate.summary);
        self.attempt.host.progress(&self.attempt.run, self.attempt.activity, &text);
    }

    /// Returns the result of a candidate: the recorded one if the search was interrupted after trying it.
    async fn result_of(&mut self, candidate: &Candidate) -> Result<Came, Outcome> {
        if let Some(known) = self.tried.recall(candidate) {
            return Ok(known);
        }
        let came = self.trials.try_out(candidate).await?;
        if came.is_certain {
            self.tried.add(candidate, &came).await;
        }
        Ok(came)
    }
}
