//! The verdict with all its reasons. The heaviest finding decides, in this order: faults, a lost environment, failed
//! cases and unexplained ends, missing or doubtful results, flaky cases. Without any finding the verdict is PASS.

use std::collections::BTreeSet;

use super::{Flaky, MeasuredCase, Status, Stop, Verdict, Wanted, meant, start::StartResult};

/// The verdict and its reasons.
pub(super) struct Findings {
    pub(super) verdict: Verdict,
    pub(super) reasons: Vec<String>,
}

/// The weight of a finding, lightest first.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Weight {
    Flaky,
    Unclear,
    Failed,
    Lost,
    Fault,
}

impl Weight {
    fn verdict(self) -> Verdict {
        match self {
            Weight::Flaky => Verdict::Flaky,
            Weight::Unclear => Verdict::Inconclusive,
            Weight::Failed | Weight::Fault => Verdict::Fail,
            Weight::Lost => Verdict::EnvError,
        }
    }
}

type Finding = (Weight, String);

/// Collects the findings about all starts and cases.
pub(super) fn findings(shown: &[StartResult], cases: &[MeasuredCase], flaky: &[Flaky], wanted: Wanted<'_>) -> Findings {
    let ids: Vec<&str> = cases.iter().map(|case| case.case.case_id.as_str()).collect();
    let named = |names: &[String]| names.iter().flat_map(|name| meant(name, ids.iter().copied())).collect();
    let judge = Judge {
        flaky,
        wanted,
        targets: named(wanted.targets),
        expected: named(wanted.expected),
        has_one_start: shown.len() == 1,
    };
    let mut found: Vec<Finding> = Vec::new();
    if shown.is_empty() {
        found.push((Weight::Unclear, "nothing was started".to_owned()));
    }
    for start in shown {
        judge.start(start, &mut found);
    }
    for case in cases {
        found.extend(judge.case(case));
    }
    if !shown.is_empty() && !cases.iter().any(|case| !matches!(case.case.status, Status::Missing | Status::Skipped)) {
        found.push((Weight::Unclear, "not one case was run".to_owned()));
    }
    found.sort_by_key(|(weight, _)| std::cmp::Reverse(*weight));
    let verdict = found.first().map_or(Verdict::Pass, |(weight, _)| weight.verdict());
    let mut reasons: Vec<String> = found.into_iter().map(|(_, reason)| reason).collect();
    super::dedup(&mut reasons);
    if reasons.is_empty() {
        let passed = cases.iter().filter(|case| case.case.status == Status::Passed).count();
        reasons.push(format!("nothing is missing, in doubt or against it; passed: {passed} of {}", cases.len()));
    }
    Findings { verdict, reasons }
}

struct Judge<'a> {
    flaky: &'a [Flaky],
    wanted: Wanted<'a>,
    /// The ids of the cases that the target names refer to; `expected` holds those of the expected names.
    targets: BTreeSet<&'a str>,
    expected: BTreeSet<&'a str>,
    has_one_start: bool,
}

impl Judge<'_> {
    fn start(&self, start: &StartResult, found: &mut Vec<Finding>) {
        let name = if self.has_one_start { String::new() } else { start.name() };
        found.extend(start.faults.iter().map(|fault| (Weight::Fault, format!("{name}{}", fault.banner))));
        found.extend(start.failures.iter().map(|failure| (Weight::Failed, format!("{name}{failure}"))));
        // If a start did not end by itself, that alone explains everything that is missing.
        if start.has_exited() {
            found.extend(start.doubts.iter().map(|doubt| (Weight::Unclear, format!("{name}{doubt}"))));
        }
        match &start.stop {
            Stop::Lost { why } => found.push((Weight::Lost, format!("{name}it was lost: {why}"))),
            Stop::TimedOut | Stop::Hung { .. } if start.victim.is_none() => {
                found.push((Weight::Failed, format!("{name}it did not end, and no case explains it")));
            }
            Stop::Exited { code } if *code != 0 => found.extend(unexplained(start, *code, &name)),
            _ => {}
        }
    }

    fn case(&self, measured: &MeasuredCase) -> Option<Finding> {
        let case = &measured.case;
        let id = &case.case_id;
        let first_line = case.message.lines().next().unwrap_or_default();
        if self.flaky.iter().any(|flaky| flaky.case_id == *id) {
            return self.is_wanted(id).then(|| (Weight::Flaky, format!("{id} does not end the same every time")));
        }
        match case.status {
            status if status.is_bad() && !self.is_forgiven(id) => {
                Some((Weight::Failed, format!("{id} {}: {first_line}", said(status)).trim_end_matches(": ").to_owned()))
            }
            Status::Missing => Some((Weight::Unclear, format!("{id} is not reported"))),
            Status::Skipped if self.must_run(id) => Some((Weight::Unclear, format!("{id} was skipped: {first_line}"))),
            _ => None,
        }
    }

    fn is_wanted(&self, id: &str) -> bool {
        let all = self.wanted.expected.is_empty() && self.wanted.targets.is_empty();
        all || self.targets.contains(id) || self.expected.contains(id)
    }

    fn before(&self, id: &str) -> Option<Status> {
        let before = self.wanted.baseline?.cases.iter().find(|case| case.case.case_id == id)?;
        Some(before.case.status)
    }

    /// Reports whether a failure is ignored: the case failed before any change and is no target.
    fn is_forgiven(&self, id: &str) -> bool {
        !self.wanted.targets.is_empty() && !self.targets.contains(id) && self.before(id).is_some_and(Status::is_bad)
    }

    /// Reports whether a case must run: a named case, or one that ran in the baseline, may not be skipped.
    fn must_run(&self, id: &str) -> bool {
        let ran_before = self.before(id).is_some_and(|status| !matches!(status, Status::Skipped | Status::Missing));
        ran_before || self.targets.contains(id) || self.expected.contains(id)
    }
}

/// Returns a finding for an exit code that nothing explains.
fn unexplained(start: &StartResult, code: i64, name: &str) -> Option<Finding> {
    let is_explained =
        !start.faults.is_empty() || !start.failures.is_empty() || start.cases.iter().any(|case| case.status.is_bad());
    let has_cases = start.cases.iter().any(|case| case.status != Status::Missing);
    let weight = if has_cases { Weight::Failed } else { Weight::Unclear };
    (!is_explained).then(|| (weight, format!("{name}it ended with exit code {code}, and no case failed")))
}

fn said(status: Status) -> &'static str {
    match status {
        Status::Timeout => "took too long",
        other => other.name(),
    }
}
