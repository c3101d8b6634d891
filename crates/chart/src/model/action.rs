//! What a machine does by itself while it moves, and the templates its words and data are made from.

use super::VarId;
use crate::{Value, expr::Expr};

/// Actions done in order; when one fails, the rest of its block is left out and an `error.execution` event raised.
pub type Block = Vec<Action>;

/// Executable content. Nothing here touches the world: that is what activities are for.
#[derive(Clone, Debug, PartialEq)]
pub enum Action {
    /// Give a variable of the context a new value.
    Assign {
        /// The variable.
        var: VarId,
        /// Its new value.
        value: Template,
    },
    /// Put an event on the internal queue.
    Raise {
        /// The event's name.
        event: String,
        /// Its data: a map.
        data: Template,
    },
    /// Put an event on the external queue, now or after a delay.
    Send {
        /// The event's name.
        event: Template,
        /// Its data: a map.
        data: Template,
        /// How long to wait, a duration such as `10s` or `500ms`.
        delay: Option<Template>,
        /// A name to cancel it by.
        id: Option<String>,
    },
    /// Take back a delayed event that has not been sent yet.
    Cancel {
        /// The name it was sent under.
        id: Template,
    },
    /// Write a line into the trace.
    Log {
        /// What to write.
        text: Template,
    },
    /// The first branch whose condition holds; the last may have none.
    If {
        /// Condition and block.
        branches: Vec<(Option<Expr>, Block)>,
    },
}

/// A value with expressions in it. In a file: any YAML value, where strings may hold `${…}`.
#[derive(Clone, Debug, PartialEq)]
pub enum Template {
    /// A value without expressions.
    Literal(Value),
    /// `"${expr}"` alone: the value of the expression, whatever its type.
    Expr(Expr),
    /// A string with expressions inside.
    Text(Vec<Part>),
    /// A list with expressions inside.
    List(Vec<Template>),
    /// A map with expressions inside, in file order.
    Map(Vec<(String, Template)>),
}

/// A piece of a [`Template::Text`].
#[derive(Clone, Debug, PartialEq)]
pub enum Part {
    /// Taken as it is.
    Text(String),
    /// Evaluated and shown: a string bare, anything else as JSON.
    Expr(Expr),
}

impl Template {
    /// The data of an event that carries none.
    pub fn empty() -> Self {
        Template::Literal(Value::empty())
    }

    /// A literal string.
    pub fn text(text: &str) -> Self {
        Template::Literal(text.into())
    }
}
