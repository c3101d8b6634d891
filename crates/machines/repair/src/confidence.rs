//! The confidence in a repair that makes every case pass. Such a repair is plausible, not proven.

use crate::template::Template;

/// The measured share of correct first repairs, by the number of cases that execute the change: (minimum number of
/// cases, share).
const RIGHT_BY_CASES: [(usize, f64); 4] = [(7, 0.56), (4, 0.40), (1, 0.19), (0, 0.05)];
/// The number of cases behind the measured shares. Every further passing case that executes the change raises the
/// confidence.
const CASES_COUNTED: f64 = 6.0;
/// The maximum factor for further cases, so that no number of cases makes a deleted statement credible.
const FURTHER_MAX: f64 = 3.0;
/// A repair that fewer cases cover is never trusted.
const CASES_FOR_BELIEF: usize = 4;
/// The maximum confidence of an untrusted repair, below every threshold for success.
const UNBELIEVED_MAX: f64 = 0.79;
/// The maximum confidence, because a repair that was only tested is never certain.
const BELIEVED_MAX: f64 = 0.95;
/// If a smaller share of the cases executes the change, the others are no evidence about it.
const SHARE_THAT_COUNTS: f64 = 0.1;

/// The largest share that was ever measured. Passing tests alone never raise the confidence in a patch above it.
pub const MEASURED_MAX: f64 = 0.56;

/// Returns the probability that a patch with which all cases pass is correct, from 0 to [`MEASURED_MAX`].
///
/// `witnesses` is the number of cases that fail without the patch and pass with it. A case that passes either way does
/// not distinguish the patch from others, so it does not count. A patch without a template, such as a model's, gets the
/// plain share, whatever confidence its author states.
pub fn believed(template: Option<Template>, witnesses: usize) -> f64 {
    let share = share(witnesses);
    let odds = share / (1.0 - share) * template.map_or(1.0, Template::odds);
    (odds / (1.0 + odds)).min(MEASURED_MAX)
}

fn share(cases: usize) -> f64 {
    RIGHT_BY_CASES.iter().find(|(least, _)| cases >= *least).map_or(0.0, |(_, share)| *share)
}

/// Returns the probability that a repair with which all cases pass is correct, from 0 to 1.
///
/// It is the measured share of correct repairs with as many cases, adjusted by the template's record. It never reaches
/// 0.8 if fewer than four cases execute the change. It ranks candidates, and it decides alone only if a task requests
/// delivery by measurement: on real bugs it did not distinguish correct patches from wrong ones.
pub fn confidence(template: Template, cases_covering: usize, cases_total: usize) -> f64 {
    let covering = cases_covering.min(cases_total);
    let share = share(covering);
    let further = (covering as f64 / CASES_COUNTED).clamp(1.0, FURTHER_MAX);
    let odds = share / (1.0 - share) * template.odds() * breadth(covering, cases_total) * further;
    let believed = odds / (1.0 + odds);
    let most = if covering < CASES_FOR_BELIEF { UNBELIEVED_MAX } else { BELIEVED_MAX };
    believed.min(most)
}

fn breadth(covering: usize, total: usize) -> f64 {
    if total == 0 || covering as f64 / total as f64 >= SHARE_THAT_COUNTS { 1.0 } else { 0.8 }
}
