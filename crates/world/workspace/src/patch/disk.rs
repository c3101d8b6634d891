//! The files of a workspace as a patch sees them: its nested repositories and Interlock's own data are not part of it.

use std::{
    ffi::{OsStr, OsString},
    fs::File,
    io::{self, Write},
    os::unix::ffi::{OsStrExt, OsStringExt},
    path::{Path, PathBuf},
};

use interlock_beneath::{self as beneath, FileType, Folder, Mode, Stat};
use rustix::fs::{Gid, Uid, fchmod, fchown};

use super::{Kind, Look, LookupResult, Node};
use crate::{Error, Result};

/// Maximum size of a file that is patched or restored.
pub(crate) const FILE_BYTES_MAX: u64 = 1 << 30;

/// The files below a root directory.
#[derive(Debug)]
pub(crate) struct Disk {
    pub(crate) root: Folder,
    /// The directory of Interlock's store, relative to the root. It is not part of the workspace.
    home: Option<PathBuf>,
    through_repositories: bool,
}

impl Disk {
    pub(crate) fn open(root: &Path, home: Option<&Path>) -> Result<Self> {
        let root = Folder::open(root).map_err(|error| Error::io("open", root, &error.into()))?;
        Ok(Disk { root, home: home.map(Path::to_owned), through_repositories: false })
    }

    /// Treats the files of nested repositories as files of the workspace.
    #[must_use]
    pub(crate) fn through_repositories(mut self) -> Self {
        self.through_repositories = true;
        self
    }

    /// Reads the file or link at a path. Returns `None` if there is none.
    pub(crate) fn node(&self, path: &Path) -> io::Result<Option<Node>> {
        let about = match self.root.stat(path) {
            Err(error) if error.is_absent() => return Ok(None),
            other => other?,
        };
        match FileType::from_raw_mode(about.st_mode) {
            FileType::Symlink => {
                let target = self.root.read_link(path)?.into_os_string();
                Ok(Some(Node { kind: Kind::Link, content: target.into_vec() }))
            }
            FileType::RegularFile => {
                let kind = if about.st_mode & 0o100 == 0 { Kind::File } else { Kind::Executable };
                match self.root.read(path, FILE_BYTES_MAX) {
                    Err(beneath::Error::TooLong { bytes_max, .. }) => {
                        Err(io::Error::other(format!("it is larger than {bytes_max} bytes")))
                    }
                    content => Ok(Some(Node { kind, content: content? })),
                }
            }
            FileType::Directory => Err(io::Error::other("it is a directory")),
            _ => Err(io::Error::other("it is neither a file nor a link")),
        }
    }

    /// Returns true if a path is a directory.
    pub(crate) fn is_folder(&self, path: &Path) -> bool {
        self.root.folder(path).is_ok()
    }

    /// Returns the reason why a path is not part of the workspace, if there is one on the way to it.
    fn obstacle(&self, path: &Path) -> Option<String> {
        if self.home.as_ref().is_some_and(|home| path.starts_with(home)) {
            return Some("it belongs to Interlock's own data".to_owned());
        }
        let mut folder = self.root.folder(Path::new("")).ok()?;
        for name in path.parent().into_iter().flatten() {
            folder = match folder.folder(Path::new(name)) {
                Ok(folder) => folder,
                Err(error) if error.is_not_found() => return None,
                Err(error) => return Some(why_no_folder(name, &error)),
            };
            if !self.through_repositories && folder.stat(Path::new(".git")).is_ok() {
                let name = name.to_string_lossy();
                return Some(format!("it belongs to another repository (`{name}`), whose content is not stored"));
            }
        }
        None
    }

    /// Writes a file or link under a new name and syncs the file to disk. It gets the owner and mode of the file that
    /// it replaces.
    pub(crate) fn make(&self, path: &Path, node: &Node, like: Option<&Path>) -> io::Result<()> {
        if node.kind == Kind::Link {
            return Ok(self.root.symlink(Path::new(OsStr::from_bytes(&node.content)), path)?);
        }
        let mode = if node.kind == Kind::Executable { 0o777 } else { 0o666 };
        let mut file = self.root.create_new(path, Mode::from(mode))?;
        if let Some(about) = like.and_then(|like| self.about(like)) {
            take_after(&file, &about, node.kind)?;
        }
        file.write_all(&node.content)?;
        file.sync_all()
    }

    fn about(&self, path: &Path) -> Option<Stat> {
        let about = self.root.stat(path).ok()?;
        (FileType::from_raw_mode(about.st_mode) == FileType::RegularFile).then_some(about)
    }

    /// Removes a file or a link, which must exist.
    pub(crate) fn remove(&self, path: &Path) -> io::Result<()> {
        there(self.root.remove_file(path)?)
    }

    /// Removes a directory, which must exist and be empty.
    pub(crate) fn remove_folder(&self, path: &Path) -> io::Result<()> {
        there(self.root.remove_folder(path)?)
    }

    /// Lists the names in a directory.
    pub(crate) fn names(&self, folder: &Path) -> io::Result<Vec<OsString>> {
        Ok(self.root.names(folder)?)
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

/// Copies owner and mode of the previous file. The new kind decides the executable bits.
fn take_after(file: &File, about: &Stat, kind: Kind) -> io::Result<()> {
    let bits = about.st_mode & 0o777;
    let bits = match kind {
        Kind::Executable => bits | ((bits & 0o444) >> 2),
        _ => bits & !0o111,
    };
    // Only root can change the owner. Otherwise the file stays with the writer.
    let _ = fchown(file, Some(Uid::from_raw(about.st_uid)), Some(Gid::from_raw(about.st_gid)));
    Ok(fchmod(file, Mode::from(bits))?)
}

fn there(was_there: bool) -> io::Result<()> {
    if was_there { Ok(()) } else { Err(io::ErrorKind::NotFound.into()) }
}

fn why_no_folder(name: &OsStr, error: &beneath::Error) -> String {
    let name = name.to_string_lossy();
    match error {
        beneath::Error::Link { .. } => format!("`{name}` in its path is a symbolic link"),
        beneath::Error::System { source, .. } if source.kind() != io::ErrorKind::NotADirectory => {
            format!("the directory `{name}` in its path cannot be opened: {source}")
        }
        _ => format!("`{name}` in its path is not a directory"),
    }
}
