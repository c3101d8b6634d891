//! Consequences of an event that cannot be undone. A form never preselects such an event.
//!
//! An event counts as irreversible if its author declares it so (`irreversible: true`), or if a transition that takes
//! it now ends the run or enters a state whose activity changes something outside of the workspace. Only the states
//! that the transition itself enters are examined: effects further on belong to the events and guards on the way there.
//! Guards are not evaluated, because they may depend on data that the person has not typed yet: a transition behind a
//! guarded one may be taken. Limits are: a transition is not taken if its counter has reached the limit, and transitions
//! behind one without a guard are not taken if it is.

use interlock_activity::Registry;
use interlock_chart::model::{Chart, EffectClass, Event, InvokeId, Kind, StateId, Transition};

use crate::Live;

/// Returns the reason why an event cannot be undone if it is sent now, or `None` if it can be undone.
pub(crate) fn irreversible(live: &Live, registry: &Registry, event: &Event) -> Option<String> {
    if event.irreversible {
        return Some("the machine declares it irreversible".to_owned());
    }
    let chart = live.loaded.chart();
    live.state.configuration.iter().find_map(|state| {
        let transitions = chart.state(state).transitions.iter().map(|id| chart.transition(*id));
        let takes = |transition: &&Transition| transition.events.iter().any(|taken| taken.matches(&event.name));
        of_takers(live, registry, transitions.filter(takes).filter(|transition| live.is_within_limits(transition.id)))
    })
}

/// Returns the first consequence of the transitions of a state that can take an event.
fn of_takers<'c>(live: &Live, registry: &Registry, takers: impl Iterator<Item = &'c Transition>) -> Option<String> {
    let mut is_certain = true;
    for transition in takers {
        is_certain &= transition.guard.is_none();
        if let Some(words) = consequence(live, registry, transition) {
            return Some(if is_certain { format!("it {}", words.0) } else { format!("it may {}", words.1) });
        }
        if transition.guard.is_none() {
            break;
        }
    }
    None
}

/// Returns a consequence as a statement (`ends the run`) and as a possibility (`end the run`).
fn consequence(live: &Live, registry: &Registry, transition: &Transition) -> Option<(String, String)> {
    let chart = live.loaded.chart();
    let entered = entered(live, &transition.targets);
    if entered.iter().any(|id| ends_run(chart, *id)) {
        return Some(("ends the run".to_owned(), "end the run".to_owned()));
    }
    let invokes = entered.iter().flat_map(|id| &chart.state(*id).invokes);
    let external = invokes.map(|id| (&chart.invoke(*id).activity, effect(chart, registry, *id)));
    let mut external = external.filter(|(_, effect)| *effect == Some(EffectClass::External));
    external.next().map(|(activity, _)| {
        let what = format!("{activity}, which has an external effect");
        (format!("starts {what}"), format!("start {what}"))
    })
}

/// Returns the effect of an activity, or `None` if it is not installed, because then a person reports its result.
fn effect(chart: &Chart, registry: &Registry, id: InvokeId) -> Option<EffectClass> {
    let invoke = chart.invoke(id);
    let installed = registry.get(&invoke.activity)?;
    Some(invoke.effect.unwrap_or_else(|| installed.effect()))
}

fn ends_run(chart: &Chart, id: StateId) -> bool {
    let state = chart.state(id);
    state.kind == Kind::Final && state.parent == Some(Chart::ROOT)
}

/// Returns the states that a transition enters: its targets, their initial states, and the ancestors of the targets
/// that are not active yet.
fn entered(live: &Live, targets: &[StateId]) -> Vec<StateId> {
    let chart = live.loaded.chart();
    let mut found: Vec<StateId> = Vec::new();
    let mut open: Vec<StateId> = targets.to_vec();
    while let Some(id) = open.pop() {
        if found.contains(&id) {
            continue;
        }
        found.push(id);
        let state = chart.state(id);
        open.extend(state.initial.iter().flat_map(|initial| &initial.targets));
        if state.kind == Kind::Parallel {
            open.extend(&state.children);
        }
    }
    let around = targets.iter().flat_map(|id| chart.ancestors(*id));
    found.extend(around.filter(|id| !live.state.configuration.contains(*id)));
    found
}
