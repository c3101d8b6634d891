//! What a run has changed in its directory: every file with its counts, the patch of each file, and the whole patch.
//!
//! The list and the counts come from stored trees, so they are true at any size. A view that shows less than the whole
//! says how much it leaves out; it never counts what it shows. The commands, the server, MCP and the page all read this.

mod patch;
mod writes;

use std::path::{Path, PathBuf};

use interlock_journal::{Engine, Evidence, Head};
use interlock_runtime::{Change, Comparison, NotKept, Result, Workspace};
use serde::Serialize;
use serde_json::{Value as Json, json};

use writes::Writes;

/// The media type of a patch.
const PATCH: &str = "text/x-diff";

/// The state that the directory before the run's first write is compared with.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Later {
    /// The directory as it is now.
    Directory,
    /// The directory after the last write of a run that has ended.
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
    /// The number of bytes that are missing from a recorded patch.
    pub missing_bytes: u64,
    content: Content,
}

/// The source of patches.
#[derive(Debug)]
enum Content {
    Trees(Comparison),
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
    /// Compares the directory of a run before its first write with the directory now, or, if the run has ended, with
    /// the directory after its last write. Writes of child runs in the same directory count. May block.
    pub fn of(engine: &dyn Engine, workspace: &Workspace, head: &Head) -> Result<Self> {
        let writes = Writes::of(engine, head)?;
        let found = writes.compared(workspace, head);
        let found = found.and_then(|(comparison, later, not_kept)| {
            let files = comparison.files().ok()?;
            Some(Difference::new(later, listed(&files, &not_kept), Content::Trees(comparison)))
        });
        let found = found.unwrap_or_else(|| Difference::new(Later::Records, writes.net(), Content::Gone));
        match &writes.patch {
            Some(patch) if found.files.is_empty() => Difference::recorded(engine, patch),
            _ => Ok(found),
        }
    }

    fn new(later: Later, files: Vec<ChangedFile>, content: Content) -> Self {
        Difference { later, files, missing_bytes: 0, content }
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
            Content::Trees(comparison) => patch::textual(&comparison.patch_of(&self.files[at].name).map_err(gone)?),
            Content::Text(texts) => texts.get(at).cloned().unwrap_or_default(),
            Content::Gone => String::new(),
        }))
    }

    /// Returns the whole patch, without the content of binary files. May block.
    pub fn patch(&self) -> Result<String> {
        Ok(match &self.content {
            Content::Trees(comparison) => patch::textual(&comparison.patch().map_err(gone)?),
            Content::Text(texts) => texts.concat(),
            Content::Gone => String::new(),
        })
    }

    /// Returns a sentence about what is compared, if that is not the usual.
    pub fn note(&self) -> Option<String> {
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
        json
    }
}

fn gone(error: impl ToString) -> interlock_runtime::Error {
    interlock_runtime::Error::Undo(error.to_string())
}

/// Lists the changed files, and those whose content is not stored.
fn listed(files: &[Change], not_kept: &[NotKept]) -> Vec<ChangedFile> {
    let known = |path: &Path| files.iter().any(|change| change.path == path);
    let unkept = not_kept
        .iter()
        .filter(|one| !known(&one.path))
        .map(|one| ChangedFile { note: Some(one.why.words()), ..named(&one.path, "changed", None) });
    let mut all: Vec<ChangedFile> = files.iter().map(changed).chain(unkept).collect();
    all.sort_by(|one, other| one.name.cmp(&other.name));
    all.dedup_by(|one, other| one.name == other.name);
    all
}

fn changed(change: &Change) -> ChangedFile {
    let how = match (&change.before, &change.after) {
        (None, Some(_)) => "added",
        (Some(_), None) => "removed",
        _ => "changed",
    };
    let note = change.lines.is_none().then(|| "binary".to_owned());
    ChangedFile { note, ..named(&change.path, how, change.lines) }
}

fn named(path: &Path, how: &'static str, lines: Option<(u64, u64)>) -> ChangedFile {
    ChangedFile {
        path: path.to_string_lossy().into_owned(),
        how,
        added: lines.map(|(added, _)| added),
        removed: lines.map(|(_, removed)| removed),
        note: None,
        name: path.to_owned(),
    }
}
