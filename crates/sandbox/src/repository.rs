//! What belongs to a workspace: the repository around a folder, where git keeps its data, and what of that a program must not change.
//!
//! Found by looking, not by asking git: it is looked for before every program. A repository's word is not taken for where else its data
//! is: a `.git` file that leads elsewhere is believed only if what is there leads back.

use std::{
    fs,
    path::{Path, PathBuf},
};

/// Lines that git runs commands from, or reads settings from that make it run commands.
const PROTECTED: [&str; 3] = ["config", "config.worktree", "hooks"];

/// The same of a linked worktree, and the files that say where the rest is.
const IN_WORKTREES: [&str; 3] = ["config.worktree", "commondir", "gitdir"];

/// How many submodules are looked after, and how deep they are.
const MODULES_MAX: usize = 200;
const MODULES_DEPTH_MAX: usize = 8;

/// How many linked worktrees are looked after.
const WORKTREES_MAX: usize = 200;

/// The root of the repository that a folder is in, or the folder itself; a real path.
pub fn workspace_of(folder: &Path) -> std::io::Result<PathBuf> {
    let folder = fs::canonicalize(folder)?;
    let root = folder.ancestors().find(|place| fs::symlink_metadata(place.join(".git")).is_ok());
    Ok(root.unwrap_or(&folder).to_owned())
}

/// The directories of git that belong to a workspace: its own, and where it is a linked worktree the repository's.
pub(crate) fn git_folders(workspace: &Path) -> Vec<PathBuf> {
    let own = workspace.join(".git");
    match fs::symlink_metadata(&own) {
        Ok(about) if about.is_dir() => vec![own],
        Ok(about) if about.is_file() => linked(&own).into_iter().collect(),
        _ => Vec::new(),
    }
}

/// The repository of a linked worktree. What the worktree says and what the repository says have to agree.
fn linked(file: &Path) -> Option<PathBuf> {
    let said = |path: &Path| Some(fs::read_to_string(path).ok()?.trim_end_matches('\n').to_owned());
    let folder = file.parent()?.join(said(file)?.strip_prefix("gitdir: ")?);
    let folder = fs::canonicalize(folder).ok()?;
    let back = fs::canonicalize(folder.join(said(&folder.join("gitdir"))?)).ok()?;
    let common = fs::canonicalize(folder.join(said(&folder.join("commondir"))?)).ok()?;
    let agrees = back == fs::canonicalize(file).ok()? && folder.parent()? == common.join("worktrees");
    agrees.then_some(common)
}

/// The paths in a directory of git that a program must not change, there or not: its own, those of submodules and those of linked worktrees.
pub(crate) fn protected(git_folder: &Path) -> Vec<PathBuf> {
    let mut folders = vec![git_folder.to_owned()];
    folders.extend(modules(git_folder));
    let mut paths: Vec<_> = folders.iter().flat_map(|folder| PROTECTED.map(|name| folder.join(name))).collect();
    // A repository of its own has no such file; with one, git takes settings and hooks from where it leads.
    paths.extend(folders.iter().map(|folder| folder.join("commondir")));
    let worktrees = folders_in(&git_folder.join("worktrees")).take(WORKTREES_MAX);
    paths.extend(worktrees.flat_map(|folder| IN_WORKTREES.map(|name| folder.join(name))));
    paths
}

/// The directories of submodules, at any depth: their names may have slashes, and they may have submodules themselves.
fn modules(git_folder: &Path) -> Vec<PathBuf> {
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
