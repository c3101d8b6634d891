//! Brings ignored files of the checkout, which git does not check out, into a new worktree.

use std::path::{Component, Path};

use interlock_beneath::{self as beneath, FileType, Folder};

use super::{Worktree, excluding, text};
use crate::{Error, Result, git::Git};

/// Maximum number of files that are copied, and their size together.
const COPIED_MAX: (usize, u64) = (500_000, 16 << 30);

impl Worktree {
    /// Copies an ignored file or directory of the checkout. A path that does not exist is skipped.
    pub fn copy(&self, path: &str) -> Result<()> {
        let (checkout, tree) = self.both()?;
        match self.is_wanted(path, &checkout, &tree)? {
            true => copy(&checkout, &tree, Path::new(path)).map_err(|error| failed("copy", path, error)),
            false => Ok(()),
        }
    }

    /// Links an ignored file or directory of the checkout. A path that does not exist is skipped.
    pub fn link(&self, path: &str) -> Result<()> {
        let (checkout, tree) = self.both()?;
        if !self.is_wanted(path, &checkout, &tree)? {
            return Ok(());
        }
        tree.symlink(&self.checkout.join(path), Path::new(path)).map_err(|error| failed("make", path, error))?;
        if !is_ignored(&self.path, path)? {
            let _ = tree.remove_file(Path::new(path));
            let hint = "a rule that ends with `/` is for directories and not for a link; remove the `/`, or copy it";
            return Err(Error::Worktree(format!("the link {path} would not be ignored: {hint}")));
        }
        Ok(())
    }

    /// Opens the checkout, in which programs of other runs may work, and the worktree.
    fn both(&self) -> Result<(Folder, Folder)> {
        let open = |path| Folder::open(path).map_err(|error| Error::io("open", path, &error.into()));
        Ok((open(&self.checkout)?, open(&self.path)?))
    }

    /// Checks a path, and makes the directories above it in the worktree. Returns false if there is nothing to bring.
    fn is_wanted(&self, path: &str, checkout: &Folder, tree: &Folder) -> Result<bool> {
        let below = Path::new(path);
        let is_inside = !path.is_empty() && below.components().all(|part| matches!(part, Component::Normal(_)));
        let is_in_git = below.components().any(|part| part.as_os_str().eq_ignore_ascii_case(".git"));
        if !is_inside || is_in_git {
            return Err(Error::Worktree(format!("`{path}` is not a path within the repository")));
        }
        match checkout.stat(below) {
            Err(beneath::Error::Link { .. }) => {
                return Err(Error::Worktree(format!("`{path}` leads through a symbolic link")));
            }
            Err(error) if error.is_absent() => return Ok(false),
            found => found.map_err(|error| failed("read", path, error))?,
        };
        if !is_ignored(&self.checkout, path)? {
            return Err(Error::Worktree(format!("`{path}` is not ignored by git, so it must not be copied or linked")));
        }
        let made = tree.make_folders(below.parent().unwrap_or(Path::new("")));
        made.map_err(|error| failed("make the directory of", path, error))?;
        Ok(tree.kind(below).map_err(|error| failed("read", path, error))?.is_none())
    }
}

/// Copies a file, a link or a directory. Devices, sockets and pipes are left out.
fn copy(from: &Folder, to: &Folder, path: &Path) -> beneath::Result<()> {
    match from.kind(path)? {
        Some(FileType::Symlink) => to.symlink(&from.read_link(path)?, path),
        Some(FileType::RegularFile) => from.copy_file(path, (to, path), COPIED_MAX.1).map(drop),
        Some(FileType::Directory) => {
            to.make_folders(path)?;
            from.folder(path)?.copy_to(&to.folder(path)?, COPIED_MAX, |_| true)
        }
        _ => Ok(()),
    }
}

fn failed(doing: &str, path: &str, error: beneath::Error) -> Error {
    Error::io(doing, Path::new(path), &error.into())
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
