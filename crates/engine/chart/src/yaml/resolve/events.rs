//! Every event of the machine: declared, signalled, raised, or handled by its full name, in this order.

use super::{
    super::{
        draft::{self, Action},
        node::Node,
    },
    Resolver, schema,
};
use crate::{
    Span,
    model::{Event, EventId, Origin, OriginEvent, Raiser, Schema},
};
use serde_json::json;
use std::collections::BTreeMap;

/// The schemas that the activities declare for each signal.
type Signalled = BTreeMap<String, Vec<Schema>>;

impl Resolver<'_, '_, '_> {
    pub(super) fn events(&mut self) {
        for event in &self.machine.events {
            let data = event.data.map_or_else(schema::anything, |node| self.schema(node));
            let made = Event {
                name: event.name.text.clone(),
                from: event.from,
                summary: event.summary.clone(),
                data,
                irreversible: event.irreversible,
                continues: event.continues,
                declared: true,
                span: event.name.span,
            };
            self.enter(made);
        }
        self.signalled_events();
        self.raised_events();
        self.handled_events();
    }

    fn enter(&mut self, event: Event) -> EventId {
        if let Some(&id) = self.events.get(&event.name) {
            return id;
        }
        let id = EventId::at(self.chart.events.len());
        self.events.insert(event.name.clone(), id);
        self.chart.events.push(event);
        id
    }

    fn found(&mut self, name: &str, from: Raiser, data: Schema, span: Span) -> EventId {
        let (name, summary) = (name.to_owned(), String::new());
        self.enter(Event { name, from, summary, data, irreversible: false, continues: false, declared: false, span })
    }

    fn signalled_events(&mut self) {
        let mut schemas: Signalled = BTreeMap::new();
        for line in &self.outline.states {
            for (name, data) in line.draft.invokes.iter().flat_map(|invoke| &invoke.signals) {
                self.found(&name.text, Raiser::Activity, schema::anything(), name.span);
                let data = data.map_or_else(schema::anything, |node: &Node| self.schema_quietly(node));
                let known = schemas.entry(name.text.clone()).or_default();
                if !known.contains(&data) {
                    known.push(data);
                }
            }
        }
        for event in self.chart.events.iter_mut().filter(|event| !event.declared) {
            let mut known = schemas.remove(&event.name).unwrap_or_default();
            event.data = match known.len() {
                0 => continue,
                1 => known.remove(0),
                _ => json!({ "anyOf": known }),
            };
        }
    }

    /// Reads a schema without reporting problems. It is read again with its activity, and problems are reported then.
    fn schema_quietly(&mut self, node: &Node) -> Schema {
        let before = self.words.problems.len();
        let schema = self.schema_shape(node);
        self.words.problems.truncate(before);
        schema
    }

    fn raised_events(&mut self) {
        for line in &self.outline.states {
            let state = line.draft;
            let initial = state.initial.iter().map(|initial| &initial.actions);
            let transitions = state.transitions.iter().map(|transition| &transition.actions);
            for block in state.entry.iter().chain(&state.exit).chain(initial).chain(transitions) {
                self.raised_in(block);
            }
        }
    }

    fn raised_in(&mut self, block: &[Action<'_>]) {
        for action in block {
            match action {
                Action::Raise(name, _) => {
                    self.found(&name.text, Raiser::Machine, schema::anything(), name.span);
                }
                Action::Send { event: Node { kind: super::super::node::Kind::Scalar(name), .. }, .. }
                    if !name.text.contains("${") =>
                {
                    self.found(&name.text, Raiser::Machine, schema::anything(), name.span);
                }
                Action::If(branches) => branches.iter().for_each(|(_, block)| self.raised_in(block)),
                _ => {}
            }
        }
    }

    fn handled_events(&mut self) {
        let words = || self.outline.states.iter().flat_map(|line| &line.draft.transitions);
        let words = words().flat_map(|transition| &transition.events);
        let qualified = words.filter_map(|word| Some((word.text.clone(), self.origin(&word.text)?)));
        self.qualified = qualified.collect();
        for line in &self.outline.states {
            for word in line.draft.transitions.iter().flat_map(|transition| &transition.events) {
                self.handled(word);
            }
        }
    }

    fn handled(&mut self, word: &draft::Word) {
        let is_timeout = |origin: &Origin| origin.event == OriginEvent::Timeout;
        let is_qualified = self.qualified.get(&word.text).is_some_and(|origin| !is_timeout(origin));
        if word.text.ends_with(['*', '.']) || is_qualified {
            return;
        }
        let first = word.text.split('.').next().unwrap_or_default();
        let (from, data) = match first {
            "error" => (Raiser::Machine, schema::error()),
            "timeout" => (Raiser::Timer, schema::timeout()),
            "done" => (Raiser::Machine, schema::anything()),
            _ => (Raiser::Any, schema::anything()),
        };
        self.found(&word.text, from, data, word.span);
    }
}
