//! Puts a program into control groups if they are available. They keep a fork bomb small until it is stopped, and they
//! count memory.
//!
//! They are available to root, and to users whose session delegates its group to them. Otherwise the supervisor counts
//! processes without them.

#![expect(clippy::disallowed_methods, reason = "no confined program can change control groups")]

use std::{
    collections::BTreeSet,
    fs,
    path::{Path, PathBuf},
};

use rustix::process::{Pid, PidfdFlags, Signal, getpid, pidfd_open, pidfd_send_signal};

use super::memory::MemoryGroup;
use crate::Limits;

const TRIES_MAX: usize = 100;

/// The control groups of a program.
#[derive(Debug, Default)]
pub(crate) struct Cgroups {
    /// The group that counts processes.
    pids: Option<PathBuf>,
    /// The group that counts memory.
    pub(crate) memory: Option<MemoryGroup>,
}

impl Cgroups {
    /// Puts a process into new groups, as far as possible. This can take the kernel some time.
    pub(crate) fn around(pid: Pid) -> Self {
        let name = format!("interlock-{}", getpid().as_raw_nonzero());
        let own = Own::read();
        let pids = own.for_pids.iter().find_map(|above| within(above, &name, pid));
        let unified = pids.as_deref().and_then(MemoryGroup::in_unified);
        let memory = unified.or_else(|| MemoryGroup::separate(own.for_memory.as_deref()?, &name, pid));
        Cgroups { pids, memory }
    }

    /// Returns true if a group counts processes.
    pub(crate) fn counts_processes(&self) -> bool {
        self.pids.is_some()
    }

    /// Returns the number of threads in the group, if a group counts them.
    pub(crate) fn threads(&self) -> Option<u64> {
        fs::read_to_string(self.pids.as_ref()?.join("pids.current")).ok()?.trim().parse().ok()
    }

    /// Adds another process, which replaces the one that is in the groups.
    pub(crate) fn take_in(&self, pid: Pid) -> std::io::Result<()> {
        if let Some(group) = &self.pids {
            write(&group.join("cgroup.procs"), &pid.as_raw_nonzero().to_string())?;
        }
        self.memory.as_ref().map_or(Ok(()), |memory| memory.take_in(pid))
    }

    /// Sets the limits on processes and memory in the kernel.
    pub(crate) fn limit(&self, limits: &Limits) -> std::io::Result<()> {
        if let Some(group) = &self.pids {
            write(&group.join("pids.max"), &most(limits).to_string())?;
        }
        self.memory.as_ref().map_or(Ok(()), |memory| memory.limit(limits.memory_mib))
    }

    /// Prevents new processes in the group and kills all its members.
    pub(crate) fn close(&self) {
        let Some(group) = &self.pids else { return };
        let _ = write(&group.join("pids.max"), "0");
        let _ = write(&group.join("cgroup.kill"), "1");
        // Older kernels have no `cgroup.kill`. A process id may have been reused before the handle was opened, so the
        // members are read again.
        let handles: Vec<_> = members(group)
            .into_iter()
            .filter_map(|pid| Some((pid, pidfd_open(Pid::from_raw(pid)?, PidfdFlags::empty()).ok()?)))
            .collect();
        let still = members(group);
        for (_, handle) in handles.iter().filter(|(pid, _)| still.contains(pid)) {
            let _ = pidfd_send_signal(handle, Signal::KILL);
        }
    }

    /// Removes the groups after all their processes have ended.
    pub(crate) fn remove(&self) {
        self.memory.iter().for_each(MemoryGroup::remove);
        if let Some(group) = &self.pids {
            remove(group);
        }
    }
}

fn within(above: &Path, name: &str, pid: Pid) -> Option<PathBuf> {
    let group = above.join(name);
    fs::create_dir(&group).ok()?;
    // A group that cannot limit processes is of no use.
    let put = write(&group.join("pids.max"), "max")
        .and_then(|()| write(&group.join("cgroup.procs"), &pid.as_raw_nonzero().to_string()));
    match put {
        Ok(()) => Some(group),
        Err(_) => {
            remove(&group);
            None
        }
    }
}

fn members(group: &Path) -> BTreeSet<i32> {
    let said = fs::read_to_string(group.join("cgroup.procs")).unwrap_or_default();
    said.lines().filter_map(|line| line.parse().ok()).collect()
}

/// Removes a group. The kernel may need a moment to notice that all its processes have ended.
pub(super) fn remove(group: &Path) {
    for _ in 0..TRIES_MAX {
        if fs::remove_dir(group).is_ok() || !group.exists() {
            return;
        }
        std::thread::sleep(std::time::Duration::from_millis(1));
    }
}

/// Writes to an existing file. In a directory that is not a control group, this must not create a regular file.
pub(super) fn write(file: &Path, text: &str) -> std::io::Result<()> {
    fs::File::options().write(true).open(file).and_then(|mut file| {
        use std::io::Write;
        file.write_all(text.as_bytes())
    })
}

/// Returns the limit of a group, which counts threads. It is at most half of the limit of the whole system.
fn most(limits: &Limits) -> u64 {
    let system =
        fs::read_to_string("/proc/sys/kernel/threads-max").ok().and_then(|said| said.trim().parse::<u64>().ok());
    limits.threads().min(system.map_or(u64::MAX, |most| most / 2))
}

/// The groups in which new groups could be created.
struct Own {
    /// The group of this process, and its parent.
    for_pids: Vec<PathBuf>,
    /// The memory group of this process, if memory has a separate hierarchy.
    for_memory: Option<PathBuf>,
}

impl Own {
    fn read() -> Self {
        let said = fs::read_to_string("/proc/self/cgroup").unwrap_or_default();
        let group = |root: &str, path: &str| Path::new(root).join(path.trim_start_matches('/'));
        let (mut pids, mut for_memory) = (Vec::new(), None);
        for line in said.lines() {
            let mut fields = line.splitn(3, ':').skip(1);
            let (Some(controllers), Some(path)) = (fields.next(), fields.next()) else { continue };
            match controllers {
                "" => pids.push(group("/sys/fs/cgroup", path)),
                "pids" => pids.push(group("/sys/fs/cgroup/pids", path)),
                "memory" => for_memory = Some(group("/sys/fs/cgroup/memory", path)),
                _ => {}
            }
        }
        let with_above = |place: PathBuf| [place.clone(), place.parent().map(Path::to_owned).unwrap_or(place)];
        let is_group = |place: &PathBuf| place.join("cgroup.procs").exists();
        Own {
            for_pids: pids.into_iter().flat_map(with_above).filter(is_group).collect(),
            for_memory: for_memory.filter(is_group),
        }
    }
}
