//! The position of transitions in a configuration (`on`, `onDone`, `after` and `always`), and the order in which they
//! are read back.
//!
//! A chart has its transitions in one list, and each transition may have several descriptors. XState has a map by
//! descriptor. If the map alone would not restore the list, each transition carries its index in the list (`at`), and
//! its copies under further descriptors are marked as `copy`.

use serde_json::{Map, Value as Json, json};

use super::{
    OURS,
    export::Writer,
    write::{Object, one_or_many},
};
use crate::heard;
use interlock_chart::{
    model::{State, Transition},
    unresolve::layout,
};

/// XState's prefix of the events that it raises itself.
const DONE: &str = "xstate.done.state.";

impl Writer<'_> {
    /// Adds a state's transitions to its object.
    pub(super) fn transitions(&self, state: &State, object: &mut Object) {
        let all: Vec<_> = state.transitions.iter().map(|&id| self.chart.transition(id)).collect();
        let listed = !self.map_keeps_order(state, &all);
        let mut on: Map<String, Json> = Map::new();
        let (mut on_done, mut always) = (Vec::new(), Vec::new());
        for (at, transition) in all.iter().enumerate() {
            let at = listed.then_some(at);
            if transition.events.is_empty() {
                always.push(self.transition(transition, Object::default().with("at", at)));
            }
            for (count, name) in heard::names(self.chart, transition).iter().enumerate() {
                let key = self.key(name);
                let json = self.transition(transition, placed(transition, &key, at, count));
                if *name == own_done(state) {
                    on_done.push(json);
                } else if let Json::Array(list) = on.entry(key).or_insert_with(|| json!([])) {
                    list.push(json);
                }
            }
        }
        let on = on.into_iter().map(|(key, list)| (key, list.as_array().cloned().map_or(Json::Null, one_or_many)));
        object.add("on", Json::Object(on.collect()));
        object.add("onDone", one_or_many(on_done));
        object.add("after", self.after(state));
        object.add("always", one_or_many(always));
    }

    /// Returns a state's timeout in XState's notation: after that delay, the event is raised.
    fn after(&self, state: &State) -> Option<Json> {
        let ms = state.timeout_ms.filter(|_| state.parent.is_some())?;
        let event = format!("timeout.{}", state.name);
        let raise = json!({ "type": "raise", "params": { "event": event } });
        Some(json!({ ms.to_string(): { "actions": raise, "meta": { OURS: { "timeout": true } } } }))
    }

    /// Returns true if reading `on`, `onDone` and `always` in this order restores the order of the transitions.
    fn map_keeps_order(&self, state: &State, all: &[&Transition]) -> bool {
        let handled = || all.iter().filter(|transition| !transition.events.is_empty());
        let is_done = |transition: &&&Transition| transition.events.iter().any(|event| event.text == own_done(state));
        let last = handled().skip_while(|transition| !is_done(transition)).all(|transition| is_done(&transition));
        let events: Vec<Vec<String>> = handled().map(|transition| heard::names(self.chart, transition)).collect();
        last && layout::keeps_order(events.iter().map(Vec::as_slice))
    }

    /// Returns the key of a descriptor. XState matches a key literally unless it ends in `.*`. Our descriptors also
    /// match the names below them.
    fn key(&self, descriptor: &str) -> String {
        if let Some(name) = descriptor.strip_prefix("done.state.") {
            return format!("{DONE}{name}");
        }
        let below = format!("{descriptor}.");
        let has_more = || self.chart.events.iter().any(|event| event.name.starts_with(&below));
        if matches!(descriptor, "error" | "timeout" | "done") || has_more() {
            return format!("{descriptor}.*");
        }
        descriptor.to_owned()
    }
}

/// Returns the fields that a transition under a key needs to be read back unchanged.
fn placed(transition: &Transition, key: &str, at: Option<usize>, count: usize) -> Object {
    let ours = Object::default().with("at", at);
    if count > 0 {
        return ours.with("copy", true);
    }
    let events: Vec<_> = transition.events.iter().map(|event| event.text.as_str()).collect();
    let events = events.join(" ");
    let read_back = descriptor(key, |name| Some(name.to_owned()));
    ours.with("event", (read_back != events).then_some(events))
}

fn own_done(state: &State) -> String {
    format!("done.state.{}", state.name)
}

/// Returns the descriptor of a key. `name_of` returns the name of the state with an id.
pub(super) fn descriptor(key: &str, name_of: impl Fn(&str) -> Option<String>) -> String {
    match key.strip_prefix(DONE) {
        Some(id) => format!("done.state.{}", name_of(id).unwrap_or_else(|| id.to_owned())),
        None => key.to_owned(),
    }
}
