//! The data model of a parsed patch.

use std::path::{Path, PathBuf};

use super::{Hunk, Problem, Sign, begin, text, unified};
use crate::plural;

/// Maximum size of a patch.
const PATCH_BYTES_MAX: usize = 64 * 1024 * 1024;

/// A parsed patch.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Patch {
    /// The files to change, in the order of the text.
    pub files: Vec<FilePatch>,
}

/// The changes to one file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FilePatch {
    /// The path before, or `None` if the file is new.
    pub old: Option<PathBuf>,
    /// The path afterwards, or `None` if the file is deleted.
    pub new: Option<PathBuf>,
    /// The kind before, if the patch states it.
    pub old_kind: Option<Kind>,
    /// The kind afterwards, if the patch states it.
    pub new_kind: Option<Kind>,
    /// True if the file is copied, so that the old one stays.
    pub is_copy: bool,
    /// The changed sections of its content.
    pub hunks: Vec<Hunk>,
}

/// The kind of a file in a tree.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// A regular file without execute permission.
    File,
    /// A regular file with execute permission.
    Executable,
    /// A symbolic link; its content is its target.
    Link,
    /// A nested repository; its content is the checked-out commit.
    Repository,
}

impl Kind {
    /// Returns the kind for a git file mode.
    pub fn from_mode(mode: &str) -> Option<Self> {
        match mode {
            "100644" | "100664" | "100600" => Some(Kind::File),
            "100755" | "100775" | "100700" => Some(Kind::Executable),
            "120000" => Some(Kind::Link),
            "160000" => Some(Kind::Repository),
            _ => None,
        }
    }

    /// Returns the git file mode.
    pub fn mode(self) -> &'static str {
        match self {
            Kind::File => "100644",
            Kind::Executable => "100755",
            Kind::Link => "120000",
            Kind::Repository => "160000",
        }
    }
}

/// A file with its kind and content.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Node {
    /// The kind of the file.
    pub kind: Kind,
    /// The bytes of the file, or the target of a link.
    pub content: Vec<u8>,
}

impl Patch {
    /// Parses a patch: a unified diff, with or without git's header lines, or the format that begins with `*** Begin
    /// Patch`. Surrounding text is skipped. Forbidden paths are rejected here.
    pub fn parse(patch: &[u8]) -> Result<Self, Problem> {
        if patch.len() > PATCH_BYTES_MAX {
            return Err(Problem::syntax(0, format!("the patch is longer than {PATCH_BYTES_MAX} bytes")));
        }
        let lines = text::patch_lines(patch);
        let patch = match begin::starts_at(&lines) {
            Some(at) => begin::read(&lines, at)?,
            None => unified::read(&lines)?,
        };
        match patch.files.is_empty() {
            true => Err(Problem::syntax(0, "it contains no patch: neither a unified diff nor `*** Begin Patch`")),
            false => Ok(patch),
        }
    }

    /// Returns every old and new path of the patch once.
    pub fn paths(&self) -> Vec<&Path> {
        let mut paths: Vec<&Path> =
            self.files.iter().flat_map(|file| [&file.old, &file.new]).flatten().map(PathBuf::as_path).collect();
        paths.sort_unstable();
        paths.dedup();
        paths
    }

    /// Returns the numbers of added and removed lines.
    pub fn counts(&self) -> (usize, usize) {
        let lines = || self.files.iter().flat_map(|file| &file.hunks).flat_map(|hunk| &hunk.lines);
        let count = |sign| lines().filter(|line| line.sign == sign).count();
        (count(Sign::Add), count(Sign::Remove))
    }

    /// Summarizes the patch in one line.
    pub fn summary(&self) -> String {
        let (added, removed) = self.counts();
        let files = self.files.len();
        format!("{files} file{} changed, {added} line{} added, {removed} removed", plural(files), plural(added))
    }
}

impl FilePatch {
    /// Returns the new path, or the old one if the file is deleted.
    pub fn path(&self) -> &Path {
        self.new.as_deref().or(self.old.as_deref()).unwrap_or(Path::new(""))
    }

    /// Returns true if the file is renamed.
    pub fn is_rename(&self) -> bool {
        !self.is_copy && self.old.is_some() && self.new.is_some() && self.old != self.new
    }
}
