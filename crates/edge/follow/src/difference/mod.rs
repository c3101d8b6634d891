//! What a run has changed in its directory: every file with its counts, the patch of each file, and the whole patch.
//!
//! The list comes from the records of the run's own writes (`net.rs`), so what a person changes is not in it. The counts and
//! patches come from stored trees, so they are true at any size. A view that shows less than the whole
//! says how much it leaves out; it never counts what it shows. The commands, the server, MCP and the page all read this.

mod net;
mod patch;
mod writes;

use std::path::{Path, PathBuf};

use interlock_journal::{Engine, Evidence, Head};
use interlock_runtime::{NotKept, Result, Workspace};
use serde::Serialize;
use serde_json::{Value as Json, json};

use net::{Nets, Part};
pub use writes::UnknownWrite;
use writes::Writes;

/// The media type of a patch.
const PATCH: &str = "text/x-diff";

/// The time up to which the changes of a run are told.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Later {
    /// Now: an attempt that may write is in progress, and its changes so far count.
    Directory,
    /// The last recorded write of the run.
    Run,
    /// The changes as they are recorded; the content itself is no longer stored.
    Records,
    /// The directory does not differ; this is the latest patch that the run recorded.
    Evidence,
}

/// One file that differs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ChangedFile {
    /// The path relative to the root of the workspace.
    pub path: String,
    /// `added`, `changed` or `removed`.
    pub how: &'static str,
    /// The number of added lines; `None` if the file is binary or the number is not known.
    pub added: Option<u64>,
    /// The number of removed lines.
    pub removed: Option<u64>,
    /// The reason why there are no counts or no content.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
    /// The child run that changed it last; `None` if the run itself did.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub run: Option<String>,
    /// The record of the last write to it, in the run that made it.
    #[serde(skip)]
    pub seq: u64,
    #[serde(skip)]
    name: PathBuf,
}

/// The difference that a run has made.
#[derive(Debug)]
pub struct Difference {
    /// The later state of the comparison.
    pub later: Later,
    /// Every file that differs, in alphabetical order.
    pub files: Vec<ChangedFile>,
    /// The files that the run changed and whose changes were undone.
    pub undone: Vec<ChangedFile>,
    /// The writes whose changes are not known, so that they are missing here.
    pub unknown: Vec<UnknownWrite>,
    /// The number of bytes that are missing from a recorded patch.
    pub missing_bytes: u64,
    content: Content,
}

/// The source of patches.
#[derive(Debug)]
enum Content {
    Trees(Vec<Part>),
    /// A recorded patch, by file.
    Text(Vec<String>),
    Gone,
}

/// The sums of a list of files.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Total {
    /// The number of files.
    pub files: u64,
    /// The number of added lines.
    pub added: u64,
    /// The number of removed lines.
    pub removed: u64,
}

impl Difference {
    /// Returns the net changes of a run's own writes, and of those of its child runs in the same directory. While an attempt
    /// is in progress, its changes so far count too. May block.
    pub fn of(engine: &dyn Engine, workspace: &Workspace, head: &Head) -> Result<Self> {
        let mut writes = Writes::of(engine, head)?;
        let is_at_work = writes.add_unfinished(engine, workspace, head);
        let Nets { files, undone, parts } = Nets::of(&writes, workspace);
        let later = match (is_at_work, parts.is_empty()) {
            (true, _) => Later::Directory,
            (false, false) => Later::Run,
            (false, true) => Later::Records,
        };
        let content = if parts.is_empty() { Content::Gone } else { Content::Trees(parts) };
        let files = with_not_kept(files, &writes.not_kept());
        match &writes.patch {
            Some(patch) if files.is_empty() => {
                Ok(Difference { undone, unknown: writes.unknown, ..Difference::recorded(engine, patch)? })
            }
            _ => Ok(Difference { undone, unknown: writes.unknown, ..Difference::new(later, files, content) }),
        }
    }

    fn new(later: Later, files: Vec<ChangedFile>, content: Content) -> Self {
        Difference { later, files, undone: Vec::new(), unknown: Vec::new(), missing_bytes: 0, content }
    }

    /// Reads a recorded patch.
    fn recorded(engine: &dyn Engine, file: &Evidence) -> Result<Self> {
        let text = String::from_utf8_lossy(&engine.evidence().get(&file.hash)?).into_owned();
        let (sections, missing_bytes) = patch::sections(&text);
        let files = sections.iter().map(|section| section.file.clone()).collect();
        let texts = sections.into_iter().map(|section| section.text).collect();
        Ok(Difference { missing_bytes, ..Difference::new(Later::Evidence, files, Content::Text(texts)) })
    }

    /// Returns the sums over all files.
    pub fn total(&self) -> Total {
        let sum = |count: fn(&ChangedFile) -> Option<u64>| self.files.iter().filter_map(count).sum();
        let (added, removed) = (sum(|file| file.added), sum(|file| file.removed));
        Total { files: self.files.len() as u64, added, removed }
    }

    /// Returns the patch of one file, without the content of binary files; `None` if the file does not differ. May
    /// block.
    pub fn patch_of(&self, path: &str) -> Result<Option<String>> {
        let Some(at) = self.files.iter().position(|file| file.path == path) else { return Ok(None) };
        Ok(Some(match &self.content {
            Content::Trees(parts) => {
                let name = &self.files[at].name;
                let parts = parts.iter().filter(|part| part.paths.contains(name));
                let patches = parts.map(|part| part.comparison.patch_of(name).map_err(gone));
                patch::textual(&patches.collect::<Result<Vec<_>>>()?.concat())
            }
            Content::Text(texts) => texts.get(at).cloned().unwrap_or_default(),
            Content::Gone => String::new(),
        }))
    }

    /// Returns the whole patch, without the content of binary files. May block.
    pub fn patch(&self) -> Result<String> {
        Ok(match &self.content {
            Content::Trees(parts) => {
                let patches: Vec<Vec<u8>> = parts.iter().map(Part::patch).collect::<Result<_>>()?;
                patch::textual(&patches.concat())
            }
            Content::Text(texts) => texts.concat(),
            Content::Gone => String::new(),
        })
    }

    /// Returns a sentence about what is compared, if that is not the usual.
    pub fn note(&self) -> Option<String> {
        let unknown = self.unknown.iter().map(UnknownWrite::sentence);
        let said: Vec<String> = unknown.chain(self.source_note()).collect();
        (!said.is_empty()).then(|| said.join("\n"))
    }

    /// Says what is compared, if that is not the usual.
    fn source_note(&self) -> Option<String> {
        match self.later {
            Later::Records if !self.files.is_empty() => {
                Some("The content of these files is no longer stored; the list is the recorded one.".to_owned())
            }
            Later::Evidence => {
                Some("No file of the directory differs. This is the latest patch that the run recorded.".to_owned())
            }
            Later::Directory | Later::Run | Later::Records => None,
        }
    }

    /// Returns the list and the sums as JSON.
    pub fn json(&self, run: &str) -> Json {
        let mut json = json!({
            "run": run, "source": self.later, "total": self.total(), "files": self.files, "missing_bytes": self.missing_bytes,
        });
        if let Some(note) = self.note() {
            json["note"] = json!(note);
        }
        if !self.unknown.is_empty() {
            json["unknown"] = json!(self.unknown);
        }
        json
    }
}

fn gone(error: impl ToString) -> interlock_runtime::Error {
    interlock_runtime::Error::Undo(error.to_string())
}

/// Adds the files whose content is not stored.
fn with_not_kept(mut files: Vec<ChangedFile>, not_kept: &[NotKept]) -> Vec<ChangedFile> {
    let unkept = not_kept.iter().filter(|one| files.iter().all(|file| file.name != one.path));
    let unkept = unkept.map(|one| ChangedFile { note: Some(one.why.words()), ..named(&one.path, "changed", None) });
    let unkept: Vec<ChangedFile> = unkept.collect();
    files.extend(unkept);
    files.sort_by(|one, other| one.name.cmp(&other.name));
    files.dedup_by(|one, other| one.name == other.name);
    files
}

fn named(path: &Path, how: &'static str, lines: Option<(u64, u64)>) -> ChangedFile {
    ChangedFile {
        path: path.to_string_lossy().into_owned(),
        how,
        added: lines.map(|(added, _)| added),
        removed: lines.map(|(_, removed)| removed),
        note: None,
        run: None,
        seq: 0,
        name: path.to_owned(),
    }
}
