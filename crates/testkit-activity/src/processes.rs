//! Processes that a sandboxed command has started, as seen from outside.

use std::{fs, path::Path};

/// Whether a process is there that works in a folder or below it and knows itself by this number. In a PID namespace of its own that is another
/// number than the one outside.
pub fn is_alive(folder: &Path, pid: &str) -> bool {
    let folder = folder.canonicalize().unwrap_or_else(|_| folder.to_owned());
    let all = fs::read_dir("/proc").into_iter().flatten().flatten().map(|entry| entry.path());
    // What has ended has no working directory any more.
    let mut here = all.filter(|process| fs::read_link(process.join("cwd")).is_ok_and(|cwd| cwd.starts_with(&folder)));
    here.any(|process| {
        let status = fs::read_to_string(process.join("status")).unwrap_or_default();
        let numbers = status.lines().find_map(|line| line.strip_prefix("NSpid:")).unwrap_or_default();
        numbers.split_whitespace().last() == Some(pid)
    })
}
