//! Writes beneath a directory.

use std::{
    ffi::{OsStr, OsString},
    fs::File,
    io::{self, Write as _},
    path::Path,
    sync::atomic::{AtomicU64, Ordering},
};

use rustix::{
    fs::{self, Access, AtFlags, CWD, FileType, Mode, OFlags, RenameFlags},
    io::Errno,
};

use crate::{
    error::{Error, Result},
    folder::{Folder, refused, regular},
    list::LISTED,
};

/// The beginning of the names of files that exist only during a write.
const ASIDE: &str = ".interlock-writing-";

/// Makes these names unique within a process.
static COUNT: AtomicU64 = AtomicU64::new(0);

impl Folder {
    /// Replaces a file at once, or creates it. A link at the path is replaced, not followed. The permissions of a
    /// replaced file stay.
    pub fn write(&self, path: &Path, content: &[u8]) -> Result<()> {
        self.replace(path, |folder, aside, known| {
            let file = folder.create_named(aside, Mode::from_raw_mode(0o666))?;
            fill(file, &folder.path, content, known)
        })
    }

    /// Replaces a file or a link at once by a new file with these permissions, as far as the process's mask allows.
    pub fn write_new(&self, path: &Path, content: &[u8], mode: Mode) -> Result<()> {
        self.replace(path, |folder, aside, _| fill(folder.create_named(aside, mode)?, &folder.path, content, None))
    }

    /// Replaces a file or a link at once by a new file with exactly these permissions.
    pub fn write_as(&self, path: &Path, content: &[u8], mode: Mode) -> Result<()> {
        self.replace(path, |folder, aside, _| {
            fill(folder.create_named(aside, Mode::RUSR | Mode::WUSR)?, &folder.path, content, Some(mode))
        })
    }

    /// Replaces a file or a link at once by a new file with exactly these permissions, which a function writes.
    pub(crate) fn write_from(
        &self,
        path: &Path,
        mode: Mode,
        write: impl FnOnce(&mut File) -> io::Result<()>,
    ) -> Result<()> {
        self.replace(path, |folder, aside, _| {
            let mut file = folder.create_named(aside, Mode::RUSR | Mode::WUSR)?;
            write(&mut file).map_err(|error| Error::io(&folder.path, error))?;
            fill(file, &folder.path, b"", Some(mode))
        })
    }

    /// Replaces a file or a link at once by a link.
    pub fn write_link(&self, path: &Path, target: &Path) -> Result<()> {
        self.replace(path, |folder, aside, _| folder.symlink(target, Path::new(aside)))
    }

    /// Makes something under a new name and renames it to the path. The function gets the directory, the new name, and
    /// the permissions of the file that is at the path.
    fn replace(&self, path: &Path, make: impl FnOnce(&Folder, &OsStr, Option<Mode>) -> Result<()>) -> Result<()> {
        let (folder, name) = self.parent(path)?;
        let known = match fs::statat(&folder.handle, name, AtFlags::SYMLINK_NOFOLLOW) {
            Ok(about) if FileType::from_raw_mode(about.st_mode) == FileType::RegularFile => {
                Some(Mode::from_raw_mode(about.st_mode & 0o777))
            }
            _ => None,
        };
        let aside = aside();
        let placed = make(&folder, &aside, known).and_then(|()| {
            let placed = fs::renameat(&folder.handle, &aside, &folder.handle, name);
            placed.map_err(|error| Error::system(&folder.path.join(name), error))
        });
        placed.inspect_err(|_| {
            // The error of the write is the one to report.
            let _ = fs::unlinkat(&folder.handle, &aside, AtFlags::empty());
        })
    }

    /// Opens a file to write at its end, and creates it if necessary. Does not block, whatever is at the path.
    pub fn append(&self, path: &Path) -> Result<File> {
        let (folder, name) = self.parent(path)?;
        let full = folder.path.join(name);
        let flags = OFlags::WRONLY | OFlags::APPEND | OFlags::CREATE | OFlags::NONBLOCK | OFlags::NOCTTY;
        let flags = flags | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let file = fs::openat(&folder.handle, name, flags, Mode::from_raw_mode(0o666));
        let file = file.map_err(|error| refused(&folder.handle, name, &full, error))?;
        regular(&full, &fs::fstat(&file).map_err(|error| Error::system(&full, error))?)?;
        Ok(File::from(file))
    }

    /// Creates a file. Fails if anything is at the path.
    pub fn create_new(&self, path: &Path, mode: Mode) -> Result<File> {
        let (folder, name) = self.parent(path)?;
        folder.create_named(name, mode)
    }

    fn create_named(&self, name: &OsStr, mode: Mode) -> Result<File> {
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let made = fs::openat(&self.handle, name, flags, mode);
        made.map(File::from).map_err(|error| Error::system(&self.path.join(name), error))
    }

    /// Creates a directory. Fails if anything is at the path.
    pub fn make_folder(&self, path: &Path) -> Result<()> {
        let (folder, name) = self.parent(path)?;
        let made = fs::mkdirat(&folder.handle, name, Mode::from_raw_mode(0o777));
        made.map_err(|error| Error::system(&folder.path.join(name), error))
    }

    /// Creates a directory and those above it, beneath this one. What is no directory on the way is an error.
    pub fn make_folders(&self, path: &Path) -> Result<()> {
        let mut here = self.folder(Path::new(""))?;
        for name in self.names_of(path)? {
            here = here.make_or_open(name)?;
        }
        Ok(())
    }

    /// Creates a directory and those above it, beneath this one. A file or a link on the way is removed.
    pub fn replace_folders(&self, path: &Path) -> Result<()> {
        let mut here = self.folder(Path::new(""))?;
        for name in self.names_of(path)? {
            here = match here.make_or_open(name) {
                Err(error) if error.is_absent() => {
                    here.remove_file(Path::new(name))?;
                    here.make_or_open(name)?
                }
                other => other?,
            };
        }
        Ok(())
    }

    fn make_or_open(&self, name: &OsStr) -> Result<Folder> {
        match self.folder(Path::new(name)) {
            Err(error) if error.is_not_found() => match fs::mkdirat(&self.handle, name, Mode::from_raw_mode(0o777)) {
                Ok(()) | Err(Errno::EXIST) => self.folder(Path::new(name)),
                Err(error) => Err(Error::system(&self.path.join(name), error)),
            },
            other => other,
        }
    }

    /// Creates a link. Fails if anything is at the path.
    pub fn symlink(&self, target: &Path, path: &Path) -> Result<()> {
        let (folder, name) = self.parent(path)?;
        let made = fs::symlinkat(target, &folder.handle, name);
        made.map_err(|error| Error::system(&folder.path.join(name), error))
    }

    /// Renames what is at a path. It replaces a file or a link at the new path.
    pub fn rename(&self, from: &Path, to: &Path) -> Result<()> {
        self.rename_with(from, to, RenameFlags::empty())
    }

    /// Renames what is at a path. The new path must be free.
    pub fn rename_to_free(&self, from: &Path, to: &Path) -> Result<()> {
        match self.rename_with(from, to, RenameFlags::NOREPLACE) {
            Err(error) if is_unsupported(&error) => match self.kind(to)? {
                Some(_) => Err(Error::system(&self.path.join(to), Errno::EXIST)),
                None => self.rename(from, to),
            },
            other => other,
        }
    }

    /// Exchanges two paths. On file systems without an atomic exchange, one of the paths is free for a moment.
    pub fn exchange(&self, one: &Path, other: &Path) -> Result<()> {
        match self.rename_with(one, other, RenameFlags::EXCHANGE) {
            Err(error) if is_unsupported(&error) => {
                let aside = one.with_file_name(aside());
                self.rename_to_free(other, &aside)?;
                self.rename_to_free(one, other).inspect_err(|_| drop(self.rename_to_free(&aside, other)))?;
                self.rename_to_free(&aside, one)
            }
            other => other,
        }
    }

    fn rename_with(&self, from: &Path, to: &Path, flags: RenameFlags) -> Result<()> {
        let ((from_folder, from), (to_folder, to)) = (self.parent(from)?, self.parent(to)?);
        let renamed = fs::renameat_with(&from_folder.handle, from, &to_folder.handle, to, flags);
        renamed.map_err(|error| Error::system(&to_folder.path.join(to), error))
    }

    /// Syncs a directory, so that its entries survive a power failure. An empty path is this directory.
    pub fn sync(&self, path: &Path) -> Result<()> {
        let here = self.folder(path)?;
        let synced = fs::openat(&here.handle, ".", LISTED, Mode::empty()).and_then(fs::fsync);
        synced.map_err(|error| Error::system(&here.path, error))
    }

    /// Sets the permissions of a file or directory. A link is an error. An empty path is this directory.
    pub fn set_mode(&self, path: &Path, mode: Mode) -> Result<()> {
        if self.names_of(path)?.is_empty() {
            return fs::chmod(by_handle(&self.handle), mode).map_err(|error| Error::system(&self.path, error));
        }
        let (folder, name) = self.parent(path)?;
        let full = folder.path.join(name);
        let flags = OFlags::PATH | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let file = fs::openat(&folder.handle, name, flags, Mode::empty());
        let file = file.map_err(|error| Error::system(&full, error))?;
        let about = fs::fstat(&file).map_err(|error| Error::system(&full, error))?;
        if FileType::from_raw_mode(about.st_mode) == FileType::Symlink {
            return Err(Error::Link { path: full });
        }
        fs::chmod(by_handle(&file), mode).map_err(|error| Error::system(&full, error))
    }

    /// Lets this user read a file, or list and change a directory, if it is theirs and cannot be read. An empty path is this
    /// directory. Returns the permissions before and after; `None` if nothing was changed.
    pub fn open_up(&self, path: &Path) -> Result<Option<(Mode, Mode)>> {
        let full = self.path.join(path);
        let failed = |error| Error::system(&full, error);
        let place = match self.names_of(path)?.is_empty() {
            true => self.handle.try_clone().map_err(|error| Error::io(&full, error))?,
            false => {
                let (folder, name) = self.parent(path)?;
                let flags = OFlags::PATH | OFlags::NOFOLLOW | OFlags::CLOEXEC;
                fs::openat(&folder.handle, name, flags, Mode::empty()).map_err(failed)?
            }
        };
        let about = fs::fstat(&place).map_err(failed)?;
        let (read, needed) = match FileType::from_raw_mode(about.st_mode) {
            FileType::Directory => (Access::READ_OK | Access::EXEC_OK, Mode::RWXU),
            FileType::RegularFile => (Access::READ_OK, Mode::RUSR),
            _ => return Ok(None),
        };
        let (name, before) = (by_handle(&place), Mode::from_raw_mode(about.st_mode & 0o7777));
        // Root can read what has no permissions, and the files of others are theirs.
        if fs::accessat(CWD, &name, read, AtFlags::EACCESS).is_ok() {
            return Ok(None);
        }
        match fs::chmod(&name, before | needed) {
            Ok(()) => Ok(Some((before, before | needed))),
            Err(Errno::PERM) => Ok(None),
            Err(error) => Err(failed(error)),
        }
    }
}

/// Writes the content of a new file, and sets its permissions if they are known.
fn fill(mut file: File, path: &Path, content: &[u8], mode: Option<Mode>) -> Result<()> {
    file.write_all(content).map_err(|error| Error::io(path, error))?;
    mode.map_or(Ok(()), |mode| fs::fchmod(&file, mode)).map_err(|error| Error::system(path, error))
}

/// Returns true if the file system cannot rename in this way.
fn is_unsupported(error: &Error) -> bool {
    let unsupported = [Errno::INVAL, Errno::NOSYS, Errno::OPNOTSUPP].map(|errno| Some(errno.raw_os_error()));
    matches!(error, Error::System { source, .. } if unsupported.contains(&source.raw_os_error()))
}

/// Returns a path that means an open file: `fchmod` refuses a file that was opened only as a place.
pub(crate) fn by_handle(file: &impl std::os::fd::AsRawFd) -> String {
    format!("/proc/self/fd/{}", file.as_raw_fd())
}

/// Returns a name that no other write uses.
pub(crate) fn aside() -> OsString {
    format!("{ASIDE}{}-{}", std::process::id(), COUNT.fetch_add(1, Ordering::Relaxed)).into()
}
