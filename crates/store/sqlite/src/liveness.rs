//! Signs of life of worker processes, and the socket that wakes a worker.
//!
//! A worker holds a lock on its own file for as long as it lives. The kernel releases the lock when the process ends,
//! however it ends, and not before: a run is never taken from a process that is merely slow, and no clock is involved.
//! SQLite in WAL mode works on one machine only, so a lock of that machine is enough.

#![expect(clippy::disallowed_methods, reason = "these files are in the store, which no program can change")]

use std::{
    fs::{File, OpenOptions, TryLockError},
    os::unix::net::UnixDatagram,
    path::{Path, PathBuf},
    time::Duration,
};

use interlock_journal::{Error, Result};

/// The sign of life of this process.
#[derive(Debug)]
pub(crate) struct Worker {
    pub(crate) id: i64,
    _lock: File,
    bell: UnixDatagram,
    paths: [PathBuf; 2],
}

fn lock_path(folder: &Path, worker: i64) -> PathBuf {
    folder.join(format!("{worker}.lock"))
}

fn bell_path(folder: &Path, worker: i64) -> PathBuf {
    folder.join(format!("{worker}.bell"))
}

impl Worker {
    /// Shows that the process is alive until the value is dropped or the process ends.
    pub(crate) fn begin(folder: &Path, id: i64) -> Result<Self> {
        let path = lock_path(folder, id);
        let doing = || format!("the lock {} could not be acquired", path.display());
        let lock = OpenOptions::new().create(true).truncate(false).write(true).open(&path);
        let lock = lock.map_err(|error| Error::io(doing(), &error))?;
        lock.try_lock().map_err(|error| match error {
            TryLockError::Error(error) => Error::io(doing(), &error),
            TryLockError::WouldBlock => Error::io(doing(), &std::io::Error::other("another process holds it")),
        })?;
        let bell_path = bell_path(folder, id);
        let _ = std::fs::remove_file(&bell_path);
        let bell = bind(&bell_path)?;
        Ok(Worker { id, _lock: lock, bell, paths: [path, bell_path] })
    }

    /// Returns when another process wakes this one or when the time is over.
    pub(crate) fn wait(&self, at_most: Duration) {
        if self.bell.set_read_timeout(Some(at_most.max(Duration::from_millis(1)))).is_ok() {
            let _ = self.bell.recv(&mut [0; 8]);
        }
    }
}

/// Binds the worker's socket. A socket's path cannot be longer than about a hundred bytes. If the path is too long, the
/// socket stays unbound, and the worker finds its messages by polling.
fn bind(path: &Path) -> Result<UnixDatagram> {
    UnixDatagram::bind(path)
        .or_else(|_| UnixDatagram::unbound())
        .map_err(|error| Error::io(format!("the socket {} could not be created", path.display()), &error))
}

impl Drop for Worker {
    fn drop(&mut self) {
        for path in &self.paths {
            let _ = std::fs::remove_file(path);
        }
    }
}

/// Returns true if a worker's process is alive.
pub(crate) fn is_alive(folder: &Path, worker: i64) -> bool {
    match File::open(lock_path(folder, worker)) {
        Ok(file) => matches!(file.try_lock_shared(), Err(TryLockError::WouldBlock)),
        Err(_) => false,
    }
}

/// Wakes a worker. This has no effect if the worker is dead or has no bound socket.
pub(crate) fn ring(folder: &Path, worker: i64) {
    if let Ok(socket) = UnixDatagram::unbound() {
        let _ = socket.set_nonblocking(true);
        let _ = socket.send_to(&[1], bell_path(folder, worker));
    }
}

/// Removes the files that a dead worker has left.
pub(crate) fn clean_up(folder: &Path, worker: i64) {
    let _ = std::fs::remove_file(lock_path(folder, worker));
    let _ = std::fs::remove_file(bell_path(folder, worker));
}
