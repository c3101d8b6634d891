//! Namespaces: a view of the system in which other processes and their shared objects do not exist.
//!
//! The administrator can make them; others can where the kernel lets users make user namespaces. A process that makes a PID namespace is not in
//! it, only its children are. So the launcher's second stage makes them and starts a third, which is the first process inside.

use std::{fs, io};

use rustix::{
    mount::{MountFlags, MountPropagationFlags, mount, mount_change},
    process::{getegid, geteuid},
    thread::{
        CapabilitySet, CapabilitySets, UnshareFlags, capabilities, configure_capability_in_ambient_set,
        set_capabilities,
    },
};

/// The namespaces that a program gets, besides that of the network, by their names in the evidence.
pub(crate) const NAMES: [&str; 3] = ["pid", "ipc", "mount"];

/// Mounting, a network of its own, and giving all of it up.
const HANDED_DOWN: CapabilitySet =
    CapabilitySet::SYS_ADMIN.union(CapabilitySet::NET_ADMIN).union(CapabilitySet::SETPCAP);

/// Puts this process into new IPC and mount namespaces and its children into a new PID namespace.
pub(crate) fn leave() -> io::Result<()> {
    enter(UnshareFlags::NEWPID | UnshareFlags::NEWIPC | UnshareFlags::NEWNS)?;
    match geteuid().is_root() {
        true => Ok(()),
        // Whoever is not the administrator would lose its privileges within the namespaces by executing a program.
        false => hand_down(),
    }
}

/// Lets the next program have the privileges that the first process of the namespaces needs.
fn hand_down() -> io::Result<()> {
    let now = capabilities(None)?;
    set_capabilities(None, CapabilitySets { inheritable: HANDED_DOWN, ..now })?;
    for capability in HANDED_DOWN.iter() {
        configure_capability_in_ambient_set(capability, true)?;
    }
    Ok(())
}

/// Makes namespaces, within a user namespace if this user may not make them otherwise.
pub(super) fn enter(wanted: UnshareFlags) -> io::Result<()> {
    if unshare(wanted).is_ok() {
        return Ok(());
    }
    let (user, group) = (geteuid().as_raw(), getegid().as_raw());
    unshare(UnshareFlags::NEWUSER | wanted)?;
    // The same user inside as outside.
    let me = "/proc/thread-self";
    fs::write(format!("{me}/setgroups"), "deny")?;
    fs::write(format!("{me}/uid_map"), format!("{user} {user} 1"))?;
    fs::write(format!("{me}/gid_map"), format!("{group} {group} 1"))
}

/// The function is deprecated because of a flag that shares no files any more, which is not used here; the one that replaces it is unsafe
/// for all flags.
#[allow(deprecated)]
fn unshare(flags: UnshareFlags) -> io::Result<()> {
    Ok(rustix::thread::unshare(flags)?)
}

/// Gives the first process of the namespaces a `/proc` that shows them, which nobody outside sees.
pub(crate) fn settle() -> io::Result<()> {
    mount_change("/", MountPropagationFlags::REC | MountPropagationFlags::PRIVATE)?;
    let flags = MountFlags::NOSUID | MountFlags::NODEV | MountFlags::NOEXEC;
    Ok(mount("proc", "/proc", "proc", flags, None)?)
}

/// Gives the program shared memory of its own, with a bound, in the place of what all programs share.
pub(super) fn own_shared_memory(memory_mib: u64) -> io::Result<()> {
    let flags = MountFlags::NOSUID | MountFlags::NODEV;
    let options = std::ffi::CString::new(format!("mode=1777,size={memory_mib}m")).map_err(io::Error::other)?;
    Ok(mount("shm", "/dev/shm", "tmpfs", flags, options.as_c_str())?)
}

/// Bounds System V shared memory in these namespaces. Returns whether the kernel lets this user do so.
pub(super) fn bound_shared_memory(memory_mib: u64) -> bool {
    let pages = memory_mib.saturating_mul(1_024 * 1_024) / rustix::param::page_size() as u64;
    fs::write("/proc/sys/kernel/shmall", pages.to_string()).is_ok()
}
