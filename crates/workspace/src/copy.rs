//! Copies of a workspace elsewhere.
//!
//! Whoever builds and tests what is not yet known to be good does it in such a copy. Its index lies beside it, so that bringing it to another tree
//! writes only the files that differ: what is built from the others stays good.

use std::{
    ffi::OsString,
    fs,
    path::{Path, PathBuf},
};

use crate::{Error, Result, Workspace, git::Git, private::Private, workspace::full_hash};

impl Workspace {
    /// Makes a folder outside of the workspace what a kept tree is. Files in it that are in no tree, as those a build makes, stay.
    pub fn copy_tree(&self, folder: &Path, tree: &str, into: &Path) -> Result<()> {
        let private = self.open_private(folder)?;
        let tree = full_hash(tree)?;
        match bring(&private, tree, into) {
            // Somebody who was cut off may have left it locked, or half an index: then it is made anew.
            Err(Error::Git { .. }) if into.exists() => {
                remove(into)?;
                bring(&private, tree, into)
            }
            other => other,
        }
    }
}

impl Workspace {
    /// Writes a kept tree into a folder that is empty, and nothing beside it.
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
    // What was changed in the copy itself is put back as well: with both options each file is looked at.
    git.for_a_moment().run(&["read-tree", "--reset", "-u", tree]).map(drop)
}

fn remove(copy: &Path) -> Result<()> {
    for file in [".index", ".index.lock"] {
        let _ = fs::remove_file(beside(copy, file));
    }
    fs::remove_dir_all(copy).map_err(|error| Error::io("remove", copy, &error))
}

/// A file beside a copy, which is no part of it.
fn beside(copy: &Path, ending: &str) -> PathBuf {
    let mut path = OsString::from(copy);
    path.push(ending);
    path.into()
}
