//! Control groups around a program, where they can be had: they keep a fork bomb small until it is stopped, and count memory.
//!
//! They can be had by the administrator, and by users whose session hands its group over to them. Where they cannot, processes are still counted
//! by the supervisor.

use std::{
    collections::BTreeSet,
    fs,
    path::{Path, PathBuf},
};

use rustix::process::{Pid, PidfdFlags, Signal, getpid, pidfd_open, pidfd_send_signal};

use super::memory::MemoryGroup;
use crate::Limits;

const TRIES_MAX: usize = 100;

/// The control groups with a program in them.
#[derive(Debug, Default)]
pub(crate) struct Cgroups {
    /// Counts processes.
    pids: Option<PathBuf>,
    /// Counts memory.
    pub(crate) memory: Option<MemoryGroup>,
}

impl Cgroups {
    /// Puts a process into groups of its own, as far as that is possible. The kernel may take a while for it.
    pub(crate) fn around(pid: Pid) -> Self {
        let name = format!("interlock-{}", getpid().as_raw_nonzero());
        let own = Own::read();
        let pids = own.for_pids.iter().find_map(|above| within(above, &name, pid));
        let unified = pids.as_deref().and_then(MemoryGroup::in_unified);
        let memory = unified.or_else(|| MemoryGroup::separate(own.for_memory.as_deref()?, &name, pid));
        Cgroups { pids, memory }
    }

    /// Whether processes are counted.
    pub(crate) fn counts_processes(&self) -> bool {
        self.pids.is_some()
    }

    /// Puts another in the place of the process that is in it.
    pub(crate) fn take_in(&self, pid: Pid) -> std::io::Result<()> {
        if let Some(group) = &self.pids {
            write(&group.join("cgroup.procs"), &pid.as_raw_nonzero().to_string())?;
        }
        self.memory.as_ref().map_or(Ok(()), |memory| memory.take_in(pid))
    }

    /// Has the kernel keep limits on processes and memory.
    pub(crate) fn limit(&self, limits: &Limits) -> std::io::Result<()> {
        if let Some(group) = &self.pids {
            write(&group.join("pids.max"), &most(limits).to_string())?;
        }
        self.memory.as_ref().map_or(Ok(()), |memory| memory.limit(limits.memory_mib))
    }

    /// From now on nobody in it can make another, and all who are in it are killed.
    pub(crate) fn close(&self) {
        let Some(group) = &self.pids else { return };
        let _ = write(&group.join("pids.max"), "0");
        let _ = write(&group.join("cgroup.kill"), "1");
        // Older kernels have no such file. A number may have gone to somebody else before the handle was made: so a second look.
        let handles: Vec<_> = members(group)
            .into_iter()
            .filter_map(|pid| Some((pid, pidfd_open(Pid::from_raw(pid)?, PidfdFlags::empty()).ok()?)))
            .collect();
        let still = members(group);
        for (_, handle) in handles.iter().filter(|(pid, _)| still.contains(pid)) {
            let _ = pidfd_send_signal(handle, Signal::KILL);
        }
    }

    /// Takes them away, when everybody in them is gone.
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
    // A group that cannot count anybody is of no use.
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

/// Removes a group: the kernel may need a moment to notice that everybody in it is gone.
pub(super) fn remove(group: &Path) {
    for _ in 0..TRIES_MAX {
        if fs::remove_dir(group).is_ok() || !group.exists() {
            return;
        }
        std::thread::sleep(std::time::Duration::from_millis(1));
    }
}

/// Writes to a file that exists: in a directory that is no group a new one would be a file like any other.
pub(super) fn write(file: &Path, text: &str) -> std::io::Result<()> {
    fs::File::options().write(true).open(file).and_then(|mut file| {
        use std::io::Write;
        file.write_all(text.as_bytes())
    })
}

/// A group counts threads. It never gets more than half of what the whole system has.
fn most(limits: &Limits) -> u64 {
    let system =
        fs::read_to_string("/proc/sys/kernel/threads-max").ok().and_then(|said| said.trim().parse::<u64>().ok());
    limits.threads().min(system.map_or(u64::MAX, |most| most / 2))
}

/// The groups in which others could be made.
struct Own {
    /// This process's own, and the one above it.
    for_pids: Vec<PathBuf>,
    /// This process's own group for memory, where there are separate ones.
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
