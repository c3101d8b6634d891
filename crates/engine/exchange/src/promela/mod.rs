//! Promela: a chart's control flow, for SPIN.
//!
//! The output is the chart's *reduced form*. States, hierarchy, history, counters with their limits, running
//! activities, pending timeouts and the internal queue are exact. Data is omitted, so every guard and every condition
//! may be true or false at each evaluation, and no evaluation fails. All external input is a free choice.
//!
//! One macrostep is one `atomic` sequence. SPIN does not store the states inside such a sequence, so the number of
//! stored states is the number of stable configurations, plus one for the run that has not started. This number is an
//! independent check of the checker's count. The model is written from the chart alone and shares no code with the
//! engine, so that a common error is unlikely.
//!
//! Parallel states and sent events are not translated. A chart that has them gives an empty model with a comment that
//! states the reason.

mod body;
mod moves;

use std::collections::BTreeMap;

use super::Exported;
use interlock_chart::{
    Chart,
    model::{Action, Block, Descriptor, Kind, OriginEvent, State, StateId},
};

/// Writes a chart's control flow in Promela.
pub(super) fn export(chart: &Chart) -> Exported {
    if let Some(why) = obstacle(chart) {
        let text = format!("/* {} is not translated: {why} */\n", chart.id);
        return Exported { text, warnings: vec![format!("nothing was translated: {why}")] };
    }
    let told = "only control is in it: every guard may go either way, data, reasons and properties are left out";
    Exported { text: Writer::new(chart).model(), warnings: vec![told.to_owned()] }
}

/// Returns the reason why a chart cannot be translated, if there is one.
fn obstacle(chart: &Chart) -> Option<String> {
    if let Some(state) = chart.states.iter().find(|state| state.kind == Kind::Parallel) {
        return Some(format!("`{}` is a parallel state", state.name));
    }
    let initials = chart.states.iter().filter_map(|state| state.initial.as_ref());
    let targets = chart.transitions.iter().map(|transition| &transition.targets);
    if targets.chain(initials.map(|initial| &initial.targets)).any(|targets| targets.len() > 1) {
        return Some("a transition has several targets".to_owned());
    }
    let reads_event = |source: &str| source.split(|c: char| !c.is_alphanumeric() && c != '_').any(is_event);
    let mut eventless = chart.transitions.iter().filter(|transition| transition.events.is_empty());
    if eventless.any(|transition| transition.guard.as_ref().is_some_and(|guard| reads_event(&guard.source))) {
        return Some("an eventless transition asks about the event".to_owned());
    }
    blocks(chart).any(has_send).then(|| "events are sent".to_owned())
}

fn is_event(word: &str) -> bool {
    matches!(word, "event" | "_event")
}

fn blocks(chart: &Chart) -> impl Iterator<Item = &Block> {
    let of_state = |state: &State| state.entry.len() + state.exit.len();
    let states = chart.states.iter().filter(move |state| of_state(state) > 0 || state.initial.is_some());
    let in_states = states.flat_map(|state| {
        state.entry.iter().chain(&state.exit).chain(state.initial.as_ref().map(|initial| &initial.actions))
    });
    in_states.chain(chart.transitions.iter().map(|transition| &transition.actions))
}

fn has_send(block: &Block) -> bool {
    block.iter().any(|action| match action {
        Action::Send { .. } => true,
        Action::If { branches } => branches.iter().any(|(_, block)| has_send(block)),
        Action::Assign { .. } | Action::Raise { .. } | Action::Cancel { .. } | Action::Log { .. } => false,
    })
}

/// The capacity of the internal queue. SPIN reports an overflow as a failed assertion.
const QUEUE_MAX: usize = 16;

/// The writer of one model.
struct Writer<'c> {
    chart: &'c Chart,
    /// Every event that can happen, numbered from 1.
    events: BTreeMap<String, usize>,
    /// The last state inside each state, by state. The descendants of a state follow it directly.
    last: Vec<usize>,
    out: String,
    depth: usize,
}

impl<'c> Writer<'c> {
    fn new(chart: &'c Chart) -> Self {
        let mut last: Vec<usize> = (0..chart.states.len()).collect();
        for state in chart.states.iter().rev() {
            if let Some(parent) = state.parent {
                last[parent.index()] = last[parent.index()].max(last[state.id.index()]);
            }
        }
        Writer { chart, events: events(chart), last, out: String::new(), depth: 0 }
    }

    fn line(&mut self, line: &str) {
        for _ in 0..self.depth {
            self.out.push_str("  ");
        }
        self.out.push_str(line);
        self.out.push('\n');
    }

    /// Writes lines that are indented one level deeper.
    fn inside(&mut self, write: impl FnOnce(&mut Self)) {
        self.depth += 1;
        write(self);
        self.depth -= 1;
    }

    /// Returns the condition that the active atomic state is this state or inside it.
    fn is_active(&self, state: StateId) -> String {
        match (state.index(), self.last[state.index()]) {
            (first, last) if first == last => format!("at == {first}"),
            (first, last) => format!("at >= {first} && at <= {last}"),
        }
    }

    /// Returns true if a run starts a timer or an activity when it becomes stable in this state.
    fn is_starting(state: &State) -> bool {
        state.timeout_ms.is_some() || !state.invokes.is_empty()
    }

    fn histories(&self) -> impl Iterator<Item = &'c State> + use<'c> {
        self.chart.states.iter().filter(|state| state.kind.is_history())
    }

    /// Returns the states that a history state may remember: atomic states inside its parent, or its parent's children.
    fn memories(&self, history: &State) -> Vec<StateId> {
        let Some(parent) = history.parent else { return Vec::new() };
        let states = self.chart.states.iter();
        let is_memory = |state: &&State| match history.kind {
            Kind::DeepHistory => state.kind.is_atomic() && self.chart.is_descendant(state.id, parent),
            _ => !state.kind.is_history() && state.parent == Some(parent),
        };
        states.filter(is_memory).map(|state| state.id).collect()
    }
}

fn events(chart: &Chart) -> BTreeMap<String, usize> {
    let mut names: Vec<String> = chart.events.iter().map(|event| event.name.clone()).collect();
    names.push("error".to_owned());
    names.extend(qualified(chart).map(|event| event.text.clone()));
    names.extend(chart.states.iter().filter(|state| state.timeout_ms.is_some()).map(timeout_of));
    names.extend(chart.states.iter().filter(|state| !state.children.is_empty()).map(done_of));
    names.sort_unstable();
    names.dedup();
    names.into_iter().enumerate().map(|(at, name)| (name, at + 1)).collect()
}

/// Returns the qualified names of the events with which activities finish. They are separate events in the model,
/// because no other event can be handled by these names.
fn qualified(chart: &Chart) -> impl Iterator<Item = &Descriptor> {
    let ends = |event: &&Descriptor| {
        event.origin.is_some_and(|origin| matches!(origin.event, OriginEvent::Signal(_) | OriginEvent::Error))
    };
    chart.transitions.iter().flat_map(|transition| &transition.events).filter(ends)
}

fn timeout_of(state: &State) -> String {
    format!("timeout.{}", state.name)
}

fn done_of(state: &State) -> String {
    format!("done.state.{}", state.name)
}

/// Returns the smallest type that can represent the number.
fn kind_for(max: usize) -> &'static str {
    match max {
        0..=1 => "bit",
        2..=255 => "byte",
        256..=32_767 => "short",
        _ => "int",
    }
}
