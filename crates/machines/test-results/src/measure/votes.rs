//! Combines repetitions: the majority decides the status of a case, and a case with differing results is flaky.

use std::collections::BTreeMap;

use super::{CaseResult, Flaky, MeasuredCase, Status, start::StartResult};

/// Returns every case once, the flaky cases, and notes.
pub(super) fn count(shown: &[StartResult]) -> (Vec<MeasuredCase>, Vec<Flaky>, Vec<String>) {
    let (places, notes) = places(shown);
    let mut order: Vec<&str> = Vec::new();
    let mut votes: BTreeMap<&str, Vec<(&StartResult, &CaseResult)>> = BTreeMap::new();
    for ((index, case), id) in &places {
        let Some(start) = shown.get(*index) else { continue };
        let Some(case) = start.cases.get(*case) else { continue };
        votes.entry(id).or_insert_with(|| {
            order.push(id);
            Vec::new()
        });
        votes.entry(id).or_default().push((start, case));
    }
    let mut cases = Vec::new();
    let mut flaky = Vec::new();
    for id in order {
        let Some(votes) = votes.get(id) else { continue };
        let statuses: Vec<Status> = votes.iter().flat_map(|(start, case)| attempts(start, case)).collect();
        let (case, is_flaky) = elected(id, votes, &statuses);
        if is_flaky {
            flaky.push(Flaky { case_id: id.to_owned(), statuses });
        }
        cases.push(case);
    }
    (cases, flaky, notes)
}

/// Returns the id of every case of every start. A case that several starts ran is named `start.case`; a start that
/// only skipped it is left out.
fn places(shown: &[StartResult]) -> (BTreeMap<(usize, usize), String>, Vec<String>) {
    let mut ran_by: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for start in shown {
        for case in start.cases.iter().filter(|case| case.status != Status::Skipped) {
            let by = ran_by.entry(&case.case_id).or_default();
            if !by.contains(&start.start.as_str()) {
                by.push(&start.start);
            }
        }
    }
    let mut places = BTreeMap::new();
    let mut notes = Vec::new();
    for (index, start) in shown.iter().enumerate() {
        for (place, case) in start.cases.iter().enumerate() {
            let by = ran_by.get(case.case_id.as_str()).map(Vec::as_slice).unwrap_or_default();
            let is_left_out = case.status == Status::Skipped && !by.is_empty() && !by.contains(&start.start.as_str());
            if is_left_out {
                continue;
            }
            let id = if by.len() > 1 { format!("{}.{}", start.start, case.case_id) } else { case.case_id.clone() };
            if by.len() > 1 {
                notes.push(format!("{} is in {} starts: each is called start.case", case.case_id, by.len()));
            }
            places.insert((index, place), id);
        }
    }
    (places, notes)
}

/// Returns the case with the status of the majority. Attempts that did not report it have no vote, and in a tie the
/// worse status counts.
fn elected(id: &str, votes: &[(&StartResult, &CaseResult)], statuses: &[Status]) -> (MeasuredCase, bool) {
    let mut counts: BTreeMap<Status, usize> = BTreeMap::new();
    for status in statuses.iter().filter(|status| **status != Status::Missing) {
        *counts.entry(*status).or_default() += 1;
    }
    let winner = counts.iter().max_by_key(|(status, count)| (**count, badness(**status))).map(|(status, _)| *status);
    let status = winner.unwrap_or(Status::Missing);
    let is_flaky = counts.len() > 1;
    // The message of a failing attempt is more useful than that of a passing one.
    let telling = votes.iter().find(|(_, case)| is_flaky && case.status.is_bad());
    let chosen = telling.or_else(|| votes.iter().find(|(_, case)| case.status == status)).or(votes.first());
    let mut case = chosen.map_or_else(|| CaseResult::new(id, status), |(_, case)| (*case).clone());
    case.case_id = id.to_owned();
    case.status = status;
    (MeasuredCase { case, start: chosen.map(|(start, _)| start.start.clone()).unwrap_or_default() }, is_flaky)
}

/// Returns the status of every attempt at a case within one start: a single one, unless the framework repeats cases
/// itself.
fn attempts(start: &StartResult, case: &CaseResult) -> Vec<Status> {
    let repeated = start.flaky.iter().find(|flaky| flaky.case_id == case.case_id);
    repeated.map_or_else(|| vec![case.status], |flaky| flaky.statuses.clone())
}

/// Orders statuses from good to bad.
pub(super) fn badness(status: Status) -> u8 {
    match status {
        Status::Passed => 0,
        Status::Skipped => 1,
        Status::Missing => 2,
        Status::Failed => 3,
        Status::Timeout => 4,
        Status::Crashed => 5,
    }
}
