//! One run of a machine in virtual time; its activities are not carried out.

use std::sync::Arc;

use interlock_chart::{Value, model::Raiser};
use interlock_core::{ActivityEnd, ActivityId, Effect, Input, Machine, Semantics, State, Trace, Verdict, step_with};

use crate::clock::Clock;

/// The most timers that may fire in one run. It stops a machine that sends itself delayed events for ever.
pub const TIMERS_FIRED_MAX: u32 = 10_000;

/// The error if virtual time cannot advance because timers keep setting timers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NoRest;

/// A run in virtual time.
#[derive(Debug)]
pub struct Simulation<'m> {
    machine: &'m Machine,
    state: State,
    clock: Clock,
    timers_left: u32,
    log: Vec<String>,
}

impl<'m> Simulation<'m> {
    /// Starts a run with an input.
    pub fn start(machine: &'m Machine, input: Value) -> Self {
        let mut run = Simulation {
            machine,
            state: State::ready(machine),
            clock: Clock::default(),
            timers_left: TIMERS_FIRED_MAX,
            log: Vec::new(),
        };
        run.step(Input::Started { session: Arc::from("simulation"), input, semantics: Semantics::CURRENT });
        run
    }

    /// Raises an event from outside.
    pub fn send(&mut self, event: &str, data: Value) -> Verdict {
        self.step(Input::EventRaised { event: Arc::from(event), data, by: Raiser::Any })
    }

    /// Ends a running activity.
    pub fn finish(&mut self, activity: ActivityId, ended: ActivityEnd) -> Verdict {
        self.step(Input::ActivityFinished { activity, ended })
    }

    /// Lets time pass and fires every timer that becomes due.
    pub fn advance(&mut self, by_ms: u64) -> Result<(), NoRest> {
        let until_ms = self.clock.now_ms().saturating_add(by_ms);
        while let Some(timer) = self.clock.next_by(until_ms) {
            self.timers_left = self.timers_left.checked_sub(1).ok_or(NoRest)?;
            self.step(Input::TimerFired { timer });
        }
        Ok(())
    }

    /// The time until the next timer is due, if one is set.
    pub fn next_due_in_ms(&self) -> Option<u64> {
        self.clock.next_due_ms().map(|due_ms| due_ms.saturating_sub(self.clock.now_ms()))
    }

    /// Lets time pass until the run has ended or no timer is left.
    pub fn advance_to_end(&mut self) -> Result<(), NoRest> {
        while let Some(due_ms) = self.clock.next_due_ms().filter(|_| !self.state.is_done()) {
            self.advance(due_ms.saturating_sub(self.clock.now_ms()))?;
        }
        Ok(())
    }

    /// The state of the run.
    pub fn state(&self) -> &State {
        &self.state
    }

    /// The names of the active atomic states, in document order.
    pub fn places(&self) -> Vec<&'m str> {
        self.state.places(self.machine)
    }

    /// The lines that the machine logged so far.
    pub fn log(&self) -> &[String] {
        &self.log
    }

    fn step(&mut self, input: Input) -> Verdict {
        let (mut trace, mut effects): (Trace, Vec<Effect>) = (Trace::default(), Vec::new());
        let verdict = step_with(self.machine, &mut self.state, input, &mut trace, &mut effects);
        effects.iter().for_each(|effect| self.clock.apply(effect));
        self.log.extend(trace.microsteps.into_iter().flat_map(|microstep| microstep.log));
        verdict
    }
}
