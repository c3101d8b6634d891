//! Writes `active_context.md` atomically, and detects edits by hand: the journal wins, and the edited text is kept.

use std::{
    fs, io,
    path::{Path, PathBuf},
};

use interlock_activity::{RunState, RunView};
use interlock_beneath::{self as beneath, Folder, Mode};
use interlock_journal::moment;
use serde::{Deserialize, Serialize};

use crate::{ACTIVE_CONTEXT, MACHINE, View, hash};

/// The longest file that is compared and kept.
const BYTES_MAX: u64 = 1024 * 1024;

/// The most hand edits that are remembered.
const EDITS_MAX: usize = 5;

/// Keeps the file of a directory up to date.
#[derive(Clone, Debug)]
pub struct ViewFile {
    /// The directory that remembers what was written, outside of the workspace.
    home: Option<PathBuf>,
}

/// An edit by hand that was overruled.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct HandEdit {
    /// The time when it was detected.
    pub at: String,
    /// The file that keeps the edited text.
    pub kept: PathBuf,
}

/// The memory of one file.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
struct Memory {
    /// The hash of the text that was written last.
    written: String,
    /// The hash of the text before that: a crash may have kept the last one from being written.
    #[serde(default)]
    before: String,
    /// The run that the text shows.
    run: String,
    edits: Vec<HandEdit>,
}

impl Memory {
    /// Returns true if a text is not one that Interlock wrote.
    fn is_foreign(&self, text: &str) -> bool {
        let found = hash(text);
        !self.written.is_empty() && found != self.written && found != self.before
    }
}

impl HandEdit {
    /// Reports the edit in one line.
    pub fn words(&self) -> String {
        format!(
            "{} was edited by hand before {}; the journal wins, the edit is kept in {}",
            ACTIVE_CONTEXT,
            self.at,
            self.kept.display()
        )
    }
}

impl ViewFile {
    /// Creates the view. `home` is the store's directory; without one, edits by hand are not detected.
    pub fn new(home: Option<PathBuf>) -> Self {
        ViewFile { home }
    }

    /// Returns the recorded edits of the file that shows a run.
    pub fn edits(&self, run: &RunState) -> Vec<HandEdit> {
        let memory = self.memory(&run.folder.join(ACTIVE_CONTEXT));
        if memory.run == *run.run { memory.edits } else { Vec::new() }
    }

    /// Writes the file if it is not up to date. Returns the edit that was overruled, if there was one.
    pub fn write(&self, run: &RunState) -> io::Result<Option<HandEdit>> {
        let path = run.folder.join(ACTIVE_CONTEXT);
        let mut memory = self.memory(&path);
        if memory.run != *run.run {
            memory = Memory { run: run.run.to_string(), edits: Vec::new(), ..memory };
        }
        let found = interlock_beneath::read_text(&run.folder, ACTIVE_CONTEXT.as_ref(), BYTES_MAX).ok().flatten();
        let edit = match &found {
            Some(found) if memory.is_foreign(found) => Some(self.keep_edit(&path, found, run.at_ms)?),
            _ => None,
        };
        memory.edits.extend(edit.clone());
        let skip = memory.edits.len().saturating_sub(EDITS_MAX);
        memory.edits.drain(..skip);
        let lines: Vec<String> = memory.edits.iter().map(HandEdit::words).collect();
        let text = View::of(run).markdown(&lines);
        if found.as_deref() != Some(text.as_str()) || hash(&text) != memory.written {
            self.remember(&path, &Memory { written: hash(&text), before: memory.written, ..memory })?;
            put(&run.folder, Path::new(ACTIVE_CONTEXT), &text)?;
        }
        Ok(edit)
    }

    fn keep_edit(&self, path: &Path, text: &str, at_ms: i64) -> io::Result<HandEdit> {
        let (Some(home), Some(place)) = (&self.home, place(path)) else {
            return Err(io::Error::other("there is no store"));
        };
        let at = moment::rfc3339(at_ms);
        let kept = place.with_extension(format!("{}.md", at.replace(':', "")));
        put(home, &kept, text)?;
        Ok(HandEdit { at, kept: home.join(kept) })
    }

    fn memory(&self, path: &Path) -> Memory {
        let place = self.home.as_ref().and_then(|home| Some(home.join(place(path)?)));
        let text = place.and_then(|place| fs::read(place).ok());
        text.and_then(|text| serde_json::from_slice(&text).ok()).unwrap_or_default()
    }

    fn remember(&self, path: &Path, memory: &Memory) -> io::Result<()> {
        match self.home.as_ref().zip(place(path)) {
            Some((home, place)) => Ok(put(home, &place, &serde_json::to_string(memory)?)?),
            None => Ok(()),
        }
    }
}

impl RunView for ViewFile {
    fn update(&self, run: &RunState) -> Option<String> {
        if run.machine != MACHINE {
            return None;
        }
        match self.write(run) {
            Ok(edit) => edit.map(|edit| edit.words()),
            // A view must never stop a run.
            Err(error) => Some(format!("{ACTIVE_CONTEXT} could not be written: {error}")),
        }
    }
}

/// Returns the path of the memory of a file, below the store.
fn place(path: &Path) -> Option<PathBuf> {
    let name = hash(&path.display().to_string());
    Some(Path::new("views").join(format!("{}.json", name.get(..24)?)))
}

/// Writes a file of a directory at once, with the directories above it. A program of the run may have put links there.
fn put(folder: &Path, path: &Path, text: &str) -> beneath::Result<()> {
    let folder = Folder::open(folder)?;
    folder.make_folders(path.parent().unwrap_or(Path::new("")))?;
    folder.write_as(path, text.as_bytes(), Mode::from_raw_mode(0o644))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(folder: &Path, name: &str, at_ms: i64) -> RunState {
        RunState { run: name.into(), machine: MACHINE.into(), folder: folder.to_owned(), at_ms, ..RunState::default() }
    }

    #[test]
    fn a_hand_edit_is_kept_reported_and_overruled() {
        let (folder, home) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let view = ViewFile::new(Some(home.path().to_owned()));
        let path = folder.path().join(ACTIVE_CONTEXT);
        assert_eq!(view.update(&run(folder.path(), "p1", 0)), None);
        let written = fs::read_to_string(&path).unwrap();
        assert_eq!(view.update(&run(folder.path(), "p1", 1)), None);
        fs::write(&path, "task_status: DONE\n").unwrap();
        let said = view.update(&run(folder.path(), "p1", 2)).unwrap();
        assert!(said.contains("was edited by hand"), "{said}");
        let edits = view.edits(&run(folder.path(), "p1", 3));
        assert_eq!(fs::read_to_string(&edits[0].kept).unwrap(), "task_status: DONE\n");
        let now = fs::read_to_string(&path).unwrap();
        assert!(now.starts_with(written.split("<!--").next().unwrap()) && now.contains("edited by hand"), "{now}");
        assert_eq!(view.update(&run(folder.path(), "p1", 4)), None, "an edit is reported once");
    }

    #[test]
    fn another_run_in_the_same_directory_is_no_hand_edit() {
        let (folder, home) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let view = ViewFile::new(Some(home.path().to_owned()));
        assert_eq!(view.update(&run(folder.path(), "p1", 0)), None);
        assert_eq!(view.update(&run(folder.path(), "p2", 1)), None);
        assert_eq!(view.update(&run(folder.path(), "p1", 2)), None);
        let text = fs::read_to_string(folder.path().join(ACTIVE_CONTEXT)).unwrap();
        assert!(text.contains("session_id: \"p1\""), "{text}");
    }

    #[test]
    fn nothing_is_written_through_a_link() {
        let (folder, elsewhere) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        std::os::unix::fs::symlink(elsewhere.path(), folder.path().join(".agent")).unwrap();
        let said = ViewFile::new(None).update(&run(folder.path(), "p1", 0)).unwrap();
        assert!(said.contains(".agent is a symbolic link"), "{said}");
        assert_eq!(fs::read_dir(elsewhere.path()).unwrap().count(), 0);
    }

    #[test]
    fn a_directory_that_becomes_a_link_meanwhile_leads_nowhere() {
        let (folder, elsewhere) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let place = Folder::open(folder.path()).unwrap();
        let (memory, link) = (Path::new(".agent/memory"), Path::new("link"));
        place.make_folders(memory).unwrap();
        place.symlink(elsewhere.path(), link).unwrap();
        let done = std::sync::atomic::AtomicBool::new(false);
        std::thread::scope(|scope| {
            scope.spawn(|| {
                while !done.load(std::sync::atomic::Ordering::Relaxed) {
                    place.exchange(memory, link).unwrap();
                }
            });
            (0..500).for_each(|at| drop(ViewFile::new(None).update(&run(folder.path(), "p1", at))));
            done.store(true, std::sync::atomic::Ordering::Relaxed);
        });
        assert_eq!(fs::read_dir(elsewhere.path()).unwrap().count(), 0);
    }
}
