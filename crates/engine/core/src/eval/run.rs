//! Evaluates lowered code. Values are borrowed from the run's data as long as nothing new is built.

use std::{borrow::Cow, cmp::Ordering, fmt::Write, sync::Arc};

use interlock_chart::{Value, expr::Binary};

use super::{
    Values,
    code::{Code, Slot},
    number,
};
use crate::{Fault, Scope, bounds::TEXT_BYTES_MAX};

/// The fault of a text longer than [`TEXT_BYTES_MAX`]. A test checks the number in it.
pub(super) const TOO_LONG: &str = "the text is longer than 1048576 bytes, the most that a value of a machine may have";

/// Everything that code can read.
#[derive(Clone, Copy)]
pub(super) struct Env<'a> {
    pub(super) values: &'a Values,
    pub(super) scope: &'a Scope<'a, Value>,
}

type Evaluated<'a> = Result<Cow<'a, Value>, Box<Fault>>;

pub(super) fn fault<T>(message: impl Into<String>) -> Result<T, Box<Fault>> {
    Err(Box::new(Fault::new(message)))
}

pub(super) fn evaluate<'a>(code: &'a Code, env: &Env<'a>) -> Evaluated<'a> {
    match code {
        Code::Const(value) => Ok(Cow::Borrowed(value)),
        Code::Path(slot, fields) => follow(root(*slot, env), fields),
        Code::Visits(state) => owned(i64::from(env.values.visits[state.index()])),
        Code::Count(counter) => owned(i64::from(env.scope.counters[counter.index()])),
        Code::Has(..)
        | Code::Active(_)
        | Code::Not(_)
        | Code::And(..)
        | Code::Or(..)
        | Code::Compare(..)
        | Code::In(..) => owned(truth(code, env)?),
        Code::Negate(operand) => number::negate(&*evaluate(operand, env)?).map(Cow::Owned),
        Code::Arithmetic(operator, left, right) => {
            number::arithmetic(*operator, &*evaluate(left, env)?, &*evaluate(right, env)?).map(Cow::Owned)
        }
        Code::If(cond, then, otherwise) => evaluate(if truth(cond, env)? { then } else { otherwise }, env),
        Code::Index(operand, at) => index(evaluate(operand, env)?, &*evaluate(at, env)?),
        Code::Field(operand, name) => follow(evaluate(operand, env)?, std::slice::from_ref(name)),
        Code::List(items) => {
            let items: Result<Arc<[Value]>, _> =
                items.iter().map(|item| Ok(evaluate(item, env)?.into_owned())).collect();
            items.map(|items| Cow::Owned(Value::List(items)))
        }
        Code::Map(entries) => map(entries, env).map(Cow::Owned),
        Code::Size(operand) => size(&*evaluate(operand, env)?),
        Code::Text(parts) => text(parts, env),
        Code::Named(source, code) => evaluate(code, env).map_err(|mut fault| {
            fault.expression = source.to_string();
            fault
        }),
        Code::Cel(program) => program.evaluate(env).map(Cow::Owned),
    }
}

fn owned<'a>(value: impl Into<Value>) -> Evaluated<'a> {
    Ok(Cow::Owned(value.into()))
}

/// Evaluates a condition. Guards end here, so the logic works on plain booleans.
pub(super) fn truth(code: &Code, env: &Env<'_>) -> Result<bool, Box<Fault>> {
    match code {
        Code::Not(operand) => truth(operand, env).map(|value| !value),
        // CEL: `&&` is false if either side is false, even if the other side fails; `||` is true in the same way.
        Code::And(left, right) => match truth(left, env) {
            Ok(false) => Ok(false),
            Ok(true) => truth(right, env),
            Err(fault) => match truth(right, env) {
                Ok(false) => Ok(false),
                _ => Err(fault),
            },
        },
        Code::Or(left, right) => match truth(left, env) {
            Ok(true) => Ok(true),
            Ok(false) => truth(right, env),
            Err(fault) => match truth(right, env) {
                Ok(true) => Ok(true),
                _ => Err(fault),
            },
        },
        Code::Compare(operator, left, right) => compare(*operator, &*evaluate(left, env)?, &*evaluate(right, env)?),
        Code::In(item, list) => is_in(&*evaluate(item, env)?, &*evaluate(list, env)?),
        Code::Active(state) => Ok(env.scope.configuration.contains(*state)),
        Code::Has(slot, fields) => has(*slot, fields, env),
        _ => match &*evaluate(code, env)? {
            Value::Bool(value) => Ok(*value),
            other => fault(format!("expected a bool, got {}", other.kind())),
        },
    }
}

fn root<'a>(slot: Slot, env: &Env<'a>) -> Cow<'a, Value> {
    match slot {
        Slot::Input => Cow::Borrowed(&env.values.input),
        Slot::Variable(var) => Cow::Borrowed(&env.values.context[var.index()]),
        Slot::Context => Cow::Owned(context(env)),
        Slot::Event => match env.scope.event {
            Some(event) => Cow::Borrowed(&event.data),
            None => Cow::Borrowed(&env.scope.machine.nothing),
        },
        Slot::EventName => Cow::Owned(event_name(env)),
        Slot::Name => Cow::Borrowed(&env.scope.machine.name),
        Slot::Session => Cow::Owned(Value::Str(env.values.session.clone())),
    }
}

/// Builds the whole context as a map.
pub(super) fn context(env: &Env<'_>) -> Value {
    let names = env.scope.machine.chart().context.iter().map(|variable| variable.name.as_str());
    Value::map(names.zip(env.values.context.iter().cloned()))
}

pub(super) fn event_name(env: &Env<'_>) -> Value {
    env.scope.event.map_or_else(|| Value::from(""), |event| Value::Str(event.key.shared_name(env.scope.machine)))
}

fn follow<'a>(mut value: Cow<'a, Value>, fields: &[Arc<str>]) -> Evaluated<'a> {
    for name in fields {
        value = match value {
            Cow::Borrowed(value) => Cow::Borrowed(field(value, name)?),
            Cow::Owned(value) => Cow::Owned(field(&value, name)?.clone()),
        };
    }
    Ok(value)
}

fn field<'v>(value: &'v Value, name: &str) -> Result<&'v Value, Box<Fault>> {
    match value {
        Value::Map(fields) => fields.get(name).map_or_else(|| fault(format!("no such field: {name}")), Ok),
        other => fault(format!("{} has no field `{name}`", other.kind())),
    }
}

fn has(slot: Slot, fields: &[Arc<str>], env: &Env<'_>) -> Result<bool, Box<Fault>> {
    let Some((last, before)) = fields.split_last() else { return Ok(true) };
    match &*follow(root(slot, env), before)? {
        Value::Map(fields) => Ok(fields.contains_key(last)),
        other => fault(format!("{} has no field `{last}`", other.kind())),
    }
}

fn compare(operator: Binary, left: &Value, right: &Value) -> Result<bool, Box<Fault>> {
    let is = |wanted: fn(Ordering) -> bool| match order(left, right) {
        Some(Some(order)) => Ok(wanted(order)),
        Some(None) => fault("NaN cannot be compared"),
        None => fault(format!("{} and {} cannot be compared", left.kind(), right.kind())),
    };
    match operator {
        Binary::Equal => Ok(number::equal(left, right)),
        Binary::NotEqual => Ok(!number::equal(left, right)),
        Binary::Less => is(Ordering::is_lt),
        Binary::LessEqual => is(Ordering::is_le),
        Binary::Greater => is(Ordering::is_gt),
        _ => is(Ordering::is_ge),
    }
}

/// Returns `None` if the kinds have no order, and `Some(None)` for a comparison with NaN.
fn order(left: &Value, right: &Value) -> Option<Option<Ordering>> {
    match (left, right) {
        (Value::Str(left), Value::Str(right)) => Some(Some(left.cmp(right))),
        (Value::Bool(left), Value::Bool(right)) => Some(Some(left.cmp(right))),
        _ => number::order(left, right),
    }
}

fn is_in(item: &Value, list: &Value) -> Result<bool, Box<Fault>> {
    match (item, list) {
        (_, Value::List(items)) => Ok(items.iter().any(|other| number::equal(item, other))),
        (Value::Str(key), Value::Map(fields)) => Ok(fields.contains_key(key)),
        (Value::Bool(_) | Value::Int(_) | Value::Float(_), Value::Map(_)) => Ok(false),
        (_, Value::Map(_)) => fault(format!("{} cannot be the key of a map", item.kind())),
        _ => fault(format!("`in` needs a list or a map, not {}", list.kind())),
    }
}

fn index<'a>(value: Cow<'a, Value>, at: &Value) -> Evaluated<'a> {
    fn get<'v>(value: &'v Value, at: &Value) -> Result<&'v Value, Box<Fault>> {
        match (value, at) {
            (Value::List(items), Value::Int(_) | Value::Float(_)) => {
                let item = whole(at).and_then(|at| usize::try_from(at).ok()).and_then(|at| items.get(at));
                item.map_or_else(|| fault(format!("index {at} is outside a list of {}", items.len())), Ok)
            }
            (Value::Map(_), Value::Str(name)) => field(value, name),
            _ => fault(format!("{} cannot be indexed by {}", value.kind(), at.kind())),
        }
    }
    match value {
        Cow::Borrowed(value) => get(value, at).map(Cow::Borrowed),
        Cow::Owned(value) => get(&value, at).map(|item| Cow::Owned(item.clone())),
    }
}

/// Returns a whole number, even if it is written as a fraction.
fn whole(value: &Value) -> Option<i64> {
    match value {
        Value::Int(value) => Some(*value),
        // No list has an item beyond index 2^53.
        Value::Float(value) if value.fract() == 0.0 && value.abs() < 9e15 => Some(*value as i64),
        _ => None,
    }
}

fn map(entries: &[(Code, Code)], env: &Env<'_>) -> Result<Value, Box<Fault>> {
    let mut fields = std::collections::BTreeMap::new();
    for (key, value) in entries {
        let Value::Str(key) = evaluate(key, env)?.into_owned() else {
            return fault("the keys of a map must be strings");
        };
        if fields.insert(key.clone(), evaluate(value, env)?.into_owned()).is_some() {
            return fault(format!("the key `{key}` occurs twice"));
        }
    }
    Ok(Value::Map(Arc::new(fields)))
}

fn size<'a>(value: &Value) -> Evaluated<'a> {
    let size = match value {
        Value::Str(text) => text.chars().count(),
        Value::List(items) => items.len(),
        Value::Map(fields) => fields.len(),
        other => return fault(format!("{} has no size", other.kind())),
    };
    owned(i64::try_from(size).unwrap_or(i64::MAX))
}

fn text<'a>(parts: &'a [Code], env: &Env<'a>) -> Evaluated<'a> {
    let mut text = String::new();
    for part in parts {
        let value = evaluate(part, env)?;
        // Writing to a string cannot fail.
        let _ = write!(text, "{value}");
        if text.len() > TEXT_BYTES_MAX {
            return fault(TOO_LONG);
        }
    }
    owned(text)
}

impl std::fmt::Debug for Env<'_> {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.debug_struct("Env").finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn too_long_message_names_the_real_limit() {
        assert!(super::TOO_LONG.contains(&super::TEXT_BYTES_MAX.to_string()));
    }
}
