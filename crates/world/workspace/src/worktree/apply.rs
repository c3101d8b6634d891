//! Brings the result of a worktree into the user's checkout: commits by moving the branch forward, other changes as
//! uncommitted changes. It is done completely or not at all.

use std::{
    collections::BTreeSet,
    path::{Path, PathBuf},
};

use interlock_redact::Redactor;
use serde::{Deserialize, Serialize};

use super::{
    Content, View, Worktree, changing,
    files::{Difference, patched},
    in_place::{checkout, move_to},
};
use crate::{
    Error, Result,
    git::{Git, join, split},
    secrets::NewHistory,
};

/// The most paths that a refusal names.
const NAMED_MAX: usize = 20;

/// The result of a worktree that was applied.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Applied {
    /// The changed paths.
    pub paths: Vec<String>,
    /// The number of commits that the checked-out branch has moved forward by.
    pub commits: usize,
    /// The content of the worktree that is now in the checkout.
    pub content: Content,
    /// The way back; `None` if nothing was changed.
    pub undo: Option<Unapply>,
}

/// The way back from a result that was applied.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Unapply {
    /// The root of the checkout.
    #[serde(with = "crate::path_text")]
    pub checkout: PathBuf,
    /// The commit that was checked out before; `None` if the branch did not move.
    pub before: Option<String>,
    /// The commit that is checked out since then.
    pub after: String,
    /// The uncommitted changes that were applied.
    pub patch: Vec<u8>,
    /// True if the files are the run's own, so that undoing the run restores them.
    pub keeps_files: bool,
}

impl Unapply {
    /// Takes the result out of the checkout, completely or not at all. With `is_dry` it is only found out if that is possible.
    pub fn run(&self, is_dry: bool) -> Result<()> {
        let (root, git) = checkout(&self.checkout)?;
        if let Some(before) = &self.before {
            let head = git.line(&["rev-parse", "--verify", "HEAD^{commit}"])?;
            if head == *before {
                // Taken back already, or by hand.
                return Ok(());
            }
            if head != self.after {
                return Err(Error::Worktree("the checkout has other commits since the result was applied".into()));
            }
        }
        let view = View::of(&root)?;
        let without = patched(&view, &view.tree, &["-R"], &self.patch)?;
        match &self.before {
            None if is_dry => Ok(()),
            None => Difference::of(&view.git, &view.tree, &without, |_| true)?.write(&root),
            Some(before) => self.move_back((&root, &git), &view, &without, before, is_dry),
        }
    }

    /// Moves the branch back. `without` is the tree of the files without the uncommitted changes of the result.
    fn move_back(
        &self,
        (root, git): (&Path, &Git),
        view: &View,
        without: &str,
        before: &str,
        is_dry: bool,
    ) -> Result<()> {
        let paths = changed(git, before, &self.after)?;
        if self.keeps_files {
            return if is_dry { Ok(()) } else { move_to(git, &self.after, before, &paths) };
        }
        let mut changed_since = changed(&view.git, &self.after, without)?;
        changed_since.extend(git.paths(&["diff", "--cached", "--name-only", "--no-renames", "-z", &self.after])?);
        let lost: Vec<Vec<u8>> = changed_since.intersection(&paths).cloned().collect();
        if !lost.is_empty() {
            return Err(named("these files have changed since the result was applied", &lost));
        }
        // Uncommitted changes of the user are in other files, and stay.
        let target = patched(view, without, &[], &git.between(&self.after, before)?)?;
        let difference = Difference::of(&view.git, &view.tree, &target, |_| true)?;
        if is_dry {
            return Ok(());
        }
        difference.write(root)?;
        move_to(git, &self.after, before, &paths).inspect_err(|_| drop(difference.write_back(root)))
    }
}

impl Worktree {
    /// Brings the result into the checkout. If a path was changed there too, nothing is changed.
    ///
    /// If the checkout is still at the commit at which the worktree began, or at the commit that was applied last, its branch
    /// moves forward to the commits of the worktree, unless one of them added a secret. Otherwise all changes are applied as
    /// uncommitted ones.
    pub fn apply(&self) -> Result<Applied> {
        self.apply_refusing(&Redactor::default())
    }

    /// Brings the result into the checkout, unless a commit added a secret that this redactor also knows by its value.
    pub fn apply_refusing(&self, secrets: &Redactor) -> Result<Applied> {
        let view = View::of(&self.path)?;
        let content = Content { commit: view.commit.clone(), tree: view.tree.clone() };
        let git = changing(&self.checkout)?;
        let head = git.line(&["rev-parse", "--verify", "HEAD^{commit}"])?;
        let base = self.last_applied(&git, &head);
        let is_forward = view.commit != base && head == base;
        let from = if is_forward { &view.commit } else { base };
        let mut paths = changed(&view.git, base, &view.tree)?;
        paths.extend(changed(&view.git, from, &view.tree)?);
        if paths.is_empty() && !is_forward {
            return Ok(Applied { paths: Vec::new(), commits: 0, content, undo: None });
        }
        refuse_filters(&git, &paths)?;
        refuse_conflicts(&git, &paths)?;
        if is_forward {
            refuse_secrets(&view.git, base, &view.commit, secrets)?;
        }
        let rest = view.git.between(from, &view.tree)?;
        let target = match is_forward {
            true => view.tree.clone(),
            false => patched(&view, &head, &[], &rest)?,
        };
        let difference = Difference::of(&view.git, &head, &target, |_| true)?;
        difference.write(&self.checkout)?;
        let mut commits = 0;
        if is_forward {
            commits = git.line(&["rev-list", "--count", &format!("{head}..{}", view.commit)])?.parse().unwrap_or(0);
            let moved = move_to(&git, &head, &view.commit, &changed(&git, &head, &view.commit)?);
            moved.inspect_err(|_| drop(difference.write_back(&self.checkout)))?;
        }
        let shown = |path: &Vec<u8>| String::from_utf8_lossy(path).into_owned();
        let (before, after) = (is_forward.then(|| head.clone()), content.commit.clone());
        let undo = Unapply { checkout: self.checkout.clone(), before, after, patch: rest, keeps_files: false };
        Ok(Applied { paths: paths.iter().map(shown).collect(), commits, content, undo: Some(undo) })
    }

    /// Returns the newest commit of the worktree that the checkout has: the one that was applied last, or the first.
    fn last_applied(&self, git: &Git, head: &str) -> &str {
        let applied = self.applied.as_ref().map(|content| content.commit.as_str());
        let is_there = |commit: &&str| git.run(&["merge-base", "--is-ancestor", commit, head]).is_ok();
        applied.filter(is_there).unwrap_or(&self.base)
    }
}

/// Refuses to apply commits of which one has a secret.
pub(super) fn refuse_secrets(git: &Git, base: &str, commit: &str, secrets: &Redactor) -> Result<()> {
    let history = NewHistory { tips: vec![commit.to_owned()], known: vec![base.to_owned()] };
    history.refuse(git, "a commit has a secret, so nothing was applied", secrets)
}

pub(super) fn changed(git: &Git, from: &str, to: &str) -> Result<BTreeSet<Vec<u8>>> {
    let paths = git.paths(&["diff", "--name-only", "--no-renames", "-z", "--end-of-options", from, to])?;
    Ok(paths.into_iter().collect())
}

pub(super) fn conflict(error: &Error) -> Error {
    Error::Worktree(format!("the result does not fit the checkout, and nothing was changed: {error}"))
}

/// Refuses paths whose content a filter program converts, because no such program is run.
pub(super) fn refuse_filters(git: &Git, paths: &BTreeSet<Vec<u8>>) -> Result<()> {
    let said = split(&git.run_with(&["check-attr", "-z", "--stdin", "filter"], &join(paths.iter().cloned()))?);
    let is_filtered =
        |fields: &&[Vec<u8>]| matches!(fields, [_, _, value] if value != b"unspecified" && value != b"unset");
    let filtered: Vec<_> = said.chunks(3).filter(is_filtered).map(|fields| fields[0].clone()).collect();
    match filtered.is_empty() {
        true => Ok(()),
        false => Err(named("these files need a filter program; merge the branch with git", &filtered)),
    }
}

/// Refuses paths that have uncommitted changes in the checkout.
fn refuse_conflicts(git: &Git, paths: &BTreeSet<Vec<u8>>) -> Result<()> {
    let both = dirty(git, paths)?;
    match both.is_empty() {
        true => Ok(()),
        false => Err(named("these files have uncommitted changes in the checkout too", &both)),
    }
}

/// Returns the paths among these that have uncommitted changes.
fn dirty(git: &Git, paths: &BTreeSet<Vec<u8>>) -> Result<Vec<Vec<u8>>> {
    let status = git.run(&[
        "status",
        "--porcelain",
        "-z",
        "--no-renames",
        "--ignore-submodules=dirty",
        "--untracked-files=all",
    ])?;
    // Two letters and a space come before each path.
    let dirty = split(&status).into_iter().filter_map(|line| line.get(3..).map(<[u8]>::to_vec));
    Ok(dirty.filter(|path| paths.contains(path)).collect())
}

pub(super) fn named(why: &str, paths: &[Vec<u8>]) -> Error {
    let mut names: Vec<String> =
        paths.iter().take(NAMED_MAX).map(|path| String::from_utf8_lossy(path).into_owned()).collect();
    if paths.len() > NAMED_MAX {
        names.push("…".into());
    }
    Error::Worktree(format!("nothing was changed, because {why}: {}", names.join(", ")))
}
