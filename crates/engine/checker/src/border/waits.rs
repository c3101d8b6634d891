//! Waits that a timeout always ends first: the activity's signal can then never come.

use interlock_chart::{
    Chart, Diagnostic, Value,
    catalogue::{Entry, Meaning},
    model::{Invoke, Template},
};

use super::{Field, field};

/// Reports a literal wait that is as long as the timeout of its state, or of a state around it, or longer.
pub(super) fn check(chart: &Chart, invoke: &Invoke, entry: &Entry, found: &mut Vec<Diagnostic>) {
    for name in entry.meaning(Meaning::WaitSeconds) {
        let Some(wait_ms) = field(invoke, name).and_then(literal_ms) else { continue };
        let around = std::iter::once(invoke.state).chain(chart.ancestors(invoke.state));
        let limits = around.filter_map(|state| Some((&chart.state(state).name, chart.state(state).timeout_ms?)));
        let Some((state, limit_ms)) = limits.min_by_key(|(_, limit_ms)| *limit_ms) else { continue };
        if wait_ms >= limit_ms as f64 {
            let message = format!(
                "this waits for {} seconds, but the timeout of `{state}` comes after {} seconds, so the wait never ends by itself",
                wait_ms / 1_000.0,
                limit_ms as f64 / 1_000.0,
            );
            let hint = format!("give `{state}` a longer `timeout`, or `timeout: none`");
            found.push(Diagnostic::error("E0722", invoke.key_span(name), message).hint(hint));
        }
    }
}

fn literal_ms(field: Field<'_>) -> Option<f64> {
    let value = match field {
        Field::Literal(value) | Field::Template(Template::Literal(value)) => value,
        Field::Template(_) => return None,
    };
    match value {
        Value::Int(seconds) => Some(*seconds as f64 * 1_000.0),
        Value::Float(seconds) => Some(seconds * 1_000.0),
        _ => None,
    }
}
