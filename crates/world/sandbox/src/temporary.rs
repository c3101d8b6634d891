//! The temporary directories of programs.
//!
//! They lie in one directory per user, which is closed to programs: each can read its own one only. Programs of the same
//! user could otherwise read each other's.

use std::{
    fs::{DirBuilder, Permissions},
    io,
    os::unix::fs::{DirBuilderExt, PermissionsExt},
    path::{Path, PathBuf},
};

use interlock_beneath::{FileType, Folder};
use tempfile::TempDir;

/// How many names are tried if another user has taken one.
const NAMES_MAX: u32 = 16;

/// Makes a temporary directory, and returns it with the closed directory around it.
#[expect(clippy::disallowed_methods, reason = "the directory around it is closed to programs")]
pub(crate) fn make(temp: &Path) -> io::Result<(TempDir, PathBuf)> {
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
