//! The project's own rules, as they were when a run began: its policy and its weights of risks.
//!
//! A run is held to these to its end, in whichever process it goes on. A file that is changed later counts for later runs. So nothing
//! that a run starts can loosen what the run is held to.

use std::path::{Path, PathBuf};

use interlock_activity::ProjectFile;
use interlock_journal::{Engine, Entry, Evidence, EvidenceStore};
use interlock_redact::Redactor;

/// A project's policy, from the root of its workspace.
pub(crate) const POLICY: &str = ".interlock/policy.toml";

/// A project's weights of risks.
pub(crate) const RISK: &str = ".interlock/risk.toml";

/// The longest file of either kind that is read.
const BYTES_MAX: u64 = 1_024 * 1_024;

/// Stores the files that a run in this folder will be held to. May block for a moment.
pub(crate) fn keep(folder: &Path, store: &EvidenceStore, redactor: &Redactor) -> Result<Vec<Evidence>, String> {
    let top = root(folder);
    let mut kept = Vec::new();
    for path in [POLICY, RISK] {
        let Some(text) = read(&top, path)? else { continue };
        if redactor.text(&text) != text {
            return Err(format!(
                "{path} holds something that looks like a secret, which must not be stored; take it out"
            ));
        }
        kept.push(store.put(path, "application/toml", text.as_bytes()).map_err(|error| error.to_string())?);
    }
    Ok(kept)
}

/// A file as a run has kept it.
pub(crate) fn kept(engine: &dyn Engine, run: &str, path: &str) -> Result<ProjectFile, String> {
    let wrong = |error: interlock_journal::Error| format!("{path} as it was when the run began: {error}");
    let Some(head) = engine.find(run).map_err(wrong)? else { return Ok(ProjectFile::NotKept) };
    let first = engine.records(head.key, 1, 1).map_err(wrong)?;
    let Some(first) = first.first() else { return Ok(ProjectFile::NotKept) };
    let Entry::Created(created) = first.entry(engine.evidence()).map_err(wrong)? else {
        return Ok(ProjectFile::NotKept);
    };
    let Some(files) = created.project else { return Ok(ProjectFile::NotKept) };
    let Some(file) = files.iter().find(|file| file.name == path) else { return Ok(ProjectFile::Absent) };
    let content = engine.evidence().get(&file.hash).map_err(wrong)?;
    String::from_utf8(content).map(ProjectFile::Text).map_err(|error| error.to_string())
}

/// A file's text; nothing if there is none. A link, a pipe or a device is refused: it would show another file, block for ever, or have no end.
pub(crate) fn read(top: &Path, path: &str) -> Result<Option<String>, String> {
    interlock_regular_file::read_text(top, Path::new(path), BYTES_MAX).map_err(|error| error.to_string())
}

/// The root of the workspace: that of the git repository, or else the folder itself.
pub(crate) fn root(folder: &Path) -> PathBuf {
    let folder = folder.canonicalize().unwrap_or_else(|_| folder.to_owned());
    folder.ancestors().find(|above| above.join(".git").exists()).map_or(folder.clone(), Path::to_owned)
}
