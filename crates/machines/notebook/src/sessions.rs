//! The kernels and open documents of runs, held in memory while this process moves them.
//!
//! A kernel belongs to a run: it lives from the first executed cell until the run ends, until nothing used it for a
//! long time, or until this process ends for any reason (then the launcher ends it). Nothing here is durable. A run
//! that continues in another process finds its document on the disk, and learns that its kernel is lost.

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
    sync::{Arc, Mutex, PoisonError, Weak},
    time::Duration,
};

use serde_json::Value as Json;
use tokio::{
    sync::{Mutex as AsyncMutex, OwnedMutexGuard},
    time::Instant,
};

use crate::{
    document::Document,
    kernel::Kernel,
    recorded::Recorded,
    saved::{Found, look},
};

/// The time after which an unused kernel is ended, unless the caller sets another one.
pub(crate) const IDLE_MAX: Duration = Duration::from_secs(12 * 3_600);

/// The state of all runs.
#[derive(Debug)]
pub(crate) struct Sessions {
    runs: Mutex<BTreeMap<String, Arc<AsyncMutex<Session>>>>,
    idle: Duration,
}

/// The state of one run.
#[derive(Debug, Default)]
pub(crate) struct Session {
    /// The kernel, while it lives.
    pub(crate) kernel: Option<Kernel>,
    /// The document as it was last written, with its path.
    pub(crate) document: Option<(PathBuf, Document)>,
    /// The variables of the kernel after the last cell.
    pub(crate) variables: Option<Json>,
    /// The last text of the output of the last cell.
    pub(crate) last_effect: Option<String>,
    /// The notice about an edit that no outcome carries yet, because the action that noticed it was not carried out.
    pub(crate) notice: Option<String>,
    used: Option<Instant>,
}

impl Sessions {
    /// Creates an empty table. A kernel that is not used for `idle` is ended.
    pub(crate) fn new(idle: Duration) -> Self {
        Sessions { runs: Mutex::default(), idle }
    }

    /// Waits until no other attempt uses the session of a run, and returns it.
    pub(crate) async fn of(&self, run: &str) -> OwnedMutexGuard<Session> {
        let session = {
            let mut runs = self.runs.lock().unwrap_or_else(PoisonError::into_inner);
            runs.entry(run.to_owned()).or_default().clone()
        };
        let mut session = session.lock_owned().await;
        session.used = Some(Instant::now());
        session
    }

    /// Returns true if the kernel of a run lives. A session that an attempt uses counts as one.
    pub(crate) fn has_kernel(&self, run: &str) -> bool {
        let session = self.runs.lock().unwrap_or_else(PoisonError::into_inner).get(run).cloned();
        session.is_some_and(|session| match session.try_lock() {
            Ok(session) => session.kernel.as_ref().is_some_and(|kernel| !kernel.is_gone()),
            Err(_) => true,
        })
    }

    /// Ends the kernel of a run and forgets the run.
    pub(crate) fn end(&self, run: &str) {
        let ended = self.runs.lock().unwrap_or_else(PoisonError::into_inner).remove(run);
        drop(ended);
    }

    /// Ends the kernel of a run when it was not used for a while. Called after a kernel has started.
    pub(crate) fn watch(&self, run: &str) {
        let runs = self.runs.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(session) = runs.get(run) {
            tokio::spawn(end_when_idle(Arc::downgrade(session), self.idle));
        }
    }
}

async fn end_when_idle(session: Weak<AsyncMutex<Session>>, idle: Duration) {
    let mut until = Instant::now() + idle;
    loop {
        tokio::time::sleep_until(until).await;
        let Some(session) = session.upgrade() else { return };
        let mut session = session.lock().await;
        if session.kernel.is_none() {
            return;
        }
        until = session.used.unwrap_or(until) + idle;
        if until <= Instant::now() {
            session.kernel = None;
            return;
        }
    }
}

/// A document that was opened for an action.
#[derive(Debug)]
pub(crate) struct Opened {
    /// The document.
    pub(crate) document: Document,
    /// The edit of another program or person since the last action, as a sentence.
    pub(crate) notice: Option<String>,
    /// True if the file exists.
    pub(crate) is_file: bool,
}

/// Opens the document of an action: the one in memory if the file still has its content. If another process wrote the
/// document last, the file is compared with the run's records. May block.
pub(crate) fn open(
    known: Option<(PathBuf, Document)>,
    folder: &Path,
    path: &Path,
    recorded: Option<&Recorded>,
    metadata: impl FnOnce() -> Result<Json, String>,
) -> Result<Opened, String> {
    let recorded = recorded.filter(|recorded| Path::new(&recorded.path) == path);
    let known = known.filter(|(known, _)| known == path).map(|(_, document)| document);
    match (look(folder, path, known.as_ref())?, known) {
        (Found::Same, Some(document)) => Ok(Opened { document, notice: None, is_file: true }),
        (Found::Other(document), known) => {
            let notice = match known {
                Some(known) => Some(known.changes(&document).describe()),
                None => recorded.and_then(|recorded| recorded.notice(&document)),
            };
            Ok(Opened { document, notice, is_file: true })
        }
        (Found::Missing | Found::Same, known) => {
            let was_there = known.is_some() || recorded.is_some();
            let notice = was_there.then(|| format!("[{} was removed; a new notebook is begun.]", path.display()));
            Ok(Opened { document: Document::new(&metadata()?)?, notice, is_file: false })
        }
    }
}
