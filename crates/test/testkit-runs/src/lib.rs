//! Simulates a crash at every possible moment.
//!
//! The real runtime moves a run of a real machine over a real journal, with scripted activities, in virtual time. A
//! process dies before or after a commit, at a dispatch or before an outcome is received; another process resumes the
//! run. In the end the run must have the same result as without the crash, except that an interrupted attempt that may
//! have written ends according to its effect class. No activity that writes may be executed twice.
//! This crate is a dev-dependency only.

#![allow(clippy::disallowed_methods, reason = "tests prepare the places")]
#![allow(clippy::panic, clippy::unwrap_used, clippy::expect_used)] // A failed precondition ends the test.

mod mortal;
mod play;
mod script;
mod stage;
mod world;

pub use play::{Played, play, play_in};
pub use stage::Stage;
pub use world::{Done, Seed};

use std::{collections::BTreeMap, sync::Arc};

use interlock_core::ActivityId;
use interlock_journal::{AttemptResult, Entry};

/// The result of a simulation.
#[derive(Clone, Debug, Default)]
pub struct Survey {
    /// The number of moments at which a process died.
    pub deaths: usize,
    /// The number of records of the undisturbed run.
    pub records: usize,
    /// The number of interrupted attempts that ended according to their effect class.
    pub cut_off: usize,
    /// The problems found, each with the moment of death.
    pub problems: Vec<String>,
}

/// Returns the seed with the longest undisturbed run that writes something and is short enough to be killed at every
/// moment.
pub fn lively(stage: &Arc<Stage>) -> Seed {
    let played = (1..=SEEDS_MAX).map(|seed| (Seed(seed), play(stage, Seed(seed), None, &BTreeMap::new())));
    let fit = played
        .filter(|(_, played)| played.entries.len() <= RECORDS_MAX && played.done.values().any(|done| done.writes));
    fit.take(FITS_MAX).max_by_key(|(_, played)| played.entries.len()).map_or(Seed(1), |(seed, _)| seed)
}

/// Maximum number of seeds that are tried. In some machines few seeds lead to an activity that writes.
const SEEDS_MAX: u64 = 300;

/// Maximum number of suitable seeds that are compared.
const FITS_MAX: usize = 12;

/// Maximum number of records of a run that is killed at every moment. The work grows with the square of its length.
const RECORDS_MAX: usize = 60;

/// Kills a run of a machine at every moment, once per run, and compares each run with the undisturbed one.
pub fn survey(stage: &Arc<Stage>, seed: Seed) -> Survey {
    let calm = play(stage, seed, None, &BTreeMap::new());
    let mut survey = Survey { records: calm.entries.len(), ..Survey::default() };
    let mut expected: BTreeMap<String, Played> = BTreeMap::new();
    for moment in 0..calm.moments {
        let killed = play(stage, seed, Some(moment), &BTreeMap::new());
        survey.deaths += usize::from(killed.deaths > 0);
        let cut_off = cut_off(&killed);
        survey.cut_off += cut_off.len();
        let key = format!("{cut_off:?}");
        let calm = expected.entry(key).or_insert_with(|| play(stage, seed, None, &cut_off));
        let wrong = compare(calm, &killed);
        survey.problems.extend(wrong.map(|wrong| format!("death {moment} ({}): {wrong}", killed.died_at)));
    }
    survey
}

/// Returns the attempts that the runtime ended itself, with their results.
fn cut_off(played: &Played) -> BTreeMap<ActivityId, AttemptResult> {
    let ended = played.entries.iter().filter_map(|entry| match entry {
        Entry::Outcome { activity, result: result @ AttemptResult::Error { data }, .. } => {
            let code = data.get("code").and_then(|code| code.as_str());
            let by_runtime = matches!(code, Some("INTERRUPTED" | "UNKNOWN_OUTCOME"));
            by_runtime.then(|| (*activity, result.clone()))
        }
        _ => None,
    });
    ended.collect()
}

fn compare(calm: &Played, killed: &Played) -> Option<String> {
    if let Some(problem) = killed.problems.first() {
        return Some(problem.clone());
    }
    if let Some(at) =
        (0..calm.moves.len().max(killed.moves.len())).find(|at| calm.moves.get(*at) != killed.moves.get(*at))
    {
        return Some(format!("move {at} should be {:?} and is {:?}", calm.moves.get(at), killed.moves.get(at)));
    }
    if calm.end != killed.end {
        return Some(format!("it should end as {} and ends as {}", calm.end, killed.end));
    }
    if calm.evidence != killed.evidence {
        return Some("it left other evidence behind".into());
    }
    let twice = killed.done.iter().find(|(_, done)| done.writes && done.times > 1);
    twice.map(|(id, done)| format!("{} ({id}) was done {} times", done.activity, done.times))
}
