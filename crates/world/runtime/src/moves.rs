//! Explains a run: one [`Move`] for every transition, in words and in data.

use interlock_chart::{
    Chart, Value,
    model::{InvokeId, StateId, Transition, TransitionId},
};
use interlock_core::{ActivityId, EventKey, Fault, Microstep, Observer, Refusal, Trace};
use interlock_journal::{By, Entry, Hash, moment};
use serde_json::{Map, Value as Json, json};

use crate::Live;

/// One transition of a run, with the reasons for it.
#[derive(Clone, Debug, Default, PartialEq, serde::Serialize)]
pub struct Move {
    /// The record that led to it.
    pub seq: u64,
    /// The time of that record, in milliseconds since 1970.
    #[serde(rename = "at", with = "interlock_journal::moment")]
    pub at_ms: i64,
    /// The state that has the transition, or the innermost states that a transition of the machine itself left; `None`
    /// for the start.
    pub from_state: Option<String>,
    /// The event that triggered it; `None` for the start and for eventless transitions.
    pub event: Option<String>,
    /// The atomic states entered, or the current ones if it enters none.
    pub to_state: Option<String>,
    /// The reason that the machine states for the transition.
    pub reason: Option<String>,
    /// The evidence that led to it.
    pub evidence_refs: Vec<Hash>,
    /// The machine's own iteration count, if it has one.
    pub iteration_index: Option<i64>,
    /// The sender of the event.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub by: Option<By>,
    /// The data of the event.
    #[serde(skip_serializing_if = "Json::is_null")]
    pub data: Json,
    /// The guard that held.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub guard: Option<String>,
    /// The values that the guard read, by name.
    #[serde(skip_serializing_if = "Map::is_empty")]
    pub values: Map<String, Json>,
    /// The counters that it incremented or reset, with their values before and after.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub counters: Vec<Counted>,
    /// The candidates before it that were not enabled.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub refused: Vec<RefusedMove>,
    /// Expressions that could not be evaluated on the way.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub faults: Vec<String>,
    /// Lines that the machine logged.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub log: Vec<String>,
    /// The reasons for which `check` refused the machine. Only for the start, and only if the caller accepted an
    /// unproved machine.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unproved: Option<Vec<String>>,
    /// The names of the evidence, in the order of `evidence_refs`.
    #[serde(skip)]
    pub evidence_names: Vec<String>,
    /// The activity whose end led to it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub activity: Option<EndedActivity>,
    /// The judge that decided it. Filled in by a reader of the evidence.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub judge: Option<JudgeNote>,
    /// False if the run did not accept the event, so that nothing changed.
    pub taken: bool,
}

/// The activity whose end led to a move.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub struct EndedActivity {
    /// The activity's name in the registry.
    pub name: String,
    /// The state that invoked it.
    pub state: String,
    /// The number of the attempt; 0 if a person reported the result.
    pub attempt: u32,
}

/// The judge that decided a move, as recorded in the evidence of the judgement.
#[derive(Clone, Debug, Default, PartialEq, serde::Serialize)]
pub struct JudgeNote {
    /// The judge's name, or `rules`.
    pub name: String,
    /// The reason that the judge gave.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// Its confidence, from 0 to 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub confidence: Option<f64>,
    /// Tokens that the models read and wrote.
    pub tokens: (u64, u64),
    /// The cost of all requests.
    pub cost: f64,
}

/// A counter that changed in a step.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub struct Counted {
    /// The counter's name.
    pub counter: String,
    /// The value before the step.
    pub before: u32,
    /// The value after the step.
    pub after: u32,
    /// The largest value that it can reach.
    pub max: u32,
}

/// A candidate transition that was not enabled.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub struct RefusedMove {
    /// The state that has the transition.
    pub state: String,
    /// The state that it would have entered.
    pub target: Option<String>,
    /// The reason why it was not enabled.
    pub why: String,
    /// The values that its guard read, by name.
    #[serde(skip_serializing_if = "Map::is_empty")]
    pub values: Map<String, Json>,
}

/// Returns the moves of a step. `live` is the run after that step.
pub(crate) fn of(live: &Live, seq: u64, at_ms: i64, entry: &Entry, trace: &Trace, before: &Before) -> Vec<Move> {
    with_values(live, seq, at_ms, entry, &Why { trace: trace.clone(), seen: Vec::new() }, before)
}

/// The parts of a run before a step that explain it afterwards.
#[derive(Debug)]
pub(crate) struct Before {
    counters: Vec<u32>,
    activity: Option<EndedActivity>,
}

impl Before {
    /// Captures these parts before the run makes the step of `entry`.
    pub(crate) fn of(live: &Live, entry: &Entry) -> Self {
        let activity = match entry {
            Entry::Outcome { activity, number, .. } => live.activities.get(activity).map(|begun| {
                let invoke = live.loaded.chart().invoke(begun.invoke);
                let state = live.loaded.chart().state(invoke.state).name.clone();
                EndedActivity { name: invoke.activity.clone(), state, attempt: *number }
            }),
            _ => None,
        };
        Before { counters: live.state.counters.clone(), activity }
    }
}

/// Returns the moves of a step, with the values that guards read.
pub(crate) fn with_values(live: &Live, seq: u64, at_ms: i64, entry: &Entry, why: &Why, before: &Before) -> Vec<Move> {
    let writer = Writer { live, seq, at_ms, entry, before, seen: &why.seen };
    let moves = why.trace.microsteps.iter().enumerate().flat_map(|(at, round)| writer.round(at == 0, round));
    let moves = writer.with_failure(moves.collect(), why.trace.failure.as_ref());
    moves
        .into_iter()
        .chain(writer.granted())
        .chain(writer.undone())
        .chain(writer.left())
        .chain(writer.asked())
        .chain(writer.aborted())
        .collect()
}

/// Collects the trace of a step and the values that its guards read.
#[derive(Debug, Default)]
pub(crate) struct Why {
    pub(crate) trace: Trace,
    seen: Vec<(TransitionId, Vec<(String, Value)>)>,
}

impl Observer for Why {
    const WORDS: bool = true;
    const VALUES: bool = true;

    fn considering(&mut self, event: Option<&EventKey>, origin: Option<StateId>) {
        self.trace.considering(event, origin);
    }

    fn weighed(&mut self, transition: TransitionId, values: Vec<(String, Value)>) {
        self.seen.push((transition, values));
    }

    fn refused(&mut self, transition: TransitionId, why: Refusal) {
        self.trace.refused(transition, why);
    }

    fn taken(&mut self, transition: TransitionId, reason: Option<String>) {
        self.trace.taken(transition, reason);
    }

    fn exited(&mut self, state: StateId) {
        self.trace.exited(state);
    }

    fn entered(&mut self, state: StateId) {
        self.trace.entered(state);
    }

    fn started(&mut self, invoke: InvokeId) {
        self.trace.started(invoke);
    }

    fn faulted(&mut self, fault: &Fault) {
        self.trace.faulted(fault);
    }

    fn withdrawn(&mut self, transitions: &[TransitionId]) {
        self.trace.withdrawn(transitions);
    }

    fn failed(&mut self, fault: &Fault) {
        self.trace.failed(fault);
    }

    fn logged(&mut self, line: String) {
        self.trace.logged(line);
    }
}

struct Writer<'a> {
    live: &'a Live,
    seq: u64,
    at_ms: i64,
    entry: &'a Entry,
    before: &'a Before,
    seen: &'a [(TransitionId, Vec<(String, Value)>)],
}

impl Writer<'_> {
    fn chart(&self) -> &Chart {
        self.live.loaded.chart()
    }

    fn round(&self, is_first: bool, round: &Microstep) -> Vec<Move> {
        let base = self.base(is_first, round);
        let is_start = round.event.is_none() && round.taken.is_empty() && !round.entered.is_empty();
        if is_start {
            return vec![Move { to_state: self.entered(round), taken: true, ..base }];
        }
        if round.taken.is_empty() {
            let source = round.refused.first().map(|refused| self.chart().transition(refused.transition).source);
            return match (&round.event, round.faults.is_empty()) {
                (Some(_), _) => vec![base],
                (None, false) => vec![Move { from_state: source.map(|source| self.name(source)), ..base }],
                (None, true) => Vec::new(),
            };
        }
        let taken = round.taken.iter().map(|taken| {
            let transition = self.chart().transition(taken.transition);
            Move {
                from_state: Some(self.left_state(transition.source, round)),
                to_state: self
                    .entered(round)
                    .or_else(|| Some(self.live.place()))
                    .filter(|_| !transition.targets.is_empty()),
                reason: taken.reason.clone(),
                guard: transition.guard.as_ref().map(|guard| guard.source.clone()),
                values: self.values(taken.transition),
                counters: self.counted(transition),
                taken: true,
                ..base.clone()
            }
        });
        taken.collect()
    }

    /// If no transition handled a fault, its `error.execution` says why the run ended.
    fn with_failure(&self, mut moves: Vec<Move>, failure: Option<&Fault>) -> Vec<Move> {
        let Some(fault) = failure else { return moves };
        let event = Some("error.execution".to_owned());
        if !moves.last().is_some_and(|last| last.event == event && !last.taken) {
            moves.push(Move { event, ..self.base(false, &Microstep::default()) });
        }
        if let Some(last) = moves.last_mut() {
            last.reason = Some(fault.sentence());
        }
        moves
    }

    /// A grant or its use causes no transition, but the history should show it.
    fn granted(&self) -> Option<Move> {
        let (event, reason, by) = match self.entry {
            Entry::Granted(granted) => ("grant", crate::grants::words(granted), Some(granted.by.clone())),
            Entry::GrantUsed(used) => ("grant used", crate::grants::words_of_use(used), None),
            _ => return None,
        };
        let base = self.base(false, &Microstep::default());
        Some(Move { event: Some(event.into()), reason: Some(reason), by, taken: true, ..base })
    }

    /// An undo causes no transition, but the history should show it.
    fn undone(&self) -> Option<Move> {
        let Entry::Undone(undone) = self.entry else { return None };
        let base = self.base(true, &Microstep::default());
        Some(Move {
            event: Some("undo".into()),
            reason: Some(undone.words()),
            by: Some(undone.by.clone()),
            taken: true,
            ..base
        })
    }

    /// Leaving an activity to a person causes no transition, but the history should show it.
    fn left(&self) -> Option<Move> {
        let Entry::Left(left) = self.entry else { return None };
        let reason = format!("{} is left to a person: {}", self.activity(left.activity), left.why);
        let base = self.base(true, &Microstep::default());
        Some(Move { event: Some("left to a person".into()), reason: Some(reason), taken: true, ..base })
    }

    /// A question to a person and its end cause no transition, but the history should show them.
    fn asked(&self) -> Option<Move> {
        let (event, reason, data) = match self.entry {
            Entry::Asked(asked) => {
                let reason = format!("{} asks: {}", self.activity(asked.activity), asked.text);
                let until = moment::rfc3339(asked.until_ms);
                let data =
                    json!({ "id": asked.id, "event": asked.event, "shows": Json::from(&asked.shows), "until": until });
                ("asked", reason, data)
            }
            Entry::Unanswered(ended) => ("not answered", ended.why.clone(), json!({ "id": ended.id })),
            _ => return None,
        };
        let base = self.base(true, &Microstep::default());
        Some(Move { event: Some(event.into()), reason: Some(reason), data, taken: true, ..base })
    }

    /// Returns the name of an activity that has started.
    fn activity(&self, id: ActivityId) -> &str {
        let begun = self.live.activities.get(&id);
        begun.map_or("an activity", |begun| self.live.loaded.chart().invoke(begun.invoke).activity.as_str())
    }

    /// An abort from outside is no transition, but the history should show it.
    fn aborted(&self) -> Option<Move> {
        let Entry::Aborted { by, why } = self.entry else { return None };
        let base = self.base(true, &Microstep::default());
        Some(Move {
            event: Some("aborted".into()),
            reason: Some(why.clone()),
            by: Some(by.clone()),
            taken: true,
            ..base
        })
    }

    /// Returns the fields that all transitions of a round share.
    fn base(&self, is_first: bool, round: &Microstep) -> Move {
        let (by, data) = match self.entry {
            Entry::Event { by, data, .. } if is_first => (Some(by.clone()), Json::from(data)),
            Entry::Created(created) if is_first => (Some(created.by.clone()), Json::Null),
            Entry::Outcome { by, result, .. } if is_first => (by.clone(), result_data(result)),
            Entry::Paused { by } | Entry::Resumed { by } if is_first => (Some(by.clone()), Json::Null),
            _ => (None, Json::Null),
        };
        let evidence = if is_first { self.entry.evidence() } else { &[] };
        Move {
            seq: self.seq,
            at_ms: self.at_ms,
            from_state: None,
            event: round.event.as_ref().map(|event: &EventKey| event.name(&self.live.loaded.machine).to_owned()),
            to_state: None,
            reason: None,
            evidence_refs: evidence.iter().map(|evidence| evidence.hash).collect(),
            iteration_index: self.iteration(),
            by,
            data,
            guard: None,
            values: Map::new(),
            counters: Vec::new(),
            refused: round.refused.iter().map(|refused| self.refused(refused.transition, refused.why)).collect(),
            faults: round.faults.iter().map(Fault::sentence).collect(),
            log: round.log.clone(),
            unproved: match self.entry {
                Entry::Created(created) if is_first => created.unproved.clone(),
                _ => None,
            },
            evidence_names: evidence.iter().map(|evidence| evidence.name.clone()).collect(),
            activity: self.before.activity.clone().filter(|_| is_first),
            judge: None,
            taken: false,
        }
    }

    fn name(&self, state: StateId) -> String {
        self.chart().state(state).name.clone()
    }

    /// Returns the state that a transition left: the one that has it. The machine itself is never left, so for its own
    /// transitions, such as those of `abort`, `timeout` and `error`, these are the innermost states that were.
    fn left_state(&self, source: StateId, round: &Microstep) -> String {
        let is_root = self.chart().state(source).parent.is_none();
        let inner = round.exited.iter().filter(|state| is_root && self.chart().state(**state).kind.is_atomic());
        let names: Vec<String> = inner.map(|state| self.name(*state)).collect();
        if names.is_empty() { self.name(source) } else { names.join(", ") }
    }

    /// Returns the innermost states entered, or `None` if there are none.
    fn entered(&self, round: &Microstep) -> Option<String> {
        let inner = round.entered.iter().filter(|state| self.chart().state(**state).kind.is_atomic());
        let names: Vec<String> = inner.map(|state| self.name(*state)).collect();
        (!names.is_empty()).then(|| names.join(", "))
    }

    fn counted(&self, transition: &Transition) -> Vec<Counted> {
        let counters = transition.limits.iter().map(|limit| limit.counter).chain(transition.resets.iter().copied());
        let changed = counters.map(|id| Counted {
            counter: self.chart().counters[id.index()].name.clone(),
            before: self.before.counters.get(id.index()).copied().unwrap_or_default(),
            after: self.live.state.counters[id.index()],
            max: self.live.counter_max(id),
        });
        changed.collect()
    }

    fn refused(&self, id: TransitionId, why: Refusal) -> RefusedMove {
        RefusedMove { values: self.values(id), ..refused(self.chart(), id, why) }
    }

    /// Returns the values that a candidate's guard read. A guard is evaluated once per round, so the last entry is the
    /// current one.
    fn values(&self, id: TransitionId) -> Map<String, Json> {
        let seen = self.seen.iter().rev().find(|(transition, _)| *transition == id);
        seen.into_iter().flat_map(|(_, values)| values).map(|(name, value)| (name.clone(), Json::from(value))).collect()
    }

    fn iteration(&self) -> Option<i64> {
        let at = self.chart().context.iter().position(|variable| variable.name == "iteration_index")?;
        match self.live.state.data.context.get(at)? {
            Value::Int(index) => Some(*index),
            _ => None,
        }
    }
}

fn result_data(result: &interlock_journal::AttemptResult) -> Json {
    match result {
        interlock_journal::AttemptResult::Signal { data, .. } | interlock_journal::AttemptResult::Error { data } => {
            Json::from(data)
        }
    }
}

fn refused(chart: &Chart, id: TransitionId, why: Refusal) -> RefusedMove {
    let transition = chart.transition(id);
    let guard = transition.guard.as_ref().map_or("", |guard| guard.source.as_str());
    let why = match why {
        Refusal::Guard => format!("`{guard}` is false"),
        Refusal::Fault if guard.is_empty() => "something on its way could not be evaluated".to_owned(),
        Refusal::Fault => format!("`{guard}`, or something on its way, could not be evaluated"),
        Refusal::Limit { counter, count } => {
            format!("its limit is reached: {} is {count}", chart.counters[counter.index()].name)
        }
        Refusal::Preempted => "a transition of another region has priority".to_owned(),
    };
    let names: Vec<&str> = transition.targets.iter().map(|target| chart.state(*target).name.as_str()).collect();
    RefusedMove {
        state: chart.state(transition.source).name.clone(),
        target: (!names.is_empty()).then(|| names.join(", ")),
        why,
        values: Map::new(),
    }
}

/// Describes the reasons why no candidate was enabled.
pub(crate) fn why_refused(live: &Live, trace: &Trace) -> String {
    let chart = live.loaded.chart();
    let refused = trace.microsteps.iter().flat_map(|round| &round.refused);
    let reasons: Vec<String> = refused.map(|each| refused_words(chart, each.transition, each.why)).collect();
    if reasons.is_empty() { "no transition takes it".into() } else { reasons.join("; ") }
}

fn refused_words(chart: &Chart, id: TransitionId, why: Refusal) -> String {
    refused(chart, id, why).why
}
