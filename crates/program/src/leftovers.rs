//! Programs of a try that are still there although whoever ran it is gone.
//!
//! Its launcher ends them, and itself, when that happens: so it is waited for. Should it have been killed, too, its programs are known
//! by a mark that every program of a try inherits in its environment. Where there is no `/proc`, nothing can be looked for.

use std::{
    fs,
    path::Path,
    time::{Duration, Instant},
};

use interlock_sandbox::is_supervisor_of;
use rustix::process::{Pid, Signal, kill_process};

/// The variable that says which try a program belongs to: the path of its live file.
pub(crate) const MARK: &str = "INTERLOCK_ATTEMPT";

/// How long a launcher may take to end a program and itself.
const LAUNCHER_MAX: Duration = Duration::from_secs(20);

/// How often to look again for what does not go away.
const LOOKS_MAX: usize = 200;
const BETWEEN_LOOKS: Duration = Duration::from_millis(5);

/// Ends every program of a try, and returns when they are gone. May block.
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
            // It may have ended by itself.
            let _ = kill_process(pid, Signal::KILL);
        }
        std::thread::sleep(BETWEEN_LOOKS);
    }
}

fn processes() -> impl Iterator<Item = i32> {
    let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
    entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok())
}

/// What cannot be read is not ours; what has ended has no environment any more.
fn is_marked(pid: i32, mark: &[u8]) -> bool {
    fs::read(format!("/proc/{pid}/environ")).is_ok_and(|all| all.split(|byte| *byte == 0).any(|one| one == mark))
}
