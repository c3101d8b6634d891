//! Transitions that can never be chosen: an earlier one matches all their events, or their guard is `false`.

use super::{super::code, covering, key};
use crate::{
    Diagnostic, Value,
    expr::Node,
    model::{Chart, State, Transition, TransitionId},
};
use std::collections::BTreeMap;

/// Warns about such transitions. They are not errors: the machine behaves as if they did not exist.
pub(super) fn check(chart: &Chart, problems: &mut Vec<Diagnostic>) {
    chart.states.iter().for_each(|state| check_state(chart, state, problems));
}

fn check_state(chart: &Chart, state: &State, problems: &mut Vec<Diagnostic>) {
    let mut always = None;
    let mut taken: BTreeMap<&str, TransitionId> = BTreeMap::new();
    for transition in state.transitions.iter().map(|id| chart.transition(*id)) {
        if guard_is(transition, false) {
            let span = transition.guard.as_ref().map_or(transition.span, |guard| guard.span);
            problems.push(Diagnostic::warning(
                code::NEVER_CHOSEN,
                span,
                "this transition is never taken: its guard is always false",
            ));
            continue;
        }
        if let Some(earlier) = shadow(chart, transition, always, &taken) {
            let problem = Diagnostic::warning(code::NEVER_CHOSEN, transition.span, "this transition is never taken");
            let first = chart.transition(earlier).span;
            problems.push(problem.related(first, "this earlier transition always takes the same event"));
            continue;
        }
        if transition.limits.is_empty() && (transition.guard.is_none() || guard_is(transition, true)) {
            always = always.or(transition.events.is_empty().then_some(transition.id));
            for event in &transition.events {
                taken.entry(key(event)).or_insert(transition.id);
            }
        }
    }
}

/// Returns an earlier transition of the state if earlier transitions match every event of this one.
fn shadow(
    chart: &Chart,
    transition: &Transition,
    always: Option<TransitionId>,
    taken: &BTreeMap<&str, TransitionId>,
) -> Option<TransitionId> {
    if transition.events.is_empty() {
        return always;
    }
    let by = |event: &crate::model::Descriptor| {
        covering(chart, transition.source, event).find_map(|key| taken.get(key).copied())
    };
    let shadows: Option<Vec<TransitionId>> = transition.events.iter().map(by).collect();
    shadows.and_then(|shadows| shadows.first().copied())
}

/// Returns true if the guard is this constant.
pub(super) fn guard_is(transition: &Transition, constant: bool) -> bool {
    matches!(&transition.guard, Some(guard) if guard.node == Node::Literal(Value::Bool(constant)))
}
