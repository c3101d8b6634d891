//! Undoes the writes of interrupted attempts without touching the changes of others.
//!
//! The attempts are treated together: their changes are the difference between the earliest snapshot before one of them
//! and the last tree that one of them left. A path that changed since, or that another attempt has recorded as written,
//! is never touched without a decision by a person.

use std::{collections::BTreeMap, path::Path};

use crate::{
    Change, Changes, Conflict, Error, Result, Undo, Workspace,
    changes::difference,
    checkpoint,
    cleared::{clear, noted},
    ended, nested,
    private::Private,
    repository,
    workspace::{keep_opened_since, name_it},
};

/// The changes of interrupted attempts.
#[derive(Clone, Debug)]
pub struct Recovery {
    /// The name of the snapshot of the workspace as it was found.
    pub kept: String,
    /// The changes of the attempts. If the end of the attempts is unknown, these are all changes since they began.
    pub changes: Changes,
    /// The plan to undo these changes.
    pub undo: Undo,
    /// True if the state at the end of the attempts is known.
    pub is_end_known: bool,
}

impl Recovery {
    /// Returns true if a person must decide about some of the files.
    pub fn is_question(&self) -> bool {
        !self.undo.conflicts.is_empty()
    }
}

impl Workspace {
    /// Stores the current workspace and plans how to undo the changes of interrupted attempts. `before` are the
    /// snapshots that they began with, `others` the recorded changes of the same run, oldest first.
    pub fn plan_recovery(&self, folder: &Path, run: &str, before: &[&str], others: &[&Changes]) -> Result<Recovery> {
        let first = before.iter().min_by_key(|name| ended::number(name)).ok_or(Error::NoSnapshot(String::new()))?;
        let mut said = clear(folder);
        let (private, before_tree) = self.holding(folder, first)?;
        said.extend(noted(&private));
        let mut since = keep_opened_since(&private, first, &before_tree)?;
        let nested = nested::keep(self, &private, first, &mut since, run)?;
        said.extend(since.said);
        let (now, not_kept) = (since.tree, since.not_kept);
        let also = checkpoint::reference(run, &format!("found-{}", ended::number(first)))?;
        let kept = name_it(&private, &now, run, Some(&also))?;
        nested::write(&private, &kept, &nested)?;
        let ended = before.iter().filter_map(|name| ended::read(&private, name));
        let ended = ended.max_by_key(|ended| ended::number(&ended.name));
        let is_end_known = ended.is_some();
        let (after, after_tree) = ended.map_or((kept.clone(), now), |ended| (ended.name, ended.tree));
        let mut files = difference(&private.git(), &before_tree, &after_tree)?;
        let nested = [first, after.as_str()].map(|name| nested::read(&private, name));
        files.extend(nested::differences(self, &private, &nested[0], &nested[1])?);
        let since = ended::number(first);
        let foreign = by_other_runs(&private, run, first);
        let others: BTreeMap<&Path, &Change> = foreign
            .iter()
            .map(|change| (change.path.as_path(), change))
            .chain(written_by_others(others, since))
            .collect();
        files.retain(|change| others.get(change.path.as_path()).is_none_or(|other| other.after != change.after));
        let changes = Changes {
            before: (*first).to_owned(),
            after: Some(after),
            before_tree: Some(before_tree),
            after_tree: Some(after_tree),
            files,
            not_kept,
            breaches: said,
            references: repository::moved(&private, first),
        };
        let mut undo = self.plan_undo(folder, &[&changes], &|_| true)?;
        match is_end_known {
            true => undo.ask_about(|change| others.contains_key(change.path.as_path()), BY_ANOTHER),
            false => undo.ask_about(|_| true, NOT_KNOWN),
        }
        Ok(Recovery { kept, changes, undo, is_end_known })
    }
}

const BY_ANOTHER: &str = "another attempt has written it too";
const NOT_KNOWN: &str = "it is not known whether the attempt changed it";

/// Returns the changes of other runs in the same workspace since an attempt began.
fn by_other_runs(private: &Private, run: &str, began: &str) -> Vec<Change> {
    let ended = ended::of_other_runs(private, run, began).into_iter();
    // The snapshots of a run may have been deleted. Then its changes are skipped.
    ended.flat_map(|ended| difference(&private.git(), &ended.before, &ended.tree).unwrap_or_default()).collect()
}

/// Returns the last recorded change of each path since a snapshot.
fn written_by_others<'c>(others: &[&'c Changes], since: u64) -> BTreeMap<&'c Path, &'c Change> {
    let is_later = |changes: &&&Changes| changes.after.as_deref().is_some_and(|name| ended::number(name) > since);
    let files = others.iter().filter(is_later).flat_map(|changes| &changes.files);
    files.map(|change| (change.path.as_path(), change)).collect()
}

impl Undo {
    /// Turns paths that could be restored into conflicts, so that a person decides.
    fn ask_about(&mut self, is_meant: impl Fn(&Change) -> bool, why: &str) {
        let (asked, files): (Vec<_>, Vec<_>) = std::mem::take(&mut self.files).into_iter().partition(is_meant);
        self.files = files;
        self.conflicts.extend(asked.into_iter().map(|change| Conflict {
            path: change.path,
            why: why.to_owned(),
            before: change.after,
            ours: change.before,
            view: String::new(),
        }));
    }
}
