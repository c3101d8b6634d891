//! Removing evidence that no record refers to.

use std::{
    collections::BTreeSet,
    fs,
    time::{Duration, SystemTime},
};

use crate::{EvidenceStore, Hash, Result};

/// What a collection did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize)]
pub struct Collected {
    /// Files kept.
    pub kept: u64,
    /// Files removed (or that would be).
    pub removed: u64,
    /// The bytes they took on the disk.
    pub bytes: u64,
}

/// Removes files that no record refers to and that are older than `grace`: a younger one may belong to a record about to be written.
pub fn collect(
    used: &BTreeSet<Hash>,
    store: &EvidenceStore,
    now: SystemTime,
    grace: Duration,
    is_dry: bool,
) -> Result<Collected> {
    let mut collected = Collected::default();
    for (hash, path) in store.files()? {
        let Ok(metadata) = fs::metadata(&path) else { continue };
        let age = metadata.modified().ok().and_then(|modified| now.duration_since(modified).ok()).unwrap_or_default();
        if hash.is_some_and(|hash| used.contains(&hash)) || age < grace {
            collected.kept += 1;
            continue;
        }
        if is_dry || fs::remove_file(&path).is_ok() {
            collected.removed += 1;
            collected.bytes += metadata.len();
        }
    }
    Ok(collected)
}
