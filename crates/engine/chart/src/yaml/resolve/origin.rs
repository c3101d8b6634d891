//! Qualified names in `on`: `STATE.signal`, `STATE.error`, `STATE.error.execution` and `timeout.STATE`, resolved
//! exactly.
//!
//! A name that the machine declares, signals or raises as an event always means that event.

use super::Resolver;
use crate::model::{Descriptor, EventId, Origin, OriginEvent, StateId};

impl Resolver<'_, '_, '_> {
    /// Returns the resolved descriptor of a transition.
    pub(super) fn descriptor(&self, text: &str) -> Descriptor {
        Descriptor { text: text.to_owned(), origin: self.qualified.get(text).copied() }
    }

    /// Returns the event of one state that a name refers to, unless it is the name of an event that every state can
    /// receive.
    pub(super) fn origin(&self, text: &str) -> Option<Origin> {
        if self.events.contains_key(text) {
            return None;
        }
        if let Some(state) = text.strip_prefix("timeout.").and_then(|name| self.outline.find(name)) {
            return Some(Origin { state, event: OriginEvent::Timeout });
        }
        // State names may contain dots, so the longest prefix that is a state with such an event is used.
        let dots = text.rmatch_indices('.').map(|(at, _)| at);
        dots.filter_map(|at| Some((self.outline.find(&text[..at])?, &text[at + 1..])))
            .find_map(|(state, event)| Some(Origin { state, event: self.origin_event(state, event)? }))
    }

    fn origin_event(&self, state: StateId, event: &str) -> Option<OriginEvent> {
        match (self.signal(state, event), event) {
            (Some(event), _) => Some(OriginEvent::Signal(event)),
            (None, "error") => Some(OriginEvent::Error),
            (None, "error.execution") => Some(OriginEvent::Fault),
            _ => None,
        }
    }

    /// Returns the event of a signal that an activity of the state declares.
    pub(super) fn signal(&self, state: StateId, name: &str) -> Option<EventId> {
        let mut invokes = self.outline.states[state.index()].draft.invokes.iter();
        let is_declared = invokes.any(|invoke| invoke.signals.iter().any(|(signal, _)| signal.text == name));
        self.events.get(name).copied().filter(|_| is_declared)
    }
}
