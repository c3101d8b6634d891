//! The cache of verdicts on machines in the store: `proofs/HASH.json`, one file per definition.
//!
//! The cache only saves time: an entry that cannot be read, was changed, or comes from another checker is ignored, and
//! a failure to write an entry is ignored too. Programs of runs can neither read nor write it, because the store is
//! hidden from them.

#![expect(clippy::disallowed_methods, reason = "these files are in the store, which no program can change")]

use std::{
    fs,
    io::Write as _,
    path::{Path, PathBuf},
};

use interlock_journal::{Hash, private};
use serde::{Deserialize, Serialize};

/// The directory of the cache within the store.
const FOLDER: &str = "proofs";

/// The cached verdicts of a store.
#[derive(Debug)]
pub(super) struct Cache {
    folder: PathBuf,
}

/// The content of a cache file.
#[derive(Serialize, Deserialize)]
struct Entry {
    verdict: Verdict,
    /// The hash of the verdict, which detects a truncated or damaged file.
    hash: String,
}

#[derive(PartialEq, Eq, Serialize, Deserialize)]
struct Verdict {
    definition: String,
    /// The checker that produced the verdict, identified by its sources.
    checker: String,
    refusals: Vec<String>,
}

impl Verdict {
    fn hash(&self) -> Option<String> {
        Some(Hash::of(&serde_json::to_vec(self).ok()?).to_string())
    }
}

impl Cache {
    /// Returns the cache of a store.
    pub(super) fn new(home: &Path) -> Self {
        Cache { folder: home.join(FOLDER) }
    }

    fn file(&self, definition: &str) -> PathBuf {
        self.folder.join(format!("{definition}.json"))
    }

    /// Returns the refusals of a definition, if this same checker has found them.
    pub(super) fn get(&self, definition: &str) -> Option<Vec<String>> {
        let entry: Entry = serde_json::from_slice(&fs::read(self.file(definition)).ok()?).ok()?;
        let verdict = entry.verdict;
        let is_ours = verdict.definition == definition && verdict.checker == interlock_checker::SOURCES;
        (is_ours && verdict.hash()? == entry.hash).then_some(verdict.refusals)
    }

    /// Stores the refusals of a definition, if that is possible.
    pub(super) fn put(&self, definition: &str, refusals: &[String]) {
        let checker = interlock_checker::SOURCES.to_owned();
        let verdict = Verdict { definition: definition.to_owned(), checker, refusals: refusals.to_vec() };
        let Some(hash) = verdict.hash() else { return };
        let Ok(json) = serde_json::to_vec(&Entry { verdict, hash }) else { return };
        if private::folder(&self.folder).is_ok() {
            // Without the entry, the machine is explored again next time.
            let _ = self.write(definition, &json);
        }
    }

    /// Writes an entry atomically, so that no reader sees part of it.
    fn write(&self, definition: &str, json: &[u8]) -> std::io::Result<()> {
        let mut file = tempfile::NamedTempFile::new_in(&self.folder)?;
        file.write_all(json)?;
        file.persist(self.file(definition)).map(drop).map_err(|error| error.error)
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

    use super::*;

    #[test]
    fn a_verdict_is_read_as_it_was_written_and_not_after_any_change() {
        let home = tempfile::tempdir().unwrap();
        let cache = Cache::new(home.path());
        assert_eq!(cache.get("abc"), None);
        cache.put("abc", &["E0603: endless".to_owned()]);
        assert_eq!(cache.get("abc").unwrap(), ["E0603: endless"]);
        let whole = fs::read_to_string(cache.file("abc")).unwrap();
        for damaged in [&whole[..whole.len() / 2], "", "{}", &whole.replace("\"E0603: endless\"", "")] {
            fs::write(cache.file("abc"), damaged).unwrap();
            assert_eq!(cache.get("abc"), None, "{damaged}");
        }
    }

    #[test]
    fn a_verdict_of_another_checker_or_on_another_definition_is_none() {
        let home = tempfile::tempdir().unwrap();
        let cache = Cache::new(home.path());
        cache.put("abc", &[]);
        fs::copy(cache.file("abc"), cache.file("def")).unwrap();
        assert_eq!(cache.get("def"), None);
        let verdict = Verdict { definition: "old".into(), checker: "another".into(), refusals: Vec::new() };
        let hash = verdict.hash().unwrap();
        fs::write(cache.file("old"), serde_json::to_vec(&Entry { verdict, hash }).unwrap()).unwrap();
        assert_eq!(cache.get("old"), None);
        assert_eq!(cache.get("abc"), Some(Vec::new()));
    }
}
