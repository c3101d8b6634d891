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

use crate::{gitlinks, guard::Refusal};

/// Files in a git directory that contain commands, or settings that make git run commands.
const PROTECTED: [&str; 3] = ["config", "config.worktree", "hooks"];

/// The same files in a linked worktree, and the files with the location of the repository.
const IN_WORKTREES: [&str; 3] = ["config.worktree", "commondir", "gitdir"];

/// The settings files of a repository.
const SETTINGS: [&str; 2] = ["config", "config.worktree"];

/// Maximum number of submodules that are protected, and their maximum depth. With more no program starts.
const MODULES_MAX: usize = 1_000;
const MODULES_DEPTH_MAX: usize = 8;

/// Maximum number of linked worktrees that are protected.
const WORKTREES_MAX: usize = 1_000;

/// Maximum size of a file with a path.
const PATH_BYTES_MAX: u64 = 64 * 1_024;

/// A repository in a workspace, or the workspace's own.
#[derive(Debug)]
pub(crate) struct Repository {
    /// The git directory.
    pub(crate) folder: PathBuf,
    /// The work trees, as far as they do not follow from the settings.
    pub(crate) roots: Vec<PathBuf>,
    /// The settings files, which need not exist.
    pub(crate) settings: Vec<PathBuf>,
    /// True if the index names it. Then `.git` may be missing, or a file.
    pub(crate) is_link: bool,
}

impl Repository {
    fn new(folder: &Path, roots: Vec<PathBuf>) -> Self {
        let settings = SETTINGS.map(|name| folder.join(name)).to_vec();
        Repository { folder: folder.to_owned(), roots, settings, is_link: false }
    }
}

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

/// Returns the repositories that git works with in a workspace: its own, those of submodules, and those in the index.
pub(crate) fn all(workspace: &Path) -> Result<Vec<Repository>, Refusal> {
    let mut all = Vec::new();
    for folder in git_folders(workspace) {
        let mut own = Repository::new(&folder, vec![workspace.to_owned()]);
        for worktree in worktrees(&folder)? {
            own.roots.extend(root_of(&worktree));
            own.settings.push(worktree.join("config.worktree"));
        }
        all.push(own);
        all.extend(modules(&folder)?.iter().map(|folder| Repository::new(folder, Vec::new())));
    }
    let links = gitlinks::of(workspace)?.into_iter();
    all.extend(links.map(|link| Repository { is_link: true, ..Repository::new(&link.join(".git"), vec![link]) }));
    Ok(all)
}

/// Returns the work tree of a linked worktree's git directory.
fn root_of(worktree: &Path) -> Option<PathBuf> {
    let file = interlock_beneath::whole::read(worktree.join("gitdir"), PATH_BYTES_MAX).ok()?;
    let path = PathBuf::from(String::from_utf8(file).ok()?.trim_end_matches('\n'));
    worktree.join(path).parent().map(Path::to_owned)
}

/// Returns the paths in a git directory that a program must not change, including those of submodules and linked
/// worktrees. They need not exist.
pub(crate) fn protected(git_folder: &Path) -> Result<Vec<PathBuf>, Refusal> {
    let mut folders = vec![git_folder.to_owned()];
    folders.extend(modules(git_folder)?);
    let mut paths: Vec<_> = folders.iter().flat_map(|folder| PROTECTED.map(|name| folder.join(name))).collect();
    // A main repository has no such file. If one appears, git reads settings and hooks from its target.
    paths.extend(folders.iter().map(|folder| folder.join("commondir")));
    let worktrees = worktrees(git_folder)?.into_iter();
    paths.extend(worktrees.flat_map(|folder| IN_WORKTREES.map(|name| folder.join(name))));
    Ok(paths)
}

/// Returns the git directories of linked worktrees.
fn worktrees(git_folder: &Path) -> Result<Vec<PathBuf>, Refusal> {
    let folder = git_folder.join("worktrees");
    let found: Vec<_> = folders_in(&folder).collect();
    match found.len() > WORKTREES_MAX {
        true => Err(too_many("linked worktrees", WORKTREES_MAX, &folder)),
        false => Ok(found),
    }
}

/// Refuses to start a program: what is beyond a bound could be changed by it, and would start programs outside.
fn too_many(what: &str, max: usize, place: &Path) -> Refusal {
    let place = place.display();
    Refusal(format!(
        "{place} has more than {max} {what}, and each must be guarded while a program works. Remove those that are not needed"
    ))
}

/// Returns the paths in the repositories that the index names, which decide what git does there. They need
/// not exist: one that a program makes would count at once.
pub(crate) fn in_links(repositories: &[Repository]) -> Vec<PathBuf> {
    let of_one = |git: &PathBuf| match fs::symlink_metadata(git).is_ok_and(|about| about.is_dir()) {
        true => PROTECTED.iter().chain(&["commondir"]).map(|name| git.join(name)).collect(),
        false => vec![git.clone()],
    };
    let links = repositories.iter().filter(|repository| repository.is_link);
    links.flat_map(|link| of_one(&link.folder)).collect()
}

/// Returns the directories of submodules at any depth: their names may contain slashes, and they may have submodules.
pub(crate) fn modules(git_folder: &Path) -> Result<Vec<PathBuf>, Refusal> {
    let (mut found, mut open) = (Vec::new(), vec![(git_folder.join("modules"), 0)]);
    while let Some((folder, depth)) = open.pop() {
        for folder in folders_in(&folder) {
            if found.len() >= MODULES_MAX {
                return Err(too_many("repositories of submodules", MODULES_MAX, git_folder));
            }
            if depth >= MODULES_DEPTH_MAX {
                return Err(too_many("directories of submodules in each other", MODULES_DEPTH_MAX, git_folder));
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
    Ok(found)
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

#[cfg(test)]
mod tests {
    use super::*;

    /// What lies beyond a bound is refused by name, and not left without a guard.
    #[test]
    fn more_repositories_than_can_be_guarded_are_refused() {
        let top = tempfile::tempdir().unwrap();
        let git = fs::canonicalize(top.path()).unwrap().join(".git");
        for n in 0..=WORKTREES_MAX {
            fs::create_dir_all(git.join(format!("worktrees/{n}"))).unwrap();
        }
        assert!(protected(&git).unwrap_err().0.contains("more than 1000 linked worktrees"));
        fs::remove_dir_all(git.join("worktrees")).unwrap();
        for n in 0..=MODULES_MAX {
            fs::create_dir_all(git.join(format!("modules/{n}"))).unwrap();
            fs::write(git.join(format!("modules/{n}/HEAD")), "").unwrap();
        }
        assert!(protected(&git).unwrap_err().0.contains("more than 1000 repositories of submodules"));
        fs::remove_dir_all(git.join("modules")).unwrap();
        fs::create_dir_all(git.join("modules/a/b/c/d/e/f/g/h/i/j")).unwrap();
        assert!(protected(&git).unwrap_err().0.contains("more than 8 directories"));
    }
}
