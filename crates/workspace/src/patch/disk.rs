//! Accesses the files of a workspace from its root, one directory at a time. Symbolic links on the way are never
//! followed, even if one is created during the access.

use std::{
    ffi::{OsStr, OsString},
    fs::File,
    io::{self, Read, Write},
    os::{fd::OwnedFd, unix::ffi::OsStringExt},
    path::{Path, PathBuf},
};

use rustix::fs::{AtFlags, FileType, Mode, OFlags, RenameFlags, Stat};
use rustix::{fs, io::Errno};

use super::{Kind, Look, LookupResult, Node};
use crate::{Error, Result};

/// Maximum size of a file that is patched or restored.
pub(crate) const FILE_BYTES_MAX: u64 = 1 << 30;

/// The flags to open a directory on the way to a path.
const FOLDER: OFlags = OFlags::DIRECTORY.union(OFlags::NOFOLLOW).union(OFlags::CLOEXEC);

/// The files below a root directory.
#[derive(Debug)]
pub(crate) struct Disk {
    root: OwnedFd,
    /// The directory of Interlock's store, relative to the root. It is not part of the workspace.
    home: Option<PathBuf>,
    through_repositories: bool,
}

impl Disk {
    pub(crate) fn open(root: &Path, home: Option<&Path>) -> Result<Self> {
        let opened = fs::open(root, OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty());
        let root = opened.map_err(|error| Error::io("open", root, &error.into()))?;
        Ok(Disk { root, home: home.map(Path::to_owned), through_repositories: false })
    }

    /// Treats the files of nested repositories as files of the workspace.
    #[must_use]
    pub(crate) fn through_repositories(mut self) -> Self {
        self.through_repositories = true;
        self
    }

    /// Opens a directory. An empty path opens the root.
    pub(crate) fn folder(&self, path: &Path) -> io::Result<OwnedFd> {
        let mut folder = self.root.try_clone()?;
        for name in path {
            folder = fs::openat(&folder, name, FOLDER, Mode::empty())?;
        }
        Ok(folder)
    }

    fn folder_of(&self, path: &Path) -> io::Result<OwnedFd> {
        self.folder(path.parent().unwrap_or(Path::new("")))
    }

    /// Reads the file or link at a path. Returns `None` if there is none.
    pub(crate) fn node(&self, path: &Path) -> io::Result<Option<Node>> {
        let folder = match self.folder_of(path) {
            Err(error) if is_not_there(&error) => return Ok(None),
            other => other?,
        };
        let name = path.file_name().unwrap_or_default();
        let about = match fs::statat(&folder, name, AtFlags::SYMLINK_NOFOLLOW) {
            Err(Errno::NOENT) => return Ok(None),
            other => other?,
        };
        match FileType::from_raw_mode(about.st_mode) {
            FileType::Symlink => {
                let target = fs::readlinkat(&folder, name, Vec::new())?;
                Ok(Some(Node { kind: Kind::Link, content: target.into_bytes() }))
            }
            FileType::RegularFile => read(&folder, name, &about).map(Some),
            FileType::Directory => Err(io::Error::other("it is a directory")),
            _ => Err(io::Error::other("it is neither a file nor a link")),
        }
    }

    /// Returns true if a path is a directory.
    pub(crate) fn is_folder(&self, path: &Path) -> bool {
        self.folder(path).is_ok()
    }

    /// Returns the reason why a path is not part of the workspace, if there is one on the way to it.
    fn obstacle(&self, path: &Path) -> Option<String> {
        if self.home.as_ref().is_some_and(|home| path.starts_with(home)) {
            return Some("it belongs to Interlock's own data".to_owned());
        }
        let mut folder = self.root.try_clone().ok()?;
        let above: Vec<&OsStr> = path.parent().into_iter().flatten().collect();
        for name in above {
            folder = match fs::openat(&folder, name, FOLDER, Mode::empty()) {
                Ok(folder) => folder,
                Err(Errno::NOENT) => return None,
                Err(error) => return Some(why_no_folder(&folder, name, error)),
            };
            if !self.through_repositories && fs::statat(&folder, ".git", AtFlags::SYMLINK_NOFOLLOW).is_ok() {
                let name = name.to_string_lossy();
                return Some(format!("it belongs to another repository (`{name}`), whose content is not stored"));
            }
        }
        None
    }

    /// Writes a file or link under a new name and syncs the file to disk. It gets the owner and mode of the file that
    /// it replaces.
    pub(crate) fn make(&self, folder: &Path, name: &OsStr, node: &Node, like: Option<&Path>) -> io::Result<()> {
        let at = self.folder(folder)?;
        if node.kind == Kind::Link {
            let target = OsString::from_vec(node.content.clone());
            return Ok(fs::symlinkat(target, &at, name)?);
        }
        let mode = if node.kind == Kind::Executable { Mode::from(0o777) } else { Mode::from(0o666) };
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let mut file = File::from(fs::openat(&at, name, flags, mode)?);
        if let Some(about) = like.and_then(|like| self.about(like)) {
            take_after(&file, &about, node.kind)?;
        }
        file.write_all(&node.content)?;
        file.sync_all()
    }

    fn about(&self, path: &Path) -> Option<Stat> {
        let folder = self.folder_of(path).ok()?;
        let about = fs::statat(&folder, path.file_name()?, AtFlags::SYMLINK_NOFOLLOW).ok()?;
        (FileType::from_raw_mode(about.st_mode) == FileType::RegularFile).then_some(about)
    }

    /// Renames a file. The new path must be free.
    pub(crate) fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        match self.rename_with(from, to, RenameFlags::NOREPLACE) {
            Err(error) if is_not_supported(&error) => match self.node(to)? {
                Some(_) => Err(io::Error::from(io::ErrorKind::AlreadyExists)),
                None => self.rename_with(from, to, RenameFlags::empty()),
            },
            other => other,
        }
    }

    /// Exchanges two paths. On file systems without an atomic exchange, one of the paths is free for a moment.
    pub(crate) fn exchange(&self, one: &Path, other: &Path) -> io::Result<()> {
        match self.rename_with(one, other, RenameFlags::EXCHANGE) {
            Err(error) if is_not_supported(&error) => {
                let aside = one.with_file_name(format!("{}-x", one.file_name().unwrap_or_default().to_string_lossy()));
                self.rename(other, &aside)?;
                self.rename(one, other).inspect_err(|_| drop(self.rename(&aside, other)))?;
                self.rename(&aside, one)
            }
            other => other,
        }
    }

    fn rename_with(&self, from: &Path, to: &Path, flags: RenameFlags) -> io::Result<()> {
        let (from_folder, to_folder) = (self.folder_of(from)?, self.folder_of(to)?);
        let (from, to) = (from.file_name().unwrap_or_default(), to.file_name().unwrap_or_default());
        Ok(fs::renameat_with(&from_folder, from, &to_folder, to, flags)?)
    }

    pub(crate) fn remove(&self, path: &Path) -> io::Result<()> {
        Ok(fs::unlinkat(self.folder_of(path)?, path.file_name().unwrap_or_default(), AtFlags::empty())?)
    }

    pub(crate) fn make_folder(&self, path: &Path) -> io::Result<()> {
        Ok(fs::mkdirat(self.folder_of(path)?, path.file_name().unwrap_or_default(), Mode::from(0o777))?)
    }

    /// Removes a directory, which must be empty.
    pub(crate) fn remove_folder(&self, path: &Path) -> io::Result<()> {
        Ok(fs::unlinkat(self.folder_of(path)?, path.file_name().unwrap_or_default(), AtFlags::REMOVEDIR)?)
    }

    /// Syncs a directory, so that its entries survive a power failure.
    pub(crate) fn sync(&self, folder: &Path) -> io::Result<()> {
        Ok(fs::fsync(self.folder(folder)?)?)
    }
}

impl Disk {
    /// Lists the names in a directory.
    pub(crate) fn names(&self, folder: &Path) -> io::Result<Vec<OsString>> {
        let entries = fs::Dir::new(self.folder(folder)?)?;
        entries.map(|entry| Ok(OsString::from_vec(entry?.file_name().to_bytes().to_vec()))).collect()
    }
}

impl Look for Disk {
    fn look(&self, path: &Path) -> LookupResult {
        if let Some(obstacle) = self.obstacle(path) {
            return LookupResult::Not(obstacle);
        }
        match self.node(path) {
            Ok(Some(node)) => LookupResult::Node(node),
            Ok(None) => LookupResult::Nothing,
            Err(error) => LookupResult::Not(error.to_string()),
        }
    }
}

fn read(folder: &OwnedFd, name: &OsStr, about: &Stat) -> io::Result<Node> {
    let kind = if about.st_mode & 0o100 == 0 { Kind::File } else { Kind::Executable };
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let file = File::from(fs::openat(folder, name, flags, Mode::empty())?);
    let mut content = Vec::new();
    file.take(FILE_BYTES_MAX + 1).read_to_end(&mut content)?;
    match content.len() as u64 > FILE_BYTES_MAX {
        true => Err(io::Error::other(format!("it is larger than {FILE_BYTES_MAX} bytes"))),
        false => Ok(Node { kind, content }),
    }
}

/// Copies owner and mode of the previous file. The new kind decides the executable bits.
fn take_after(file: &File, about: &Stat, kind: Kind) -> io::Result<()> {
    let bits = about.st_mode & 0o777;
    let bits = match kind {
        Kind::Executable => bits | ((bits & 0o444) >> 2),
        _ => bits & !0o111,
    };
    // Only root can change the owner. Otherwise the file stays with the writer.
    let _ = fs::fchown(file, Some(fs::Uid::from_raw(about.st_uid)), Some(fs::Gid::from_raw(about.st_gid)));
    Ok(fs::fchmod(file, Mode::from(bits))?)
}

fn why_no_folder(above: &OwnedFd, name: &OsStr, error: Errno) -> String {
    let kind = fs::statat(above, name, AtFlags::SYMLINK_NOFOLLOW).map(|about| FileType::from_raw_mode(about.st_mode));
    let name = name.to_string_lossy();
    match kind {
        Ok(FileType::Symlink) => format!("`{name}` in its path is a symbolic link"),
        Ok(FileType::Directory) => format!("the directory `{name}` in its path cannot be opened: {error}"),
        Ok(_) => format!("`{name}` in its path is not a directory"),
        Err(error) => format!("`{name}` in its path cannot be examined: {error}"),
    }
}

fn is_not_there(error: &io::Error) -> bool {
    matches!(error.raw_os_error().map(Errno::from_raw_os_error), Some(Errno::NOENT | Errno::NOTDIR | Errno::LOOP))
}

fn is_not_supported(error: &io::Error) -> bool {
    matches!(error.raw_os_error().map(Errno::from_raw_os_error), Some(Errno::INVAL | Errno::NOSYS | Errno::OPNOTSUPP))
}
