//! Waits for a call of git: feeds it, collects its output, and ends it if it makes no progress.
//!
//! Git blocks for ever if a file that it reads is a named pipe, and there is no end to the files it may read. A process
//! that sleeps, uses no time of the processor and moves no data for [`IDLE`] does not go on. Waiting for a disk or
//! computing is something else, and has only the last deadline.

use std::{
    fs,
    io::{self, Write as _},
    os::fd::{AsFd, OwnedFd},
    process::{Child, ChildStderr, ChildStdin, ChildStdout, ExitStatus},
    time::{Duration, Instant},
};

use rustix::{
    event::{PollFd, PollFlags, Timespec, poll},
    io::{Errno, ioctl_fionbio},
    process::{Pid, PidfdFlags, Resource, Rlimit, Signal, kill_process_group, pidfd_open, prlimit},
};

/// The time after which a call that only sleeps is ended.
pub(crate) const IDLE: Duration = Duration::from_secs(10);

/// The time after which any call is ended.
pub(crate) const DEADLINE: Duration = Duration::from_secs(60 * 60);

/// The time that git has to remove its lock files when it is ended.
const GOODBYE: Timespec = Timespec { tv_sec: 2, tv_nsec: 0 };

/// The longest output of a call.
const OUTPUT_BYTES_MAX: usize = 1 << 30;

/// The longest error output that is kept.
const SAID_BYTES_MAX: usize = 64 * 1024;

/// The most memory that git may fill. The limit holds from a moment after the start, so it does not stop a call that asks for
/// more at once: control files that are too long are put away before (`odd.rs`).
const MEMORY_BYTES_MAX: u64 = 8 << 30;

/// The time between two looks at a call that says nothing.
const LOOK: Timespec = Timespec { tv_sec: 0, tv_nsec: 500_000_000 };

/// The same where the kernel does not tell when a process ends.
const SHORT_LOOK: Timespec = Timespec { tv_sec: 0, tv_nsec: 5_000_000 };

/// The result of a call that ended by itself.
#[derive(Debug)]
pub(crate) struct Ended {
    pub(crate) status: ExitStatus,
    pub(crate) stdout: Vec<u8>,
    pub(crate) stderr: Vec<u8>,
}

/// The reason why a call has no result.
#[derive(Debug)]
pub(crate) enum NotEnded {
    /// It was ended because it did nothing.
    Idle,
    /// It was ended because of the last deadline.
    Late,
    /// It printed more than is kept.
    TooMuch,
    /// The system failed.
    System(io::Error),
}

impl From<io::Error> for NotEnded {
    fn from(error: io::Error) -> Self {
        NotEnded::System(error)
    }
}

/// Waits for a process that leads a group of its own.
pub(crate) fn wait(mut child: Child, stdin: &[u8], idle: Duration) -> Result<Ended, NotEnded> {
    let pid = Pid::from_child(&child);
    let limit = Rlimit { current: Some(MEMORY_BYTES_MAX), maximum: Some(MEMORY_BYTES_MAX) };
    let _ = prlimit(Some(pid), Resource::Data, limit);
    let result = talk(&mut child, pid, stdin, idle);
    if result.is_err() {
        end(&mut child, pid);
    }
    result
}

fn talk(child: &mut Child, pid: Pid, stdin: &[u8], idle: Duration) -> Result<Ended, NotEnded> {
    let exit = pidfd_open(pid, PidfdFlags::empty()).ok();
    let mut pipes = Pipes::of(child, stdin)?;
    let began = Instant::now();
    let mut active = (began, Activity::default());
    loop {
        pipes.wait(exit.as_ref())?;
        let status = child.try_wait()?;
        let has_moved = pipes.pump()?;
        if let Some(status) = status {
            while pipes.pump()? {}
            return Ok(Ended { status, stdout: pipes.said, stderr: pipes.complaint });
        }
        let now = Activity::of(pid);
        if has_moved || !now.is_asleep || now != active.1 {
            active = (Instant::now(), now);
        }
        if active.0.elapsed() > idle {
            return Err(NotEnded::Idle);
        }
        if began.elapsed() > DEADLINE {
            return Err(NotEnded::Late);
        }
    }
}

/// The open pipes of a call, and what went through them.
struct Pipes<'i> {
    stdin: Option<ChildStdin>,
    stdout: Option<ChildStdout>,
    stderr: Option<ChildStderr>,
    input: &'i [u8],
    said: Vec<u8>,
    complaint: Vec<u8>,
}

impl<'i> Pipes<'i> {
    fn of(child: &mut Child, input: &'i [u8]) -> io::Result<Self> {
        let (stdin, stdout, stderr) = (child.stdin.take(), child.stdout.take(), child.stderr.take());
        let fds = [stdin.as_ref().map(AsFd::as_fd), stdout.as_ref().map(AsFd::as_fd), stderr.as_ref().map(AsFd::as_fd)];
        for fd in fds.into_iter().flatten() {
            ioctl_fionbio(fd, true)?;
        }
        Ok(Pipes { stdin, stdout, stderr, input, said: Vec::new(), complaint: Vec::new() })
    }

    /// Waits until something can be moved or the process has ended, at most for one look.
    fn wait(&mut self, exit: Option<&OwnedFd>) -> io::Result<()> {
        if self.input.is_empty() {
            self.stdin = None;
        }
        let written = self.stdin.as_ref().map(|fd| PollFd::new(fd, PollFlags::OUT));
        let read = [self.stdout.as_ref().map(AsFd::as_fd), self.stderr.as_ref().map(AsFd::as_fd)];
        let read = read.into_iter().chain([exit.map(AsFd::as_fd)]).flatten();
        let read = read.map(|fd| PollFd::from_borrowed_fd(fd, PollFlags::IN));
        let mut all: Vec<PollFd<'_>> = read.chain(written).collect();
        // A kernel without process descriptors does not report the end of a process.
        let time = if exit.is_some() { &LOOK } else { &SHORT_LOOK };
        match poll(&mut all, Some(time)) {
            Ok(_) | Err(Errno::INTR) => Ok(()),
            Err(error) => Err(error.into()),
        }
    }

    /// Moves what can be moved now. Returns true if that was something.
    fn pump(&mut self) -> Result<bool, NotEnded> {
        let mut has_moved = false;
        if let Some(pipe) = &mut self.stdin {
            match pipe.write(self.input) {
                Ok(written) => {
                    self.input = &self.input[written..];
                    has_moved |= written > 0;
                }
                Err(error) if is_later(&error) => {}
                // It has ended or does not read the rest.
                Err(_) => self.input = &[],
            }
        }
        has_moved |= read(&mut self.stdout, &mut self.said, usize::MAX)?;
        has_moved |= read(&mut self.stderr, &mut self.complaint, SAID_BYTES_MAX)?;
        match self.said.len() > OUTPUT_BYTES_MAX {
            true => Err(NotEnded::TooMuch),
            false => Ok(has_moved),
        }
    }
}

/// Reads once from a pipe and closes it at its end. Bytes after the first `kept` are dropped.
fn read<P: io::Read>(pipe: &mut Option<P>, into: &mut Vec<u8>, kept: usize) -> io::Result<bool> {
    let Some(open) = pipe else { return Ok(false) };
    let mut part = [0; 64 * 1024];
    match open.read(&mut part) {
        Ok(0) => *pipe = None,
        Ok(length) => {
            into.extend_from_slice(&part[..length.min(kept.saturating_sub(into.len()))]);
            return Ok(true);
        }
        Err(error) if is_later(&error) => {}
        Err(error) => return Err(error),
    }
    Ok(false)
}

fn is_later(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted)
}

/// The work of a process so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Activity {
    /// True if it waits for something other than a disk.
    is_asleep: bool,
    /// Its time of the processor, in ticks.
    ticks: u64,
}

impl Activity {
    fn of(pid: Pid) -> Self {
        let about = fs::read_to_string(format!("/proc/{}/stat", pid.as_raw_nonzero())).unwrap_or_default();
        // The name of the program, in brackets, comes before the state. The times are 11 and 12 fields after it.
        let fields: Vec<&str> = about.rsplit_once(") ").map(|(_, rest)| rest.split(' ').collect()).unwrap_or_default();
        let ticks = |at: usize| fields.get(at).and_then(|ticks| ticks.parse::<u64>().ok()).unwrap_or(0);
        Activity { is_asleep: fields.first() == Some(&"S"), ticks: ticks(11) + ticks(12) }
    }
}

/// Ends a process and its group. Git removes its lock files if it is asked to end.
fn end(child: &mut Child, pid: Pid) {
    let _ = kill_process_group(pid, Signal::TERM);
    let exit = pidfd_open(pid, PidfdFlags::empty());
    if let Ok(exit) = &exit {
        let _ = poll(&mut [PollFd::new(exit, PollFlags::IN)], Some(&GOODBYE));
    }
    let _ = kill_process_group(pid, Signal::KILL);
    let _ = child.wait();
}
