//! The root of a workspace and the parts of the user's repository that the crate needs. Where they are is decided by
//! `crates/world/git/src/place.rs`.

use std::{
    fs,
    path::{Path, PathBuf},
};

use interlock_git::Place;
use serde::{Deserialize, Serialize};

use crate::{Error, Result, commit::setting_path, git::Git, known};

/// A workspace: its root and its repository.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct WorkspaceRoot {
    /// The root directory. Everything below belongs to the workspace.
    #[serde(with = "crate::path_text")]
    pub(crate) root: PathBuf,
    /// The repository of the workspace, if it is in one.
    pub(crate) repository: Option<Repository>,
}

/// The parts of the user's repository that the crate needs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Repository {
    /// The directory with its references and objects.
    #[serde(with = "crate::path_text")]
    pub(crate) git_dir: PathBuf,
    /// The directory with its `HEAD` and index. It differs from `git_dir` in a linked worktree.
    #[serde(with = "crate::path_text")]
    pub(crate) own_git_dir: PathBuf,
    /// The file `info/exclude` with rules for ignored files besides the `.gitignore` files.
    #[serde(with = "crate::path_text")]
    pub(crate) exclude: PathBuf,
    /// The file with the user's global rules for ignored files.
    #[serde(default, skip_serializing_if = "Option::is_none", with = "crate::path_text::option")]
    pub(crate) users_excludes: Option<PathBuf>,
    /// The hash algorithm: `sha1` or `sha256`.
    pub(crate) format: String,
}

impl Repository {
    /// Returns calls of git that may change this repository, and nothing else.
    pub(crate) fn git(&self, root: &Path) -> Git {
        Git::of(root, &self.own_git_dir, &self.git_dir)
    }
}

impl WorkspaceRoot {
    /// Returns the workspace of a directory.
    pub(crate) fn find(folder: &Path) -> Result<Self> {
        let place = Place::find(folder).map_err(|error| match error.kind() {
            std::io::ErrorKind::Other => Error::GitStopped(error.to_string()),
            _ => Error::io("find", folder, &error),
        })?;
        let Place { root, repository: Some(dirs) } = place else {
            return Ok(WorkspaceRoot { root: place.root, repository: None });
        };
        let repository = known::recall(&root, &dirs).unwrap_or_else(|| {
            let repository = Repository {
                exclude: dirs.common.join("info/exclude"),
                users_excludes: users_excludes(&root),
                format: dirs.object_format(),
                git_dir: dirs.common,
                own_git_dir: dirs.own,
            };
            known::remember(&root, &repository);
            repository
        });
        Ok(WorkspaceRoot { root, repository: Some(repository) })
    }

    /// Returns the directory itself as a workspace, even if it is in a repository.
    pub(crate) fn alone(folder: &Path) -> Result<Self> {
        let root = fs::canonicalize(folder).map_err(|error| Error::io("find", folder, &error))?;
        Ok(WorkspaceRoot { root, repository: None })
    }

    /// Returns the directories of its repository.
    pub(crate) fn git_dirs(&self) -> Vec<PathBuf> {
        let repository = self.repository.iter();
        repository.flat_map(|repository| [repository.git_dir.clone(), repository.own_git_dir.clone()]).collect()
    }
}

/// Returns the user's global ignore file by git's rules. Reading this setting runs no program.
pub(crate) fn users_excludes(root: &Path) -> Option<PathBuf> {
    let named = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    let usual = || {
        let settings = named("XDG_CONFIG_HOME").or_else(|| Some(named("HOME")?.join(".config")))?;
        Some(settings.join("git/ignore"))
    };
    setting_path(root, "core.excludesFile").or_else(usual).filter(|path| path.is_file())
}
