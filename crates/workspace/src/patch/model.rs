//! What a patch says.

use std::path::{Path, PathBuf};

use super::{Hunk, Problem, Sign, begin, text, unified};
use crate::plural;

/// Longest patch that is read.
const PATCH_BYTES_MAX: usize = 64 * 1024 * 1024;

/// What somebody wants to be changed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Patch {
    /// File by file, in the order of the text.
    pub files: Vec<FilePatch>,
}

/// What is to become of one file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FilePatch {
    /// Its path before; nothing where it is new.
    pub old: Option<PathBuf>,
    /// Its path afterwards; nothing where it goes.
    pub new: Option<PathBuf>,
    /// What it is said to be before.
    pub old_kind: Option<Kind>,
    /// What it is to be afterwards, where that is said.
    pub new_kind: Option<Kind>,
    /// Whether the old one stays.
    pub is_copy: bool,
    /// The places where its content changes.
    pub hunks: Vec<Hunk>,
}

/// What can stand under a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// A file.
    File,
    /// A file that can be executed.
    Executable,
    /// A symbolic link; its content is where it leads.
    Link,
    /// Another repository; its content is the commit it stands at.
    Repository,
}

impl Kind {
    /// From what git calls a mode.
    pub fn from_mode(mode: &str) -> Option<Self> {
        match mode {
            "100644" | "100664" | "100600" => Some(Kind::File),
            "100755" | "100775" | "100700" => Some(Kind::Executable),
            "120000" => Some(Kind::Link),
            "160000" => Some(Kind::Repository),
            _ => None,
        }
    }

    /// What git calls it.
    pub fn mode(self) -> &'static str {
        match self {
            Kind::File => "100644",
            Kind::Executable => "100755",
            Kind::Link => "120000",
            Kind::Repository => "160000",
        }
    }
}

/// What stands under a name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Node {
    /// What it is.
    pub kind: Kind,
    /// Its bytes; of a link, where it leads.
    pub content: Vec<u8>,
}

impl Patch {
    /// Reads a patch: a unified diff, with or without git's own lines, or the form that begins with `*** Begin Patch`.
    /// Text around it is skipped. Paths that a workspace must not be changed by are refused here.
    pub fn parse(patch: &[u8]) -> Result<Self, Problem> {
        if patch.len() > PATCH_BYTES_MAX {
            return Err(Problem::syntax(0, format!("a patch of more than {PATCH_BYTES_MAX} bytes is not read")));
        }
        let lines = text::patch_lines(patch);
        let patch = match begin::starts_at(&lines) {
            Some(at) => begin::read(&lines, at)?,
            None => unified::read(&lines)?,
        };
        match patch.files.is_empty() {
            true => Err(Problem::syntax(0, "there is no patch in it: neither a unified diff nor `*** Begin Patch`")),
            false => Ok(patch),
        }
    }

    /// Every path it is about, before and afterwards, each once.
    pub fn paths(&self) -> Vec<&Path> {
        let mut paths: Vec<&Path> =
            self.files.iter().flat_map(|file| [&file.old, &file.new]).flatten().map(PathBuf::as_path).collect();
        paths.sort_unstable();
        paths.dedup();
        paths
    }

    /// Lines added and removed.
    pub fn counts(&self) -> (usize, usize) {
        let lines = || self.files.iter().flat_map(|file| &file.hunks).flat_map(|hunk| &hunk.lines);
        let count = |sign| lines().filter(|line| line.sign == sign).count();
        (count(Sign::Add), count(Sign::Remove))
    }

    /// In one line: what it does.
    pub fn summary(&self) -> String {
        let (added, removed) = self.counts();
        let files = self.files.len();
        format!("{files} file{} changed, {added} line{} added, {removed} removed", plural(files), plural(added))
    }
}

impl FilePatch {
    /// Its path, afterwards or else before.
    pub fn path(&self) -> &Path {
        self.new.as_deref().or(self.old.as_deref()).unwrap_or(Path::new(""))
    }

    /// Whether it gets another path.
    pub fn is_rename(&self) -> bool {
        !self.is_copy && self.old.is_some() && self.new.is_some() && self.old != self.new
    }
}
