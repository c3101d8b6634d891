//! Finds and signals all processes below this process.
//!
//! Process ids are reused, so a process is signalled through a handle, and only if it is still a descendant after the
//! handle was opened. The search must win against a program that forks all the time. So every process that is found is
//! *stopped* at once, before the search continues, and killed only when a search finds no new process. A stopped
//! process cannot fork, and its process id is not reused.

use std::{collections::BTreeSet, fs};

use rustix::process::{Pid, PidfdFlags, Signal, getpid, pidfd_open, pidfd_send_signal};

/// Maximum number of searches before the processes found are killed, and maximum number of consecutive searches that
/// see only known processes.
const SEARCHES_MAX: usize = 1_000;
const IN_VAIN_MAX: usize = 3;

/// Number of checks between two searches if the newest process of the system is a descendant.
const GUESSES: usize = 8;

/// A process as `/proc` describes it.
struct Process {
    parent: i32,
    is_zombie: bool,
    threads: u64,
}

/// The processes below this one.
#[derive(Clone, Debug, Default)]
pub(crate) struct Count {
    /// The process ids, including those of zombies.
    pub(crate) processes: Vec<i32>,
    /// The number of threads of all of them.
    pub(crate) threads: u64,
}

/// Counts all processes below this process.
pub(crate) fn count() -> Count {
    descend().unwrap_or_else(count_by_search)
}

/// Counts by the kernel's lists of children, so that the cost does not depend on the other processes of the system. A
/// process that ends meanwhile can hide others from this count; the next one finds them. Returns `None` if the kernel
/// has no such lists.
fn descend() -> Option<Count> {
    let me = getpid().as_raw_nonzero().get();
    let (mut count, mut open) = (Count::default(), children(me)?.0);
    while let Some(pid) = open.pop() {
        let (below, threads) = children(pid).unwrap_or_default();
        count.processes.push(pid);
        count.threads += threads;
        open.extend(below);
    }
    Some(count)
}

/// Returns the children of a process and the number of its threads.
fn children(pid: i32) -> Option<(Vec<i32>, u64)> {
    let (mut children, mut threads, mut lists) = (Vec::new(), 0, 0);
    for task in fs::read_dir(format!("/proc/{pid}/task")).ok()?.flatten() {
        threads += 1;
        let Ok(list) = fs::read_to_string(task.path().join("children")) else { continue };
        lists += 1;
        children.extend(list.split_whitespace().filter_map(|child| child.parse::<i32>().ok()));
    }
    (lists > 0).then_some((children, threads))
}

fn count_by_search() -> Count {
    let mut count = Count::default();
    search(&BTreeSet::new(), |pid, process| {
        count.processes.push(pid);
        count.threads += process.threads;
    });
    count
}

/// Sends a signal to all processes below this process.
pub(crate) fn signal_all(signal: Signal) {
    search(&BTreeSet::new(), |pid, process| send(pid, process, signal));
}

/// Sends a signal to all processes below this process except one.
pub(crate) fn signal_others(except: Option<Pid>, signal: Signal) {
    let except = except.map(|pid| pid.as_raw_nonzero().get());
    search(&BTreeSet::new(), |pid, process| {
        if Some(pid) != except {
            send(pid, process, signal);
        }
    });
}

/// Stops all processes until no new one is found, then kills them. `is_over` reaps the processes that have ended and
/// returns true if none is left. If processes are left but a search finds none, a process replaces itself faster than
/// a search can find it; the search is then repeated up to a limit.
pub(crate) fn kill_all(mut is_over: impl FnMut() -> bool) {
    let (mut stopped, mut strangers, mut in_vain) = (BTreeSet::new(), BTreeSet::new(), 0);
    for _ in 0..SEARCHES_MAX {
        if in_vain == IN_VAIN_MAX || is_over() {
            break;
        }
        stop_newest();
        let (before, mut is_seen) = (stopped.len(), false);
        strangers = search(&strangers, |pid, process| {
            is_seen |= !process.is_zombie;
            if !process.is_zombie && stopped.insert(pid) {
                send(pid, process, Signal::STOP);
            }
        });
        in_vain = if is_seen && stopped.len() == before { in_vain + 1 } else { 0 };
    }
    signal_all(Signal::KILL);
}

/// Stops the newest process of the system if it is a child of this process, because the newest process is the most
/// likely to fork again.
fn stop_newest() {
    let me = getpid().as_raw_nonzero().get();
    for _ in 0..GUESSES {
        let said = fs::read_to_string("/proc/loadavg").unwrap_or_default();
        let Some(newest) = said.split_whitespace().last().and_then(|pid| pid.parse().ok()) else { return };
        if let Some(process) = look(newest).filter(|process| process.parent == me && !process.is_zombie) {
            send(newest, &process, Signal::STOP);
        }
    }
}

/// Visits all processes except those in `skip`, and calls `found` for each descendant at once. Returns the processes
/// that are not descendants. Process ids increase, so children mostly come after their parents; the next search finds
/// those that are missed.
fn search(skip: &BTreeSet<i32>, mut found: impl FnMut(i32, &Process)) -> BTreeSet<i32> {
    let (mut ours, mut strangers) = (BTreeSet::from([getpid().as_raw_nonzero().get()]), BTreeSet::new());
    let mut open = Vec::new();
    for pid in pids() {
        if skip.contains(&pid) {
            strangers.insert(pid);
            continue;
        }
        let Some(process) = look(pid) else { continue };
        match ours.contains(&process.parent) {
            true => {
                ours.insert(pid);
                found(pid, &process);
            }
            false => open.push((pid, process)),
        }
    }
    // Processes with a lower id than their parent.
    join(&mut open, &mut ours, found);
    // A process whose parent has just ended is about to be adopted. So the next search only skips processes that
    // certainly descend from the first process.
    strangers.extend([0, 1]);
    join(&mut open, &mut strangers, |_, _| {});
    strangers
}

/// Moves processes whose parent is in a family into the family.
fn join(open: &mut Vec<(i32, Process)>, family: &mut BTreeSet<i32>, mut joined: impl FnMut(i32, &Process)) {
    let mut before = usize::MAX;
    while open.len() < before {
        before = open.len();
        open.retain(|(pid, process)| {
            let is_in = family.contains(&process.parent);
            if is_in {
                family.insert(*pid);
                joined(*pid, process);
            }
            !is_in
        });
    }
}

fn pids() -> impl Iterator<Item = i32> {
    let all = fs::read_dir("/proc").into_iter().flatten().flatten();
    all.filter_map(|entry| entry.file_name().to_str()?.parse().ok())
}

fn look(pid: i32) -> Option<Process> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // The name comes before these fields in parentheses and may contain any character.
    let fields: Vec<&str> = stat.rsplit_once(')')?.1.split_whitespace().take(18).collect();
    let threads = fields.get(17)?.parse().ok()?;
    // If the first thread ends before the others, the process looks like a zombie but is not.
    let is_zombie = matches!(fields[0], "Z" | "X") && threads <= 1;
    Some(Process { parent: fields.get(1)?.parse().ok()?, is_zombie, threads })
}

/// Signals a process that was seen with this parent. If it has lost its parent since, this process has adopted it.
fn send(pid: i32, seen: &Process, signal: Signal) {
    let Some(process) = Pid::from_raw(pid) else { return };
    let Ok(handle) = pidfd_open(process, PidfdFlags::empty()) else { return };
    let me = getpid().as_raw_nonzero().get();
    if look(pid).is_some_and(|now| now.parent == seen.parent || now.parent == me) {
        // The process may have ended.
        let _ = pidfd_send_signal(handle, signal);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::{Command, Stdio};

    #[test]
    fn both_ways_of_counting_agree() {
        // The shell waits for `cat`, and `cat` for the end of its input.
        let start = || Command::new("sh").args(["-c", "cat; true"]).stdin(Stdio::piped()).spawn().unwrap();
        let mut shells = [start(), start()];
        let sorted = |count: Count| (count.threads, count.processes.into_iter().collect::<BTreeSet<i32>>());
        // Other tests of this process start programs, too, so only a quiet moment counts.
        let is_same = (0..1_000).any(|_| {
            std::thread::sleep(std::time::Duration::from_millis(1));
            let (one, two) = (sorted(descend().unwrap()), sorted(count_by_search()));
            one == two && one.1.len() >= 4
        });
        shells.iter_mut().for_each(|shell| drop(shell.wait()));
        assert!(is_same);
    }
}
