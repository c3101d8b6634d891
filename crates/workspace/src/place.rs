//! Where a workspace begins and where what is kept of it goes.

use std::{
    fs,
    path::{Path, PathBuf},
};

use crate::{Error, Result, git::Git, known};

/// A workspace that was found.
#[derive(Clone, Debug)]
pub(crate) struct Place {
    /// Everything below belongs to it.
    pub(crate) root: PathBuf,
    /// The repository it is, if it is one.
    pub(crate) repository: Option<Repository>,
}

/// The user's repository: what of it is needed.
#[derive(Clone, Debug)]
pub(crate) struct Repository {
    /// Where its references are: those of snapshots are kept there, so that its own housekeeping spares them.
    pub(crate) git_dir: PathBuf,
    /// Where its `HEAD` and index are: another folder in a further worktree.
    pub(crate) own_git_dir: PathBuf,
    pub(crate) objects: PathBuf,
    /// What it ignores besides what `.gitignore` files say.
    pub(crate) exclude: PathBuf,
    /// `sha1` or `sha256`.
    pub(crate) format: String,
}

const QUESTIONS: [&str; 10] = [
    "rev-parse",
    "--path-format=absolute",
    "--show-toplevel",
    "--git-common-dir",
    "--git-dir",
    "--git-path",
    "objects",
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
        let [root, git_dir, own_git_dir, objects, exclude, format] = lines[..] else {
            let said = format!("its answer has {} lines; is there a line break in a path?", lines.len());
            return Err(Error::Git { doing: "rev-parse".into(), said });
        };
        let repository = Repository {
            git_dir: git_dir.into(),
            own_git_dir: own_git_dir.into(),
            objects: objects.into(),
            exclude: exclude.into(),
            format: format.to_owned(),
        };
        Ok(Place { root: root.into(), repository: Some(repository) })
    }
}
