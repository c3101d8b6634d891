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

/// How many submodules are looked after.
const MODULES_MAX: usize = 200;

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

/// What a program must not change in a directory of git, there or not, unless it may change that very path.
pub(crate) fn protected(git_folder: &Path, write: &[PathBuf]) -> Vec<PathBuf> {
    let modules = fs::read_dir(git_folder.join("modules")).into_iter().flatten().flatten().take(MODULES_MAX);
    let folders = std::iter::once(git_folder.to_owned()).chain(modules.map(|entry| entry.path()));
    let paths = folders.flat_map(|folder| PROTECTED.map(|name| folder.join(name)));
    paths.filter(|path| !write.contains(path)).collect()
}
