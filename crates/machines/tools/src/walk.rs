//! Walks the files of the workspace by the rules of `.gitignore`, in the order of their paths.

use std::{
    ffi::OsString,
    path::{Path, PathBuf},
    time::{Duration, Instant},
    vec::IntoIter,
};

use globset::{Glob, GlobMatcher};
use interlock_beneath::{FileType, Folder};

use crate::{ToolError, ignored::Ignored, problem::system, scene::Scene};

/// The most entries that one walk visits.
const ENTRIES_MAX: usize = 200_000;

/// The longest time that one walk may take, with the work on its files.
const WALK_MAX: Duration = Duration::from_secs(20);

/// The most directories that are open at once, one in the other.
const DEPTH_MAX: usize = 200;

/// An entry of the workspace.
#[derive(Debug)]
pub(crate) struct Entry {
    /// The path relative to the root.
    pub(crate) path: PathBuf,
    pub(crate) is_folder: bool,
    pub(crate) is_link: bool,
}

/// A walk that visits a bounded number of entries. Directories are opened from those above them, without following links.
pub(crate) struct Walk {
    /// The directories on the way to the next entry.
    open: Vec<Level>,
    /// The file, if the walk is about a single one.
    single: Option<Entry>,
    ignored: Ignored,
    /// The path of the store, if it is in the workspace.
    store: Option<PathBuf>,
    depth_max: usize,
    visited: usize,
    begun: Instant,
    /// True if a bound was reached before the end.
    pub(crate) is_cut: bool,
}

/// A directory with the entries that have not been visited.
struct Level {
    folder: Folder,
    path: PathBuf,
    entries: IntoIter<(OsString, FileType)>,
}

impl Walk {
    /// Walks a directory or a file, at most `depth` levels deep. Links are listed and not followed.
    pub(crate) fn below(scene: &Scene, start: &Path, depth: Option<usize>) -> Result<Self, ToolError> {
        let refused = |error: interlock_beneath::Error| system(start, &error.into());
        let root = Folder::open(&scene.root).map_err(refused)?;
        let kind = FileType::from_raw_mode(root.stat(start).map_err(refused)?.st_mode);
        let is_folder = kind == FileType::Directory;
        let single = Entry { path: start.to_owned(), is_folder, is_link: kind == FileType::Symlink };
        let within = |store: &PathBuf| store.strip_prefix(&scene.root).ok().map(Path::to_owned);
        let open = match is_folder {
            true => vec![Level::new(root.folder(start).map_err(refused)?, start.to_owned())],
            false => Vec::new(),
        };
        Ok(Walk {
            open,
            single: (!is_folder).then_some(single),
            ignored: Ignored::new(&scene.root, root),
            store: scene.store.as_ref().and_then(within),
            depth_max: depth.unwrap_or(usize::MAX),
            visited: 0,
            begun: Instant::now(),
            is_cut: false,
        })
    }
}

impl Level {
    /// A directory that cannot be listed has no entries.
    fn new(folder: Folder, path: PathBuf) -> Self {
        let entries = folder.kinds(Path::new("")).unwrap_or_default().into_iter();
        Level { folder, path, entries }
    }
}

impl Iterator for Walk {
    type Item = Entry;

    fn next(&mut self) -> Option<Entry> {
        if let Some(single) = self.single.take() {
            return Some(single);
        }
        loop {
            let level = self.open.last_mut()?;
            let Some((name, kind)) = level.entries.next() else {
                self.open.pop();
                continue;
            };
            self.visited += 1;
            if self.visited > ENTRIES_MAX || self.begun.elapsed() > WALK_MAX {
                self.is_cut = true;
                return None;
            }
            let path = level.path.join(&name);
            let is_folder = kind == FileType::Directory;
            if name == ".git" || self.store.as_ref() == Some(&path) || self.ignored.has(&path, is_folder) {
                continue;
            }
            if is_folder && self.open.len() < self.depth_max {
                self.enter(&name, &path);
            }
            return Some(Entry { path, is_folder, is_link: kind == FileType::Symlink });
        }
    }
}

impl Walk {
    fn enter(&mut self, name: &OsString, path: &Path) {
        if self.open.len() == DEPTH_MAX {
            self.is_cut = true;
            return;
        }
        let below = self.open.last().and_then(|level| level.folder.folder(Path::new(name)).ok());
        self.open.extend(below.map(|folder| Level::new(folder, path.to_owned())));
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
