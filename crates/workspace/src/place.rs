//! Finds the root of a workspace and the parts of the user's repository that the crate needs.

use std::{
    fs,
    path::{Path, PathBuf},
};

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

const QUESTIONS: [&str; 8] = [
    "rev-parse",
    "--path-format=absolute",
    "--show-toplevel",
    "--git-common-dir",
    "--git-dir",
    "--git-path",
    "info/exclude",
    "--show-object-format",
];

impl WorkspaceRoot {
    /// Returns the repository that contains the directory, or the directory itself if there is none.
    pub(crate) fn find(folder: &Path) -> Result<Self> {
        let folder = fs::canonicalize(folder).map_err(|error| Error::io("find", folder, &error))?;
        if let Some(place) = known::recall(&folder) {
            return Ok(place);
        }
        // `git` would look for the same entry, but starting it takes longer than most operations.
        if !folder.ancestors().any(|above| fs::symlink_metadata(above.join(".git")).is_ok()) {
            return Ok(WorkspaceRoot { root: folder, repository: None });
        }
        match Git::discover(&folder).line(&QUESTIONS) {
            Ok(answer) => Self::parse(&answer).inspect(|place| known::remember(&folder, place)),
            // A bare repository and a directory inside `.git` also end here.
            Err(Error::Git { .. }) => Ok(WorkspaceRoot { root: folder, repository: None }),
            Err(error) => Err(error),
        }
    }

    /// Returns the directory itself as a workspace, even if it is in a repository.
    pub(crate) fn alone(folder: &Path) -> Result<Self> {
        let root = fs::canonicalize(folder).map_err(|error| Error::io("find", folder, &error))?;
        Ok(WorkspaceRoot { root, repository: None })
    }

    fn parse(answer: &str) -> Result<Self> {
        let lines: Vec<&str> = answer.lines().collect();
        let [root, git_dir, own_git_dir, exclude, format] = lines[..] else {
            let said = format!("its answer has {} lines; is there a line break in a path?", lines.len());
            return Err(Error::Git { doing: "rev-parse".into(), said });
        };
        let repository = Repository {
            git_dir: git_dir.into(),
            own_git_dir: own_git_dir.into(),
            exclude: exclude.into(),
            users_excludes: users_excludes(Path::new(root)),
            format: format.to_owned(),
        };
        Ok(WorkspaceRoot { root: root.into(), repository: Some(repository) })
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
