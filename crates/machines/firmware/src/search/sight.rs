//! The observations before any candidate is tried: the lines that each case executes, the failing cases, and their
//! messages.

use std::collections::BTreeSet;

use interlock_activity::Outcome;
use interlock_repair::{Candidate, Coverage, Failure, Hints, Named, is_test};
use interlock_test_results::{self as results, Measured, Status};
use interlock_testbench::{Ran, Session, Start};

use super::{With, sources::Sources, trials::Trials};
use crate::{bench, table::failed};

/// The largest number of cases that are run one by one.
const CASES_MAX: usize = 200;

/// The distance in lines between a change and an executed line that still counts: a compiler merges statements.
const LINES_AROUND: usize = 1;

/// The observations about the unchanged tree.
pub(super) struct Sight {
    pub(super) coverage: Vec<Coverage>,
    /// A warning about the way cases are started, as text.
    pub(super) oddity: Option<String>,
    pub(super) named: Vec<Named>,
    failures: Vec<Failure>,
}

impl Sight {
    /// Runs the cases one by one if that is possible, and records the lines that each executes.
    pub(super) async fn of(trials: &mut Trials) -> Result<Self, Outcome> {
        let measured = trials.measured.clone();
        let starts = starts(trials, &measured);
        let ran = trials.run(starts).await?;
        let failing = |id: &str| {
            let bad = measured
                .cases
                .iter()
                .filter(|case| case.case.status != Status::Passed && case.case.status != Status::Skipped);
            bad.into_iter().any(|case| case.case.case_id == id)
        };
        let oddity = if ran.len() > 1 { together(&trials.open.session, &ran)? } else { None };
        let is_alone = ran.len() > 1 && oddity.is_none();
        let coverage = ran.iter().map(|ran| Coverage {
            case: ran.start.id.clone(),
            failed: if is_alone { failing(&ran.start.id) } else { true },
            lines: lines(ran, &trials.sources),
        });
        let mut coverage: Vec<Coverage> = coverage.filter(|case| !case.lines.is_empty()).collect();
        if oddity.is_some() {
            // Each start ran all cases, so one of them carries the same information as all.
            coverage.truncate(1);
        }
        // A flaky case gives no information about any line.
        coverage.retain(|case| !trials.is_flaky(&case.case));
        let (named, failures) = (named(&measured, &trials.sources), failures(&measured, trials));
        Ok(Sight { coverage, oddity, named, failures })
    }

    /// Returns the hints in the messages of failing checks, and the sources that may not be changed.
    pub(super) fn hints(&self, sources: &Sources, with: &With) -> Result<Hints, Outcome> {
        let mut hints = Hints::of(&sources.texts, &self.failures);
        hints.read_only = sources.kept_from(&with.constraints).map_err(failed)?.into_iter().collect();
        Ok(hints)
    }

    /// Counts the cases that execute the line that a candidate changes.
    pub(super) fn covering(&self, candidate: &Candidate) -> usize {
        self.coverage.iter().filter(|case| executes(case, candidate)).count()
    }

    /// Counts the failing ones among them: a case that passed before also passes with other changes.
    pub(super) fn witnesses(&self, candidate: &Candidate) -> usize {
        self.coverage.iter().filter(|case| case.failed && executes(case, candidate)).count()
    }
}

fn executes(case: &Coverage, candidate: &Candidate) -> bool {
    let mut near = candidate.line.saturating_sub(LINES_AROUND)..=candidate.line + LINES_AROUND;
    near.any(|line| case.lines.contains(&(candidate.path.clone(), line)))
}

/// Returns a warning if a start for a single case ran others too: then its coverage gives no information about single
/// cases.
fn together(session: &Session, ran: &[Ran]) -> Result<Option<String>, Outcome> {
    for ran in ran {
        let reported = bench::reported(session, ran)?;
        let own = results::meant(&ran.start.id, reported.iter().map(String::as_str));
        let others = reported.iter().filter(|id| !own.contains(&id.as_str())).count();
        if !own.is_empty() && others > 0 {
            let start = &ran.start.id;
            return Ok(Some(format!("the start for `{start}` alone ran {others} others too: is `case_arg` right?")));
        }
    }
    Ok(None)
}

/// Returns one start for each case if the firmware can run a single case; otherwise the regular starts.
fn starts(trials: &Trials, measured: &Measured) -> Vec<Start> {
    let profile = &trials.open.session.profile;
    let can_alone = profile.each_alone || profile.config.contains_key("case_arg");
    let ids = measured.cases.iter().map(|case| case.case.case_id.as_str()).take(CASES_MAX);
    let mut starts: Vec<Start> = match can_alone {
        true => ids.map(|id| bench::alone(profile, id)).collect(),
        false => bench::starts(profile),
    };
    for start in &mut starts {
        start.coverage = true;
    }
    starts
}

fn lines(ran: &Ran, sources: &Sources) -> BTreeSet<(String, usize)> {
    let files = ran.coverage.iter().filter_map(|(name, lines)| Some((sources.named(name)?, lines)));
    files.flat_map(|(path, lines)| lines.iter().map(move |line| (path.clone(), *line as usize))).collect()
}

/// Returns the places in the code, not in tests, that faults and stacks name.
fn named(measured: &Measured, sources: &Sources) -> Vec<Named> {
    let stacks = measured
        .cases
        .iter()
        .flat_map(|case| &case.case.stack)
        .chain(measured.faults.iter().flat_map(|fault| &fault.stack));
    let places = stacks.filter_map(|frame| {
        let (file, line) = frame.rsplit_once(' ').map_or(frame.as_str(), |(_, place)| place).rsplit_once(':')?;
        Some(Named { path: sources.named(file)?, line: line.parse().ok()?, by: "stack".to_owned() })
    });
    places.filter(|place| !is_test(&place.path)).collect()
}

fn failures(measured: &Measured, trials: &Trials) -> Vec<Failure> {
    let sources = &trials.sources;
    let bad = measured.cases.iter().filter(|case| case.case.status.is_bad() && !trials.is_flaky(&case.case.case_id));
    let failures = bad.map(|case| {
        let place = case.case.location.as_ref();
        Failure {
            case: case.case.case_id.clone(),
            path: place.and_then(|place| sources.named(&place.file)).unwrap_or_default(),
            line: place.map_or(0, |place| place.line as usize),
            message: case.case.message.clone(),
        }
    });
    failures.collect()
}
