//! Stores a project's policy and risk weights when a run begins, and returns the stored versions.
//!
//! They bind the run to its end, in every process that continues it. A later change of the files affects later runs only, so
//! nothing that a run starts can loosen its own policy.

use std::path::Path;

use interlock_activity::{
    ProjectFile,
    project::{BYTES_MAX, POLICY, RISK, root},
};
use interlock_journal::{Engine, Entry, Evidence, EvidenceStore};
use interlock_redact::Redactor;

/// Stores the project files that bind a run in this directory. `home` is Interlock's directory. Fails if a program that is
/// still working may have changed these files or the project's machines. May block for a moment.
pub(crate) fn keep(
    folder: &Path,
    home: Option<&Path>,
    store: &EvidenceStore,
    redactor: &Redactor,
) -> Result<Vec<Evidence>, String> {
    interlock_sandbox::project_is_unchanged(home, folder)?;
    let top = root(folder);
    let mut kept = Vec::new();
    for path in [POLICY, RISK] {
        let Some(text) = interlock_sandbox::read_project(home, &top, path, BYTES_MAX)? else { continue };
        if redactor.text(&text) != text {
            return Err(format!("{path} contains text that looks like a secret and must not be stored. Remove it"));
        }
        kept.push(store.put(path, "application/toml", text.as_bytes()).map_err(|error| error.to_string())?);
    }
    Ok(kept)
}

/// Returns a project file as it was when the run began.
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
