//! Where a workspace begins and where what is kept of it goes.

use std::{
    fs,
    path::{Path, PathBuf},
};

use serde::{Deserialize, Serialize};

use crate::{Error, Result, commit::setting_path, git::Git, known};

/// A workspace that was found.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Place {
    /// Everything below belongs to it.
    #[serde(with = "crate::path_text")]
    pub(crate) root: PathBuf,
    /// The repository it is, if it is one.
    pub(crate) repository: Option<Repository>,
}

/// The user's repository: what of it is needed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Repository {
    /// The folder of its references and objects.
    #[serde(with = "crate::path_text")]
    pub(crate) git_dir: PathBuf,
    /// Where its `HEAD` and index are: another folder in a further worktree.
    #[serde(with = "crate::path_text")]
    pub(crate) own_git_dir: PathBuf,
    /// What it ignores besides what `.gitignore` files say.
    #[serde(with = "crate::path_text")]
    pub(crate) exclude: PathBuf,
    /// The file with its user's own rules for ignored files.
    #[serde(default, skip_serializing_if = "Option::is_none", with = "crate::path_text::option")]
    pub(crate) users_excludes: Option<PathBuf>,
    /// `sha1` or `sha256`.
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

impl Place {
    /// The repository that the folder is in, or the folder itself.
    pub(crate) fn find(folder: &Path) -> Result<Self> {
        let folder = fs::canonicalize(folder).map_err(|error| Error::io("find", folder, &error))?;
        if let Some(place) = known::recall(&folder) {
            return Ok(place);
        }
        match Git::discover(&folder).line(&QUESTIONS) {
            Ok(answer) => Self::parse(&answer).inspect(|place| known::remember(&folder, place)),
            // Also where it is a repository without files or somewhere inside `.git`.
            Err(Error::Git { .. }) => Ok(Place { root: folder, repository: None }),
            Err(error) => Err(error),
        }
    }

    /// The folder itself, whatever it is in.
    pub(crate) fn alone(folder: &Path) -> Result<Self> {
        let root = fs::canonicalize(folder).map_err(|error| Error::io("find", folder, &error))?;
        Ok(Place { root, repository: None })
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
        Ok(Place { root: root.into(), repository: Some(repository) })
    }
}

/// The file with what a user ignores in every repository, as git finds it. Reading it runs nothing.
fn users_excludes(root: &Path) -> Option<PathBuf> {
    let named = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    let usual = || {
        let settings = named("XDG_CONFIG_HOME").or_else(|| Some(named("HOME")?.join(".config")))?;
        Some(settings.join("git/ignore"))
    };
    setting_path(root, "core.excludesFile").or_else(usual).filter(|path| path.is_file())
}
