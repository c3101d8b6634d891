//! The central function: moves a run by one input.

use interlock_chart::model::{Raiser, StateId};

use crate::{
    ActivityEnd, ActivityId, Data, Effect, Event, EventKey, Fault, Input, Machine, Observer, Semantics, State, Status,
    TimerId, Trace, Values, interpret::Interpreter,
};

/// The result of a step.
#[derive(Clone, Debug, PartialEq)]
pub struct Step<D: Data = Values> {
    /// The state after the step.
    pub state: State<D>,
    /// The effects to carry out, in order.
    pub effects: Vec<Effect<D::Payload>>,
    /// The reasons for the step, microstep by microstep.
    pub trace: Trace,
    /// The verdict on the input.
    pub verdict: Verdict,
}

/// The engine's verdict on an input.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// It moved the machine.
    Taken,
    /// The configuration does not handle it, or no candidate was enabled.
    Unhandled,
    /// It came after the activity, the timer or the run it belongs to had ended: nothing changed.
    Late,
    /// It is held until the run is resumed.
    Held,
    /// It is not allowed now: nothing changed.
    Refused(&'static str),
}

/// Moves a run by one input and returns the result.
///
/// The function is pure: equal inputs give equal results, so a run is replayed by stepping through its inputs again.
///
/// ```
/// use std::sync::Arc;
///
/// use interlock_chart::{Value, model::Raiser, yaml};
/// use interlock_core::{Input, Machine, Semantics, State, Verdict, step};
///
/// let source = "
/// machine: door
/// version: 1
/// events: { open: { from: user }, shut: { from: user } }
/// initial: closed
/// states:
///   closed: { on: { open: opened } }
///   opened: { on: { shut: closed } }
/// ";
/// let machine = Machine::new(Arc::new(yaml::read(source).chart.unwrap()));
/// let started = Input::Started { session: "door-1".into(), input: Value::empty(), semantics: Semantics::CURRENT };
/// let raised = |event: &str| Input::EventRaised { event: event.into(), data: Value::empty(), by: Raiser::User };
///
/// let first = step(&machine, State::ready(&machine), started);
/// assert_eq!(first.state.places(&machine), ["closed"]);
///
/// let second = step(&machine, first.state.clone(), raised("open"));
/// assert_eq!(second.state.places(&machine), ["opened"]);
/// assert_eq!(second, step(&machine, first.state, raised("open")));
///
/// // An event that the configuration does not handle changes nothing.
/// let third = step(&machine, second.state.clone(), raised("open"));
/// assert_eq!((third.verdict, third.state.places(&machine)), (Verdict::Unhandled, vec!["opened"]));
/// ```
pub fn step(machine: &Machine, mut state: State, input: Input) -> Step {
    let (mut trace, mut effects) = (Trace::default(), Vec::new());
    let verdict = step_with(machine, &mut state, input, &mut trace, &mut effects);
    Step { state, effects, trace, verdict }
}

/// Moves a run by one input in place, with any data model and observer. Effects are appended to those already there.
pub fn step_with<D: Data, O: Observer>(
    machine: &Machine,
    state: &mut State<D>,
    input: Input<D::Payload>,
    observer: &mut O,
    effects: &mut Vec<Effect<D::Payload>>,
) -> Verdict {
    let mut arm = Arm { machine, state, observer, effects };
    match input {
        Input::Started { session, input, semantics } => arm.started(session, input, semantics),
        Input::EventRaised { event, data, by } => arm.event_raised(&event, data, by),
        Input::ActivityFinished { activity, ended } => arm.activity_finished(activity, ended),
        Input::TimerFired { timer } => arm.timer_fired(timer),
        Input::Paused => arm.paused(),
        Input::Resumed => arm.resumed(),
        Input::Aborted => arm.aborted(),
    }
}

struct Arm<'a, D: Data, O: Observer> {
    machine: &'a Machine,
    state: &'a mut State<D>,
    observer: &'a mut O,
    effects: &'a mut Vec<Effect<D::Payload>>,
}

impl<D: Data, O: Observer> Arm<'_, D, O> {
    fn interpreter(&mut self) -> Interpreter<'_, D, O> {
        Interpreter::new(self.machine, self.state, self.observer, self.effects)
    }

    fn started(&mut self, session: std::sync::Arc<str>, input: D::Payload, semantics: Semantics) -> Verdict {
        if self.state.status != Status::Ready {
            return Verdict::Refused("the run has already been started");
        }
        self.state.semantics = semantics;
        self.state.data.begin(session, input);
        self.interpreter().start();
        Verdict::Taken
    }

    fn event_raised(&mut self, name: &str, data: D::Payload, by: Raiser) -> Verdict {
        match self.state.status {
            Status::Ready => return Verdict::Refused("the run has not been started"),
            Status::Done { .. } => return Verdict::Refused("the run has ended"),
            Status::Running if self.state.is_paused() => return Verdict::Refused("the run is paused"),
            Status::Running => {}
        }
        let key = self.machine.event(name).map_or_else(|| EventKey::Other(name.into()), EventKey::Known);
        if !self.may_raise(&key, name, by) {
            return Verdict::Refused("this sender may not raise this event");
        }
        self.handle(Event { key, data }, None)
    }

    /// Returns true if this party may raise the event. Events that only an activity, a timer or the machine itself
    /// raises are refused from outside, and so are events below them (a transition on `passed` also takes `passed.x`).
    /// `Raiser::Any` is a test harness that plays all parts.
    fn may_raise(&self, key: &EventKey, name: &str, by: Raiser) -> bool {
        let chart = self.machine.chart();
        let own = match key {
            EventKey::Known(id) => chart.events.get(id.index()),
            EventKey::Other(_) => None,
        };
        let outer = || {
            let names = std::iter::successors(Some(name), |name| name.rfind('.').map(|at| &name[..at]));
            names.filter_map(|name| self.machine.event(name)).find_map(|id| chart.events.get(id.index()))
        };
        by == Raiser::Any || own.or_else(outer).is_some_and(|event| event.from == Raiser::Any || event.from == by)
    }

    fn activity_finished(&mut self, activity: ActivityId, ended: ActivityEnd<D::Payload>) -> Verdict {
        if let Some(held) = &mut self.state.held {
            held.push(Input::ActivityFinished { activity, ended });
            return Verdict::Held;
        }
        let Some(at) = self.state.running.iter().position(|running| running.id == activity) else {
            return Verdict::Late;
        };
        let running = self.state.running.remove(at);
        let invoke = self.machine.chart().invoke(running.invoke);
        let (origin, state) = (invoke.state, &self.machine.chart().state(invoke.state).name);
        let event = match ended {
            ActivityEnd::Error { data } => {
                let data = self.state.data.failed(data, state, &invoke.activity);
                Event { key: EventKey::Known(self.machine.error_event()), data }
            }
            ActivityEnd::Signal { name, data } => {
                let declared = invoke.signals.iter().find(|signal| *self.machine.event_name(signal.event) == *name);
                match declared {
                    Some(signal) => Event { key: EventKey::Known(signal.event), data },
                    None => {
                        let fault =
                            Fault::new(format!("`{}` ended with the undeclared signal `{name}`", invoke.activity));
                        self.observer.faulted(&fault);
                        let data = self.state.data.fault(&fault, state);
                        Event { key: EventKey::Known(self.machine.error_event()), data }
                    }
                }
            }
        };
        self.handle(event, Some(origin))
    }

    fn timer_fired(&mut self, timer: TimerId) -> Verdict {
        if let Some(held) = &mut self.state.held {
            held.push(Input::TimerFired { timer });
            return Verdict::Held;
        }
        let Some(at) = self.state.pending.iter().position(|pending| pending.id == timer) else {
            return Verdict::Late;
        };
        let pending = self.state.pending.remove(at);
        self.handle(pending.event, pending.state)
    }

    fn paused(&mut self) -> Verdict {
        match (self.state.status, self.state.is_paused()) {
            (Status::Running, false) => {
                self.state.held = Some(Vec::new());
                Verdict::Taken
            }
            (Status::Running, true) => Verdict::Refused("the run is already paused"),
            _ => Verdict::Refused("the run is not running"),
        }
    }

    fn resumed(&mut self) -> Verdict {
        let Some(held) = self.state.held.take() else { return Verdict::Refused("the run is not paused") };
        // Each input is handled as if it arrived now: it is late if an earlier one has ended its activity or timer.
        for input in held {
            step_with(self.machine, self.state, input, self.observer, self.effects);
        }
        Verdict::Taken
    }

    fn aborted(&mut self) -> Verdict {
        match self.state.status {
            Status::Ready => Verdict::Refused("the run has not been started"),
            Status::Done { .. } => Verdict::Late,
            Status::Running => {
                self.state.held = None;
                self.interpreter().abort();
                Verdict::Taken
            }
        }
    }

    /// Handles an event. The origin is the state whose activity or timeout raised it.
    fn handle(&mut self, event: Event<D::Payload>, origin: Option<StateId>) -> Verdict {
        if self.interpreter().handle(event, origin) { Verdict::Taken } else { Verdict::Unhandled }
    }
}
