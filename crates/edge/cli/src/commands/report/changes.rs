//! The files that a run changed, with a mark for changes that were undone and are no longer in its directory.

use std::{collections::BTreeMap, path::Path};

use interlock_activity::report::{Part, RecordedRun};
use interlock_chart::counted;
use interlock_runtime::{History, Write};
use serde_json::{Value as Json, json};

use crate::follow::{ChangedFile, Difference, Later, Total};

/// The most paths that a report lists.
const LISTED_MAX: usize = 200;

/// The net changes of all writes of a run.
#[derive(Debug, Default)]
pub(super) struct Changes {
    /// The changed paths, in alphabetical order.
    pub(super) paths: Vec<ChangedPath>,
    /// The record of the last write that is no undo and not only of the machine's own records.
    pub(super) last_write: Option<u64>,
    /// The reasons for which the changes of a write are not known.
    pub(super) unknown: Vec<String>,
    /// References that commits of the run moved.
    pub(super) commits: Vec<String>,
}

/// A path whose content the run changed.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct ChangedPath {
    pub(super) path: String,
    /// `added`, `changed` or `removed`.
    pub(super) how: &'static str,
    /// The record of the last write to it.
    pub(super) seq: u64,
    /// The child run that wrote it last; `None` if the run itself did.
    pub(super) run: Option<String>,
    /// False if the change was undone.
    pub(super) is_in_tree: bool,
}

impl Changes {
    /// Returns the changes of a run: the files of its difference, and those that were undone.
    pub(super) fn of(history: &History, difference: &Difference, run: &RecordedRun) -> Self {
        let kept = difference.files.iter().filter(|_| difference.later != Later::Evidence).map(|file| (file, true));
        let undone = difference.undone.iter().map(|file| (file, false));
        let mut paths: Vec<ChangedPath> = kept.chain(undone).map(changed).collect();
        paths.sort_by(|one, other| one.path.cmp(&other.path));
        let writes = history.writes.iter().filter(|write| !is_undo(write));
        Changes {
            paths,
            last_write: writes.clone().filter(|write| has_files(write, run)).map(|write| write.seq).max(),
            unknown: writes.clone().filter_map(|write| write.unknown.clone()).collect(),
            commits: writes.filter_map(|write| Some(write.moved.as_ref()?.reference.clone())).collect(),
        }
    }

    /// Returns the changed paths as a table, with the counts of lines of the whole difference.
    pub(super) fn table(&self, difference: &Difference) -> Vec<Part> {
        let lines: BTreeMap<&str, &ChangedFile> =
            difference.files.iter().map(|file| (file.path.as_str(), file)).collect();
        let row = |one: &ChangedPath| {
            let record = match &one.run {
                Some(run) => format!("{} of {run}", one.seq),
                None => one.seq.to_string(),
            };
            let place = if one.is_in_tree { "yes" } else { "no, undone" };
            let count = |sign: &str, count: fn(&ChangedFile) -> Option<u64>| {
                let count = lines.get(one.path.as_str()).and_then(|file| count(file));
                count.map(|count| format!("{sign}{count}")).unwrap_or_default()
            };
            let (added, removed) = (count("+", |file| file.added), count("−", |file| file.removed));
            vec![one.path.clone(), one.how.to_owned(), added, removed, record, place.to_owned()]
        };
        let rows = self.paths.iter().take(LISTED_MAX).map(row).collect();
        let head = ["path", "change", "added", "removed", "record", "kept"];
        let mut parts: Vec<Part> = Part::table(&head, rows).into_iter().collect();
        let Total { files, added, removed } = difference.total();
        let total = format!("{}: +{added} −{removed} lines.", counted(files, "file differs", "files differ"));
        parts.extend((files > 0 && difference.later != Later::Evidence).then_some(Part::Text(total)));
        let more = self.paths.len().saturating_sub(LISTED_MAX);
        parts.extend((more > 0).then(|| Part::Text(format!("{more} more paths were changed."))));
        parts.extend(self.unknown.iter().map(|why| Part::Text(format!("The list of changes is incomplete: {why}"))));
        let mut commits: BTreeMap<&str, u64> = BTreeMap::new();
        self.commits.iter().for_each(|moved| *commits.entry(moved).or_default() += 1);
        let moves = |(moved, count): (&str, u64)| format!("{} moved {moved}.", counted(count, "commit", "commits"));
        parts.extend(commits.into_iter().map(moves).map(Part::Text));
        parts
    }

    /// Returns the changed paths as JSON.
    pub(super) fn json(&self) -> Json {
        let one = |one: &ChangedPath| {
            let mut json = json!({ "path": one.path, "how": one.how, "seq": one.seq, "in_tree": one.is_in_tree });
            if let Some(run) = &one.run {
                json["run"] = json!(run);
            }
            json
        };
        self.paths.iter().map(one).collect()
    }
}

fn is_undo(write: &Write) -> bool {
    write.activity.is_none()
}

/// Returns true if a write changed a file that is not a record of the machine, as its activity says.
fn has_files(write: &Write, run: &RecordedRun) -> bool {
    let accounts =
        run.records.iter().filter(|record| record.seq == write.seq).filter_map(|record| record.account.as_ref());
    let records: Vec<&String> = accounts.flat_map(|account| &account.records).collect();
    let is_record = |path: &Path| records.iter().any(|record| path.ends_with(record));
    write.changes.iter().flat_map(|changes| &changes.files).any(|change| !is_record(&change.path))
}

fn changed((file, is_in_tree): (&ChangedFile, bool)) -> ChangedPath {
    ChangedPath { path: file.path.clone(), how: file.how, seq: file.seq, run: file.run.clone(), is_in_tree }
}
