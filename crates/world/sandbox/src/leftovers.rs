//! Programs of an attempt that still run although the process that ran the attempt is gone.
//!
//! In that case the launcher ends the programs and itself, so this module waits for the launcher. If the launcher was
//! killed too, its programs are found by a mark that every program of an attempt inherits in its environment. On a
//! system without `/proc` no program can be found.

use std::{
    fs,
    path::Path,
    time::{Duration, Instant},
};

use crate::is_supervisor_of;
use rustix::process::{Pid, Signal, kill_process};

/// The environment variable that names the attempt of a program: the path of its live file.
pub const MARK: &str = "INTERLOCK_ATTEMPT";

/// The longest time that a launcher may take to end a program and itself.
const LAUNCHER_MAX: Duration = Duration::from_secs(20);

/// The number of times that remaining programs are searched for and killed again.
const LOOKS_MAX: usize = 200;
const BETWEEN_LOOKS: Duration = Duration::from_millis(5);

/// Ends every program of an attempt and returns when they are gone. May block.
pub fn end_leftovers(mark: &Path) {
    let deadline = Instant::now() + LAUNCHER_MAX;
    while processes().any(|pid| is_supervisor_of(pid, mark)) && Instant::now() < deadline {
        std::thread::sleep(BETWEEN_LOOKS);
    }
    let mark = [MARK.as_bytes(), b"=", mark.as_os_str().as_encoded_bytes()].concat();
    for _ in 0..LOOKS_MAX {
        let found: Vec<_> = processes().filter(|pid| is_marked(*pid, &mark)).filter_map(Pid::from_raw).collect();
        if found.is_empty() {
            return;
        }
        for pid in found {
            // The process may have ended by itself.
            let _ = kill_process(pid, Signal::KILL);
        }
        std::thread::sleep(BETWEEN_LOOKS);
    }
}

fn processes() -> impl Iterator<Item = i32> {
    let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
    entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok())
}

/// Reports whether a process carries the mark. A process whose environment cannot be read is not ours; an ended one
/// has no environment.
fn is_marked(pid: i32, mark: &[u8]) -> bool {
    fs::read(format!("/proc/{pid}/environ")).is_ok_and(|all| all.split(|byte| *byte == 0).any(|one| one == mark))
}
