//! A fault of Gemini CLI that would lose sessions, and the way around it.
//!
//! Gemini CLI keeps a session in `.gemini/tmp/PROJECT/chats/session-MINUTE-ID.jsonl`. When it loads a session it first opens
//! a new file, whose name has the current minute, and writes an empty history to it. In the minute in which the session
//! began that is the session's own file: its history is gone, and loading fails. A file with the name of an earlier minute
//! is found and loaded, because the name is not read.

use std::{
    fs, io,
    path::{Path, PathBuf},
};

/// The minute that the file of a session gets.
const EARLIER: &str = "2020-01-01T00-00";

/// The length of the part of an id that file names have.
const ID_CHARS: usize = 8;

/// Renames the file of a session, so that it can be loaded in the minute in which it began. No program of the agent runs
/// meanwhile. A file that cannot be renamed stays; the agent then opens a new session, which is told the rounds so far.
pub(crate) fn make_resumable(home: &Path, session: &str) {
    let Some(short) = session.get(..ID_CHARS) else { return };
    let _ = rename(home, short);
}

fn rename(home: &Path, short: &str) -> io::Result<()> {
    for project in folders(&home.join(".gemini"), "tmp")? {
        let name = project.file_name().unwrap_or_default().to_owned();
        let Some(above) = project.parent() else { continue };
        if !is_folder(&above.join(name)) || !is_folder(&project.join("chats")) {
            continue;
        }
        let chats = project.join("chats");
        let target = chats.join(format!("session-{EARLIER}-{short}.jsonl"));
        if fs::symlink_metadata(&target).is_ok() {
            continue;
        }
        let end = format!("-{short}.jsonl");
        for entry in fs::read_dir(&chats)? {
            let entry = entry?;
            let is_session =
                entry.file_name().to_str().is_some_and(|name| name.starts_with("session-") && name.ends_with(&end));
            if is_session && entry.file_type()?.is_file() {
                return fs::rename(entry.path(), target);
            }
        }
    }
    Ok(())
}

/// Returns the directories in a directory of a directory. Links are not followed: the agent could have made them.
fn folders(above: &Path, name: &str) -> io::Result<Vec<PathBuf>> {
    let folder = above.join(name);
    if !is_folder(above) || !is_folder(&folder) {
        return Ok(Vec::new());
    }
    let entries = fs::read_dir(folder)?.flatten().map(|entry| entry.path());
    Ok(entries.filter(|path| is_folder(path)).collect())
}

fn is_folder(path: &Path) -> bool {
    fs::symlink_metadata(path).is_ok_and(|about| about.is_dir())
}

#[cfg(test)]
mod tests {
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
        std::os::unix::fs::symlink(outside.path(), home.path().join(".gemini/tmp/link")).unwrap();
        for _ in 0..2 {
            make_resumable(home.path(), "1bfd208c-f33e-434a-a692-86f2b93d513e");
            let kept = fs::read_to_string(chats.join("session-2020-01-01T00-00-1bfd208c.jsonl"));
            assert_eq!(kept.unwrap(), "history");
        }
        assert!(outside.path().join("chats/session-2026-11-18T14-36-1bfd208c.jsonl").exists());
        make_resumable(home.path(), "x");
    }
}
