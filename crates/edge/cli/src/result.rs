//! The place of a run's result, and the command that brings it into the checkout: said at the end of a run.

use std::path::PathBuf;

use interlock_journal::Head;
use interlock_runtime::History;
use interlock_workspace::{Moved, checked_out, contains};
use serde_json::{Value as Json, json};

use crate::{
    failure::Failure,
    store::Store,
    worktree::{self, folder_of},
};

/// The prefix of the full names of branches.
const BRANCHES: &str = "refs/heads/";

/// The directory that a run works in.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Place {
    /// Its own worktree.
    Worktree(PathBuf),
    /// The user's checkout.
    Checkout(PathBuf),
}

/// The result of a run.
#[derive(Debug)]
pub(crate) struct RunResult {
    run: String,
    /// The branch of its commits, without `refs/heads/`.
    pub(crate) branch: Option<String>,
    /// Its last commit that has not been taken back.
    pub(crate) commit: Option<String>,
    /// The directory that it works in.
    pub(crate) place: Place,
    /// True if the commit is on the branch that is checked out.
    is_checked_out: bool,
}

impl RunResult {
    /// Returns the result of a run: its last commit, or its worktree. `None` if it has neither.
    pub(crate) fn of(store: &Store, head: &Head) -> Result<Option<Self>, Failure> {
        let Some(folder) = folder_of(store, head)? else { return Ok(None) };
        let kept = worktree::find(store, &head.name)?;
        let history = History::of(&*store.engine(), head)?;
        let moved = history.writes.iter().rev().find_map(|write| write.moved.clone());
        // A branch that was moved back or removed since does not have the result.
        let is_there = |moved: &Moved| contains(&folder, &moved.reference, &moved.after);
        let moved = moved.filter(|moved| moved.reference.starts_with(BRANCHES) && is_there(moved));
        if kept.is_none() && moved.is_none() {
            return Ok(None);
        }
        let is_checked_out = kept.is_none()
            && moved.as_ref().is_some_and(|moved| checked_out(&folder).as_ref() == Some(&moved.reference));
        let own = kept.as_ref().map(|kept| kept.tree.branch.clone());
        Ok(Some(RunResult {
            run: head.name.clone(),
            branch: moved.as_ref().map(|moved| moved.reference.trim_start_matches(BRANCHES).to_owned()).or(own),
            commit: moved.map(|moved| moved.after),
            place: kept.map_or(Place::Checkout(folder), |kept| Place::Worktree(kept.tree.path)),
            is_checked_out,
        }))
    }

    /// Returns the command that brings the result into the checkout; `None` if it is there.
    fn command(&self) -> Option<String> {
        (!self.is_checked_out).then(|| format!("interlock apply {}", self.run))
    }

    /// Returns the lines that a person reads at the end of a run.
    pub(crate) fn text(&self) -> String {
        let branch = self.branch.as_deref().unwrap_or("(no branch)");
        let mut text = match &self.commit {
            Some(commit) => {
                let short: String = commit.chars().take(12).collect();
                format!("The result is commit {short} on the branch {branch}")
            }
            None => "Nothing was committed".to_owned(),
        };
        if let Place::Worktree(path) = &self.place {
            text.push_str(&format!("; its files are in {}", path.display()));
        }
        text.push('\n');
        if let Some(command) = self.command() {
            text.push_str(&format!("Bring it into your checkout with:\n    {command}\n"));
        }
        text
    }

    /// Returns the result for programs.
    pub(crate) fn json(&self) -> Json {
        let worktree = match &self.place {
            Place::Worktree(path) => Some(path.display().to_string()),
            Place::Checkout(_) => None,
        };
        json!({ "branch": self.branch, "commit": self.commit, "worktree": worktree, "command": self.command() })
    }
}
