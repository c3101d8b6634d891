//! Filters system calls with seccomp. Calls that Landlock does not cover are refused by name.
//!
//! All other calls are allowed, because a list of the calls that compilers and their tests need would soon be outdated.
//! The refused calls are those for the network (`sockets`), calls that act on other processes and memory that is not
//! counted (`others`), calls that change the whole system, calls that create namespaces, and ways to bypass this
//! filter.

mod others;
mod sockets;

use std::collections::BTreeMap;

use libc::{ENOSYS, EOPNOTSUPP, EPERM, c_long};
use seccompiler::{
    BackendError, BpfProgram, SeccompAction,
    SeccompCmpArgLen::{Dword, Qword},
    SeccompCmpOp, SeccompCondition, SeccompFilter, SeccompRule, apply_filter,
};

use crate::{Enforced, Network};

type Rules = BTreeMap<i64, Vec<SeccompRule>>;
type Result<T> = std::result::Result<T, BackendError>;

/// Calls that are refused with any arguments.
const REFUSED: [c_long; 40] = [
    // Calls that change the whole system.
    libc::SYS_mount,
    libc::SYS_umount2,
    libc::SYS_pivot_root,
    libc::SYS_chroot,
    libc::SYS_move_mount,
    libc::SYS_open_tree,
    libc::SYS_fsopen,
    libc::SYS_fsconfig,
    libc::SYS_fsmount,
    libc::SYS_fspick,
    libc::SYS_mount_setattr,
    libc::SYS_swapon,
    libc::SYS_swapoff,
    libc::SYS_reboot,
    libc::SYS_kexec_load,
    libc::SYS_kexec_file_load,
    libc::SYS_init_module,
    libc::SYS_finit_module,
    libc::SYS_delete_module,
    libc::SYS_sethostname,
    libc::SYS_setdomainname,
    libc::SYS_settimeofday,
    libc::SYS_clock_settime,
    libc::SYS_clock_adjtime,
    libc::SYS_adjtimex,
    libc::SYS_acct,
    libc::SYS_quotactl,
    libc::SYS_quotactl_fd,
    libc::SYS_syslog,
    libc::SYS_vhangup,
    // Namespaces, in which the rules would mean something else.
    libc::SYS_unshare,
    libc::SYS_setns,
    // Access to files by handle, which bypasses their directories.
    libc::SYS_open_by_handle_at,
    // Keys that the kernel stores for the user.
    libc::SYS_add_key,
    libc::SYS_request_key,
    libc::SYS_keyctl,
    // Inspection of the kernel, and programs within it.
    libc::SYS_bpf,
    libc::SYS_perf_event_open,
    libc::SYS_userfaultfd,
    // Releasing the memory of a process that is about to end.
    libc::SYS_process_mrelease,
];

/// Calls that fail as if the kernel did not have them. Callers then use the older calls, whose arguments can be
/// compared.
const UNKNOWN: [c_long; 4] =
    [libc::SYS_io_uring_setup, libc::SYS_io_uring_enter, libc::SYS_io_uring_register, libc::SYS_clone3];

const NAMESPACES: i32 = libc::CLONE_NEWNS
    | libc::CLONE_NEWUSER
    | libc::CLONE_NEWPID
    | libc::CLONE_NEWNET
    | libc::CLONE_NEWIPC
    | libc::CLONE_NEWUTS
    | libc::CLONE_NEWCGROUP;

/// The other mechanisms that confine the program. The filter covers what they do not.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Walls {
    /// Landlock prevents tracing of processes outside.
    pub(crate) landlock: bool,
    /// The program has private PID and IPC namespaces.
    pub(crate) namespaces: bool,
    /// A control group counts all memory of the program.
    pub(crate) memory_group: bool,
    /// The IPC namespace has a limit for shared memory.
    pub(crate) shared_memory_limit: bool,
}

/// Filters the system calls of this process and of all processes that it starts. If the kernel does not support this,
/// `missing` records it.
pub(crate) fn filter(network: Network, walls: Walls, enforced: &mut Enforced) {
    match apply(network, walls) {
        Ok(()) => {
            enforced.seccomp = true;
            if network != Network::On {
                enforced.network_by.push("seccomp".into());
            }
        }
        Err(why) => enforced.missing.push(format!("system calls are not filtered: {why}")),
    }
}

fn apply(network: Network, walls: Walls) -> std::result::Result<(), String> {
    let wrong = |error: &dyn std::fmt::Display| error.to_string();
    let unknown: Rules = UNKNOWN.into_iter().chain(others::unknown(walls)).map(|call| (call, Vec::new())).collect();
    let refused = refused(network, walls).map_err(|error| wrong(&error))?;
    let unsupported = sockets::unsupported(network).map_err(|error| wrong(&error))?;
    let ignored = others::ignored(walls).map_err(|error| wrong(&error))?;
    let [unknown, refused, unsupported] = [unknown, refused, unsupported].map(with_other_numbers);
    // If two filters refuse a call, the answer of the later one counts.
    for (rules, answer) in [(unknown, ENOSYS), (refused, EPERM), (unsupported, EOPNOTSUPP), (ignored, 0)] {
        if rules.is_empty() {
            continue;
        }
        let program = compile(rules, answer).map_err(|error| wrong(&error))?;
        apply_filter(&program).map_err(|error| wrong(&error))?;
    }
    Ok(())
}

fn compile(rules: Rules, answer: i32) -> Result<BpfProgram> {
    let arch = std::env::consts::ARCH.try_into()?;
    let answer = SeccompAction::Errno(answer.unsigned_abs());
    SeccompFilter::new(rules, SeccompAction::Allow, answer, arch)?.try_into()
}

/// Adds the other numbers of each call. On x86-64 every call has a second number for programs with short pointers, and
/// some have a third.
fn with_other_numbers(mut rules: Rules) -> Rules {
    const X32: i64 = 0x4000_0000;
    const X32_ONLY: std::ops::Range<i64> = 512..548;
    if cfg!(target_arch = "x86_64") && !rules.is_empty() {
        let others: Vec<i64> = rules.keys().copied().chain(X32_ONLY).collect();
        rules.extend(others.into_iter().map(|call| (call | X32, Vec::new())));
    }
    rules
}

fn refused(network: Network, walls: Walls) -> Result<Rules> {
    let mut rules: Rules = REFUSED.into_iter().map(|call| (call, Vec::new())).collect();
    let flags = u64::from(NAMESPACES.unsigned_abs());
    // One rule per kind of namespace, because a masked comparison can only test if all bits of the mask are set.
    let kinds = (0..u64::BITS).map(|bit| 1 << bit).filter(|bit| flags & bit != 0);
    let kinds = kinds.map(|bit| rule([(0, SeccompCmpOp::MaskedEq(bit), bit)])).collect::<Result<_>>()?;
    rules.insert(libc::SYS_clone, kinds);
    // Requests that insert input into a terminal as if the user had typed it.
    let typing = [libc::TIOCSTI, libc::TIOCLINUX].map(|order| rule([(1, SeccompCmpOp::Eq, order)]));
    rules.insert(libc::SYS_ioctl, typing.into_iter().collect::<Result<_>>()?);
    rules.extend(others::refused(walls)?);
    rules.extend(sockets::refused(network)?);
    Ok(rules)
}

type Condition = (u8, SeccompCmpOp, u64);

/// Builds a rule that applies if all conditions hold. They compare 32 bits, as the kernel does for process ids and
/// flags.
fn rule(conditions: impl IntoIterator<Item = Condition>) -> Result<SeccompRule> {
    let conditions =
        conditions.into_iter().map(|(index, compare, value)| SeccompCondition::new(index, Dword, compare, value));
    SeccompRule::new(conditions.collect::<Result<_>>()?)
}

/// Returns the condition that a pointer argument is not null.
fn is_given(index: u8) -> Result<SeccompCondition> {
    SeccompCondition::new(index, Qword, SeccompCmpOp::Ne, 0)
}
