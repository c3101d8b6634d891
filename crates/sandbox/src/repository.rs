//! Finds the workspace of a directory, its git directories, and the paths in them that a program must not change.
//!
//! The file system is read directly without calling git, because this happens before every program. A repository is not
//! trusted about the location of its data: a `.git` file that points elsewhere is accepted only if the target points
//! back.

use std::{
    fs,
    path::{Path, PathBuf},
};

/// Files in a git directory that contain commands, or settings that make git run commands.
const PROTECTED: [&str; 3] = ["config", "config.worktree", "hooks"];

/// The same files in a linked worktree, and the files with the location of the repository.
const IN_WORKTREES: [&str; 3] = ["config.worktree", "commondir", "gitdir"];

/// Maximum number of submodules that are protected, and their maximum depth.
const MODULES_MAX: usize = 200;
const MODULES_DEPTH_MAX: usize = 8;

/// Maximum number of linked worktrees that are protected.
const WORKTREES_MAX: usize = 200;

/// Returns the root of the repository that contains a directory, or the directory itself, as a canonical path.
pub fn workspace_of(folder: &Path) -> std::io::Result<PathBuf> {
    let folder = fs::canonicalize(folder)?;
    let root = folder.ancestors().find(|place| fs::symlink_metadata(place.join(".git")).is_ok());
    Ok(root.unwrap_or(&folder).to_owned())
}

/// Returns the git directories of a workspace. For a linked worktree this is the one of the repository.
pub(crate) fn git_folders(workspace: &Path) -> Vec<PathBuf> {
    let own = workspace.join(".git");
    match fs::symlink_metadata(&own) {
        Ok(about) if about.is_dir() => vec![own],
        Ok(about) if about.is_file() => linked(&own).into_iter().collect(),
        _ => Vec::new(),
    }
}

/// Returns the repository of a linked worktree. The worktree and the repository must refer to each other.
fn linked(file: &Path) -> Option<PathBuf> {
    let said = |path: &Path| Some(fs::read_to_string(path).ok()?.trim_end_matches('\n').to_owned());
    let folder = file.parent()?.join(said(file)?.strip_prefix("gitdir: ")?);
    let folder = fs::canonicalize(folder).ok()?;
    let back = fs::canonicalize(folder.join(said(&folder.join("gitdir"))?)).ok()?;
    let common = fs::canonicalize(folder.join(said(&folder.join("commondir"))?)).ok()?;
    let agrees = back == fs::canonicalize(file).ok()? && folder.parent()? == common.join("worktrees");
    agrees.then_some(common)
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
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    entries.filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir())).map(|entry| entry.path())
}
