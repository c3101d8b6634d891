//! Processes that a sandboxed command has started, as seen from outside.

use std::{fs, path::Path};

/// Returns true if a process works in a directory or below it and has this process id in its own PID namespace. The id
/// outside the namespace can differ.
pub fn is_alive(folder: &Path, pid: &str) -> bool {
    let folder = folder.canonicalize().unwrap_or_else(|_| folder.to_owned());
    let all = fs::read_dir("/proc").into_iter().flatten().flatten().map(|entry| entry.path());
    // A process that has ended has no working directory.
    let mut here = all.filter(|process| fs::read_link(process.join("cwd")).is_ok_and(|cwd| cwd.starts_with(&folder)));
    here.any(|process| {
        let status = fs::read_to_string(process.join("status")).unwrap_or_default();
        let numbers = status.lines().find_map(|line| line.strip_prefix("NSpid:")).unwrap_or_default();
        numbers.split_whitespace().last() == Some(pid)
    })
}
