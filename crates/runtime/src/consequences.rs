//! Consequences of an event that cannot be undone. A form never preselects such an event.
//!
//! An event counts as irreversible if its author declares it so (`irreversible: true`), or if a transition that takes
//! it now ends the run or enters a state whose activity changes something outside of the workspace. Only the states
//! that the transition itself enters are examined: effects further on belong to the events and guards on the way there.
//! Guards are not evaluated, because they may depend on data that the person has not typed yet.

use interlock_activity::Registry;
use interlock_chart::model::{Chart, EffectClass, Event, InvokeId, Kind, StateId, Transition};

use crate::Live;

/// Returns the reason why an event cannot be undone if it is sent now, or `None` if it can be undone.
pub(crate) fn irreversible(live: &Live, registry: &Registry, event: &Event) -> Option<String> {
    if event.irreversible {
        return Some("the machine declares it irreversible".to_owned());
    }
    let chart = live.loaded.chart();
    let takers = live.state.configuration.iter().flat_map(|state| &chart.state(state).transitions);
    let takers = takers.map(|id| chart.transition(*id));
    let takes = |transition: &&Transition| transition.events.iter().any(|taken| taken.matches(&event.name));
    takers.filter(takes).find_map(|transition| consequence(live, registry, transition))
}

fn consequence(live: &Live, registry: &Registry, transition: &Transition) -> Option<String> {
    let chart = live.loaded.chart();
    let entered = entered(live, &transition.targets);
    if entered.iter().any(|id| ends_run(chart, *id)) {
        return Some("it ends the run".to_owned());
    }
    let invokes = entered.iter().flat_map(|id| &chart.state(*id).invokes);
    let external = invokes.map(|id| (&chart.invoke(*id).activity, effect(chart, registry, *id)));
    let mut external = external.filter(|(_, effect)| *effect == Some(EffectClass::External));
    external.next().map(|(activity, _)| format!("it starts {activity}, which has an external effect"))
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
