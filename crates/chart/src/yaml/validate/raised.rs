//! Events and who raises them: every event that is handled can come, every signal that comes is handled.

use super::{
    super::{code, resolve::Places, suggest::did_you_mean},
    descriptor_span, prefixes,
    shape::Shape,
};
use crate::{
    Diagnostic, Span, Value,
    model::{Action, Block, Chart, Kind, StateId, Template},
};
use std::collections::{BTreeMap, BTreeSet};

/// Complains about events without a raiser and signals without a handler.
pub(super) fn check(shape: &Shape<'_>, places: &Places, problems: &mut Vec<Diagnostic>) {
    let handlers = Handlers::of(shape.chart);
    let raisers = Raisers::of(shape.chart);
    signals(shape, &handlers, places, problems);
    declared(shape.chart, &handlers, problems);
    timeouts(shape, &handlers, problems);
    if !raisers.anything {
        handled(shape, &raisers, places, problems);
    }
}

/// The states that handle each descriptor, by what it covers.
struct Handlers<'c>(BTreeMap<&'c str, BTreeSet<usize>>);

impl<'c> Handlers<'c> {
    fn of(chart: &'c Chart) -> Self {
        let mut by_prefix: BTreeMap<&str, BTreeSet<usize>> = BTreeMap::new();
        for transition in &chart.transitions {
            for event in &transition.events {
                by_prefix.entry(event.prefix()).or_default().insert(transition.source.index());
            }
        }
        Handlers(by_prefix)
    }

    fn any(&self, event: &str) -> bool {
        prefixes(event).any(|prefix| self.0.contains_key(prefix))
    }

    fn any_together(&self, shape: &Shape<'_>, state: StateId, event: &str) -> bool {
        prefixes(event).filter_map(|prefix| self.0.get(prefix)).any(|states| shape.any_together(state, states))
    }
}

/// Who raises what.
struct Raisers<'c> {
    /// Events that may come in any state: declared, raised and sent ones.
    anywhere: BTreeSet<&'c str>,
    /// The states whose activities signal an event.
    signals: BTreeMap<&'c str, BTreeSet<usize>>,
    /// The states whose time may run out, by name and by number.
    timed: BTreeMap<&'c str, StateId>,
    timed_states: BTreeSet<usize>,
    /// The states that can be done.
    done: BTreeSet<&'c str>,
    /// An event is sent whose name is only known at run time.
    anything: bool,
}

impl<'c> Raisers<'c> {
    fn of(chart: &'c Chart) -> Self {
        let mut raisers = Raisers {
            anywhere: chart.events.iter().filter(|event| event.declared).map(|event| event.name.as_str()).collect(),
            signals: BTreeMap::new(),
            timed: BTreeMap::new(),
            timed_states: BTreeSet::new(),
            done: BTreeSet::new(),
            anything: false,
        };
        for invoke in &chart.invokes {
            for signal in &invoke.signals {
                let event = chart.event(signal.event).name.as_str();
                raisers.signals.entry(event).or_default().insert(invoke.state.index());
            }
        }
        for state in &chart.states {
            let initial = state.initial.iter().map(|initial| &initial.actions);
            state.entry.iter().chain(&state.exit).chain(initial).for_each(|block| raisers.block(block));
            if state.timeout_ms.is_some() {
                raisers.timed.insert(&state.name, state.id);
                raisers.timed_states.insert(state.id.index());
            }
            if state.parent.is_some() && can_be_done(chart, state.id) {
                raisers.done.insert(&state.name);
            }
        }
        chart.transitions.iter().for_each(|transition| raisers.block(&transition.actions));
        raisers
    }

    fn block(&mut self, block: &'c Block) {
        for action in block {
            match action {
                Action::Raise { event, .. } => {
                    self.anywhere.insert(event);
                }
                Action::Send { event: Template::Literal(Value::Str(event)), .. } => {
                    self.anywhere.insert(event);
                }
                Action::Send { .. } => self.anything = true,
                Action::If { branches } => branches.iter().for_each(|(_, block)| self.block(block)),
                Action::Assign { .. } | Action::Cancel { .. } | Action::Log { .. } => {}
            }
        }
    }

    /// Whether an event that the descriptor takes can come while the state is active.
    fn can_come(&self, shape: &Shape<'_>, state: StateId, descriptor: &str) -> bool {
        let mut tokens = descriptor.splitn(3, '.');
        match (tokens.next(), tokens.next(), tokens.next()) {
            (None | Some("" | "error"), ..) => return true,
            (Some("timeout"), None, _) if shape.any_together(state, &self.timed_states) => return true,
            (Some("timeout"), Some(_), _) => {
                let named = descriptor.strip_prefix("timeout.").and_then(|name| self.timed.get(name));
                if named.is_some_and(|timed| shape.together(state, *timed)) {
                    return true;
                }
            }
            (Some("done"), None, _) | (Some("done"), Some("state"), None) if !self.done.is_empty() => return true,
            (Some("done"), Some("state"), Some(name)) if self.done.contains(name) => return true,
            _ => {}
        }
        let signalled = |states: &BTreeSet<usize>| shape.any_together(state, states);
        below(descriptor, self.anywhere.range(descriptor..).copied()).next().is_some()
            || below(descriptor, self.signals.range(descriptor..).map(|(event, _)| *event))
                .filter_map(|event| self.signals.get(event))
                .any(signalled)
    }
}

/// The events that a descriptor takes, out of events in order that begin where it would stand.
fn below<'e>(descriptor: &'e str, events: impl Iterator<Item = &'e str>) -> impl Iterator<Item = &'e str> {
    let takes =
        move |event: &str| event.strip_prefix(descriptor).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'));
    events.take_while(move |event| event.starts_with(descriptor)).filter(move |event| takes(event))
}

/// Whether `done.state.NAME` is ever raised.
fn can_be_done(chart: &Chart, id: StateId) -> bool {
    let state = chart.state(id);
    match state.kind {
        Kind::Compound => state.children.iter().any(|child| chart.state(*child).kind == Kind::Final),
        Kind::Parallel => {
            state.children.iter().all(|child| chart.state(*child).kind.is_history() || can_be_done(chart, *child))
        }
        _ => false,
    }
}

fn signals(shape: &Shape<'_>, handlers: &Handlers<'_>, places: &Places, problems: &mut Vec<Diagnostic>) {
    for invoke in &shape.chart.invokes {
        let spans = places.signals.get(invoke.id.index()).map(Vec::as_slice).unwrap_or_default();
        for (position, signal) in invoke.signals.iter().enumerate() {
            let event = &shape.chart.event(signal.event).name;
            if handlers.any_together(shape, invoke.state, event) {
                continue;
            }
            let state = &shape.chart.state(invoke.state).name;
            let message = format!("nobody handles the signal `{event}` of `{}`", invoke.activity);
            let span = spans.get(position).copied().unwrap_or(invoke.span);
            let hint = format!(
                "a run would stay in `{state}` for ever: add `on: {{ {event}: … }}` to it or to a state around it"
            );
            problems.push(Diagnostic::error(code::NOBODY_HANDLES_SIGNAL, span, message).hint(hint));
        }
    }
}

fn declared(chart: &Chart, handlers: &Handlers<'_>, problems: &mut Vec<Diagnostic>) {
    for event in chart.events.iter().filter(|event| event.declared && !handlers.any(&event.name)) {
        let message = format!("no transition takes the event `{}`", event.name);
        let hint = "handle it with `on`, or take it out of `events`";
        problems.push(Diagnostic::warning(code::NOBODY_HANDLES_EVENT, event.span, message).hint(hint));
    }
}

fn timeouts(shape: &Shape<'_>, handlers: &Handlers<'_>, problems: &mut Vec<Diagnostic>) {
    let mut told = false;
    for state in shape.chart.states.iter().filter(|state| state.timeout_ms.is_some()) {
        let event = format!("timeout.{}", state.name);
        // One word is enough about a default that nobody handles anywhere.
        if handlers.any_together(shape, state.id, &event) || (state.timeout_inherited && told) {
            continue;
        }
        told |= state.timeout_inherited;
        let message = format!("nobody handles it when the time of `{}` is up", state.name);
        let hint = "add `on: { timeout: … }` to it, to a state around it, or to the machine";
        problems.push(Diagnostic::warning(code::NOBODY_HANDLES_TIMEOUT, state.span, message).hint(hint));
    }
}

fn handled(shape: &Shape<'_>, raisers: &Raisers<'_>, places: &Places, problems: &mut Vec<Diagnostic>) {
    for transition in &shape.chart.transitions {
        for (position, event) in transition.events.iter().enumerate() {
            if !raisers.can_come(shape, transition.source, event.prefix()) {
                let span = descriptor_span(shape.chart, places, transition.id, position);
                problems.push(nobody_raises(shape.chart, raisers, transition.source, event.prefix(), span));
            }
        }
    }
}

fn nobody_raises(chart: &Chart, raisers: &Raisers<'_>, source: StateId, event: &str, span: Span) -> Diagnostic {
    let problem = Diagnostic::error(code::NOBODY_RAISES, span, format!("nobody can raise `{event}` here"));
    if let Some(state) = raisers.signals.get(event).and_then(|states| states.first()) {
        let (signaller, here) = (&chart.states[*state].name, &chart.state(source).name);
        return problem.hint(format!(
            "it is a signal of an activity of `{signaller}`, which is never active together with `{here}`"
        ));
    }
    if event == "timeout" || event.starts_with("timeout.") {
        return problem.hint("no state that is active here has a `timeout`");
    }
    if event == "done" || event.starts_with("done.") {
        return problem.hint("only a state whose `states` have a final one can be done");
    }
    let known = raisers.anywhere.iter().chain(raisers.signals.keys()).copied().chain(["error", "timeout"]);
    let hint = did_you_mean(event, known).unwrap_or_else(|| {
        format!("declare it under `events`, make it a signal of an activity, or `raise` it: {event}")
    });
    problem.hint(hint)
}
