//! A YAML file as a tree of values with their positions. The module knows nothing about machines.

use crate::Span;

/// One value of the file.
#[derive(Clone, Debug)]
pub(crate) struct Node {
    /// The position of the value, without trailing space.
    pub span: Span,
    /// The kind of value.
    pub kind: Kind,
}

/// The kind of a value.
#[derive(Clone, Debug)]
pub(crate) enum Kind {
    /// Text, a number, a boolean or null.
    Scalar(Scalar),
    /// A list of values.
    List(Vec<Node>),
    /// A map in file order; its keys are all different.
    Map(Vec<Entry>),
    /// An invalid value that was already reported. Readers of the tree report nothing more about it.
    Broken,
}

/// One entry of a map.
#[derive(Clone, Debug)]
pub(crate) struct Entry {
    /// The key, always read as text.
    pub key: Scalar,
    /// The value of the key.
    pub value: Node,
}

/// A piece of text in the file.
#[derive(Clone, Debug)]
pub(crate) struct Scalar {
    /// The text without quotes, with escapes resolved.
    pub text: String,
    /// True if the file has no quotes, so that `5` is a number and `true` a boolean.
    pub plain: bool,
    /// The position of the text, including quotes.
    pub span: Span,
    /// The position of the first byte, if the file contains the text verbatim. Then every byte has an exact position.
    pub verbatim: Option<u32>,
}

impl Scalar {
    /// Returns the position of a part of the text. If the file does not contain the text verbatim, it is the position
    /// of the whole text.
    pub(crate) fn part(&self, start: usize, end: usize) -> Span {
        match self.verbatim {
            Some(base) => Span::between(base as usize + start, base as usize + end),
            None => self.span,
        }
    }
}

impl Node {
    /// Returns the name of this kind of value for messages.
    pub(crate) fn word(&self) -> &'static str {
        match &self.kind {
            Kind::Scalar(scalar) => super::scalar::typed(scalar).map_or("a number", |json| super::scalar::word(&json)),
            Kind::List(_) => "a list",
            Kind::Map(_) => "a map",
            Kind::Broken => "nothing",
        }
    }

    /// Returns true if the value is null (`key:` with no value, `~` or `null`).
    pub(crate) fn is_null(&self) -> bool {
        matches!(&self.kind, Kind::Scalar(scalar) if scalar.plain && super::scalar::is_null(&scalar.text))
    }
}
