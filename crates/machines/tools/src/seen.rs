//! The versions of files that the model has seen, so that it never overwrites a change that it does not know.
//!
//! `read_file` and every write record the hash of the file. A later write refuses if the file has another hash by then.
//! The record is evidence of the run, so that it survives a restart; memory only saves reading it.

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use interlock_activity::{Attempt, Outcome};
use interlock_journal::Evidence;

use crate::scene::hash;

/// The name of the evidence.
const NAME: &str = "files_seen";

/// The most files that are remembered. If there are more, files that were not used again are forgotten, in the order of
/// their paths.
const FILES_MAX: usize = 2_000;

type Files = BTreeMap<String, String>;

/// The versions that all runs of this process have seen.
#[derive(Clone, Debug, Default)]
pub(crate) struct Memory(Arc<Mutex<BTreeMap<String, Files>>>);

impl Memory {
    /// Returns the versions that a run has seen. May block.
    pub(crate) fn of(&self, attempt: &Attempt) -> Seen {
        let known = self.lock().get(&*attempt.run).cloned();
        let files = known.unwrap_or_else(|| recorded(attempt).unwrap_or_default());
        Seen(Arc::new(Mutex::new(Versions { files, is_changed: false })))
    }

    /// Remembers the versions after a call, and returns the evidence if they have changed.
    pub(crate) fn keep(&self, attempt: &Attempt, seen: &Seen) -> Result<Option<Evidence>, Outcome> {
        let versions = seen.lock();
        let run = attempt.run.to_string();
        self.lock().insert(run, versions.files.clone());
        if !versions.is_changed {
            return Ok(None);
        }
        let text = serde_json::to_vec(&versions.files).unwrap_or_default();
        let kept = attempt.evidence.put(NAME, "application/json", &text);
        kept.map(Some).map_err(|error| Outcome::not_stored(format!("`{NAME}` could not be stored: {error}")))
    }

    /// Forgets a run that has ended.
    pub(crate) fn forget(&self, run: &str) {
        self.lock().remove(run);
    }

    fn lock(&self) -> MutexGuard<'_, BTreeMap<String, Files>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn recorded(attempt: &Attempt) -> Option<Files> {
    let hash = attempt.host.recorded(&attempt.run, NAME, 1).ok()?.into_iter().next()?;
    serde_json::from_slice(&attempt.evidence.get(&hash).ok()?).ok()
}

/// The versions that one run has seen.
#[derive(Clone, Debug, Default)]
pub(crate) struct Seen(Arc<Mutex<Versions>>);

#[derive(Debug, Default)]
struct Versions {
    files: Files,
    is_changed: bool,
}

impl Seen {
    /// Records the content of a file that was read or written.
    pub(crate) fn add(&self, path: &Path, content: &[u8]) {
        self.put(path, Some(hash(content)));
    }

    /// Records that a file is gone.
    pub(crate) fn remove(&self, path: &Path) {
        self.put(path, None);
    }

    fn put(&self, path: &Path, hash: Option<String>) {
        let mut versions = self.lock();
        let path = path.to_string_lossy().into_owned();
        let before = match hash.clone() {
            Some(hash) => versions.files.insert(path, hash),
            None => versions.files.remove(&path),
        };
        versions.is_changed |= before != hash;
        while versions.files.len() > FILES_MAX {
            versions.files.pop_first();
        }
    }

    /// Returns the hashes that these files must have, as far as the model has seen them.
    pub(crate) fn expected<'p>(&self, paths: impl IntoIterator<Item = &'p Path>) -> BTreeMap<PathBuf, String> {
        let versions = self.lock();
        let known = |path: &'p Path| Some((path.to_owned(), versions.files.get(&*path.to_string_lossy())?.clone()));
        paths.into_iter().filter_map(known).collect()
    }

    /// Returns the seen files that still have the seen content: changes that a command makes to them are the run's own.
    pub(crate) fn unchanged(&self, read: impl Fn(&Path) -> Option<Vec<u8>>) -> Vec<PathBuf> {
        let files = self.lock().files.clone();
        let is_same = |(path, known): &(String, String)| read(Path::new(path)).is_some_and(|now| hash(&now) == *known);
        files.into_iter().filter(is_same).map(|(path, _)| path.into()).collect()
    }

    fn lock(&self) -> MutexGuard<'_, Versions> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
