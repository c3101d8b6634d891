//! The data model: what guards ask and assignments change.
//!
//! The engine decides which questions are asked and in which order; a data model answers them. A run's data model computes with
//! values; the checker's computes with what is known of values, and may answer the same question both ways.

use std::sync::Arc;

use interlock_chart::{
    Value,
    model::{CounterId, StateId, VarId},
};

use crate::{Event, Fault, FormulaId, Machine, StateSet};

/// What an expression can see besides the data itself.
#[derive(Debug)]
pub struct Scope<'a, P> {
    /// The machine, with all formulas.
    pub machine: &'a Machine,
    /// The active states.
    pub configuration: &'a StateSet,
    /// The counters.
    pub counters: &'a [u32],
    /// The event being handled.
    pub event: Option<&'a Event<P>>,
}

/// A data model.
pub trait Data {
    /// What an event carries.
    type Payload: Clone;

    /// The run begins with this input.
    fn begin(&mut self, session: Arc<str>, input: Self::Payload);

    /// Whether a guard holds.
    fn holds(&mut self, guard: FormulaId, scope: &Scope<'_, Self::Payload>) -> Result<bool, Box<Fault>>;

    /// What a guard reads, with the values it saw. Asked only where somebody wants to know why.
    fn explain(&self, _guard: FormulaId, _scope: &Scope<'_, Self::Payload>) -> Vec<(String, Value)> {
        Vec::new()
    }

    /// Whether a counter that stands at `count` is below its limit. A data model that does not follow the counter may answer both ways.
    fn is_within(&mut self, _counter: CounterId, count: u32, max: u32) -> bool {
        count < max
    }

    /// A counter has changed.
    fn counted(&mut self, _counter: CounterId) {}

    /// Whether `count` is below a limit that the run's input sets, known to be `at_most` this high.
    fn is_below(
        &mut self,
        counter: CounterId,
        count: u32,
        max: FormulaId,
        at_most: u32,
        scope: &Scope<'_, Self::Payload>,
    ) -> Result<bool, Box<Fault>>;

    /// Gives a variable a new value.
    fn assign(&mut self, var: VarId, value: FormulaId, scope: &Scope<'_, Self::Payload>) -> Result<(), Box<Fault>>;

    /// What an event or an activity is given.
    fn payload(&mut self, data: FormulaId, scope: &Scope<'_, Self::Payload>) -> Result<Self::Payload, Box<Fault>>;

    /// A text: a reason, a line of the log, the name of an event, the id of a delayed one.
    fn text(&mut self, text: FormulaId, scope: &Scope<'_, Self::Payload>) -> Result<String, Box<Fault>>;

    /// What an `error.execution` event carries.
    fn fault(&mut self, fault: &Fault, state: &str) -> Self::Payload;

    /// What an `error` event carries: what the activity said of its failure, and where.
    fn failed(&mut self, data: Self::Payload, state: &str, activity: &str) -> Self::Payload;

    /// What `timeout.STATE` carries.
    fn timeout(&mut self, state: &str) -> Self::Payload;

    /// What a `done` event without data carries.
    fn nothing(&mut self) -> Self::Payload;

    /// A state was entered.
    fn entered(&mut self, state: StateId);
}
