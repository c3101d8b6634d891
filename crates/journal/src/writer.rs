//! The one writer of a process. What has gathered while a commit was under way is committed together, so that a thousand runs share an
//! fsync; a lone run does not wait for company.

use std::{
    sync::{
        Mutex,
        mpsc::{Receiver, SyncSender, sync_channel},
    },
    thread::JoinHandle,
};

use rusqlite::Connection;
use tokio::sync::oneshot;

use crate::{Error, Receipt, Result, error::Trouble};

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

impl<T: Send, F: FnOnce(&Connection) -> Result<T> + Send> Job for Asked<T, F> {
    fn write(&mut self, connection: &Connection) -> Result<()> {
        let Some(write) = self.write.take() else { return Ok(()) };
        let result = write(connection);
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
pub(crate) struct Writer(Mode);

#[derive(Debug)]
enum Mode {
    /// On a thread of its own.
    Thread { jobs: Option<SyncSender<Box<dyn Job>>>, thread: Option<JoinHandle<()>> },
    /// Where it is called, one job to a commit: for tests that decide when a process dies.
    Inline(Mutex<(Connection, Fate)>),
}

impl std::fmt::Debug for Box<dyn Job> {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.write_str("Job")
    }
}

impl Writer {
    pub(crate) fn on_thread(connection: Connection) -> Result<Self> {
        let (jobs, queue) = sync_channel(JOBS_WAITING_MAX);
        let thread = std::thread::Builder::new()
            .name("journal".into())
            .spawn(move || write_all(connection, &queue))
            .map_err(|error| Error::io("starting the journal's thread", &error))?;
        Ok(Writer(Mode::Thread { jobs: Some(jobs), thread: Some(thread) }))
    }

    pub(crate) fn inline(connection: Connection) -> Self {
        Writer(Mode::Inline(Mutex::new((connection, Fate::default()))))
    }

    /// Has something written. The receipt is filled in when it is durable.
    pub(crate) fn write<T: Send + 'static>(
        &self,
        write: impl FnOnce(&Connection) -> Result<T> + Send + 'static,
    ) -> Receipt<T> {
        let (reply, receipt) = oneshot::channel();
        let job: Box<dyn Job> = Box::new(Asked { write: Some(write), result: None, reply });
        match &self.0 {
            Mode::Thread { jobs, .. } => {
                if let Some(jobs) = jobs {
                    // Where the thread is gone the job is dropped, and its receipt says so.
                    let _ = jobs.send(job);
                }
            }
            Mode::Inline(place) => {
                let mut place = place.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
                let (connection, fate) = &mut *place;
                commit(connection, fate, vec![job]);
            }
        }
        Receipt(receipt)
    }
}

impl Drop for Writer {
    /// What was asked for before is still written.
    fn drop(&mut self) {
        if let Mode::Thread { jobs, thread } = &mut self.0 {
            jobs.take();
            if let Some(thread) = thread.take() {
                let _ = thread.join();
            }
        }
    }
}

fn write_all(connection: Connection, queue: &Receiver<Box<dyn Job>>) {
    let mut fate = Fate::default();
    while let Ok(first) = queue.recv() {
        let mut jobs = vec![first];
        while jobs.len() < JOBS_PER_COMMIT_MAX {
            let Ok(next) = queue.try_recv() else { break };
            jobs.push(next);
        }
        commit(&connection, &mut fate, jobs);
    }
}

/// What is left of a writer whose disk has failed it: after a failed fsync nobody knows what the disk holds, and writing on would be
/// a lie. A full disk or a lock is not that: those left everything as it was.
#[derive(Debug, Default)]
struct Fate {
    failed: Option<String>,
}

fn commit(connection: &Connection, fate: &mut Fate, mut jobs: Vec<Box<dyn Job>>) {
    let committed = match &fate.failed {
        Some(why) => Err(Error::Stopped(why.clone())),
        None => transaction(connection, &mut jobs),
    };
    if let Err(error @ Error::Store { trouble: Trouble::Other | Trouble::Corrupt, .. }) = &committed {
        fate.failed = Some(error.to_string());
    }
    for job in jobs {
        job.settle(committed.clone());
    }
}

fn transaction(connection: &Connection, jobs: &mut [Box<dyn Job>]) -> Result<()> {
    let sql = |sql: &str| {
        connection
            .prepare_cached(sql)
            .and_then(|mut statement| statement.execute([]))
            .map_err(|error| Error::sqlite("the journal could not be written", &error))
    };
    sql("BEGIN IMMEDIATE")?;
    let written = jobs.iter_mut().try_for_each(|job| job.write(connection)).and_then(|()| sql("COMMIT").map(drop));
    if written.is_err() && !connection.is_autocommit() {
        // A rollback can only fail where SQLite has rolled back by itself.
        let _ = sql("ROLLBACK");
    }
    written
}
