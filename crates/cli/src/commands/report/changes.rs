//! The files that a run changed, with a mark for changes that were undone and are no longer in its directory.

use std::{collections::BTreeMap, path::PathBuf};

use interlock_activity::report::Part;
use interlock_chart::counted;
use interlock_runtime::{Change, History, Write};
use serde_json::{Value as Json, json};

use crate::follow::{ChangedFile, Difference, Later, Total};

/// The most paths that a report lists.
const LISTED_MAX: usize = 200;

/// The net changes of all writes of a run.
#[derive(Debug, Default)]
pub(super) struct Changes {
    /// The changed paths, in alphabetical order.
    pub(super) paths: Vec<ChangedPath>,
    /// The record of the last write that is no undo.
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
    pub(super) is_in_tree: bool,
}

/// The first and the last change of a path.
struct Net<'a> {
    first: &'a Change,
    last: &'a Change,
    seq: u64,
    is_undone: bool,
}

impl Changes {
    /// Computes the net changes of a run. A path that the run changed and then restored itself does not count as
    /// changed.
    pub(super) fn of(history: &History) -> Self {
        let mut nets: BTreeMap<&PathBuf, Net<'_>> = BTreeMap::new();
        for write in &history.writes {
            for change in write.changes.iter().flat_map(|changes| &changes.files) {
                let is_undone = is_undo(write);
                let net =
                    nets.entry(&change.path).or_insert(Net { first: change, last: change, seq: write.seq, is_undone });
                (net.last, net.is_undone) = (change, is_undone);
                net.seq = if is_undone { net.seq } else { write.seq };
            }
        }
        let writes = history.writes.iter().filter(|write| !is_undo(write));
        Changes {
            paths: nets.values().filter_map(changed).collect(),
            last_write: writes.clone().filter(|write| has_files(write)).map(|write| write.seq).max(),
            unknown: writes.clone().filter_map(|write| write.unknown.clone()).collect(),
            commits: writes.filter_map(|write| Some(write.moved.as_ref()?.reference.clone())).collect(),
        }
    }

    /// Returns the changed paths as a table, with the counts of lines of the whole difference.
    pub(super) fn table(&self, difference: &Difference) -> Vec<Part> {
        let lines: BTreeMap<&str, &ChangedFile> =
            difference.files.iter().map(|file| (file.path.as_str(), file)).collect();
        let row = |one: &ChangedPath| {
            let place = if one.is_in_tree { "yes" } else { "no, undone" };
            let count = |sign: &str, count: fn(&ChangedFile) -> Option<u64>| {
                let count = lines.get(one.path.as_str()).and_then(|file| count(file));
                count.map(|count| format!("{sign}{count}")).unwrap_or_default()
            };
            let (added, removed) = (count("+", |file| file.added), count("−", |file| file.removed));
            vec![one.path.clone(), one.how.to_owned(), added, removed, one.seq.to_string(), place.to_owned()]
        };
        let rows = self.paths.iter().take(LISTED_MAX).map(row).collect();
        let head = ["path", "change", "added", "removed", "record", "in the directory"];
        let mut parts: Vec<Part> = Part::table(&head, rows).into_iter().collect();
        let Total { files, added, removed } = difference.total();
        let total = format!("{}: +{added} −{removed} lines.", counted(files, "file differs", "files differ"));
        parts.extend((files > 0 && difference.later != Later::Evidence).then_some(Part::Text(total)));
        let more = self.paths.len().saturating_sub(LISTED_MAX);
        parts.extend((more > 0).then(|| Part::Text(format!("{more} more paths were changed."))));
        parts.extend(self.unknown.iter().map(|why| Part::Text(format!("The list of changes is incomplete: {why}"))));
        parts.extend(self.commits.iter().map(|moved| Part::Text(format!("A commit moved {moved}."))));
        parts
    }

    /// Returns the changed paths as JSON.
    pub(super) fn json(&self) -> Json {
        let one =
            |one: &ChangedPath| json!({ "path": one.path, "how": one.how, "seq": one.seq, "in_tree": one.is_in_tree });
        self.paths.iter().map(one).collect()
    }
}

fn is_undo(write: &Write) -> bool {
    write.activity.is_none()
}

fn has_files(write: &Write) -> bool {
    write.changes.as_ref().is_some_and(|changes| !changes.files.is_empty())
}

fn changed(net: &Net<'_>) -> Option<ChangedPath> {
    let is_in_tree = net.first.before != net.last.after;
    if !is_in_tree && !net.is_undone {
        return None;
    }
    let after = if is_in_tree { &net.last.after } else { &net.first.after };
    let how = match (&net.first.before, after) {
        (None, _) => "added",
        (Some(_), None) => "removed",
        (Some(_), Some(_)) => "changed",
    };
    Some(ChangedPath { path: net.first.path.display().to_string(), how, seq: net.seq, is_in_tree })
}
