//! The data model: answers guards and applies assignments.
//!
//! The engine decides which questions are asked and in which order; a data model answers them. The data model of a run
//! computes with values. The data model of the checker computes with partial knowledge about values, and may answer the
//! same question both ways.

use std::sync::Arc;

use interlock_chart::{
    Value,
    model::{CounterId, StateId, VarId},
};

use crate::{Event, Fault, FormulaId, Machine, StateSet};

/// Everything an expression can read besides the data itself.
#[derive(Debug)]
pub struct Scope<'a, P> {
    /// The machine, with all its formulas.
    pub machine: &'a Machine,
    /// The states that are active now.
    pub configuration: &'a StateSet,
    /// The counters, in the chart's order.
    pub counters: &'a [u32],
    /// The event being handled, if there is one.
    pub event: Option<&'a Event<P>>,
}

/// Stores a run's data and evaluates the machine's formulas on it.
pub trait Data {
    /// The data that an event carries.
    type Payload: Clone;

    /// The part of the data that a step can change, to take a step back.
    type Saved;

    /// Returns everything that a step can change.
    fn save(&self) -> Self::Saved;

    /// Takes back every change since the data was saved.
    fn restore(&mut self, saved: Self::Saved);

    /// Begins the run with this input.
    fn begin(&mut self, session: Arc<str>, input: Self::Payload);

    /// Returns true if a guard holds.
    fn holds(&mut self, guard: FormulaId, scope: &Scope<'_, Self::Payload>) -> Result<bool, Box<Fault>>;

    /// Returns the names that a guard reads, with their current values. Called only if the observer asks for values.
    fn explain(&self, _guard: FormulaId, _scope: &Scope<'_, Self::Payload>) -> Vec<(String, Value)> {
        Vec::new()
    }

    /// Returns true if a counter at `count` is below its limit. A data model that does not track the counter may answer
    /// either way.
    fn is_within(&mut self, _counter: CounterId, count: u32, max: u32) -> bool {
        count < max
    }

    /// Called after a counter has changed.
    fn counted(&mut self, _counter: CounterId) {}

    /// Returns true if `count` is below a limit that the run's input sets. The limit is known to be at most `at_most`.
    fn is_below(
        &mut self,
        counter: CounterId,
        count: u32,
        max: FormulaId,
        at_most: u32,
        scope: &Scope<'_, Self::Payload>,
    ) -> Result<bool, Box<Fault>>;

    /// Assigns a new value to a variable.
    fn assign(&mut self, var: VarId, value: FormulaId, scope: &Scope<'_, Self::Payload>) -> Result<(), Box<Fault>>;

    /// Computes the data that an event or an activity receives.
    fn payload(&mut self, data: FormulaId, scope: &Scope<'_, Self::Payload>) -> Result<Self::Payload, Box<Fault>>;

    /// Computes a text: a reason, a log line, the name of an event, or the id of a delayed event.
    fn text(&mut self, text: FormulaId, scope: &Scope<'_, Self::Payload>) -> Result<String, Box<Fault>>;

    /// The data of an `error.execution` event.
    fn fault(&mut self, fault: &Fault, state: &str) -> Self::Payload;

    /// The data of an `error` event: the error that the activity reported, with the names of the state and the
    /// activity.
    fn failed(&mut self, data: Self::Payload, state: &str, activity: &str) -> Self::Payload;

    /// The data of a `timeout.STATE` event.
    fn timeout(&mut self, state: &str) -> Self::Payload;

    /// The data of a `done` event that has none.
    fn nothing(&mut self) -> Self::Payload;

    /// Called after a state was entered.
    fn entered(&mut self, state: StateId);
}
