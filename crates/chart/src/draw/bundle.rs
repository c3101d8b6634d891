//! Which edges a picture has: all transitions from one state to another are one.

use std::collections::BTreeMap;

use super::{
    Highlight,
    words::{self, Line},
};
use crate::{
    Chart,
    model::{Kind, StateId, TransitionId},
};

/// Where a bundle begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Origin {
    /// A state.
    State(StateId),
    /// Any state: the machine's own transitions.
    Any,
    /// The initial dot of a composite.
    Dot(StateId),
}

/// All transitions from one origin to one target.
#[derive(Debug)]
pub(crate) struct Bundle {
    pub(crate) origin: Origin,
    pub(crate) target: StateId,
    pub(crate) transitions: Vec<TransitionId>,
    pub(crate) lines: Vec<Line>,
    /// The pieces from origin to target: a level, and an index into its pieces.
    pub(crate) path: Vec<(StateId, usize)>,
}

/// Every bundle of a chart, in document order.
pub(crate) fn collect(chart: &Chart, highlight: &Highlight) -> Vec<Bundle> {
    let mut found: BTreeMap<(Origin, StateId), usize> = BTreeMap::new();
    let mut bundles: Vec<Bundle> = Vec::new();
    let mut add = |origin: Origin, target: StateId, transition: Option<TransitionId>| {
        let index = *found.entry((origin, target)).or_insert(bundles.len());
        if index == bundles.len() {
            bundles.push(Bundle { origin, target, transitions: Vec::new(), lines: Vec::new(), path: Vec::new() });
        }
        let transitions = &mut bundles[index].transitions;
        transitions.extend(transition.filter(|id| !transitions.contains(id)));
    };
    for state in &chart.states {
        let origin = if state.kind.is_history() { Origin::State(state.id) } else { Origin::Dot(state.id) };
        for &target in beginnings(chart, state.id).iter().filter(|&&target| target != Chart::ROOT) {
            add(origin, target, None);
        }
        let origin = if state.id == Chart::ROOT { Origin::Any } else { Origin::State(state.id) };
        for &id in &state.transitions {
            for &target in chart.transition(id).targets.iter().filter(|&&target| target != Chart::ROOT) {
                add(origin, target, Some(id));
            }
        }
    }
    for bundle in &mut bundles {
        bundle.lines = words::edge_lines(chart, &bundle.transitions, highlight);
    }
    bundles
}

/// Where a composite begins or a history state leads by default.
pub(crate) fn beginnings(chart: &Chart, state: StateId) -> Vec<StateId> {
    let state = chart.state(state);
    match (&state.initial, state.kind) {
        (_, Kind::Parallel | Kind::Atomic | Kind::Final) => Vec::new(),
        (Some(initial), _) => initial.targets.clone(),
        (None, _) => {
            state.children.iter().copied().find(|&child| !chart.state(child).kind.is_history()).into_iter().collect()
        }
    }
}
