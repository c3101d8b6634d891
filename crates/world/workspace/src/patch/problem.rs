//! The reasons why a patch is rejected. A rejected patch changes nothing.

use std::{fmt, path::PathBuf};

/// The reason why an ignored file is not changed.
pub(crate) const IGNORED: &str = "git ignores it, so it is not stored and could not be restored";

/// The reason why a patch is rejected.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Problem {
    /// The patch cannot be parsed.
    Syntax {
        /// The line number in the patch, from 1. It is 0 if the problem concerns the whole patch.
        line: usize,
        /// A description of the problem.
        why: String,
    },
    /// The patch names a forbidden path.
    Path {
        /// The path as the patch writes it.
        path: String,
        /// A description of the problem.
        why: String,
    },
    /// A file that the patch expects is missing, or a file that it creates exists.
    File {
        /// The path of the file.
        path: PathBuf,
        /// A description of the problem.
        why: String,
    },
    /// The content of a file is not the expected one.
    Stale {
        /// The path of the file.
        path: PathBuf,
        /// The expected SHA-256 of its content.
        expected: String,
        /// The actual SHA-256, or `None` if the file is missing.
        found: Option<String>,
    },
    /// A hunk fits nowhere in its file.
    Hunk(Misfit),
}

/// A hunk that fits nowhere, with the nearest text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Misfit {
    /// The path of the file.
    pub path: PathBuf,
    /// The number of the hunk within the file, from 1.
    pub hunk: usize,
    /// The line number in the patch at which the hunk begins.
    pub patch_line: usize,
    /// A description of the problem.
    pub why: String,
    /// The line number in the file with the best match, from 1.
    pub nearest: Option<usize>,
    /// The text of the file at that line, next to the text that the hunk expects.
    pub view: String,
}

impl Problem {
    /// Returns true if the path may never be changed, whatever its content is.
    pub fn is_forbidden(&self) -> bool {
        match self {
            Problem::Path { .. } => true,
            Problem::File { why, .. } => why == IGNORED,
            Problem::Syntax { .. } | Problem::Stale { .. } | Problem::Hunk(_) => false,
        }
    }

    pub(crate) fn syntax(line: usize, why: impl Into<String>) -> Self {
        Problem::Syntax { line, why: why.into() }
    }

    pub(crate) fn path(path: &[u8], why: &str) -> Self {
        Problem::Path { path: String::from_utf8_lossy(path).into_owned(), why: why.to_owned() }
    }

    pub(crate) fn file(path: &std::path::Path, why: impl Into<String>) -> Self {
        Problem::File { path: path.to_owned(), why: why.into() }
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Problem::Syntax { line: 0, why } => write!(out, "{why}"),
            Problem::Syntax { line, why } => write!(out, "line {line} of the patch: {why}"),
            Problem::Path { path, why } => write!(out, "the path `{path}` is refused: it {why}"),
            Problem::File { path, why } => write!(out, "{}: {why}", path.display()),
            Problem::Stale { path, expected, found } => {
                let found = found.as_deref().unwrap_or("not there");
                write!(out, "{}: expected {expected}, found {found}", path.display())
            }
            Problem::Hunk(misfit) => misfit.fmt(out),
        }
    }
}

impl fmt::Display for Misfit {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Misfit { path, hunk, patch_line, why, nearest, view } = self;
        write!(out, "{}: hunk {hunk} (line {patch_line} of the patch) {why}", path.display())?;
        if let Some(nearest) = nearest {
            write!(out, "; the nearest text is at line {nearest}:\n{view}")?;
        }
        Ok(())
    }
}
