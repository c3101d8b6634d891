//! Problems in a machine file, with their positions.
//!
//! A [`Diagnostic`] is plain data: a code, a span, a sentence, a hint. [`render`](crate::diagnostic::render) formats it
//! for a terminal. Each code has a page under `docs/errors/`.

mod render;

pub use render::render;

/// A range of bytes in a source text. The empty default means that there is no position (an imported chart, for
/// example).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Span {
    /// The offset of the first byte.
    pub start: u32,
    /// The offset one past the last byte.
    pub end: u32,
}

impl Span {
    /// Returns the span between two byte offsets. Files are far smaller than 4 GiB; a larger offset is clamped.
    pub fn between(start: usize, end: usize) -> Self {
        let cut = |offset| u32::try_from(offset).unwrap_or(u32::MAX);
        Span { start: cut(start), end: cut(end.max(start)) }
    }

    /// Returns the span as a range of bytes.
    pub fn range(self) -> std::ops::Range<usize> {
        self.start as usize..self.end.max(self.start) as usize
    }
}

/// The severity of a diagnostic.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    /// A remark; nothing is wrong.
    Note,
    /// The machine is suspicious, but it can run.
    Warning,
    /// The machine cannot be used.
    Error,
}

impl Severity {
    /// Returns the severity as a keyword for programs.
    pub fn word(self) -> &'static str {
        match self {
            Severity::Note => "note",
            Severity::Warning => "warning",
            Severity::Error => "error",
        }
    }
}

/// One problem of a machine file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagnostic {
    /// The code, for example `E0101` with the page `docs/errors/E0101.md`. Warnings begin with `W` and notes with `N`.
    pub code: &'static str,
    /// The severity: error, warning or note.
    pub severity: Severity,
    /// The position of the problem in the file.
    pub span: Span,
    /// The problem as one sentence without a full stop.
    pub message: String,
    /// A suggested fix: "did you mean `TEST_SETUP`?".
    pub hint: Option<String>,
    /// A second position that helps to explain the problem, with its caption ("first defined here").
    pub related: Option<(Span, String)>,
}

impl Diagnostic {
    /// Creates a diagnostic that makes the machine unusable.
    pub fn error(code: &'static str, span: Span, message: impl Into<String>) -> Self {
        Diagnostic { code, severity: Severity::Error, span, message: message.into(), hint: None, related: None }
    }

    /// Creates a diagnostic that does not prevent the machine from running.
    pub fn warning(code: &'static str, span: Span, message: impl Into<String>) -> Self {
        Diagnostic { severity: Severity::Warning, ..Self::error(code, span, message) }
    }

    /// Creates a remark about something that is not wrong.
    pub fn note(code: &'static str, span: Span, message: impl Into<String>) -> Self {
        Diagnostic { severity: Severity::Note, ..Self::error(code, span, message) }
    }

    /// Adds a suggested fix.
    #[must_use]
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    /// Adds a suggested fix if there is one; otherwise keeps the present one.
    #[must_use]
    pub fn maybe_hint(mut self, hint: Option<String>) -> Self {
        self.hint = hint.or(self.hint);
        self
    }

    /// Adds a second position with its caption.
    #[must_use]
    pub fn related(mut self, span: Span, text: impl Into<String>) -> Self {
        self.related = Some((span, text.into()));
        self
    }

    /// Returns true if the problem makes the machine unusable.
    pub fn is_error(&self) -> bool {
        self.severity == Severity::Error
    }

    /// Returns the line and the column of the problem, both from 1. The column counts characters.
    pub fn line_col(&self, source: &str) -> (usize, usize) {
        line_col(source, self.span.start as usize)
    }
}

/// Returns the line and the column of a byte offset, both from 1. An offset inside a character or past the end is moved
/// back to the previous character boundary.
pub fn line_col(source: &str, offset: usize) -> (usize, usize) {
    let offset = floor_boundary(source, offset);
    let before = &source[..offset];
    let line = before.bytes().filter(|&byte| byte == b'\n').count() + 1;
    let start = before.rfind('\n').map_or(0, |at| at + 1);
    let column = before[start..].chars().filter(|&c| c != '\u{feff}').count() + 1;
    (line, column)
}

/// Returns the nearest character boundary at or before `offset`.
fn floor_boundary(text: &str, offset: usize) -> usize {
    let mut offset = offset.min(text.len());
    while !text.is_char_boundary(offset) {
        offset -= 1;
    }
    offset
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_count_characters_and_offsets_are_clamped() {
        let source = "é: x\nüü: y";
        let at = |offset| line_col(source, offset);
        assert_eq!(at(0), (1, 1));
        assert_eq!(at(2), (1, 2));
        assert_eq!(at(1), (1, 1), "inside a character");
        assert_eq!(at(source.find('y').unwrap()), (2, 5));
        assert_eq!(at(1_000), (2, 6));
    }
}
