//! Commits single files of the project, apart from all other changes in the workspace.

use std::path::Path;

use interlock_activity::{Attempt, Outcome, code};
use interlock_journal::Evidence;
use interlock_workspace::{COMMIT_EVIDENCE, Commit, Error, NOTHING_TO_COMMIT, Workspace};

/// Commits files, given relative to the run's directory. Returns the commit with its evidence, by which `interlock undo`
/// takes it back; an empty hash if the files are committed already.
pub(crate) fn commit_files(
    workspace: &Workspace,
    attempt: &Attempt,
    message: &str,
    files: &[&str],
) -> Result<(String, Option<Evidence>), Outcome> {
    let failed = |error: Error| Outcome::error(code::FAILED, error.to_string());
    let root = workspace.root(&attempt.folder).map_err(failed)?;
    let folder = attempt.folder.canonicalize().unwrap_or_else(|_| attempt.folder.clone());
    let within = folder.strip_prefix(&root).unwrap_or(Path::new(""));
    let paths = files.iter().map(|file| within.join(file).display().to_string()).collect();
    let run = Some(attempt.run.to_string());
    let order = Commit { message: message.to_owned(), paths, run, ..Commit::default() };
    match workspace.commit(&attempt.folder, &order) {
        Ok(made) => {
            let moved = serde_json::to_vec(&made.moved).unwrap_or_default();
            let kept = attempt.evidence.put(COMMIT_EVIDENCE, "application/json", &moved);
            let kept =
                kept.map_err(|error| Outcome::not_stored(format!("the commit could not be recorded: {error}")))?;
            Ok((made.commit, Some(kept)))
        }
        Err(Error::Commit(why)) if why == NOTHING_TO_COMMIT => Ok((String::new(), None)),
        Err(error) => Err(failed(error)),
    }
}
