//! The fallback: the `cel` crate evaluates expressions that cannot be lowered to `Code`.
//!
//! This costs microseconds, because a context with the variables that the expression reads is built for every
//! evaluation. It is as pure as the rest: no clock, no environment and no I/O are bound. The crate's maps have no
//! defined order, so iteration over one would differ from run to run; `order.rs` prevents that.

mod order;

use std::{collections::BTreeMap, sync::Arc};

use cel::{Context, Program, common::ast::IdedExpr, objects::Key};
use interlock_chart::Value;

use super::run::{Env, context, event_name, fault};
use crate::{Fault, bounds::EVALUATION_STEPS_MAX};
use order::Steps;

/// A compiled expression, or the message of the error that prevented compilation.
#[derive(Clone)]
pub(crate) struct CelProgram {
    source: String,
    program: Result<Arc<Ready>, String>,
}

struct Ready {
    expression: IdedExpr,
    /// The names of the variables that the expression reads.
    variables: Vec<String>,
}

impl CelProgram {
    pub(crate) fn new(source: &str) -> Self {
        let program = Program::compile(source).map_err(|errors| errors.to_string()).map(|program| {
            let variables = program.references().variables().into_iter().map(str::to_owned).collect();
            let mut expression = program.expression().clone();
            order::keep(&mut expression);
            Arc::new(Ready { expression, variables })
        });
        CelProgram { source: source.to_owned(), program }
    }

    pub(super) fn evaluate(&self, env: &Env<'_>) -> Result<Value, Box<Fault>> {
        let run = || -> Result<Value, Box<Fault>> {
            let program = match &self.program {
                Ok(program) => program,
                Err(message) => return fault(message.clone()),
            };
            let mut scope = Context::default();
            for name in &program.variables {
                if let Some(value) = variable(name, env) {
                    scope.add_variable_from_value(name.clone(), to_cel(&value));
                }
            }
            bind_in(&mut scope, env);
            let steps = Steps::new(EVALUATION_STEPS_MAX);
            order::bind(&mut scope, &steps);
            match cel::Value::resolve(&program.expression, &scope) {
                // The budget is checked first, because an expression such as `error || true` may hide its error.
                _ if steps.are_used_up() => fault(format!("it takes more than {EVALUATION_STEPS_MAX} steps")),
                Ok(value) => from_cel(&value),
                Err(error) => fault(error.to_string()),
            }
        };
        run().map_err(|mut fault| {
            fault.expression.clone_from(&self.source);
            fault
        })
    }
}

/// Returns true if an expression that reads no data exceeds the step budget of an evaluation.
pub(crate) fn is_endless(source: &str) -> bool {
    let Ok(program) = CelProgram::new(source).program else { return false };
    if !program.variables.is_empty() {
        return false;
    }
    let (mut scope, steps) = (Context::default(), Steps::new(EVALUATION_STEPS_MAX));
    order::bind(&mut scope, &steps);
    // The value does not matter, and neither does an error.
    let _ = cel::Value::resolve(&program.expression, &scope);
    steps.are_used_up()
}

impl std::fmt::Debug for CelProgram {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(out, "CelProgram({})", self.source)
    }
}

fn variable(name: &str, env: &Env<'_>) -> Option<Value> {
    let chart = env.scope.machine.chart();
    let event = || env.scope.event.map_or_else(Value::empty, |event| event.data.clone());
    Some(match name {
        "input" => env.values.input.clone(),
        "context" => context(env),
        "event" => event(),
        "_event" => Value::map([("name", event_name(env)), ("data", event())]),
        "_name" => chart.id.as_str().into(),
        "_sessionid" => Value::Str(env.values.session.clone()),
        "count" => Value::map(
            (chart.counters.iter().zip(env.scope.counters))
                .map(|(counter, count)| (counter.name.as_str(), Value::Int(i64::from(*count)))),
        ),
        "state" => Value::map(chart.states.iter().map(|state| {
            let visits = i64::from(env.values.visits[state.id.index()]);
            let active = env.scope.configuration.contains(state.id);
            (state.name.as_str(), Value::map([("visits", Value::Int(visits)), ("active", Value::Bool(active))]))
        })),
        _ => return None,
    })
}

/// Binds `In('STATE')`. The crate requires functions that own their data.
fn bind_in(scope: &mut Context<'_, '_>, env: &Env<'_>) {
    let chart = env.scope.machine.chart();
    let active: Vec<String> = env.scope.configuration.iter().map(|state| chart.state(state).name.clone()).collect();
    // `add_function` fails only if the name is taken; the crate defines no `In`.
    let _ = scope.add_function("In", move |name: Arc<String>| -> bool { active.contains(&name) });
}

fn to_cel(value: &Value) -> cel::Value {
    match value {
        Value::Null => cel::Value::Null,
        Value::Bool(value) => cel::Value::Bool(*value),
        Value::Int(value) => cel::Value::Int(*value),
        Value::Float(value) => cel::Value::Float(*value),
        Value::Str(text) => cel::Value::String(Arc::new(text.to_string())),
        Value::List(items) => cel::Value::List(Arc::new(items.iter().map(to_cel).collect())),
        Value::Map(fields) => {
            let entries = fields.iter().map(|(name, value)| (Key::String(Arc::new(name.to_string())), to_cel(value)));
            cel::Value::Map(cel::objects::Map { map: Arc::new(entries.collect()) })
        }
    }
}

fn from_cel(value: &cel::Value) -> Result<Value, Box<Fault>> {
    Ok(match value {
        cel::Value::Null => Value::Null,
        cel::Value::Bool(value) => Value::Bool(*value),
        cel::Value::Int(value) => Value::Int(*value),
        cel::Value::UInt(value) => match i64::try_from(*value) {
            Ok(value) => Value::Int(value),
            Err(_) => return fault("the number is too large"),
        },
        cel::Value::Float(value) => Value::Float(*value),
        cel::Value::String(text) => Value::from(text.as_str()),
        cel::Value::List(items) => Value::List(items.iter().map(from_cel).collect::<Result<_, _>>()?),
        cel::Value::Map(map) => Value::Map(Arc::new(entries(map)?)),
        other => return fault(format!("{:?} is not a value that a machine can carry", other.type_of())),
    })
}

fn entries(map: &cel::objects::Map) -> Result<BTreeMap<Arc<str>, Value>, Box<Fault>> {
    let entry = |(key, value): (&Key, &cel::Value)| match key {
        Key::String(name) => Ok((Arc::from(name.as_str()), from_cel(value)?)),
        _ => fault("the keys of a map must be strings"),
    };
    map.map.iter().map(entry).collect()
}
