//! A control group that counts a program's memory, if one is available. It includes files in memory, shared memory and
//! all other memory that belongs to no single process.
//!
//! The kernel enforces the limit. If it cannot free memory, it kills a process of the group and counts that.

#![expect(clippy::disallowed_methods, reason = "no confined program can change control groups")]

use std::{
    fs,
    path::{Path, PathBuf},
};

use rustix::process::Pid;

use super::cgroup::write;

const MIB: u64 = 1_024 * 1_024;

/// Distance of the kernel's limit above the program's limit, so that the supervisor stops a slowly growing program
/// first and reports the reason.
const SPARE_MIB: u64 = 16;

/// A control group that counts memory.
#[derive(Debug)]
pub(crate) enum MemoryGroup {
    /// The unified group with all controllers (version 2).
    Unified(PathBuf),
    /// A separate group for memory (version 1).
    Separate(PathBuf),
}

impl MemoryGroup {
    /// Returns the group that a program is already in, if it counts memory.
    pub(crate) fn in_unified(group: &Path) -> Option<Self> {
        group.join("memory.max").exists().then(|| MemoryGroup::Unified(group.to_owned()))
    }

    /// Puts a process into a new memory group below the group of this process. It is never a sibling, so that the
    /// limits of this process also apply to the program.
    pub(crate) fn separate(own: &Path, name: &str, pid: Pid) -> Option<Self> {
        let group = own.join(name);
        fs::create_dir(&group).ok()?;
        let group = MemoryGroup::Separate(group);
        match group.take_in(pid) {
            Ok(()) => Some(group),
            Err(_) => {
                group.remove();
                None
            }
        }
    }

    /// Adds another process to the group.
    pub(crate) fn take_in(&self, pid: Pid) -> std::io::Result<()> {
        match self {
            MemoryGroup::Unified(_) => Ok(()),
            MemoryGroup::Separate(group) => write(&group.join("cgroup.procs"), &pid.as_raw_nonzero().to_string()),
        }
    }

    /// Sets the limit in the kernel.
    pub(crate) fn limit(&self, memory_mib: u64) -> std::io::Result<()> {
        let bytes = memory_mib.saturating_add(SPARE_MIB).saturating_mul(MIB).min(i64::MAX.unsigned_abs());
        let file = match self {
            MemoryGroup::Unified(group) => group.join("memory.max"),
            MemoryGroup::Separate(group) => group.join("memory.limit_in_bytes"),
        };
        write(&file, &bytes.to_string())
    }

    /// Returns the bytes in use that cannot be freed by dropping cached files.
    pub(crate) fn used(&self) -> u64 {
        let said = fs::read_to_string(self.folder().join("memory.stat")).unwrap_or_default();
        match self {
            MemoryGroup::Unified(group) => {
                let swapped = fs::read_to_string(group.join("memory.swap.current")).unwrap_or_default();
                sum(&said, &["anon", "shmem"]).saturating_add(swapped.trim().parse().unwrap_or(0))
            }
            MemoryGroup::Separate(_) => sum(&said, &["rss", "shmem", "swap"]),
        }
    }

    /// Returns the number of processes that the kernel killed because of the limit.
    pub(crate) fn ended_by_kernel(&self) -> u64 {
        let file = match self {
            MemoryGroup::Unified(group) => group.join("memory.events"),
            MemoryGroup::Separate(group) => group.join("memory.oom_control"),
        };
        sum(&fs::read_to_string(file).unwrap_or_default(), &["oom_kill"])
    }

    /// Removes the group after all its processes have ended.
    pub(crate) fn remove(&self) {
        if let MemoryGroup::Separate(group) = self {
            super::cgroup::remove(group);
        }
    }

    fn folder(&self) -> &Path {
        match self {
            MemoryGroup::Unified(group) | MemoryGroup::Separate(group) => group,
        }
    }
}

/// Sums some fields of a file with one name and number per line.
fn sum(said: &str, names: &[&str]) -> u64 {
    let pairs = said.lines().filter_map(|line| line.split_once(' '));
    let wanted =
        pairs.filter(|(name, _)| names.contains(name)).filter_map(|(_, value)| value.trim().parse::<u64>().ok());
    wanted.fold(0, u64::saturating_add)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_named_fields_are_summed() {
        assert_eq!(sum("anon 5\nfile 7\nshmem 11\nanon_thp 100\n", &["anon", "shmem"]), 16);
        assert_eq!(sum("", &["anon"]), 0);
        assert_eq!(sum("oom_kill many\nlow 1", &["oom_kill"]), 0);
    }
}
