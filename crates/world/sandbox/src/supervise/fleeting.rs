//! Files that exist only as long as the program: copies of credentials. The supervisor removes them, because it outlives
//! Interlock if Interlock is killed.

use std::{
    fs::File,
    os::unix::ffi::OsStrExt as _,
    path::{Path, PathBuf},
};

use interlock_beneath::Folder;
use rustix::fs::{AtFlags, Mode, OFlags, fchmod, ftruncate, openat, unlinkat};

/// A file that is removed with the program. It is held open, so that the program cannot lead the removal to another file
/// by renaming files or directories.
#[derive(Debug)]
pub(super) struct Fleeting {
    folder: Folder,
    name: PathBuf,
    file: File,
}

impl Fleeting {
    /// Opens a file and makes it read-only. A file that cannot be opened is left to Interlock.
    fn open(path: &Path) -> Option<Self> {
        let (folder, name) = Folder::above(path).ok()?;
        let flags = OFlags::WRONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
        let file = openat(&folder, &name, flags, Mode::empty()).ok()?;
        // The file stays removable without this.
        let _ = fchmod(&file, Mode::RUSR);
        Some(Fleeting { folder, name, file: file.into() })
    }

    /// Opens all files.
    pub(super) fn all(paths: &[PathBuf]) -> Vec<Self> {
        paths.iter().filter_map(|path| Fleeting::open(path)).collect()
    }
}

impl Drop for Fleeting {
    fn drop(&mut self) {
        // Emptied first: the program may have renamed the file or made a link to it.
        let _ = ftruncate(&self.file, 0);
        let _ = unlinkat(&self.folder, self.name.as_os_str().as_bytes(), AtFlags::empty());
    }
}
