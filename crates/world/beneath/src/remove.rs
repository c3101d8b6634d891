//! Removes files and directories.

use std::{collections::VecDeque, ffi::OsString, os::fd::OwnedFd, path::Path};

use rustix::{
    fs::{self, AtFlags, Mode, OFlags},
    io::Errno,
};

use crate::{
    error::{Error, Result},
    folder::Folder,
    list::LISTED,
    write::{aside, by_handle},
};

/// The greatest depth at which directories are entered. Deeper ones are moved up first, so that few are open at once.
const DEPTH_MAX: usize = 32;

impl Folder {
    /// Removes a file or a link. Returns false if nothing is at the path.
    pub fn remove_file(&self, path: &Path) -> Result<bool> {
        self.unlink(path, AtFlags::empty())
    }

    /// Removes an empty directory. Returns false if nothing is at the path.
    pub fn remove_folder(&self, path: &Path) -> Result<bool> {
        self.unlink(path, AtFlags::REMOVEDIR)
    }

    /// Removes the directories above a path, from the deepest one, as long as they are empty. This directory stays.
    pub fn remove_empty_above(&self, path: &Path) {
        let above = path.ancestors().skip(1).filter(|above| !above.as_os_str().is_empty());
        above.take_while(|above| self.remove_folder(above).is_ok()).for_each(drop);
    }

    fn unlink(&self, path: &Path, flags: AtFlags) -> Result<bool> {
        let (folder, name) = match self.parent(path) {
            Err(error) if error.is_absent() => return Ok(false),
            other => other?,
        };
        match fs::unlinkat(&folder.handle, name, flags) {
            Ok(()) => Ok(true),
            Err(Errno::NOENT) => Ok(false),
            Err(error) => Err(Error::system(&folder.path.join(name), error)),
        }
    }

    /// Removes whatever is at a path: a file, a link, or a directory with its content. Links in it are removed, not
    /// followed.
    pub fn remove_all(&self, path: &Path) -> Result<()> {
        let (folder, name) = match self.parent(path) {
            Err(error) if error.is_absent() => return Ok(()),
            other => other?,
        };
        let failed = |error| Error::system(&folder.path.join(name), error);
        // Directories that were too deep, under new names beside the first one.
        let mut waiting = VecDeque::from([name.to_owned()]);
        while let Some(name) = waiting.pop_front() {
            remove(&folder.handle, &name, (&folder.handle, &mut waiting), 0).map_err(failed)?;
        }
        Ok(())
    }
}

type Deep<'d> = (&'d OwnedFd, &'d mut VecDeque<OsString>);

fn remove(above: &OwnedFd, name: &OsString, (top, waiting): Deep<'_>, depth: usize) -> rustix::io::Result<()> {
    match fs::unlinkat(above, name, AtFlags::empty()) {
        Ok(()) | Err(Errno::NOENT) => return Ok(()),
        // Both mean that it is a directory; which one depends on the file system.
        Err(Errno::ISDIR | Errno::PERM) => {}
        Err(error) => return Err(error),
    }
    if depth == DEPTH_MAX {
        let moved = aside();
        fs::renameat(above, name, top, &moved)?;
        waiting.push_back(moved);
        return Ok(());
    }
    let here = match open(above, name) {
        // Something else is there now.
        Err(Errno::NOENT) => return Ok(()),
        Err(Errno::NOTDIR | Errno::LOOP) => return fs::unlinkat(above, name, AtFlags::empty()),
        other => other?,
    };
    for entry in fs::Dir::read_from(&here)? {
        let name = entry?.file_name().to_owned();
        if name.to_bytes() != b"." && name.to_bytes() != b".." {
            let name = <OsString as std::os::unix::ffi::OsStringExt>::from_vec(name.into_bytes());
            remove(&here, &name, (top, waiting), depth + 1)?;
        }
    }
    match fs::unlinkat(above, name, AtFlags::REMOVEDIR) {
        Err(Errno::NOENT) => Ok(()),
        other => other,
    }
}

/// Opens a directory to be emptied, also if its permissions forbid that.
fn open(above: &OwnedFd, name: &OsString) -> rustix::io::Result<OwnedFd> {
    let place = fs::openat(above, name, OFlags::PATH | LISTED, Mode::empty())?;
    let owner = Mode::RWXU;
    if let Ok(about) = fs::fstat(&place)
        && !Mode::from_raw_mode(about.st_mode).contains(owner)
    {
        // If this fails, opening fails too, and its error is the better one.
        let _ = fs::chmod(by_handle(&place), owner);
    }
    fs::openat(&place, ".", LISTED, Mode::empty())
}
