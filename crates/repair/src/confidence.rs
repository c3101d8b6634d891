//! How much a repair that makes every case pass is worth: plausible is not proven.

use crate::template::Template;

/// How often the first repair that passes was right, by how many cases executed what was changed: (cases at least, share).
const RIGHT_BY_CASES: [(usize, f64); 4] = [(7, 0.56), (4, 0.40), (1, 0.19), (0, 0.05)];
/// Beyond what those shares were counted on (seven cases and somewhat more), every further case that executes the change and passes speaks for it.
const CASES_COUNTED: f64 = 6.0;
/// As far as that goes: no number of cases makes a deleted statement believed.
const FURTHER_MAX: f64 = 3.0;
/// A repair that fewer cases cover is never believed.
const CASES_FOR_BELIEF: usize = 4;
/// What an unbelieved repair can reach: below every threshold for success.
const UNBELIEVED_MAX: f64 = 0.79;
/// Nothing that was only tested is certain.
const BELIEVED_MAX: f64 = 0.95;
/// Where only a small share of the cases executes the change, the others say nothing about it.
const SHARE_THAT_COUNTS: f64 = 0.1;

/// The largest share that was ever measured: no patch is believed more than that because its tests pass.
pub const MEASURED_MAX: f64 = 0.56;

/// How likely a patch is right that all cases pass with, from 0 to [`MEASURED_MAX`].
///
/// `witnesses` are cases that fail without the patch and pass with it. A case that passes either way does not tell the patch from others, so
/// it is none. A patch that no template made, such as a model's, has the plain share, however sure its author is.
pub fn believed(template: Option<Template>, witnesses: usize) -> f64 {
    let share = share(witnesses);
    let odds = share / (1.0 - share) * template.map_or(1.0, Template::odds);
    (odds / (1.0 + odds)).min(MEASURED_MAX)
}

fn share(cases: usize) -> f64 {
    RIGHT_BY_CASES.iter().find(|(least, _)| cases >= *least).map_or(0.0, |(_, share)| *share)
}

/// How likely a repair is right that makes all cases pass, from 0 to 1.
///
/// The share of repairs that were right with as many cases, moved by how often the template was right. It never
/// reaches 0.8 on fewer than four cases that execute what was changed. It ranks candidates, and decides alone only where a task asks for
/// delivery by measurement: real bugs have shown that it does not tell right patches from wrong ones.
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
