//! The seam between the runtime and whatever makes runs durable.
//!
//! An engine keeps records, wakes runs, carries messages between workers and ensures that one worker at a time advances a run.
//! It decides nothing: `step` decides what a record means. The conformance suite (`crates/testkit-engine`) defines what an
//! engine must do; a second engine is correct if it passes.

use std::collections::BTreeSet;

use crate::{Definition, Entry, EvidenceStore, Hash, Receipt, Record, Result, Unchained};
use interlock_core::TimerId;

/// The number of a run within an engine. A run that is created later has a higher number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RunKey(pub i64);

/// Where a run stands as a whole, for lists and filters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Phase {
    /// Something is under way, or a timer will wake it.
    Active,
    /// Only a person or another run can move it.
    Waiting,
    /// It stands still until it is resumed.
    Paused,
    /// It did what it was asked.
    Succeeded,
    /// It did not.
    Failed,
    /// It was told to stop.
    Aborted,
}

impl Phase {
    /// All of them; the position is the number in the store.
    pub const ALL: [Phase; 6] =
        [Phase::Active, Phase::Waiting, Phase::Paused, Phase::Succeeded, Phase::Failed, Phase::Aborted];

    /// The word for people.
    pub fn word(self) -> &'static str {
        match self {
            Phase::Active => "active",
            Phase::Waiting => "waiting",
            Phase::Paused => "paused",
            Phase::Succeeded => "succeeded",
            Phase::Failed => "failed",
            Phase::Aborted => "aborted",
        }
    }

    /// Whether nothing more will happen.
    pub fn is_over(self) -> bool {
        matches!(self, Phase::Succeeded | Phase::Failed | Phase::Aborted)
    }
}

/// The end of the store's chain: a number and a hash that stand for every record of every run.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct StoreHead {
    /// The store's name: random, in hex.
    pub store: String,
    /// Records of all runs.
    pub records: u64,
    /// The hash over all of them, in the order of writing.
    pub hash: Hash,
}

/// A run to be made.
#[derive(Clone, Debug)]
pub struct NewRun {
    /// Its name: unique, and how people call it.
    pub name: String,
    /// The machine's id.
    pub machine: String,
    /// The hash of the definition it will always have; stored before.
    pub definition: String,
    /// The run that started it.
    pub parent: Option<String>,
    /// Whether the one who makes it also holds it.
    pub claim: bool,
    /// Its first records and what else comes with them.
    pub first: Append,
}

/// Records to be added to a run, and everything that must become durable with them or not at all.
#[derive(Clone, Debug)]
pub struct Append {
    /// The records, in order.
    pub records: Vec<Unchained>,
    /// Files that the records refer to, by the position of the record.
    pub evidence: Vec<(usize, crate::Evidence)>,
    /// Where the run then stands.
    pub phase: Phase,
    /// The active states, for lists.
    pub place: String,
    /// The state after the last of the records, where it is time for one.
    pub snapshot: Option<String>,
    /// Timers set and cleared.
    pub timers: Vec<TimerChange>,
    /// The message that this answers, with the answer.
    pub answer: Option<(i64, String)>,
}

/// A change to a run's timers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TimerChange {
    /// Wake the run.
    Set {
        /// Which timer.
        timer: TimerId,
        /// When, in milliseconds since 1970.
        due_ms: i64,
    },
    /// Do not.
    Clear {
        /// Which timer.
        timer: TimerId,
    },
}

/// The right to advance a run. Every claim has a higher epoch, so that one who has lost the run cannot write to it any more.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Lease {
    /// Counts the claims of the run.
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
        /// The owner.
        worker: WorkerName,
    },
}

/// A run as lists show it.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub struct Head {
    /// Within the engine.
    #[serde(skip)]
    pub key: RunKey,
    /// Its name.
    #[serde(rename = "run")]
    pub name: String,
    /// The machine's id.
    pub machine: String,
    /// The hash of its definition.
    pub definition: String,
    /// The run that started it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub parent: Option<String>,
    /// When it was made.
    #[serde(rename = "created", with = "crate::moment")]
    pub created_ms: i64,
    /// When its last record was.
    #[serde(rename = "updated", with = "crate::moment")]
    pub updated_ms: i64,
    /// The last record's place.
    pub seq: u64,
    /// The last record's hash.
    pub hash: Hash,
    /// Where it stands as a whole.
    pub phase: Phase,
    /// The active states.
    pub place: String,
    /// How often it was claimed.
    #[serde(skip)]
    pub epoch: i64,
    /// When its next timer is due, in milliseconds since 1970.
    #[serde(skip)]
    pub due_ms: Option<i64>,
}

/// The living worker that owns a run.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub struct Holder {
    /// The worker.
    pub worker: WorkerName,
    /// When it took the run, in milliseconds since 1970; unknown for a store of an older version.
    #[serde(
        rename = "since",
        serialize_with = "crate::moment::serialize_known",
        skip_serializing_if = "Option::is_none"
    )]
    pub since_ms: Option<i64>,
}

/// A run as it must be to go on.
#[derive(Clone, Debug)]
pub struct Opened {
    /// What lists show.
    pub head: Head,
    /// The first record: how it began.
    pub first: Record,
    /// The last stored state and the record it was taken after.
    pub snapshot: Option<(u64, String)>,
    /// The records after the snapshot (all of them where there is none).
    pub tail: Vec<Record>,
    /// Timers set, and when they are due.
    pub timers: Vec<(TimerId, i64)>,
}

/// Which runs to list.
#[derive(Clone, Debug, Default)]
pub struct Filter {
    /// Only of this machine.
    pub machine: Option<String>,
    /// Only in one of these phases; empty for all.
    pub phases: Vec<Phase>,
    /// Only whose name begins so.
    pub prefix: Option<String>,
    /// Only runs that were created before this one. The last run of a page is the cursor of the next page.
    pub before: Option<RunKey>,
    /// At most so many, newest first; 0 for all.
    pub at_most: usize,
}

/// A record that was added to the store.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Change {
    /// Its number among the records of all runs: its place in the store's chain.
    pub number: u64,
    /// Its run.
    pub run: RunKey,
    /// Its place in the run.
    pub seq: u64,
}

/// Something sent to a run by whoever does not hold it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Message {
    /// To be named in the answer.
    pub id: i64,
    /// What: JSON, between runtimes.
    pub body: String,
}

/// What became of a message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Posted {
    /// Nobody has looked at it yet.
    Open,
    /// Answered: JSON, between runtimes.
    Answered(String),
}

/// Runs that need somebody.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Work {
    /// Active runs that nobody living holds.
    pub orphans: Vec<RunKey>,
    /// Runs whose timer is due and that nobody living holds.
    pub due: Vec<RunKey>,
    /// Runs of ours with messages.
    pub messages: Vec<RunKey>,
    /// When the next timer of a run that nobody holds is due.
    pub next_due_ms: Option<i64>,
}

/// What makes runs durable.
pub trait Engine: Send + Sync + 'static {
    /// Keeps a machine's definition, by its hash.
    fn define(&self, definition: Definition) -> Receipt<()>;

    /// A definition by its hash.
    fn definition(&self, hash: &str) -> Result<Definition>;

    /// Makes a run.
    fn create(&self, run: NewRun) -> Receipt<Head>;

    /// Appends to a run whose last record is `after` and that is owned under `lease`; returns the new last record. Durable when the
    /// receipt completes, and not before. Refused as a whole if the run has advanced or the lease is lost.
    ///
    /// Safe to repeat after a lost answer: if the run has exactly these records after `after` already (same sequence numbers, same
    /// hashes), nothing is written and the call succeeds.
    fn append(&self, run: RunKey, after: u64, lease: Lease, append: Append) -> Receipt<u64>;

    /// A run by its name.
    fn find(&self, name: &str) -> Result<Option<Head>>;

    /// Lists runs, newest first. [`Filter::before`] and [`Filter::at_most`] page through them.
    fn list(&self, filter: &Filter) -> Result<Vec<Head>>;

    /// Returns the records of all runs that were added after number `since`, oldest first, at most so many. A record that becomes
    /// visible later always has a higher number, so a reader that remembers the last number misses nothing.
    fn changes(&self, since: u64, at_most: usize) -> Result<Vec<Change>>;

    /// What is needed to go on with a run.
    fn open(&self, run: RunKey) -> Result<Opened>;

    /// Records from `from` on, at most so many.
    fn records(&self, run: RunKey, from: u64, at_most: usize) -> Result<Vec<Record>>;

    /// The evidence that the index has for a run: numbers of records and hashes of files.
    fn evidence_index(&self, run: RunKey) -> Result<BTreeSet<(u64, Hash)>>;

    /// The name under which this process claims runs.
    fn worker(&self) -> WorkerName;

    /// Claims a run at the time `now_ms`, unless a living worker owns it.
    fn claim(&self, run: RunKey, now_ms: i64) -> Receipt<Claim>;

    /// The living worker that owns a run.
    fn holder(&self, run: RunKey) -> Result<Option<Holder>>;

    /// The record of the entry that a sender gave this id, where there is one.
    fn sent(&self, run: RunKey, id: &str) -> Result<Option<u64>>;

    /// Gives it back.
    fn release(&self, run: RunKey, lease: Lease) -> Receipt<()>;

    /// Leaves a message for whoever holds the run.
    fn post(&self, run: RunKey, body: String) -> Receipt<i64>;

    /// Rings the bell of whoever holds the run: there is a message.
    fn ring(&self, run: RunKey) -> Result<()>;

    /// What became of a message.
    fn posted(&self, message: i64) -> Result<Posted>;

    /// Takes a message back, answered or not, and returns what had become of it: one that was open has been acted on by nobody, nor will be.
    fn withdraw(&self, message: i64) -> Receipt<Posted>;

    /// The open messages of a run, oldest first.
    fn messages(&self, run: RunKey) -> Result<Vec<Message>>;

    /// Answers a message that led to no record.
    fn answer(&self, message: i64, answer: String) -> Receipt<()>;

    /// What needs somebody, as of `now_ms`.
    fn work(&self, now_ms: i64) -> Result<Work>;

    /// Returns when somebody rang or this many milliseconds have passed. Blocks.
    fn wait_for_bell(&self, at_most_ms: u64);

    /// Where big things are.
    fn evidence(&self) -> &EvidenceStore;

    /// A record of an entry. One too big for a record becomes evidence first.
    fn record(&self, at_ms: i64, entry: &Entry) -> Result<Unchained> {
        Unchained::kept(at_ms, entry, self.evidence())
    }

    /// What a record says, wherever it is kept.
    fn entry(&self, record: &Record) -> Result<Entry> {
        record.entry(self.evidence())
    }
}
