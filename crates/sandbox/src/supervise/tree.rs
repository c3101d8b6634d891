//! Everything below this process.
//!
//! Numbers of processes are used again, so a process is signalled through a handle, and only if it is still one of ours after the handle was
//! made. Who makes new processes all the time must lose against who looks for them: whoever is found is *stopped* at once, before the search
//! goes on, and killed only when a search finds nobody new. A stopped process makes no others, and its place is not free for another.

use std::{collections::BTreeSet, fs};

use rustix::process::{Pid, PidfdFlags, Signal, getpid, pidfd_open, pidfd_send_signal};

/// How often everybody is looked for before those who were found are killed, and how often in vain.
const SEARCHES_MAX: usize = 1_000;
const IN_VAIN_MAX: usize = 3;

/// How often, between two searches, the newest process of all is asked whether it is ours.
const GUESSES: usize = 8;

/// A process, as `/proc` tells.
struct Process {
    parent: i32,
    is_zombie: bool,
    threads: u64,
}

/// How many there are.
#[derive(Clone, Debug, Default)]
pub(crate) struct Count {
    /// Their numbers; zombies, too.
    pub(crate) processes: Vec<i32>,
    /// Threads of all of them.
    pub(crate) threads: u64,
}

/// Everybody below this process.
pub(crate) fn count() -> Count {
    let mut count = Count::default();
    search(&BTreeSet::new(), |pid, process| {
        count.processes.push(pid);
        count.threads += process.threads;
    });
    count
}

/// Signals everybody.
pub(crate) fn signal_all(signal: Signal) {
    search(&BTreeSet::new(), |pid, process| send(pid, process, signal));
}

/// Stops everybody until nobody new is found, then kills them. What is asked takes leave of those who have ended, and tells whether nobody is
/// left: as long as somebody is and nobody is found, there is one who has a successor whenever a search comes by.
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

/// Who has just been made is the last to have made another.
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

/// Goes through all processes but those known to be somebody else's, and does something with each of ours as soon as it is found. Who is
/// somebody else's. Numbers go up, so children mostly come after their parents; who is missed is found by the next search.
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
    // Those whose number is lower than their parent's.
    join(&mut open, &mut ours, found);
    // One whose parent has just ended is about to become ours: only who comes from the first process for sure is skipped next time.
    strangers.extend([0, 1]);
    join(&mut open, &mut strangers, |_, _| {});
    strangers
}

/// Moves those whose parents are in a family into it.
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
    // The name before it is in brackets and may contain anything.
    let fields: Vec<&str> = stat.rsplit_once(')')?.1.split_whitespace().take(18).collect();
    let threads = fields.get(17)?.parse().ok()?;
    // Where the first thread has ended before the others, the process looks like a zombie and is none.
    let is_zombie = matches!(fields[0], "Z" | "X") && threads <= 1;
    Some(Process { parent: fields.get(1)?.parse().ok()?, is_zombie, threads })
}

/// Signals a process that was seen with this parent. Where it lost its parent meanwhile, it became ours.
fn send(pid: i32, seen: &Process, signal: Signal) {
    let Some(process) = Pid::from_raw(pid) else { return };
    let Ok(handle) = pidfd_open(process, PidfdFlags::empty()) else { return };
    let me = getpid().as_raw_nonzero().get();
    if look(pid).is_some_and(|now| now.parent == seen.parent || now.parent == me) {
        // It may have ended by itself.
        let _ = pidfd_send_signal(handle, signal);
    }
}
