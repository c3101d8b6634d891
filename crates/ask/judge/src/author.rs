//! The model whose work is judged. A judge may be the same model, but a verdict about its own work is noted as such.

use interlock_chart::Value;

use crate::{Verdict, panel::Hearing};

/// The field of `with` that names the author's model.
pub(crate) const FIELD: &str = "author_model";

/// The field of a verdict's data that people read.
const REASON: &str = "reason";

/// Returns the author's model that the machine passes on, if it is known.
pub(crate) fn of(with: &Value) -> Option<&str> {
    with.get(FIELD).and_then(Value::as_str).filter(|model| !model.is_empty())
}

/// Returns true if the judge of this name answered with the author's own model.
pub(crate) fn is_own_judge(author: &str, by: &str, hearings: &[Hearing]) -> bool {
    let heard = hearings.iter().filter(|hearing| hearing.judge == by && hearing.verdict.is_some());
    let mut tries = heard.flat_map(|hearing| &hearing.tries).filter(|tried| tried.fault.is_none());
    tries.any(|tried| tried.model == author || tried.answered_by.as_deref() == Some(author))
}

/// Adds a note to the reason of a verdict, which the run's record shows.
pub(crate) fn note(verdict: &mut Verdict, author: &str) {
    let note = format!(" (judged by the author's own model, {author})");
    verdict.reason.push_str(&note);
    if let Some(serde_json::Value::String(reason)) = verdict.data.get_mut(REASON) {
        reason.push_str(&note);
    }
}
