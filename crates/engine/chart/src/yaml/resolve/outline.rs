//! The states in document order with their names, parents and kinds. All other parts refer to them.

use super::super::{code, draft, limits};
use crate::{
    Diagnostic,
    model::{Kind, StateId},
};
use std::collections::BTreeMap;

/// The hierarchy of states as a flat list.
pub(crate) struct Outline<'a, 'n> {
    /// The states in document order; the first is the root.
    pub states: Vec<Line<'a, 'n>>,
    /// The names of the states, by index.
    pub names: Vec<String>,
    index: BTreeMap<&'a str, StateId>,
}

/// One state of the outline.
pub(crate) struct Line<'a, 'n> {
    pub draft: &'a draft::State<'n>,
    pub parent: Option<StateId>,
    pub kind: Kind,
    pub children: Vec<StateId>,
}

impl<'a, 'n> Outline<'a, 'n> {
    /// Lists the states below the root, and reports duplicate names.
    pub(crate) fn of(root: &'a draft::State<'n>, problems: &mut Vec<Diagnostic>) -> Self {
        let mut outline = Outline { states: Vec::new(), names: Vec::new(), index: BTreeMap::new() };
        outline.add(root, None, problems);
        outline
    }

    fn add(&mut self, draft: &'a draft::State<'n>, parent: Option<StateId>, problems: &mut Vec<Diagnostic>) {
        let id = StateId::at(self.states.len());
        if parent.is_some() {
            self.enter(draft, id, problems);
        }
        self.names.push(draft.name.clone());
        self.states.push(Line { draft, parent, kind: kind(draft), children: Vec::new() });
        for child in &draft.states {
            let child_id = StateId::at(self.states.len());
            self.states[id.index()].children.push(child_id);
            self.add(child, Some(id), problems);
            if self.states.len() > limits::ITEMS_MAX {
                return;
            }
        }
    }

    fn enter(&mut self, draft: &'a draft::State<'n>, id: StateId, problems: &mut Vec<Diagnostic>) {
        let root = self.states.first().map(|line| line.draft);
        if let Some(root) = root.filter(|root| root.name == draft.name) {
            let message = format!("a state cannot have the machine's id, `{}`", draft.name);
            let problem = Diagnostic::error(code::NAMED_LIKE_MACHINE, draft.span, message);
            problems.push(problem.related(root.span, "the machine's id"));
        } else if let Some(first) = self.index.get(draft.name.as_str()) {
            let message = format!("there are two states called `{}`", draft.name);
            let problem = Diagnostic::error(code::DUPLICATE_STATE, draft.span, message);
            let first = self.states[first.index()].draft.span;
            let hint = "names are unique within the whole machine, so that a target needs no path";
            problems.push(problem.related(first, "the first is here").hint(hint));
        } else {
            self.index.insert(&draft.name, id);
        }
    }

    /// Returns the state with this name. The root cannot be referred to by name.
    pub(crate) fn find(&self, name: &str) -> Option<StateId> {
        self.index.get(name).copied()
    }

    /// Returns true if the numbers of states and transitions are within bounds.
    pub(crate) fn fits(&self, problems: &mut Vec<Diagnostic>) -> bool {
        let transitions: usize = self.states.iter().map(|line| line.draft.transitions.len()).sum();
        for (what, count) in [("states", self.states.len()), ("transitions", transitions)] {
            if count > limits::ITEMS_MAX {
                let message = format!("a machine can have at most {} {what}", limits::ITEMS_MAX);
                problems.push(Diagnostic::error(code::TOO_MANY, self.states[0].draft.span, message));
                return false;
            }
        }
        true
    }

    /// Returns true if `inner` is a proper descendant of `outer`.
    pub(crate) fn is_inside(&self, inner: StateId, outer: StateId) -> bool {
        std::iter::successors(self.states[inner.index()].parent, |id| self.states[id.index()].parent)
            .any(|id| id == outer)
    }
}

fn kind(draft: &draft::State<'_>) -> Kind {
    match draft.ty {
        Some(draft::Type::Final) => Kind::Final,
        Some(draft::Type::Parallel) => Kind::Parallel,
        Some(draft::Type::History) if draft.deep => Kind::DeepHistory,
        Some(draft::Type::History) => Kind::ShallowHistory,
        None if draft.states.is_empty() => Kind::Atomic,
        None => Kind::Compound,
    }
}
