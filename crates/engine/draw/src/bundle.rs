//! The edges of a picture: all transitions from one state to another state form one edge.

use std::collections::BTreeMap;

use super::{
    Highlight,
    words::{self, Line},
};
use interlock_chart::{
    Chart,
    model::{Kind, StateId, TransitionId},
};

/// The origin of a bundle.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Origin {
    /// A single state of the chart.
    State(StateId),
    /// Any state: the origin of the root's transitions.
    Any,
    /// The initial dot of a composite state.
    Dot(StateId),
}

/// All transitions from one origin to one target.
#[derive(Debug)]
pub(crate) struct Bundle {
    pub(crate) origin: Origin,
    pub(crate) target: StateId,
    pub(crate) transitions: Vec<TransitionId>,
    pub(crate) lines: Vec<Line>,
    /// The pieces from the origin to the target: the level of each piece, and its index in that level.
    pub(crate) path: Vec<(StateId, usize)>,
}

/// Collects every bundle of a chart in document order.
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

/// Returns the initial states of a composite state, or the default targets of a history state.
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
