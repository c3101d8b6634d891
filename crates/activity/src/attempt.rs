//! One try of an activity: what it is given and whom it can ask.

use std::{path::PathBuf, sync::Arc};

use interlock_chart::Value;
use interlock_core::ActivityId;
use interlock_journal::EvidenceStore;
use tokio::sync::watch;

use crate::{Future, Invocation, Outcome};

/// One try of an activity.
#[derive(Clone)]
pub struct Attempt {
    /// The run.
    pub run: Arc<str>,
    /// Which start of the activity within the run.
    pub activity: ActivityId,
    /// What the machine says where it invokes it.
    pub invocation: Arc<Invocation>,
    /// The how-manieth try of that start, from 1.
    pub number: u32,
    /// When the first try of that start began, in milliseconds since 1970.
    pub begun_ms: i64,
    /// What the machine gives it.
    pub with: Value,
    /// The folder the run works in.
    pub folder: PathBuf,
    /// The snapshot of the workspace that was taken before this attempt, if it may write.
    pub snapshot: Option<String>,
    /// A file to write output to while it comes in, for those who watch; whoever starts the attempt removes it afterwards.
    pub live: PathBuf,
    /// Where big things go.
    pub evidence: EvidenceStore,
    /// Whom to ask for the rest.
    pub host: Arc<dyn Host>,
    /// Says when to stop.
    pub cancel: Cancel,
}

/// What an attempt can ask of whoever started it.
pub trait Host: Send + Sync {
    /// Says how far it has come: shown to those who watch, and a sign of life.
    fn progress(&self, run: &str, activity: ActivityId, text: &str);

    /// The time, in milliseconds since 1970.
    fn now_ms(&self) -> i64;

    /// Returns when this much time has passed.
    fn sleep(&self, ms: u64) -> Future<()>;

    /// Uses what people have granted the run: all of it or nothing. The use is recorded before this says yes.
    fn use_grants(&self, order: UseGrants) -> Future<bool> {
        let _ = order;
        Box::pin(std::future::ready(false))
    }

    /// Takes writes of a run back, newest first: all that were chosen, or, where somebody else has changed a path since, none. May fail where
    /// nothing is kept.
    fn take_back(&self, order: TakeBack) -> Future<Result<TakenBack, String>> {
        let _ = order;
        Box::pin(std::future::ready(Err("nothing is kept here that could be taken back".to_owned())))
    }

    /// A file of the project as it was when a run began. May block.
    fn project_file(&self, _run: &str, _path: &str) -> Result<ProjectFile, String> {
        Ok(ProjectFile::NotKept)
    }

    /// Starts another run, or finds the one started by an earlier attempt, and waits for its end.
    fn run(&self, start: StartRun) -> Ending;
}

type Ending = Future<Outcome>;

/// A file of a project, as a run keeps it from its beginning.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ProjectFile {
    /// The run was begun by a version that kept none: the file of today counts.
    NotKept,
    /// There was no such file.
    Absent,
    /// Its content.
    Text(String),
}

/// What a try needs people to have said yes to.
#[derive(Clone, Debug)]
pub struct UseGrants {
    /// The run.
    pub run: Arc<str>,
    /// Which start of an activity.
    pub activity: ActivityId,
    /// Which try.
    pub number: u32,
    /// What it needs: `destroy:git reset --hard`.
    pub scopes: Vec<String>,
}

/// Writes to be taken back.
#[derive(Clone, Debug)]
pub struct TakeBack {
    /// Of which run.
    pub run: Arc<str>,
    /// Which.
    pub writes: Writes,
    /// Only paths at or below these; all where there are none.
    pub paths: Vec<PathBuf>,
    /// The snapshot that the attempt began with which asks for it.
    pub snapshot: Option<String>,
}

/// Which writes of a run.
#[derive(Clone, Debug, PartialEq)]
pub enum Writes {
    /// All of them.
    Run,
    /// Those since the run last left a state where it may rest: one tagged `idle`.
    Turn,
    /// Those after a record.
    After(u64),
    /// That of one record.
    Record(u64),
    /// Those of one start of an activity.
    Activity(ActivityId),
    /// Those of the last visit to a state, and to the states in it.
    State(String),
    /// Those since an activity ended with this as its `step`.
    Step(Value),
}

/// What was taken back.
#[derive(Clone, Debug, Default)]
pub struct TakenBack {
    /// The records of the writes.
    pub writes: Vec<u64>,
    /// The paths that were put back.
    pub paths: Vec<String>,
    /// The paths that somebody else has changed since; then nothing was put back.
    pub conflicts: Vec<String>,
    /// The same in words, with what is there and what was there.
    pub view: String,
}

/// A run to be started by a run.
#[derive(Clone, Debug)]
pub struct StartRun {
    /// Who starts it.
    pub parent: Arc<str>,
    /// Which start of the activity: with the parent it names the child, so that it is started once however often it is tried.
    pub activity: ActivityId,
    /// The machine, by name or path.
    pub machine: String,
    /// What it is given.
    pub input: Value,
    /// Where it works.
    pub folder: PathBuf,
    /// Whether it goes on when the state that started it is left.
    pub is_detached: bool,
}

/// Says when to stop.
#[derive(Clone, Debug)]
pub struct Cancel(watch::Receiver<bool>);

/// Tells an attempt to stop.
#[derive(Debug)]
pub struct Canceller(watch::Sender<bool>);

impl Canceller {
    /// Both ends.
    pub fn new() -> (Canceller, Cancel) {
        let (sender, receiver) = watch::channel(false);
        (Canceller(sender), Cancel(receiver))
    }

    /// Stop.
    pub fn cancel(&self) {
        self.0.send_replace(true);
    }
}

impl Cancel {
    /// Returns when the attempt should stop; never, where nobody is left to say so.
    pub async fn cancelled(&mut self) {
        if self.0.wait_for(|cancelled| *cancelled).await.is_err() {
            std::future::pending::<()>().await;
        }
    }
}
