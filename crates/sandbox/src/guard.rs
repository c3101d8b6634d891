//! Files that a program must not change although they are in a place that it may change (`protected.rs` says which).
//!
//! Landlock cannot express that. So their content is kept in memory before the program begins, and put back when nothing of the program is
//! left; the change is a breach. Other programs may be at work in the same workspace, so no symbolic link is followed on the way.

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

/// How much is kept at most: settings, hooks and machines are small.
const BYTES_MAX: u64 = 8 * 1_024 * 1_024;

/// How deep directories are kept.
const DEPTH_MAX: usize = 16;

/// Paths, and their content.
#[derive(Debug, Default)]
pub(crate) struct Guard {
    kept: Vec<(Protected, Kept)>,
    /// The directories on the way to them, from the top, and their modes.
    folders: BTreeMap<PathBuf, u32>,
    /// Paths below them that the program may change all the same.
    open: Vec<PathBuf>,
    /// Paths that could not be kept, in words.
    pub(crate) missing: Vec<String>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Kept {
    Nothing,
    File {
        content: Vec<u8>,
        mode: u32,
        /// How many names it has: another one would be a way to change it later.
        names: u64,
    },
    Link(PathBuf),
    Folder {
        entries: BTreeMap<OsString, Kept>,
        mode: u32,
    },
    /// A device, a socket or a pipe: it has no content.
    Other,
}

impl Guard {
    /// Keeps the content of paths, but not of those that are open to the program. It can change everything below the tops.
    pub(crate) fn new(protected: Vec<Protected>, open: &[PathBuf], tops: &[PathBuf]) -> Self {
        let is_below = |place: &&PathBuf| protected.iter().any(|protected| place.starts_with(&protected.path));
        let mut guard = Guard { open: open.iter().filter(is_below).cloned().collect(), ..Guard::default() };
        let above = protected.iter().flat_map(|protected| protected.path.ancestors().skip(1));
        let above = above.filter(|folder| tops.iter().any(|top| folder.starts_with(top)));
        guard.folders = above.filter_map(|folder| Some((folder.to_owned(), folder_mode(folder)?))).collect();
        let mut reading = Reading { room: BYTES_MAX, open: &guard.open };
        for protected in protected {
            match reading.read(&protected.path, DEPTH_MAX) {
                Ok(kept) => guard.kept.push((protected, kept)),
                Err(error) => guard.missing.push(format!("{} cannot be kept: {error}", protected.path.display())),
            }
        }
        guard
    }

    /// The paths that are looked after and are there.
    pub(crate) fn paths(&self) -> impl Iterator<Item = &Path> {
        self.kept.iter().filter(|(_, kept)| *kept != Kept::Nothing).map(|(protected, _)| protected.path.as_path())
    }

    /// Puts back what has changed. Returns the breaches.
    pub(crate) fn restore(&self) -> Vec<Breach> {
        // One that nobody may enter hides what is in it.
        for (folder, mode) in self.folders.iter().filter(|(folder, mode)| folder_mode(folder) != Some(**mode)) {
            let _ = parent(folder).and_then(|(_above, here)| set_mode(&here, *mode));
        }
        self.kept.iter().filter_map(|(protected, kept)| self.restore_one(protected, kept)).collect()
    }

    fn restore_one(&self, protected: &Protected, kept: &Kept) -> Option<Breach> {
        let path = &protected.path;
        // One that has grown beyond what can be kept has changed, too.
        let found = Reading { room: BYTES_MAX, open: &self.open }.read(path, DEPTH_MAX).ok();
        if found.as_ref() == Some(kept) {
            return None;
        }
        let said = match self.write(path, kept) {
            Ok(()) => format!("{} was changed, and put back", path.display()),
            Err(error) => format!("{} was changed, and could not be put back: {error}", path.display()),
        };
        Some(Breach::new(protected.rule, said))
    }

    fn write(&self, path: &Path, kept: &Kept) -> io::Result<()> {
        let (_folder, here) = match (parent(path), kept) {
            (Err(error), Kept::Nothing) if is_nothing(&error) => return Ok(()),
            (Err(_), Kept::Nothing) => return remove_above(path),
            (Err(_), _) => {
                replace_parent(path)?;
                parent(path)?
            }
            (Ok(found), _) => found,
        };
        match kept {
            Kept::Nothing | Kept::Other => remove(&here),
            Kept::Link(target) => remove(&here).and_then(|()| symlink(target, &here)),
            Kept::File { content, mode, .. } => {
                remove(&here)?;
                // Made anew: whatever is found in its place by now is not followed.
                let mut file = File::options().write(true).create_new(true).mode(0o600).open(&here)?;
                file.write_all(content)?;
                file.set_permissions(fs::Permissions::from_mode(*mode))
            }
            Kept::Folder { entries, mode } => self.write_folder(path, &here, entries, *mode),
        }
    }

    /// Entries that may be changed stay, so a folder is put back entry by entry.
    fn write_folder(&self, path: &Path, here: &Path, entries: &BTreeMap<OsString, Kept>, mode: u32) -> io::Result<()> {
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

/// The directory of a path, reached without symbolic links, as a path that stays what it is.
fn parent(path: &Path) -> io::Result<(rustix::fd::OwnedFd, PathBuf)> {
    let (Some(folder), Some(name)) = (path.parent(), path.file_name()) else {
        return Err(io::ErrorKind::InvalidInput.into());
    };
    let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let folder = openat2(CWD, folder, flags, Mode::empty(), ResolveFlags::NO_SYMLINKS)?;
    let here = PathBuf::from(format!("/proc/self/fd/{}", folder.as_raw_fd())).join(name);
    Ok((folder, here))
}

/// The mode of a directory that is reached without symbolic links; nothing if it is something else.
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

/// Reads contents, up to a bound for all of them together.
struct Reading<'g> {
    room: u64,
    open: &'g [PathBuf],
}

impl Reading<'_> {
    fn read(&mut self, path: &Path, depth: usize) -> io::Result<Kept> {
        let (_folder, here) = match parent(path) {
            Err(error) if is_nothing(&error) => return Ok(Kept::Nothing),
            other => other?,
        };
        let about = match fs::symlink_metadata(&here) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Kept::Nothing),
            other => other?,
        };
        let (kind, mode) = (about.file_type(), about.permissions().mode() & 0o7777);
        if kind.is_symlink() {
            Ok(Kept::Link(fs::read_link(&here)?))
        } else if kind.is_file() {
            Ok(Kept::File { content: self.content(&here)?, mode, names: about.nlink() })
        } else if kind.is_dir() && depth > 0 {
            Ok(Kept::Folder { entries: self.entries(path, &here, depth)?, mode })
        } else {
            Ok(Kept::Other)
        }
    }

    fn entries(&mut self, path: &Path, here: &Path, depth: usize) -> io::Result<BTreeMap<OsString, Kept>> {
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

/// The directory itself was taken away or made something else: what stands in its place is removed if it is no directory.
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

/// A symbolic link stands where a directory on the way to a path would be that was not there.
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
