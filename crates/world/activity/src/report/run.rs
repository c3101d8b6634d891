//! A run as its records have it, for whoever tells about it.

use std::path::PathBuf;

use interlock_chart::Value;
use interlock_journal::{By, Entry, Evidence, EvidenceStore, Hash, Phase, moment};
use serde_json::Value as Json;

use super::Account;

/// The longest file that is read to tell about a run: the results of some hundred thousand cases.
const READ_BYTES_MAX: u64 = 64 * 1_024 * 1_024;

/// A run with all its records.
#[derive(Debug)]
pub struct RecordedRun {
    /// The run's name.
    pub name: String,
    /// The machine's id.
    pub machine: String,
    /// The directory in which it works.
    pub folder: PathBuf,
    /// The phase of the run.
    pub phase: Phase,
    /// The time of its start, in milliseconds since 1970.
    pub created_ms: i64,
    /// The run's input.
    pub input: Json,
    /// Its context: every variable by name.
    pub context: Json,
    /// Its records, oldest first.
    pub records: Vec<RunRecord>,
    /// The undo in effect, if the run's writes were undone.
    pub reverted: Option<Reverted>,
    /// The files that its records refer to.
    pub evidence: EvidenceStore,
}

/// One record of a run and the transitions that it led to.
#[derive(Clone, Debug)]
pub struct RunRecord {
    /// Its number.
    pub seq: u64,
    /// The time of writing, in milliseconds since 1970.
    pub at_ms: i64,
    /// The content of the record.
    pub entry: Entry,
    /// The activity that it starts, ends or leaves to a person.
    pub activity: Option<RecordedActivity>,
    /// The transitions that it led to.
    pub moves: Vec<RecordedMove>,
    /// True if an attempt is in progress after it.
    pub is_busy: bool,
    /// The account of the attempt that it ends, from its activity.
    pub account: Option<Account>,
}

/// An activity that a record is about.
#[derive(Clone, Debug, PartialEq)]
pub struct RecordedActivity {
    /// Its name.
    pub name: String,
    /// The state that invoked it.
    pub state: String,
    /// The activity's arguments.
    pub with: Value,
}

/// One transition.
#[derive(Clone, Debug, PartialEq)]
pub struct RecordedMove {
    /// The source state; `None` for the start.
    pub from_state: Option<String>,
    /// The atomic states that it entered.
    pub to_state: Option<String>,
    /// The event that it was taken on.
    pub event: Option<String>,
    /// Its reason.
    pub reason: Option<String>,
    /// The sender of the event.
    pub by: Option<By>,
    /// The files that led to it.
    pub evidence_refs: Vec<Hash>,
    /// The machine's own count of its iterations, if it has one.
    pub iteration_index: Option<i64>,
}

/// An undo of a run's writes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reverted {
    /// The time of the undo, in milliseconds since 1970.
    pub at_ms: i64,
    /// The user who requested it.
    pub by: String,
    /// The number of paths that were skipped because they had been changed since.
    pub left: u64,
}

impl Reverted {
    /// Returns the time and the user: `at 2026-01-02T03:04:05Z by ada`.
    pub fn when(&self) -> String {
        format!("at {} by {}", moment::rfc3339(self.at_ms), self.by)
    }
}

impl RecordedRun {
    /// Every transition, oldest first.
    pub fn moves(&self) -> impl DoubleEndedIterator<Item = &RecordedMove> {
        self.records.iter().flat_map(|record| &record.moves)
    }

    /// Every file that a record refers to, with the record's number.
    pub fn files(&self) -> impl DoubleEndedIterator<Item = (u64, &Evidence)> {
        self.records.iter().flat_map(|record| record.entry.evidence().iter().map(|file| (record.seq, file)))
    }

    /// The last file of a name.
    pub fn last(&self, name: &str) -> Option<&Evidence> {
        self.files().rev().map(|(_, file)| file).find(|file| file.name == name)
    }

    /// The content of a file; nothing if it is no text, too long, or not there any more.
    pub fn text(&self, file: &Evidence) -> Option<String> {
        let content = (file.bytes <= READ_BYTES_MAX).then(|| self.evidence.get(&file.hash).ok()).flatten()?;
        String::from_utf8(content).ok().filter(|text| !text.contains('\0'))
    }

    /// The content of the last file of a name, as JSON; null if there is none.
    pub fn last_json(&self, name: &str) -> Json {
        let text = self.last(name).and_then(|file| self.text(file));
        text.and_then(|text| serde_json::from_str(&text).ok()).unwrap_or(Json::Null)
    }
}
