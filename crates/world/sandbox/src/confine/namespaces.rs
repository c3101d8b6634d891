//! Creates namespaces, in which other processes and their shared objects are not visible.
//!
//! Root can create them. Other users can if the kernel allows user namespaces. A process that creates a PID namespace
//! is not in it, only its children are. So the launcher's second stage creates the namespaces and starts a third stage,
//! which is the first process inside.

#![expect(clippy::disallowed_methods, reason = "these are files of the kernel")]

use std::{fs, io};

use rustix::{
    mount::{MountFlags, MountPropagationFlags, mount, mount_change},
    process::{getegid, geteuid},
    thread::{
        CapabilitySet, CapabilitySets, UnshareFlags, capabilities, configure_capability_in_ambient_set,
        set_capabilities,
    },
};

/// The namespaces that a program gets besides the network namespace, by their names in the evidence.
pub(crate) const NAMES: [&str; 3] = ["pid", "ipc", "mount"];

/// The capabilities to mount, to use the working directory of an overlay, which has no permissions, to set up a private network, to listen on every port in it, and to drop all capabilities.
const HANDED_DOWN: CapabilitySet = CapabilitySet::SYS_ADMIN
    .union(CapabilitySet::DAC_OVERRIDE)
    .union(CapabilitySet::NET_ADMIN)
    .union(CapabilitySet::NET_BIND_SERVICE)
    .union(CapabilitySet::SETPCAP);

/// Puts this process into new IPC and mount namespaces and its children into a new PID namespace.
pub(crate) fn leave() -> io::Result<()> {
    enter(UnshareFlags::NEWPID | UnshareFlags::NEWIPC | UnshareFlags::NEWNS)?;
    match geteuid().is_root() {
        true => Ok(()),
        // A user other than root would lose its capabilities in the namespaces when it executes a program.
        false => hand_down(),
    }
}

/// Passes the capabilities that the first process of the namespaces needs to the next program.
fn hand_down() -> io::Result<()> {
    let now = capabilities(None)?;
    set_capabilities(None, CapabilitySets { inheritable: HANDED_DOWN, ..now })?;
    for capability in HANDED_DOWN.iter() {
        configure_capability_in_ambient_set(capability, true)?;
    }
    Ok(())
}

/// Creates namespaces, within a user namespace if this user may not create them otherwise.
pub(super) fn enter(wanted: UnshareFlags) -> io::Result<()> {
    if unshare(wanted).is_ok() {
        return Ok(());
    }
    let (user, group) = (geteuid().as_raw(), getegid().as_raw());
    unshare(UnshareFlags::NEWUSER | wanted)?;
    // Map the user and the group to the same ids inside.
    let me = "/proc/thread-self";
    fs::write(format!("{me}/setgroups"), "deny")?;
    fs::write(format!("{me}/uid_map"), format!("{user} {user} 1"))?;
    fs::write(format!("{me}/gid_map"), format!("{group} {group} 1"))
}

/// Wraps the deprecated function. It is deprecated because of a flag for shared file descriptors that is not used here;
/// its replacement is unsafe for all flags.
#[allow(deprecated)]
fn unshare(flags: UnshareFlags) -> io::Result<()> {
    Ok(rustix::thread::unshare(flags)?)
}

/// Mounts a `/proc` that shows the namespaces, visible only to the processes inside.
pub(crate) fn settle() -> io::Result<()> {
    mount_change("/", MountPropagationFlags::REC | MountPropagationFlags::PRIVATE)?;
    let flags = MountFlags::NOSUID | MountFlags::NODEV | MountFlags::NOEXEC;
    Ok(mount("proc", "/proc", "proc", flags, None)?)
}

/// Mounts a private `/dev/shm` with a size limit over the one that all programs share.
pub(super) fn own_shared_memory(memory_mib: u64) -> io::Result<()> {
    let flags = MountFlags::NOSUID | MountFlags::NODEV;
    let options = std::ffi::CString::new(format!("mode=1777,size={memory_mib}m")).map_err(io::Error::other)?;
    Ok(mount("shm", "/dev/shm", "tmpfs", flags, options.as_c_str())?)
}

/// Mounts a private `/dev/pts` over the one with the terminals of the user.
pub(super) fn own_terminals() -> io::Result<()> {
    let flags = MountFlags::NOSUID | MountFlags::NOEXEC;
    Ok(mount("devpts", "/dev/pts", "devpts", flags, c"newinstance,ptmxmode=0666,mode=0620")?)
}

/// Limits System V shared memory in these namespaces. Returns true if the kernel allows this user to do so.
pub(super) fn bound_shared_memory(memory_mib: u64) -> bool {
    let pages = memory_mib.saturating_mul(1_024 * 1_024) / rustix::param::page_size() as u64;
    fs::write("/proc/sys/kernel/shmall", pages.to_string()).is_ok()
}
