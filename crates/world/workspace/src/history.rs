//! Reads the user's repository: diffs, the log, and commits that programs have made. Nothing is written, and no program that the repository's
//! configuration names is run.

use std::path::Path;

use crate::{Result, Workspace, git::Git, repository};

/// The separator of the fields of a log line: a control character that no name contains.
const FIELD: &str = "%x1f";

impl Workspace {
    /// Returns the diff from a commit to another one, or to the files of the workspace. Only paths at or below `path`
    /// are compared; the empty path stands for all.
    pub fn history_diff(&self, folder: &Path, from: &str, to: Option<&str>, path: &Path) -> Result<Vec<u8>> {
        let plain = [
            "diff",
            "--no-color",
            "--no-ext-diff",
            "--no-textconv",
            "--ignore-submodules=dirty",
            "--end-of-options",
            from,
        ];
        let below = path.to_string_lossy();
        let arguments: Vec<&str> = plain.into_iter().chain(to).chain(limited(&below)).collect();
        literal(folder).without_filters()?.run(&arguments)
    }

    /// Returns the latest commits, one per line: hash, date, author and subject, separated by U+001F.
    pub fn history_log(&self, folder: &Path, path: &Path, at_most: usize) -> Result<String> {
        let (count, form) = (format!("--max-count={at_most}"), format!("--format=%h{FIELD}%as{FIELD}%an{FIELD}%s"));
        let below = path.to_string_lossy();
        let plain = ["log", "--no-color", "--no-show-signature", count.as_str(), form.as_str()];
        let arguments: Vec<&str> = plain.into_iter().chain(limited(&below)).collect();
        literal(folder).line(&arguments)
    }

    /// Refuses the commits and tags that programs have made in the user's repository since a snapshot, if one of them has
    /// a secret.
    pub fn refuse_secrets_since(&self, folder: &Path, before: &str) -> Result<()> {
        let private = self.open_private(folder)?;
        let Some(repository) = &private.place.repository else { return Ok(()) };
        let made = repository::made_since(&private, before);
        made.refuse(&repository.git(&private.place.root), "a commit or tag has a secret", &self.secrets)
    }
}

/// Uses the repository of a directory and takes paths literally, not as patterns.
fn literal(folder: &Path) -> Git {
    Git::discover(folder).var("GIT_LITERAL_PATHSPECS", "1")
}

/// Returns the arguments that limit a call to one path.
fn limited(path: &str) -> impl Iterator<Item = &str> {
    ["--"].into_iter().chain(Some(path).filter(|path| !path.is_empty()))
}
