//! Checkpoints with a git tag in the user's repository. The tag names a commit of all files, untracked ones included, on
//! top of the commit that is checked out; no branch contains it.
//!
//! The files are restored from the store's own snapshot. The tag is for people and for other programs.

use std::path::Path;

use crate::{
    Checkpoint, Error, Result, Workspace,
    commit::Committer,
    place::{Repository, WorkspaceRoot},
    private::Private,
};

/// The maximum number of tags with the same name and different numbers.
const NUMBERS_MAX: u32 = 10_000;

impl Workspace {
    /// Stores a checkpoint and tags it, under a name that neither the run's checkpoints nor the repository's tags have:
    /// `NAME`, `NAME-2`, `NAME-3`, …. If a tag with this message exists, an interrupted call has made it, and its
    /// checkpoint is returned. Without a repository there is no tag.
    pub fn tagged_checkpoint(&self, folder: &Path, run: &str, name: &str, message: &str) -> Result<Checkpoint> {
        let place = WorkspaceRoot::find(folder)?;
        let Some(repository) = place.repository.clone() else { return self.unused_checkpoint(folder, run, name) };
        let tags = tags(&place.root, &repository)?;
        let known = self.checkpoints(folder, run)?;
        let made = tags.iter().find(|(_, subject)| subject == message);
        if let Some(found) = made.and_then(|(tag, _)| known.iter().find(|known| known.name == *tag)) {
            return Ok(found.clone());
        }
        let names = std::iter::once(name.to_owned()).chain((2..NUMBERS_MAX).map(|number| format!("{name}-{number}")));
        let is_free =
            |name: &String| known.iter().all(|known| known.name != *name) && tags.iter().all(|(tag, _)| tag != name);
        let name = names.into_iter().find(is_free).ok_or_else(|| Error::NoSnapshot(name.to_owned()))?;
        let private = Private::open(Some(self.home()?), place)?;
        let committer = Committer { private: &private, repository: &repository, secrets: &self.secrets };
        let commit = committer.write_loose(&format!("{message}\n"))?;
        let checkpoint = self.checkpoint(folder, run, &name)?;
        let nothing = "0".repeat(commit.len());
        committer.git().run(&["update-ref", &format!("refs/tags/{name}"), &commit, &nothing])?;
        Ok(checkpoint)
    }
}

/// Returns the repository's tags with the subjects of their commits.
fn tags(root: &Path, repository: &Repository) -> Result<Vec<(String, String)>> {
    let git = repository.git(root);
    let listed = git.line(&["for-each-ref", "--format=%(refname:strip=2) %(contents:subject)", "refs/tags"])?;
    let pairs = listed.lines().map(|line| line.split_once(' ').unwrap_or((line, "")));
    Ok(pairs.map(|(tag, subject)| (tag.to_owned(), subject.to_owned())).collect())
}
