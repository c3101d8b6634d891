//! `delivery.examine`: the checks before a patch is brought into the sources, in addition to a passing test run.
//!
//! The failing cases run alternately on the untouched and on the patched tree: a tree whose results differ from run
//! to run proves nothing (`bench/controls.rs`). Then the patch itself is examined for changes that no measurement
//! covers (`doubts.rs`). The machine decides who delivers the patch.

mod doubts;
mod trees;

use std::{sync::Arc, time::Instant};

use interlock_activity::{Attempt, Outcome};
use interlock_chart::counted;
use interlock_repair::{MEASURED_MAX, believed};
use interlock_test_results::Measured;
use interlock_testbench::{Operation, Profile, Trouble, environment};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::{
    bench::{self, controls},
    build::Build,
    table::{Done, Settings, blocking, given, keep, refs, signal},
};
use controls::{ControlResults, Tally, Tree, Wish};
use trees::Pair;

/// The number of cases that a summary names.
const CASES_TOLD: usize = 3;

#[derive(Deserialize)]
pub(crate) struct With {
    /// The hash of the tree as it was found; `tree` is the one with all patches.
    pub(crate) base: String,
    pub(crate) tree: String,
    #[serde(default)]
    pub(crate) repo: String,
    #[serde(default)]
    pub(crate) build: Build,
    /// The image of the patched tree.
    #[serde(default)]
    pub(crate) artifact: String,
    pub(crate) test_profile: Profile,
    #[serde(default)]
    pub(crate) baseline: String,
    /// The number of control runs; 0 if the task does not set it.
    #[serde(default)]
    pub(crate) controls: u32,
    /// True if a person has read the patch and let it be applied.
    #[serde(default)]
    pub(crate) trusted: bool,
    /// The origin of the last patch: a template or a model.
    #[serde(default)]
    pub(crate) patch_origin: String,
    /// The confidence in the patch before the controls.
    #[serde(default)]
    pub(crate) patch_confidence: f64,
    /// True if the environment is reset first.
    #[serde(default)]
    pub(crate) reset: bool,
}

/// The conclusion of the controls.
struct Came {
    /// The cases that fail every time without the patch and pass every time with it.
    witnesses: Vec<String>,
    /// The cases whose results differ between runs of one tree, with the figures; empty if there are none.
    disagreements: Vec<String>,
    /// True if the untouched tree could be run.
    has_untouched: bool,
    runs: u32,
    starts: usize,
}

/// Runs the controls and examines the patch for doubts.
pub(crate) async fn examine(settings: Arc<Settings>, attempt: Attempt) -> Done {
    let with: With = given(&attempt)?;
    let place = environment(&with.test_profile).map_err(|trouble| bench::wrong(&trouble))?;
    for operation in [Operation::Deploy, Operation::Run] {
        bench::once(&*place, &attempt, operation)?;
    }
    let (of, hash) = (attempt.clone(), with.baseline.clone());
    let before = blocking(move || bench::baseline(&of, &hash)).await?;
    let begun = Instant::now();
    let came = match controlled(&settings, &attempt, &with, before.as_ref()).await? {
        Ok((came, tallies)) => (came, tallies),
        Err(trouble @ (Trouble::Config { .. } | Trouble::Cancelled)) => return Err(bench::wrong(&trouble)),
        Err(trouble) => {
            let data = json!({ "summary": trouble.to_string(), "evidence_refs": [] });
            return Ok(signal("env_failed", data));
        }
    };
    let (came, tallies) = came;
    let doubts = doubts::of(&settings, &attempt, &with, before.as_ref()).await?;
    let told = json!({
        "controls": came.runs,
        "starts": came.starts,
        "cases": tallies,
        "witnesses": came.witnesses,
        "disagreements": came.disagreements,
        "doubts": doubts,
    });
    let evidence = keep(&attempt, "controls", "application/json", format!("{told:#}\n").into_bytes()).await?;
    let spent = bench::milliseconds(begun.elapsed());
    let mut data = json!({ "summary": summary(&came, before.as_ref()), "programs_ms": spent, "starts": came.starts });
    if !came.disagreements.is_empty() {
        data["evidence_refs"] = json!(refs(std::slice::from_ref(&evidence)));
        return Ok(signal("controls_disagreed", data).with([evidence]));
    }
    data["confidence"] = json!(sure(&with, came.witnesses.len()));
    if doubts.is_empty() {
        return Ok(signal("controls_agreed", data).with([evidence]));
    }
    data["doubts"] = json!(doubts.join("; "));
    Ok(signal("doubts_found", data).with([evidence]))
}

/// Returns the confidence in the patch that this number of witnesses supports. If a person has read the patch, the
/// confidence is kept.
fn sure(with: &With, witnesses: usize) -> f64 {
    if with.trusted {
        return with.patch_confidence;
    }
    let most = match with.patch_origin.as_str() {
        "template" if witnesses > 0 => MEASURED_MAX,
        _ => believed(None, witnesses),
    };
    // More than two digits would pretend a precision that is not there.
    (with.patch_confidence.min(most) * 100.0).round() / 100.0
}

/// Runs the failing cases on both trees.
async fn controlled(
    settings: &Arc<Settings>,
    attempt: &Attempt,
    with: &With,
    before: Option<&Measured>,
) -> Result<Result<(Came, Value), Trouble>, Outcome> {
    let targets = &with.test_profile.targets;
    let cases = match before {
        Some(before) => controls::failing(before, targets),
        None if targets.is_empty() => with.test_profile.cases.clone(),
        None => targets.clone(),
    };
    let pair = Pair::make(settings, attempt, with, before).await?;
    let pair = match pair {
        Ok(pair) => pair,
        Err(trouble) => return Ok(Err(trouble)),
    };
    let mut trees = Vec::new();
    trees.extend(pair.untouched.as_ref().map(|open| Tree { name: "untouched", open, passes: false }));
    trees.push(Tree { name: "patched", open: &pair.patched, passes: true });
    let wish = Wish { cases: &cases, controls: with.controls, before };
    let shown = match cases.is_empty() {
        true => Ok(ControlResults { tallies: vec![Tally::default(); trees.len()], runs: 0, starts: 0 }),
        false => controls::run(settings, attempt, &trees, &wish).await,
    };
    let has_untouched = trees.len() > 1;
    pair.end(settings, attempt).await;
    Ok(shown.map(|shown| compared(&cases, shown, has_untouched)))
}

fn compared(cases: &[String], shown: ControlResults, has_untouched: bool) -> (Came, Value) {
    let ControlResults { mut tallies, runs, starts } = shown;
    let patched = tallies.pop().unwrap_or_default();
    let untouched = tallies.pop();
    let fails = |case: &str| untouched.as_ref().is_none_or(|tally| tally.always_fails(case));
    let witnesses = cases.iter().filter(|case| fails(case) && patched.always_passes(case));
    let witnesses: Vec<String> = witnesses.cloned().collect();
    let mut disagreements = Vec::new();
    for case in cases.iter().filter(|case| !witnesses.contains(case)) {
        let passes = |tally: &Tally| {
            let (passed, runs) = tally.passed(case);
            format!("passes in {passed} of {runs} runs")
        };
        let old = untouched.as_ref().map(|tally| format!("{} on the untouched tree and ", passes(tally)));
        disagreements.push(format!("{case} {}{} on the patched one", old.unwrap_or_default(), passes(&patched)));
    }
    let told = json!({ "untouched": untouched, "patched": patched });
    (Came { witnesses, disagreements, has_untouched, runs, starts }, told)
}

/// Summarizes the results of the controls.
fn summary(came: &Came, before: Option<&Measured>) -> String {
    if !came.disagreements.is_empty() {
        return some(&came.disagreements, "; ");
    }
    let flaky: Vec<String> = before.iter().flat_map(|it| &it.flaky).map(|flaky| flaky.case_id.clone()).collect();
    let left_out = match flaky.is_empty() {
        true => String::new(),
        false => format!("; {} is flaky on the untouched tree and was left out", some(&flaky, ", ")),
    };
    if came.witnesses.is_empty() {
        return format!("no case fails without the patch and passes with it{left_out}");
    }
    let cases = counted(came.witnesses.len(), "case", "cases");
    let names = some(&came.witnesses, ", ");
    match came.has_untouched {
        true => format!(
            "{cases} ({names}) failed without the patch and passed with it in all {} control runs of each tree{left_out}",
            came.runs
        ),
        false => format!(
            "{cases} ({names}) passed in all {} control runs with the patch; without it nothing can be built{left_out}",
            came.runs
        ),
    }
}

fn some(names: &[String], between: &str) -> String {
    let shown = names.iter().take(CASES_TOLD).cloned().collect::<Vec<_>>().join(between);
    match names.len().saturating_sub(CASES_TOLD) {
        0 => shown,
        more => format!("{shown}{between}and {more} more"),
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]
    use super::*;

    fn with(origin: &str, trusted: bool, confidence: f64) -> With {
        let json = json!({ "base": "", "tree": "", "test_profile": { "env_type": "local" }, "patch_origin": origin, "trusted": trusted, "patch_confidence": confidence });
        serde_json::from_value(json).unwrap()
    }

    #[test]
    fn confidence_never_exceeds_the_measured_support() {
        assert_eq!(sure(&with("template", false, 0.56), 9), 0.56);
        assert_eq!(sure(&with("template", false, 0.3), 9), 0.3);
        assert_eq!(sure(&with("model", false, 1.0), 1), 0.19);
        assert_eq!(sure(&with("model", false, 1.0), 0), 0.05, "a case that passed before is not a witness");
        assert_eq!(sure(&with("model", false, 0.95), 30), 0.56);
        assert_eq!(sure(&with("model", true, 1.0), 1), 1.0, "a person has read it");
        assert_eq!(sure(&with("template", false, 0.91), 12), 0.56, "a ranking figure is no measurement");
    }
}
