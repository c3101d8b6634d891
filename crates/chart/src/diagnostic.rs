//! What is wrong with a machine file, and where.
//!
//! A [`Diagnostic`] is plain data: a code, a place, a sentence, a hint. How it looks on a terminal is the business of
//! [`render`](crate::diagnostic::render). Each code has a page under `docs/errors/`.

mod render;

pub use render::render;

/// A place in a source text, in bytes. The empty default means "nowhere in particular" (an imported chart, say).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Span {
    /// First byte.
    pub start: u32,
    /// One past the last byte.
    pub end: u32,
}

impl Span {
    /// The place between two byte offsets. Files are far smaller than 4 GiB; a larger offset is cut.
    pub fn between(start: usize, end: usize) -> Self {
        let cut = |offset| u32::try_from(offset).unwrap_or(u32::MAX);
        Span { start: cut(start), end: cut(end.max(start)) }
    }

    /// The place as a range of bytes.
    pub fn range(self) -> std::ops::Range<usize> {
        self.start as usize..self.end.max(self.start) as usize
    }
}

/// How bad it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    /// Nothing wrong, but good to know.
    Note,
    /// Odd, but the machine can run.
    Warning,
    /// The machine cannot be used.
    Error,
}

impl Severity {
    /// The word for programs.
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
    /// `E0101`, with a page `docs/errors/E0101.md`; `W…` for warnings and `N…` for notes.
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

impl Diagnostic {
    /// A problem that keeps the machine from being used.
    pub fn error(code: &'static str, span: Span, message: impl Into<String>) -> Self {
        Diagnostic { code, severity: Severity::Error, span, message: message.into(), hint: None, related: None }
    }

    /// A problem that the machine can run with.
    pub fn warning(code: &'static str, span: Span, message: impl Into<String>) -> Self {
        Diagnostic { severity: Severity::Warning, ..Self::error(code, span, message) }
    }

    /// Something that is good to know.
    pub fn note(code: &'static str, span: Span, message: impl Into<String>) -> Self {
        Diagnostic { severity: Severity::Note, ..Self::error(code, span, message) }
    }

    /// The same, with what to do about it.
    #[must_use]
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    /// The same, with advice if there is any.
    #[must_use]
    pub fn maybe_hint(mut self, hint: Option<String>) -> Self {
        self.hint = hint.or(self.hint);
        self
    }

    /// The same, pointing at another place that matters.
    #[must_use]
    pub fn related(mut self, span: Span, text: impl Into<String>) -> Self {
        self.related = Some((span, text.into()));
        self
    }

    /// Whether the machine cannot be used.
    pub fn is_error(&self) -> bool {
        self.severity == Severity::Error
    }

    /// The line and the column where it begins, both from 1; the column counts characters.
    pub fn line_col(&self, source: &str) -> (usize, usize) {
        line_col(source, self.span.start as usize)
    }
}

/// The line and the column of a byte offset, both from 1. An offset inside a character or past the end is moved back.
pub fn line_col(source: &str, offset: usize) -> (usize, usize) {
    let offset = floor_boundary(source, offset);
    let before = &source[..offset];
    let line = before.bytes().filter(|&byte| byte == b'\n').count() + 1;
    let start = before.rfind('\n').map_or(0, |at| at + 1);
    let column = before[start..].chars().filter(|&c| c != '\u{feff}').count() + 1;
    (line, column)
}

/// The nearest character boundary at or before `offset`.
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
    fn columns_count_characters_and_offsets_past_the_end_are_moved_back() {
        let source = "é: x\nüü: y";
        let at = |offset| line_col(source, offset);
        assert_eq!(at(0), (1, 1));
        assert_eq!(at(2), (1, 2));
        assert_eq!(at(1), (1, 1), "inside a character");
        assert_eq!(at(source.find('y').unwrap()), (2, 5));
        assert_eq!(at(1_000), (2, 6));
    }
}
