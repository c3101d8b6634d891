//! A chart with some composite states drawn as plain boxes: the states inside them are left out.
//!
//! The result is made only to be drawn. States get new indices; transitions keep theirs, so that the numbers in a picture
//! mean the same transitions whether or not states are collapsed.

use std::{borrow::Cow, collections::BTreeSet};

use interlock_chart::{
    Chart,
    model::{Kind, State, StateId, Transition},
};

/// Returns the chart without the states inside the named ones. Names of states without children have no effect.
pub(crate) fn chart<'a>(chart: &'a Chart, names: &BTreeSet<String>) -> Cow<'a, Chart> {
    let is_collapsed =
        |state: &State| state.id != Chart::ROOT && !state.children.is_empty() && names.contains(&state.name);
    if !chart.states.iter().any(is_collapsed) {
        return Cow::Borrowed(chart);
    }
    let shown: Vec<StateId> = shown(chart, is_collapsed);
    // The state that stands for each state, by its old index: itself or the collapsed state around it.
    let kept: BTreeSet<StateId> = shown.iter().copied().collect();
    let new = |id: StateId| kept.range(..id).count();
    let stand_in = |id: StateId| StateId::at(new(shown[id.index()]));
    let mut part = chart.clone();
    part.states = kept.iter().map(|&id| state(chart, &shown, &stand_in, id)).collect();
    for transition in &mut part.transitions {
        let (source, old) = (transition.source, transition.targets.clone());
        transition.targets =
            old.into_iter().filter(|&target| !is_inside(&shown, source, target)).map(stand_in).collect();
        transition.source = stand_in(source);
        for origin in transition.events.iter_mut().filter_map(|event| event.origin.as_mut()) {
            origin.state = stand_in(origin.state);
        }
    }
    for invoke in &mut part.invokes {
        invoke.state = stand_in(invoke.state);
    }
    Cow::Owned(part)
}

/// Returns the state that is drawn for each state: itself, or the outermost collapsed state around it.
fn shown(chart: &Chart, is_collapsed: impl Fn(&State) -> bool) -> Vec<StateId> {
    let mut shown: Vec<StateId> = Vec::with_capacity(chart.states.len());
    for state in &chart.states {
        // Parents come before their children.
        let hides =
            state.parent.filter(|parent| shown[parent.index()] != *parent || is_collapsed(chart.state(*parent)));
        shown.push(hides.map_or(state.id, |parent| shown[parent.index()]));
    }
    shown
}

/// Returns true if a transition stays within one collapsed state. A state's transition to itself is drawn.
fn is_inside(shown: &[StateId], source: StateId, target: StateId) -> bool {
    let is_hidden = |id: StateId| shown[id.index()] != id;
    shown[source.index()] == shown[target.index()] && (is_hidden(source) || is_hidden(target))
}

/// Returns a state that is drawn, with its new indices. A collapsed state has the transitions that leave it.
fn state(chart: &Chart, shown: &[StateId], stand_in: &impl Fn(StateId) -> StateId, old: StateId) -> State {
    let mut state = chart.state(old).clone();
    let is_shown = |id: &StateId| shown[id.index()] == *id;
    let is_collapsed = !state.children.is_empty() && !state.children.iter().any(is_shown);
    state.id = stand_in(old);
    state.parent = state.parent.map(stand_in);
    state.children = state.children.into_iter().filter(is_shown).map(stand_in).collect();
    if is_collapsed {
        (state.kind, state.initial) = (Kind::Atomic, None);
        let leaves = |transition: &&Transition| {
            let (source, targets) = (transition.source, &transition.targets);
            let leads_out = || targets.iter().any(|&target| !is_inside(shown, source, target));
            shown[source.index()] == old && (source == old && targets.is_empty() || leads_out())
        };
        state.transitions = chart.transitions.iter().filter(leaves).map(|transition| transition.id).collect();
    }
    if let Some(initial) = &mut state.initial {
        initial.targets = initial.targets.iter().copied().map(stand_in).collect();
    }
    state
}
