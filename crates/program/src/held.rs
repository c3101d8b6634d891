//! Supervisors whose programs have ended and whose attempt goes on: each waits until what its program left is kept.
//!
//! If this process ends before that, the supervisors see their sockets close and keep it themselves.

use std::{
    collections::BTreeMap,
    io::Write,
    os::{fd::OwnedFd, unix::net::UnixStream},
    path::{Path, PathBuf},
    process::Child,
    sync::{Mutex, MutexGuard, PoisonError},
};

use interlock_sandbox::KEPT;
use tokio::net::unix::OwnedWriteHalf;

static HELD: Mutex<BTreeMap<PathBuf, Vec<Supervisor>>> = Mutex::new(BTreeMap::new());

/// A supervisor that waits for a word.
struct Supervisor {
    child: Child,
    socket: OwnedFd,
}

/// Holds the supervisors of an attempt, which is known by its live file. Without [`Hold::kept`] they keep what the attempt left.
#[derive(Debug)]
pub struct Hold(PathBuf);

impl Hold {
    /// Of an attempt that is about to begin.
    pub fn new(mark: &Path) -> Self {
        Hold(mark.to_owned())
    }

    /// Tells the supervisors that the attempt's changes are kept, so that they end. May block.
    pub fn kept(self) {
        let_go(take(&self.0), KEPT);
    }
}

impl Drop for Hold {
    fn drop(&mut self) {
        let_go(take(&self.0), b"");
    }
}

/// Holds one more supervisor of an attempt. It answers for all programs that ended before its own, so that the others can go.
pub(crate) fn add(mark: &Path, child: Child, hears: OwnedWriteHalf) {
    // The other half is gone by now, or goes with whoever reads it: then the socket is in one piece again.
    let Ok(socket) = rustix::io::dup(hears.as_ref()) else { return };
    hears.forget();
    let earlier = held().insert(mark.to_owned(), vec![Supervisor { child, socket }]);
    let_go(earlier.unwrap_or_default(), KEPT);
}

fn take(mark: &Path) -> Vec<Supervisor> {
    held().remove(mark).unwrap_or_default()
}

fn held() -> MutexGuard<'static, BTreeMap<PathBuf, Vec<Supervisor>>> {
    HELD.lock().unwrap_or_else(PoisonError::into_inner)
}

fn let_go(supervisors: Vec<Supervisor>, word: &[u8]) {
    for Supervisor { mut child, socket } in supervisors {
        let mut socket = UnixStream::from(socket);
        // One that has ended needs no word.
        let _ = socket.write_all(word);
        drop(socket);
        // Whoever is not waited for stays as a name in the list of processes.
        std::thread::spawn(move || child.wait());
    }
}
