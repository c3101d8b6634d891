//! Problems in a text to import. The codes are `E05xx`. [`UNSUPPORTED`] differs from the others: the text is correct,
//! but machine files cannot express it.

use std::collections::BTreeMap;

use super::{IMPORT_BYTES_MAX, IMPORT_DEPTH_MAX, Imported};
use interlock_chart::{Diagnostic, Severity, Span, file::MachineFile};

/// The code of an import that machine files cannot represent. The text itself may be correct.
pub const UNSUPPORTED: &str = "E0510";

/// The text is not well-formed.
pub(super) const MALFORMED: &str = "E0501";
/// The text is too long or nested too deeply.
pub(super) const TOO_BIG: &str = "E0502";
/// An element is not allowed at its position in the other format, or lacks a required part.
pub(super) const OUT_OF_PLACE: &str = "E0503";
/// A target is not a state.
pub(super) const DANGLING: &str = "E0504";
/// A name is used twice.
pub(super) const DUPLICATE: &str = "E0505";

/// The maximum number of problems that are collected. A longer list has no use for the reader.
const DIAGNOSTICS_MAX: usize = 100;

/// Returns true if an import failed because of something that machine files do not support.
pub fn is_unsupported(diagnostics: &[Diagnostic]) -> bool {
    diagnostics.iter().any(|diagnostic| diagnostic.code == UNSUPPORTED)
}

/// Creates an error with this code.
pub(super) fn error(code: &'static str, span: Span, message: impl Into<String>) -> Diagnostic {
    Diagnostic { code, severity: Severity::Error, span, message: message.into(), hint: None, related: None }
}

/// Creates the error for a text that is longer than an importer accepts.
pub(super) fn too_big(bytes: usize) -> Diagnostic {
    error(TOO_BIG, Span::default(), format!("the text has {bytes} bytes; at most {IMPORT_BYTES_MAX} are read"))
}

/// Creates the error for a text that is nested deeper than an importer accepts.
pub(super) fn too_deep(span: Span) -> Diagnostic {
    error(TOO_BIG, span, format!("nested deeper than {IMPORT_DEPTH_MAX} levels"))
}

/// Creates the error for a text whose format was not given and cannot be guessed.
pub(super) fn unknown_format(file_name: &str) -> Diagnostic {
    let message = format!("cannot tell which format `{file_name}` is in");
    let hint = "name the format: scxml, xstate or mermaid".to_owned();
    Diagnostic { hint: Some(hint), ..error("E0506", Span::default(), message) }
}

/// Returns a span from byte positions.
pub(super) fn span(range: std::ops::Range<usize>) -> Span {
    let at = |position: usize| u32::try_from(position).unwrap_or(u32::MAX);
    Span { start: at(range.start), end: at(range.end) }
}

/// Collects the problems that an importer finds.
#[derive(Debug, Default)]
pub(super) struct Problems {
    errors: Vec<Diagnostic>,
    warnings: Vec<String>,
}

impl Problems {
    /// Adds an error with this code.
    pub(super) fn error(&mut self, code: &'static str, span: Span, message: impl Into<String>) {
        self.push(error(code, span, message));
    }

    /// Adds an existing error, unless the maximum is reached.
    pub(super) fn push(&mut self, diagnostic: Diagnostic) {
        if self.errors.len() < DIAGNOSTICS_MAX {
            self.errors.push(diagnostic);
        }
    }

    /// Returns true if there is an error so far.
    pub(super) fn has_errors(&self) -> bool {
        !self.errors.is_empty()
    }

    /// Returns true if further errors would be dropped, so that computing their positions is not worthwhile.
    pub(super) fn is_full(&self) -> bool {
        self.errors.len() >= DIAGNOSTICS_MAX
    }

    /// Adds an error about something that machine files do not support.
    pub(super) fn unsupported(&mut self, span: Span, message: impl Into<String>) {
        self.error(UNSUPPORTED, span, message);
    }

    /// Adds a warning unless the same warning exists.
    pub(super) fn warn(&mut self, message: impl Into<String>) {
        let message = message.into();
        if self.warnings.len() < DIAGNOSTICS_MAX && !self.warnings.contains(&message) {
            self.warnings.push(message);
        }
    }

    /// Returns the machine, unless there was an error. `renamed` maps new names to original ones.
    pub(super) fn finish(
        self,
        file: MachineFile,
        renamed: BTreeMap<String, String>,
    ) -> Result<Imported, Vec<Diagnostic>> {
        if self.errors.is_empty() { Ok(Imported { file, warnings: self.warnings, renamed }) } else { Err(self.errors) }
    }
}
