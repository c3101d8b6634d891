//! The files of a directory, and those that changed recently. `git` lists them, even in a directory that is not a
//! repository. Untracked files that are ignored do not count.

#![expect(clippy::disallowed_methods, reason = "the git directory is in a private temporary directory")]

use std::{
    collections::BTreeMap,
    fs,
    os::unix::fs::MetadataExt as _,
    path::{Path, PathBuf},
};

use rustc_hash::FxHashSet;

use crate::{Error, Reason, Result, git, language::Language, skip};

/// The maximum number of files in a map.
const FILES_MAX: usize = 50_000;

/// The number of commits that are searched for recent changes.
const COMMITS: &str = "-n40";

/// The maximum number of files that count as recently changed.
const RECENT_MAX: usize = 200;

/// A file whose content has not been read yet.
#[derive(Clone, Debug)]
pub(crate) struct Listed {
    /// The path relative to the directory.
    pub(crate) path: String,
    pub(crate) language: Language,
    pub(crate) bytes: u64,
    /// The time of the last change in nanoseconds.
    pub(crate) changed_ns: i128,
}

/// The files of a directory.
#[derive(Debug, Default)]
pub(crate) struct List {
    pub(crate) root: PathBuf,
    pub(crate) files: Vec<Listed>,
    /// The number of skipped files by reason, as far as names and sizes tell.
    pub(crate) left_out: BTreeMap<Reason, usize>,
    /// The recently changed files, latest first.
    pub(crate) recent: Vec<String>,
    /// True if there are more files than the maximum.
    pub(crate) is_partial: bool,
}

/// Lists the files of a directory by path, without those below `home`.
pub(crate) fn list(folder: &Path, home: Option<&Path>) -> Result<List> {
    let root = fs::canonicalize(folder)
        .map_err(|error| Error::Folder { path: folder.to_owned(), why: error.to_string() })
        .and_then(|root| match root.is_dir() {
            true => Ok(root),
            false => Err(Error::Folder { path: root, why: "it is not a directory".into() }),
        })?;
    let (mut paths, recent) = ask(&root)?;
    paths.sort();
    paths.dedup();
    let home = home.and_then(|home| fs::canonicalize(home).ok());
    let mut list = List { is_partial: paths.len() > FILES_MAX, root, recent, ..List::default() };
    paths.truncate(FILES_MAX);
    for path in paths {
        list.add(path, home.as_deref());
    }
    Ok(list)
}

/// Returns all files that count, and those that changed recently.
fn ask(root: &Path) -> Result<(Vec<Vec<u8>>, Vec<String>)> {
    let listing = ["ls-files", "-c", "-o", "--exclude-standard", "-z"];
    match git::paths(root, None, &listing) {
        Ok(paths) => Ok((paths, recent(root))),
        // Outside a repository, a temporary one applies the rules of the `.gitignore` files.
        Err(Error::Git { .. }) => Ok((git::paths(root, Some(passing()?.path()), &listing)?, Vec::new())),
        Err(error) => Err(error),
    }
}

/// Creates an empty temporary git directory.
fn passing() -> Result<tempfile::TempDir> {
    let wrong = |error: std::io::Error| Error::Folder { path: std::env::temp_dir(), why: error.to_string() };
    let folder = tempfile::tempdir().map_err(wrong)?;
    for name in ["objects", "refs"] {
        fs::create_dir(folder.path().join(name)).map_err(wrong)?;
    }
    fs::write(folder.path().join("HEAD"), "ref: refs/heads/none\n").map_err(wrong)?;
    Ok(folder)
}

/// Returns the files that the last commits changed; empty for a repository without commits.
fn recent(root: &Path) -> Vec<String> {
    let arguments = ["log", COMMITS, "--relative", "--name-only", "-z", "--no-renames", "--format="];
    let (mut seen, mut found) = (FxHashSet::default(), Vec::new());
    for path in git::paths(root, None, &arguments).unwrap_or_default() {
        let path = String::from_utf8_lossy(&path).trim().to_owned();
        if found.len() < RECENT_MAX && seen.insert(path.clone()) {
            found.push(path);
        }
    }
    found
}

impl List {
    fn add(&mut self, path: Vec<u8>, home: Option<&Path>) {
        let text = String::from_utf8(path).ok().filter(|path| !path.contains(char::is_control));
        let Some(path) = text else { return self.leave_out(Reason::Unreadable) };
        let full = self.root.join(&path);
        // Links, nested repositories, and tracked files that no longer exist are skipped.
        let Some(about) = fs::symlink_metadata(&full).ok().filter(fs::Metadata::is_file) else { return };
        if home.is_some_and(|home| full.starts_with(home)) {
            return;
        }
        let changed_ns = i128::from(about.mtime()) * 1_000_000_000 + i128::from(about.mtime_nsec());
        match skip::by_name(&path, about.len()) {
            Some(reason) => self.leave_out(reason),
            None => self.files.push(Listed { language: Language::of(&path), path, bytes: about.len(), changed_ns }),
        }
    }

    /// Counts one more skipped file.
    pub(crate) fn leave_out(&mut self, reason: Reason) {
        *self.left_out.entry(reason).or_default() += 1;
    }
}
