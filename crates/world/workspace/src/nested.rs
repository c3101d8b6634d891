//! Snapshots of nested repositories and submodules.
//!
//! The tree of a workspace holds only the commit that a nested repository has checked out. So its files are a workspace
//! of their own, with a private directory of their own, and every snapshot of the outer workspace has one of each of
//! them. The git directory of a nested repository is not stored; that its commits or references have changed is noticed
//! (`unkept.rs`). No git command is run on it.
//!
//! The files of repositories in nested repositories are noticed and not stored.

#![expect(
    clippy::disallowed_methods,
    reason = "the private directory of a workspace is in the store, which no program can change"
)]

use std::{
    collections::BTreeSet,
    ffi::OsStr,
    fs,
    os::unix::ffi::OsStrExt,
    path::{Path, PathBuf},
};

use interlock_beneath::FileType;
use serde::{Deserialize, Serialize};

use crate::{
    Change, Error, NotKept, Result, Workspace,
    changes::difference,
    listing,
    place::WorkspaceRoot,
    private::Private,
    workspace::{KeptSince, keep_opened_since, name_it, name_part},
};

/// The directory within a private directory with the nested snapshots of each snapshot.
pub(crate) const FOLDER: &str = "nested";

/// Maximum number of nested repositories whose files are stored.
pub(crate) const REPOSITORIES_MAX: usize = 64;

/// The snapshot of a nested repository.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Nested {
    /// Its path, relative to the root of the workspace.
    #[serde(with = "crate::path_text")]
    path: PathBuf,
    /// The name of the snapshot in its own private directory.
    name: String,
    tree: String,
}

/// Takes a snapshot of the nested repositories at these paths.
pub(crate) fn take(workspace: &Workspace, private: &Private, paths: &[Vec<u8>], run: &str) -> Result<Vec<Nested>> {
    let there = paths.iter().map(|path| Path::new(OsStr::from_bytes(path))).filter(|path| is_folder(private, path));
    there.map(|path| new(workspace, private, path, run)).collect()
}

fn new(workspace: &Workspace, private: &Private, path: &Path, run: &str) -> Result<Nested> {
    let (name, tree) = workspace.take_of(&open(workspace, private, path)?, run, None)?;
    Ok(Nested { path: path.to_owned(), name, tree })
}

/// Stores the nested repositories as they are after an attempt: those at these paths and those of the snapshot before.
/// Adds the paths in them that changed and cannot be stored.
pub(crate) fn keep(
    workspace: &Workspace,
    private: &Private,
    before: &str,
    kept_since: &mut KeptSince,
    run: &str,
) -> Result<Vec<Nested>> {
    let KeptSince { nested: paths, not_kept, said, .. } = kept_since;
    let known = read(private, before);
    let found = paths.iter().map(|path| Path::new(OsStr::from_bytes(path)));
    let all: BTreeSet<&Path> = known.iter().map(|nested| nested.path.as_path()).chain(found).collect();
    let mut kept = Vec::new();
    for path in all {
        match (known.iter().find(|nested| nested.path == path), is_folder(private, path)) {
            (None, false) => {}
            (None, true) => kept.push(new(workspace, private, path, run)?),
            (Some(nested), is_there) => {
                let inner = open(workspace, private, path)?;
                let tree = match is_there {
                    true => {
                        let since = keep_opened_since(&inner, &nested.name, &nested.tree)?;
                        said.extend(since.said);
                        not_kept.extend(
                            since.not_kept.into_iter().map(|it| NotKept { path: path.join(it.path), why: it.why }),
                        );
                        since.tree
                    }
                    false => empty(&inner)?,
                };
                let name = match tree == nested.tree {
                    true => nested.name.clone(),
                    false => name_it(&inner, &tree, run, None)?,
                };
                kept.push(Nested { path: path.to_owned(), name, tree });
            }
        }
    }
    Ok(kept)
}

/// Records the nested snapshots of a snapshot.
pub(crate) fn write(private: &Private, name: &str, nested: &[Nested]) -> Result<()> {
    if nested.is_empty() {
        return Ok(());
    }
    let path = file(private, name);
    let written = || {
        fs::create_dir_all(private.folder.join(FOLDER))?;
        let file = tempfile::NamedTempFile::new_in(&private.folder)?;
        serde_json::to_writer(file.as_file(), nested)?;
        file.persist(&path).map(drop).map_err(|error| error.error)
    };
    written().map_err(|error: std::io::Error| Error::io("write", &path, &error))
}

/// Returns the nested snapshots of a snapshot.
pub(crate) fn read(private: &Private, name: &str) -> Vec<Nested> {
    let json = fs::read(file(private, name)).unwrap_or_default();
    serde_json::from_slice(&json).unwrap_or_default()
}

/// Returns the changes between two lists of nested snapshots, with paths relative to the root of the workspace.
pub(crate) fn differences(
    workspace: &Workspace,
    private: &Private,
    before: &[Nested],
    after: &[Nested],
) -> Result<Vec<Change>> {
    let all: BTreeSet<&Path> = before.iter().chain(after).map(|nested| nested.path.as_path()).collect();
    let mut changes = Vec::new();
    for path in all {
        let tree = |list: &[Nested]| list.iter().find(|nested| nested.path == path).map(|nested| nested.tree.clone());
        let (old, new) = (tree(before), tree(after));
        if old == new {
            continue;
        }
        let inner = open(workspace, private, path)?;
        let (old, new) = (old.map_or_else(|| empty(&inner), Ok)?, new.map_or_else(|| empty(&inner), Ok)?);
        let found = match listing::difference(&inner, &old, &new) {
            Some(found) => found,
            None => difference(&inner.git(), &old, &new)?,
        };
        let renamed = |from: Option<PathBuf>| from.map(|from| path.join(from));
        changes.extend(found.into_iter().map(|change| Change {
            path: path.join(&change.path),
            renamed_from: renamed(change.renamed_from),
            ..change
        }));
    }
    Ok(changes)
}

/// Returns the private directories of the nested snapshots of these snapshots.
pub(crate) fn stores<'n>(
    workspace: &Workspace,
    private: &Private,
    names: impl Iterator<Item = &'n str>,
) -> Result<Vec<Private>> {
    let paths: BTreeSet<PathBuf> = names.flat_map(|name| read(private, name)).map(|nested| nested.path).collect();
    let read = |path: &PathBuf| {
        let place = WorkspaceRoot { root: private.place.root.join(path), repository: None };
        match Private::existing_nested(workspace.home()?, place, &private.place.root) {
            Some(inner) => Ok(inner),
            None => open(workspace, private, path),
        }
    };
    paths.iter().map(read).collect()
}

/// Returns the private directories of all nested snapshots of a run, whose names have this prefix.
pub(crate) fn stores_of_run(workspace: &Workspace, private: &Private, prefix: &str) -> Result<Vec<Private>> {
    let files = fs::read_dir(private.folder.join(FOLDER)).into_iter().flatten().flatten();
    let of_run = files.filter(|file| file.file_name().as_bytes().starts_with(name_part(prefix).as_bytes()));
    let lists = of_run.filter_map(|file| serde_json::from_slice::<Vec<Nested>>(&fs::read(file.path()).ok()?).ok());
    let paths: BTreeSet<PathBuf> = lists.flatten().map(|nested| nested.path).collect();
    paths.iter().map(|path| open(workspace, private, path)).collect()
}

fn file(private: &Private, name: &str) -> PathBuf {
    private.folder.join(FOLDER).join(name_part(name))
}

fn open(workspace: &Workspace, private: &Private, path: &Path) -> Result<Private> {
    let place = WorkspaceRoot { root: private.place.root.join(path), repository: None };
    Private::open_nested(workspace.home()?, place, &private.place.root)
}

/// Returns true if there is a directory at a path and no link on the way to it.
fn is_folder(private: &Private, path: &Path) -> bool {
    let root = interlock_beneath::Folder::open(&private.place.root);
    root.is_ok_and(|root| matches!(root.kind(path), Ok(Some(FileType::Directory))))
}

fn empty(private: &Private) -> Result<String> {
    let tree = private.git().run_with(&["mktree"], b"")?;
    Ok(String::from_utf8_lossy(&tree).trim_end().to_owned())
}
