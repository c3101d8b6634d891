//! Queries about states that can be active together, answered without a scan of all states: the descendants of a state
//! are numbered consecutively after it.

use super::super::{code, resolve::Places};
use crate::{
    Diagnostic, Span,
    model::{Chart, Kind, StateId},
};
use std::{collections::BTreeSet, ops::Range};

/// The hierarchy as ranges of numbers.
pub(super) struct Shape<'c> {
    pub chart: &'c Chart,
    /// One past the last descendant of each state.
    end: Vec<usize>,
}

impl<'c> Shape<'c> {
    pub(super) fn of(chart: &'c Chart) -> Self {
        let mut end: Vec<usize> = (1..=chart.states.len()).collect();
        for state in chart.states.iter().rev() {
            if let Some(parent) = state.parent {
                end[parent.index()] = end[parent.index()].max(end[state.id.index()]);
            }
        }
        Shape { chart, end }
    }

    fn range(&self, id: StateId) -> Range<usize> {
        id.index()..self.end[id.index()]
    }

    /// Returns true if `inner` is `outer` or inside it.
    pub(super) fn contains(&self, outer: StateId, inner: StateId) -> bool {
        self.range(outer).contains(&inner.index())
    }

    /// Returns true if the hierarchy permits a configuration with both states.
    pub(super) fn together(&self, a: StateId, b: StateId) -> bool {
        if self.contains(a, b) || self.contains(b, a) {
            return true;
        }
        let meeting = self.chart.ancestors(a).find(|ancestor| self.contains(*ancestor, b));
        meeting.is_some_and(|meeting| self.chart.state(meeting).kind == Kind::Parallel)
    }

    /// Returns the states whose events this one receives under their plain names: its descendants and its ancestors.
    pub(super) fn line(&self, id: StateId) -> Vec<Range<usize>> {
        let around = self.chart.ancestors(id).map(|ancestor| ancestor.index()..ancestor.index() + 1);
        std::iter::once(self.range(id)).chain(around).collect()
    }

    /// Returns true if this state receives an event of one of the states under its plain name.
    pub(super) fn hears_any(&self, id: StateId, states: &BTreeSet<usize>) -> bool {
        self.line(id).into_iter().any(|range| states.range(range).next().is_some())
    }

    /// Returns the states that can be active together with this one, as ranges of numbers.
    pub(super) fn companions(&self, id: StateId) -> Vec<Range<usize>> {
        let mut ranges = vec![self.range(id)];
        let mut inner = id;
        for ancestor in self.chart.ancestors(id) {
            if self.chart.state(ancestor).kind == Kind::Parallel {
                ranges.push(ancestor.index()..inner.index());
                ranges.push(self.end[inner.index()]..self.end[ancestor.index()]);
            } else {
                ranges.push(ancestor.index()..ancestor.index() + 1);
            }
            inner = ancestor;
        }
        ranges
    }

    /// Returns true if one of the states can be active together with this one.
    pub(super) fn any_together(&self, id: StateId, states: &BTreeSet<usize>) -> bool {
        self.companions(id).into_iter().any(|range| !range.is_empty() && states.range(range).next().is_some())
    }
}

/// Reports targets that exclude each other.
pub(super) fn check_targets(shape: &Shape<'_>, places: &Places, problems: &mut Vec<Diagnostic>) {
    for transition in &shape.chart.transitions {
        let spans = places.targets.get(transition.id.index()).map(Vec::as_slice).unwrap_or_default();
        apart(shape, &transition.targets, spans, transition.span, problems);
    }
    for state in &shape.chart.states {
        if let Some(initial) = &state.initial {
            apart(shape, &initial.targets, &[], state.span, problems);
        }
    }
}

fn apart(shape: &Shape<'_>, targets: &[StateId], spans: &[Span], whole: Span, problems: &mut Vec<Diagnostic>) {
    // A history state may enter any state inside its parent.
    let place = |id: StateId| match shape.chart.state(id) {
        state if state.kind.is_history() => state.parent.unwrap_or(id),
        _ => id,
    };
    for (position, &second) in targets.iter().enumerate().skip(1) {
        let clash = targets[..position].iter().find(|&&first| !shape.together(place(first), place(second)));
        if let Some(&first) = clash {
            let name = |id: StateId| shape.chart.state(id).name.as_str();
            let message = format!("`{}` and `{}` cannot be active together", name(first), name(second));
            let span = spans.get(position).copied().unwrap_or(whole);
            let problem = Diagnostic::error(code::TARGETS_APART, span, message);
            problems.push(problem.hint("several targets must lie in different regions of a parallel state"));
        }
    }
}
