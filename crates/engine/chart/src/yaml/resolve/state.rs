//! Resolves states, their initial transitions, and the activities they start.

use super::{
    super::{code, draft},
    Resolver, schema,
};
use crate::{
    Diagnostic,
    model::{EventId, GrantRequest, Initial, Invoke, InvokeId, Kind, Signal, State, StateId},
};

impl Resolver<'_, '_, '_> {
    pub(super) fn states(&mut self) {
        for position in 0..self.outline.states.len() {
            let state = self.state(StateId::at(position));
            self.chart.states.push(state);
        }
    }

    fn state(&mut self, id: StateId) -> State {
        let line = &self.outline.states[id.index()];
        let draft = line.draft;
        let (timeout_ms, timeout_inherited) = self.timeout(draft);
        State {
            id,
            name: draft.name.clone(),
            summary: draft.summary.clone(),
            parent: line.parent,
            kind: line.kind,
            children: line.children.clone(),
            initial: self.begin(id),
            entry: draft.entry.iter().map(|block| self.block(block)).collect(),
            exit: draft.exit.iter().map(|block| self.block(block)).collect(),
            invokes: draft.invokes.iter().map(|invoke| self.invoke(id, invoke)).collect(),
            timeout_ms,
            timeout_inherited,
            transitions: Vec::new(),
            outcome: draft.outcome,
            tags: draft.tags.clone(),
            data: draft.data.map(|node| self.words.template(node)),
            shows: draft
                .shows
                .iter()
                .map(|entry| (entry.key.text.clone(), self.words.template(&entry.value)))
                .collect(),
            grants: draft.grants.as_ref().map(|request| self.grants(request)),
            span: draft.span,
        }
    }

    fn grants(&mut self, draft: &draft::GrantRequest<'_>) -> GrantRequest {
        let scopes = self.words.template(draft.scopes);
        GrantRequest { scopes, event: draft.event.text.clone(), span: draft.event.span }
    }

    fn timeout(&self, draft: &draft::State<'_>) -> (Option<u64>, bool) {
        match draft.timeout {
            draft::Timeout::Never => (None, false),
            draft::Timeout::Ms(ms) => (Some(ms), false),
            draft::Timeout::Inherit if draft.invokes.is_empty() => (None, false),
            draft::Timeout::Inherit => (self.machine.timeout_ms, self.machine.timeout_ms.is_some()),
        }
    }

    /// Returns the initial transition of a compound state, or the default transition of a history state.
    fn begin(&mut self, id: StateId) -> Option<Initial> {
        let line = &self.outline.states[id.index()];
        match (line.kind, &line.draft.initial) {
            (Kind::Compound, Some(initial)) => self.initial(id, initial),
            (Kind::Compound, None) => self.first_child(id),
            (Kind::ShallowHistory | Kind::DeepHistory, _) => self.history_default(id),
            _ => None,
        }
    }

    fn initial(&mut self, id: StateId, draft: &draft::Initial<'_>) -> Option<Initial> {
        let (targets, places) = self.states_named(&draft.targets);
        for (&target, &span) in targets.iter().zip(&places) {
            if !self.outline.is_inside(target, id) {
                let (name, state) = (&self.outline.names[target.index()], &self.outline.names[id.index()]);
                let message = format!("the initial state of `{state}` cannot be `{name}`, which is not inside it");
                let target = self.outline.states[target.index()].draft.span;
                self.report(Diagnostic::error(code::BAD_INITIAL, span, message).related(target, "the state is here"));
            }
        }
        let actions = self.block(&draft.actions);
        Some(Initial { targets, actions })
    }

    /// Returns the default initial transition: to the first child that is not a history state.
    fn first_child(&mut self, id: StateId) -> Option<Initial> {
        let line = &self.outline.states[id.index()];
        let first = line.children.iter().find(|child| !self.outline.states[child.index()].kind.is_history());
        match first {
            Some(&child) => Some(Initial { targets: vec![child], actions: Vec::new() }),
            None => {
                let message = format!("`{}` has no initial state", line.draft.name);
                self.report(Diagnostic::error(code::BAD_INITIAL, line.draft.span, message));
                None
            }
        }
    }

    /// Returns a history state's default transition. Without a `target`, it leads to its parent's initial state.
    fn history_default(&mut self, id: StateId) -> Option<Initial> {
        let line = &self.outline.states[id.index()];
        let parent = line.parent?;
        let begin = line.draft.initial.as_ref().filter(|_| line.draft.target.is_empty());
        let named = begin.map_or(&line.draft.target, |begin| &begin.targets);
        if named.is_empty() {
            let begin = self.chart.states.get(parent.index()).and_then(|parent| parent.initial.clone());
            let regions = &self.outline.states[parent.index()].children;
            let regions = regions.iter().filter(|child| !self.outline.states[child.index()].kind.is_history());
            let targets = begin.map_or_else(|| regions.copied().collect(), |begin| begin.targets);
            return Some(Initial { targets, actions: Vec::new() });
        }
        let (targets, places) = self.states_named(named);
        for (&target, &span) in targets.iter().zip(&places) {
            if !self.outline.is_inside(target, parent) {
                let message = format!(
                    "`{}` is a history state of `{}`, so its target cannot be `{}`, which is outside",
                    line.draft.name,
                    self.outline.names[parent.index()],
                    self.outline.names[target.index()],
                );
                self.report(Diagnostic::error(code::BAD_HISTORY_TARGET, span, message));
            }
        }
        let actions = begin.map(|begin| self.block(&begin.actions)).unwrap_or_default();
        Some(Initial { targets, actions })
    }

    fn invoke(&mut self, state: StateId, draft: &draft::Invoke<'_>) -> InvokeId {
        let with = self.words.map(draft.with.iter().map(|entry| (entry.key.text.as_str(), &entry.value)));
        let mut signals = Vec::new();
        let mut places = Vec::new();
        for (name, data) in &draft.signals {
            let event = self.events.get(&name.text).copied().unwrap_or_default();
            let data = match data {
                Some(node) => self.schema(node),
                None => self.declared_data(event),
            };
            signals.push(Signal { event, data });
            places.push(name.span);
        }
        let id = InvokeId::at(self.chart.invokes.len());
        let (activity, effect, span) = (draft.activity.clone(), draft.effect, draft.span);
        let keys = draft.with.iter().map(|entry| (entry.key.text.clone(), entry.key.span)).collect();
        self.places.signals.push(places);
        self.chart.invokes.push(Invoke {
            id,
            state,
            activity,
            with,
            signals,
            effect,
            manual: draft.manual,
            keys,
            span,
        });
        id
    }

    /// Returns the schema of a signal that has none: the schema that the event declares.
    fn declared_data(&self, event: EventId) -> crate::model::Schema {
        match self.chart.events.get(event.index()) {
            Some(event) if event.declared => event.data.clone(),
            _ => schema::anything(),
        }
    }
}
