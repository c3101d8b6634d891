//! Shows the program directories at other places, by mounts that only its namespaces have.
//!
//! A program may have prepared the paths of an earlier attempt's workspace, so no symbolic link is followed in them.

use std::{borrow::Cow, io, path::Path};

use interlock_beneath::Folder;
use rustix::{
    fd::{AsRawFd, OwnedFd},
    fs::{CWD, Mode, OFlags, ResolveFlags, openat2},
    mount::{MountFlags, mount, mount_bind},
};

use super::Refusal;
use crate::View;

/// Mounts all views. All directories are opened first, because a view can cover the place of a later one. `temp` is the
/// private temporary directory of the program.
pub(super) fn mount_all(views: &[View], temp: &Path, is_possible: bool) -> Result<(), Refusal> {
    if views.is_empty() {
        return Ok(());
    }
    if !is_possible {
        return Err(Refusal::cannot(
            "a directory can be shown at another place only in namespaces made by Landlock's launcher",
        ));
    }
    let opened: Vec<Opened> = views.iter().map(|view| Opened::new(view, temp)).collect::<io::Result<_>>()?;
    opened.iter().try_for_each(|view| {
        let wrong = |error| io::Error::other(format!("{} cannot be shown: {error}", view.at.display()));
        view.mount().map_err(wrong).map_err(Refusal::from)
    })
}

/// A view with its open directories.
struct Opened<'v> {
    at: Cow<'v, Path>,
    shows: OwnedFd,
    writes: Option<(OwnedFd, OwnedFd)>,
}

impl<'v> Opened<'v> {
    fn new(view: &'v View, temp: &Path) -> io::Result<Self> {
        let at = match view.at.is_relative() {
            true => {
                Folder::open(temp)?.make_folders(&view.at)?;
                Cow::Owned(temp.join(&view.at))
            }
            false => Cow::Borrowed(&*view.at),
        };
        let writes = match &view.writes {
            Some(folder) => Some((open(&folder.join("upper"))?, open(&folder.join("work"))?)),
            None => None,
        };
        Ok(Opened { at, shows: open(&view.shows)?, writes })
    }

    fn mount(&self) -> io::Result<()> {
        // The place is opened without links too; the mount then goes through the descriptor.
        let place = open(&self.at)?;
        let at = path(&place);
        let Some((upper, work)) = &self.writes else { return Ok(mount_bind(path(&self.shows), at)?) };
        let options = format!("lowerdir={},upperdir={},workdir={}", path(&self.shows), path(upper), path(work));
        let flags = MountFlags::NOSUID | MountFlags::NODEV;
        let overlay = |options: String| {
            let options = std::ffi::CString::new(options).map_err(io::Error::other)?;
            mount("overlay", at.as_str(), "overlay", flags, options.as_c_str()).map_err(io::Error::from)
        };
        // In a user namespace, overlays keep their marks in attributes that users may set.
        overlay(options.clone()).or_else(|_| overlay(format!("{options},userxattr")))
    }
}

fn open(folder: &Path) -> io::Result<OwnedFd> {
    let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
    openat2(CWD, folder, flags, Mode::empty(), ResolveFlags::NO_SYMLINKS).map_err(|error| {
        let error = io::Error::from(error);
        io::Error::new(error.kind(), format!("{}: {error}", folder.display()))
    })
}

fn path(open: &OwnedFd) -> String {
    format!("/proc/self/fd/{}", open.as_raw_fd())
}
