//! Writes files of the workspace so that a reader sees either the old or the new content, and a crash loses neither.
//!
//! Confined programs can change the workspace while Interlock writes to it. A directory that they replace by a link
//! must not lead the write outside, so every directory on the path is opened from its parent without following links.

use std::{
    fs::File,
    io::{self, Write as _},
    os::fd::OwnedFd,
    path::{Component, Path},
};

use interlock_beneath::Folder;
use rustix::fs::{AtFlags, Mode, OFlags, fchmod, mkdirat, openat, renameat, statat, unlinkat};

/// The number of names that are tried for the unfinished file.
const NAMES_MAX: u32 = 16;

/// Replaces the content of a file below `folder`, and creates its directories. The content is durable on return.
pub(crate) fn replace(folder: &Path, path: &Path, content: &[u8]) -> io::Result<()> {
    replace_unless(folder, path, content, || false).map(drop)
}

/// Replaces the content of a file as [`replace`] does, unless `is_stale` returns true in the moment before. Returns
/// whether the file was replaced.
pub(crate) fn replace_unless(
    folder: &Path,
    path: &Path,
    content: &[u8],
    is_stale: impl FnOnce() -> bool,
) -> io::Result<bool> {
    let (parent, name) = open_parent(folder, path)?;
    let mode = match statat(&parent, name, AtFlags::SYMLINK_NOFOLLOW) {
        Ok(found) => Some(Mode::from_raw_mode(found.st_mode)),
        Err(rustix::io::Errno::NOENT) => None,
        Err(error) => return Err(error.into()),
    };
    let (unfinished, mut file) = create(&parent, name)?;
    let written = file.write_all(content).and_then(|()| {
        if let Some(mode) = mode {
            fchmod(&file, mode)?;
        }
        file.sync_all()?;
        if is_stale() {
            return Ok(false);
        }
        renameat(&parent, &*unfinished, &parent, name)?;
        Ok(true)
    });
    if !matches!(written, Ok(true)) {
        let _ = unlinkat(&parent, &*unfinished, AtFlags::empty());
    }
    let is_replaced = written?;
    File::from(parent).sync_all()?;
    Ok(is_replaced)
}

fn create(parent: &OwnedFd, name: &str) -> io::Result<(String, File)> {
    let mut last = rustix::io::Errno::EXIST;
    for number in 0..NAMES_MAX {
        let unfinished = format!(".{name}.{}-{number}.tmp", std::process::id());
        let how = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        match openat(parent, &*unfinished, how, Mode::from_raw_mode(0o666)) {
            Ok(file) => return Ok((unfinished, file.into())),
            Err(error @ rustix::io::Errno::EXIST) => last = error,
            Err(error) => return Err(error.into()),
        }
    }
    Err(last.into())
}

/// Opens the directory of a file, and returns it with the file's name.
fn open_parent<'p>(folder: &Path, path: &'p Path) -> io::Result<(OwnedFd, &'p str)> {
    let outside = || io::Error::new(io::ErrorKind::InvalidInput, format!("{} is not in the workspace", path.display()));
    let name = path.file_name().and_then(|name| name.to_str()).ok_or_else(outside)?;
    let how = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let mut here = OwnedFd::from(Folder::open(folder)?);
    for part in path.parent().into_iter().flat_map(Path::components) {
        let part = match part {
            Component::CurDir => continue,
            Component::Normal(part) => part,
            _ => return Err(outside()),
        };
        here = match openat(&here, part, how | OFlags::NOFOLLOW, Mode::empty()) {
            Err(rustix::io::Errno::NOENT) => {
                mkdirat(&here, part, Mode::from_raw_mode(0o777))?;
                openat(&here, part, how | OFlags::NOFOLLOW, Mode::empty())?
            }
            opened => opened?,
        };
    }
    // A directory that is opened for its path only cannot be synchronized.
    let parent = openat(&here, ".", OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty())?;
    Ok((parent, name))
}

#[cfg(test)]
mod tests {
    use std::{
        fs,
        os::unix::fs::{PermissionsExt as _, symlink},
    };

    use super::*;

    #[test]
    fn a_file_is_replaced_and_keeps_its_mode() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a/b/n.ipynb");
        replace(folder.path(), Path::new("a/b/n.ipynb"), b"one").unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"one");
        fs::set_permissions(&path, fs::Permissions::from_mode(0o640)).unwrap();
        replace(folder.path(), Path::new("a/b/n.ipynb"), b"two").unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"two");
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o640);
        assert_eq!(fs::read_dir(path.parent().unwrap()).unwrap().count(), 1, "no unfinished file is left");
    }

    #[test]
    fn nothing_is_written_outside() {
        let (folder, elsewhere) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        symlink(elsewhere.path(), folder.path().join("link")).unwrap();
        assert!(replace(&folder.path().join("link"), Path::new("n.ipynb"), b"x").is_err(), "the folder itself");
        fs::write(elsewhere.path().join("file"), "theirs").unwrap();
        symlink(elsewhere.path().join("file"), folder.path().join("n.ipynb")).unwrap();
        for path in ["link/n.ipynb", "../n.ipynb", "/tmp/n.ipynb", ".."] {
            assert!(replace(folder.path(), Path::new(path), b"x").is_err(), "{path}");
        }
        replace(folder.path(), Path::new("n.ipynb"), b"ours").unwrap();
        assert_eq!(fs::read(elsewhere.path().join("file")).unwrap(), b"theirs");
        assert!(!folder.path().join("n.ipynb").is_symlink(), "a link in the place of the file is replaced");
    }
}
