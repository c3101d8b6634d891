//! Reads and writes the notebook file of a run while other programs may write it too.
//!
//! An action can take minutes, and a person can save the notebook in that time. The file is therefore read again before
//! it is written, and an edit is merged with the changes of the action.

use std::{fs, os::unix::fs::MetadataExt as _, path::Path, thread, time::Duration};

use crate::document::{Document, Merged, merge, replace_file_unless};

/// The number of times that an unfinished file is looked at, and the pause between two looks. Many editors empty a file
/// before they write it.
const LOOKS_MAX: u32 = 20;
const LOOK_PAUSE: Duration = Duration::from_millis(50);

/// The number of times that a write begins again because the file was edited in the meantime.
const WRITES_MAX: u32 = 10;

/// The state of a notebook file.
#[derive(Debug)]
pub(crate) enum Found {
    /// There is no file, or it is empty.
    Missing,
    /// It has the text that is known.
    Same,
    /// It has another text.
    Other(Document),
}

/// Reads the file. A file that is being written is waited for. May block.
pub(crate) fn look(folder: &Path, path: &Path, known: Option<&Document>) -> Result<Found, String> {
    let mut last = Ok(Found::Missing);
    for look in 0..LOOKS_MAX {
        if look > 0 {
            thread::sleep(LOOK_PAUSE);
        }
        last = match Document::load(folder, path)? {
            Some(text) if known.is_some_and(|known| known.text() == text) => return Ok(Found::Same),
            Some(text) => match Document::read(text) {
                Ok(document) => return Ok(Found::Other(document)),
                Err(why) => Err(format!("{}: {why}", path.display())),
            },
            None if !folder.join(path).exists() => return Ok(Found::Missing),
            None => Ok(Found::Missing),
        };
    }
    last
}

/// The result of a save.
#[derive(Debug)]
pub(crate) struct Saved {
    /// The document as it was written.
    pub(crate) document: Document,
    /// The edits that were made during the action, as sentences.
    pub(crate) notices: Vec<String>,
    /// The cells that got another id: the old and the new one.
    pub(crate) renamed: Vec<(String, String)>,
}

/// Writes the document of an action. `base` is the document that the action began with; `is_file` is true if it was
/// read from the file. May block.
pub(crate) fn save(
    folder: &Path,
    path: &Path,
    base: &Document,
    is_file: bool,
    ours: &Document,
) -> Result<Saved, String> {
    for _ in 0..WRITES_MAX {
        let stamp = Stamp::of(folder, path);
        let found = match is_trap(folder, path) {
            true => Found::Missing,
            false => look(folder, path, is_file.then_some(base)).map_err(|why| unreadable(&why))?,
        };
        let saved = match found {
            Found::Same => Saved { document: ours.clone(), notices: Vec::new(), renamed: Vec::new() },
            Found::Missing => {
                let gone = format!("[{} was removed during this action; it is written again.]", path.display());
                let notices = is_file.then_some(gone).into_iter().collect();
                Saved { document: ours.clone(), notices, renamed: Vec::new() }
            }
            Found::Other(theirs) => {
                let notice = base.changes(&theirs).describe();
                let Merged { document, conflicts, renamed } = merge(base, ours, theirs);
                Saved { document, notices: [notice].into_iter().chain(conflicts).collect(), renamed }
            }
        };
        let wrong = |error| format!("{} cannot be written: {error}", path.display());
        let text = saved.document.text().as_bytes();
        if replace_file_unless(folder, path, text, || Stamp::of(folder, path) != stamp).map_err(wrong)? {
            return Ok(saved);
        }
    }
    Err(format!("{} was changed {WRITES_MAX} times while it was to be written", path.display()))
}

/// Returns true if a link, a pipe or a directory is in the place of the file. No editor saves a notebook as that.
fn is_trap(folder: &Path, path: &Path) -> bool {
    fs::symlink_metadata(folder.join(path)).is_ok_and(|found| !found.is_file())
}

fn unreadable(why: &str) -> String {
    format!(
        "{why}. It was changed during this action and is not overwritten, so the result of the action is not in it. \
         Repair or remove the file"
    )
}

/// The properties of a file that change when it is written.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Stamp(Option<(u64, u64, i64, i64)>);

impl Stamp {
    fn of(folder: &Path, path: &Path) -> Self {
        let found = fs::symlink_metadata(folder.join(path)).ok();
        Stamp(found.map(|found| (found.ino(), found.size(), found.mtime(), found.mtime_nsec())))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn document(ids: &[&str]) -> Document {
        let mut document = Document::new(&json!({})).unwrap();
        for (at, id) in ids.iter().enumerate() {
            document.insert(at, id, json!({ "cell_type": "markdown", "metadata": {}, "source": "text" }));
        }
        document
    }

    #[test]
    fn an_edit_during_the_action_is_merged_and_named() {
        let folder = tempfile::tempdir().unwrap();
        let path = Path::new("n.ipynb");
        fs::write(folder.path().join(path), document(&["a", "mine"]).text()).unwrap();
        let saved = save(folder.path(), path, &document(&["a"]), true, &document(&["a", "b"])).unwrap();
        assert_eq!(saved.notices, ["[The notebook was edited outside of this run: 1 added. The edit is kept.]"]);
        let ids: Vec<_> = saved.document.cells().iter().map(|cell| &*cell.id).collect();
        assert_eq!(ids, ["a", "mine", "b"]);
        assert_eq!(fs::read_to_string(folder.path().join(path)).unwrap(), saved.document.text());
    }

    #[test]
    fn a_removed_file_is_written_again_and_an_unreadable_one_is_left_alone() {
        let folder = tempfile::tempdir().unwrap();
        let path = Path::new("n.ipynb");
        let (base, ours) = (document(&["a"]), document(&["a", "b"]));
        let saved = save(folder.path(), path, &base, true, &ours).unwrap();
        assert_eq!(saved.notices, ["[n.ipynb was removed during this action; it is written again.]"]);
        assert_eq!(fs::read_to_string(folder.path().join(path)).unwrap(), ours.text());
        fs::write(folder.path().join(path), "{\"nbformat\": 4, \"cells\": [").unwrap();
        let why = save(folder.path(), path, &base, true, &ours).unwrap_err();
        assert!(why.contains("is not overwritten"), "{why}");
        assert_eq!(fs::read_to_string(folder.path().join(path)).unwrap(), "{\"nbformat\": 4, \"cells\": [");
    }

    #[test]
    fn a_file_that_is_being_written_is_waited_for() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("n.ipynb");
        fs::write(&path, "").unwrap();
        let later = thread::spawn(move || {
            thread::sleep(LOOK_PAUSE * 3);
            fs::write(&path, document(&["a"]).text()).unwrap();
        });
        let found = look(folder.path(), Path::new("n.ipynb"), None).unwrap();
        later.join().unwrap();
        assert!(matches!(found, Found::Other(document) if document.cells().len() == 1));
    }
}
