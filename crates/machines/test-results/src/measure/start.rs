//! The interpretation of one start: its cases, including the one that was running at a crash or hang, and its faults.

use std::collections::BTreeMap;

use super::{CaseResult, Fault, Flaky, Parsed, Ran, Status, Stop, Wanted, meant, votes::badness};
use crate::{form::NAMELESS, reading::first_place};

/// One start with its interpreted cases and faults.
pub(super) struct StartResult {
    pub(super) start: String,
    pub(super) repetition: u32,
    pub(super) stop: Stop,
    pub(super) cases: Vec<CaseResult>,
    pub(super) faults: Vec<Fault>,
    /// Failures that the framework reports and no case explains.
    pub(super) failures: Vec<String>,
    /// Cases that the framework itself ran several times with different results.
    pub(super) flaky: Vec<Flaky>,
    pub(super) doubts: Vec<String>,
    /// The case in which the start crashed or hung.
    pub(super) victim: Option<String>,
    /// True if the task sets a limit, because the program never ends by itself.
    is_endless: bool,
}

impl StartResult {
    /// Interprets one of all starts.
    pub(super) fn new(parsed: &Parsed, ran: &Ran, wanted: Wanted<'_>, all: &[(Parsed, &Ran)]) -> StartResult {
        let mut shown = StartResult {
            start: ran.start.id.clone(),
            repetition: ran.start.repetition,
            stop: ran.stop.clone(),
            cases: parsed.cases.clone(),
            faults: faults(parsed, ran),
            failures: parsed.failures.clone(),
            flaky: parsed.flaky.clone(),
            doubts: parsed.doubts.clone(),
            victim: None,
            is_endless: ran.start.limit.is_some(),
        };
        // If the names are known, cases with only a number are duplicates.
        if !wanted.expected.is_empty() || wanted.baseline.is_some() {
            shown.cases.retain(|case| case.message != NAMELESS);
        }
        match ran.stop {
            _ if shown.is_endless => shown.join_repeated(),
            Stop::BootLoop { .. } => shown.forget_repeated(),
            _ => {}
        }
        if let Some(status) = shown.ended_in_a_case(parsed) {
            // At its limit a program may be within any case, so that only a case that never reported is to blame.
            let running = parsed.running.clone().filter(|_| ran.stop != Stop::Limited || !shown.faults.is_empty());
            shown.victim = running.or_else(|| shown.next_in_line(wanted, all));
            shown.blame(status);
            if shown.victim.is_none() && shown.is_endless {
                shown.blame_all(status);
            }
        }
        shown
    }

    /// Returns the status of the case that was running at an abnormal end, if one may have been running.
    fn ended_in_a_case(&self, parsed: &Parsed) -> Option<Status> {
        let is_unfinished = parsed.running.is_some();
        match self.stop {
            Stop::Lost { .. } if self.faults.is_empty() => None,
            _ if !self.faults.is_empty() => Some(Status::Crashed),
            // A program that is to run for ever and ends has not met what would have come.
            Stop::Exited { .. } if self.is_endless => Some(Status::Crashed),
            Stop::Exited { code } => (code != 0 && is_unfinished).then_some(Status::Crashed),
            Stop::BootLoop { .. } => Some(Status::Crashed),
            Stop::TimedOut | Stop::Hung { .. } | Stop::Limited | Stop::Lost { .. } => Some(Status::Timeout),
        }
    }

    /// Returns the first case that should have been reported and was not: from the baseline's cases of this start,
    /// else from the expected cases that no other start has reported, else from the announced cases of the text.
    fn next_in_line(&self, wanted: Wanted<'_>, all: &[(Parsed, &Ran)]) -> Option<String> {
        let reported = |name: &str| {
            let ids = self.cases.iter().filter(|case| case.status != Status::Missing).map(|case| case.case_id.as_str());
            !meant(name, ids).is_empty()
        };
        let elsewhere = |name: &str| {
            let others = all.iter().filter(|(_, ran)| ran.start.id != self.start);
            let ids = others.flat_map(|(parsed, _)| parsed.cases.iter().map(|case| case.case_id.as_str()));
            !meant(name, ids).is_empty()
        };
        if wanted.expected.contains(&self.start) && !reported(&self.start) {
            return Some(self.start.clone());
        }
        let before = wanted.baseline.map(|baseline| baseline.cases.as_slice()).unwrap_or_default();
        let before = before.iter().filter(|case| case.start == self.start && case.case.status != Status::Missing);
        let before = before.map(|case| &case.case.case_id);
        let expected = wanted.expected.iter().chain(wanted.targets).filter(|name| !elsewhere(name));
        let announced = self.cases.iter().filter(|case| case.status == Status::Missing).map(|case| &case.case_id);
        let mut candidates = before.chain(expected).filter(|name| !reported(name)).chain(announced);
        candidates.next().cloned()
    }

    /// Marks every case of a program that was to run for ever and did not: none of them lasted.
    fn blame_all(&mut self, status: Status) {
        if self.stop == Stop::Limited && self.faults.is_empty() {
            return;
        }
        let names: Vec<String> = self.cases.iter().map(|case| case.case_id.clone()).collect();
        for name in names {
            self.victim = Some(name);
            self.blame(status);
        }
    }

    /// Marks the case in which the start ended as crashed or timed out.
    fn blame(&mut self, status: Status) {
        let Some(victim) = &self.victim else { return };
        let why = match (&self.stop, self.faults.first()) {
            (_, Some(fault)) => fault.banner.clone(),
            (Stop::Hung { place }, None) => format!("it hung: {place}"),
            (Stop::TimedOut, None) => "its time was up".to_owned(),
            (Stop::Limited, None) => "it was not reported before the limit".to_owned(),
            (Stop::Exited { code }, None) if self.is_endless => {
                format!("it ended before its limit, with exit code {code}")
            }
            (Stop::Exited { code }, None) => format!("the program ended with exit code {code}"),
            _ => String::new(),
        };
        let index = self.cases.iter().position(|case| case.case_id == *victim).unwrap_or_else(|| {
            self.cases.push(CaseResult::new(victim.clone(), status));
            self.cases.len() - 1
        });
        let case = &mut self.cases[index];
        case.status = status;
        case.message = why;
        if let Some(fault) = self.faults.first() {
            case.stack = fault.stack.clone();
            case.location = fault.stack.first().and_then(|place| first_place(place));
        }
    }

    /// Drops repeated cases: a firmware in a boot loop reports the same cases again and again.
    fn forget_repeated(&mut self) {
        self.cases.retain(|case| first_name(&case.case_id) == case.case_id);
    }

    /// Joins the reports of a program that prints the same cases for ever. The worst report of a case counts: a
    /// check that was once not met is not met, however often it is met later.
    fn join_repeated(&mut self) {
        let mut joined: Vec<CaseResult> = Vec::new();
        let mut places: BTreeMap<String, usize> = BTreeMap::new();
        for mut case in std::mem::take(&mut self.cases) {
            case.case_id = first_name(&case.case_id).to_owned();
            match places.get(&case.case_id).map(|place| &mut joined[*place]) {
                Some(known) if weight(case.status) > weight(known.status) => *known = case,
                Some(_) => {}
                None => {
                    places.insert(case.case_id.clone(), joined.len());
                    joined.push(case);
                }
            }
        }
        self.cases = joined;
    }

    /// Reports whether the start ended by itself, or at the limit that the task sets.
    pub(super) fn has_exited(&self) -> bool {
        matches!(self.stop, Stop::Exited { .. } | Stop::Limited)
    }

    /// Returns the name of the start as a prefix of messages.
    pub(super) fn name(&self) -> String {
        format!("{} ({}): ", self.start, self.repetition)
    }
}

/// Returns the name that a case had before its repetitions were numbered.
fn first_name(case_id: &str) -> &str {
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|digit| digit.is_ascii_digit());
    case_id.rsplit_once('#').filter(|(_, number)| is_number(number)).map_or(case_id, |(name, _)| name)
}

/// Orders the reports of one case: a report that it began says least.
fn weight(status: Status) -> u8 {
    if status == Status::Missing { 0 } else { 1 + badness(status) }
}

/// Collects all faults: those that the environment observed, those in the text, and exit codes that only a crash
/// causes.
fn faults(parsed: &Parsed, ran: &Ran) -> Vec<Fault> {
    let mut faults = ran.faults.clone();
    for banner in &parsed.faults {
        let is_known =
            faults.iter().any(|fault| fault.banner.contains(banner.as_str()) || banner.contains(&fault.banner));
        if !is_known {
            faults.push(Fault { banner: banner.clone(), ..Fault::default() });
        }
    }
    let banner = match ran.stop {
        Stop::BootLoop { boots } => format!("boot loop: it started {boots} times"),
        Stop::Exited { code } if faults.is_empty() && is_crash(code) => format!("it crashed: exit code {code}"),
        _ => return faults,
    };
    faults.push(Fault { banner, ..Fault::default() });
    faults
}

/// Reports whether only a crash causes such an exit code: signals in the notation of shells (128 + n) and of others
/// (-n), and Windows exceptions.
fn is_crash(code: i64) -> bool {
    /// Illegal instruction, trap, abort, bus error, arithmetic error, segmentation fault.
    const SIGNALS: [i64; 6] = [4, 5, 6, 7, 8, 11];
    SIGNALS.iter().any(|signal| code == 128 + signal || code == -signal) || (code as u32) & 0xF000_0000 == 0xC000_0000
}
