//! Copies of a workspace in other directories.
//!
//! Changes that are not verified yet are built and tested in such a copy. Its index lies next to it, so that switching
//! to another tree writes only the files that differ, and build results of the other files stay valid.

use std::{
    ffi::OsString,
    fs,
    path::{Path, PathBuf},
};

use crate::{Error, Result, Workspace, git::Git, private::Private, workspace::full_hash};

impl Workspace {
    /// Makes a directory outside the workspace equal to a stored tree. Files that are in no tree, such as build
    /// results, stay.
    pub fn copy_tree(&self, folder: &Path, tree: &str, into: &Path) -> Result<()> {
        let private = self.open_private(folder)?;
        let tree = full_hash(tree)?;
        match bring(&private, tree, into) {
            // An interrupted call may have left a lock file or a partial index. Then the copy is deleted and created
            // again.
            Err(Error::Git { .. }) if into.exists() => {
                remove(into)?;
                bring(&private, tree, into)
            }
            other => other,
        }
    }
}

impl Workspace {
    /// Writes a stored tree into an empty directory, without an index next to it.
    pub fn export_tree(&self, folder: &Path, tree: &str, into: &Path) -> Result<()> {
        let private = self.open_private(folder)?;
        let scratch = private.scratch()?;
        fs::create_dir_all(into).map_err(|error| Error::io("make", into, &error))?;
        let git = Git::new(into, &private.folder).index(&scratch.path().join("index"));
        git.for_a_moment().run(&["read-tree", "--reset", "-u", full_hash(tree)?]).map(drop)
    }
}

fn bring(private: &Private, tree: &str, into: &Path) -> Result<()> {
    fs::create_dir_all(into).map_err(|error| Error::io("make", into, &error))?;
    let git = Git::new(into, &private.folder).objects(&private.objects).index(&beside(into, ".index"));
    // Changes that were made in the copy are reverted too: with both options `git` checks every file.
    git.for_a_moment().run(&["read-tree", "--reset", "-u", tree]).map(drop)
}

fn remove(copy: &Path) -> Result<()> {
    for file in [".index", ".index.lock"] {
        let _ = fs::remove_file(beside(copy, file));
    }
    fs::remove_dir_all(copy).map_err(|error| Error::io("remove", copy, &error))
}

/// Returns the path of a file next to a copy, which is not part of it.
fn beside(copy: &Path, ending: &str) -> PathBuf {
    let mut path = OsString::from(copy);
    path.push(ending);
    path.into()
}
