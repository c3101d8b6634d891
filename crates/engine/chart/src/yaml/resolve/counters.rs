//! The counters of all limits, named and unnamed. They are collected before any expression is read, because expressions
//! may name them.

use super::{super::draft, outline::Outline};
use crate::{
    Span,
    model::{Counter, CounterId, Transition},
};
use std::collections::BTreeMap;

/// Every counter, in the order of first use.
#[derive(Default)]
pub(crate) struct Counters {
    /// The names of the counters, by index.
    pub names: Vec<String>,
    index: BTreeMap<String, CounterId>,
    named: Vec<bool>,
    spans: Vec<Span>,
    /// The counters of each transition's limits, in document order.
    pub by_transition: Vec<Vec<CounterId>>,
}

impl Counters {
    /// Collects the counters that the limits of all transitions use.
    pub(crate) fn of(outline: &Outline<'_, '_>) -> Self {
        let mut counters = Counters::default();
        for line in &outline.states {
            let mut own: BTreeMap<String, usize> = BTreeMap::new();
            for transition in &line.draft.transitions {
                let place = place(&line.draft.name, transition);
                let ids = transition.limits.iter().map(|limit| match limit.counter {
                    Some(name) => counters.enter(name.text.clone(), true, name.span),
                    None => {
                        let number = own.entry(place.clone()).or_insert(0);
                        *number += 1;
                        counters.enter(format!("{place}#{number}"), false, limit.span)
                    }
                });
                let ids = ids.collect();
                counters.by_transition.push(ids);
            }
        }
        counters
    }

    fn enter(&mut self, name: String, named: bool, span: Span) -> CounterId {
        if let Some(&id) = self.index.get(&name) {
            return id;
        }
        let id = CounterId::at(self.names.len());
        self.index.insert(name.clone(), id);
        self.names.push(name);
        self.named.push(named);
        self.spans.push(span);
        id
    }

    /// Finds a counter that the file names.
    pub(crate) fn find(&self, name: &str) -> Option<CounterId> {
        self.index.get(name).copied().filter(|id| self.named.get(id.index()).copied().unwrap_or(false))
    }

    /// Returns the names that the file gives.
    pub(crate) fn given(&self) -> impl Iterator<Item = &str> {
        self.names.iter().zip(&self.named).filter(|(_, named)| **named).map(|(name, _)| name.as_str())
    }

    /// Returns the counters with the largest maximum of any of their limits.
    pub(crate) fn resolved(&self, transitions: &[Transition]) -> Vec<Counter> {
        let mut max = vec![0; self.names.len()];
        for limit in transitions.iter().flat_map(|transition| &transition.limits) {
            let slot = &mut max[limit.counter.index()];
            *slot = limit.max.at_most().max(*slot);
        }
        let made = self.names.iter().zip(max).zip(self.named.iter().zip(&self.spans));
        made.map(|((name, max), (&named, &span))| Counter { name: name.clone(), max, named, span }).collect()
    }
}

/// Returns the base name of an unnamed counter: its state and its events.
fn place(state: &str, transition: &draft::Transition<'_>) -> String {
    let events: Vec<&str> = transition.events.iter().map(|word| word.text.as_str()).collect();
    let events = if events.is_empty() { "always".to_owned() } else { events.join(" ") };
    format!("{state}.{events}")
}
