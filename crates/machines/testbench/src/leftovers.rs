//! Leftovers of a crash: directories of starts that did not finish and, if their launchers were killed too, running
//! programs.

use interlock_beneath::{FileType, whole};
use std::{
    fs, io,
    path::{Path, PathBuf},
    time::Duration,
};

use rustix::process::{Pid, Signal, kill_process};

use crate::{Bench, FetchedFile, Session, Trouble, confined::SESSION, walk::FILE_BYTES_MAX};

/// The number of times that remaining programs are searched for, and the time in between.
const LOOKS_MAX: usize = 200;
const BETWEEN_LOOKS: Duration = Duration::from_millis(5);

/// Returns the logs of starts that did not finish. The logs of the others are already known.
pub(crate) fn logs(session: &Session) -> io::Result<Vec<FetchedFile>> {
    let mut logs = Vec::new();
    for folder in starts(session)?.into_iter().filter(|folder| !folder.join("ran.json").exists()) {
        for name in whole::names(&folder)? {
            let path = folder.join(&name);
            let is_log = path.extension().is_some_and(|extension| extension == "log")
                && whole::kind(&path)? == Some(FileType::RegularFile);
            if is_log {
                let start = folder.file_name().unwrap_or_default().to_string_lossy();
                let name = format!("{start}/{}", name.to_string_lossy());
                logs.push(FetchedFile { name, media_type: "text/plain".to_owned(), path });
            }
        }
    }
    logs.sort_by(|one, other| one.name.cmp(&other.name));
    Ok(logs)
}

/// Ends the remaining programs and removes their directories: `name` within the directory of a start. Returns a
/// description.
pub(crate) async fn clear(bench: Bench<'_>, name: &'static str) -> Result<String, Trouble> {
    let session = bench.session.clone();
    let cleared = tokio::task::spawn_blocking(move || {
        let ended = end_programs(&session.folder);
        let mut removed = 0;
        for folder in starts(&session)?.into_iter().filter(|folder| !folder.join("ran.json").exists()) {
            if whole::kind(folder.join(name))?.is_some() {
                whole::remove_all(folder.join(name))?;
                removed += 1;
            }
        }
        Ok::<_, Trouble>((ended, removed))
    });
    let (ended, removed) = cleared.await.map_err(Trouble::environment)??;
    Ok(format!("ended {ended} leftover programs and removed {removed} of their directories"))
}

/// Creates an empty directory, so that a repeated start finds no earlier files.
pub(crate) fn empty(folder: &Path) -> io::Result<()> {
    Ok(whole::empty(folder)?)
}

fn starts(session: &Session) -> io::Result<Vec<PathBuf>> {
    let runs = session.folder.join("runs");
    let all = whole::names(&runs)?.into_iter().map(|name| runs.join(name));
    Ok(all.filter(|path| whole::kind(path).is_ok_and(|kind| kind == Some(FileType::Directory))).collect())
}

/// Ends every program of a session; returns their number.
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
            // The process may have ended by itself.
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

/// Reports whether a process carries the mark. A process whose environment cannot be read is not ours; an ended one
/// has no environment.
fn is_marked(pid: i32, mark: &[u8]) -> bool {
    whole::read(format!("/proc/{pid}/environ"), FILE_BYTES_MAX)
        .is_ok_and(|all| all.split(|byte| *byte == 0).any(|one| one == mark))
}
