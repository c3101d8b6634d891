//! Measures the resource usage of a program and all processes below it at intervals. The kernel's limits apply to
//! single processes or need privileges that users rarely have, so the sums are computed here. Between two checks a
//! program can exceed a limit for a moment.

use std::{
    fs,
    path::{Path, PathBuf},
};

use rustix::fs::statvfs;

use super::{cgroup::Cgroups, memory::MemoryGroup, tree};
use crate::{Breach, Limits, Rules};

const MIB: u64 = 1_024 * 1_024;

/// Minimum amount that a program must have written before a full disk is attributed to it.
const OWN_PART_MIB: u64 = 64;

/// Minimum number of new threads that triggers a check.
const GROWTH_MIN: u64 = 16;

/// The limits and the state of the measurement.
#[derive(Debug)]
pub(crate) struct Usage {
    limits: Limits,
    /// Processes of the launcher that are also below this one.
    helpers: u64,
    places: [PathBuf; 2],
    page_bytes: u64,
    /// Bytes written by this process before the program started.
    written_before: u64,
    /// Number of threads at the last check: those of the program's control group, or of the whole system.
    threads_seen: u64,
}

impl Usage {
    /// Starts the measurement for a program that starts now.
    pub(crate) fn new(rules: &Rules, temp: &Path, helpers: u64, cgroups: &Cgroups) -> Self {
        let page_bytes = rustix::param::page_size() as u64;
        let places = [rules.workspace.clone(), temp.to_owned()];
        Usage {
            limits: rules.limits,
            helpers,
            places,
            page_bytes,
            written_before: written("self"),
            threads_seen: threads(cgroups),
        }
    }

    /// Returns true if so many threads were created since the last check that another check is due. It is cheap enough
    /// to call often.
    pub(crate) fn is_growing(&self, cgroups: &Cgroups) -> bool {
        let few = (self.limits.processes / 4).max(GROWTH_MIN);
        threads(cgroups) > self.threads_seen.saturating_add(few)
    }

    /// Returns the violated limit, if there is one. Memory is counted by the control group, if there is one.
    pub(crate) fn look(&mut self, cgroups: &Cgroups) -> Option<Breach> {
        self.threads_seen = threads(cgroups);
        let group = cgroups.memory.as_ref();
        let tree::Count { processes: all, threads } = tree::count();
        let (processes, threads) =
            ((all.len() as u64).saturating_sub(self.helpers), threads.saturating_sub(self.helpers));
        let counts = [(processes, self.limits.processes, "processes"), (threads, self.limits.threads(), "threads")];
        if let Some((count, most, what)) = counts.into_iter().find(|(count, most, _)| count > most) {
            let said = format!("{count} {what} at the same time; {most} are allowed");
            return Some(Breach::new("limit.processes", said));
        }
        if let Some(group) = group
            && let Some(breach) = self.ended_by_kernel(group)
        {
            return Some(breach);
        }
        let memory = group.map_or_else(|| self.memory_of_all(&all), MemoryGroup::used) / MIB;
        if memory > self.limits.memory_mib {
            let said = format!("{memory} MiB of memory were in use; {} are allowed", self.limits.memory_mib);
            return Some(Breach::new("limit.memory", said));
        }
        self.look_at_disks(&all)
    }

    /// Returns the breach if the program grew so fast that the kernel killed one of its processes.
    pub(crate) fn ended_by_kernel(&self, group: &MemoryGroup) -> Option<Breach> {
        let said =
            || format!("the kernel ended a process: more than {} MiB of memory were in use", self.limits.memory_mib);
        (group.ended_by_kernel() > 0).then(|| Breach::new("limit.memory", said()))
    }

    /// Checks the written bytes and the free space. Bytes written by ended processes are counted for the process that
    /// reaped them, finally for this process.
    fn look_at_disks(&self, all: &[i32]) -> Option<Breach> {
        let gone = written("self").saturating_sub(self.written_before);
        let written = all.iter().map(|pid| written(&pid.to_string())).fold(gone, u64::saturating_add) / MIB;
        if written > self.limits.disk_mib {
            let said = format!("{written} MiB were written; {} are allowed", self.limits.disk_mib);
            return Some(Breach::new("limit.disk", said));
        }
        let free = self.places.iter().filter_map(|place| free(place)).min()? / MIB;
        // If the disk was full before, the program is not the cause.
        (free < self.limits.free_mib && written >= OWN_PART_MIB.min(self.limits.free_mib)).then(|| {
            let said = format!("only {free} MiB of the disk were free; {} must stay free", self.limits.free_mib);
            Breach::new("limit.free", said)
        })
    }

    /// Returns the memory of all processes without a control group. Shared memory is counted once, by the share of each
    /// process. That is slow, so it is computed only if it can exceed the limit.
    fn memory_of_all(&self, all: &[i32]) -> u64 {
        let of_each: Vec<_> = all.iter().map(|pid| self.memory(*pid)).collect();
        let own: u64 = of_each.iter().map(|(own, _)| own).sum();
        let with_shared = of_each.iter().map(|(_, shared)| shared).fold(own, |sum, shared| sum.saturating_add(*shared));
        match with_shared / MIB > self.limits.memory_mib {
            true => all.iter().map(|pid| part_of_shared(*pid)).fold(own, u64::saturating_add),
            false => own,
        }
    }

    /// Returns the private bytes of a process, and the bytes that it may share: files and shared memory.
    fn memory(&self, pid: i32) -> (u64, u64) {
        let said = fs::read_to_string(format!("/proc/{pid}/statm")).unwrap_or_default();
        let mut pages = said.split_whitespace().skip(1).map(|word| word.parse::<u64>().unwrap_or(0));
        let (resident, shared) = (pages.next().unwrap_or(0), pages.next().unwrap_or(0));
        (resident.saturating_sub(shared) * self.page_bytes, shared * self.page_bytes)
    }
}

/// Returns the shared memory of a process divided by the number of its users. Files on a disk are not included, because
/// the kernel can drop them.
fn part_of_shared(pid: i32) -> u64 {
    let said = fs::read_to_string(format!("/proc/{pid}/smaps_rollup")).unwrap_or_default();
    let line = said.lines().find_map(|line| line.strip_prefix("Pss_Shmem:"));
    let kib = line.and_then(|rest| rest.trim().trim_end_matches("kB").trim().parse::<u64>().ok());
    kib.unwrap_or(0).saturating_mul(1_024)
}

/// Returns the bytes that a process and its reaped children have written to disks, or 0 if this kernel does not count
/// them.
fn written(pid: &str) -> u64 {
    let said = fs::read_to_string(format!("/proc/{pid}/io")).unwrap_or_default();
    let field =
        |name: &str| said.lines().find_map(|line| line.strip_prefix(name)?.trim().parse::<u64>().ok()).unwrap_or(0);
    field("write_bytes:").saturating_sub(field("cancelled_write_bytes:"))
}

/// Returns the number of threads in the program's control group, or of the whole system if there is none.
fn threads(cgroups: &Cgroups) -> u64 {
    cgroups.threads().unwrap_or_else(threads_of_the_system)
}

/// Returns the number of threads of the whole system, or 0 if the system does not report it. Then checks only follow
/// the clock.
fn threads_of_the_system() -> u64 {
    let said = fs::read_to_string("/proc/loadavg").unwrap_or_default();
    let of = said.split_whitespace().nth(3).and_then(|field| field.split_once('/'));
    of.and_then(|(_, all)| all.parse().ok()).unwrap_or(0)
}

fn free(place: &Path) -> Option<u64> {
    statvfs(place).ok().map(|disk| disk.f_bavail.saturating_mul(disk.f_frsize))
}
