//! What went wrong while evaluating: always an event for the machine, never a panic.

use interlock_chart::Value;

/// A guard, an assignment or a template that could not be evaluated.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error("{message} in `{expression}`")]
pub struct Fault {
    /// What is wrong: `no such field: status`.
    pub message: String,
    /// The expression as written.
    pub expression: String,
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
