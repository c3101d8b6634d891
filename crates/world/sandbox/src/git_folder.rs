//! The `.git` directory of a workspace, held open while a program works there.
//!
//! The program may change what is in it, so its content is not guarded as a whole. But it could rename the directory and make
//! another repository in its place. Then the one that was there is put back when the program has ended.

use std::{
    fs,
    os::fd::{AsFd, AsRawFd},
    path::{Path, PathBuf},
};

use interlock_beneath::{Folder, Stat};

use crate::Breach;

/// The name of the directory with the repository.
const NAME: &str = ".git";

/// The name of what was in its place, if the repository was moved into that.
const ASIDE: &str = ".interlock-aside-git";

#[derive(Debug)]
pub(crate) struct GitFolder {
    workspace: PathBuf,
    held: Folder,
    identity: (u64, u64),
}

impl GitFolder {
    /// Opens the `.git` directory of a workspace, if it has one.
    pub(crate) fn of(workspace: &Path) -> Option<Self> {
        let held = Folder::open(&workspace.join(NAME)).ok()?;
        let identity = identity(&held.stat(Path::new("")).ok()?);
        Some(GitFolder { workspace: workspace.to_owned(), held, identity })
    }

    /// Puts the directory back if another one, or nothing, is in its place.
    pub(crate) fn restore(&self) -> Option<Breach> {
        let root = Folder::open(&self.workspace).ok()?;
        let name = Path::new(NAME);
        if self.is_at(&root, name) {
            return None;
        }
        let path = self.workspace.join(NAME);
        let shown = path.display();
        let said = match self.found().filter(|found| self.is_at(&root, found)) {
            None => format!("{shown} was removed or moved out of the workspace, and could not be put back"),
            Some(found) => match put(&root, &found, name) {
                Ok(Some(aside)) => {
                    let aside = self.workspace.join(aside);
                    format!("{shown} was replaced and put back; what was in its place is {} now", aside.display())
                }
                Ok(None) => format!("{shown} was renamed to {} and put back", found.display()),
                Err(error) => format!("{shown} is {} now and could not be put back: {error}", found.display()),
            },
        };
        Some(Breach { path: Some(path), ..Breach::new("git.protected", said) })
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
fn put(root: &Folder, found: &Path, name: &Path) -> interlock_beneath::Result<Option<PathBuf>> {
    if root.kind(name)?.is_none() {
        return root.rename_to_free(found, name).map(|()| None);
    }
    // A directory cannot be exchanged with one that lies in it.
    let aside = if found.starts_with(name) { Path::new(ASIDE) } else { found };
    if aside != found {
        root.rename_to_free(found, aside)?;
    }
    root.exchange(aside, name).map(|()| Some(aside.to_owned()))
}

fn identity(about: &Stat) -> (u64, u64) {
    (about.st_dev, about.st_ino)
}
