//! The one writer of a process. What has gathered while a commit was under way is committed together, so that a thousand runs share an
//! fsync. A lone run does not wait for company: what it brings is written where it stands.

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

/// Most jobs that share a commit. More would make the first of them wait for the last.
const JOBS_PER_COMMIT_MAX: usize = 2_048;

/// Most jobs waiting before those who bring more have to wait themselves.
const JOBS_WAITING_MAX: usize = 16_384;

/// Something to be written, within a transaction that it may share with others.
trait Job: Send {
    /// Writes. An error from the store spoils the transaction; any other leaves it untouched.
    fn write(&mut self, connection: &Connection) -> Result<()>;
    /// Tells whoever waits: committed, or not.
    fn settle(self: Box<Self>, committed: Result<()>);
}

struct Asked<T, F> {
    write: Option<F>,
    result: Option<Result<T>>,
    reply: oneshot::Sender<Result<T>>,
}

impl<T: Send, F: FnOnce(&Connection) -> crate::Result<T> + Send> Job for Asked<T, F> {
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
        // Nobody waits any more: the writing stands all the same.
        let _ = self.reply.send(result);
    }
}

/// Writes, one transaction after the other.
#[derive(Debug)]
pub(crate) struct Writer {
    desk: Arc<Desk>,
    /// Nothing where every job is to be written where it is asked for.
    thread: Option<JoinHandle<()>>,
}

/// What those who want something written share with the thread that writes.
#[derive(Debug)]
struct Desk {
    pen: Mutex<Pen>,
    waiting: Mutex<Waiting>,
    /// Rings for whoever waits for jobs, and for whoever waits for room.
    bell: Condvar,
    /// Whether the last commit was of one job. Then the next is most likely alone too, and is written by whoever brings it: two
    /// changes of thread cost a lone run as much as its fsync. Where there is company they cost each of many very little, and
    /// a commit of one's own would keep the others waiting.
    is_alone: AtomicBool,
}

/// Whoever holds it writes.
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
        let desk = Arc::new(Desk::new(connection, head_file));
        let theirs = Arc::clone(&desk);
        let thread = std::thread::Builder::new()
            .name("journal".into())
            .spawn(move || theirs.write_all())
            .map_err(|error| Error::io("starting the journal's thread", &error))?;
        Ok(Writer { desk, thread: Some(thread) })
    }

    /// Every job is written where it is asked for, one to a commit: for tests that decide when a process dies.
    pub(crate) fn inline(connection: Connection, head_file: HeadFile) -> Self {
        Writer { desk: Arc::new(Desk::new(connection, head_file)), thread: None }
    }

    /// Has a function called after every commit that added records.
    pub(crate) fn on_commit(&self, call: OnCommit) {
        lock(&self.desk.pen).on_commit = Some(call);
    }

    /// Has something written. The receipt is filled in when it is durable.
    pub(crate) fn write<T: Send + 'static>(
        &self,
        write: impl FnOnce(&Connection) -> crate::Result<T> + Send + 'static,
    ) -> Receipt<T> {
        let (reply, receipt) = oneshot::channel();
        let job: Box<dyn Job> = Box::new(Asked { write: Some(write), result: None, reply });
        match self.thread {
            None => lock(&self.desk.pen).commit(vec![job]),
            Some(_) => self.desk.take(job),
        }
        Receipt::pending(receipt)
    }
}

impl Drop for Writer {
    /// What was asked for before is still written.
    fn drop(&mut self) {
        lock(&self.desk.waiting).is_closed = true;
        self.desk.bell.notify_all();
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

impl Desk {
    fn new(connection: Connection, head_file: HeadFile) -> Self {
        let pen = Mutex::new(Pen { connection, fate: Fate::default(), head_file, on_commit: None });
        Desk { pen, waiting: Mutex::default(), bell: Condvar::new(), is_alone: AtomicBool::new(true) }
    }

    /// Writes at once where nobody else has anything to write; otherwise the thread will.
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

    /// Gives the job back where it would have to wait for anybody.
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
            // Taken only now: more may have come while somebody else was writing.
            let jobs = self.gathered();
            self.is_alone.store(jobs.len() == 1, Ordering::Relaxed);
            pen.commit(jobs);
        }
    }

    /// Whether there are any, as opposed to nobody being left to bring some.
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

/// What is left of a writer whose disk has failed it: after a failed fsync nobody knows what the disk holds, and writing on would be
/// a lie. A full disk or a lock is not that: those left everything as it was.
#[derive(Debug, Default)]
struct Fate {
    failed: Option<String>,
}

impl Pen {
    fn commit(&mut self, jobs: Vec<Box<dyn Job>>) {
        let begun = self.begin();
        self.finish(jobs, begun);
    }

    /// Gives the job back where another process is writing: whoever brought it must not be kept waiting for that.
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
            // A rollback can only fail where SQLite has rolled back by itself.
            let _ = self.sql("ROLLBACK");
        }
        written.map(|head| head.iter().for_each(|head| self.committed(head)))
    }

    /// The records are durable: a note that fails now only makes a later loss harder to notice.
    fn committed(&self, head: &StoreHead) {
        let _ = self.head_file.note(head);
        self.on_commit.iter().for_each(|call| call(head));
    }

    fn sql(&self, sql: &str) -> Result<()> {
        let done = self.connection.prepare_cached(sql).and_then(|mut statement| statement.execute([]));
        done.map(drop).map_err(|error| database::error("the journal could not be written", &error))
    }
}
