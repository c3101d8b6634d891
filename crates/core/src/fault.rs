//! What went wrong while evaluating: always an event for the machine, never a panic.

use interlock_chart::Value;

/// A guard, an assignment or a template that could not be evaluated.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error("{message}{}", in_expression(expression))]
pub struct Fault {
    /// What is wrong: `no such field: status`.
    pub message: String,
    /// The expression as written; empty where it is not an expression that failed.
    pub expression: String,
}

fn in_expression(expression: &str) -> String {
    if expression.is_empty() { String::new() } else { format!(" in `{expression}`") }
}

impl Fault {
    /// A fault whose expression will be filled in by whoever knows it.
    pub fn new(message: impl Into<String>) -> Self {
        Fault { message: message.into(), expression: String::new() }
    }

    /// What the `error.execution` event carries.
    pub fn payload(&self, state: &str) -> Value {
        Value::map([
            ("code", Value::from("EXECUTION")),
            ("message", Value::from(self.message.as_str())),
            ("expression", Value::from(self.expression.as_str())),
            ("state", Value::from(state)),
        ])
    }
}
