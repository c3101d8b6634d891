//! Events and their sources: every handled event can be raised, and every signal is handled.

use super::{
    super::{code, resolve::Places},
    descriptor_span, prefixes,
    shape::Shape,
};
use crate::{
    Diagnostic, Span, Value,
    model::{Action, Block, Chart, Descriptor, Kind, Origin, OriginEvent, StateId, Template},
};
use interlock_suggest::did_you_mean;
use std::collections::{BTreeMap, BTreeSet};

/// Reports events without a raiser and signals without a handler.
pub(super) fn check(shape: &Shape<'_>, places: &Places, problems: &mut Vec<Diagnostic>) {
    let handlers = Handlers::of(shape.chart);
    let raisers = Raisers::of(shape.chart);
    signals(shape, &handlers, places, problems);
    declared(shape.chart, &handlers, problems);
    timeouts(shape, &handlers, problems);
    handled(shape, &raisers, places, problems);
}

/// The states that handle each descriptor.
struct Handlers<'c> {
    /// Plain names, by their prefix.
    plain: BTreeMap<&'c str, BTreeSet<usize>>,
    /// Qualified names, by the state they name and its event.
    qualified: BTreeMap<(StateId, &'c str), BTreeSet<usize>>,
}

impl<'c> Handlers<'c> {
    fn of(chart: &'c Chart) -> Self {
        let mut handlers = Handlers { plain: BTreeMap::new(), qualified: BTreeMap::new() };
        for transition in &chart.transitions {
            for event in &transition.events {
                let states = match event.origin {
                    Some(origin) => handlers.qualified.entry((origin.state, chart.plain_name(event))).or_default(),
                    None => handlers.plain.entry(event.prefix()).or_default(),
                };
                states.insert(transition.source.index());
            }
        }
        handlers
    }

    fn any(&self, event: &str) -> bool {
        prefixes(event).any(|prefix| self.plain.contains_key(prefix))
    }

    /// Returns true if a state that can be active at that time handles an event of this state.
    fn any_hears(&self, shape: &Shape<'_>, origin: StateId, event: &str) -> bool {
        let plain = prefixes(event).filter_map(|prefix| self.plain.get(prefix));
        let qualified = self.qualified.get(&(origin, event));
        plain.into_iter().any(|states| shape.hears_any(origin, states))
            || qualified.is_some_and(|states| shape.any_together(origin, states))
    }
}

/// The events that can be raised, by source.
struct Raisers<'c> {
    /// Events that may be raised in any state: declared, raised and sent ones.
    anywhere: BTreeSet<&'c str>,
    /// The states whose activities signal an event.
    signals: BTreeMap<&'c str, BTreeSet<usize>>,
    /// The states that have a timeout.
    timed_states: BTreeSet<usize>,
    /// The states that can be done.
    done: BTreeSet<&'c str>,
    /// True if an event is sent whose name is only known at run time.
    anything: bool,
}

impl<'c> Raisers<'c> {
    fn of(chart: &'c Chart) -> Self {
        let mut raisers = Raisers {
            anywhere: chart.events.iter().filter(|event| event.declared).map(|event| event.name.as_str()).collect(),
            signals: BTreeMap::new(),
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

    /// Returns true if an event that the descriptor matches can be raised while the state is active.
    fn can_come(&self, shape: &Shape<'_>, state: StateId, descriptor: &Descriptor) -> bool {
        match descriptor.origin {
            Some(Origin { state: origin, event: OriginEvent::Timeout }) => {
                self.timed_states.contains(&origin.index()) && shape.together(state, origin)
            }
            Some(Origin { state: origin, .. }) => shape.together(state, origin),
            None => self.plain_can_come(shape, state, descriptor.prefix()),
        }
    }

    fn plain_can_come(&self, shape: &Shape<'_>, state: StateId, descriptor: &str) -> bool {
        let mut tokens = descriptor.splitn(3, '.');
        match (tokens.next(), tokens.next(), tokens.next()) {
            (None | Some("" | "error"), ..) => return true,
            (Some("timeout"), None, _) if shape.hears_any(state, &self.timed_states) => return true,
            (Some("done"), None, _) | (Some("done"), Some("state"), None) if !self.done.is_empty() => return true,
            (Some("done"), Some("state"), Some(name)) if self.done.contains(name) => return true,
            _ => {}
        }
        let signalled = |states: &BTreeSet<usize>| shape.hears_any(state, states);
        below(descriptor, self.anywhere.range(descriptor..).copied()).next().is_some()
            || below(descriptor, self.signals.range(descriptor..).map(|(event, _)| *event))
                .filter_map(|event| self.signals.get(event))
                .any(signalled)
    }
}

/// Returns the events that a descriptor matches, from a sorted sequence that begins at the descriptor.
fn below<'e>(descriptor: &'e str, events: impl Iterator<Item = &'e str>) -> impl Iterator<Item = &'e str> {
    let takes =
        move |event: &str| event.strip_prefix(descriptor).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'));
    events.take_while(move |event| event.starts_with(descriptor)).filter(move |event| takes(event))
}

/// Returns true if `done.state.NAME` can be raised.
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
            if handlers.any_hears(shape, invoke.state, event) {
                continue;
            }
            let state = &shape.chart.state(invoke.state).name;
            let message = format!("no transition handles the signal `{event}` of `{}`", invoke.activity);
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
        let hint = "handle it with `on`, or remove it from `events`";
        problems.push(Diagnostic::warning(code::NOBODY_HANDLES_EVENT, event.span, message).hint(hint));
    }
}

fn timeouts(shape: &Shape<'_>, handlers: &Handlers<'_>, problems: &mut Vec<Diagnostic>) {
    let mut told = false;
    for state in shape.chart.states.iter().filter(|state| state.timeout_ms.is_some()) {
        let event = format!("timeout.{}", state.name);
        // An inherited timeout that is never handled is reported only once.
        if handlers.any_hears(shape, state.id, &event) || (state.timeout_inherited && told) {
            continue;
        }
        told |= state.timeout_inherited;
        let message = format!("no transition handles the timeout of `{}`", state.name);
        let hint = "add `on: { timeout: … }` to it, to a state around it, or to the machine";
        problems.push(Diagnostic::warning(code::NOBODY_HANDLES_TIMEOUT, state.span, message).hint(hint));
    }
}

fn handled(shape: &Shape<'_>, raisers: &Raisers<'_>, places: &Places, problems: &mut Vec<Diagnostic>) {
    for transition in &shape.chart.transitions {
        for (position, event) in transition.events.iter().enumerate() {
            if raisers.can_come(shape, transition.source, event) {
                continue;
            }
            let span = descriptor_span(shape.chart, places, transition.id, position);
            match unknown_qualified(shape.chart, raisers, event, span) {
                Some(problem) => problems.push(problem),
                // An event whose name is only known at run time may be this one.
                None if raisers.anything => {}
                None => problems.push(nobody_raises(shape, raisers, transition.source, event, span)),
            }
        }
    }
}

/// Returns the problem of a name that resembles a qualified one: its first part is a state with activities, or its last
/// part is a signal.
fn unknown_qualified(chart: &Chart, raisers: &Raisers<'_>, event: &Descriptor, span: Span) -> Option<Diagnostic> {
    if event.origin.is_some() || matches!(event.text.split('.').next(), Some("timeout" | "done" | "error")) {
        return None;
    }
    let mut splits = event.text.rmatch_indices('.').map(|(at, _)| (&event.text[..at], &event.text[at + 1..]));
    let is_meant = |(state, signal): &(&str, &str)| {
        let has_activity = |id| !chart.state(id).invokes.is_empty();
        chart.find_state(state).is_some_and(has_activity) || (!raisers.anything && raisers.signals.contains_key(signal))
    };
    let (state, signal) = splits.find(is_meant)?;
    let message = match chart.find_state(state) {
        Some(_) => format!("no activity of `{state}` has a signal `{signal}`"),
        None => format!("there is no state `{state}` whose activity could signal `{signal}`"),
    };
    let hint = match signal {
        "timeout" => Some(format!("the timeout of `{state}` raises `timeout.{state}`")),
        _ => {
            let known = qualified_names(chart);
            did_you_mean(&event.text, known.iter().map(String::as_str))
        }
    };
    let plain = "a qualified name is STATE.SIGNAL, of a state that invokes the activity, with no wildcard";
    let problem = Diagnostic::error(code::UNKNOWN_QUALIFIED, span, message);
    Some(problem.hint(hint.unwrap_or_else(|| plain.to_owned())))
}

fn qualified_names(chart: &Chart) -> Vec<String> {
    let name = |invoke: &crate::model::Invoke, signal: &crate::model::Signal| {
        format!("{}.{}", chart.state(invoke.state).name, chart.event(signal.event).name)
    };
    chart.invokes.iter().flat_map(|invoke| invoke.signals.iter().map(move |signal| name(invoke, signal))).collect()
}

fn nobody_raises(
    shape: &Shape<'_>,
    raisers: &Raisers<'_>,
    source: StateId,
    event: &Descriptor,
    span: Span,
) -> Diagnostic {
    let (chart, plain) = (shape.chart, shape.chart.plain_name(event));
    let problem = Diagnostic::error(code::NOBODY_RAISES, span, format!("`{}` can never be raised here", event.text));
    let here = &chart.state(source).name;
    if let Some(origin) = event.origin.filter(|origin| origin.event != OriginEvent::Timeout) {
        let name = &chart.state(origin.state).name;
        return problem.hint(format!("`{name}` is never active together with `{here}`"));
    }
    if let Some(states) = raisers.signals.get(plain) {
        let mut states = states.iter().map(|&at| &chart.states[at]);
        if let Some(state) = states.clone().find(|state| shape.together(source, state.id)) {
            return problem.hint(format!("it is a signal of another region; write `{}.{plain}`", state.name));
        }
        let signaller = states.next().map_or("", |state| state.name.as_str());
        return problem.hint(format!(
            "it is a signal of an activity of `{signaller}`, which is never active together with `{here}`"
        ));
    }
    if plain == "timeout" || plain.starts_with("timeout.") {
        let timed = raisers.timed_states.iter().map(|&at| format!("timeout.{}", chart.states[at].name));
        let timed: Vec<String> = timed.collect();
        let hint = did_you_mean(plain, timed.iter().map(String::as_str).filter(|name| *name != plain));
        return problem.hint(hint.unwrap_or_else(|| "no state that is active here has a `timeout`".to_owned()));
    }
    if plain == "done" || plain.starts_with("done.") {
        let done: Vec<String> = raisers.done.iter().map(|name| format!("done.state.{name}")).collect();
        let hint = did_you_mean(plain, done.iter().map(String::as_str).filter(|name| *name != plain));
        return problem
            .hint(hint.unwrap_or_else(|| "only a state whose `states` have a final one can be done".to_owned()));
    }
    let known = raisers.anywhere.iter().chain(raisers.signals.keys()).copied().chain(["error", "timeout"]);
    let hint = did_you_mean(plain, known).unwrap_or_else(|| {
        format!("declare it under `events`, make it a signal of an activity, or `raise` it: {plain}")
    });
    problem.hint(hint)
}
