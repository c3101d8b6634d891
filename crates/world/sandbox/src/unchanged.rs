//! Reads the files of a project that bind a run, unless a program that is still working may have changed them.
//!
//! Such a file is restored when the program ends. Until then it says what the program wants: a policy or a machine that is
//! read from the disk would let the next run do what the person has not allowed.

use std::{
    fs,
    path::{Component, Path, PathBuf},
};

use crate::{
    baseline::{self, Baseline, SavedPath},
    saved::{BoundedReader, SavedNode},
};

/// The directory with a project's policy, judges, risks and machines.
const PROJECT: &str = ".interlock";

/// Reads a text file of a project; `None` if it does not exist. `store` is the directory with the runs.
///
/// # Errors
///
/// Fails if the file is not as it was before the first of the open attempts, and if it is a link or too long.
pub fn read_project(store: Option<&Path>, root: &Path, path: &str, bytes_max: u64) -> Result<Option<String>, String> {
    let read = || interlock_beneath::read_text(root, Path::new(path), bytes_max).map_err(|error| error.to_string());
    let Some(store) = store else { return read() };
    let full = real(root).join(path);
    let compared = baseline::look(store, |baseline| {
        let text = read()?;
        match saved(baseline, &full) {
            Some(before) if !is_text(before, text.as_deref()) => Err(changed(&full)),
            _ => Ok(text),
        }
    });
    compared.map_err(|error| format!("{}: {error}", store.display()))?
}

/// Checks that no program that is still working has changed `.interlock` in a directory or above it: its machines, and
/// all other files there.
///
/// # Errors
///
/// Names the first path that was changed.
pub fn project_is_unchanged(store: Option<&Path>, folder: &Path) -> Result<(), String> {
    let Some(store) = store else { return Ok(()) };
    let folder = real(folder);
    let compared = baseline::look(store, |baseline| {
        let mut projects = baseline.files().filter(|(path, _)| is_project_of(path, &folder));
        projects.find_map(|(path, saved)| first_changed(path, saved)).map_or(Ok(()), |path| Err(changed(&path)))
    });
    compared.map_err(|error| format!("{}: {error}", store.display()))?
}

fn real(folder: &Path) -> PathBuf {
    fs::canonicalize(folder).unwrap_or_else(|_| folder.to_owned())
}

/// Returns true for `.interlock` of a directory or of one above it, and for the paths in it.
fn is_project_of(path: &Path, folder: &Path) -> bool {
    let mut ends = path.ancestors().filter(|above| above.file_name().is_some_and(|name| name == PROJECT));
    ends.any(|project| project.parent().is_some_and(|above| folder.starts_with(above)))
}

/// Returns the first path that is not as it was.
fn first_changed(path: &Path, saved: &SavedPath) -> Option<PathBuf> {
    match BoundedReader::new(&saved.open).read(path) {
        Ok(now) => differing(path, &saved.node, &now),
        Err(_) => Some(path.to_owned()),
    }
}

fn differing(path: &Path, before: &SavedNode, now: &SavedNode) -> Option<PathBuf> {
    if before.is_kept_by(now) {
        return None;
    }
    let (SavedNode::Folder { entries, .. }, SavedNode::Folder { entries: entries_now, .. }) = (before, now) else {
        return Some(path.to_owned());
    };
    let nothing = &SavedNode::Nothing;
    let mut names = entries.keys().chain(entries_now.keys());
    let below = names.find_map(|name| {
        let [before, now] = [entries, entries_now].map(|all| all.get(name).unwrap_or(nothing));
        differing(&path.join(name), before, now)
    });
    Some(below.unwrap_or_else(|| path.to_owned()))
}

/// Returns what was at a path, if an open attempt protects it.
fn saved<'b>(baseline: &'b Baseline, path: &Path) -> Option<&'b SavedNode> {
    let (above, saved) = baseline.files().filter(|(above, _)| path.starts_with(above)).last()?;
    if saved.open.iter().any(|open| path.starts_with(open)) {
        return None;
    }
    let mut node = &saved.node;
    for part in path.strip_prefix(above).ok()?.components() {
        let (SavedNode::Folder { entries, .. }, Component::Normal(name)) = (node, part) else {
            return Some(&SavedNode::Nothing);
        };
        node = entries.get(name).unwrap_or(&SavedNode::Nothing);
    }
    Some(node)
}

fn is_text(node: &SavedNode, text: Option<&str>) -> bool {
    match (node, text) {
        (SavedNode::File { content, .. }, Some(text)) => content == text.as_bytes(),
        (SavedNode::Nothing, None) => true,
        // A link and the like are refused by whoever reads them.
        _ => false,
    }
}

fn changed(path: &Path) -> String {
    format!(
        "{} was changed while a program of another attempt works in this workspace. What the program has changed there is \
         restored when it ends. Wait until then, or end that run",
        path.display()
    )
}
