//! What one start shows: its cases, with the one that was running when it crashed or hung, and its faults.

use super::{Case, Fault, Flaky, Parsed, Ran, Status, Stop, Wanted, meant};
use crate::results::{form::NAMELESS, reading::first_place};

/// One start, understood.
pub(super) struct Shown {
    pub(super) start: String,
    pub(super) repetition: u32,
    pub(super) stop: Stop,
    pub(super) cases: Vec<Case>,
    pub(super) faults: Vec<Fault>,
    /// What the framework calls failed and no case explains.
    pub(super) failures: Vec<String>,
    /// Cases that the framework itself ran several times, with different results.
    pub(super) flaky: Vec<Flaky>,
    pub(super) doubts: Vec<String>,
    /// The case that it crashed or hung in.
    pub(super) victim: Option<String>,
}

impl Shown {
    /// Understands one of all that ran.
    pub(super) fn new(parsed: &Parsed, ran: &Ran, wanted: Wanted<'_>, all: &[(Parsed, &Ran)]) -> Shown {
        let mut shown = Shown {
            start: ran.start.id.clone(),
            repetition: ran.start.repetition,
            stop: ran.stop.clone(),
            cases: parsed.cases.clone(),
            faults: faults(parsed, ran),
            failures: parsed.failures.clone(),
            flaky: parsed.flaky.clone(),
            doubts: parsed.doubts.clone(),
            victim: None,
        };
        // Where names are known, cases that have only a number say the same once more.
        if !wanted.expected.is_empty() || wanted.baseline.is_some() {
            shown.cases.retain(|case| case.message != NAMELESS);
        }
        if let Stop::BootLoop { .. } = ran.stop {
            shown.forget_repeated();
        }
        if let Some(status) = shown.ended_in_a_case(parsed) {
            shown.victim = parsed.running.clone().or_else(|| shown.next_in_line(wanted, all));
            shown.blame(status);
        }
        shown
    }

    /// How the case ended that was running, if one may have been: the start did not end well.
    fn ended_in_a_case(&self, parsed: &Parsed) -> Option<Status> {
        let is_unfinished = parsed.running.is_some();
        match self.stop {
            Stop::Lost { .. } if self.faults.is_empty() => None,
            _ if !self.faults.is_empty() => Some(Status::Crashed),
            Stop::Exited { code } => (code != 0 && is_unfinished).then_some(Status::Crashed),
            Stop::BootLoop { .. } => Some(Status::Crashed),
            Stop::TimedOut | Stop::Hung { .. } | Stop::Lost { .. } => Some(Status::Timeout),
        }
    }

    /// The first case that should have come and did not: of the baseline's cases of this start, else of the expected ones that no other start has
    /// reported, else of those that the text itself announced.
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

    /// The case that it ended in crashed or took too long.
    fn blame(&mut self, status: Status) {
        let Some(victim) = &self.victim else { return };
        let why = match (&self.stop, self.faults.first()) {
            (_, Some(fault)) => fault.banner.clone(),
            (Stop::Hung { place }, None) => format!("it hung: {place}"),
            (Stop::TimedOut, None) => "its time was up".to_owned(),
            (Stop::Exited { code }, None) => format!("the program ended with exit code {code}"),
            _ => String::new(),
        };
        let index = self.cases.iter().position(|case| case.case_id == *victim).unwrap_or_else(|| {
            self.cases.push(Case::new(victim.clone(), status));
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

    /// Started over and over it reports the same cases over and over; once is enough.
    fn forget_repeated(&mut self) {
        self.cases.retain(|case| {
            let number = case.case_id.rsplit_once('#').map(|(_, number)| number);
            !number.is_some_and(|number| !number.is_empty() && number.bytes().all(|digit| digit.is_ascii_digit()))
        });
    }

    /// Whether it ended by itself.
    pub(super) fn has_exited(&self) -> bool {
        matches!(self.stop, Stop::Exited { .. })
    }

    /// How people call it, at the beginning of a sentence.
    pub(super) fn name(&self) -> String {
        format!("{} ({}): ", self.start, self.repetition)
    }
}

/// Everything that is a fault: what the environment saw, what stands in the text, and ends that only a crash has.
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

/// Whether only a crash has such an exit code: signals as shells (128 + n) and others (-n) tell them, exceptions of Windows.
fn is_crash(code: i64) -> bool {
    /// Illegal instruction, trap, abort, bus error, arithmetic, segmentation.
    const SIGNALS: [i64; 6] = [4, 5, 6, 7, 8, 11];
    SIGNALS.iter().any(|signal| code == 128 + signal || code == -signal) || (code as u32) & 0xF000_0000 == 0xC000_0000
}
