//! Copies of a workspace elsewhere.
//!
//! Whoever builds and tests what is not yet known to be good does it in such a copy. Its index lies beside it, so that bringing it to another tree
//! writes only the files that differ: what is built from the others stays good.

use std::{
    ffi::OsString,
    fs,
    path::{Path, PathBuf},
};

use crate::{Error, Result, Workspace, git::Git, private::Private};

impl Workspace {
    /// Makes a folder outside of the workspace what a kept tree is. Files in it that are in no tree, as those a build makes, stay.
    pub fn copy_tree(&self, folder: &Path, tree: &str, into: &Path) -> Result<()> {
        let private = self.open_private(folder)?;
        fs::create_dir_all(into).map_err(|error| Error::io("make", into, &error))?;
        copy_of(&private, into).bring(tree)
    }
}

/// A copy, and the index that knows what is in it.
struct Copy {
    git: Git,
}

fn copy_of(private: &Private, into: &Path) -> Copy {
    let git = Git::new(into, &private.folder).objects(&private.objects).index(&beside(into, ".index"));
    Copy { git: git.for_a_moment() }
}

impl Copy {
    fn bring(&self, tree: &str) -> Result<()> {
        let is_hash = tree.len() >= 40 && tree.bytes().all(|byte| byte.is_ascii_hexdigit());
        if !is_hash {
            return Err(Error::NoSnapshot(tree.to_owned()));
        }
        // What was changed in the copy itself is put back as well: with both options each file is looked at.
        self.git.run(&["read-tree", "--reset", "-u", tree]).map(drop)
    }
}

/// A file beside a copy, which is no part of it.
fn beside(copy: &Path, ending: &str) -> PathBuf {
    let mut path = OsString::from(copy);
    path.push(ending);
    path.into()
}
