//! Expressions: CEL text, parsed once into a tree of our own.
//!
//! The tree names what the engine can evaluate quickly. What it has no word for (macros, functions of the standard library)
//! stays [`Node::Opaque`] and is evaluated by the `cel` crate from the source text.
//!
//! The variables, everywhere an expression may stand:
//!
//! | variable | is |
//! |---|---|
//! | `input` | what the run was given |
//! | `context` | the run's data |
//! | `event` | the data of the event being handled; an empty map when there is none |
//! | `state.NAME.visits`, `state.NAME.active` | how often the state was entered, whether it is active now |
//! | `count.NAME` | the value of a named counter |
//! | `_event.name`, `_event.data`, `_name`, `_sessionid`, `In('NAME')` | the same facts under SCXML's names |

mod bounds;
mod check;
mod functions;
mod nearest;
mod operators;
mod parse;
mod qualify;
mod reference;
mod refusal;
mod schema;
mod syntax;
#[cfg(test)]
mod tests;
mod tokens;
mod types;

pub use bounds::{NESTING_MAX, OPERATORS_MAX, SOURCE_CHARS_MAX};
pub use check::{Scope, check};
pub use parse::parse;
pub use qualify::{QualifyError, qualify};
pub use reference::Names;

use crate::{Span, Value};

/// An expression with the text it came from.
#[derive(Clone, Debug, PartialEq)]
pub struct Expr {
    /// As written.
    pub source: String,
    /// Where the text stands in the file.
    pub span: Span,
    /// What it means.
    pub node: Node,
}

/// A node of an expression's tree.
#[derive(Clone, Debug, PartialEq)]
pub enum Node {
    /// A constant.
    Literal(Value),
    /// A field path from one of the roots: `context.decision.status`.
    Path(Root, Vec<String>),
    /// `state.NAME.visits`
    Visits(crate::model::StateId),
    /// `state.NAME.active` or `In('NAME')`
    Active(crate::model::StateId),
    /// `count.NAME`
    Count(crate::model::CounterId),
    /// `has(path)`: the field exists.
    Has(Root, Vec<String>),
    /// `!x`, `-x`
    Unary(Unary, Box<Node>),
    /// `a op b`
    Binary(Binary, Box<Node>, Box<Node>),
    /// `c ? a : b`
    If(Box<Node>, Box<Node>, Box<Node>),
    /// `a[b]`
    Index(Box<Node>, Box<Node>),
    /// `x.name` where x is not a plain path.
    Field(Box<Node>, String),
    /// `[a, b]`
    List(Vec<Node>),
    /// `{a: b}`
    Map(Vec<(Node, Node)>),
    /// `size(x)` or `x.size()`
    Size(Box<Node>),
    /// Anything else, evaluated by the `cel` crate; with the paths it reads, for the checker.
    Opaque(Vec<(Root, Vec<String>)>),
}

/// Where a field path begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Root {
    /// `input`
    Input,
    /// `context`
    Context,
    /// `event`, also `_event.data`
    Event,
    /// `_event.name`: a path of its own with no segments.
    EventName,
    /// `_name`: the machine's id.
    Name,
    /// `_sessionid`: the run's id.
    SessionId,
}

/// Operators with one operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unary {
    /// `!`
    Not,
    /// `-`
    Negate,
}

/// Operators with two operands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Binary {
    /// `&&`: false if either side is false, even where the other fails.
    And,
    /// `||`: true if either side is true, even where the other fails.
    Or,
    /// `==`
    Equal,
    /// `!=`
    NotEqual,
    /// `<`
    Less,
    /// `<=`
    LessEqual,
    /// `>`
    Greater,
    /// `>=`
    GreaterEqual,
    /// `+`: numbers, strings, lists
    Add,
    /// `-`
    Subtract,
    /// `*`
    Multiply,
    /// `/`
    Divide,
    /// `%`
    Remainder,
    /// `in`: a list's element or a map's key
    In,
}

/// What the type checker knows about a value.
#[derive(Clone, Debug, PartialEq)]
pub enum Type {
    /// Nothing.
    Dyn,
    /// `null`
    Null,
    /// `true` or `false`
    Bool,
    /// A whole number.
    Int,
    /// A number that may have a fraction (JSON Schema's `number`).
    Double,
    /// A string; where the schema lists the values it can have, those.
    Str(Option<Vec<String>>),
    /// A list of one type.
    List(Box<Type>),
    /// A map with these fields; where it is not `open`, no others.
    Map {
        /// Known fields.
        fields: std::collections::BTreeMap<String, Type>,
        /// Whether others may exist.
        open: bool,
    },
}
