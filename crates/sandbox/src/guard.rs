//! Guards files that a program must not change although they lie in a place that it may change (`protected.rs` lists
//! them).
//!
//! Landlock cannot express this. So the content of these files is read into memory before the program starts, and
//! restored when no process of the program is left. Each change is a breach. Other programs may work in the same
//! workspace, so symbolic links on the way are not followed.

use std::{
    collections::BTreeMap,
    ffi::OsString,
    fs::{self, File},
    io::{self, Read, Write},
    os::{
        fd::AsRawFd,
        unix::fs::{MetadataExt, OpenOptionsExt, PermissionsExt, symlink},
    },
    path::{Path, PathBuf},
};

use rustix::fs::{CWD, Mode, OFlags, ResolveFlags, openat2};

use crate::{Breach, protected::Protected};

/// Maximum size of all guarded content together. Settings, hooks and machines are small.
const BYTES_MAX: u64 = 8 * 1_024 * 1_024;

/// Maximum depth of guarded directories.
const DEPTH_MAX: usize = 16;

/// The guarded paths with their content.
#[derive(Debug, Default)]
pub(crate) struct Guard {
    kept: Vec<(Protected, SavedNode)>,
    /// The directories on the way to them, from the top, with their modes.
    folders: BTreeMap<PathBuf, u32>,
    /// Paths below them that the program may change nevertheless.
    open: Vec<PathBuf>,
    /// Descriptions of the paths that could not be read.
    pub(crate) missing: Vec<String>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum SavedNode {
    Nothing,
    File {
        content: Vec<u8>,
        mode: u32,
        /// The number of hard links. An additional link would allow a later change.
        names: u64,
    },
    Link(PathBuf),
    Folder {
        entries: BTreeMap<OsString, SavedNode>,
        mode: u32,
    },
    /// A device, a socket or a pipe, which has no content.
    Other,
}

impl Guard {
    /// Reads the content of the protected paths, except those that are open to the program. The program can change
    /// everything below `tops`.
    pub(crate) fn new(protected: Vec<Protected>, open: &[PathBuf], tops: &[PathBuf]) -> Self {
        let is_below = |place: &&PathBuf| protected.iter().any(|protected| place.starts_with(&protected.path));
        let mut guard = Guard { open: open.iter().filter(is_below).cloned().collect(), ..Guard::default() };
        let above = protected.iter().flat_map(|protected| protected.path.ancestors().skip(1));
        let above = above.filter(|folder| tops.iter().any(|top| folder.starts_with(top)));
        guard.folders = above.filter_map(|folder| Some((folder.to_owned(), folder_mode(folder)?))).collect();
        let mut reading = BoundedReader { room: BYTES_MAX, open: &guard.open };
        for protected in protected {
            match reading.read(&protected.path, DEPTH_MAX) {
                Ok(kept) => guard.kept.push((protected, kept)),
                Err(error) => guard.missing.push(format!("{} cannot be stored: {error}", protected.path.display())),
            }
        }
        guard
    }

    /// Returns the guarded paths that exist.
    pub(crate) fn paths(&self) -> impl Iterator<Item = &Path> {
        self.kept.iter().filter(|(_, kept)| *kept != SavedNode::Nothing).map(|(protected, _)| protected.path.as_path())
    }

    /// Restores the files that have changed. Returns the breaches.
    pub(crate) fn restore(&self) -> Vec<Breach> {
        // A directory without access permission would hide its content.
        for (folder, mode) in self.folders.iter().filter(|(folder, mode)| folder_mode(folder) != Some(**mode)) {
            let _ = parent(folder).and_then(|(_above, here)| set_mode(&here, *mode));
        }
        self.kept.iter().filter_map(|(protected, kept)| self.restore_one(protected, kept)).collect()
    }

    fn restore_one(&self, protected: &Protected, kept: &SavedNode) -> Option<Breach> {
        let path = &protected.path;
        // A file that has grown beyond the maximum size has changed too.
        let found = BoundedReader { room: BYTES_MAX, open: &self.open }.read(path, DEPTH_MAX).ok();
        if found.as_ref() == Some(kept) {
            return None;
        }
        let said = match self.write(path, kept) {
            Ok(()) => format!("{} was changed and restored", path.display()),
            Err(error) => format!("{} was changed and could not be restored: {error}", path.display()),
        };
        Some(Breach { path: Some(path.clone()), ..Breach::new(protected.rule, said) })
    }

    fn write(&self, path: &Path, kept: &SavedNode) -> io::Result<()> {
        let (_folder, here) = match (parent(path), kept) {
            (Err(error), SavedNode::Nothing) if is_nothing(&error) => return Ok(()),
            (Err(_), SavedNode::Nothing) => return remove_above(path),
            (Err(_), _) => {
                replace_parent(path)?;
                parent(path)?
            }
            (Ok(found), _) => found,
        };
        match kept {
            SavedNode::Nothing | SavedNode::Other => remove(&here),
            SavedNode::Link(target) => remove(&here).and_then(|()| symlink(target, &here)),
            SavedNode::File { content, mode, .. } => {
                remove(&here)?;
                // The file is created new, so that a link that is now at the path is not followed.
                let mut file = File::options().write(true).create_new(true).mode(0o600).open(&here)?;
                file.write_all(content)?;
                file.set_permissions(fs::Permissions::from_mode(*mode))
            }
            SavedNode::Folder { entries, mode } => self.write_folder(path, &here, entries, *mode),
        }
    }

    /// Restores a directory entry by entry, because entries that may be changed stay.
    fn write_folder(
        &self,
        path: &Path,
        here: &Path,
        entries: &BTreeMap<OsString, SavedNode>,
        mode: u32,
    ) -> io::Result<()> {
        if !fs::symlink_metadata(here).is_ok_and(|about| about.is_dir()) {
            remove(here)?;
            fs::create_dir(here)?;
        }
        fs::set_permissions(here, fs::Permissions::from_mode(0o700))?;
        for entry in fs::read_dir(here)? {
            let name = entry?.file_name();
            if !entries.contains_key(&name) && !self.open.iter().any(|open| open.starts_with(path.join(&name))) {
                remove(&here.join(name))?;
            }
        }
        entries.iter().try_for_each(|(name, kept)| self.write(&path.join(name), kept))?;
        fs::set_permissions(here, fs::Permissions::from_mode(mode))
    }
}

/// Opens the parent directory of a path without following symbolic links. Returns a path below the open directory,
/// which stays valid if directories are moved.
fn parent(path: &Path) -> io::Result<(rustix::fd::OwnedFd, PathBuf)> {
    let (Some(folder), Some(name)) = (path.parent(), path.file_name()) else {
        return Err(io::ErrorKind::InvalidInput.into());
    };
    let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let folder = openat2(CWD, folder, flags, Mode::empty(), ResolveFlags::NO_SYMLINKS)?;
    let here = PathBuf::from(format!("/proc/self/fd/{}", folder.as_raw_fd())).join(name);
    Ok((folder, here))
}

/// Returns the mode of a directory that is reached without symbolic links, or `None` if the path is not a directory.
fn folder_mode(path: &Path) -> Option<u32> {
    let (_above, here) = parent(path).ok()?;
    let about = fs::symlink_metadata(here).ok().filter(fs::Metadata::is_dir)?;
    Some(about.permissions().mode() & 0o7777)
}

fn set_mode(here: &Path, mode: u32) -> io::Result<()> {
    match fs::symlink_metadata(here)?.is_dir() {
        true => fs::set_permissions(here, fs::Permissions::from_mode(mode)),
        false => Ok(()),
    }
}

fn is_nothing(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory)
}

/// Reads content up to a limit for all files together.
struct BoundedReader<'g> {
    room: u64,
    open: &'g [PathBuf],
}

impl BoundedReader<'_> {
    fn read(&mut self, path: &Path, depth: usize) -> io::Result<SavedNode> {
        let (_folder, here) = match parent(path) {
            Err(error) if is_nothing(&error) => return Ok(SavedNode::Nothing),
            other => other?,
        };
        let about = match fs::symlink_metadata(&here) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(SavedNode::Nothing),
            other => other?,
        };
        let (kind, mode) = (about.file_type(), about.permissions().mode() & 0o7777);
        if kind.is_symlink() {
            Ok(SavedNode::Link(fs::read_link(&here)?))
        } else if kind.is_file() {
            Ok(SavedNode::File { content: self.content(&here)?, mode, names: about.nlink() })
        } else if kind.is_dir() && depth > 0 {
            Ok(SavedNode::Folder { entries: self.entries(path, &here, depth)?, mode })
        } else {
            Ok(SavedNode::Other)
        }
    }

    fn entries(&mut self, path: &Path, here: &Path, depth: usize) -> io::Result<BTreeMap<OsString, SavedNode>> {
        let mut entries = BTreeMap::new();
        for entry in fs::read_dir(here)? {
            let name = entry?.file_name();
            let entry = path.join(&name);
            if !self.open.contains(&entry) {
                entries.insert(name, self.read(&entry, depth - 1)?);
            }
        }
        Ok(entries)
    }

    fn content(&mut self, path: &Path) -> io::Result<Vec<u8>> {
        let nofollow = OFlags::NOFOLLOW | OFlags::NONBLOCK;
        let file = File::options().read(true).custom_flags(nofollow.bits().cast_signed()).open(path)?;
        let mut content = Vec::new();
        file.take(self.room + 1).read_to_end(&mut content)?;
        self.room = self.room.checked_sub(content.len() as u64).ok_or(io::ErrorKind::FileTooLarge)?;
        Ok(content)
    }
}

/// Restores a parent directory that was removed or replaced: removes a file in its place and creates the directory.
fn replace_parent(path: &Path) -> io::Result<()> {
    let Some(folder) = path.parent() else { return Err(io::ErrorKind::InvalidInput.into()) };
    let (_above, here) = match parent(folder) {
        Err(_) if folder.parent().is_some_and(|above| above != Path::new("/")) => {
            replace_parent(folder)?;
            parent(folder)?
        }
        other => other?,
    };
    match fs::symlink_metadata(&here) {
        Ok(about) if about.is_dir() => Ok(()),
        Ok(_) => fs::remove_file(&here).and_then(|()| fs::create_dir(&here)),
        Err(_) => fs::create_dir(&here),
    }
}

/// Removes a symbolic link that was created in place of a directory that did not exist before.
fn remove_above(path: &Path) -> io::Result<()> {
    let Some(folder) = path.parent() else { return Ok(()) };
    match parent(folder) {
        Ok((_above, here)) if fs::symlink_metadata(&here).is_ok_and(|about| about.is_symlink()) => {
            fs::remove_file(&here)
        }
        Ok(_) => Ok(()),
        Err(error) if is_nothing(&error) => Ok(()),
        Err(_) => remove_above(folder),
    }
}

fn remove(here: &Path) -> io::Result<()> {
    match fs::symlink_metadata(here) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        Ok(about) if about.is_dir() => fs::remove_dir_all(here),
        Ok(_) => fs::remove_file(here),
        Err(error) => Err(error),
    }
}
