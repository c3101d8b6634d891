//! Handlers of `timeout` that take the timeout of an outer state.
//!
//! The innermost handler takes an event. So a plain `on: timeout` also takes the timeouts of the states around its own.
//! If its transition stays inside such a state, that state goes on without a timeout. What is reported otherwise is only
//! the consequence: a run that cannot end, or a property that does not hold.

use super::super::code;
use crate::{
    Chart, Diagnostic,
    model::{StateId, Transition},
};

/// Reports plain handlers of `timeout` that keep an outer state active after its timeout.
pub(super) fn check(chart: &Chart, problems: &mut Vec<Diagnostic>) {
    for transition in &chart.transitions {
        let is_plain = |text: &str| text == "timeout";
        if !transition.events.iter().any(|event| event.origin.is_none() && is_plain(event.prefix())) {
            continue;
        }
        let mut outer = chart.ancestors(transition.source).filter(|state| chart.state(*state).timeout_ms.is_some());
        if let Some(outer) = outer.find(|outer| stays_in(chart, transition, *outer)) {
            problems.push(problem(chart, transition, outer));
        }
    }
}

fn stays_in(chart: &Chart, transition: &Transition, outer: StateId) -> bool {
    transition.targets.iter().all(|target| chart.is_descendant(*target, outer))
}

fn problem(chart: &Chart, transition: &Transition, outer: StateId) -> Diagnostic {
    let (own, outer) = (chart.state(transition.source), &chart.state(outer).name);
    let message =
        format!("`timeout` in `{}` also takes the timeout of `{outer}`, which then has none any more", own.name);
    let hint = match own.timeout_ms {
        Some(_) => format!("write `timeout.{}` for the state's own timeout", own.name),
        None => format!(
            "`{}` has no timeout: give it one and write `timeout.{0}`, or handle `timeout` in `{outer}`",
            own.name
        ),
    };
    Diagnostic::warning(code::TAKES_OUTER_TIMEOUT, transition.span, message).hint(hint)
}
