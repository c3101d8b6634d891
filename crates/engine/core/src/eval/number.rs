//! Arithmetic, equality and order of values, as CEL defines them.
//!
//! Whole numbers and fractions compare with each other by value but are not mixed in arithmetic; an overflow is a
//! fault.

use std::cmp::Ordering;

use interlock_chart::{Value, expr::Binary};

use super::run::fault;
use crate::Fault;

/// CEL's `==`: values of different kinds are unequal, numbers are compared by value.
pub(super) fn equal(left: &Value, right: &Value) -> bool {
    match (left, right) {
        (Value::Str(left), Value::Str(right)) => left == right,
        (Value::Bool(left), Value::Bool(right)) => left == right,
        (Value::Null, Value::Null) => true,
        (Value::List(left), Value::List(right)) => {
            left.len() == right.len() && left.iter().zip(right.iter()).all(|(left, right)| equal(left, right))
        }
        (Value::Map(left), Value::Map(right)) => {
            left.len() == right.len()
                && left.iter().all(|(name, value)| right.get(name).is_some_and(|other| equal(value, other)))
        }
        _ => order(left, right) == Some(Some(Ordering::Equal)),
    }
}

/// Returns the order of two numbers, or `None` if they are not both numbers. The inner `None` is a comparison with NaN.
pub(super) fn order(left: &Value, right: &Value) -> Option<Option<Ordering>> {
    match (left, right) {
        (Value::Int(left), Value::Int(right)) => Some(Some(left.cmp(right))),
        (Value::Float(left), Value::Float(right)) => Some(left.partial_cmp(right)),
        (Value::Int(left), Value::Float(right)) => Some(mixed(*left, *right)),
        (Value::Float(left), Value::Int(right)) => Some(mixed(*right, *left).map(Ordering::reverse)),
        _ => None,
    }
}

/// Compares exactly, even if no `f64` has the value of the `i64`.
fn mixed(whole: i64, fraction: f64) -> Option<Ordering> {
    const TWO_TO_63: f64 = 9_223_372_036_854_775_808.0;
    if fraction.is_nan() {
        return None;
    }
    if fraction >= TWO_TO_63 {
        return Some(Ordering::Less);
    }
    if fraction < -TWO_TO_63 {
        return Some(Ordering::Greater);
    }
    let floor = fraction.floor();
    match whole.cmp(&(floor as i64)) {
        Ordering::Equal if fraction > floor => Some(Ordering::Less),
        order => Some(order),
    }
}

pub(super) fn negate(value: &Value) -> Result<Value, Box<Fault>> {
    match value {
        Value::Int(value) => {
            value.checked_neg().map_or_else(|| fault("the number is too large"), |v| Ok(Value::Int(v)))
        }
        Value::Float(value) => Ok(Value::Float(-value)),
        other => fault(format!("{} cannot be negated", other.kind())),
    }
}

pub(super) fn arithmetic(operator: Binary, left: &Value, right: &Value) -> Result<Value, Box<Fault>> {
    match (left, right) {
        (Value::Int(left), Value::Int(right)) => whole(operator, *left, *right),
        (Value::Float(left), Value::Float(right)) => fraction(operator, *left, *right),
        (Value::Str(left), Value::Str(right)) if operator == Binary::Add => Ok(Value::from(format!("{left}{right}"))),
        (Value::List(left), Value::List(right)) if operator == Binary::Add => {
            Ok(Value::List(left.iter().chain(right.iter()).cloned().collect()))
        }
        _ => fault(format!("no `{}` for {} and {}", symbol(operator), left.kind(), right.kind())),
    }
}

fn whole(operator: Binary, left: i64, right: i64) -> Result<Value, Box<Fault>> {
    if right == 0 && matches!(operator, Binary::Divide | Binary::Remainder) {
        return fault("division by zero");
    }
    let value = match operator {
        Binary::Add => left.checked_add(right),
        Binary::Subtract => left.checked_sub(right),
        Binary::Multiply => left.checked_mul(right),
        Binary::Divide => left.checked_div(right),
        _ => left.checked_rem(right),
    };
    value.map_or_else(|| fault("the number is too large"), |value| Ok(Value::Int(value)))
}

fn fraction(operator: Binary, left: f64, right: f64) -> Result<Value, Box<Fault>> {
    match operator {
        Binary::Add => Ok(Value::Float(left + right)),
        Binary::Subtract => Ok(Value::Float(left - right)),
        Binary::Multiply => Ok(Value::Float(left * right)),
        Binary::Divide => Ok(Value::Float(left / right)),
        _ => fault("no `%` for double and double"),
    }
}

fn symbol(operator: Binary) -> &'static str {
    match operator {
        Binary::Add => "+",
        Binary::Subtract => "-",
        Binary::Multiply => "*",
        Binary::Divide => "/",
        _ => "%",
    }
}
