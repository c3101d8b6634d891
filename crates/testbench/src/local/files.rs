//! Files of tests on this computer: a copy of the sources, and the files that tests wrote. A report that existed
//! before does not belong to this start.

use std::{
    collections::BTreeMap,
    fs, io,
    os::unix::fs::{MetadataExt, symlink},
    path::{Path, PathBuf},
};

use globset::{GlobBuilder, GlobSet, GlobSetBuilder};

use crate::{fields::Fields, walk::walk};

/// The largest number of bytes that are copied.
const COPY_BYTES_MAX: u64 = 4 << 30;

/// A set of file patterns.
#[derive(Debug, Default)]
pub(crate) struct Globs(Option<GlobSet>);

/// The modification time, the length and the inode number of each file.
type State = BTreeMap<PathBuf, (i64, i64, u64, u64)>;

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
        walk(folder, |path, about| {
            let name = path.strip_prefix(folder).unwrap_or(path);
            if about.is_file() && set.is_match(name) {
                state.insert(name.to_owned(), (about.mtime(), about.mtime_nsec(), about.len(), about.ino()));
            }
            Ok(())
        })?;
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
            fs::create_dir_all(start.join(&target).parent().unwrap_or(start))?;
            fs::copy(folder.join(&name), start.join(&target))?;
            fetched.push(target);
        }
        Ok(fetched)
    }
}

/// Copies a directory without its repository. Symbolic links are copied as links.
pub(crate) fn copy(from: &Path, to: &Path) -> io::Result<()> {
    fs::create_dir_all(to)?;
    let to = fs::canonicalize(to)?;
    let mut bytes = 0;
    walk(from, |path, about| {
        let target = to.join(path.strip_prefix(from).unwrap_or(path));
        match about.file_type() {
            kind if kind.is_dir() => fs::create_dir_all(&target),
            kind if kind.is_symlink() => symlink(fs::read_link(path)?, target),
            kind if kind.is_file() => {
                bytes += about.len();
                match bytes > COPY_BYTES_MAX {
                    true => Err(io::Error::other("the sources are too large to be copied for each start")),
                    false => fs::copy(path, target).map(drop),
                }
            }
            _ => Ok(()),
        }
    })
}
