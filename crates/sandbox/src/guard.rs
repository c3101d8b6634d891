//! What a program must not change although it is in a place that it may change: a repository's settings and hooks.
//!
//! Landlock cannot express that. So what is there is kept in memory before the program begins, and put back when nothing of it is left; what
//! it had made of it is a breach. Other programs may be at work in the same workspace, so no symbolic link is followed on the way.

use std::{
    collections::BTreeMap,
    ffi::OsString,
    fs::{self, File},
    io::{self, Read, Write},
    os::{
        fd::AsRawFd,
        unix::fs::{OpenOptionsExt, PermissionsExt, symlink},
    },
    path::{Path, PathBuf},
};

use rustix::fs::{CWD, Mode, OFlags, ResolveFlags, openat2};

use crate::Breach;

/// How much is kept at most: settings and hooks are small.
const BYTES_MAX: u64 = 8 * 1_024 * 1_024;

/// How deep directories are kept.
const DEPTH_MAX: usize = 3;

/// Paths, and what is there.
#[derive(Debug, Default)]
pub(crate) struct Guard {
    kept: Vec<(PathBuf, Kept)>,
    /// What could not be kept.
    pub(crate) missing: Vec<String>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Kept {
    Nothing,
    File {
        content: Vec<u8>,
        mode: u32,
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
    /// Keeps what is there.
    pub(crate) fn new(paths: Vec<PathBuf>) -> Self {
        let (mut guard, mut room) = (Guard::default(), BYTES_MAX);
        for path in paths {
            match read(&path, &mut room, DEPTH_MAX) {
                Ok(kept) => guard.kept.push((path, kept)),
                Err(error) => guard.missing.push(format!("{} cannot be kept: {error}", path.display())),
            }
        }
        guard
    }

    /// What is looked after.
    pub(crate) fn paths(&self) -> impl Iterator<Item = &Path> {
        self.kept.iter().map(|(path, _)| path.as_path())
    }

    /// Puts back what has changed, and says what that was.
    pub(crate) fn restore(&self) -> Vec<Breach> {
        self.kept.iter().filter_map(|(path, kept)| restore(path, kept)).collect()
    }
}

fn restore(path: &Path, kept: &Kept) -> Option<Breach> {
    // One that has grown beyond what can be kept has changed, too.
    let found = read(path, &mut BYTES_MAX.clone(), DEPTH_MAX).ok();
    if found.as_ref() == Some(kept) {
        return None;
    }
    let said = match write(path, kept) {
        Ok(()) => format!("{} was changed, and put back", path.display()),
        Err(error) => format!("{} was changed, and could not be put back: {error}", path.display()),
    };
    Some(Breach::new("git.protected", said))
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

fn read(path: &Path, room: &mut u64, depth: usize) -> io::Result<Kept> {
    let (_folder, here) = match parent(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Kept::Nothing),
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
        Ok(Kept::File { content: content(&here, room)?, mode })
    } else if kind.is_dir() && depth > 0 {
        let names = fs::read_dir(&here)?.map(|entry| Ok(entry?.file_name())).collect::<io::Result<Vec<_>>>()?;
        let entries = names.into_iter().map(|name| Ok((name.clone(), read(&path.join(name), room, depth - 1)?)));
        Ok(Kept::Folder { entries: entries.collect::<io::Result<_>>()?, mode })
    } else {
        Ok(Kept::Other)
    }
}

fn content(path: &Path, room: &mut u64) -> io::Result<Vec<u8>> {
    let nofollow = OFlags::NOFOLLOW | OFlags::NONBLOCK;
    let file = File::options().read(true).custom_flags(nofollow.bits().cast_signed()).open(path)?;
    let mut content = Vec::new();
    file.take(*room + 1).read_to_end(&mut content)?;
    *room = room.checked_sub(content.len() as u64).ok_or(io::ErrorKind::FileTooLarge)?;
    Ok(content)
}

fn write(path: &Path, kept: &Kept) -> io::Result<()> {
    let (_folder, here) = match (parent(path), kept) {
        (Err(error), Kept::Nothing) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        (Err(_), _) => {
            replace_parent(path)?;
            parent(path)?
        }
        (Ok(found), _) => found,
    };
    remove(&here)?;
    match kept {
        Kept::Nothing | Kept::Other => Ok(()),
        Kept::Link(target) => symlink(target, &here),
        Kept::File { content, mode } => {
            // Made anew: whatever is found in its place by now is not followed.
            let mut file = File::options().write(true).create_new(true).mode(0o600).open(&here)?;
            file.write_all(content)?;
            file.set_permissions(fs::Permissions::from_mode(*mode))
        }
        Kept::Folder { entries, mode } => {
            fs::create_dir(&here)?;
            entries.iter().try_for_each(|(name, kept)| write(&path.join(name), kept))?;
            fs::set_permissions(&here, fs::Permissions::from_mode(*mode))
        }
    }
}

/// The directory itself was taken away or made something else: what stands in its place is removed if it is no directory.
fn replace_parent(path: &Path) -> io::Result<()> {
    let Some(folder) = path.parent() else { return Err(io::ErrorKind::InvalidInput.into()) };
    let (_above, here) = parent(folder)?;
    match fs::symlink_metadata(&here) {
        Ok(about) if about.is_dir() => Ok(()),
        Ok(_) => fs::remove_file(&here).and_then(|()| fs::create_dir(&here)),
        Err(_) => fs::create_dir(&here),
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
