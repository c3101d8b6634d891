//! Copies of a workspace in other directories.
//!
//! Changes that are not verified yet are built and tested in such a copy. Its index lies next to it, so that switching
//! to another tree writes only the files that differ, and build results of the other files stay valid.

#![expect(clippy::disallowed_methods, reason = "no program can change the directory above a copy")]

use std::{
    ffi::OsString,
    fs,
    path::{Path, PathBuf},
};

use interlock_beneath::Folder;
use tempfile::TempDir;

use crate::{Error, Result, Workspace, checkout, git::Git, private::Private, workspace::full_hash};

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
    /// Writes a stored tree into an empty directory, without an index next to it. No program works there yet.
    pub fn export_tree(&self, folder: &Path, tree: &str, into: &Path) -> Result<()> {
        let private = self.read_private(folder)?;
        let scratch = TempDir::new().map_err(|error| Error::io("write in", &std::env::temp_dir(), &error))?;
        fs::create_dir_all(into).map_err(|error| Error::io("make", into, &error))?;
        let git = Git::new(into, &private.folder).index(&scratch.path().join("index")).filling(into);
        git.for_a_moment().run(&["read-tree", "--reset", "-u", full_hash(tree)?]).map(drop)
    }
}

/// Makes a copy equal to a tree. Programs of the run may work in the copy.
fn bring(private: &Private, tree: &str, into: &Path) -> Result<()> {
    fs::create_dir_all(into).map_err(|error| Error::io("make", into, &error))?;
    let copy = Folder::open_through_links(into).map_err(|error| Error::io("open", into, &error.into()))?;
    let index = beside(into, ".index");
    let git = Git::new(into, &private.folder).objects(&private.objects).index(&index).for_a_moment();
    if index.exists() {
        let gone = git.paths(&["diff-index", "--cached", "--name-only", "--diff-filter=A", "-z", tree])?;
        gone.iter().rev().try_for_each(|path| checkout::remove(&copy, path))?;
    }
    git.run(&["read-tree", "--reset", tree])?;
    // Git compares every file with the index, so changes that were made in the copy are reverted too.
    let differing = git.paths(&["diff-files", "--raw", "--no-renames", "-z"])?;
    let differing = differing.chunks_exact(2).filter_map(|pair| checkout::File::before(&pair[0], &pair[1]));
    checkout::write(&git, &copy, &differing.collect::<Vec<_>>())?;
    git.run(&["update-index", "-q", "--refresh"]).map(drop)
}

fn remove(copy: &Path) -> Result<()> {
    for file in [".index", ".index.lock"] {
        let _ = fs::remove_file(beside(copy, file));
    }
    let above = copy.parent().unwrap_or(copy);
    let removed = Folder::open_through_links(above)
        .and_then(|above| above.remove_all(Path::new(copy.file_name().unwrap_or_default())));
    removed.map_err(|error| Error::io("remove", copy, &error.into()))
}

/// Returns the path of a file next to a copy, which is not part of it.
fn beside(copy: &Path, ending: &str) -> PathBuf {
    let mut path = OsString::from(copy);
    path.push(ending);
    path.into()
}
