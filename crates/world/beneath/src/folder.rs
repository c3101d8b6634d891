//! An open directory, and how paths beneath it are opened and read.

use std::{
    ffi::{OsStr, OsString},
    fs::File,
    io::Read as _,
    os::{
        fd::{AsFd, BorrowedFd, OwnedFd},
        unix::ffi::OsStringExt as _,
    },
    path::{Component, Path, PathBuf},
};

use rustix::{
    fs::{self, AtFlags, CWD, FileType, Mode, OFlags, ResolveFlags, Stat},
    io::Errno,
};

use crate::error::{Error, Result, word};

/// How a directory on the way to a file is opened. No right to list it is needed.
const STEP: OFlags = OFlags::PATH.union(OFlags::DIRECTORY).union(OFlags::NOFOLLOW).union(OFlags::CLOEXEC);

/// An open directory. It stays the same directory if its path is renamed or replaced.
#[derive(Debug)]
pub struct Folder {
    pub(crate) handle: OwnedFd,
    /// The path for messages. No file is opened by it.
    pub(crate) path: PathBuf,
}

/// The open directory itself, for rules of the kernel. It cannot be read through this.
impl AsFd for Folder {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.handle.as_fd()
    }
}

impl From<Folder> for OwnedFd {
    fn from(folder: Folder) -> Self {
        folder.handle
    }
}

impl Folder {
    /// Opens a directory if no part of its whole path is a link.
    pub fn open(path: &Path) -> Result<Self> {
        let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
        match fs::openat2(CWD, path, flags, Mode::empty(), ResolveFlags::NO_SYMLINKS) {
            Ok(handle) => Ok(Folder { handle, path: path.to_owned() }),
            // The part that is a link is looked for, to name it.
            Err(Errno::LOOP) => Err(step_by_step(path).err().unwrap_or_else(|| Error::Link { path: path.to_owned() })),
            // An older kernel, or a container that does not know the call.
            Err(Errno::NOSYS | Errno::PERM) => step_by_step(path),
            Err(error) => Err(Error::system(path, error)),
        }
    }

    /// Opens a directory whose path no confined program can change. Links in the path are followed.
    pub fn open_through_links(path: &Path) -> Result<Self> {
        let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let handle = fs::openat(CWD, path, flags, Mode::empty()).map_err(|error| Error::system(path, error))?;
        Ok(Folder { handle, path: path.to_owned() })
    }

    /// Opens the directory of a path if no part of it is a link, and returns the last name of the path.
    pub fn above(path: &Path) -> Result<(Self, PathBuf)> {
        match (path.parent(), path.file_name()) {
            (Some(folder), Some(name)) => Ok((Folder::open(folder)?, name.into())),
            _ => Err(Error::Outside { path: path.to_owned(), folder: PathBuf::from("/") }),
        }
    }

    /// Returns the path by which the directory was opened, for messages.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Opens a directory beneath this one. An empty path opens this one again.
    pub fn folder(&self, path: &Path) -> Result<Folder> {
        let names = self.names_of(path)?;
        // All in one step if that is possible. If not, the error names the place.
        if names.len() > 1 {
            let how = ResolveFlags::NO_SYMLINKS | ResolveFlags::BENEATH;
            let opened = fs::openat2(&self.handle, path, STEP, Mode::empty(), how);
            if let Ok(handle) = opened {
                return Ok(Folder { handle, path: self.path.join(path) });
            }
        }
        let mut handle = None;
        let mut full = self.path.clone();
        for name in names {
            full.push(name);
            let above = handle.as_ref().unwrap_or(&self.handle);
            let next = fs::openat(above, name, STEP, Mode::empty());
            handle = Some(next.map_err(|error| refused(above, name, &full, error))?);
        }
        let handle = match handle {
            Some(handle) => handle,
            None => self.handle.try_clone().map_err(|error| Error::io(&full, error))?,
        };
        Ok(Folder { handle, path: full })
    }

    /// Opens the directory of a path, and returns the last name of the path.
    pub(crate) fn parent<'p>(&self, path: &'p Path) -> Result<(Folder, &'p OsStr)> {
        let name = self.names_of(path)?.pop().ok_or_else(|| self.outside(path))?;
        Ok((self.folder(path.parent().unwrap_or(Path::new("")))?, name))
    }

    /// Returns the names in a path. Fails if the path could lead out of the directory.
    pub(crate) fn names_of<'p>(&self, path: &'p Path) -> Result<Vec<&'p OsStr>> {
        let parts = path.components().filter(|part| *part != Component::CurDir);
        let names = parts.map(|part| match part {
            Component::Normal(name) => Ok(name),
            _ => Err(self.outside(path)),
        });
        names.collect()
    }

    fn outside(&self, path: &Path) -> Error {
        Error::Outside { path: path.to_owned(), folder: self.path.clone() }
    }

    /// Returns the metadata of what is at a path: of a link itself, not of its target.
    pub fn stat(&self, path: &Path) -> Result<Stat> {
        if self.names_of(path)?.is_empty() {
            return fs::fstat(&self.handle).map_err(|error| Error::system(&self.path, error));
        }
        let (folder, name) = self.parent(path)?;
        fs::statat(&folder.handle, name, AtFlags::SYMLINK_NOFOLLOW)
            .map_err(|error| Error::system(&folder.path.join(name), error))
    }

    /// Returns the kind of what is at a path; `None` if there is nothing.
    pub fn kind(&self, path: &Path) -> Result<Option<FileType>> {
        match self.stat(path) {
            Ok(about) => Ok(Some(FileType::from_raw_mode(about.st_mode))),
            Err(error) if error.is_absent() => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Opens a regular file for reading. Does not block, whatever is at the path.
    pub fn open_file(&self, path: &Path) -> Result<File> {
        let (folder, name) = self.parent(path)?;
        let full = folder.path.join(name);
        // A pipe without a writer would block, and a terminal would become the controlling terminal.
        let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        // Opening a device can have an effect, so its kind is looked at first, and again at the open file.
        let about = fs::statat(&folder.handle, name, AtFlags::SYMLINK_NOFOLLOW);
        regular(&full, &about.map_err(|error| Error::system(&full, error))?)?;
        let file = fs::openat(&folder.handle, name, flags, Mode::empty());
        let file = file.map_err(|error| refused(&folder.handle, name, &full, error))?;
        regular(&full, &fs::fstat(&file).map_err(|error| Error::system(&full, error))?)?;
        Ok(File::from(file))
    }

    /// Reads a file.
    pub fn read(&self, path: &Path, bytes_max: u64) -> Result<Vec<u8>> {
        let content = self.read_beginning(path, bytes_max.saturating_add(1))?;
        match content.len() as u64 > bytes_max {
            true => Err(Error::TooLong { path: self.path.join(path), bytes_max }),
            false => Ok(content),
        }
    }

    /// Reads the first bytes of a file.
    pub fn read_beginning(&self, path: &Path, bytes_max: u64) -> Result<Vec<u8>> {
        let mut content = Vec::new();
        let read = self.open_file(path)?.take(bytes_max).read_to_end(&mut content);
        read.map_err(|error| Error::io(&self.path.join(path), error))?;
        Ok(content)
    }

    /// Reads a text file; returns `None` if it does not exist.
    pub fn read_text(&self, path: &Path, bytes_max: u64) -> Result<Option<String>> {
        match self.read(path, bytes_max) {
            Ok(content) => match String::from_utf8(content) {
                Ok(text) => Ok(Some(text)),
                Err(_) => Err(Error::NotText { path: self.path.join(path) }),
            },
            Err(error) if error.is_not_found() => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Returns the target of a link, without following it.
    pub fn read_link(&self, path: &Path) -> Result<PathBuf> {
        let (folder, name) = self.parent(path)?;
        let target = fs::readlinkat(&folder.handle, name, Vec::new());
        let target = target.map_err(|error| Error::system(&folder.path.join(name), error))?;
        Ok(PathBuf::from(OsString::from_vec(target.into_bytes())))
    }
}

/// Opens a directory by the components of its path.
fn step_by_step(path: &Path) -> Result<Folder> {
    match path.strip_prefix("/") {
        Ok(below) => Folder::open_through_links(Path::new("/"))?.folder(below),
        Err(_) => Folder::open_through_links(Path::new("."))?.folder(path),
    }
}

pub(crate) fn regular(path: &Path, about: &Stat) -> Result<()> {
    match FileType::from_raw_mode(about.st_mode) {
        FileType::RegularFile => Ok(()),
        FileType::Symlink => Err(Error::Link { path: path.to_owned() }),
        kind => Err(Error::NotRegular { path: path.to_owned(), kind: word(kind) }),
    }
}

/// Converts an error of opening a name. With `O_NOFOLLOW` a link gives `ELOOP`, or `ENOTDIR` if a directory is expected.
pub(crate) fn refused(above: &OwnedFd, name: &OsStr, path: &Path, error: Errno) -> Error {
    let is_link = || {
        let about = fs::statat(above, name, AtFlags::SYMLINK_NOFOLLOW);
        about.is_ok_and(|about| FileType::from_raw_mode(about.st_mode) == FileType::Symlink)
    };
    match error {
        Errno::LOOP => Error::Link { path: path.to_owned() },
        Errno::NOTDIR if is_link() => Error::Link { path: path.to_owned() },
        error => Error::system(path, error),
    }
}
