//! Controls: repeated runs of the same cases, which show whether a tree gives the same result every time.
//!
//! A case that fails once may be flaky, and a patch that passes once may have been lucky. So the failing cases run
//! several times on the untouched tree before the search, and the repaired ones run alternately on both trees before
//! the delivery. Only the cases in question run: alone if the firmware can run a single case, otherwise with the
//! start that reported them.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
    time::{Duration, Instant},
};

use interlock_activity::Attempt;
use interlock_test_results::{self as results, Flaky, Measured, Status, Wanted};
use interlock_testbench::{Profile, Ran, Start, Trouble};
use serde::Serialize;

use super::{Open, reading, starts};
use crate::table::Settings;

/// The number of controls if the task does not set it.
const CONTROLS: u32 = 5;

/// The number of controls if one start takes longer than [`LONG`].
const CONTROLS_OF_LONG: u32 = 2;
const LONG: Duration = Duration::from_secs(60);

/// The number of controls that shows a case which fails in nine of ten starts with 95 % certainty, and the time that
/// controls beyond the usual number may take together.
const CONTROLS_OF_QUICK: u32 = 29;
const PATIENCE: Duration = Duration::from_secs(8);

/// With more cases than this, the starts that report them cost less than one start for each.
const ALONE_MAX: usize = 8;

/// The directory of control starts within a session. Results are not read from there, so that a control never counts
/// as a repetition.
pub(crate) const FOLDER: &str = "controls";

/// The results of cases on one tree, run by run.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub(crate) struct Tally(BTreeMap<String, Vec<Status>>);

impl Tally {
    fn add(&mut self, case: &str, status: Status) {
        self.0.entry(case.to_owned()).or_default().push(status);
    }

    /// Returns the status of each run of a case.
    pub(crate) fn of(&self, case: &str) -> &[Status] {
        self.0.get(case).map(Vec::as_slice).unwrap_or_default()
    }

    /// Returns the number of passes and the number of runs of a case.
    pub(crate) fn passed(&self, case: &str) -> (usize, usize) {
        let runs = self.of(case);
        (runs.iter().filter(|status| **status == Status::Passed).count(), runs.len())
    }

    /// Reports whether a case ran and passed every time.
    pub(crate) fn always_passes(&self, case: &str) -> bool {
        let (passed, runs) = self.passed(case);
        runs > 0 && passed == runs
    }

    /// Reports whether a case ran and never passed, with any kind of failure.
    pub(crate) fn always_fails(&self, case: &str) -> bool {
        let (passed, runs) = self.passed(case);
        runs > 0 && passed == 0
    }
}

/// One tree, ready to run.
pub(crate) struct Tree<'t> {
    /// The tree's name in messages.
    pub(crate) name: &'static str,
    pub(crate) open: &'t Open,
    /// True if its cases are expected to pass, according to the measurement before.
    pub(crate) passes: bool,
}

/// The results of the controls.
pub(crate) struct ControlResults {
    /// One tally for each tree, in the order of the trees.
    pub(crate) tallies: Vec<Tally>,
    /// The number of runs of each tree.
    pub(crate) runs: u32,
    /// The number of starts of all runs together.
    pub(crate) starts: usize,
}

/// The cases to run and the number of runs.
pub(crate) struct Wish<'w> {
    pub(crate) cases: &'w [String],
    /// The number of controls that the task sets; 0 if it sets none.
    pub(crate) controls: u32,
    /// The measurement of the untouched tree, if it could be run.
    pub(crate) before: Option<&'w Measured>,
}

/// Runs the cases on the trees alternately, for the requested number of runs.
pub(crate) async fn run(
    settings: &Arc<Settings>,
    attempt: &Attempt,
    trees: &[Tree<'_>],
    wish: &Wish<'_>,
) -> Result<ControlResults, Trouble> {
    let mut begun = 0;
    if let Some(profile) = trees.first().map(|tree| &tree.open.session.profile).filter(|it| can_alone(it, wish.cases)) {
        let alone: Vec<Start> = wish.cases.iter().map(|case| starts::alone(profile, case)).collect();
        let shown = rounds(settings, attempt, trees, wish, &alone, Surprise::Stops).await?;
        begun = shown.starts;
        // A case with a different result when it runs alone depends on the cases before it.
        if is_expected(trees, wish.cases, &shown.tallies) {
            return Ok(shown);
        }
    }
    let Some(profile) = trees.first().map(|tree| &tree.open.session.profile) else {
        return Ok(ControlResults { tallies: Vec::new(), runs: 0, starts: 0 });
    };
    let whole = whole(profile, wish);
    let mut shown = rounds(settings, attempt, trees, wish, &whole, Surprise::Counts).await?;
    shown.starts += begun;
    Ok(shown)
}

/// The reaction to a first run that differs from the measurement before.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Surprise {
    Stops,
    Counts,
}

async fn rounds(
    settings: &Arc<Settings>,
    attempt: &Attempt,
    trees: &[Tree<'_>],
    wish: &Wish<'_>,
    starts: &[Start],
    surprise: Surprise,
) -> Result<ControlResults, Trouble> {
    let mut shown = ControlResults { tallies: vec![Tally::default(); trees.len()], runs: 0, starts: 0 };
    let mut most = if wish.controls > 0 { wish.controls } else { CONTROLS };
    let begun = Instant::now();
    loop {
        // On a single tree, quick starts go on, because a case that fails nearly always looks like one that always does.
        let may_go_on = wish.controls == 0 && trees.len() == 1 && most == CONTROLS && shown.runs < CONTROLS_OF_QUICK;
        let is_settled = !shown.tallies.iter().any(|tally| wish.cases.iter().any(|case| tally.always_fails(case)));
        if shown.runs >= most && !(may_go_on && !is_settled && begun.elapsed() < PATIENCE) {
            return Ok(shown);
        }
        shown.runs += 1;
        for (tree, tally) in trees.iter().zip(&mut shown.tallies) {
            let text = format!("control {} of {} on the {} tree", shown.runs, most.max(shown.runs), tree.name);
            attempt.host.progress(&attempt.run, attempt.activity, &text);
            let ran = once(settings, attempt, tree, trees.len() > 1, starts, shown.runs).await?;
            shown.starts += ran.len();
            let is_long = ran.iter().any(|ran| Duration::from_millis(ran.duration_ms) > LONG);
            if is_long && wish.controls == 0 {
                most = CONTROLS_OF_LONG;
            }
            for case in wish.cases {
                tally.add(case, status(tree.open, &ran, case, wish.before)?);
            }
        }
        if surprise == Surprise::Stops && shown.runs == 1 && !is_expected(trees, wish.cases, &shown.tallies) {
            return Ok(shown);
        }
    }
}

/// Runs the starts once on one tree. If several trees share an environment, the tree's image is deployed first.
async fn once(
    settings: &Arc<Settings>,
    attempt: &Attempt,
    tree: &Tree<'_>,
    is_shared: bool,
    starts: &[Start],
    repetition: u32,
) -> Result<Vec<Ran>, Trouble> {
    if is_shared {
        tree.open.environment.deploy(tree.open.bench(settings, attempt)).await?;
    }
    let planned = starts.iter().map(|start| Start { repetition, ..start.clone() }).collect();
    starts::run_in(settings, attempt, tree.open, planned, FOLDER).await
}

/// Reports whether every case ended in the first run as measured before.
fn is_expected(trees: &[Tree<'_>], cases: &[String], tallies: &[Tally]) -> bool {
    trees.iter().zip(tallies).all(|(tree, tally)| {
        cases.iter().all(|case| match tally.of(case).first() {
            Some(status) if tree.passes => *status == Status::Passed,
            Some(status) => status.is_bad(),
            None => false,
        })
    })
}

/// Reports whether the firmware can run a single case and running each case alone is cheaper.
fn can_alone(profile: &Profile, cases: &[String]) -> bool {
    cases.len() <= ALONE_MAX && (profile.each_alone || profile.config.contains_key("case_arg"))
}

/// Returns the starts that reported the cases, or all starts if that is not known.
fn whole(profile: &Profile, wish: &Wish<'_>) -> Vec<Start> {
    let all = starts::starts(profile);
    let reported = wish.before.iter().flat_map(|before| &before.cases);
    let ours = reported.filter(|case| wish.cases.contains(&case.case.case_id));
    let ids: BTreeSet<&str> = ours.map(|case| case.start.as_str()).collect();
    let is_known = !ids.is_empty() && ids.iter().all(|id| all.iter().any(|start| start.id == *id));
    if is_known { all.into_iter().filter(|start| ids.contains(start.id.as_str())).collect() } else { all }
}

/// Returns the status of a case in one round of starts.
fn status(open: &Open, ran: &[Ran], case: &str, before: Option<&Measured>) -> Result<Status, Trouble> {
    if let Some(interlock_testbench::Stop::Lost { why }) =
        ran.iter().map(|ran| &ran.stop).find(|stop| matches!(stop, interlock_testbench::Stop::Lost { .. }))
    {
        return Err(Trouble::Environment(why.clone()));
    }
    let expected = std::slice::from_ref(&case.to_owned()).to_vec();
    let mut read = Vec::new();
    for ran in ran {
        let folder = open.session.folder_of(FOLDER, &ran.start)?;
        read.push((reading::parsed_in(&open.session, &folder, ran).map_err(|_| unreadable())?, ran));
    }
    let is_alone = ran.len() == 1 && ran.iter().all(|ran| ran.start.id == case);
    let expected = if is_alone { &expected } else { &open.session.profile.cases };
    let baseline = before.filter(|_| !is_alone);
    let measured = results::measure_wanted(&read, Wanted { expected, targets: &[], baseline });
    Ok(found(&measured, case))
}

fn unreadable() -> Trouble {
    Trouble::environment("the output of a control start cannot be read")
}

/// Returns the status of a case, under any name that this result gives it.
fn found(measured: &Measured, case: &str) -> Status {
    let ids = || measured.cases.iter().map(|case| case.case.case_id.as_str());
    let exact = ids().find(|id| *id == case);
    let other = || results::meant(case, ids()).into_iter().next();
    // If there are several starts, `start.case` is the full name of the `case` that one of them reports.
    let shorter = || ids().find(|id| results::meant(id, [case]).contains(&case));
    let id = exact.or_else(other).or_else(shorter);
    let case = measured.cases.iter().find(|case| Some(case.case.case_id.as_str()) == id);
    case.map_or(Status::Missing, |case| case.case.status)
}

/// Returns the cases that must pass, fail, and are not known to be flaky.
pub(crate) fn failing(measured: &Measured, targets: &[String]) -> Vec<String> {
    let ids = || measured.cases.iter().map(|case| case.case.case_id.as_str());
    let is_target =
        |id: &str| targets.is_empty() || targets.iter().any(|name| results::meant(name, ids()).contains(&id));
    let is_flaky = |id: &str| measured.flaky.iter().any(|flaky| flaky.case_id == id);
    let bad = measured.cases.iter().filter(|case| case.case.status.is_bad()).map(|case| &case.case.case_id);
    bad.filter(|id| is_target(id) && !is_flaky(id)).cloned().collect()
}

/// Records the cases with differing results as flaky. They count as failed from now on, so that a single pass of such
/// a case proves nothing.
pub(crate) fn mark(measured: &mut Measured, tally: &Tally) {
    for case in &mut measured.cases {
        let id = &case.case.case_id;
        let (passed, runs) = tally.passed(id);
        if passed > 0 {
            let statuses = std::iter::once(case.case.status).chain(tally.of(id).iter().copied());
            measured.flaky.push(Flaky { case_id: id.clone(), statuses: statuses.collect() });
            case.case.message = format!("flaky: it passed in {passed} of {runs} controls ({})", case.case.message);
        }
    }
    let is_flaky = |id: &str| measured.flaky.iter().any(|flaky| flaky.case_id == id);
    for case in measured.cases.iter_mut().filter(|case| is_flaky(&case.case.case_id)) {
        if case.case.status == Status::Passed {
            case.case.status = Status::Failed;
        }
    }
    measured.passed_tests = measured.cases.iter().filter(|case| case.case.status == Status::Passed).count();
    measured.failed_tests = measured.cases.iter().filter(|case| case.case.status.is_bad()).count();
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]
    use super::*;

    fn measured(cases: &[(&str, Status)]) -> Measured {
        let cases: Vec<_> = cases
            .iter()
            .map(|(id, status)| serde_json::json!({ "case_id": id, "status": status, "duration_ms": null, "message": "m", "location": null, "stack": [], "artifacts": [], "start": "all" }))
            .collect();
        let json = serde_json::json!({ "verdict": "FAIL", "exit_code": 1, "total_tests": 2, "passed_tests": 1, "failed_tests": 1, "skipped_tests": 0, "cases": cases, "metrics": {}, "fault": "", "artifacts": [] });
        serde_json::from_value(json).unwrap()
    }

    #[test]
    fn case_that_passes_some_controls_is_marked_flaky_with_counts() {
        let mut measured = measured(&[("a", Status::Failed), ("b", Status::Failed), ("c", Status::Passed)]);
        assert_eq!(failing(&measured, &[]), ["a", "b"]);
        assert_eq!(failing(&measured, &["b".to_owned()]), ["b"]);
        let mut tally = Tally::default();
        for status in [Status::Failed, Status::Passed, Status::Crashed] {
            tally.add("a", status);
            tally.add("b", Status::Timeout);
        }
        mark(&mut measured, &tally);
        assert_eq!(failing(&measured, &[]), ["b"], "nothing is searched for what is flaky");
        assert_eq!(measured.flaky.len(), 1);
        assert_eq!(measured.flaky[0].statuses.len(), 4);
        assert_eq!(measured.cases[0].case.message, "flaky: it passed in 1 of 3 controls (m)");
        assert!(tally.always_fails("b") && !tally.always_passes("b"));
        assert!(
            !tally.always_fails("unknown") && !tally.always_passes("unknown"),
            "nothing is known of what never ran"
        );
    }

    #[test]
    fn only_starts_that_reported_the_cases_run_again() {
        let text = r#"{"env_type":"local","suites":[{"id":"all"},{"id":"slow"}]}"#;
        let profile: Profile = serde_json::from_str(text).unwrap();
        let before = measured(&[("a", Status::Failed)]);
        let cases = ["a".to_owned()];
        let of = |before| -> Vec<String> {
            let wish = Wish { cases: &cases, controls: 0, before };
            whole(&profile, &wish).into_iter().map(|start| start.id).collect()
        };
        assert_eq!(of(Some(&before)), ["all"]);
        assert_eq!(of(None), ["all", "slow"]);
    }
}
