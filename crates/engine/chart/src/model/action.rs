//! The actions of a machine, and the templates of their texts and data.

use super::VarId;
use crate::{Value, expr::Expr};

/// Actions that run in order. If one fails, the rest of its block is skipped and `error.execution` is raised.
pub type Block = Vec<Action>;

/// Executable content. No action affects the world; only activities do.
#[derive(Clone, Debug, PartialEq)]
pub enum Action {
    /// Assigns a new value to a variable of the context.
    Assign {
        /// The variable to assign.
        var: VarId,
        /// The variable's new value.
        value: Template,
    },
    /// Puts an event on the internal queue.
    Raise {
        /// The name of the event to raise.
        event: String,
        /// The event's data: a map.
        data: Template,
    },
    /// Puts an event on the external queue, immediately or after a delay.
    Send {
        /// The name of the event to send.
        event: Template,
        /// The event's data: a map.
        data: Template,
        /// The delay, a duration such as `10s` or `500ms`.
        delay: Option<Template>,
        /// The id with which the event can be cancelled.
        id: Option<String>,
    },
    /// Cancels a delayed event that has not been sent yet.
    Cancel {
        /// The id with which the event was sent.
        id: Template,
    },
    /// Writes a line to the trace.
    Log {
        /// The text of the line.
        text: Template,
    },
    /// Runs the first branch whose condition is true. The last branch may have no condition.
    If {
        /// The condition and block of each branch.
        branches: Vec<(Option<Expr>, Block)>,
    },
}

/// A value that may contain expressions. In a file it is any YAML value whose strings may contain `${…}`.
#[derive(Clone, Debug, PartialEq)]
pub enum Template {
    /// A value without expressions.
    Literal(Value),
    /// `"${expr}"` alone: the value of the expression with its type.
    Expr(Expr),
    /// A string that contains expressions.
    Text(Vec<Part>),
    /// A list that contains expressions.
    List(Vec<Template>),
    /// A map that contains expressions, in file order.
    Map(Vec<(String, Template)>),
}

/// A piece of a [`Template::Text`].
#[derive(Clone, Debug, PartialEq)]
pub enum Part {
    /// Literal text that is copied unchanged.
    Text(String),
    /// An expression whose value is inserted: a string bare, anything else as JSON.
    Expr(Expr),
}

impl Template {
    /// Returns the data of an event that carries none.
    pub fn empty() -> Self {
        Template::Literal(Value::empty())
    }

    /// Returns a literal string.
    pub fn text(text: &str) -> Self {
        Template::Literal(text.into())
    }
}
