//! A summary of a machine, as JSON for programs and as text for people.

use crate::{
    model::{Chart, Dialect, State, StateId, Transition},
    unresolve::template_text,
};
use serde_json::{Value as Json, json};
use std::fmt::Write as _;

/// Returns the machine as JSON: `{id, version, hash, initial, states, events, transitions, …}`.
///
/// A transition that handles several events has one row per event, and these rows share the same `index`. The source of
/// a root transition is the machine's id. The event of an eventless transition is null.
pub fn json(chart: &Chart) -> Json {
    let root = chart.state(Chart::ROOT);
    let mut machine = json!({
        "id": chart.id,
        "version": chart.version,
        "summary": chart.summary,
        "hash": chart.hash,
        "initial": root.initial.as_ref().map(|initial| names(chart, &initial.targets)),
        "kind": root.kind.word(),
        "input": chart.input,
        "states": chart.states.iter().skip(1).map(|state| state_json(chart, state)).collect::<Vec<_>>(),
        "events": chart.events.iter().map(|event| json!({
            "name": event.name, "from": event.from.word(), "summary": event.summary, "declared": event.declared,
            "data": event.data, "irreversible": event.irreversible, "continues": event.continues,
        })).collect::<Vec<_>>(),
        "transitions": chart.transitions.iter().flat_map(|transition| rows(chart, transition)).collect::<Vec<_>>(),
        "counters": chart.counters.iter().map(|counter| json!({ "name": counter.name, "max": counter.max })).collect::<Vec<_>>(),
        "properties": chart.properties.iter().map(|property| json!({
            "name": property.name, "because": property.because,
        })).collect::<Vec<_>>(),
    });
    if chart.dialect == Dialect::Scxml {
        machine["semantics"] = "scxml".into();
    }
    machine
}

fn state_json(chart: &Chart, state: &State) -> Json {
    let parent = state.parent.filter(|parent| *parent != Chart::ROOT);
    json!({
        "id": state.name,
        "parent": parent.map(|parent| chart.state(parent).name.as_str()),
        "kind": state.kind.word(),
        "tags": state.tags,
        "summary": state.summary,
        "initial": state.initial.as_ref().map(|initial| names(chart, &initial.targets)),
        "outcome": state.outcome.map(|outcome| outcome.word()),
        "activities": state.invokes.iter().map(|id| chart.invoke(*id).activity.as_str()).collect::<Vec<_>>(),
        "timeout_ms": state.timeout_ms,
        "shows": state.shows.iter().map(|(label, _)| label.as_str()).collect::<Vec<_>>(),
        "grants": state.grants.as_ref().map(|request| request.event.as_str()),
    })
}

fn rows(chart: &Chart, transition: &Transition) -> Vec<Json> {
    let row = |event: Option<&str>| {
        json!({
            "source": chart.state(transition.source).name,
            "event": event,
            "target": (!transition.targets.is_empty()).then(|| names(chart, &transition.targets)),
            "guard": transition.guard.as_ref().map(|guard| guard.source.as_str()),
            "limit": transition.limits.iter().map(|limit| limit.max.at_most()).min(),
            "reason": transition.reason.as_ref().map(template_text),
            "internal": transition.internal,
            "counters": transition.limits.iter().map(|limit| chart.counters[limit.counter.index()].name.as_str()).collect::<Vec<_>>(),
            "resets": transition.resets.iter().map(|id| chart.counters[id.index()].name.as_str()).collect::<Vec<_>>(),
            "index": transition.id.0,
        })
    };
    match transition.events.is_empty() {
        true => vec![row(None)],
        false => transition.events.iter().map(|event| row(Some(&event.text))).collect(),
    }
}

/// Returns a single name as a string and several names as a list.
fn names(chart: &Chart, ids: &[StateId]) -> Json {
    match ids {
        [one] => chart.state(*one).name.as_str().into(),
        several => several.iter().map(|id| chart.state(*id).name.as_str()).collect::<Vec<_>>().into(),
    }
}

/// Returns the machine as text: its states as a tree with their outgoing transitions, then its events and properties.
pub fn text(chart: &Chart) -> String {
    let mut out = format!("{} version {}\n", chart.id, chart.version);
    if !chart.summary.is_empty() {
        let _ = writeln!(out, "{}", chart.summary);
    }
    if chart.dialect == Dialect::Scxml {
        out.push_str("semantics scxml: a guard that cannot be evaluated is false\n");
    }
    out.push_str("\nstates\n");
    transitions(chart, chart.state(Chart::ROOT), 0, &mut out);
    for state in chart.states.iter().skip(1) {
        state_text(chart, state, &mut out);
    }
    out.push_str("\nevents\n");
    for event in &chart.events {
        let summary = if event.summary.is_empty() { String::new() } else { format!("  {}", event.summary) };
        let _ = writeln!(out, "  {:<24} from {}{summary}", event.name, event.from.word());
    }
    if !chart.properties.is_empty() {
        out.push_str("\nproperties\n");
        chart.properties.iter().for_each(|property| out.push_str(&format!("  {}\n", property.name)));
    }
    out
}

fn state_text(chart: &Chart, state: &State, out: &mut String) {
    let depth = chart.ancestors(state.id).count();
    let mut notes = vec![state.kind.word().to_owned()];
    notes.extend(state.outcome.map(|outcome| outcome.word().to_owned()));
    notes.extend(state.tags.iter().map(|tag| format!("#{tag}")));
    notes.extend(state.invokes.iter().map(|id| format!("@{}", chart.invoke(*id).activity)));
    let _ = writeln!(out, "{}{} ({})", "  ".repeat(depth), state.name, notes.join(", "));
    transitions(chart, state, depth, out);
}

fn transitions(chart: &Chart, state: &State, depth: usize, out: &mut String) {
    for transition in state.transitions.iter().map(|id| chart.transition(*id)) {
        let events: Vec<&str> = transition.events.iter().map(|event| event.text.as_str()).collect();
        let events = if events.is_empty() { "always".to_owned() } else { events.join(" ") };
        let targets: Vec<&str> = transition.targets.iter().map(|id| chart.state(*id).name.as_str()).collect();
        let targets = if targets.is_empty() { "stays".to_owned() } else { format!("-> {}", targets.join(", ")) };
        let guard = transition.guard.as_ref().map(|guard| format!(" [{}]", guard.source)).unwrap_or_default();
        let limit: String =
            transition.limits.iter().map(|limit| format!(" (at most {})", limit.max.at_most())).collect();
        let _ = writeln!(out, "{}{events} {targets}{guard}{limit}", "  ".repeat(depth + 2));
    }
}
