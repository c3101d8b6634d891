//! The visited part of a chart as a separate chart, with new indices.
//!
//! It is made only to be drawn: guards, limits and actions are removed.

use std::collections::{BTreeMap, BTreeSet};

use super::{Detail, Highlight, Visits, is_parallel};
use interlock_chart::{
    Chart,
    model::{Descriptor, Initial, Kind, State, StateId, Transition, TransitionId},
};

/// A taken transition as it is drawn: its source, its targets and its events.
type Arrow = (StateId, Vec<StateId>, Vec<String>);

/// The visited part, with the counts of its transitions.
pub(super) fn of(chart: &Chart, visits: &Visits, detail: Detail) -> (Chart, Highlight) {
    let kept = kept(chart, visits, detail);
    let new: BTreeMap<StateId, StateId> =
        kept.iter().enumerate().map(|(at, &state)| (state, StateId::at(at))).collect();
    let mut part = Chart { summary: String::new(), properties: Vec::new(), ..chart.clone() };
    part.states = kept.iter().map(|&state| self::state(chart, visits, &new, state, detail)).collect();
    for at in 1..part.states.len() {
        let (id, parent) = (part.states[at].id, part.states[at].parent.unwrap_or(Chart::ROOT));
        part.states[parent.index()].children.push(id);
    }
    for state in part.states.iter_mut().filter(|state| state.children.is_empty() && state.kind != Kind::Final) {
        state.kind = Kind::Atomic;
    }
    for invoke in &mut part.invokes {
        invoke.state = new.get(&invoke.state).copied().unwrap_or(Chart::ROOT);
    }
    let mut highlight = Highlight::default();
    part.transitions = Vec::new();
    for ((source, targets, events), (old, count)) in arrows(chart, visits, &new) {
        let id = TransitionId::at(part.transitions.len());
        part.transitions.push(transition(chart.transition(old), id, source, targets, events));
        part.states[source.index()].transitions.push(id);
        highlight.counts.insert(id, count);
    }
    highlight.here = visits.here.iter().filter_map(|state| new.get(state).copied()).collect();
    (part, highlight)
}

/// The states to draw, in document order: the visited ones and those around them.
fn kept(chart: &Chart, visits: &Visits, detail: Detail) -> BTreeSet<StateId> {
    let mut kept = BTreeSet::from([Chart::ROOT]);
    for &state in &visits.entered {
        kept.insert(state);
        kept.extend(chart.ancestors(state));
    }
    if detail == Detail::Flat {
        let is_region = |state: &State| state.parent.is_some_and(|parent| is_parallel(chart.state(parent).kind));
        kept.retain(|&id| {
            let state = chart.state(id);
            id == Chart::ROOT || is_parallel(state.kind) || is_region(state) || state.kind != Kind::Compound
        });
    }
    kept
}

/// The nearest drawn state around a state.
fn around(chart: &Chart, new: &BTreeMap<StateId, StateId>, state: StateId) -> StateId {
    chart.ancestors(state).find_map(|ancestor| new.get(&ancestor).copied()).unwrap_or(Chart::ROOT)
}

/// One state with its new index and nothing inside yet.
fn state(chart: &Chart, visits: &Visits, new: &BTreeMap<StateId, StateId>, old: StateId, detail: Detail) -> State {
    let mut state = chart.state(old).clone();
    state.id = new.get(&old).copied().unwrap_or(Chart::ROOT);
    state.parent = (old != Chart::ROOT).then(|| around(chart, new, old));
    state.initial = (!state.children.is_empty()).then(|| initial(chart, visits, new, old));
    (state.children, state.transitions) = (Vec::new(), Vec::new());
    if detail != Detail::All {
        (state.invokes, state.timeout_ms) = (Vec::new(), None);
    }
    state
}

/// Returns the initial states of a composite; none if it was never entered by default.
fn initial(chart: &Chart, visits: &Visits, new: &BTreeMap<StateId, StateId>, old: StateId) -> Initial {
    let begun = visits.begun.contains(&old);
    let targets = super::super::bundle::beginnings(chart, old).into_iter().filter(|_| begun);
    let targets = targets.filter_map(|target| drawn(chart, visits, new, target)).collect();
    Initial { targets, actions: Default::default() }
}

/// The drawn state that stands for a state. A composite that is not drawn stands for the state it began with.
fn drawn(chart: &Chart, visits: &Visits, new: &BTreeMap<StateId, StateId>, mut state: StateId) -> Option<StateId> {
    loop {
        if let Some(&found) = new.get(&state) {
            return Some(found);
        }
        if !visits.begun.contains(&state) {
            return None;
        }
        state = super::super::bundle::beginnings(chart, state).first().copied()?;
    }
}

/// All taken transitions, those with the same ends and events as one: the first of them, and how often they were taken.
fn arrows(chart: &Chart, visits: &Visits, new: &BTreeMap<StateId, StateId>) -> BTreeMap<Arrow, (TransitionId, u32)> {
    let mut arrows = BTreeMap::new();
    for (&(id, from), &count) in &visits.taken {
        let transition = chart.transition(id);
        let source = new.get(&from).copied().unwrap_or_else(|| around(chart, new, from));
        let target = |&target: &StateId| drawn(chart, visits, new, unremembered(chart, target));
        let targets: Vec<StateId> = transition.targets.iter().filter_map(target).collect();
        let events = transition.events.iter().map(|event| event.text.clone()).collect();
        arrows.entry((source, targets, events)).or_insert((id, 0)).1 += count;
    }
    arrows
}

/// A history state leads into the state around it.
fn unremembered(chart: &Chart, target: StateId) -> StateId {
    let state = chart.state(target);
    state.parent.filter(|_| state.kind.is_history()).unwrap_or(target)
}

fn transition(
    old: &Transition,
    id: TransitionId,
    source: StateId,
    targets: Vec<StateId>,
    events: Vec<String>,
) -> Transition {
    Transition {
        id,
        source,
        targets,
        events: events.into_iter().map(Descriptor::plain).collect(),
        guard: None,
        limits: Vec::new(),
        resets: Vec::new(),
        actions: Default::default(),
        ..old.clone()
    }
}
