//! Brings ignored files of the checkout, which git does not check out, into a new worktree.

use std::{
    fs,
    os::unix::fs::symlink,
    path::{Component, Path},
};

use super::{Worktree, excluding, text};
use crate::{Error, Result, git::Git};

/// Maximum number of files that are copied, and their size together.
const FILES_MAX: u64 = 500_000;
const BYTES_MAX: u64 = 16 * 1_024 * 1_024 * 1_024;

impl Worktree {
    /// Copies an ignored file or directory of the checkout. A path that does not exist is skipped.
    pub fn copy(&self, path: &str) -> Result<()> {
        if !self.is_wanted(path)? {
            return Ok(());
        }
        let mut room = Room { files: FILES_MAX, bytes: BYTES_MAX };
        copy(&self.checkout.join(path), &self.path.join(path), &mut room)
    }

    /// Links an ignored file or directory of the checkout. A path that does not exist is skipped.
    pub fn link(&self, path: &str) -> Result<()> {
        if !self.is_wanted(path)? {
            return Ok(());
        }
        let (from, to) = (self.checkout.join(path), self.path.join(path));
        symlink(from, &to).map_err(|error| Error::io("make", &to, &error))?;
        if !is_ignored(&self.path, path)? {
            let _ = fs::remove_file(&to);
            let hint = "a rule that ends with `/` is for directories and not for a link; remove the `/`, or copy it";
            return Err(Error::Worktree(format!("the link {path} would not be ignored: {hint}")));
        }
        Ok(())
    }

    /// Checks a path. Returns false if there is nothing to bring.
    fn is_wanted(&self, path: &str) -> Result<bool> {
        let is_inside =
            !path.is_empty() && Path::new(path).components().all(|part| matches!(part, Component::Normal(_)));
        let is_in_git = Path::new(path).components().any(|part| part.as_os_str().eq_ignore_ascii_case(".git"));
        if !is_inside || is_in_git {
            return Err(Error::Worktree(format!("`{path}` is not a path within the repository")));
        }
        let from = self.checkout.join(path);
        if fs::symlink_metadata(&from).is_err() {
            return Ok(false);
        }
        let real = from.parent().and_then(|above| above.canonicalize().ok());
        if real.is_none_or(|above| Some(above.as_path()) != from.parent()) {
            return Err(Error::Worktree(format!("`{path}` leads through a symbolic link")));
        }
        if !is_ignored(&self.checkout, path)? {
            return Err(Error::Worktree(format!("`{path}` is not ignored by git, so it must not be copied or linked")));
        }
        let to = self.path.join(path);
        if let Some(above) = to.parent() {
            fs::create_dir_all(above).map_err(|error| Error::io("make", above, &error))?;
        }
        Ok(fs::symlink_metadata(&to).is_err())
    }
}

fn is_ignored(root: &Path, path: &str) -> Result<bool> {
    let git = excluding(Git::discover(root), root);
    match git.run(&["check-ignore", "--quiet", "--", text(Path::new(path))?]) {
        Ok(_) => Ok(true),
        // The exit code is 1 and nothing is printed if the path is not ignored.
        Err(Error::Git { said, .. }) if said.is_empty() => Ok(false),
        Err(error) => Err(error),
    }
}

/// The number of files and bytes that may still be copied.
struct Room {
    files: u64,
    bytes: u64,
}

impl Room {
    fn take(&mut self, bytes: u64) -> Option<()> {
        self.files = self.files.checked_sub(1)?;
        self.bytes = self.bytes.checked_sub(bytes)?;
        Some(())
    }
}

/// Copies a file, a link or a directory. Devices, sockets and pipes are left out.
fn copy(from: &Path, to: &Path, room: &mut Room) -> Result<()> {
    let mut open = vec![(from.to_owned(), to.to_owned())];
    while let Some((from, to)) = open.pop() {
        let wrong = |error: std::io::Error| Error::io("copy", &from, &error);
        let about = fs::symlink_metadata(&from).map_err(wrong)?;
        let too_much = || Error::Worktree(format!("{} is too large to be copied", from.display()));
        room.take(about.len()).ok_or_else(too_much)?;
        if about.is_symlink() {
            fs::read_link(&from).and_then(|target| symlink(target, &to)).map_err(wrong)?;
        } else if about.is_file() {
            fs::copy(&from, &to).map_err(wrong)?;
        } else if about.is_dir() {
            fs::create_dir(&to).map_err(wrong)?;
            for entry in fs::read_dir(&from).map_err(wrong)? {
                let name = entry.map_err(wrong)?.file_name();
                open.push((from.join(&name), to.join(name)));
            }
        }
    }
    Ok(())
}
