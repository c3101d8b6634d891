//! `convergence.measure`: compares the result of a round with the baseline and with the earlier rounds.

use std::{collections::BTreeMap, sync::Arc};

use interlock_activity::Attempt;
use interlock_chart::counted;
use interlock_test_results::Measured;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::{
    bench,
    table::{Done, Settings, blocking, given, signal},
};

#[derive(Deserialize)]
struct With {
    #[serde(default)]
    baseline: String,
    #[serde(default)]
    test_result: TestResult,
    #[serde(default)]
    targets: Vec<String>,
    #[serde(default)]
    metrics: BTreeMap<String, Threshold>,
    #[serde(default)]
    risk_total: f64,
    /// The largest number of target cases that passed in an earlier round.
    #[serde(default)]
    best_passed: usize,
    /// The upper bound of the confidence in the patch.
    #[serde(default = "certain")]
    patch_confidence: f64,
    /// True if a person has read the patch or the task accepts the figures alone. Older machines do not have the
    /// field.
    #[serde(default = "yes")]
    trusted: bool,
}

/// The confidence that a fix must have.
pub(crate) const SURE: f64 = 0.8;

fn certain() -> f64 {
    1.0
}

fn yes() -> bool {
    true
}

/// The needed part of the compact result that a run carries.
#[derive(Default, Deserialize)]
struct TestResult {
    #[serde(default)]
    passed_targets: usize,
    #[serde(default)]
    regressions: Vec<String>,
    #[serde(default)]
    metrics: BTreeMap<String, f64>,
}

/// The limits of a figure.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Threshold {
    /// The largest allowed value.
    max: Option<f64>,
    /// The smallest allowed value.
    min: Option<f64>,
    /// The largest allowed rise over the baseline, in percent.
    rise_max_percent: Option<f64>,
    /// The largest allowed fall below the baseline, in percent.
    fall_max_percent: Option<f64>,
}

/// Compares a round with the baseline.
pub(crate) async fn measure(_: Arc<Settings>, attempt: Attempt) -> Done {
    let with: With = given(&attempt)?;
    let hash = with.baseline.clone();
    let before = blocking(move || bench::baseline(&attempt, &hash)).await?;
    Ok(signal("round_measured", compared(&with, before.as_ref())))
}

fn compared(with: &With, before: Option<&Measured>) -> Value {
    let result = &with.test_result;
    let at_first = before.map_or(0, |before| bench::passed_targets(before, Some(before), &with.targets));
    let (passed, lost) = (result.passed_targets, result.regressions.len());
    let improved = passed > at_first.max(with.best_passed) && lost == 0;
    let figures = BTreeMap::new();
    let old = before.map_or(&figures, |before| &before.metrics);
    let broken = broken(&with.metrics, &result.metrics, old);
    let mut summary = format!("{}, {at_first} before", counted(passed, "target case passes", "target cases pass"));
    if lost > 0 {
        summary += &format!("; {} passed before and does not now", result.regressions.join(", "));
    }
    if !broken.is_empty() {
        summary += &format!("; {}", broken.join("; "));
    }
    json!({
        "new_regressions": lost,
        "metrics_kept": broken.is_empty(),
        "improved": improved,
        "plausible": !with.trusted || with.patch_confidence < SURE,
        "risk_total": with.risk_total,
        "passed_targets": passed,
        "summary": summary,
    })
}

/// Describes the figures that violate their thresholds.
pub(crate) fn broken(
    thresholds: &BTreeMap<String, Threshold>,
    now: &BTreeMap<String, f64>,
    before: &BTreeMap<String, f64>,
) -> Vec<String> {
    thresholds.iter().filter_map(|(name, threshold)| threshold.broken(name, now, before)).collect()
}

impl Threshold {
    /// Lists the limits that are set, by the names that tasks use.
    fn said(&self) -> impl Iterator<Item = (&'static str, f64)> {
        let Threshold { max, min, rise_max_percent, fall_max_percent } = self;
        let named = [
            ("max", max),
            ("min", min),
            ("rise_max_percent", rise_max_percent),
            ("fall_max_percent", fall_max_percent),
        ];
        named.into_iter().filter_map(|(name, value)| value.map(|value| (name, value)))
    }

    /// Reports whether no limit is set.
    pub(crate) fn is_empty(&self) -> bool {
        self.said().next().is_none()
    }

    /// Returns an absolute limit below 0, which no figure can meet. A negative percentage is allowed: it demands a
    /// change in the other direction.
    pub(crate) fn negative(&self) -> Option<(&'static str, f64)> {
        self.said().find(|(name, value)| !name.ends_with("_percent") && *value < 0.0)
    }

    /// Describes the violation of a figure, if any. A figure that was not measured counts as violating its threshold.
    fn broken(&self, name: &str, now: &BTreeMap<String, f64>, before: &BTreeMap<String, f64>) -> Option<String> {
        let Some(&now) = now.get(name) else { return Some(format!("{name} was not measured")) };
        let change = before.get(name).filter(|before| **before != 0.0).map(|before| (now - before) / before * 100.0);
        let change = change.unwrap_or(0.0);
        let is_over = |limit: Option<f64>, value: f64| limit.is_some_and(|limit| value > limit);
        let is_under = self.min.is_some_and(|min| now < min);
        if is_over(self.max, now) || is_under {
            let limit = |word: &str, limit: Option<f64>| limit.map(|limit| format!("{word} {limit}"));
            let limits: Vec<String> =
                limit("at most", self.max).into_iter().chain(limit("at least", self.min)).collect();
            return Some(format!("{name} is {now}, required is {}", limits.join(" and ")));
        }
        let is_much = is_over(self.rise_max_percent, change) || is_over(self.fall_max_percent, -change);
        is_much.then(|| format!("{name} changed by {change:.1} %"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(with: Value, expected: &[(&str, Value)]) {
        let with: With = serde_json::from_value(with).unwrap_or_else(|error| panic!("{error}"));
        let compared = compared(&with, None);
        for (name, value) in expected {
            assert_eq!(&compared[*name], value, "{name} of {compared}");
        }
    }

    #[test]
    fn round_improves_only_if_more_targets_pass_without_regressions() {
        check(json!({ "test_result": { "passed_targets": 3 }, "best_passed": 2 }), &[("improved", json!(true))]);
        check(json!({ "test_result": { "passed_targets": 2 }, "best_passed": 2 }), &[("improved", json!(false))]);
        let lost = json!({ "test_result": { "passed_targets": 3, "regressions": ["a"] }, "best_passed": 0 });
        check(lost, &[("improved", json!(false)), ("new_regressions", json!(1))]);
    }

    #[test]
    fn patch_with_low_confidence_is_only_plausible() {
        check(json!({ "patch_confidence": 0.79 }), &[("plausible", json!(true))]);
        check(json!({ "patch_confidence": 0.8 }), &[("plausible", json!(false))]);
        check(json!({}), &[("plausible", json!(false))]);
        let sure = json!({ "patch_confidence": 1.0, "trusted": false });
        check(sure, &[("plausible", json!(true))]);
    }

    #[test]
    fn violated_threshold_fails_the_round() {
        let with = |threshold: Value, text: f64| json!({ "test_result": { "metrics": { "text": text } }, "metrics": { "text": threshold } });
        check(with(json!({ "max": 100 }), 100.0), &[("metrics_kept", json!(true))]);
        check(with(json!({ "max": 100 }), 101.0), &[("metrics_kept", json!(false))]);
        check(with(json!({ "min": 5 }), 4.0), &[("metrics_kept", json!(false))]);
        check(json!({ "metrics": { "coverage": { "min": 1 } } }), &[("metrics_kept", json!(false))]);
    }
}
