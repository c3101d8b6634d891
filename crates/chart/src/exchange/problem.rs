//! What is wrong with a text to be imported. The codes are `E05xx`; [`UNSUPPORTED`] is apart from the others, because it says
//! that the text is right and this format is too small for it.

use std::collections::BTreeMap;

use super::{IMPORT_BYTES_MAX, IMPORT_DEPTH_MAX, Imported};
use crate::{Diagnostic, Severity, Span, file::MachineFile};

/// The code of "this cannot be carried over": the text may be right, but it needs something that machine files do not have.
pub const UNSUPPORTED: &str = "E0510";

/// The text is not well-formed.
pub(super) const MALFORMED: &str = "E0501";
/// The text is too long, or nested too deep.
pub(super) const TOO_BIG: &str = "E0502";
/// Something stands where the other format does not allow it, or lacks what it needs.
pub(super) const OUT_OF_PLACE: &str = "E0503";
/// A target that is no state.
pub(super) const DANGLING: &str = "E0504";
/// A name given twice.
pub(super) const DUPLICATE: &str = "E0505";

/// More problems than this are not collected: nobody reads them.
const DIAGNOSTICS_MAX: usize = 100;

/// Whether an import failed because of something that machine files do not have.
pub fn is_unsupported(diagnostics: &[Diagnostic]) -> bool {
    diagnostics.iter().any(|diagnostic| diagnostic.code == UNSUPPORTED)
}

/// An error.
pub(super) fn error(code: &'static str, span: Span, message: impl Into<String>) -> Diagnostic {
    Diagnostic { code, severity: Severity::Error, span, message: message.into(), hint: None, related: None }
}

/// The text is longer than an importer looks at.
pub(super) fn too_big(bytes: usize) -> Diagnostic {
    error(TOO_BIG, Span::default(), format!("the text has {bytes} bytes; at most {IMPORT_BYTES_MAX} are read"))
}

/// The text is nested deeper than an importer follows.
pub(super) fn too_deep(span: Span) -> Diagnostic {
    error(TOO_BIG, span, format!("nested deeper than {IMPORT_DEPTH_MAX} levels"))
}

/// Nobody said what the text is, and it does not look like anything.
pub(super) fn unknown_format(file_name: &str) -> Diagnostic {
    let message = format!("cannot tell which format `{file_name}` is in");
    let hint = "say it: scxml, xstate or mermaid".to_owned();
    Diagnostic { hint: Some(hint), ..error("E0506", Span::default(), message) }
}

/// A span from byte positions.
pub(super) fn span(range: std::ops::Range<usize>) -> Span {
    let at = |position: usize| u32::try_from(position).unwrap_or(u32::MAX);
    Span { start: at(range.start), end: at(range.end) }
}

/// Collects what an importer finds.
#[derive(Debug, Default)]
pub(super) struct Problems {
    errors: Vec<Diagnostic>,
    warnings: Vec<String>,
}

impl Problems {
    /// Adds an error.
    pub(super) fn error(&mut self, code: &'static str, span: Span, message: impl Into<String>) {
        self.push(error(code, span, message));
    }

    /// Adds an error that is already made.
    pub(super) fn push(&mut self, diagnostic: Diagnostic) {
        if self.errors.len() < DIAGNOSTICS_MAX {
            self.errors.push(diagnostic);
        }
    }

    /// Whether there is an error so far.
    pub(super) fn has_errors(&self) -> bool {
        !self.errors.is_empty()
    }

    /// Whether more would not be collected, so that finding out where they are is not worth it.
    pub(super) fn is_full(&self) -> bool {
        self.errors.len() >= DIAGNOSTICS_MAX
    }

    /// Adds "this cannot be carried over".
    pub(super) fn unsupported(&mut self, span: Span, message: impl Into<String>) {
        self.error(UNSUPPORTED, span, message);
    }

    /// Adds a warning, once.
    pub(super) fn warn(&mut self, message: impl Into<String>) {
        let message = message.into();
        if self.warnings.len() < DIAGNOSTICS_MAX && !self.warnings.contains(&message) {
            self.warnings.push(message);
        }
    }

    /// The machine, unless there was an error. `renamed` is ours to theirs.
    pub(super) fn finish(
        self,
        file: MachineFile,
        renamed: BTreeMap<String, String>,
    ) -> Result<Imported, Vec<Diagnostic>> {
        if self.errors.is_empty() { Ok(Imported { file, warnings: self.warnings, renamed }) } else { Err(self.errors) }
    }
}
