//! A fault of Gemini CLI that would lose sessions, and the way around it.
//!
//! Gemini CLI keeps a session in `.gemini/tmp/PROJECT/chats/session-MINUTE-ID.jsonl`. When it loads a session it first opens
//! a new file, whose name has the current minute, and writes an empty history to it. In the minute in which the session
//! began that is the session's own file: its history is gone, and loading fails. A file with the name of an earlier minute
//! is found and loaded, because the name is not read.

use std::path::Path;

use interlock_beneath::{FileType, Folder, Result};

/// The minute that the file of a session gets.
const EARLIER: &str = "2020-01-01T00-00";

/// The length of the part of an id that file names have.
const ID_CHARS: usize = 8;

/// Renames the file of a session, so that it can be loaded in the minute in which it began. A file that cannot be renamed
/// stays; the agent then opens a new session, which is told the rounds so far.
pub(crate) fn make_resumable(home: &Path, session: &str) {
    let Some(short) = session.get(..ID_CHARS) else { return };
    let _ = rename(home, short);
}

/// The agent may have put links anywhere in its home.
fn rename(home: &Path, short: &str) -> Result<()> {
    let projects = Folder::open(home)?.folder(Path::new(".gemini/tmp"))?;
    let target = format!("session-{EARLIER}-{short}.jsonl");
    let end = format!("-{short}.jsonl");
    for project in projects.names(Path::new(""))? {
        let Ok(chats) = projects.folder(&Path::new(&project).join("chats")) else { continue };
        if chats.kind(Path::new(&target))?.is_some() {
            continue;
        }
        for (name, kind) in chats.kinds(Path::new(""))? {
            let is_session = name.to_str().is_some_and(|name| name.starts_with("session-") && name.ends_with(&end));
            if is_session && kind == FileType::RegularFile {
                return chats.rename_to_free(Path::new(&name), Path::new(&target));
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn file_of_a_session_gets_an_earlier_minute_and_links_are_not_followed() {
        let home = tempfile::tempdir().unwrap();
        let chats = home.path().join(".gemini/tmp/work/chats");
        fs::create_dir_all(&chats).unwrap();
        fs::write(chats.join("session-2026-11-18T14-36-1bfd208c.jsonl"), "history").unwrap();
        let outside = tempfile::tempdir().unwrap();
        fs::create_dir(outside.path().join("chats")).unwrap();
        fs::write(outside.path().join("chats/session-2026-11-18T14-36-1bfd208c.jsonl"), "").unwrap();
        let others = home.path().join(".gemini/tmp/others");
        fs::create_dir(&others).unwrap();
        std::os::unix::fs::symlink(outside.path(), home.path().join(".gemini/tmp/link")).unwrap();
        std::os::unix::fs::symlink(outside.path().join("chats"), others.join("chats")).unwrap();
        for _ in 0..2 {
            make_resumable(home.path(), "1bfd208c-f33e-434a-a692-86f2b93d513e");
            let kept = fs::read_to_string(chats.join("session-2020-01-01T00-00-1bfd208c.jsonl"));
            assert_eq!(kept.unwrap(), "history");
        }
        assert!(outside.path().join("chats/session-2026-11-18T14-36-1bfd208c.jsonl").exists());
        make_resumable(home.path(), "x");
    }
}
