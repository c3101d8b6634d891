//! Brings the commits of a run that worked in the user's own checkout to the branch that is checked out there.
//!
//! The files of the result are in the checkout already, as uncommitted changes, so git refuses to merge or to switch. Here
//! the branch and the index move, and the files stay: whatever else is changed in them stays uncommitted.

use std::{
    collections::BTreeSet,
    path::{Path, PathBuf},
};

use interlock_redact::Redactor;

use super::{
    View,
    apply::{Applied, Unapply, changed, named, refuse_filters, refuse_secrets},
    changing,
    files::Difference,
};
use crate::{
    Error, Result,
    git::{Git, join},
};

/// Moves the branch that is checked out forward to a commit of a run, unless a commit in between has a secret. If that
/// cannot be done, nothing is changed.
pub fn apply_in_place(folder: &Path, commit: &str, secrets: &Redactor) -> Result<Applied> {
    let (checkout, git) = checkout(folder)?;
    let head = git.line(&["rev-parse", "--verify", "HEAD^{commit}"])?;
    let view = View::of(&checkout)?;
    let content = super::Content { commit: commit.to_owned(), tree: view.tree.clone() };
    if is_ancestor(&git, commit, &head) {
        return Ok(Applied { paths: Vec::new(), commits: 0, content, undo: None });
    }
    if !is_ancestor(&git, &head, commit) {
        return Err(Error::Worktree(
            "nothing was changed, because the branch that is checked out has other commits since; use git to merge"
                .into(),
        ));
    }
    refuse_secrets(&view.git, &head, commit, secrets)?;
    let paths = changed(&view.git, &head, commit)?;
    refuse_staged(&git, &head, commit, &paths)?;
    let (from_head, from_commit) = (changed(&view.git, &head, &view.tree)?, changed(&view.git, commit, &view.tree)?);
    // A file that is as it was before the run gets its new content; any other stays as it is.
    let stale: BTreeSet<Vec<u8>> = paths.iter().filter(|path| !from_head.contains(*path)).cloned().collect();
    let stale: BTreeSet<Vec<u8>> = stale.into_iter().filter(|path| from_commit.contains(path)).collect();
    refuse_filters(&git, &stale)?;
    let commits = git.line(&["rev-list", "--count", &format!("{head}..{commit}")])?.parse().unwrap_or(0);
    let difference = Difference::of(&git, &head, commit, |path| stale.contains(path))?;
    move_to(&git, &head, commit, &paths)?;
    difference.write(&checkout)?;
    let undo = Unapply { checkout, before: Some(head), after: commit.to_owned(), patch: Vec::new(), keeps_files: true };
    let shown = |path: &Vec<u8>| String::from_utf8_lossy(path).into_owned();
    Ok(Applied { paths: paths.iter().map(shown).collect(), commits, content, undo: Some(undo) })
}

/// Returns the root of a checkout, and git in it.
pub(super) fn checkout(folder: &Path) -> Result<(PathBuf, Git)> {
    let root = PathBuf::from(Git::discover(folder).line(&["rev-parse", "--show-toplevel"])?);
    let git = changing(&root)?.var("GIT_LITERAL_PATHSPECS", "1");
    Ok((root, git))
}

/// Returns the full name of the branch that is checked out in a directory; `None` if there is none.
pub fn checked_out(folder: &Path) -> Option<String> {
    Git::discover(folder).line(&["symbolic-ref", "--quiet", "HEAD"]).ok()
}

/// Returns true if a reference of a directory's repository exists and has a commit.
pub fn contains(folder: &Path, reference: &str, commit: &str) -> bool {
    is_ancestor(&Git::discover(folder), commit, reference)
}

fn is_ancestor(git: &Git, one: &str, other: &str) -> bool {
    git.run(&["merge-base", "--is-ancestor", "--end-of-options", one, other]).is_ok()
}

/// Moves the index, for these paths, and then the checked-out branch. The files stay.
pub(super) fn move_to(git: &Git, from: &str, to: &str, paths: &BTreeSet<Vec<u8>>) -> Result<()> {
    let index = |to: &str| {
        let words = ["reset", "--quiet", "--pathspec-from-file=-", "--pathspec-file-nul", to];
        git.run_with(&words, &join(paths.iter().cloned()))
    };
    index(to)?;
    if let Err(error) = git.run(&["update-ref", "-m", "interlock apply", "HEAD", to, from]) {
        index(from)?;
        return Err(error);
    }
    Ok(())
}

/// Refuses paths with staged content that is nowhere else: moving the index would lose it.
fn refuse_staged(git: &Git, head: &str, commit: &str, paths: &BTreeSet<Vec<u8>>) -> Result<()> {
    let differ = |words: &[&str]| -> Result<BTreeSet<Vec<u8>>> { Ok(git.paths(words)?.into_iter().collect()) };
    let from_head = differ(&["diff", "--cached", "--name-only", "--no-renames", "-z", head])?;
    let from_commit = differ(&["diff", "--cached", "--name-only", "--no-renames", "-z", commit])?;
    let from_files = differ(&["diff", "--ignore-submodules=dirty", "--name-only", "--no-renames", "-z"])?;
    let is_lost =
        |path: &&Vec<u8>| from_head.contains(*path) && from_commit.contains(*path) && from_files.contains(*path);
    let lost: Vec<Vec<u8>> = paths.iter().filter(is_lost).cloned().collect();
    match lost.is_empty() {
        true => Ok(()),
        false => Err(named("these files have staged content that differs from the files", &lost)),
    }
}
