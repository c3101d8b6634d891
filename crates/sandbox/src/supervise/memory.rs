//! A control group that counts a program's memory, where one can be had: with files in memory, shared memory and all else that belongs to no
//! single process.
//!
//! The kernel keeps the limit. It ends a process of the group if nothing can be freed, and counts that.

use std::{
    fs,
    path::{Path, PathBuf},
};

use rustix::process::Pid;

use super::cgroup::write;

const MIB: u64 = 1_024 * 1_024;

/// The kernel's limit is that much above the program's own, so that a program that grows slowly is stopped by the supervisor, which says why.
const SPARE_MIB: u64 = 16;

/// A group that counts memory.
#[derive(Debug)]
pub(crate) enum MemoryGroup {
    /// The one group that has everything (version 2).
    Unified(PathBuf),
    /// A group of its own for memory (version 1).
    Separate(PathBuf),
}

impl MemoryGroup {
    /// The group that a program is in already, if it counts memory.
    pub(crate) fn in_unified(group: &Path) -> Option<Self> {
        group.join("memory.max").exists().then(|| MemoryGroup::Unified(group.to_owned()))
    }

    /// Puts a process into a new group for memory below this process's own. Never beside it: the limits of this process hold for the program.
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

    /// Puts another process into it.
    pub(crate) fn take_in(&self, pid: Pid) -> std::io::Result<()> {
        match self {
            MemoryGroup::Unified(_) => Ok(()),
            MemoryGroup::Separate(group) => write(&group.join("cgroup.procs"), &pid.as_raw_nonzero().to_string()),
        }
    }

    /// Has the kernel keep the limit.
    pub(crate) fn limit(&self, memory_mib: u64) -> std::io::Result<()> {
        let bytes = memory_mib.saturating_add(SPARE_MIB).saturating_mul(MIB).min(i64::MAX.unsigned_abs());
        let file = match self {
            MemoryGroup::Unified(group) => group.join("memory.max"),
            MemoryGroup::Separate(group) => group.join("memory.limit_in_bytes"),
        };
        write(&file, &bytes.to_string())
    }

    /// Bytes in use that cannot be freed by forgetting what a disk has.
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

    /// How many processes of it the kernel has ended because the limit was reached.
    pub(crate) fn ended_by_kernel(&self) -> u64 {
        let file = match self {
            MemoryGroup::Unified(group) => group.join("memory.events"),
            MemoryGroup::Separate(group) => group.join("memory.oom_control"),
        };
        sum(&fs::read_to_string(file).unwrap_or_default(), &["oom_kill"])
    }

    /// Takes it away, when everybody in it is gone.
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

/// The sum of some fields of a file with a name and a number a line.
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
