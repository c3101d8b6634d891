//! Why a patch is not applied. Nothing is changed then.

use std::{fmt, path::PathBuf};

/// Why a patch is not applied.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Problem {
    /// It cannot be read.
    Syntax {
        /// The line of the patch, from 1; 0 where it is about all of it.
        line: usize,
        /// What is wrong.
        why: String,
    },
    /// It names a path that must not be touched.
    Path {
        /// As the patch writes it.
        path: String,
        /// What is wrong with it.
        why: String,
    },
    /// What the patch expects is not there, or what it makes is there already.
    File {
        /// Which.
        path: PathBuf,
        /// What is wrong.
        why: String,
    },
    /// The content of a file is not the one that was expected.
    Stale {
        /// Which.
        path: PathBuf,
        /// The SHA-256 that was expected.
        expected: String,
        /// The one that it has; nothing where it is not there.
        found: Option<String>,
    },
    /// A hunk fits nowhere.
    Hunk(Misfit),
}

/// A hunk that fits nowhere.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Misfit {
    /// The file.
    pub path: PathBuf,
    /// Which of its hunks, from 1.
    pub hunk: usize,
    /// Where it begins in the patch.
    pub patch_line: usize,
    /// What is wrong with it, in words.
    pub why: String,
    /// The line of the file where it fits best, from 1.
    pub nearest: Option<usize>,
    /// What the file has there beside what the hunk expects.
    pub view: String,
}

impl Problem {
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
                write!(out, "{}: it is not what was expected: {expected} is wanted, it is {found}", path.display())
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
