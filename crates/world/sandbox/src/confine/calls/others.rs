//! Calls that act on processes outside, on objects that all programs of a user share, and on memory that is not
//! counted.
//!
//! A program in private namespaces sees none of those processes and objects, so most of these rules are not needed
//! there. Without namespaces, a call that takes a process id is allowed for the caller, whose id is 0 here, and refused
//! for every other id, because a filter cannot distinguish a child from another process. A request for the usual
//! scheduler does nothing. Signals, tracing and access to
//! other memory are covered by Landlock.

use libc::c_long;
use seccompiler::{SeccompCmpOp::Eq, SeccompCmpOp::Ne, SeccompRule};

use super::{Result, Rules, Walls, is_given, rule};

/// Calls that inspect other processes. Landlock restricts them to processes inside.
const TRACING: [c_long; 8] = [
    libc::SYS_ptrace,
    libc::SYS_process_vm_readv,
    libc::SYS_process_vm_writev,
    libc::SYS_process_madvise,
    libc::SYS_pidfd_getfd,
    libc::SYS_kcmp,
    libc::SYS_move_pages,
    libc::SYS_migrate_pages,
];

/// Calls that change how a process is scheduled. Their first argument is the process id.
const SCHEDULING: [c_long; 4] =
    [libc::SYS_sched_setaffinity, libc::SYS_sched_setattr, libc::SYS_sched_setparam, libc::SYS_sched_setscheduler];

/// System V and POSIX objects, which every program of the user can open by number or name.
const IPC: [c_long; 17] = [
    libc::SYS_shmget,
    libc::SYS_shmat,
    libc::SYS_shmctl,
    libc::SYS_shmdt,
    libc::SYS_msgget,
    libc::SYS_msgsnd,
    libc::SYS_msgrcv,
    libc::SYS_msgctl,
    libc::SYS_semget,
    libc::SYS_semop,
    libc::SYS_semtimedop,
    libc::SYS_semctl,
    libc::SYS_mq_open,
    libc::SYS_mq_unlink,
    libc::SYS_mq_timedsend,
    libc::SYS_mq_timedreceive,
    libc::SYS_mq_notify,
];

/// `PRIO_USER` and `IOPRIO_WHO_USER`, which select all processes of a user. The constants for I/O are not in `libc`.
const PRIORITY_OF_USER: u64 = 2;
const IO_PRIORITY_OF_USER: u64 = 3;

/// `PR_SCHED_CORE`, which controls which processes may share a core.
const CORE_SCHEDULING: u64 = 62;

/// Returns the calls that fail as if the kernel did not have them.
pub(super) fn unknown(walls: Walls) -> Vec<c_long> {
    let mut calls = vec![libc::SYS_memfd_secret];
    if !walls.namespaces {
        calls.extend(IPC);
    } else if !walls.memory_group && !walls.shared_memory_limit {
        calls.push(libc::SYS_shmget);
    }
    // Files in memory belong to no process, so only a control group can count their size. Callers use a temporary file
    // instead.
    if !walls.memory_group {
        calls.push(libc::SYS_memfd_create);
    }
    calls
}

/// Returns the rules for calls that do nothing and succeed, instead of being refused.
///
/// Libraries set the usual scheduler for each of their threads, by the thread's id, and end the program if that fails:
/// ZeroMQ does so, and with it every Jupyter kernel. A thread has that scheduler already.
pub(super) fn ignored(walls: Walls) -> Result<Rules> {
    if walls.namespaces {
        return Ok(Rules::new());
    }
    let usual = u64::from(libc::SCHED_OTHER.unsigned_abs());
    Ok(Rules::from([(libc::SYS_sched_setscheduler, vec![rule([(0, Ne, 0), (1, Eq, usual)])?])]))
}

/// Returns the rules for refused calls. Some calls are refused only with certain arguments.
pub(super) fn refused(walls: Walls) -> Result<Rules> {
    let mut rules: Rules = TRACING.iter().filter(|_| !walls.landlock).map(|call| (*call, Vec::new())).collect();
    rules.insert(libc::SYS_prctl, vec![rule([(0, Eq, CORE_SCHEDULING)])?]);
    if walls.namespaces {
        return Ok(rules);
    }
    for call in SCHEDULING {
        rules.insert(call, vec![rule([(0, Ne, 0)])?]);
    }
    // Reading the limits of another process is allowed; only changing them is refused.
    let mut of_another = vec![is_given(2)?];
    of_another.push(seccompiler::SeccompCondition::new(0, seccompiler::SeccompCmpArgLen::Dword, Ne, 0)?);
    rules.insert(libc::SYS_prlimit64, vec![SeccompRule::new(of_another)?]);
    for (call, all) in [(libc::SYS_setpriority, PRIORITY_OF_USER), (libc::SYS_ioprio_set, IO_PRIORITY_OF_USER)] {
        rules.insert(call, vec![rule([(1, Ne, 0)])?, rule([(0, Eq, all)])?]);
    }
    Ok(rules)
}
