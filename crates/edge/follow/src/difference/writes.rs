//! The recorded writes of a run and of its child runs in the same directory.

use std::{collections::BTreeMap, path::PathBuf};

use interlock_journal::{Engine, Entry, Evidence, Filter, Head, Left, Phase};
use interlock_runtime::{Changes, NotKept, NotKnown, Result, Workspace, created};
use serde::Serialize;

use super::PATCH;
use crate::{continued, with_evidence};

/// The evidence that lists the changes of a write.
const CHANGES: &str = "changes";

/// The most records that are searched for the attempts of a run that are in progress.
const RECORDS_MAX: u64 = 2_000;

/// A write of a run or of one of its child runs.
#[derive(Debug)]
pub(super) struct Write {
    /// The name of the child run; `None` for the run itself.
    pub(super) run: Option<String>,
    /// The number of its record.
    pub(super) seq: u64,
    pub(super) is_undo: bool,
    pub(super) changes: Changes,
}

/// A write whose changes are not known.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct UnknownWrite {
    /// The run that wrote: the run itself, or a child run.
    pub run: String,
    /// The number of its record.
    pub record: u64,
    /// The reason why its changes are not known.
    pub why: String,
    /// The name of the snapshot before it, if it is recorded.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub before: Option<String>,
}

impl UnknownWrite {
    /// Says what is not known, and how to look at the files before it.
    pub(super) fn sentence(&self) -> String {
        let UnknownWrite { run, record, why, before } = self;
        let before = before.as_ref().and_then(|before| before.rsplit('/').next());
        let before = before
            .map(|number| format!(". `interlock snapshots {run} {number} --into DIR` copies the files before it"));
        format!("The changes of record {record} of {run} are not known: {why}{}", before.unwrap_or_default())
    }
}

/// What an entry records about changes.
enum Recorded {
    Changes(Changes),
    Unknown(NotKnown),
}

/// The writes of a run.
#[derive(Debug, Default)]
pub(super) struct Writes {
    pub(super) folder: PathBuf,
    /// The writes and undos, oldest first.
    pub(super) all: Vec<Write>,
    /// The writes whose changes are not known.
    pub(super) unknown: Vec<UnknownWrite>,
    /// The latest patch among the evidence of the run.
    pub(super) patch: Option<Evidence>,
}

impl Writes {
    pub(super) fn of(engine: &dyn Engine, head: &Head) -> Result<Self> {
        let folder = folder_of(engine, head)?;
        let mut timed: Vec<(i64, Write)> = Vec::new();
        let (mut patch, mut unknown) = (None, Vec::new());
        let named = engine.list(&Filter { prefix: Some(format!("{}.", head.name)), ..Filter::default() })?;
        let family = std::iter::once(head).chain(crate::descendants(&head.name, &named));
        for run in family {
            if run.key != head.key && folder_of(engine, run)? != folder {
                continue;
            }
            with_evidence(engine, run, shared(engine, run)?, |record, entry| {
                match recorded(engine, entry) {
                    Some(Recorded::Changes(changes)) => {
                        let name = (run.key != head.key).then(|| run.name.clone());
                        let is_undo = matches!(entry, Entry::Undone(_));
                        timed.push((record.at_ms, Write { run: name, seq: record.seq, is_undo, changes }));
                    }
                    Some(Recorded::Unknown(NotKnown { unknown: why, before })) => {
                        unknown.push(UnknownWrite { run: run.name.clone(), record: record.seq, why, before });
                    }
                    None => {}
                }
                if run.key == head.key {
                    patch = entry.evidence().iter().rfind(|file| file.media == PATCH).cloned().or(patch.take());
                }
            })?;
        }
        timed.sort_by_key(|(at_ms, _)| *at_ms);
        Ok(Writes { folder, all: timed.into_iter().map(|(_, write)| write).collect(), unknown, patch })
    }

    /// Adds what the attempts that are in progress have changed so far. Returns false if there is none.
    pub(super) fn add_unfinished(&mut self, engine: &dyn Engine, workspace: &Workspace, head: &Head) -> bool {
        let Some((seq, snapshot)) = unfinished(engine, head) else { return false };
        let Ok(all) = workspace.snapshots(&self.folder, &head.name) else { return false };
        let Some(before) = all.into_iter().find(|one| one.reference == snapshot) else { return false };
        let Ok((tree, not_kept)) = workspace.since(&self.folder, &snapshot) else { return false };
        let compared = workspace.compare(&self.folder, &before.tree, &tree).and_then(|trees| trees.files());
        let Ok(files) = compared else { return false };
        let changes = Changes {
            before: snapshot,
            before_tree: Some(before.tree),
            after_tree: Some(tree),
            files,
            not_kept,
            ..Changes::default()
        };
        self.all.push(Write { run: None, seq, is_undo: false, changes });
        true
    }

    /// Returns the paths that changed and are not stored.
    pub(super) fn not_kept(&self) -> Vec<NotKept> {
        self.all.iter().flat_map(|write| write.changes.not_kept.clone()).collect()
    }
}

/// Returns the last record whose writes belong to another run: a fork has the records of its origin, and not its files. A
/// run that continues another one goes on with its files.
fn shared(engine: &dyn Engine, run: &Head) -> Result<u64> {
    match continued::shares(engine, run)? {
        Some(from) if !continued::has_continued(engine, run, from.at)? => Ok(from.at),
        _ => Ok(0),
    }
}

/// Returns the record and the snapshot of the first attempt in progress that may write.
fn unfinished(engine: &dyn Engine, head: &Head) -> Option<(u64, String)> {
    if head.phase != Phase::Active {
        return None;
    }
    let from = head.seq.saturating_sub(RECORDS_MAX) + 1;
    let records = engine.records(head.key, from, usize::try_from(RECORDS_MAX).ok()?).ok()?;
    let mut begun: BTreeMap<_, (u64, String)> = BTreeMap::new();
    for record in &records {
        match engine.entry(record).ok()? {
            Entry::Attempt { activity, snapshot: Some(snapshot), .. } => {
                begun.insert(activity, (record.seq, snapshot));
            }
            Entry::Outcome { activity, .. } | Entry::Left(Left { activity, .. }) => drop(begun.remove(&activity)),
            _ => {}
        }
    }
    begun.into_values().min()
}

/// Returns the changes that an entry records, or why they are not known.
fn recorded(engine: &dyn Engine, entry: &Entry) -> Option<Recorded> {
    let file = entry.evidence().iter().find(|file| file.name == CHANGES)?;
    let json = engine.evidence().get(&file.hash).ok()?;
    let changes = serde_json::from_slice(&json).map(Recorded::Changes);
    changes.or_else(|_| serde_json::from_slice(&json).map(Recorded::Unknown)).ok()
}

fn folder_of(engine: &dyn Engine, head: &Head) -> Result<PathBuf> {
    let created = created(engine, head)?;
    created.iter().for_each(interlock_runtime::fix_place);
    Ok(created.and_then(|created| created.folder).unwrap_or_default().into())
}
