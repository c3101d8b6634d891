//! What a program and everything below it uses, looked at now and then. The kernel's own limits are for single processes or need rights that
//! a user seldom has, so the sums are made here; between two looks a program can go beyond them for a moment.

use std::{
    fs,
    path::{Path, PathBuf},
};

use rustix::fs::statvfs;

use super::{memory::MemoryGroup, tree};
use crate::{Breach, Limits, Rules};

const MIB: u64 = 1_024 * 1_024;

/// Less than this is not for what the program wrote that a disk fills.
const OWN_PART_MIB: u64 = 64;

/// Fewer new threads than this are no reason to look.
const GROWTH_MIN: u64 = 16;

/// What is looked at.
#[derive(Debug)]
pub(crate) struct Usage {
    limits: Limits,
    /// Processes of the launcher that are below this one, too.
    helpers: u64,
    places: [PathBuf; 2],
    page_bytes: u64,
    /// Written by this process and before.
    written_before: u64,
    /// How many threads the whole system had at the last look.
    threads_seen: u64,
}

impl Usage {
    /// For a program that begins now.
    pub(crate) fn new(rules: &Rules, temp: &Path, helpers: u64) -> Self {
        let page_bytes = rustix::param::page_size() as u64;
        let places = [rules.workspace.clone(), temp.to_owned()];
        let (written_before, threads_seen) = (written("self"), threads_of_the_system());
        Usage { limits: rules.limits, helpers, places, page_bytes, written_before, threads_seen }
    }

    /// Whether so many threads have come since the last look that another is due. It costs next to nothing, so it can be asked often.
    pub(crate) fn is_growing(&self) -> bool {
        let few = (self.limits.processes / 4).max(GROWTH_MIN);
        threads_of_the_system() > self.threads_seen.saturating_add(few)
    }

    /// The limit that is broken, if one is. Memory is counted by its control group, if there is one.
    pub(crate) fn look(&mut self, group: Option<&MemoryGroup>) -> Option<Breach> {
        self.threads_seen = threads_of_the_system();
        let tree::Count { processes: all, threads } = tree::count();
        let (processes, threads) =
            ((all.len() as u64).saturating_sub(self.helpers), threads.saturating_sub(self.helpers));
        let counts = [(processes, self.limits.processes, "processes"), (threads, self.limits.threads(), "threads")];
        if let Some((count, most, what)) = counts.into_iter().find(|(count, most, _)| count > most) {
            let said = format!("there were {count} {what} at once; {most} are allowed");
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

    /// The breach of a program that was so fast that the kernel had to end a part of it.
    pub(crate) fn ended_by_kernel(&self, group: &MemoryGroup) -> Option<Breach> {
        let said =
            || format!("the kernel ended a process: more than {} MiB of memory were in use", self.limits.memory_mib);
        (group.ended_by_kernel() > 0).then(|| Breach::new("limit.memory", said()))
    }

    /// What is written by those that are gone counts for who waited for them, in the end for this process.
    fn look_at_disks(&self, all: &[i32]) -> Option<Breach> {
        let gone = written("self").saturating_sub(self.written_before);
        let written = all.iter().map(|pid| written(&pid.to_string())).fold(gone, u64::saturating_add) / MIB;
        if written > self.limits.disk_mib {
            let said = format!("{written} MiB were written; {} are allowed", self.limits.disk_mib);
            return Some(Breach::new("limit.disk", said));
        }
        let free = self.places.iter().filter_map(|place| free(place)).min()? / MIB;
        // A disk that was full before is not the program's doing.
        (free < self.limits.free_mib && written >= OWN_PART_MIB.min(self.limits.free_mib)).then(|| {
            let said = format!("only {free} MiB of the disk were left free; {} have to stay", self.limits.free_mib);
            Breach::new("limit.free", said)
        })
    }

    /// Memory of all processes, without a control group. What several share is counted once, by the part that each has in it; that is slow, so
    /// it is looked at only if it matters.
    fn memory_of_all(&self, all: &[i32]) -> u64 {
        let of_each: Vec<_> = all.iter().map(|pid| self.memory(*pid)).collect();
        let own: u64 = of_each.iter().map(|(own, _)| own).sum();
        let with_shared = of_each.iter().map(|(_, shared)| shared).fold(own, |sum, shared| sum.saturating_add(*shared));
        match with_shared / MIB > self.limits.memory_mib {
            true => all.iter().map(|pid| part_of_shared(*pid)).fold(own, u64::saturating_add),
            false => own,
        }
    }

    /// Bytes that a process has for itself, and those that others may have, too: files and shared memory.
    fn memory(&self, pid: i32) -> (u64, u64) {
        let said = fs::read_to_string(format!("/proc/{pid}/statm")).unwrap_or_default();
        let mut pages = said.split_whitespace().skip(1).map(|word| word.parse::<u64>().unwrap_or(0));
        let (resident, shared) = (pages.next().unwrap_or(0), pages.next().unwrap_or(0));
        (resident.saturating_sub(shared) * self.page_bytes, shared * self.page_bytes)
    }
}

/// Bytes of shared memory that a process has, divided by how many have them. Files of a disk are not in it: the kernel can forget them.
fn part_of_shared(pid: i32) -> u64 {
    let said = fs::read_to_string(format!("/proc/{pid}/smaps_rollup")).unwrap_or_default();
    let line = said.lines().find_map(|line| line.strip_prefix("Pss_Shmem:"));
    let kib = line.and_then(|rest| rest.trim().trim_end_matches("kB").trim().parse::<u64>().ok());
    kib.unwrap_or(0).saturating_mul(1_024)
}

/// Bytes that a process and those it waited for have written to disks; nothing where this kernel does not count.
fn written(pid: &str) -> u64 {
    let said = fs::read_to_string(format!("/proc/{pid}/io")).unwrap_or_default();
    let field =
        |name: &str| said.lines().find_map(|line| line.strip_prefix(name)?.trim().parse::<u64>().ok()).unwrap_or(0);
    field("write_bytes:").saturating_sub(field("cancelled_write_bytes:"))
}

/// Threads of everybody; zero where the system does not tell, and then looks come by the clock alone.
fn threads_of_the_system() -> u64 {
    let said = fs::read_to_string("/proc/loadavg").unwrap_or_default();
    let of = said.split_whitespace().nth(3).and_then(|field| field.split_once('/'));
    of.and_then(|(_, all)| all.parse().ok()).unwrap_or(0)
}

fn free(place: &Path) -> Option<u64> {
    statvfs(place).ok().map(|disk| disk.f_bavail.saturating_mul(disk.f_frsize))
}
