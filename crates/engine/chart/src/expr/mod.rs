//! Expressions: CEL text, parsed once into our own tree.
//!
//! The tree has nodes for everything that the engine can evaluate quickly. The rest (macros, functions of the standard
//! library) stays [`Node::Opaque`], and the `cel` crate evaluates it from the source text.
//!
//! The variables of every expression:
//!
//! | variable | value |
//! |---|---|
//! | `input` | the run's input |
//! | `context` | the run's data |
//! | `event` | the data of the event being handled; an empty map if there is no event |
//! | `state.NAME.visits`, `state.NAME.active` | the number of times the state was entered, and true if it is active now
//! |
//! | `count.NAME` | the value of a named counter |
//! | `_event.name`, `_event.data`, `_name`, `_sessionid`, `In('NAME')` | the same facts under SCXML's names |

mod bounds;
mod check;
mod functions;
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
    /// The text as written in the file.
    pub source: String,
    /// The position of the text in the file.
    pub span: Span,
    /// The parsed tree of the expression.
    pub node: Node,
}

/// A node of an expression's tree.
#[derive(Clone, Debug, PartialEq)]
pub enum Node {
    /// A constant in the source text.
    Literal(Value),
    /// A field path from one of the roots: `context.decision.status`.
    Path(Root, Vec<String>),
    /// `state.NAME.visits`: the number of times the state was entered.
    Visits(crate::model::StateId),
    /// `state.NAME.active` or `In('NAME')`: true if the state is active.
    Active(crate::model::StateId),
    /// `count.NAME`: the value of a named counter.
    Count(crate::model::CounterId),
    /// `has(path)`: the field exists.
    Has(Root, Vec<String>),
    /// An operator with one operand: `!x`, `-x`.
    Unary(Unary, Box<Node>),
    /// An operator with two operands: `a op b`.
    Binary(Binary, Box<Node>, Box<Node>),
    /// A conditional expression: `c ? a : b`.
    If(Box<Node>, Box<Node>, Box<Node>),
    /// An element of a list or map: `a[b]`.
    Index(Box<Node>, Box<Node>),
    /// `x.name`, if x is not a plain path.
    Field(Box<Node>, String),
    /// A list of computed elements: `[a, b]`.
    List(Vec<Node>),
    /// A map of computed entries: `{a: b}`.
    Map(Vec<(Node, Node)>),
    /// The size of a value: `size(x)` or `x.size()`.
    Size(Box<Node>),
    /// Anything else. The `cel` crate evaluates it; the paths that it reads are kept for the checker.
    Opaque(Vec<(Root, Vec<String>)>),
}

/// The variable at the start of a field path.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Root {
    /// `input`: the run's input.
    Input,
    /// `context`: the run's data.
    Context,
    /// `event` or `_event.data`: the data of the current event.
    Event,
    /// `_event.name`: a path without segments.
    EventName,
    /// `_name`: the machine's id.
    Name,
    /// `_sessionid`: the run's id.
    SessionId,
}

/// Operators with one operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unary {
    /// `!`: the logical negation.
    Not,
    /// `-`: the arithmetic negation.
    Negate,
}

/// Operators with two operands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Binary {
    /// `&&`: false if either side is false, even if the other side fails.
    And,
    /// `||`: true if either side is true, even if the other side fails.
    Or,
    /// `==`: both values are equal.
    Equal,
    /// `!=`: the values are different.
    NotEqual,
    /// `<`: the left value is smaller.
    Less,
    /// `<=`: the left value is smaller or equal.
    LessEqual,
    /// `>`: the left value is greater.
    Greater,
    /// `>=`: the left value is greater or equal.
    GreaterEqual,
    /// `+`: for numbers, strings and lists.
    Add,
    /// `-`: the difference of numbers.
    Subtract,
    /// `*`: the product of numbers.
    Multiply,
    /// `/`: the quotient of numbers.
    Divide,
    /// `%`: the remainder of whole numbers.
    Remainder,
    /// `in`: tests for an element of a list or a key of a map.
    In,
}

/// The type checker's knowledge about a value.
#[derive(Clone, Debug, PartialEq)]
pub enum Type {
    /// The type is unknown.
    Dyn,
    /// The value is `null`.
    Null,
    /// The value is `true` or `false`.
    Bool,
    /// A whole number (JSON Schema's `integer`).
    Int,
    /// A number that may have a fraction (JSON Schema's `number`).
    Double,
    /// A string. If the schema lists the possible values, they are kept.
    Str(Option<Vec<String>>),
    /// A list whose elements have one type.
    List(Box<Type>),
    /// A map with these fields. Unless it is `open`, it has no others.
    Map {
        /// The known fields with their types.
        fields: std::collections::BTreeMap<String, Type>,
        /// True if other fields may exist.
        open: bool,
    },
}
