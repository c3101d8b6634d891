//! From a chart back to the file that means it: `read(write(unresolve(chart)))` is the same machine.

mod action;
mod property;

use super::{duration, resolve::schema};
use crate::{
    file::{
        BlocksFile, EffectFile, EventFile, GrantsFile, HistoryFile, InitialFile, InvokeFile, KindFile, LimitFile,
        MachineFile, MaxFile, OnFile, OneOrMany, Ordered, OutcomeFile, RaiserFile, SignalsFile, StateFile,
        TransitionBody, TransitionFile,
    },
    model::{Chart, Effect, Initial, Invoke, Kind, Max, Outcome, Raiser, State, StateId, Transition},
};
use action::{blocks, file_actions, many, transition_actions};
use serde_json::Value as Json;

pub(crate) use action::{template, text};

/// The file of a chart.
pub fn unresolve(chart: &Chart) -> MachineFile {
    let root = chart.state(Chart::ROOT);
    let events = chart.events.iter().filter(|event| event.declared);
    let inherited = chart.states.iter().find(|state| state.timeout_inherited).and_then(|state| state.timeout_ms);
    MachineFile {
        machine: chart.id.clone(),
        version: chart.version,
        summary: some_text(&chart.summary),
        input: (chart.input != schema::anything()).then(|| chart.input.clone()),
        context: chart.context.iter().map(|var| (var.name.clone(), template(&var.initial))).collect(),
        events: events.map(|event| (event.name.clone(), event_file(event))).collect(),
        initial: root.initial.as_ref().map(|initial| initial_file(chart, initial)),
        kind: (root.kind == Kind::Parallel).then_some(KindFile::Parallel),
        on: on(chart, root),
        always: always(chart, root),
        entry: blocks_file(chart, &root.entry),
        exit: blocks_file(chart, &root.exit),
        timeout: inherited.map(duration::write),
        states: states(chart, root),
        properties: chart.properties.iter().map(|property| property::file(chart, property)).collect(),
    }
}

fn some_text(text: &str) -> Option<String> {
    (!text.is_empty()).then(|| text.to_owned())
}

fn event_file(event: &crate::model::Event) -> EventFile {
    let from = match event.from {
        Raiser::User => RaiserFile::User,
        Raiser::Activity => RaiserFile::Activity,
        Raiser::Timer => RaiserFile::Timer,
        Raiser::Run => RaiserFile::Run,
        Raiser::Machine => RaiserFile::Machine,
        Raiser::Any => RaiserFile::Any,
    };
    let data = (event.data != schema::anything()).then(|| event.data.clone());
    EventFile { from: Some(from), summary: some_text(&event.summary), data, irreversible: event.irreversible }
}

fn states(chart: &Chart, parent: &State) -> Ordered<StateFile> {
    parent.children.iter().map(|&child| (chart.state(child).name.clone(), state(chart, child))).collect()
}

fn state(chart: &Chart, id: StateId) -> StateFile {
    let state = chart.state(id);
    let history = state.kind.is_history();
    let initial = state.initial.as_ref();
    StateFile {
        summary: some_text(&state.summary),
        kind: match state.kind {
            Kind::Final => Some(KindFile::Final),
            Kind::Parallel => Some(KindFile::Parallel),
            Kind::ShallowHistory | Kind::DeepHistory => Some(KindFile::History),
            Kind::Atomic | Kind::Compound => None,
        },
        history: (state.kind == Kind::DeepHistory).then_some(HistoryFile::Deep),
        target: initial.filter(|_| history).map(|initial| names(chart, &initial.targets)),
        initial: initial.filter(|_| !history).map(|initial| initial_file(chart, initial)),
        outcome: state.outcome.map(|outcome| match outcome {
            Outcome::Success => OutcomeFile::Success,
            Outcome::Failure => OutcomeFile::Failure,
            Outcome::Aborted => OutcomeFile::Aborted,
        }),
        data: state.data.as_ref().map(template),
        tags: state.tags.clone(),
        shows: state.shows.iter().map(|(label, data)| (label.clone(), template(data))).collect(),
        grants: state
            .grants
            .as_ref()
            .map(|request| GrantsFile { scopes: template(&request.scopes), event: request.event.clone() }),
        entry: blocks_file(chart, &state.entry),
        exit: blocks_file(chart, &state.exit),
        invoke: invokes(chart, state),
        timeout: timeout(chart, state),
        on: on(chart, state),
        always: always(chart, state),
        states: states(chart, state),
    }
}

fn timeout(chart: &Chart, state: &State) -> Option<String> {
    match state.timeout_ms {
        Some(_) if state.timeout_inherited => None,
        Some(ms) => Some(duration::write(ms)),
        // The machine's default would fill the gap.
        None => {
            let would_inherit = !state.invokes.is_empty() && chart.states.iter().any(|state| state.timeout_inherited);
            would_inherit.then(|| "none".to_owned())
        }
    }
}

fn names(chart: &Chart, ids: &[StateId]) -> OneOrMany<String> {
    match ids {
        [one] => OneOrMany::One(chart.state(*one).name.clone()),
        several => OneOrMany::Many(several.iter().map(|id| chart.state(*id).name.clone()).collect()),
    }
}

fn initial_file(chart: &Chart, initial: &Initial) -> InitialFile {
    let target = names(chart, &initial.targets);
    match initial.actions.is_empty() {
        true => InitialFile::Target(target),
        false => InitialFile::Full { target, actions: OneOrMany::Many(file_actions(chart, &initial.actions)) },
    }
}

fn blocks_file(chart: &Chart, list: &[crate::model::Block]) -> Option<BlocksFile> {
    match list {
        [] => None,
        list => Some(blocks(chart, list)),
    }
}

fn invokes(chart: &Chart, state: &State) -> Option<OneOrMany<InvokeFile>> {
    let files: Vec<_> = state.invokes.iter().map(|id| invoke(chart, chart.invoke(*id))).collect();
    many(files)
}

fn invoke(chart: &Chart, invoke: &Invoke) -> InvokeFile {
    let with = match template(&invoke.with) {
        Json::Object(fields) => fields.into_iter().collect(),
        _ => Ordered::new(),
    };
    let effect = invoke.effect.map(|effect| match effect {
        Effect::Read => EffectFile::Read,
        Effect::Write => EffectFile::Write,
        Effect::External => EffectFile::External,
    });
    let (activity, manual) = (invoke.activity.clone(), invoke.manual);
    InvokeFile { activity, with, signals: signals(chart, invoke), effect, manual }
}

fn signals(chart: &Chart, invoke: &Invoke) -> Option<SignalsFile> {
    let own = |signal: &crate::model::Signal| {
        let event = chart.event(signal.event);
        let default = if event.declared { event.data.clone() } else { schema::anything() };
        (event.name.clone(), if signal.data == default { Json::Null } else { signal.data.clone() })
    };
    let named: Vec<(String, Json)> = invoke.signals.iter().map(own).collect();
    match named.is_empty() {
        true => None,
        false if named.iter().all(|(_, data)| data.is_null()) => {
            Some(SignalsFile::Names(named.into_iter().map(|(name, _)| name).collect()))
        }
        false => Some(SignalsFile::Typed(named.into_iter().collect())),
    }
}

fn on(chart: &Chart, state: &State) -> Option<OnFile> {
    let listed: Vec<(String, &Transition)> = state
        .transitions
        .iter()
        .map(|id| chart.transition(*id))
        .filter(|transition| !transition.events.is_empty())
        .map(|transition| (descriptors(state, transition), transition))
        .collect();
    if listed.is_empty() {
        return None;
    }
    let mut map: Ordered<Vec<TransitionFile>> = Ordered::new();
    for (position, (key, transition)) in listed.iter().enumerate() {
        let follows = position > 0 && listed[position - 1].0 == *key;
        if map.contains_key(key) && !follows {
            // The same event in two places: only a list keeps that order.
            return Some(OnFile::List(
                listed.iter().map(|(key, transition)| body(chart, transition, Some(key.clone()))).collect(),
            ));
        }
        map.entry(key.clone()).or_default().push(body(chart, transition, None));
    }
    let entries = map.into_iter().filter_map(|(key, files)| Some((key, many(files)?)));
    Some(OnFile::Map(entries.collect()))
}

/// The events of a transition, as the state's own `on` writes them.
fn descriptors(state: &State, transition: &Transition) -> String {
    let done = format!("done.state.{}", state.name);
    let nested = matches!(state.kind, Kind::Compound | Kind::Parallel) && state.parent.is_some();
    let word = |event: &crate::model::Descriptor| {
        if nested && event.text == done { "done".to_owned() } else { event.text.clone() }
    };
    transition.events.iter().map(word).collect::<Vec<_>>().join(" ")
}

fn always(chart: &Chart, state: &State) -> Option<OneOrMany<TransitionFile>> {
    let eventless =
        state.transitions.iter().map(|id| chart.transition(*id)).filter(|transition| transition.events.is_empty());
    many(eventless.map(|transition| body(chart, transition, None)).collect())
}

fn body(chart: &Chart, transition: &Transition, event: Option<String>) -> TransitionFile {
    let (assign, raise, actions) = transition_actions(chart, &transition.actions);
    let counter = |id: crate::model::CounterId| chart.counters[id.index()].name.clone();
    let limits = transition.limits.iter().map(|limit| {
        let named = chart.counters[limit.counter.index()].named;
        let max = match &limit.max {
            Max::Fixed(max) => MaxFile::Fixed(*max),
            Max::Input { expr, .. } => MaxFile::Input(format!("${{{}}}", expr.source)),
        };
        match max {
            max if named => LimitFile::Named { counter: counter(limit.counter), max },
            MaxFile::Fixed(max) => LimitFile::Own(max),
            MaxFile::Input(max) => LimitFile::OwnInput(max),
        }
    });
    let limit = many(limits.collect());
    TransitionFile::Full(Box::new(TransitionBody {
        event,
        target: (!transition.targets.is_empty()).then(|| names(chart, &transition.targets)),
        guard: transition.guard.as_ref().map(|guard| guard.source.clone()),
        limit,
        reset: many(transition.resets.iter().map(|id| counter(*id)).collect()),
        assign,
        raise,
        actions,
        reason: transition.reason.as_ref().map(text),
        internal: transition.internal.then_some(true),
    }))
}
