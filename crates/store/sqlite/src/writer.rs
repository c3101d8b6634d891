//! The one writer of a process. Jobs that arrive while a commit is under way are committed together, so that a thousand
//! runs share an fsync. A run that is alone does not wait for others: its own thread writes its job.

use std::{
    sync::{
        Arc, Condvar, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
    thread::JoinHandle,
    time::Duration,
};

use interlock_journal::{Error, Receipt, Result, StoreHead, Trouble};
use rusqlite::Connection;
use tokio::sync::oneshot;

use crate::{
    database::{self, BUSY_WAIT},
    head_file::HeadFile,
    store::chain,
};

/// Called after every commit that added records, with the new end of the store's chain. It must not block.
pub type OnCommit = Box<dyn Fn(&StoreHead) + Send + Sync>;

/// The maximum number of jobs that share a commit. More would make the first of them wait for the last.
const JOBS_PER_COMMIT_MAX: usize = 2_048;

/// The maximum number of waiting jobs. If it is reached, callers wait before they can add another job.
const JOBS_WAITING_MAX: usize = 16_384;

/// A write, within a transaction that it may share with others.
trait Job: Send {
    /// Does the write. An error from the store spoils the transaction; any other error leaves it untouched.
    fn write(&mut self, connection: &Connection) -> Result<()>;
    /// Reports the result of the commit to the caller that waits for it.
    fn settle(self: Box<Self>, committed: Result<()>);
}

struct PendingWrite<T, F> {
    write: Option<F>,
    result: Option<Result<T>>,
    reply: oneshot::Sender<Result<T>>,
}

impl<T: Send, F: FnOnce(&Connection) -> crate::Result<T> + Send> Job for PendingWrite<T, F> {
    fn write(&mut self, connection: &Connection) -> Result<()> {
        let Some(write) = self.write.take() else { return Ok(()) };
        let result = write(connection).map_err(Error::from);
        let spoilt = match &result {
            Err(error @ Error::Store { .. }) => Err(error.clone()),
            _ => Ok(()),
        };
        self.result = Some(result);
        spoilt
    }

    fn settle(self: Box<Self>, committed: Result<()>) {
        let result = match (committed, self.result) {
            (Ok(()), Some(result)) => result,
            (Ok(()), None) => Err(Error::Stopped("it was never tried".into())),
            (Err(error), _) => Err(error),
        };
        // If the caller no longer waits, the write is still valid.
        let _ = self.reply.send(result);
    }
}

/// Writes jobs, one transaction after the other.
#[derive(Debug)]
pub(crate) struct Writer {
    /// The state, or the reason for which nothing can be written.
    desk: Result<Arc<WriterState>>,
    /// The thread that writes; `None` if every job is written on the thread of its caller.
    thread: Option<JoinHandle<()>>,
}

/// The state that callers share with the thread that writes.
#[derive(Debug)]
struct WriterState {
    pen: Mutex<Pen>,
    waiting: Mutex<Waiting>,
    /// Wakes the thread that waits for jobs, and the callers that wait for room.
    bell: Condvar,
    /// True if the last commit had one job. Then the next job is most likely alone too, and its caller writes it: two
    /// thread switches cost a lone run as much as its fsync. If there are many callers, the switches cost each of them
    /// very little, and a separate commit for one of them would keep the others waiting.
    is_alone: AtomicBool,
}

/// The right to write: the holder of its lock writes.
struct Pen {
    connection: Connection,
    fate: Fate,
    head_file: HeadFile,
    on_commit: Option<OnCommit>,
}

#[derive(Default)]
struct Waiting {
    jobs: Vec<Box<dyn Job>>,
    is_closed: bool,
}

impl std::fmt::Debug for Pen {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.debug_struct("Pen").field("fate", &self.fate).finish()
    }
}

impl std::fmt::Debug for Waiting {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.debug_struct("Waiting").field("jobs", &self.jobs.len()).field("is_closed", &self.is_closed).finish()
    }
}

impl Writer {
    pub(crate) fn on_thread(connection: Connection, head_file: HeadFile) -> Result<Self> {
        let desk = Arc::new(WriterState::new(connection, head_file));
        let theirs = Arc::clone(&desk);
        let thread = std::thread::Builder::new()
            .name("journal".into())
            .spawn(move || theirs.write_all())
            .map_err(|error| Error::io("starting the journal's thread", &error))?;
        Ok(Writer { desk: Ok(desk), thread: Some(thread) })
    }

    /// Makes a writer that refuses every write, for a store that can only be read.
    pub(crate) fn refusing(why: Error) -> Self {
        Writer { desk: Err(why), thread: None }
    }

    /// Returns true if every write is refused.
    pub(crate) fn is_refusing(&self) -> bool {
        self.desk.is_err()
    }

    /// Makes a writer that writes every job on its caller's thread, one per commit: for tests that decide when a
    /// process dies.
    pub(crate) fn inline(connection: Connection, head_file: HeadFile) -> Self {
        Writer { desk: Ok(Arc::new(WriterState::new(connection, head_file))), thread: None }
    }

    /// Sets a function that is called after every commit that added records.
    pub(crate) fn on_commit(&self, call: OnCommit) {
        if let Ok(desk) = &self.desk {
            lock(&desk.pen).on_commit = Some(call);
        }
    }

    /// Submits a write. The receipt completes when the write is durable.
    pub(crate) fn write<T: Send + 'static>(
        &self,
        write: impl FnOnce(&Connection) -> crate::Result<T> + Send + 'static,
    ) -> Receipt<T> {
        let desk = match &self.desk {
            Ok(desk) => desk,
            Err(why) => return Receipt::of(Err(why.clone())),
        };
        let (reply, receipt) = oneshot::channel();
        let job: Box<dyn Job> = Box::new(PendingWrite { write: Some(write), result: None, reply });
        match self.thread {
            None => lock(&desk.pen).commit(vec![job]),
            Some(_) => desk.take(job),
        }
        Receipt::pending(receipt)
    }
}

impl Drop for Writer {
    /// Waits until the jobs that were submitted before are written.
    fn drop(&mut self) {
        if let Ok(desk) = &self.desk {
            lock(&desk.waiting).is_closed = true;
            desk.bell.notify_all();
        }
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

impl WriterState {
    fn new(connection: Connection, head_file: HeadFile) -> Self {
        let pen = Mutex::new(Pen { connection, fate: Fate::default(), head_file, on_commit: None });
        WriterState { pen, waiting: Mutex::default(), bell: Condvar::new(), is_alone: AtomicBool::new(true) }
    }

    /// Writes the job at once if no other job waits; otherwise the thread will write it.
    fn take(&self, job: Box<dyn Job>) {
        let job = match self.is_alone.load(Ordering::Relaxed) {
            true => match self.write_alone(job) {
                Some(job) => job,
                None => return,
            },
            false => job,
        };
        let mut waiting = lock(&self.waiting);
        while waiting.jobs.len() >= JOBS_WAITING_MAX {
            waiting = self.bell.wait(waiting).unwrap_or_else(PoisonError::into_inner);
        }
        waiting.jobs.push(job);
        drop(waiting);
        self.bell.notify_all();
    }

    /// Writes the job on the caller's thread. Returns the job if it would have to wait for another writer.
    fn write_alone(&self, job: Box<dyn Job>) -> Option<Box<dyn Job>> {
        let Ok(mut pen) = self.pen.try_lock() else { return Some(job) };
        if !lock(&self.waiting).jobs.is_empty() {
            return Some(job);
        }
        pen.commit_unless_busy(job)
    }

    fn write_all(&self) {
        while self.wait_for_jobs() {
            let mut pen = lock(&self.pen);
            // Take the jobs only after the lock: more may have arrived during the previous commit.
            let jobs = self.gathered();
            self.is_alone.store(jobs.len() == 1, Ordering::Relaxed);
            pen.commit(jobs);
        }
    }

    /// Waits for jobs. Returns false if there are none and the writer is closed.
    fn wait_for_jobs(&self) -> bool {
        let mut waiting = lock(&self.waiting);
        while waiting.jobs.is_empty() && !waiting.is_closed {
            waiting = self.bell.wait(waiting).unwrap_or_else(PoisonError::into_inner);
        }
        !waiting.jobs.is_empty()
    }

    fn gathered(&self) -> Vec<Box<dyn Job>> {
        let mut waiting = lock(&self.waiting);
        let count = waiting.jobs.len().min(JOBS_PER_COMMIT_MAX);
        let was_full = waiting.jobs.len() >= JOBS_WAITING_MAX;
        let jobs = waiting.jobs.drain(..count).collect();
        drop(waiting);
        if was_full {
            self.bell.notify_all();
        }
        jobs
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The failure after which a writer refuses all jobs: after a failed fsync the content of the disk is unknown, so a
/// later commit could not be trusted. A full disk or a lock is no such failure, because it leaves the store unchanged.
#[derive(Debug, Default)]
struct Fate {
    failed: Option<String>,
}

impl Pen {
    fn commit(&mut self, jobs: Vec<Box<dyn Job>>) {
        let begun = self.begin();
        self.finish(jobs, begun);
    }

    /// Commits the job. Returns the job if another process is writing, because the caller must not wait for that.
    fn commit_unless_busy(&mut self, job: Box<dyn Job>) -> Option<Box<dyn Job>> {
        let patience = |wait| self.connection.busy_timeout(wait);
        if patience(Duration::ZERO).is_err() {
            return Some(job);
        }
        let begun = self.begin();
        let is_patient_again = self.connection.busy_timeout(BUSY_WAIT);
        match (&begun, is_patient_again) {
            (Err(Error::Store { trouble: Trouble::Locked, .. }), Ok(())) => Some(job),
            _ => {
                self.finish(vec![job], begun);
                None
            }
        }
    }

    fn begin(&self) -> Result<()> {
        match &self.fate.failed {
            Some(why) => Err(Error::Stopped(why.clone())),
            None => self.sql("BEGIN IMMEDIATE"),
        }
    }

    fn finish(&mut self, mut jobs: Vec<Box<dyn Job>>, begun: Result<()>) {
        let committed = begun.and_then(|()| self.write(&mut jobs));
        if let Err(error @ Error::Store { trouble: Trouble::Other | Trouble::Corrupt, .. }) = &committed {
            self.fate.failed = Some(error.to_string());
        }
        for job in jobs {
            job.settle(committed.clone());
        }
    }

    fn write(&self, jobs: &mut [Box<dyn Job>]) -> Result<()> {
        let written = jobs.iter_mut().try_for_each(|job| job.write(&self.connection));
        let written = written.and_then(|()| Ok(chain::extend(&self.connection)?));
        let written = written.and_then(|head| self.sql("COMMIT").map(|()| head));
        if written.is_err() && !self.connection.is_autocommit() {
            // A rollback can fail only if SQLite has already rolled back.
            let _ = self.sql("ROLLBACK");
        }
        written.map(|head| head.iter().for_each(|head| self.committed(head)))
    }

    /// Records a commit in the head file and reports it. The records are durable: a failure here only makes a later
    /// loss harder to notice.
    fn committed(&self, head: &StoreHead) {
        let _ = self.head_file.note(head);
        self.on_commit.iter().for_each(|call| call(head));
    }

    fn sql(&self, sql: &str) -> Result<()> {
        let done = self.connection.prepare_cached(sql).and_then(|mut statement| statement.execute([]));
        done.map(drop).map_err(|error| database::error("the journal could not be written", &error))
    }
}
