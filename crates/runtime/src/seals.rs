//! The originals of redacted patches: content that is written to files is never redacted.
//!
//! A patch enters a run as data, and data is redacted before it is recorded (`redaction.rs`). Its original is kept in a
//! separate file that only its owner can read, named by the hash of the redacted text, until the run is over. An
//! attempt receives the original. If the original is missing, or if two originals have the same redacted text, the
//! attempt is refused: a redaction mark must not end up in a user's file.

use std::{
    fs, io,
    io::Write,
    os::unix::fs::DirBuilderExt,
    path::{Path, PathBuf},
};

use interlock_chart::Value;
use interlock_journal::AttemptResult;
use interlock_redact::Redactor;
use interlock_workspace::patch::Patch;
use serde_json::Value as Json;
use sha2::{Digest, Sha256};

use crate::redaction;

/// The beginning of every redaction mark.
const MARK: &str = "[redacted: ";

/// The content of a file that stands for two different originals.
const TWO: &[u8] = b"";

/// Stores the originals of redacted patches.
#[derive(Clone, Debug)]
pub(crate) struct Seals {
    folder: PathBuf,
}

impl Seals {
    /// Creates the store in a directory that only its owner can read.
    pub(crate) fn new(within: &Path) -> Self {
        Seals { folder: within.join("sealed") }
    }

    /// Returns the data without its secrets, and stores the originals of its patches.
    pub(crate) fn value(&self, redactor: &Redactor, run: &str, value: Value) -> Value {
        if !may_be_patch(&value) {
            return redaction::value(redactor, value);
        }
        let original = Json::from(&value);
        let redacted = redaction::value(redactor, value);
        self.seal(run, &original, &Json::from(&redacted));
        redacted
    }

    /// Redacts the result of an attempt in the same way.
    pub(crate) fn result(&self, redactor: &Redactor, run: &str, result: AttemptResult) -> AttemptResult {
        match result {
            AttemptResult::Signal { name, data } => {
                AttemptResult::Signal { name, data: self.value(redactor, run, data) }
            }
            AttemptResult::Error { data } => AttemptResult::Error { data: redaction::value(redactor, data) },
        }
    }

    fn seal(&self, run: &str, original: &Json, redacted: &Json) {
        match (original, redacted) {
            (Json::String(original), Json::String(redacted)) if is_patch(original) && redacted.contains(MARK) => {
                // If the original cannot be stored, the attempt that needs it is refused.
                let _ = self.keep(run, original, redacted);
            }
            (Json::Array(original), Json::Array(redacted)) => {
                original.iter().zip(redacted).for_each(|(original, redacted)| self.seal(run, original, redacted));
            }
            (Json::Object(original), Json::Object(redacted)) => {
                let both = original.iter().filter_map(|(name, original)| Some((original, redacted.get(name)?)));
                both.for_each(|(original, redacted)| self.seal(run, original, redacted));
            }
            _ => {}
        }
    }

    fn keep(&self, run: &str, original: &str, redacted: &str) -> io::Result<()> {
        let path = self.file(run, redacted);
        let content = match fs::read(&path) {
            Ok(known) if known != original.as_bytes() => TWO,
            _ => original.as_bytes(),
        };
        let folder = self.of(run);
        fs::DirBuilder::new().recursive(true).mode(0o700).create(&folder)?;
        let mut file = tempfile::NamedTempFile::new_in(&folder)?;
        file.write_all(content)?;
        file.persist(path).map(drop).map_err(|error| error.error)
    }

    /// Returns the data with the originals of its patches. The flag is true if an original is missing.
    pub(crate) fn open(&self, run: &str, value: &Value) -> (Value, bool) {
        if !may_be_patch(value) {
            return (value.clone(), false);
        }
        let (mut json, mut is_gone, mut is_changed) = (Json::from(value), false, false);
        self.open_in(run, &mut json, &mut is_gone, &mut is_changed);
        (if is_changed { Value::from(json) } else { value.clone() }, is_gone)
    }

    fn open_in(&self, run: &str, json: &mut Json, is_gone: &mut bool, is_changed: &mut bool) {
        match json {
            Json::String(text) if text.contains(MARK) && is_patch(text) => {
                match fs::read(self.file(run, text)).ok().and_then(|text| String::from_utf8(text).ok()) {
                    Some(original) if !original.is_empty() => (*text, *is_changed) = (original, true),
                    _ => *is_gone = true,
                }
            }
            Json::Array(items) => items.iter_mut().for_each(|item| self.open_in(run, item, is_gone, is_changed)),
            Json::Object(fields) => {
                fields.values_mut().for_each(|field| self.open_in(run, field, is_gone, is_changed));
            }
            _ => {}
        }
    }

    /// Removes the stored originals of a run.
    pub(crate) fn forget(&self, run: &str) {
        let _ = fs::remove_dir_all(self.of(run));
    }

    fn file(&self, run: &str, redacted: &str) -> PathBuf {
        self.of(run).join(digits(redacted))
    }

    /// Returns the directory of a run. It is named by a hash, so that any run name is safe.
    fn of(&self, run: &str) -> PathBuf {
        self.folder.join(digits(run))
    }
}

fn digits(text: &str) -> String {
    Sha256::digest(text).iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Returns true if the data may hold a patch. Most data holds none, and then nothing is copied.
fn may_be_patch(value: &Value) -> bool {
    match value {
        Value::Str(text) => text.contains("@@") || text.contains("*** Begin Patch"),
        Value::List(items) => items.iter().any(may_be_patch),
        Value::Map(fields) => fields.values().any(may_be_patch),
        Value::Null | Value::Bool(_) | Value::Int(_) | Value::Float(_) => false,
    }
}

fn is_patch(text: &str) -> bool {
    Patch::parse(text.as_bytes()).is_ok()
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    fn patch(secret: &str) -> Value {
        let patch = format!("*** Begin Patch\n*** Add File: a\n+db_password = \"{secret}\"\n*** End Patch\n");
        Value::map([("patch", Value::from(patch))])
    }

    #[test]
    fn an_attempt_gets_the_patch_as_it_was_and_records_do_not() {
        let folder = tempfile::tempdir().unwrap();
        let (seals, redactor) = (Seals::new(folder.path()), Redactor::default());
        let recorded = seals.value(&redactor, "run-1", patch("FAKEfake8"));
        assert_eq!(recorded, patch("[redacted: password]"));
        assert_eq!(seals.open("run-1", &recorded), (patch("FAKEfake8"), false));
        // The directory and the file are readable by their owner only.
        let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
        assert_eq!(mode(&seals.of("run-1")), 0o700);
        let file = fs::read_dir(seals.of("run-1")).unwrap().next().unwrap().unwrap();
        assert_eq!(mode(&file.path()), 0o600);
        // Another run cannot open it, and no run can after this run is over.
        assert_eq!(seals.open("run-2", &recorded), (recorded.clone(), true));
        seals.forget("run-1");
        assert_eq!(seals.open("run-1", &recorded), (recorded.clone(), true));
    }

    #[test]
    fn two_patches_that_look_alike_are_not_taken_for_each_other() {
        let folder = tempfile::tempdir().unwrap();
        let (seals, redactor) = (Seals::new(folder.path()), Redactor::default());
        let recorded = seals.value(&redactor, "run-1", patch("FAKEfake8"));
        assert_eq!(seals.value(&redactor, "run-1", patch("FAKEfake9")), recorded);
        assert_eq!(seals.open("run-1", &recorded), (recorded.clone(), true));
    }

    #[test]
    fn a_patch_about_marks_is_a_patch_like_any_other() {
        let folder = tempfile::tempdir().unwrap();
        let (seals, redactor) = (Seals::new(folder.path()), Redactor::default());
        let recorded = seals.value(&redactor, "run-1", patch("[redacted: password]"));
        assert_eq!(seals.open("run-1", &recorded), (patch("[redacted: password]"), false));
    }
}
