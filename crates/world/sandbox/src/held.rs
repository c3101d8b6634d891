//! Supervisors whose program has ended while the attempt goes on. Each waits until the changes of its program are
//! kept.
//!
//! If this process ends before that, the supervisors see their sockets close and keep the changes themselves.

use std::{
    collections::BTreeMap,
    io::Write,
    os::{fd::OwnedFd, unix::net::UnixStream},
    path::{Path, PathBuf},
    process::Child,
    sync::{Mutex, MutexGuard, PoisonError},
};

use crate::KEPT;

static HELD: Mutex<BTreeMap<PathBuf, Vec<Supervisor>>> = Mutex::new(BTreeMap::new());

/// A supervisor that waits to be released.
struct Supervisor {
    child: Child,
    socket: OwnedFd,
}

/// Holds the supervisors of an attempt, keyed by the attempt's live file. Without [`Hold::kept`], they keep the
/// attempt's changes themselves.
#[derive(Debug)]
pub struct Hold(PathBuf);

impl Hold {
    /// Creates the hold of an attempt that is about to begin.
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

/// Holds one more supervisor of an attempt, by the socket over which it hears. It covers all programs that ended before its own, so the earlier
/// supervisors are released.
pub fn hold(mark: &Path, child: Child, socket: OwnedFd) {
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
        // A supervisor that has already ended needs no message.
        let _ = socket.write_all(word);
        drop(socket);
        // A child that is never waited for stays in the process list as a zombie.
        std::thread::spawn(move || child.wait());
    }
}
