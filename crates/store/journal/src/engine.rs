//! The interface between the runtime and the storage that makes runs durable.
//!
//! An engine keeps records, wakes runs, carries messages between workers and ensures that one worker at a time advances a run.
//! It decides nothing: `step` decides what a record means. The conformance suite (`crates/test/testkit-engine`) defines what an
//! engine must do; a second engine is correct if it passes.

use std::collections::{BTreeMap, BTreeSet};

use crate::{Definition, Entry, EvidenceStore, Hash, Receipt, Record, Result, Unchained};
use interlock_core::TimerId;

/// The number of a run within an engine. A run that is created later has a higher number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RunKey(pub i64);

/// The state of a run as a whole, for lists and filters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Phase {
    /// An activity is under way, or a timer will wake the run.
    Active,
    /// Only a person or another run can advance it.
    Waiting,
    /// It does nothing until it is resumed.
    Paused,
    /// It ended with success.
    Succeeded,
    /// It ended with a failure.
    Failed,
    /// It ended because it was stopped.
    Aborted,
    /// It ended with a result about which something was not shown.
    Incomplete,
}

impl Phase {
    /// All phases; the position of a phase is its number in the store.
    pub const ALL: [Phase; 7] = [
        Phase::Active,
        Phase::Waiting,
        Phase::Paused,
        Phase::Succeeded,
        Phase::Failed,
        Phase::Aborted,
        Phase::Incomplete,
    ];
    /// The phases of runs that have ended.
    pub const ENDED: [Phase; 4] = [Phase::Succeeded, Phase::Incomplete, Phase::Failed, Phase::Aborted];

    /// Returns the word that people read.
    pub fn word(self) -> &'static str {
        match self {
            Phase::Active => "active",
            Phase::Waiting => "waiting",
            Phase::Paused => "paused",
            Phase::Succeeded => "succeeded",
            Phase::Failed => "failed",
            Phase::Aborted => "aborted",
            Phase::Incomplete => "incomplete",
        }
    }

    /// Returns true if the run has ended.
    pub fn is_over(self) -> bool {
        Phase::ENDED.contains(&self)
    }
}

/// The end of the store's chain: a number and a hash that cover every record of every run.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct StoreHead {
    /// The store's name: random digits, in hex.
    pub store: String,
    /// The number of records of all runs.
    pub records: u64,
    /// The hash over all of them, in the order of writing.
    pub hash: Hash,
}

/// A run that is to be created.
#[derive(Clone, Debug)]
pub struct NewRun {
    /// The run's name, unique within a store.
    pub name: String,
    /// The id of the run's machine.
    pub machine: String,
    /// The hash of the machine's definition, which never changes for a run. The definition must be stored already.
    pub definition: String,
    /// The name of the run that started it.
    pub parent: Option<String>,
    /// True if the caller claims the run as it creates it.
    pub claim: bool,
    /// The first records, and the changes that become durable with them.
    pub first: Append,
}

/// Records to be added to a run, and everything that must become durable with them or not at all.
#[derive(Clone, Debug)]
pub struct Append {
    /// The records, in order.
    pub records: Vec<Unchained>,
    /// Files that the records refer to, by the position of the record.
    pub evidence: Vec<(usize, crate::Evidence)>,
    /// The phase of the run after these records.
    pub phase: Phase,
    /// The active states after these records, for lists.
    pub place: String,
    /// The state after the last of the records, if it is time for a snapshot.
    pub snapshot: Option<String>,
    /// The timers that are set and cleared.
    pub timers: Vec<TimerChange>,
    /// The message that these records answer, with the answer.
    pub answer: Option<(i64, String)>,
}

/// A change to a run's timers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TimerChange {
    /// Sets a timer that wakes the run.
    Set {
        /// The timer to set.
        timer: TimerId,
        /// The due time, in milliseconds since 1970.
        due_ms: i64,
    },
    /// Clears a timer, so that it does not fire.
    Clear {
        /// The timer to clear.
        timer: TimerId,
    },
}

/// The right to advance a run. Every claim has a higher epoch, so that a worker that has lost the run cannot write to
/// it any more.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Lease {
    /// The number of claims of the run so far.
    pub epoch: i64,
}

/// The name of a worker: a process that can own runs. Unique among the living workers of a store, and readable in a sentence.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize)]
#[serde(transparent)]
pub struct WorkerName(pub String);

impl std::fmt::Display for WorkerName {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.write_str(&self.0)
    }
}

/// The result of a claim.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Claim {
    /// The run is ours now. Its former owner is dead; the new owner must recover the attempts that it had begun.
    Ours(Lease),
    /// A living worker owns the run.
    Held {
        /// The name of the owner.
        worker: WorkerName,
    },
}

/// A run as lists show it.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub struct Head {
    /// The run's number within the engine.
    #[serde(skip)]
    pub key: RunKey,
    /// The run's name, unique within a store.
    #[serde(rename = "run")]
    pub name: String,
    /// The id of the run's machine.
    pub machine: String,
    /// The hash of the machine's definition.
    pub definition: String,
    /// The name of the run that started it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub parent: Option<String>,
    /// The time of its creation.
    #[serde(rename = "created", with = "crate::moment")]
    pub created_ms: i64,
    /// The time of its last record.
    #[serde(rename = "updated", with = "crate::moment")]
    pub updated_ms: i64,
    /// The sequence number of the last record.
    pub seq: u64,
    /// The hash of the last record.
    pub hash: Hash,
    /// The state of the run as a whole.
    pub phase: Phase,
    /// The active states, for lists.
    pub place: String,
    /// The number of times that the run was claimed.
    #[serde(skip)]
    pub epoch: i64,
    /// The due time of its next timer, in milliseconds since 1970.
    #[serde(skip)]
    pub due_ms: Option<i64>,
}

/// The living worker that owns a run.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub struct Holder {
    /// The name of the owner.
    pub worker: WorkerName,
    /// The time of its claim, in milliseconds since 1970; unknown for a store of an older version.
    #[serde(
        rename = "since",
        serialize_with = "crate::moment::serialize_known",
        skip_serializing_if = "Option::is_none"
    )]
    pub since_ms: Option<i64>,
}

/// Everything that a worker needs to continue a run.
#[derive(Clone, Debug)]
pub struct Opened {
    /// The run as lists show it.
    pub head: Head,
    /// The first record: the start of the run.
    pub first: Record,
    /// The last snapshot, with the number of the record after which it was taken.
    pub snapshot: Option<(u64, String)>,
    /// The records after the snapshot; all records if the run has no snapshot.
    pub tail: Vec<Record>,
    /// The timers that are set, with their due times in milliseconds since 1970.
    pub timers: Vec<(TimerId, i64)>,
}

/// A selection of runs to list.
#[derive(Clone, Debug, Default)]
pub struct Filter {
    /// Only runs of this machine.
    pub machine: Option<String>,
    /// Only runs in one of these phases; empty for all.
    pub phases: Vec<Phase>,
    /// Only runs whose name begins with this text.
    pub prefix: Option<String>,
    /// Only runs that were created before this one. The last run of a page is the cursor of the next page.
    pub before: Option<RunKey>,
    /// The highest number of runs to return, newest first; 0 for all.
    pub at_most: usize,
}

/// A record that was added to the store.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Change {
    /// The number of the record among the records of all runs: its position in the store's chain.
    pub number: u64,
    /// The run that the record belongs to.
    pub run: RunKey,
    /// The sequence number of the record in its run.
    pub seq: u64,
}

/// A request to a run from a process that does not own the run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Message {
    /// The number that the answer names.
    pub id: i64,
    /// The content: JSON that only runtimes interpret.
    pub body: String,
}

/// The state of a message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Posted {
    /// The owner of the run has not answered it yet.
    Open,
    /// The owner has answered. The answer is JSON that only runtimes interpret.
    Answered(String),
}

/// The runs that a worker should act on.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Work {
    /// Active runs that no living worker owns.
    pub orphans: Vec<RunKey>,
    /// Runs whose timer is due and that no living worker owns.
    pub due: Vec<RunKey>,
    /// Runs of this worker that have open messages.
    pub messages: Vec<RunKey>,
    /// The due time of the next timer of a run that has no owner.
    pub next_due_ms: Option<i64>,
}

/// The storage that makes runs durable.
pub trait Engine: Send + Sync + 'static {
    /// Stores a machine's definition under its hash.
    fn define(&self, definition: Definition) -> Receipt<()>;

    /// Returns a definition by its hash.
    fn definition(&self, hash: &str) -> Result<Definition>;

    /// Creates a run with its first records.
    fn create(&self, run: NewRun) -> Receipt<Head>;

    /// Appends to a run whose last record is `after` and that is owned under `lease`; returns the new last record. Durable when the
    /// receipt completes, and not before. Refused as a whole if the run has advanced or the lease is lost.
    ///
    /// Safe to repeat after a lost answer: if the run has exactly these records after `after` already (same sequence numbers, same
    /// hashes), nothing is written and the call succeeds.
    fn append(&self, run: RunKey, after: u64, lease: Lease, append: Append) -> Receipt<u64>;

    /// Returns a run by its name.
    fn find(&self, name: &str) -> Result<Option<Head>>;

    /// Returns a run by its key.
    fn head(&self, run: RunKey) -> Result<Head>;

    /// Lists runs, newest first. [`Filter::before`] and [`Filter::at_most`] page through them.
    fn list(&self, filter: &Filter) -> Result<Vec<Head>>;

    /// Counts the selected runs by phase. [`Filter::before`] and [`Filter::at_most`] do not limit the count.
    fn count(&self, filter: &Filter) -> Result<BTreeMap<Phase, u64>> {
        let mut counted = BTreeMap::new();
        for head in self.list(&Filter { before: None, at_most: 0, ..filter.clone() })? {
            *counted.entry(head.phase).or_default() += 1;
        }
        Ok(counted)
    }

    /// Returns the records of all runs that were added after number `since`, oldest first, at most `at_most` of them. A
    /// record that becomes visible later always has a higher number, so a reader that remembers the last number misses
    /// nothing.
    fn changes(&self, since: u64, at_most: usize) -> Result<Vec<Change>>;

    /// Returns the number of the last record of all runs; 0 if there is none.
    fn last_change(&self) -> Result<u64>;

    /// Returns everything that is needed to continue a run.
    fn open(&self, run: RunKey) -> Result<Opened>;

    /// Returns the records from number `from` on, at most `at_most` of them.
    fn records(&self, run: RunKey, from: u64, at_most: usize) -> Result<Vec<Record>>;

    /// Returns the evidence that the index has for a run: numbers of records and hashes of files.
    fn evidence_index(&self, run: RunKey) -> Result<BTreeSet<(u64, Hash)>>;

    /// Returns the name under which this process claims runs.
    fn worker(&self) -> WorkerName;

    /// Claims a run at the time `now_ms`, unless a living worker owns it.
    fn claim(&self, run: RunKey, now_ms: i64) -> Receipt<Claim>;

    /// Returns the living worker that owns a run, if there is one.
    fn holder(&self, run: RunKey) -> Result<Option<Holder>>;

    /// Returns the record of the entry to which a sender gave this id, if there is one.
    fn sent(&self, run: RunKey, id: &str) -> Result<Option<u64>>;

    /// Releases a run that was claimed under `lease`.
    fn release(&self, run: RunKey, lease: Lease) -> Receipt<()>;

    /// Stores a message for the owner of the run.
    fn post(&self, run: RunKey, body: String) -> Receipt<i64>;

    /// Wakes the owner of the run, because it has a message.
    fn ring(&self, run: RunKey) -> Result<()>;

    /// Returns the state of a message.
    fn posted(&self, message: i64) -> Result<Posted>;

    /// Removes a message, answered or not, and returns the state that it had. If the state was open, the message has
    /// not been acted on, and never will be.
    fn withdraw(&self, message: i64) -> Receipt<Posted>;

    /// Returns the open messages of a run, oldest first.
    fn messages(&self, run: RunKey) -> Result<Vec<Message>>;

    /// Answers a message that led to no record.
    fn answer(&self, message: i64, answer: String) -> Receipt<()>;

    /// Returns the runs that a worker should act on at the time `now_ms`.
    fn work(&self, now_ms: i64) -> Result<Work>;

    /// Blocks until another process wakes this worker or until this many milliseconds have passed.
    fn wait_for_bell(&self, at_most_ms: u64);

    /// Returns the store of content that is too big for a record.
    fn evidence(&self) -> &EvidenceStore;

    /// Makes a record of an entry. An entry that is too big for a record is stored as evidence first.
    fn record(&self, at_ms: i64, entry: &Entry) -> Result<Unchained> {
        Unchained::kept(at_ms, entry, self.evidence())
    }

    /// Returns the entry of a record, from the record itself or from the evidence store.
    fn entry(&self, record: &Record) -> Result<Entry> {
        record.entry(self.evidence())
    }
}
