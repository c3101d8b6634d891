//! Finds the workspace of a directory, its git directories, and the paths in them that a program must not change.
//!
//! Where the workspace and its repository are is decided by `crates/world/git/src/place.rs`, for all of Interlock.

use std::{
    ffi::OsString,
    fs,
    path::{Path, PathBuf},
};

use interlock_beneath::{FileType, Folder};
use interlock_git::{Place, git_dirs};

use crate::gitlinks;

/// Files in a git directory that contain commands, or settings that make git run commands.
const PROTECTED: [&str; 3] = ["config", "config.worktree", "hooks"];

/// The same files in a linked worktree, and the files with the location of the repository.
const IN_WORKTREES: [&str; 3] = ["config.worktree", "commondir", "gitdir"];

/// Maximum number of submodules that are protected, and their maximum depth.
const MODULES_MAX: usize = 200;
const MODULES_DEPTH_MAX: usize = 8;

/// Maximum number of linked worktrees that are protected.
const WORKTREES_MAX: usize = 200;

/// Returns the root of the workspace of a directory as a canonical path.
pub fn workspace_of(folder: &Path) -> std::io::Result<PathBuf> {
    Place::find(folder).map(|place| place.root)
}

/// Returns the git directories of a workspace. For a linked worktree this is the one of the repository.
pub(crate) fn git_folders(workspace: &Path) -> Vec<PathBuf> {
    let own = workspace.join(".git");
    match fs::symlink_metadata(&own).is_ok_and(|about| about.is_dir()) {
        // A directory that is not yet a repository can become one.
        true => vec![own],
        false => git_dirs(workspace).map(|dirs| dirs.common).into_iter().collect(),
    }
}

/// Returns the index of a workspace's repository.
pub(crate) fn index_of(workspace: &Path) -> Option<PathBuf> {
    git_dirs(workspace).map(|dirs| dirs.own.join("index"))
}

/// Returns the paths in a git directory that a program must not change, including those of submodules and linked
/// worktrees. They need not exist.
pub(crate) fn protected(git_folder: &Path) -> Vec<PathBuf> {
    let mut folders = vec![git_folder.to_owned()];
    folders.extend(modules(git_folder));
    let mut paths: Vec<_> = folders.iter().flat_map(|folder| PROTECTED.map(|name| folder.join(name))).collect();
    // A main repository has no such file. If one appears, git reads settings and hooks from its target.
    paths.extend(folders.iter().map(|folder| folder.join("commondir")));
    let worktrees = folders_in(&git_folder.join("worktrees")).take(WORKTREES_MAX);
    paths.extend(worktrees.flat_map(|folder| IN_WORKTREES.map(|name| folder.join(name))));
    paths
}

/// Returns the paths in the repositories that the index of a workspace names, which decide what git does there. They need
/// not exist: one that a program makes would count at once.
pub(crate) fn in_links(workspace: &Path) -> Vec<PathBuf> {
    let of_one = |link: PathBuf| {
        let git = link.join(".git");
        match fs::symlink_metadata(&git).is_ok_and(|about| about.is_dir()) {
            true => PROTECTED.iter().chain(&["commondir"]).map(|name| git.join(name)).collect(),
            false => vec![git],
        }
    };
    gitlinks::of(workspace).into_iter().flat_map(of_one).collect()
}

/// Returns the directories of submodules at any depth: their names may contain slashes, and they may have submodules.
pub(crate) fn modules(git_folder: &Path) -> Vec<PathBuf> {
    let (mut found, mut open) = (Vec::new(), vec![(git_folder.join("modules"), 0)]);
    while let Some((folder, depth)) = open.pop() {
        for folder in folders_in(&folder) {
            if found.len() >= MODULES_MAX || depth >= MODULES_DEPTH_MAX {
                return found;
            }
            match fs::symlink_metadata(folder.join("HEAD")).is_ok() {
                true => {
                    open.push((folder.join("modules"), depth + 1));
                    found.push(folder);
                }
                false => open.push((folder, depth + 1)),
            }
        }
    }
    found
}

fn folders_in(folder: &Path) -> impl Iterator<Item = PathBuf> + use<> {
    let opened = Folder::open(folder).ok();
    let names = opened.as_ref().and_then(|opened| opened.names(Path::new("")).ok()).unwrap_or_default();
    let is_folder = move |name: &OsString| {
        let kind = opened.as_ref().and_then(|opened| opened.kind(name.as_ref()).ok().flatten());
        kind == Some(FileType::Directory)
    };
    let folder = folder.to_owned();
    names.into_iter().filter(is_folder).map(move |name| folder.join(name))
}
