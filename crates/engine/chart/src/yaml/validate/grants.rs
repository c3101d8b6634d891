//! The event of `grants`: a person must be able to send it without data, and the state must take it.

use super::super::code;
use crate::{
    Diagnostic,
    model::{Chart, Event, GrantRequest, Raiser, State},
};

/// Reports every `grants` whose event a person cannot send from its state.
pub(super) fn check(chart: &Chart, problems: &mut Vec<Diagnostic>) {
    for state in &chart.states {
        let Some(request) = &state.grants else { continue };
        if let Some(why) = problem(chart, state, request) {
            let message = format!("`{}` cannot be sent once the permissions are granted: {why}", request.event);
            let hint = "name an event with `from: user` and no required data that this state takes";
            problems.push(Diagnostic::error(code::GRANT_NOT_TAKEN, request.span, message).hint(hint));
        }
    }
}

fn problem(chart: &Chart, state: &State, request: &GrantRequest) -> Option<String> {
    let known = chart.events.iter().find(|event| event.name == request.event);
    match known {
        None => Some("there is no such event".to_owned()),
        Some(event) if !matches!(event.from, Raiser::User | Raiser::Any) => {
            Some(format!("it comes from `{}`, not from a person", event.from.word()))
        }
        Some(event) if needs_data(event) => Some("it has required data".to_owned()),
        Some(event) if !is_taken(chart, state, event) => Some(format!("`{}` does not take it", state.name)),
        Some(_) => None,
    }
}

fn needs_data(event: &Event) -> bool {
    event.data.get("required").and_then(serde_json::Value::as_array).is_some_and(|names| !names.is_empty())
}

/// Whether the state, a state around it, or each state that can be active inside it takes the event.
fn is_taken(chart: &Chart, state: &State, event: &Event) -> bool {
    let mut around = std::iter::once(state.id).chain(chart.ancestors(state.id));
    around.any(|id| takes(chart, chart.state(id), event)) || is_taken_inside(chart, state, event)
}

fn is_taken_inside(chart: &Chart, state: &State, event: &Event) -> bool {
    let mut children =
        state.children.iter().map(|id| chart.state(*id)).filter(|child| !child.kind.is_history()).peekable();
    children.peek().is_some()
        && children.all(|child| takes(chart, child, event) || is_taken_inside(chart, child, event))
}

fn takes(chart: &Chart, state: &State, event: &Event) -> bool {
    let transitions = state.transitions.iter().map(|id| chart.transition(*id));
    transitions.flat_map(|transition| &transition.events).any(|descriptor| descriptor.matches(&event.name))
}
