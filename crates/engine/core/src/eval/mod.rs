//! The data model of real runs: it computes with values.
//!
//! Formulas are lowered once to [`Code`] (`code.rs`). Evaluating code allocates only if it builds a new list, map or
//! string (`run.rs`). Expressions that cannot be lowered are evaluated by the `cel` crate (`cel.rs`). A test checks
//! that both evaluators give the same results.

mod cel;
mod code;
mod explain;
mod number;
mod run;

#[cfg(test)]
mod agreement;

use std::sync::Arc;

pub(crate) use code::Code;
use interlock_chart::{
    Value,
    model::{CounterId, StateId, Template, VarId},
};

use crate::{
    Data, Fault, FormulaId, Machine, Scope,
    bounds::{TEXT_BYTES_MAX, VALUE_DEPTH_MAX, VALUE_ITEMS_MAX},
};

/// Returns the expressions of a machine that exceed the step budget of an evaluation with any data.
pub fn endless_expressions(machine: &Machine) -> Vec<&interlock_chart::expr::Expr> {
    let mut found = Vec::new();
    machine.formulas().iter().for_each(|formula| code::endless(&formula.template, &mut found));
    found
}

/// The data of one run.
#[derive(Clone, Debug, PartialEq)]
pub struct Values {
    /// The input that the run was started with.
    pub input: Value,
    /// The variables, in the chart's order.
    pub context: Vec<Value>,
    /// The number of times each state was entered.
    pub visits: Vec<u32>,
    /// The id of the run.
    pub session: Arc<str>,
}

impl Values {
    /// Creates the data of a run that has not started.
    pub fn new(machine: &Machine) -> Self {
        Values {
            input: Value::Null,
            context: vec![Value::Null; machine.chart().context.len()],
            visits: vec![0; machine.chart().states.len()],
            session: "".into(),
        }
    }

    /// Evaluates a formula and checks that a machine can carry the value.
    pub fn evaluate(&self, formula: FormulaId, scope: &Scope<'_, Value>) -> Result<Value, Box<Fault>> {
        let formula = &scope.machine.formulas()[formula.index()];
        run::evaluate(&formula.code, &run::Env { values: self, scope })
            .map(std::borrow::Cow::into_owned)
            .and_then(bounded)
            .map_err(|fault| self.located(fault, &formula.template, scope))
    }

    /// Adds the expression to a fault that does not name one yet, and the values that the expression read.
    fn located(&self, mut fault: Box<Fault>, template: &Template, scope: &Scope<'_, Value>) -> Box<Fault> {
        if let (true, Template::Expr(expr)) = (fault.expression.is_empty(), template) {
            fault.expression = expr.source.clone();
        }
        fault.values = explain::used(self, template, &fault.expression, scope);
        fault
    }
}

/// Checks that a machine can carry the value: its size is bounded, so that no loop makes it grow for ever, and it has a
/// JSON form.
fn bounded(value: Value) -> Result<Value, Box<Fault>> {
    let mut room = VALUE_ITEMS_MAX;
    match measure(&value, VALUE_DEPTH_MAX, &mut room) {
        Ok(()) => Ok(value),
        Err(message) => run::fault(message),
    }
}

fn measure(value: &Value, depth_left: usize, room: &mut usize) -> Result<(), &'static str> {
    match value {
        Value::Float(number) if !number.is_finite() => Err("the number is not finite"),
        Value::Str(text) if text.len() > TEXT_BYTES_MAX => Err(run::TOO_LONG),
        Value::Null | Value::Bool(_) | Value::Int(_) | Value::Float(_) | Value::Str(_) => Ok(()),
        Value::List(items) => measure_items(items.iter(), depth_left, room),
        Value::Map(fields) => measure_items(fields.values(), depth_left, room),
    }
}

fn measure_items<'v>(
    mut items: impl ExactSizeIterator<Item = &'v Value>,
    depth_left: usize,
    room: &mut usize,
) -> Result<(), &'static str> {
    let depth_left = depth_left.checked_sub(1).ok_or("the value is nested too deeply")?;
    *room = room.checked_sub(items.len()).ok_or("the value has too many parts")?;
    items.try_for_each(|item| measure(item, depth_left, room))
}

impl Data for Values {
    type Payload = Value;
    type Saved = (Vec<Value>, Vec<u32>);

    fn save(&self) -> Self::Saved {
        (self.context.clone(), self.visits.clone())
    }

    fn restore(&mut self, saved: Self::Saved) {
        (self.context, self.visits) = saved;
    }

    fn begin(&mut self, session: Arc<str>, input: Value) {
        self.session = session;
        self.input = input;
    }

    fn holds(&mut self, guard: FormulaId, scope: &Scope<'_, Value>) -> Result<bool, Box<Fault>> {
        let formula = &scope.machine.formulas()[guard.index()];
        run::truth(&formula.code, &run::Env { values: self, scope })
            .map_err(|fault| self.located(fault, &formula.template, scope))
    }

    fn is_below(
        &mut self,
        _counter: CounterId,
        count: u32,
        max: FormulaId,
        at_most: u32,
        scope: &Scope<'_, Value>,
    ) -> Result<bool, Box<Fault>> {
        match self.evaluate(max, scope)? {
            Value::Int(max) => Ok(i64::from(count) < max.min(i64::from(at_most))),
            other => {
                let fault = Fault::new(format!("a limit must be a whole number, not {}", other.kind()));
                Err(self.located(Box::new(fault), &scope.machine.formulas()[max.index()].template, scope))
            }
        }
    }

    fn assign(&mut self, var: VarId, value: FormulaId, scope: &Scope<'_, Value>) -> Result<(), Box<Fault>> {
        self.context[var.index()] = self.evaluate(value, scope)?;
        Ok(())
    }

    fn payload(&mut self, data: FormulaId, scope: &Scope<'_, Value>) -> Result<Value, Box<Fault>> {
        self.evaluate(data, scope)
    }

    fn text(&mut self, text: FormulaId, scope: &Scope<'_, Value>) -> Result<String, Box<Fault>> {
        self.evaluate(text, scope).map(|value| value.to_string())
    }

    fn fault(&mut self, fault: &Fault, state: &str) -> Value {
        fault.payload(state)
    }

    fn failed(&mut self, data: Value, state: &str, activity: &str) -> Value {
        let mut fields = match data {
            Value::Map(fields) => Arc::unwrap_or_clone(fields),
            other => [("message".into(), other)].into(),
        };
        fields.entry("code".into()).or_insert_with(|| "ERROR".into());
        fields.entry("message".into()).or_insert_with(|| "".into());
        fields.insert("state".into(), state.into());
        fields.insert("activity".into(), activity.into());
        Value::Map(Arc::new(fields))
    }

    fn timeout(&mut self, state: &str) -> Value {
        Value::map([("state", Value::from(state))])
    }

    fn explain(&self, guard: FormulaId, scope: &Scope<'_, Value>) -> Vec<(String, Value)> {
        explain::explain(self, guard, scope)
    }

    fn nothing(&mut self) -> Value {
        Value::empty()
    }

    fn entered(&mut self, state: StateId) {
        let visits = &mut self.visits[state.index()];
        *visits = visits.saturating_add(1);
    }
}
