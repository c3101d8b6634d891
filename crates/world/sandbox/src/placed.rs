//! Directories of a workspace that must stay at their paths while a program works there, held open meanwhile: `.git`, and
//! the directory of the run with those above it.
//!
//! The program may change what is in them, so their content is not guarded as a whole. But it could rename one and put
//! another repository, or a link, in its place. Interlock works at these paths without a sandbox, and gives the next
//! program access to them. So the directory that was there is put back when the program has ended.

use std::{
    fs,
    os::fd::{AsFd, AsRawFd},
    path::{Path, PathBuf},
};

use interlock_beneath::{FileType, Folder, Stat};

use crate::{
    Breach, PROJECT_PROTECTED,
    baseline::Claims,
    guard::{GIT_PROTECTED, Refusal},
};

/// The name of the directory with the repository.
const GIT: &str = ".git";

/// The name of what was in the place of a directory that was moved into that.
const ASIDE: &str = ".interlock-aside-git";

#[derive(Debug)]
pub(crate) struct PlacedFolder {
    workspace: PathBuf,
    /// The path in the workspace.
    path: PathBuf,
    held: Folder,
    identity: (u64, u64),
}

impl PlacedFolder {
    /// Opens a directory of a workspace, if it is there.
    fn of(workspace: &Path, path: &Path) -> Option<Self> {
        let held = Folder::open(workspace).ok()?.folder(path).ok()?;
        let identity = identity(&held.stat(Path::new("")).ok()?);
        Some(PlacedFolder { workspace: workspace.to_owned(), path: path.to_owned(), held, identity })
    }

    /// Opens the `.git` directory of a workspace, if it has one. Fails if it is another one than before the first of the
    /// open attempts: everything that this attempt would protect is read from there.
    pub(crate) fn git(workspace: &Path, claims: &mut Claims) -> Result<Option<Self>, Refusal> {
        let path = workspace.join(GIT);
        let now = PlacedFolder::of(workspace, Path::new(GIT));
        let identity = now.as_ref().map(|now| now.identity);
        match claims.place(&path, identity) {
            before if before == identity => Ok(now),
            _ => Err(Refusal(format!(
                "{} was replaced by a program of another attempt, which is still working. Wait until it ends, or end that run",
                path.display()
            ))),
        }
    }

    /// Opens a directory in a workspace and those above it, the highest one first.
    pub(crate) fn on_the_way(workspace: &Path, folder: &Path) -> Vec<Self> {
        let Ok(below) = folder.strip_prefix(workspace) else { return Vec::new() };
        let mut paths: Vec<_> = below.ancestors().filter(|path| !path.as_os_str().is_empty()).collect();
        paths.reverse();
        paths.into_iter().filter_map(|path| PlacedFolder::of(workspace, path)).collect()
    }

    /// Puts the directory back if something else is in its place.
    pub(crate) fn restore(&self) -> Option<Breach> {
        let root = Folder::open(&self.workspace).ok()?;
        let is_git = self.path == Path::new(GIT);
        // Other directories may be removed and made anew, as git does when it switches branches.
        let is_wrong = || is_git || matches!(root.kind(&self.path), Ok(Some(FileType::Symlink)));
        if self.is_at(&root, &self.path) || !is_wrong() {
            return None;
        }
        let path = self.workspace.join(&self.path);
        let shown = path.display();
        let said = match self.found().filter(|found| self.is_at(&root, found)) {
            None if is_git => format!("{shown} was removed or moved out of the workspace, and could not be put back"),
            None => match root.replace_folders(&self.path) {
                Ok(()) => format!("{shown} was removed and a link put in its place; it is an empty directory now"),
                Err(error) => format!("{shown} was replaced by a link, which could not be removed: {error}"),
            },
            Some(found) => match put(&root, &found, &self.path) {
                Ok(Some(aside)) => {
                    let aside = self.workspace.join(aside);
                    format!("{shown} was replaced and put back; what was in its place is {} now", aside.display())
                }
                Ok(None) => format!("{shown} was renamed to {} and put back", found.display()),
                Err(error) => format!("{shown} is {} now and could not be put back: {error}", found.display()),
            },
        };
        let rule = if is_git { GIT_PROTECTED } else { PROJECT_PROTECTED };
        Some(Breach { path: Some(path), ..Breach::new(rule, said) })
    }

    fn is_at(&self, root: &Folder, path: &Path) -> bool {
        root.stat(path).is_ok_and(|about| identity(&about) == self.identity)
    }

    /// Returns the present path of the directory, if it is in the workspace.
    fn found(&self) -> Option<PathBuf> {
        let now = fs::read_link(format!("/proc/self/fd/{}", self.held.as_fd().as_raw_fd())).ok()?;
        now.strip_prefix(&self.workspace).ok().map(Path::to_owned)
    }
}

/// Puts the directory at a path in its place again. Returns the path of what was in its place.
fn put(root: &Folder, found: &Path, path: &Path) -> interlock_beneath::Result<Option<PathBuf>> {
    if root.kind(path)?.is_none() {
        return root.rename_to_free(found, path).map(|()| None);
    }
    // A directory cannot be exchanged with one that lies in it.
    let aside = if found.starts_with(path) { Path::new(ASIDE) } else { found };
    if aside != found {
        root.rename_to_free(found, aside)?;
    }
    root.exchange(aside, path).map(|()| Some(aside.to_owned()))
}

fn identity(about: &Stat) -> (u64, u64) {
    (about.st_dev, about.st_ino)
}
