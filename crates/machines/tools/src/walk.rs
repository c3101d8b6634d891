//! Walks the files of the workspace by the rules of `.gitignore`, in the order of their paths.

use std::{
    path::{Path, PathBuf},
    time::{Duration, Instant},
};

use globset::{Glob, GlobMatcher};
use ignore::{DirEntry, WalkBuilder};

use crate::{ToolError, problem::system, scene::Scene};

/// The most entries that one walk visits.
const ENTRIES_MAX: usize = 200_000;

/// The longest time that one walk may take, with the work on its files.
const WALK_MAX: Duration = Duration::from_secs(20);

/// An entry of the workspace.
#[derive(Debug)]
pub(crate) struct Entry {
    /// The path relative to the root.
    pub(crate) path: PathBuf,
    pub(crate) is_folder: bool,
    pub(crate) is_link: bool,
}

/// A walk that visits a bounded number of entries.
pub(crate) struct Walk {
    inner: ignore::Walk,
    root: PathBuf,
    start: PathBuf,
    visited: usize,
    begun: Instant,
    /// True if the bound was reached before the end.
    pub(crate) is_cut: bool,
}

impl Walk {
    /// Walks a directory or a file, at most `depth` levels deep. Links are listed and not followed.
    pub(crate) fn below(scene: &Scene, start: &Path, depth: Option<usize>) -> Result<Self, ToolError> {
        let from = scene.root.join(start);
        std::fs::symlink_metadata(&from).map_err(|error| system(start, &error))?;
        let store = scene.store.clone();
        let belongs = move |entry: &DirEntry| {
            let is_store = store.as_ref().is_some_and(|store| entry.path().starts_with(store));
            entry.file_name() != ".git" && !is_store
        };
        let inner = WalkBuilder::new(&from)
            .hidden(false)
            .parents(!start.as_os_str().is_empty())
            .require_git(false)
            .follow_links(false)
            .max_depth(depth)
            .filter_entry(belongs)
            .sort_by_file_path(Ord::cmp)
            .build();
        let (root, start) = (scene.root.clone(), from);
        Ok(Walk { inner, root, start, visited: 0, begun: Instant::now(), is_cut: false })
    }
}

impl Iterator for Walk {
    type Item = Entry;

    fn next(&mut self) -> Option<Entry> {
        loop {
            // An unreadable directory is left out.
            let Ok(entry) = self.inner.next()? else { continue };
            self.visited += 1;
            if self.visited > ENTRIES_MAX || self.begun.elapsed() > WALK_MAX {
                self.is_cut = true;
                return None;
            }
            let kind = entry.file_type()?;
            if entry.path() == self.start && kind.is_dir() {
                continue;
            }
            let Ok(path) = entry.path().strip_prefix(&self.root) else { continue };
            return Some(Entry { path: path.to_owned(), is_folder: kind.is_dir(), is_link: kind.is_symlink() });
        }
    }
}

/// Selects paths by a glob. A glob without `/` matches the name of a file in any directory, as in `.gitignore`.
pub(crate) struct PathGlob {
    matcher: GlobMatcher,
    is_name: bool,
}

impl PathGlob {
    pub(crate) fn parse(field: &str, text: &str) -> Result<Self, ToolError> {
        let text = text.strip_prefix("./").unwrap_or(text);
        let built = globset::GlobBuilder::new(text).literal_separator(true).build();
        let glob: Glob = built.map_err(|error| ToolError::argument(field, format!("is no glob: {error}")))?;
        Ok(PathGlob { matcher: glob.compile_matcher(), is_name: !text.contains('/') })
    }

    /// Returns true if a path fits, relative to the directory that is searched.
    pub(crate) fn fits(&self, path: &Path, below: &Path) -> bool {
        let path = path.strip_prefix(below).unwrap_or(path);
        match (self.is_name, path.file_name()) {
            (true, Some(name)) => self.matcher.is_match(name),
            _ => self.matcher.is_match(path),
        }
    }
}
