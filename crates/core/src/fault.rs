//! An evaluation that failed. It always becomes an event for the machine, never a panic.

use interlock_chart::Value;

/// A guard, an assignment or a template that could not be evaluated.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error("{message}{}", in_expression(expression))]
pub struct Fault {
    /// The problem, such as `no such field: status`.
    pub message: String,
    /// The expression as written; empty if the failure was not in an expression.
    pub expression: String,
}

fn in_expression(expression: &str) -> String {
    if expression.is_empty() { String::new() } else { format!(" in `{expression}`") }
}

impl Fault {
    /// The code in the data of every `error.execution` event.
    pub const CODE: &str = "EXECUTION";

    /// Creates a fault without an expression; the caller that knows the expression adds it.
    pub fn new(message: impl Into<String>) -> Self {
        Fault { message: message.into(), expression: String::new() }
    }

    /// The data of the `error.execution` event.
    pub fn payload(&self, state: &str) -> Value {
        Value::map([
            ("code", Value::from(Self::CODE)),
            ("message", Value::from(self.message.as_str())),
            ("expression", Value::from(self.expression.as_str())),
            ("state", Value::from(state)),
        ])
    }
}
