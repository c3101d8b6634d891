//! What is wrong with a machine file, and where.
//!
//! A [`Diagnostic`] is plain data: a code, a place, a sentence, a hint. How it looks on a terminal is the last part of
//! this file. Each code has a page under `docs/errors/`.

/// A place in a source text, in bytes. The empty default means "nowhere in particular" (an imported chart, say).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Span {
    /// First byte.
    pub start: u32,
    /// One past the last byte.
    pub end: u32,
}

/// How bad it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    /// Odd, but the machine can run.
    Warning,
    /// The machine cannot be used.
    Error,
}

/// One problem of a machine file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagnostic {
    /// `E0101`, with a page `docs/errors/E0101.md`; `W…` for warnings.
    pub code: &'static str,
    /// Error or warning.
    pub severity: Severity,
    /// Where.
    pub span: Span,
    /// What is wrong, one sentence without a full stop.
    pub message: String,
    /// What to do about it: "did you mean `TEST_SETUP`?".
    pub hint: Option<String>,
    /// Another place that matters, with what it shows ("first defined here").
    pub related: Option<(Span, String)>,
}
