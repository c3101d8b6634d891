//! A control group around a program, where one can be had: it keeps a fork bomb small until it is stopped, and nothing else.
//!
//! It can be had by the administrator, and by users whose session hands its group over to them. Where it cannot, processes are still counted.

use std::{
    collections::BTreeSet,
    fs,
    path::{Path, PathBuf},
};

use rustix::process::{Pid, PidfdFlags, Signal, getpid, pidfd_open, pidfd_send_signal};

use crate::Limits;

const TRIES_MAX: usize = 100;

/// A control group with a program in it.
#[derive(Debug)]
pub(crate) struct Cgroup(PathBuf);

impl Cgroup {
    /// Puts a process into a group of its own. Nothing where that is not possible. The kernel may take a while for it.
    pub(crate) fn around(pid: Pid) -> Option<Self> {
        candidates().iter().find_map(|above| Self::within(above, pid))
    }

    /// Puts another in the place of the process that is in it.
    pub(crate) fn take_in(&self, pid: Pid) -> std::io::Result<()> {
        self.write("cgroup.procs", &pid.as_raw_nonzero().to_string())
    }

    /// How many may be in it.
    pub(crate) fn limit(&self, limits: &Limits) -> std::io::Result<()> {
        self.write("pids.max", &most(limits).to_string())
    }

    fn within(above: &Path, pid: Pid) -> Option<Self> {
        let group = above.join(format!("interlock-{}", getpid().as_raw_nonzero()));
        fs::create_dir(&group).ok()?;
        let group = Cgroup(group);
        // Where nobody can be counted it is of no use.
        let put = group.write("pids.max", "max").and_then(|()| group.take_in(pid));
        match put {
            Ok(()) => Some(group),
            Err(_) => {
                group.remove();
                None
            }
        }
    }

    /// From now on nobody in it can make another, and all who are in it are killed.
    pub(crate) fn close(&self) {
        let _ = self.write("pids.max", "0");
        let _ = self.write("cgroup.kill", "1");
        // Older kernels have no such file. A number may have gone to somebody else before the handle was made: so a second look.
        let handles: Vec<_> = self
            .members()
            .into_iter()
            .filter_map(|pid| Some((pid, pidfd_open(Pid::from_raw(pid)?, PidfdFlags::empty()).ok()?)))
            .collect();
        let still = self.members();
        for (_, handle) in handles.iter().filter(|(pid, _)| still.contains(pid)) {
            let _ = pidfd_send_signal(handle, Signal::KILL);
        }
    }

    fn members(&self) -> BTreeSet<i32> {
        let said = fs::read_to_string(self.0.join("cgroup.procs")).unwrap_or_default();
        said.lines().filter_map(|line| line.parse().ok()).collect()
    }

    /// Takes it away, when everybody in it is gone: the kernel may need a moment to notice.
    pub(crate) fn remove(self) {
        for _ in 0..TRIES_MAX {
            if fs::remove_dir(&self.0).is_ok() || !self.0.exists() {
                return;
            }
            std::thread::sleep(std::time::Duration::from_millis(1));
        }
    }

    fn write(&self, file: &str, what: &str) -> std::io::Result<()> {
        // Only what is there: in a directory that is no group it would be a file like any other.
        fs::File::options().write(true).open(self.0.join(file)).and_then(|mut file| {
            use std::io::Write;
            file.write_all(what.as_bytes())
        })
    }
}

/// A group counts threads. It never gets more than half of what the whole system has.
fn most(limits: &Limits) -> u64 {
    let system =
        fs::read_to_string("/proc/sys/kernel/threads-max").ok().and_then(|said| said.trim().parse::<u64>().ok());
    limits.threads().min(system.map_or(u64::MAX, |most| most / 2))
}

/// The groups in which one could be made: this process's own, and the one above it.
fn candidates() -> Vec<PathBuf> {
    let own = fs::read_to_string("/proc/self/cgroup").unwrap_or_default();
    let own = own.lines().filter_map(|line| {
        let mut fields = line.splitn(3, ':').skip(1);
        let (controllers, path) = (fields.next()?, fields.next()?.trim_start_matches('/'));
        match controllers {
            "" => Some(PathBuf::from("/sys/fs/cgroup").join(path)),
            "pids" => Some(PathBuf::from("/sys/fs/cgroup/pids").join(path)),
            _ => None,
        }
    });
    let with_above = |place: PathBuf| [place.clone(), place.parent().map(Path::to_owned).unwrap_or(place)];
    own.flat_map(with_above).filter(|place| place.join("cgroup.procs").exists()).collect()
}
