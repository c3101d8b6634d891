//! System calls: seccomp. What Landlock does not look after is refused by name.
//!
//! Everything else is allowed: a list of what compilers and their tests may call would be wrong the day after. What is refused is the network
//! (by the family of a socket), what changes the system as a whole, namespaces, and ways around this very filter.

use std::collections::BTreeMap;

use libc::{ENOSYS, EPERM, c_long};
use seccompiler::{
    BackendError, BpfProgram, SeccompAction, SeccompCmpArgLen::Dword, SeccompCmpArgLen::Qword, SeccompCmpOp,
    SeccompCondition, SeccompFilter, SeccompRule, apply_filter,
};

use crate::{Enforced, Network};

type Rules = BTreeMap<i64, Vec<SeccompRule>>;
type Result<T> = std::result::Result<T, BackendError>;

/// Refused whatever the arguments are.
const REFUSED: [c_long; 36] = [
    // The system as a whole.
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
    libc::SYS_syslog,
    // Namespaces, in which the rules would mean something else.
    libc::SYS_unshare,
    libc::SYS_setns,
    // Files by number, past their directories.
    libc::SYS_open_by_handle_at,
    // Keys that the kernel keeps for the user.
    libc::SYS_add_key,
    libc::SYS_request_key,
    libc::SYS_keyctl,
    // A look into, and programs within, the kernel.
    libc::SYS_bpf,
    libc::SYS_perf_event_open,
    libc::SYS_userfaultfd,
];

/// As if the kernel did not have them: callers then use the older ones, which can be looked into.
const UNKNOWN: [c_long; 4] =
    [libc::SYS_io_uring_setup, libc::SYS_io_uring_enter, libc::SYS_io_uring_register, libc::SYS_clone3];

/// Refused only where Landlock does not keep processes apart.
const TRACING: [c_long; 3] = [libc::SYS_ptrace, libc::SYS_process_vm_readv, libc::SYS_process_vm_writev];

const NAMESPACES: i32 = libc::CLONE_NEWNS
    | libc::CLONE_NEWUSER
    | libc::CLONE_NEWPID
    | libc::CLONE_NEWNET
    | libc::CLONE_NEWIPC
    | libc::CLONE_NEWUTS
    | libc::CLONE_NEWCGROUP;

/// Filters the system calls of this process and of all it will start. Where the kernel cannot, that is written down.
pub(crate) fn filter(network: Network, enforced: &mut Enforced) {
    match apply(network, enforced.landlock_abi.is_some()) {
        Ok(()) => {
            enforced.seccomp = true;
            if network != Network::On {
                enforced.network_by.push("seccomp".into());
            }
        }
        Err(why) => enforced.missing.push(format!("system calls are not filtered: {why}")),
    }
}

fn apply(network: Network, is_apart: bool) -> std::result::Result<(), String> {
    let wrong = |error: &dyn std::fmt::Display| error.to_string();
    let unknown = UNKNOWN.iter().map(|call| (*call, Vec::new())).collect();
    for (rules, answer) in [(unknown, ENOSYS), (refused(network, is_apart).map_err(|e| wrong(&e))?, EPERM)] {
        let program = compile(rules, answer).map_err(|error| wrong(&error))?;
        apply_filter(&program).map_err(|error| wrong(&error))?;
    }
    Ok(())
}

fn compile(rules: Rules, answer: i32) -> Result<BpfProgram> {
    let arch = std::env::consts::ARCH.try_into()?;
    let answer = SeccompAction::Errno(answer.unsigned_abs());
    SeccompFilter::new(with_other_numbers(rules), SeccompAction::Allow, answer, arch)?.try_into()
}

/// On x86-64 every call has a second number, for programs with short pointers. Some have a third.
fn with_other_numbers(mut rules: Rules) -> Rules {
    const X32: i64 = 0x4000_0000;
    const X32_ONLY: std::ops::Range<i64> = 512..548;
    if cfg!(target_arch = "x86_64") {
        let others: Vec<i64> = rules.keys().copied().chain(X32_ONLY).collect();
        rules.extend(others.into_iter().map(|call| (call | X32, Vec::new())));
    }
    rules
}

fn refused(network: Network, is_apart: bool) -> Result<Rules> {
    let tracing = TRACING.iter().filter(|_| !is_apart);
    let mut rules: Rules = REFUSED.iter().chain(tracing).map(|call| (*call, Vec::new())).collect();
    let flags = u64::from(NAMESPACES.unsigned_abs());
    // One rule for each kind: a comparison under a mask can only ask for all of the mask's bits.
    let kinds = (0..u64::BITS).map(|bit| 1 << bit).filter(|bit| flags & bit != 0);
    let kinds = kinds.map(|bit| rule([(0, SeccompCmpOp::MaskedEq(bit), bit)])).collect::<Result<_>>()?;
    rules.insert(libc::SYS_clone, kinds);
    // What types for the person at a terminal.
    let typing = [libc::TIOCSTI, libc::TIOCLINUX].map(|order| rule([(1, SeccompCmpOp::Eq, order)]));
    rules.insert(libc::SYS_ioctl, typing.into_iter().collect::<Result<_>>()?);
    rules.extend(sockets(network)?);
    Ok(rules)
}

/// Who may be talked to follows from the families of sockets that can be had.
fn sockets(network: Network) -> Result<Rules> {
    let families: &[i32] = match network {
        Network::On => return Ok(Rules::new()),
        Network::Off | Network::Unix => &[libc::AF_UNIX],
        Network::Loopback => &[libc::AF_INET, libc::AF_INET6, libc::AF_NETLINK],
    };
    let others = families.iter().map(|family| (0, SeccompCmpOp::Ne, u64::from(family.unsigned_abs())));
    let mut socket = vec![rule(others)?];
    let mut rules = Rules::new();
    if network != Network::Unix {
        // Messages without a connection can be sent to any address, also from a pair.
        let message =
            || rule([(1, SeccompCmpOp::MaskedEq(0xf), u64::from(libc::SOCK_DGRAM.unsigned_abs())), of_unix()]);
        socket.push(message()?);
        rules.insert(libc::SYS_socketpair, vec![message()?]);
    }
    if network == Network::Off {
        // A socket file leads to whoever listens there, say to a service manager that starts programs outside.
        rules.insert(libc::SYS_connect, Vec::new());
        rules.insert(
            libc::SYS_sendto,
            vec![SeccompRule::new(vec![SeccompCondition::new(4, Qword, SeccompCmpOp::Ne, 0)?])?],
        );
    }
    rules.insert(libc::SYS_socket, socket);
    Ok(rules)
}

type Condition = (u8, SeccompCmpOp, u64);

fn of_unix() -> Condition {
    (0, SeccompCmpOp::Eq, u64::from(libc::AF_UNIX.unsigned_abs()))
}

fn rule(conditions: impl IntoIterator<Item = Condition>) -> Result<SeccompRule> {
    let conditions =
        conditions.into_iter().map(|(index, compare, value)| SeccompCondition::new(index, Dword, compare, value));
    SeccompRule::new(conditions.collect::<Result<_>>()?)
}
