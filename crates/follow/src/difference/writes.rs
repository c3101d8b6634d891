//! The recorded writes of a run and of its child runs in the same directory.

use std::{collections::BTreeMap, path::PathBuf};

use interlock_journal::{Engine, Entry, Evidence, Filter, Head};
use interlock_runtime::{Change, Changes, Comparison, NotKept, Result, Workspace, created};

use super::{ChangedFile, Later, PATCH, listed};
use crate::with_evidence;

/// The evidence that lists the changes of a write.
const CHANGES: &str = "changes";

/// The writes of a run.
#[derive(Debug, Default)]
pub(super) struct Writes {
    folder: PathBuf,
    /// The changes of each write and each undo, oldest first.
    changes: Vec<Changes>,
    /// The latest patch among the evidence of the run.
    pub(super) patch: Option<Evidence>,
}

impl Writes {
    pub(super) fn of(engine: &dyn Engine, head: &Head) -> Result<Self> {
        let folder = folder_of(engine, head)?;
        let mut timed: Vec<(i64, Changes)> = Vec::new();
        let mut patch = None;
        let named = engine.list(&Filter { prefix: Some(format!("{}.", head.name)), ..Filter::default() })?;
        let family = std::iter::once(head).chain(crate::descendants(&head.name, &named));
        for run in family {
            if run.key != head.key && folder_of(engine, run)? != folder {
                continue;
            }
            with_evidence(engine, run, 0, |record, entry| {
                timed.extend(changes(engine, entry).map(|changes| (record.at_ms, changes)));
                if run.key == head.key {
                    patch = entry.evidence().iter().rfind(|file| file.media == PATCH).cloned().or(patch.take());
                }
            })?;
        }
        timed.sort_by_key(|(at_ms, _)| *at_ms);
        Ok(Writes { folder, changes: timed.into_iter().map(|(_, changes)| changes).collect(), patch })
    }

    /// Opens the two trees to compare, and returns the paths that changed and are not stored. Returns `None` if nothing
    /// was written or the trees are no longer stored.
    pub(super) fn compared(&self, workspace: &Workspace, head: &Head) -> Option<(Comparison, Later, Vec<NotKept>)> {
        let first = self.changes.iter().find(|changes| changes.before_tree.is_some());
        let (snapshot, from) = match first.and_then(|first| Some((first.before.clone(), first.before_tree.clone()?))) {
            Some(first) => first,
            // The first write is still at work.
            None => {
                let all = workspace.snapshots(&self.folder, &head.name).ok()?.into_iter();
                let mut numbered = all.filter(|snapshot| snapshot.name.parse::<u64>().is_ok());
                numbered.next().map(|first| (first.reference, first.tree))?
            }
        };
        let mut not_kept: Vec<NotKept> = self.changes.iter().flat_map(|changes| changes.not_kept.clone()).collect();
        // After an undo, only the directory itself has the result.
        let left = self.changes.last().and_then(|last| last.after_tree.clone());
        let now = || workspace.since(&self.folder, &snapshot).ok();
        let (to, later) = match (left, head.phase.is_over()) {
            (Some(left), true) => (left, Later::Run),
            (left, _) => match (now(), left) {
                (Some((tree, more)), _) => {
                    not_kept.extend(more);
                    (tree, Later::Directory)
                }
                (None, Some(left)) => (left, Later::Run),
                (None, None) => return None,
            },
        };
        Some((workspace.compare(&self.folder, &from, &to).ok()?, later, not_kept))
    }

    /// Returns the net changes from the records alone. A count is known if one write made the change.
    pub(super) fn net(&self) -> Vec<ChangedFile> {
        let mut nets: BTreeMap<PathBuf, (Change, usize)> = BTreeMap::new();
        for change in self.changes.iter().flat_map(|changes| &changes.files) {
            let (net, count) = nets.entry(change.path.clone()).or_insert_with(|| (change.clone(), 0));
            (net.after, *count) = (change.after.clone(), *count + 1);
        }
        let differs = nets.into_values().filter(|(net, _)| net.before != net.after);
        let net: Vec<Change> = differs
            .map(|(net, count)| Change { lines: net.lines.filter(|_| count == 1), renamed_from: None, ..net })
            .collect();
        let not_kept: Vec<NotKept> = self.changes.iter().flat_map(|changes| changes.not_kept.clone()).collect();
        let unknown = |file: ChangedFile| match file.added.is_some() || file.note.as_deref() != Some("binary") {
            true => file,
            false => ChangedFile { note: Some("the counts are not stored".to_owned()), ..file },
        };
        listed(&net, &not_kept).into_iter().map(unknown).collect()
    }
}

/// Returns the changes that an entry records. Evidence that only says why they are unknown has none.
fn changes(engine: &dyn Engine, entry: &Entry) -> Option<Changes> {
    let file = entry.evidence().iter().find(|file| file.name == CHANGES)?;
    serde_json::from_slice(&engine.evidence().get(&file.hash).ok()?).ok()
}

fn folder_of(engine: &dyn Engine, head: &Head) -> Result<PathBuf> {
    Ok(created(engine, head)?.and_then(|created| created.folder).unwrap_or_default().into())
}
