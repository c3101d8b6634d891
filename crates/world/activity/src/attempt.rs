//! One attempt of an activity: its data and the services it can use.

use std::{path::PathBuf, sync::Arc};

use interlock_chart::Value;
use interlock_core::ActivityId;
use interlock_journal::{Evidence, EvidenceStore, Hash};
use tokio::sync::watch;

use crate::{Future, Invocation, Outcome};

/// One attempt of an activity.
#[derive(Clone)]
pub struct Attempt {
    /// The id of the run.
    pub run: Arc<str>,
    /// The id of this start of the activity within the run.
    pub activity: ActivityId,
    /// The machine's declaration of the invocation.
    pub invocation: Arc<Invocation>,
    /// The attempt number of that start, from 1.
    pub number: u32,
    /// The time when the first attempt of that start began, in milliseconds since 1970.
    pub begun_ms: i64,
    /// The data that the machine gives it under `with`.
    pub with: Value,
    /// The directory that the run works in.
    pub folder: PathBuf,
    /// The snapshot of the workspace that was taken before this attempt, if it may write.
    pub snapshot: Option<String>,
    /// A file for output while it arrives, for watchers; the runtime removes it after the attempt.
    pub live: PathBuf,
    /// The store for large outputs.
    pub evidence: EvidenceStore,
    /// Runtime services: clock, progress, grants, child runs.
    pub host: Arc<dyn Host>,
    /// The signal that tells the attempt to stop.
    pub cancel: Cancel,
}

/// The runtime services that an attempt can use.
pub trait Host: Send + Sync {
    /// Reports progress: it is shown to watchers and counts as a sign of life.
    fn progress(&self, run: &str, activity: ActivityId, text: &str);

    /// The current time, in milliseconds since 1970.
    fn now_ms(&self) -> i64;

    /// Returns when this much time has passed.
    fn sleep(&self, ms: u64) -> Future<()>;

    /// Uses grants that people have given the run: all of them or none. The use is recorded before this returns true.
    fn use_grants(&self, order: UseGrants) -> Future<bool> {
        let _ = order;
        Box::pin(std::future::ready(false))
    }

    /// Asks a person and returns the data of the event that answers. Returns `None` if nobody answers in time, if the
    /// attempt is cancelled, or if no person can be asked. The question ends if the future is dropped.
    fn ask(&self, question: Question) -> Future<Option<Value>> {
        let _ = question;
        Box::pin(std::future::ready(None))
    }

    /// Undoes writes of a run, newest first: all selected writes, or none if another process has changed one of the
    /// paths since. Fails if the host keeps no snapshots.
    fn take_back(&self, order: TakeBack) -> Future<Result<TakenBack, String>> {
        let _ = order;
        Box::pin(std::future::ready(Err("there are no stored changes to undo".to_owned())))
    }

    /// Returns the hashes of the evidence with this name that the outcomes of a run have recorded, newest first, at most
    /// `at_most` of them. May block.
    fn recorded(&self, _run: &str, _name: &str, _at_most: usize) -> Result<Vec<Hash>, String> {
        Ok(Vec::new())
    }

    /// Returns the outcomes of a run's attempts since the last attempt of the activity `since` began, oldest first, at most
    /// `at_most` of them; an error if there are more. May block.
    fn outcomes(&self, _run: &str, _since: &str, _at_most: usize) -> Result<Vec<PastOutcome>, String> {
        Ok(Vec::new())
    }

    /// Returns the newest transitions of a run from one state to another, oldest first, at most `at_most` of them. May
    /// block.
    fn moves(&self, _run: &str, _at_most: usize) -> Result<Vec<PastMove>, String> {
        Ok(Vec::new())
    }

    /// Returns a file of the project as it was when a run began. May block.
    fn project_file(&self, _run: &str, _path: &str) -> Result<ProjectFile, String> {
        Ok(ProjectFile::NotKept)
    }

    /// Starts another run, or finds the one started by an earlier attempt, and waits for its end.
    fn run(&self, start: StartRun) -> Ending;
}

type Ending = Future<Outcome>;

/// The recorded outcome of an attempt.
#[derive(Clone, Debug, PartialEq)]
pub struct PastOutcome {
    /// The name of the activity.
    pub activity: String,
    /// The name of the signal; `None` if the attempt ended with an error.
    pub signal: Option<String>,
    /// The data of the signal or of the error.
    pub data: Value,
    /// The files that the attempt produced.
    pub evidence: Vec<Evidence>,
}

/// A transition that a run has taken.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PastMove {
    /// The state that was left.
    pub from_state: String,
    /// The event that triggered it.
    pub event: String,
    /// The state that was entered.
    pub to_state: String,
    /// The time of its record, in milliseconds since 1970.
    pub at_ms: i64,
}

/// A file of a project, as a run recorded it at its beginning.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ProjectFile {
    /// The run was started by a version that kept no files: the current file counts.
    NotKept,
    /// There was no such file.
    Absent,
    /// The content of the file.
    Text(String),
}

/// The permissions that an attempt needs people to have granted.
#[derive(Clone, Debug)]
pub struct UseGrants {
    /// The id of the run.
    pub run: Arc<str>,
    /// The id of the start of the activity.
    pub activity: ActivityId,
    /// The attempt number of that start.
    pub number: u32,
    /// The scopes that it needs, such as `destroy:git reset --hard`.
    pub scopes: Vec<String>,
}

/// A question that a running attempt asks a person.
#[derive(Clone, Debug, PartialEq)]
pub struct Question {
    /// The id of the run.
    pub run: Arc<str>,
    /// The id of the start of the activity.
    pub activity: ActivityId,
    /// The attempt number of that start.
    pub number: u32,
    /// The event that answers the question, such as `PERMIT`. The state that invokes the activity must take it without
    /// a target, and its data must have the field `id`.
    pub event: String,
    /// The id of the question, which its answer carries. An id that is used once per run cannot be answered by mistake.
    pub id: String,
    /// The question in words.
    pub text: String,
    /// The data to decide by: an object of labels and values.
    pub shows: Value,
    /// The time for an answer, in milliseconds.
    pub timeout_ms: u64,
}

/// An order to undo writes.
#[derive(Clone, Debug)]
pub struct TakeBack {
    /// The run whose writes are undone.
    pub run: Arc<str>,
    /// The selection of the writes.
    pub writes: Writes,
    /// Only paths at or below these; all paths if the list is empty.
    pub paths: Vec<PathBuf>,
    /// The snapshot that was taken before the attempt that gives this order.
    pub snapshot: Option<String>,
}

/// A selection of a run's writes.
#[derive(Clone, Debug, PartialEq)]
pub enum Writes {
    /// All writes of the run.
    Run,
    /// The writes since the run last left a state in which it may rest: one tagged `idle`.
    Turn,
    /// The writes after a record.
    After(u64),
    /// The write of one record.
    Record(u64),
    /// The writes of one start of an activity.
    Activity(ActivityId),
    /// The writes of the last visit to a state, and to the states inside it.
    State(String),
    /// The writes since an activity ended with this value as its `step`.
    Step(Value),
}

/// The result of undoing writes.
#[derive(Clone, Debug, Default)]
pub struct TakenBack {
    /// The records of the writes that were undone.
    pub writes: Vec<u64>,
    /// The paths that were restored.
    pub paths: Vec<String>,
    /// The paths that another process has changed since; if there are any, nothing was restored.
    pub conflicts: Vec<String>,
    /// The same result as text, with the current and the former contents.
    pub view: String,
}

/// A run to be started by another run.
#[derive(Clone, Debug)]
pub struct StartRun {
    /// The run that starts it.
    pub parent: Arc<str>,
    /// The start of the activity. Together with the parent it identifies the child run, so that repeated attempts start
    /// it only once.
    pub activity: ActivityId,
    /// The machine, by name or path.
    pub machine: String,
    /// The input of the new run.
    pub input: Value,
    /// The directory that it works in.
    pub folder: PathBuf,
    /// True if it continues when the state that started it is left.
    pub is_detached: bool,
}

/// Receives the order to stop an attempt.
#[derive(Clone, Debug)]
pub struct Cancel(watch::Receiver<bool>);

/// Sends the order to stop an attempt.
#[derive(Debug)]
pub struct Canceller(watch::Sender<bool>);

impl Canceller {
    /// Creates the two connected ends.
    pub fn new() -> (Canceller, Cancel) {
        let (sender, receiver) = watch::channel(false);
        (Canceller(sender), Cancel(receiver))
    }

    /// Orders the attempt to stop.
    pub fn cancel(&self) {
        self.0.send_replace(true);
    }
}

impl Cancel {
    /// Returns when the attempt should stop. It never returns if the canceller was dropped without an order.
    pub async fn cancelled(&mut self) {
        if self.0.wait_for(|cancelled| *cancelled).await.is_err() {
            std::future::pending::<()>().await;
        }
    }
}
