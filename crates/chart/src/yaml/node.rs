//! A YAML file as a tree of values with their places. It knows nothing of machines.

use crate::Span;

/// One value.
#[derive(Clone, Debug)]
pub(crate) struct Node {
    /// Where it stands, without trailing space.
    pub span: Span,
    /// What it is.
    pub kind: Kind,
}

/// What a value is.
#[derive(Clone, Debug)]
pub(crate) enum Kind {
    /// Text, a number, `true`, nothing.
    Scalar(Scalar),
    /// A list.
    List(Vec<Node>),
    /// A map in file order; its keys are all different.
    Map(Vec<Entry>),
    /// Something already complained about: whoever finds it here says nothing more.
    Broken,
}

/// One line of a map.
#[derive(Clone, Debug)]
pub(crate) struct Entry {
    /// The key, always taken as text.
    pub key: Scalar,
    /// The value.
    pub value: Node,
}

/// A piece of text as the file has it.
#[derive(Clone, Debug)]
pub(crate) struct Scalar {
    /// Without quotes, escapes resolved.
    pub text: String,
    /// Without quotes in the file, so that `5` is a number and `true` a truth value.
    pub plain: bool,
    /// Where it stands, quotes included.
    pub span: Span,
    /// Where its first byte stands, if the file has the text letter for letter; then every byte of it can be pointed at.
    pub verbatim: Option<u32>,
}

impl Scalar {
    /// The place of a part of the text: exact where the file has the text letter for letter, all of it otherwise.
    pub(crate) fn part(&self, start: usize, end: usize) -> Span {
        match self.verbatim {
            Some(base) => Span::between(base as usize + start, base as usize + end),
            None => self.span,
        }
    }
}

impl Node {
    /// The word for this kind of value in messages to people.
    pub(crate) fn word(&self) -> &'static str {
        match &self.kind {
            Kind::Scalar(scalar) => super::scalar::typed(scalar).map_or("a number", |json| super::scalar::word(&json)),
            Kind::List(_) => "a list",
            Kind::Map(_) => "a map",
            Kind::Broken => "nothing",
        }
    }

    /// Whether nothing stands here (`key:` with no value, `~` or `null`).
    pub(crate) fn is_null(&self) -> bool {
        matches!(&self.kind, Kind::Scalar(scalar) if scalar.plain && super::scalar::is_null(&scalar.text))
    }
}
