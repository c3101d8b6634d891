//! Converts a chart back to an equivalent machine file: indices become names, trees become text.
//!
//! Exporters embed these pieces in formats that have no equivalent, so that a round trip loses nothing. The pieces have
//! the meaning of the original file but not its layout, which [`super::layout`] decides.

mod actions;
pub mod layout;
mod properties;

pub use actions::{block, escaped, escaped_text, template, template_text};

use serde_json::Value as Json;

use actions::initial;

use crate::{
    Chart,
    file::{
        EffectFile, EventFile, GrantsFile, InvokeFile, KindFile, LimitFile, MachineFile, MaxFile, Ordered, OutcomeFile,
        PropertyFile, RaiserFile, SemanticsFile, SignalsFile, StateFile, TransitionBody,
    },
    model::{
        Dialect, EffectClass, Event, Invoke, Kind, Limit, Max, Outcome, Raiser, Schema, State, StateId, Template,
        Transition,
    },
    yaml,
};

/// Returns a machine file with the same meaning as the chart.
pub fn machine_file(chart: &Chart) -> MachineFile {
    let root = state(chart, chart.state(Chart::ROOT));
    MachineFile {
        machine: chart.id.clone(),
        version: chart.version,
        summary: sentence(&chart.summary),
        semantics: semantics(chart),
        input: schema(&chart.input),
        context: chart.context.iter().map(|var| (var.name.clone(), template(&var.initial))).collect(),
        events: events(chart),
        initial: root.initial,
        kind: root.kind,
        on: root.on,
        always: root.always,
        entry: root.entry,
        exit: root.exit,
        timeout: default_timeout(chart),
        states: root.states,
        properties: properties(chart),
    }
}

/// Returns the rule for expressions that cannot be evaluated, if the machine names one.
pub fn semantics(chart: &Chart) -> Option<SemanticsFile> {
    match chart.dialect {
        Dialect::Native => None,
        Dialect::Scxml => Some(SemanticsFile::Scxml),
    }
}

/// Returns the declared events.
pub fn events(chart: &Chart) -> Ordered<EventFile> {
    let declared = chart.events.iter().filter(|event| event.declared);
    declared.map(|event| (event.name.clone(), self::event(event))).collect()
}

/// Returns an event's declaration.
fn event(event: &Event) -> EventFile {
    EventFile {
        from: Some(raiser(event.from)),
        summary: sentence(&event.summary),
        data: schema(&event.data),
        irreversible: event.irreversible,
        continues: event.continues,
    }
}

/// Returns the machine's properties.
pub fn properties(chart: &Chart) -> Vec<PropertyFile> {
    chart.properties.iter().map(|property| properties::property(chart, property)).collect()
}

/// Returns a state with its contents.
fn state(chart: &Chart, from: &State) -> StateFile {
    let mut file = bare_state(chart, from);
    let children = from.children.iter().map(|&child| chart.state(child));
    file.states = children.map(|child| (child.name.clone(), state(chart, child))).collect();
    let (on, always) = transitions(chart, from);
    file.on = layout::on(on);
    file.always = layout::always(always);
    file.invoke = layout::one_or_many(from.invokes.iter().map(|&id| invoke(chart, chart.invoke(id))).collect());
    file
}

fn bare_state(chart: &Chart, from: &State) -> StateFile {
    let mut file = match from.kind.is_history() {
        true => {
            let (targets, actions) = from.initial.as_ref().map(|begin| initial(chart, begin)).unwrap_or_default();
            layout::history(from.kind == Kind::DeepHistory, targets, actions)
        }
        false => StateFile { kind: kind(from.kind), ..StateFile::default() },
    };
    if let (false, Some(begin)) = (from.kind.is_history(), &from.initial) {
        let (targets, actions) = initial(chart, begin);
        file.initial = layout::initial(targets, actions);
    }
    file.summary = sentence(&from.summary);
    file.outcome = from.outcome.map(outcome);
    file.data = from.data.as_ref().map(template);
    file.tags = from.tags.clone();
    file.shows = shows(from);
    file.grants = grants(from);
    file.entry = layout::blocks(from.entry.iter().map(|actions| block(chart, actions)).collect());
    file.exit = layout::blocks(from.exit.iter().map(|actions| block(chart, actions)).collect());
    file.timeout = timeout(chart, from);
    file
}

/// Returns the data that a state shows to a person.
pub fn shows(from: &State) -> Ordered<Json> {
    from.shows.iter().map(|(label, data)| (label.clone(), template(data))).collect()
}

/// Returns the permissions that a state asks a person for.
pub fn grants(from: &State) -> Option<GrantsFile> {
    let request = from.grants.as_ref()?;
    Some(GrantsFile { scopes: template(&request.scopes), event: request.event.clone() })
}

/// Returns a state's transitions with their descriptors, and its eventless transitions.
pub fn transitions(chart: &Chart, from: &State) -> (Vec<(Vec<String>, TransitionBody)>, Vec<TransitionBody>) {
    let all = || from.transitions.iter().map(|&id| chart.transition(id));
    let descriptors = |transition: &Transition| transition.events.iter().map(|event| event.text.clone()).collect();
    let on = all().filter(|transition| !transition.events.is_empty());
    let always = all().filter(|transition| transition.events.is_empty());
    (
        on.map(|transition| (descriptors(transition), self::transition(chart, transition))).collect(),
        always.map(|transition| self::transition(chart, transition)).collect(),
    )
}

/// Returns a transition without its events.
pub fn transition(chart: &Chart, from: &Transition) -> TransitionBody {
    let counter = |id: &crate::model::CounterId| chart.counters[id.index()].name.clone();
    TransitionBody {
        event: None,
        target: layout::one_or_many(names(chart, &from.targets)),
        guard: from.guard.as_ref().map(|guard| guard.source.clone()),
        limit: layout::one_or_many(from.limits.iter().map(|limit| self::limit(chart, limit)).collect()),
        reset: layout::one_or_many(from.resets.iter().map(counter).collect()),
        assign: Ordered::new(),
        raise: None,
        actions: layout::one_or_many(block(chart, &from.actions)),
        reason: from.reason.as_ref().map(template_text),
        internal: from.internal.then_some(true),
    }
}

/// Returns the names of states.
pub fn names(chart: &Chart, states: &[StateId]) -> Vec<String> {
    states.iter().map(|&id| chart.state(id).name.clone()).collect()
}

fn limit(chart: &Chart, limit: &Limit) -> LimitFile {
    let counter = &chart.counters[limit.counter.index()];
    let max = match &limit.max {
        Max::Fixed(max) => MaxFile::Fixed(*max),
        Max::Input { expr, .. } => MaxFile::Input(format!("${{{}}}", expr.source)),
    };
    match max {
        max if counter.named => LimitFile::Named { counter: counter.name.clone(), max },
        MaxFile::Fixed(max) => LimitFile::Own(max),
        MaxFile::Input(max) => LimitFile::OwnInput(max),
    }
}

/// Returns an activity that a state starts.
pub fn invoke(chart: &Chart, invoke: &Invoke) -> InvokeFile {
    let with = match template(&invoke.with) {
        Json::Object(fields) => fields.into_iter().collect(),
        _ => Ordered::new(),
    };
    let effect = invoke.effect.map(|effect| match effect {
        EffectClass::Read => EffectFile::Read,
        EffectClass::Write => EffectFile::Write,
        EffectClass::External => EffectFile::External,
    });
    let (activity, manual) = (invoke.activity.clone(), invoke.manual);
    InvokeFile { activity, with, signals: signals(chart, invoke), effect, manual }
}

fn signals(chart: &Chart, invoke: &Invoke) -> Option<SignalsFile> {
    let name = |signal: &crate::model::Signal| chart.event(signal.event).name.clone();
    // A bare name takes the schema of the declared event, so it can stand only for a signal that any data fits.
    let is_bare = |signal: &crate::model::Signal| {
        let event = chart.event(signal.event);
        is_any(&signal.data) && (!event.declared || is_any(&event.data))
    };
    if invoke.signals.is_empty() {
        return None;
    }
    if invoke.signals.iter().all(is_bare) {
        return Some(SignalsFile::Names(invoke.signals.iter().map(name).collect()));
    }
    Some(SignalsFile::Typed(invoke.signals.iter().map(|signal| (name(signal), signal.data.clone())).collect()))
}

/// Returns the machine's default timeout. It is derived from the root or from a state that inherits it.
pub fn default_timeout(chart: &Chart) -> Option<String> {
    let root = chart.state(Chart::ROOT).timeout_ms;
    let inherited = || chart.states.iter().find(|state| state.timeout_inherited).and_then(|state| state.timeout_ms);
    root.or_else(inherited).map(duration)
}

/// Returns a state's timeout, or `none` if the state disables the machine's default.
pub fn timeout(chart: &Chart, state: &State) -> Option<String> {
    let is_root = state.parent.is_none();
    match state.timeout_ms {
        _ if is_root || state.timeout_inherited => None,
        Some(ms) => Some(duration(ms)),
        None => (!state.invokes.is_empty() && default_timeout(chart).is_some()).then(|| "none".to_owned()),
    }
}

/// Formats a duration in its largest whole unit.
pub fn duration(ms: u64) -> String {
    yaml::duration::write(ms)
}

fn sentence(text: &str) -> Option<String> {
    (!text.is_empty()).then(|| text.to_owned())
}

/// Returns a schema, or `None` if it equals the default: any object.
pub fn schema(schema: &Schema) -> Option<Json> {
    (!is_any(schema)).then(|| schema.clone())
}

fn is_any(schema: &Schema) -> bool {
    *schema == serde_json::json!({ "type": "object" })
}

fn kind(kind: Kind) -> Option<KindFile> {
    match kind {
        Kind::Atomic | Kind::Compound => None,
        Kind::Parallel => Some(KindFile::Parallel),
        Kind::Final => Some(KindFile::Final),
        Kind::ShallowHistory | Kind::DeepHistory => Some(KindFile::History),
    }
}

fn outcome(outcome: Outcome) -> OutcomeFile {
    match outcome {
        Outcome::Success => OutcomeFile::Success,
        Outcome::Incomplete => OutcomeFile::Incomplete,
        Outcome::Failure => OutcomeFile::Failure,
        Outcome::Aborted => OutcomeFile::Aborted,
    }
}

fn raiser(raiser: Raiser) -> RaiserFile {
    match raiser {
        Raiser::User => RaiserFile::User,
        Raiser::Activity => RaiserFile::Activity,
        Raiser::Timer => RaiserFile::Timer,
        Raiser::Run => RaiserFile::Run,
        Raiser::Machine => RaiserFile::Machine,
        Raiser::Any => RaiserFile::Any,
    }
}

/// Returns true if a template is the data of an event that carries none.
pub fn is_empty(data: &Template) -> bool {
    *data == Template::empty()
}
