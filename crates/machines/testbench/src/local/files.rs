//! Files of tests on this computer: a copy of the sources, and the files that tests wrote. A report that existed
//! before does not belong to this start.

use std::{
    collections::BTreeMap,
    io,
    path::{Path, PathBuf},
};

use globset::{GlobBuilder, GlobSet, GlobSetBuilder};

use interlock_beneath::{Entry, FileType, whole};

use crate::{
    fields::Fields,
    walk::{FILE_BYTES_MAX, walk},
};

/// The largest number of bytes that are copied.
const COPY_BYTES_MAX: u64 = 4 << 30;

/// A set of file patterns.
#[derive(Debug, Default)]
pub(crate) struct Globs(Option<GlobSet>);

/// The modification time, the length and the inode number of each file.
type State = BTreeMap<PathBuf, (i64, i64, i64, u64)>;

impl Globs {
    /// Reads the patterns of a field.
    pub(crate) fn read(fields: &mut Fields<'_>, name: &'static str) -> Self {
        let texts = fields.texts(name);
        if texts.is_empty() {
            return Globs(None);
        }
        let mut set = GlobSetBuilder::new();
        for text in texts {
            match GlobBuilder::new(&text).literal_separator(true).build() {
                Ok(glob) => drop(set.add(glob)),
                Err(error) => fields.bad(name, format!("is not a file pattern: {error}")),
            }
        }
        Globs(set.build().ok())
    }

    /// Returns the current state of the matching files.
    pub(crate) fn state(&self, folder: &Path) -> io::Result<State> {
        let mut state = State::new();
        let Some(set) = &self.0 else { return Ok(state) };
        for Entry { path, kind, about } in walk(folder)? {
            if kind == FileType::RegularFile && set.is_match(&path) {
                state.insert(path, (about.st_mtime, about.st_mtime_nsec.cast_signed(), about.st_size, about.st_ino));
            }
        }
        Ok(state)
    }

    /// Copies files that are new or changed since `before` into the directory of a start; returns their paths
    /// relative to it.
    pub(crate) fn fetch(&self, folder: &Path, before: &State, start: &Path, into: &str) -> io::Result<Vec<PathBuf>> {
        let mut fetched = Vec::new();
        for (name, state) in self.state(folder)? {
            if before.get(&name) == Some(&state) {
                continue;
            }
            let target = Path::new(into).join(&name);
            whole::make_folders(start.join(&target).parent().unwrap_or(start))?;
            whole::copy(folder.join(&name), start.join(&target), FILE_BYTES_MAX)?;
            fetched.push(target);
        }
        Ok(fetched)
    }
}

/// Copies a directory without its repository. Symbolic links are copied as links.
pub(crate) fn copy(from: &Path, to: &Path) -> io::Result<()> {
    crate::walk::copy(from, to, COPY_BYTES_MAX)
}
