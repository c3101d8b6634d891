//! The originals of redacted patches and arguments of tools: content that is written to files is never redacted.
//!
//! A patch enters a run as data, and data is redacted before it is recorded (`redaction.rs`). So do the arguments of a
//! tool call: an object with a `name` and with `args`. The original of such a text is kept in a separate file that only
//! its owner can read, named by the hash of the redacted text, until the run is over. An attempt receives the original.
//! If the original is missing, or if two originals have the same redacted text, an attempt that writes is refused: a
//! redaction mark must not end up in a user's file.

#![expect(clippy::disallowed_methods, reason = "these files are in the store, which no program can change")]

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

/// Stores the originals of redacted patches and arguments.
#[derive(Clone, Debug)]
pub(crate) struct Seals {
    folder: PathBuf,
}

impl Seals {
    /// Creates the store in a directory that only its owner can read.
    pub(crate) fn new(within: &Path) -> Self {
        Seals { folder: within.join("sealed") }
    }

    /// Returns the data without its secrets, and stores the originals of its patches and arguments.
    pub(crate) fn value(&self, redactor: &Redactor, run: &str, value: Value) -> Value {
        if !may_be_sealed(&value) {
            return redaction::value(redactor, value);
        }
        let original = Json::from(&value);
        let redacted = redaction::value(redactor, value);
        self.seal(run, &original, &Json::from(&redacted), Within::Data);
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

    fn seal(&self, run: &str, original: &Json, redacted: &Json, within: Within) {
        match (original, redacted) {
            (Json::String(original), Json::String(redacted))
                if redacted.contains(MARK) && (within == Within::Arguments || is_patch(original)) =>
            {
                // If the original cannot be stored, the attempt that needs it is refused.
                let _ = self.keep(run, original, redacted);
            }
            (Json::Array(original), Json::Array(redacted)) => {
                let both = original.iter().zip(redacted);
                both.for_each(|(original, redacted)| self.seal(run, original, redacted, within));
            }
            (Json::Object(original), Json::Object(redacted)) => {
                let is_call = is_call(original);
                let both = original.iter().filter_map(|(name, original)| Some((name, original, redacted.get(name)?)));
                both.for_each(|(name, original, redacted)| {
                    self.seal(run, original, redacted, within.entering(is_call, name));
                });
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

    /// Returns the data with the originals of its patches and arguments. The flag is true if an original is missing.
    pub(crate) fn open(&self, run: &str, value: &Value) -> (Value, bool) {
        if !may_be_sealed(value) {
            return (value.clone(), false);
        }
        let mut json = Json::from(value);
        let mut opening = Opening { seals: self, run, is_gone: false, is_changed: false };
        opening.open(&mut json, Within::Data);
        (if opening.is_changed { Value::from(json) } else { value.clone() }, opening.is_gone)
    }

    fn original(&self, run: &str, redacted: &str) -> Option<String> {
        let original = fs::read(self.file(run, redacted)).ok().and_then(|text| String::from_utf8(text).ok());
        original.filter(|original| !original.is_empty())
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

/// Puts the originals back into data.
struct Opening<'s> {
    seals: &'s Seals,
    run: &'s str,
    is_gone: bool,
    is_changed: bool,
}

impl Opening<'_> {
    fn open(&mut self, json: &mut Json, within: Within) {
        match json {
            Json::String(text) if text.contains(MARK) && (within == Within::Arguments || is_patch(text)) => {
                match self.seals.original(self.run, text) {
                    Some(original) => (*text, self.is_changed) = (original, true),
                    None => self.is_gone = true,
                }
            }
            Json::Array(items) => items.iter_mut().for_each(|item| self.open(item, within)),
            Json::Object(fields) => {
                let is_call = is_call(fields);
                fields.iter_mut().for_each(|(name, field)| self.open(field, within.entering(is_call, name)));
            }
            _ => {}
        }
    }
}

/// The part of the data that a text is in: in the arguments of a tool call every text is sealed, elsewhere only patches.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Within {
    Data,
    Arguments,
}

impl Within {
    /// Returns the part that a field of an object is in.
    fn entering(self, is_call: bool, field: &str) -> Self {
        if is_call && field == ARGS { Within::Arguments } else { self }
    }
}

/// The field with the arguments of a tool call.
const ARGS: &str = "args";

fn is_call(fields: &serde_json::Map<String, Json>) -> bool {
    fields.get("name").is_some_and(Json::is_string) && fields.get(ARGS).is_some_and(Json::is_object)
}

fn digits(text: &str) -> String {
    Sha256::digest(text).iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Returns true if the data may hold a patch or a tool call. Most data holds neither, and then nothing is copied.
fn may_be_sealed(value: &Value) -> bool {
    match value {
        Value::Str(text) => text.contains("@@") || text.contains("*** Begin Patch"),
        Value::List(items) => items.iter().any(may_be_sealed),
        Value::Map(fields) => fields.contains_key(ARGS) || fields.values().any(may_be_sealed),
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

    fn call(content: &str) -> Value {
        let args = Value::map([("path", Value::from("a.toml")), ("content", Value::from(content))]);
        Value::map([("call", Value::map([("name", Value::from("write_file")), ("args", args)]))])
    }

    #[test]
    fn the_arguments_of_a_tool_call_reach_the_attempt_as_they_were() {
        let folder = tempfile::tempdir().unwrap();
        let (seals, redactor) = (Seals::new(folder.path()), Redactor::default());
        let original = call("db_password = \"FAKEfake8\"\n");
        let recorded = seals.value(&redactor, "run-1", original.clone());
        assert_eq!(recorded, call("db_password = \"[redacted: password]\"\n"));
        assert_eq!(seals.open("run-1", &recorded), (original, false));
        assert_eq!(seals.open("run-2", &recorded), (recorded.clone(), true));
    }

    #[test]
    fn a_text_outside_of_arguments_stays_redacted() {
        let folder = tempfile::tempdir().unwrap();
        let (seals, redactor) = (Seals::new(folder.path()), Redactor::default());
        let said = Value::map([("name", Value::from("x")), ("text", Value::from("db_password = \"FAKEfake8\""))]);
        let recorded = seals.value(&redactor, "run-1", said);
        assert_eq!(seals.open("run-1", &recorded), (recorded.clone(), false));
    }
}
