//! The temporary directories of programs.
//!
//! They lie in one directory per user, which is closed to programs: each can read its own one only. Programs of the same
//! user could otherwise read each other's. It lies outside of the workspace: a program could put a link in its place there,
//! and the next one would get a directory behind that link.

use std::{
    fs::{DirBuilder, Permissions},
    io,
    os::unix::fs::{DirBuilderExt, PermissionsExt},
    path::{Path, PathBuf},
};

use interlock_beneath::{FileType, Folder};
use tempfile::TempDir;

use crate::guard::Refusal;

/// How many names are tried if another user has taken one.
const NAMES_MAX: u32 = 16;

/// Directories for temporary files of a system, in which nobody can rename what belongs to others.
const USUAL: [&str; 2] = ["/tmp", "/var/tmp"];

/// Makes a temporary directory, and returns it with the closed directory around it. If `temp` is in the workspace, it is
/// made in a usual place.
#[expect(clippy::disallowed_methods, reason = "the directory around it is closed to programs")]
pub(crate) fn make(temp: &Path, workspace: &Path) -> io::Result<(TempDir, PathBuf)> {
    let places = [temp].into_iter().chain(USUAL.map(Path::new));
    let temp = places.into_iter().find(|place| !leads_through(place, workspace)).ok_or_else(|| within(temp))?;
    let temp = temp.canonicalize()?;
    let user = rustix::process::getuid().as_raw();
    let names = (0..NAMES_MAX).map(|number| match number {
        0 => format!("interlock-temp-{user}"),
        number => format!("interlock-temp-{user}-{number}"),
    });
    let above = names.map(|name| temp.join(name)).find(|above| is_own(above));
    let above = above.ok_or_else(|| io::Error::other(format!("{} has no place for a directory", temp.display())))?;
    let own = tempfile::Builder::new().prefix("").permissions(Permissions::from_mode(0o700)).tempdir_in(&above)?;
    Ok((own, above))
}

/// Returns true if a path or a directory above it is in the workspace, wherever a link there leads.
fn leads_through(path: &Path, workspace: &Path) -> bool {
    path.ancestors().filter_map(|above| above.canonicalize().ok()).any(|above| above.starts_with(workspace))
}

fn within(temp: &Path) -> io::Error {
    let temp = temp.display();
    Refusal(format!("{temp} is in the workspace. Set TMPDIR to a directory outside of it")).into()
}

/// Makes a directory of the user unless it exists. Returns false if something else is there.
#[expect(clippy::disallowed_methods, reason = "what is there already is looked at without following a link")]
fn is_own(above: &Path) -> bool {
    let _ = DirBuilder::new().mode(0o700).create(above);
    let about = Folder::above(above).and_then(|(folder, name)| folder.stat(&name));
    about.is_ok_and(|about| {
        FileType::from_raw_mode(about.st_mode) == FileType::Directory
            && about.st_uid == rustix::process::getuid().as_raw()
            && about.st_mode & 0o077 == 0
    })
}
