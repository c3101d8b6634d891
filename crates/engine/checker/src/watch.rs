//! Watches a step: records the observations that properties name, in order.
//!
//! Every observation that a property names has a bit. The tables below give the bits that a state's entry, a transition
//! or an activity sets, so that a step without observations costs a few zero checks.

use std::collections::BTreeSet;

use interlock_chart::{
    Chart, Span,
    model::{EventId, InvokeId, Observation, ObservedFact, PropertyKind, StateId, TransitionId},
};
use interlock_core::{EventKey, Fault, Machine, Observer, Refusal, StateSet};
use smallvec::SmallVec;

use crate::facts::OVERFLOW;

/// A set of observations.
pub(crate) type Bits = u128;

/// The most observations that are watched in one exploration.
pub(crate) const OBSERVATIONS_MAX: usize = Bits::BITS as usize;

/// The bits of a property's observations, by role.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Roles {
    pub(crate) what: Bits,
    pub(crate) without: Bits,
    pub(crate) since: Bits,
}

/// The bits of all observations of a machine.
#[derive(Debug)]
pub(crate) struct Lookout {
    pub(crate) roles: Vec<Roles>,
    entered: Vec<Bits>,
    started: Vec<Bits>,
    /// By transition: bits whose source fits. By event: bits whose event fits. Both must fit.
    sources: Vec<Bits>,
    events: Vec<Bits>,
    /// Signals of one state's activities.
    signalled: Vec<(StateId, EventId, Bits)>,
    moves: Vec<(StateId, StateId, Bits)>,
    /// The number of the event `error.execution`.
    fault: usize,
}

impl Lookout {
    pub(crate) fn of(machine: &Machine) -> Self {
        let chart = machine.chart();
        let mut lookout = Lookout {
            roles: Vec::new(),
            entered: vec![0; chart.states.len()],
            started: vec![0; chart.invokes.len()],
            sources: vec![0; chart.transitions.len()],
            events: vec![0; machine.event_count()],
            signalled: Vec::new(),
            moves: Vec::new(),
            fault: machine.event("error.execution").map_or(usize::MAX, EventId::index),
        };
        let mut next = 0;
        for property in &chart.properties {
            let mut bit = |observation: Option<&Observation>| {
                observation.filter(|_| next < OBSERVATIONS_MAX).map_or(0, |observation| {
                    next += 1;
                    lookout.register(machine, observation, 1 << (next - 1));
                    1 << (next - 1)
                })
            };
            let roles = match &property.kind {
                PropertyKind::Terminates => Roles::default(),
                PropertyKind::Never { what, without, since } => {
                    Roles { what: bit(Some(what)), without: bit(without.as_ref()), since: bit(since.as_ref()) }
                }
                PropertyKind::Possible { what } => Roles { what: bit(Some(what)), ..Roles::default() },
                PropertyKind::LeadsTo { after, to } => {
                    Roles { what: bit(Some(after)), without: bit(Some(to)), since: 0 }
                }
                PropertyKind::AtMost { of, since, .. } => {
                    Roles { what: bit(Some(of)), without: 0, since: bit(since.as_ref()) }
                }
            };
            lookout.roles.push(roles);
        }
        lookout
    }

    fn register(&mut self, machine: &Machine, observation: &Observation, bit: Bits) {
        let chart = machine.chart();
        for seen in &observation.0 {
            match seen {
                ObservedFact::Entered(state) => self.entered[state.index()] |= bit,
                ObservedFact::Tagged(tag) => {
                    let tagged = chart.states.iter().filter(|state| state.tags.contains(tag));
                    tagged.for_each(|state| self.entered[state.id.index()] |= bit);
                }
                ObservedFact::Started(activity) => {
                    let started = chart.invokes.iter().filter(|invoke| invoke.activity == *activity);
                    started.for_each(|invoke| self.started[invoke.id.index()] |= bit);
                }
                ObservedFact::Moved { from, to } => self.moves.push((*from, *to, bit)),
                ObservedFact::Signalled { state, event } => self.signalled.push((*state, *event, bit)),
                ObservedFact::Taken { source, event } => {
                    for transition in &chart.transitions {
                        if source.is_none_or(|source| is_within(chart, transition.source, source)) {
                            self.sources[transition.id.index()] |= bit;
                        }
                    }
                    for (at, bits) in self.events.iter_mut().enumerate() {
                        if event.matches(machine.event_name(EventId::at(at))) {
                            *bits |= bit;
                        }
                    }
                }
            }
        }
    }
}

fn is_within(chart: &Chart, inner: StateId, outer: StateId) -> bool {
    inner == outer || chart.is_descendant(inner, outer)
}

/// One relevant action of the machine: enough to describe the step and to track the counters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Move {
    Taken(TransitionId),
    /// Disabled by a limit that is used up.
    Refused(TransitionId),
}

/// Records the observations of one step.
#[derive(Debug)]
pub(crate) struct Watch<'l> {
    lookout: &'l Lookout,
    event: Option<usize>,
    exited: SmallVec<[StateId; 8]>,
    /// The observations in order; simultaneous ones are combined.
    pub(crate) seen: SmallVec<[Bits; 2]>,
    pub(crate) moves: SmallVec<[Move; 8]>,
    pub(crate) started: SmallVec<[InvokeId; 4]>,
    /// The number of times that transitions were selected.
    pub(crate) rounds: u64,
    /// Every state entered in any step so far.
    pub(crate) visited: StateSet,
    /// States that the current microstep entered for the first time.
    fresh: SmallVec<[StateId; 4]>,
    /// The number of observations and moves before the current microstep.
    seen_before: usize,
    moves_before: usize,
    /// True if an expression failed and no transition has handled that yet.
    pub(crate) has_open_fault: bool,
    /// Every expression so far that ended a run in failure, because no transition handled its fault.
    pub(crate) unhandled: BTreeSet<Unhandled>,
}

/// An expression that may fail where no transition handles `error.execution`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Unhandled {
    pub(crate) span: Span,
    pub(crate) place: String,
    /// The expression, or the problem if it is not in an expression.
    pub(crate) what: String,
}

impl<'l> Watch<'l> {
    pub(crate) fn new(lookout: &'l Lookout) -> Self {
        Watch {
            lookout,
            event: None,
            exited: SmallVec::new(),
            seen: SmallVec::new(),
            moves: SmallVec::new(),
            started: SmallVec::new(),
            rounds: 0,
            visited: StateSet::new(lookout.entered.len()),
            fresh: SmallVec::new(),
            seen_before: 0,
            moves_before: 0,
            has_open_fault: false,
            unhandled: BTreeSet::new(),
        }
    }

    pub(crate) fn clear(&mut self) {
        self.event = None;
        self.exited.clear();
        self.seen.clear();
        self.moves.clear();
        self.started.clear();
        self.fresh.clear();
        self.rounds = 0;
        (self.seen_before, self.moves_before) = (0, 0);
        self.has_open_fault = false;
    }

    fn see(&mut self, bits: Bits) {
        if bits != 0 {
            self.seen.push(bits);
        }
    }
}

impl Observer for Watch<'_> {
    const WORDS: bool = false;

    fn considering(&mut self, event: Option<&EventKey>, origin: Option<StateId>) {
        self.rounds += 1;
        self.event = match event {
            Some(EventKey::Known(id)) => Some(id.index()),
            _ => None,
        };
        self.exited.clear();
        self.fresh.clear();
        if let (Some(EventKey::Known(event)), Some(origin)) = (event, origin) {
            let outcomes =
                self.lookout.signalled.iter().filter(|(state, signal, _)| *state == origin && signal == event);
            let outcomes = outcomes.fold(0, |all, (_, _, bit)| all | bit);
            self.see(outcomes);
        }
        (self.seen_before, self.moves_before) = (self.seen.len(), self.moves.len());
    }

    fn refused(&mut self, transition: TransitionId, why: Refusal) {
        if matches!(why, Refusal::Limit { .. }) {
            self.moves.push(Move::Refused(transition));
        }
    }

    fn taken(&mut self, transition: TransitionId, _: Option<String>) {
        self.moves.push(Move::Taken(transition));
        self.has_open_fault &= self.event != Some(self.lookout.fault);
        if let Some(event) = self.event {
            self.see(self.lookout.sources[transition.index()] & self.lookout.events[event]);
        }
    }

    fn exited(&mut self, state: StateId) {
        if !self.lookout.moves.is_empty() {
            self.exited.push(state);
        }
    }

    fn entered(&mut self, state: StateId) {
        if !self.visited.contains(state) {
            self.visited.insert(state);
            self.fresh.push(state);
        }
        // Entering a state and moving into it from another state are one observation.
        let moved = self.lookout.moves.iter().filter(|(from, to, _)| *to == state && self.exited.contains(from));
        let moved = moved.fold(0, |all, (_, _, bit)| all | bit);
        self.see(self.lookout.entered[state.index()] | moved);
    }

    fn started(&mut self, invoke: InvokeId) {
        self.started.push(invoke);
        self.see(self.lookout.started[invoke.index()]);
    }

    fn faulted(&mut self, _: &Fault) {
        self.has_open_fault = true;
    }

    fn withdrawn(&mut self, _: &[TransitionId]) {
        self.seen.truncate(self.seen_before);
        let mut at = 0;
        let before = self.moves_before;
        self.moves.retain(|one| {
            at += 1;
            at <= before || !matches!(one, Move::Taken(_))
        });
        self.fresh.iter().for_each(|state| self.visited.remove(*state));
        self.fresh.clear();
    }

    fn failed(&mut self, fault: &Fault) {
        let Fault { span, place, expression, message, .. } = fault.clone();
        if message == OVERFLOW {
            return;
        }
        let what = if expression.is_empty() { message } else { format!("`{expression}`") };
        self.unhandled.insert(Unhandled { span, place, what });
    }

    fn logged(&mut self, _: String) {}
}
