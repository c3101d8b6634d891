//! Programs that a try has started and that are still there. Every program inherits the mark of its try in its environment, so
//! that those are found that have left its process group, too; also by another process, after a crash.
//!
//! Where there is no `/proc`, only process groups are looked after.

use std::{fs, path::Path, time::Duration};

use rustix::process::{Pid, Signal, kill_process};

/// The variable that says which try a program belongs to: the path of its live file.
pub(crate) const MARK: &str = "INTERLOCK_ATTEMPT";

/// How often to look again for what does not go away.
const LOOKS_MAX: usize = 200;
const BETWEEN_LOOKS: Duration = Duration::from_millis(5);

/// Ends every program of a try, and returns when they are gone. May block.
pub(crate) fn end_leftovers(mark: &Path) {
    let mark = [MARK.as_bytes(), b"=", mark.as_os_str().as_encoded_bytes()].concat();
    for _ in 0..LOOKS_MAX {
        let found = marked(&mark);
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

fn marked(mark: &[u8]) -> Vec<Pid> {
    let Ok(processes) = fs::read_dir("/proc") else { return Vec::new() };
    let pids = processes.filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok());
    pids.filter(|pid| is_marked(*pid, mark)).filter_map(Pid::from_raw).collect()
}

/// What cannot be read is not ours; what has ended has no environment any more.
fn is_marked(pid: i32, mark: &[u8]) -> bool {
    fs::read(format!("/proc/{pid}/environ")).is_ok_and(|all| all.split(|byte| *byte == 0).any(|one| one == mark))
}
