//! What a crash can leave: folders of starts that did not come to their end, and, should their launchers have been killed, too, programs.

use std::{
    fs, io,
    path::{Path, PathBuf},
    time::Duration,
};

use rustix::process::{Pid, Signal, kill_process};

use crate::{Bench, Kept, Session, Trouble, confined::SESSION};

/// How often to look for programs that do not go away, and how long in between.
const LOOKS_MAX: usize = 200;
const BETWEEN_LOOKS: Duration = Duration::from_millis(5);

/// The logs of starts that did not come to their end. Those of the others are known already.
pub(crate) fn logs(session: &Session) -> io::Result<Vec<Kept>> {
    let mut logs = Vec::new();
    for folder in starts(session)?.into_iter().filter(|folder| !folder.join("ran.json").exists()) {
        for entry in fs::read_dir(&folder)?.filter_map(Result::ok) {
            let (path, name) = (entry.path(), folder.file_name().unwrap_or_default().to_string_lossy());
            let is_log = entry.file_type()?.is_file() && path.extension().is_some_and(|extension| extension == "log");
            if is_log {
                let name = format!("{name}/{}", entry.file_name().to_string_lossy());
                logs.push(Kept { name, media_type: "text/plain".to_owned(), path });
            }
        }
    }
    logs.sort_by(|one, other| one.name.cmp(&other.name));
    Ok(logs)
}

/// Ends programs that are left and removes what they worked in: `name` within the folder of a start. What was, in words.
pub(crate) async fn clear(bench: Bench<'_>, name: &'static str) -> Result<String, Trouble> {
    let session = bench.session.clone();
    let cleared = tokio::task::spawn_blocking(move || {
        let ended = end_programs(&session.folder);
        let mut removed = 0;
        for folder in starts(&session)?.into_iter().filter(|folder| !folder.join("ran.json").exists()) {
            match fs::remove_dir_all(folder.join(name)) {
                Ok(()) => removed += 1,
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                Err(error) => return Err(error),
            }
        }
        Ok((ended, removed))
    });
    let (ended, removed) = cleared.await.map_err(Trouble::environment)??;
    Ok(format!("{ended} programs were left and ended, {removed} folders of theirs removed"))
}

/// A folder with nothing in it: a start that is made once more begins with nothing.
pub(crate) fn empty(folder: &Path) -> io::Result<()> {
    match fs::remove_dir_all(folder) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    fs::create_dir_all(folder)
}

fn starts(session: &Session) -> io::Result<Vec<PathBuf>> {
    match fs::read_dir(session.folder.join("runs")) {
        Ok(entries) => Ok(entries.filter_map(|entry| Some(entry.ok()?.path())).filter(|path| path.is_dir()).collect()),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Vec::new()),
        Err(error) => Err(error),
    }
}

/// Ends every program of a session; how many there were.
fn end_programs(session: &Path) -> usize {
    let mark = [SESSION.as_bytes(), b"=", session.as_os_str().as_encoded_bytes()].concat();
    let mut ended = 0;
    for look in 0..LOOKS_MAX {
        let found: Vec<_> = processes().filter(|pid| is_marked(*pid, &mark)).filter_map(Pid::from_raw).collect();
        if found.is_empty() {
            break;
        }
        ended += if look == 0 { found.len() } else { 0 };
        for pid in found {
            // It may have ended by itself.
            let _ = kill_process(pid, Signal::KILL);
        }
        std::thread::sleep(BETWEEN_LOOKS);
    }
    ended
}

fn processes() -> impl Iterator<Item = i32> {
    let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
    entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok())
}

/// What cannot be read is not ours; what has ended has no environment any more.
fn is_marked(pid: i32, mark: &[u8]) -> bool {
    fs::read(format!("/proc/{pid}/environ")).is_ok_and(|all| all.split(|byte| *byte == 0).any(|one| one == mark))
}
