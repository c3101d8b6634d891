//! The first stage of a launcher: it stays outside the sandbox and supervises the program inside.
//!
//! It prepares the second stage and its control group before it has an order, because the kernel needs time for that.
//! If it is started before there is an order, the order waits less.
//!
//! It holds one end of a socket; Interlock holds the other. Whatever happens to Interlock, the socket closes with it.
//! This process is the "subreaper" of all processes below it: a process that loses its parent becomes its child. So a
//! process is left if and only if there is a child to wait for, and no double fork, new session, cleared environment or
//! ignored signal can change that.

mod after;
mod cgroup;
mod fleeting;
mod memory;
mod stage;
mod tree;
mod usage;

use std::{
    fs::File,
    io::{self, BufReader, Read, Write},
    os::unix::net::UnixStream,
    process::{Command, ExitCode},
    time::{Duration, Instant},
};

use interlock_beneath::Folder;
use rustix::{
    event::{PollFd, PollFlags, Timespec, poll},
    fd::{AsFd, OwnedFd},
    io::fcntl_dupfd_cloexec,
    process::{
        Pid, PidfdFlags, Signal, WaitOptions, pidfd_open, set_child_subreaper, setpriority_process, setsid, wait,
    },
    stdio::{dup2_stderr, dup2_stdin, dup2_stdout, stdin},
};
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use tempfile::TempDir;

use crate::{
    After, Breach, Enforced, GitHistory, INTERRUPT, Kind, LaunchOrder, Namespaces, Network, ProgramEnd, Report, attach,
    attachments::{self, Received},
    baseline::{Claims, Shared},
    bubblewrap,
    confine::{Said, Task},
    guard::{self, Guard, Refusal},
    launcher::name_of,
    placed::PlacedFolder,
    protected, repository, temporary,
    wire::{self, NEW_AFTER},
};
use cgroup::Cgroups;
use fleeting::Fleeting;
use stage::Stage;
use usage::Usage;

/// Time between the request to end and the forced end.
const GRACE: Duration = Duration::from_secs(2);

/// Time that the kernel has to end the processes of a namespace before they are searched one by one.
const NAMESPACE_END: Duration = Duration::from_millis(200);

/// Maximum time for ending processes: a process may hang in the kernel, and a large fork bomb leaves little time to
/// others.
const ENDING_MAX: Duration = Duration::from_secs(60);

/// Interval between checks of the usage: short at first, then doubling up to the maximum.
const FIRST_LOOK: Duration = Duration::from_millis(20);
const LOOK_EVERY_MAX: Duration = Duration::from_millis(200);

/// Interval between checks for a sudden growth of the number of processes.
const GLANCE_EVERY: Duration = Duration::from_millis(10);

/// The same interval with a control group: the kernel bounds the growth.
const GLANCE_EVERY_IN_GROUP: Duration = Duration::from_millis(50);

/// The highest priority. If the supervisor runs as root, a fork bomb cannot starve it.
const PRIORITY: i32 = -20;

/// Runs the program that it receives over stdin.
pub(crate) fn main() -> ExitCode {
    let Ok(control) = fcntl_dupfd_cloexec(stdin(), 3) else { return ExitCode::FAILURE };
    let mut control = UnixStream::from(control);
    let (report, after) = match begin(&control) {
        Ok(None) => return ExitCode::SUCCESS,
        Ok(Some(mut scene)) => (scene.play(&mut control), scene.after),
        Err(error) => (Err(error), None),
    };
    let report = report.unwrap_or_else(|error| {
        let is_refusal = error.get_ref().is_some_and(|inner| inner.is::<Refusal>());
        Report::NotStarted { why: error.to_string(), is_refusal }
    });
    // If Interlock is gone, the report has no receiver.
    let _ = wire::send(&mut control, &report);
    after::see_to(&mut control, after);
    ExitCode::SUCCESS
}

/// A running program and its resources.
struct Scene {
    /// The program, or the first process of its namespaces.
    program: Pid,
    is_init: bool,
    /// True if the first process is bubblewrap.
    is_wrapped: bool,
    /// The exit code or the signal of the program, after it has ended.
    ended: Option<(Option<i32>, Option<i32>)>,
    /// Becomes readable when the program has ended.
    pidfd: OwnedFd,
    /// The messages of the second stage, until it closes the channel.
    channel: Option<BufReader<UnixStream>>,
    /// True if the second stage has sent a message.
    is_heard: bool,
    /// Reports that have not been sent to Interlock yet.
    unsent: Vec<Report>,
    /// True if Interlock has already asked to end the program.
    is_stopped: bool,
    /// Becomes readable when this process receives a signal to end.
    signals: UnixStream,
    guard: Guard,
    temp: TempDir,
    /// Files that are removed when no process is left.
    fleeting: Vec<Fleeting>,
    cgroups: Cgroups,
    usage: Usage,
    /// The command to run afterwards.
    after: Option<After>,
    /// The beginning of a message of Interlock.
    part: Vec<u8>,
}

/// The result of waiting for the socket.
enum Heard {
    Nothing,
    Interrupt,
    Stop,
    Gone,
}

/// Receives the order. Returns `None` if Interlock is gone or this process has to end.
fn order(control: &UnixStream, signals: &UnixStream) -> io::Result<Option<Received<LaunchOrder>>> {
    let mut polled = [PollFd::new(control, PollFlags::IN), PollFd::new(signals, PollFlags::IN)];
    while let Err(rustix::io::Errno::INTR) = poll(&mut polled, None) {}
    // This process received a signal to end before there was an order.
    if !polled[1].revents().is_empty() {
        return Ok(None);
    }
    let received: Received<LaunchOrder> = match attachments::receive(control) {
        Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => return Ok(None),
        received => received?,
    };
    // After a crash of Interlock the supervisor is found by this name. The check that Interlock still runs comes after
    // setting it, so that a program is either not started or can be found by the next process.
    let name = std::ffi::CString::new(name_of(&received.message.mark)).map_err(io::Error::other)?;
    rustix::thread::set_name(&name)?;
    let mut polled = [PollFd::new(control, PollFlags::IN)];
    poll(&mut polled, Some(&Timespec { tv_sec: 0, tv_nsec: 0 }))?;
    Ok((!polled[0].revents().contains(PollFlags::HUP)).then_some(received))
}

#[expect(clippy::disallowed_methods, reason = "it opens a device")]
fn begin(control: &UnixStream) -> io::Result<Option<Scene>> {
    // A separate session, so that keys typed at Interlock's terminal do not signal this process.
    let _ = setsid();
    let (signals, ours) = UnixStream::pair()?;
    for signal in [SIGTERM, SIGINT, SIGHUP] {
        signal_hook::low_level::pipe::register(signal, ours.try_clone()?)?;
    }
    set_child_subreaper(Some(rustix::process::getpid()))?;
    let nowhere = File::options().read(true).write(true).open("/dev/null")?;
    dup2_stdin(&nowhere)?;
    // Other inherited file descriptors must not reach the program.
    close_fds::set_fds_cloexec(3, &[]);
    let mut stage = Stage::prepare()?;
    let cgroups = Cgroups::around(stage.program);
    let furnished = match order(control, &signals) {
        Ok(Some(Received { message, files, has_more })) => {
            // Data after the order can only be the request to stop.
            furnish(&mut stage, message, &files, &cgroups, &nowhere).map(|furnished| Some((furnished, has_more)))
        }
        Ok(None) => Ok(None),
        Err(error) => Err(error),
    };
    match furnished {
        Ok(Some((Furnished { pidfd, guard, temp, fleeting, usage, after, is_wrapped }, is_stopped))) => {
            let Stage { program, channel, is_init, .. } = stage;
            let channel = Some(channel);
            let (ended, is_heard) = (None, false);
            Ok(Some(Scene {
                program,
                is_init,
                is_wrapped,
                ended,
                pidfd,
                channel,
                is_heard,
                unsent: Vec::new(),
                is_stopped,
                signals,
                guard,
                temp,
                fleeting,
                cgroups,
                usage,
                after,
                part: Vec::new(),
            }))
        }
        nothing => {
            stage.dismiss();
            cgroups.remove();
            nothing.map(|_| None)
        }
    }
}

/// The resources of one order.
struct Furnished {
    pidfd: OwnedFd,
    guard: Guard,
    temp: TempDir,
    fleeting: Vec<Fleeting>,
    usage: Usage,
    after: Option<After>,
    is_wrapped: bool,
}

/// Sends the task to the second stage and creates its resources.
fn furnish(
    stage: &mut Stage,
    mut order: LaunchOrder,
    files: &[OwnedFd],
    cgroups: &Cgroups,
    nowhere: &File,
) -> io::Result<Furnished> {
    let fleeting = Fleeting::all(&order.rules.fleeting);
    let (temp, of_all) = temporary::make(&order.temp, &order.rules.workspace)?;
    order.rules.closed.push(of_all);
    let after = order.after.take();
    let guard = guard(&order)?;
    if let Some(other) = other_stage(stage, &order, &temp, &guard)? {
        cgroups.take_in(other.program)?;
        std::mem::replace(stage, other).dismiss();
    }
    // This comes after the start of the stage, so that the program does not inherit the priority.
    let _ = setpriority_process(None, PRIORITY);
    // Only the program holds the output, so that its readers see the end of it.
    dup2_stdout(nowhere)?;
    dup2_stderr(nowhere)?;
    let pidfd = pidfd_open(stage.program, PidfdFlags::empty())?;
    cgroups.limit(&order.rules.limits)?;
    let mut enforced = enforced(&order, &guard, cgroups);
    if order.rules.sandbox == Kind::Landlock {
        enforced.missing.extend(stage.why_not.take().map(|why| format!("no namespaces: {why}")));
    }
    let task = Task { temp: temp.path().to_owned(), enforced, order };
    // If the stage has already ended, this is detected later.
    let _ = send(stage.channel.get_mut(), &task, files);
    let usage = Usage::new(&task.order.rules, temp.path(), u64::from(stage.is_init), cgroups);
    let is_wrapped = task.order.rules.sandbox == Kind::Bubblewrap;
    Ok(Furnished { pidfd, guard, temp, fleeting, usage, after, is_wrapped })
}

/// Sends a task with the files of its order.
fn send(channel: &mut UnixStream, task: &Task, files: &[OwnedFd]) -> io::Result<()> {
    let files: Vec<_> = files.iter().map(AsFd::as_fd).collect();
    let line = wire::line(task)?;
    channel.write_all(attach(&*channel, &line, &files)?)
}

/// Starts the stage that an order needs, if it differs from the prepared one.
fn other_stage(ready: &Stage, order: &LaunchOrder, temp: &TempDir, guard: &Guard) -> io::Result<Option<Stage>> {
    match (order.rules.sandbox, order.rules.namespaces) {
        (Kind::Bubblewrap, _) => Stage::start(bubblewrapped(order, temp, guard)?).map(Some),
        (Kind::Landlock, Namespaces::Auto) => Ok(None),
        _ if !ready.is_init => Ok(None),
        (Kind::Landlock, Namespaces::Off) => Stage::plain("the settings disable it".into()).map(Some),
        (Kind::None, _) => Stage::plain("there is no sandbox".into()).map(Some),
    }
}

/// Reads the files that the program must not change, or takes them from the attempts that are open.
fn guard(order: &LaunchOrder) -> io::Result<Guard> {
    let rules = &order.rules;
    if rules.sandbox == Kind::None {
        return Ok(Guard::default());
    }
    // Without a store there are no other attempts.
    let Some(store) = &rules.store else { return Ok(read_guard(order, &mut Claims::default())?) };
    let mut shared = Shared::join(store)?;
    let restored = guard::restore_abandoned(&shared);
    let mut guard = read_guard(order, &mut shared.claims)?;
    guard.missing.extend(restored);
    guard.shared(shared)
}

fn read_guard(order: &LaunchOrder, claims: &mut Claims) -> Result<Guard, Refusal> {
    let rules = &order.rules;
    let is_kept = !rules.write.contains(&rules.workspace.join(".git"));
    // This comes first: the list of protected paths follows what is in there.
    let git = if is_kept { PlacedFolder::git(&rules.workspace, claims)? } else { None };
    let mut tops = repository::git_folders(&rules.workspace);
    tops.push(rules.workspace.clone());
    let guard = Guard::new(protected::of(rules, &order.folder)?, &rules.write, &tops, claims)?;
    let on_the_way = [&rules.folder, &order.folder].map(|folder| PlacedFolder::on_the_way(&rules.workspace, folder));
    Ok(guard.with_placed(on_the_way.into_iter().flatten().chain(git).collect()))
}

#[expect(clippy::disallowed_methods, reason = "the program is one of the system")]
fn bubblewrapped(order: &LaunchOrder, temp: &TempDir, guard: &Guard) -> io::Result<Command> {
    let program = bubblewrap::program().ok_or_else(|| io::Error::other("bubblewrap is not installed"))?;
    let mut command = Command::new(program);
    command.args(bubblewrap::arguments(order, temp.path(), guard, &bubblewrap::launcher(&order.rules)?));
    Ok(command)
}

fn enforced(order: &LaunchOrder, guard: &Guard, cgroups: &Cgroups) -> Enforced {
    let by = |has_group: bool| (["supervisor"].into_iter().chain(has_group.then_some("cgroup"))).map(str::to_owned);
    Enforced {
        sandbox: order.rules.sandbox,
        network: order.rules.network,
        hosts: match order.rules.network {
            Network::Only => order.rules.hosts.clone(),
            _ => Vec::new(),
        },
        protected: guard.paths().map(|path| path.display().to_string()).collect(),
        git_history: match repository::git_folders(&order.rules.workspace).is_empty() {
            true => GitHistory::NoRepository,
            false if order.rules.writable_git().is_empty() => GitHistory::ReadOnly,
            false => GitHistory::Writable,
        },
        limits: order.rules.limits,
        processes_by: by(cgroups.counts_processes()).collect(),
        memory_by: by(cgroups.memory.is_some()).collect(),
        missing: guard.missing.clone(),
        ..Enforced::default()
    }
}

impl Scene {
    /// Supervises the program until no process is left, and returns the final report.
    fn play(&mut self, control: &mut UnixStream) -> io::Result<Report> {
        let over = self.attend(control);
        let left = self.end_all();
        self.fleeting.clear();
        self.pass_on(control);
        let mut breaches = self.guard.restore();
        self.guard.leave();
        let ended_by_kernel = self.cgroups.memory.as_ref().and_then(|group| self.usage.ended_by_kernel(group));
        self.cgroups.remove();
        remove(&self.temp);
        let limit = over?.or(ended_by_kernel);
        let rule = limit.as_ref().map(|breach| breach.rule.clone());
        breaches.extend(limit);
        let (code, signal) = self.ended.unwrap_or_default();
        if !self.is_heard && code.is_some() {
            // For example bubblewrap, if the user may not create namespaces. It prints the reason to the program's
            // stderr.
            let why = "the sandbox could not be created; the reason is on stderr".to_owned();
            return Ok(Report::NotStarted { why, is_refusal: true });
        }
        Ok(Report::Ended(ProgramEnd { code, signal, limit: rule, breaches, left }))
    }

    /// Waits until the program has ended or must end now. Returns the violated limit if that is the reason.
    fn attend(&mut self, control: &mut UnixStream) -> io::Result<Option<Breach>> {
        let (mut every, mut stop_until) = (FIRST_LOOK, None);
        let mut look_at = Instant::now() + every;
        loop {
            let glance_every = if self.cgroups.counts_processes() { GLANCE_EVERY_IN_GROUP } else { GLANCE_EVERY };
            let glance_at = look_at.min(Instant::now() + glance_every);
            let until = stop_until.map_or(glance_at, |stop: Instant| stop.min(glance_at));
            let heard = if std::mem::take(&mut self.is_stopped) { Heard::Stop } else { self.listen(control, until)? };
            match heard {
                Heard::Gone => return Ok(None),
                Heard::Stop if stop_until.is_none() => {
                    tree::signal_all(Signal::TERM);
                    stop_until = Some(Instant::now() + GRACE);
                }
                // Bubblewrap would end, and the program with it.
                Heard::Interrupt => tree::signal_others(self.is_wrapped.then_some(self.program), Signal::INT),
                Heard::Stop | Heard::Nothing => {}
            }
            self.pass_on(control);
            let is_empty = self.reap();
            let (has_ended, now) = (self.ended.is_some(), Instant::now());
            if is_empty || (has_ended && stop_until.is_none()) || stop_until.is_some_and(|stop| now >= stop) {
                self.pass_on(control);
                return Ok(None);
            }
            if now >= look_at || self.usage.is_growing(&self.cgroups) {
                if let Some(breach) = self.usage.look(&self.cgroups) {
                    return Ok(Some(breach));
                }
                every = (every * 2).min(LOOK_EVERY_MAX);
                look_at = now + every;
            }
        }
    }

    /// Waits for the next event.
    fn listen(&mut self, control: &mut UnixStream, until: Instant) -> io::Result<Heard> {
        let wait_for = Timespec::try_from(until.saturating_duration_since(Instant::now())).map_err(io::Error::other)?;
        let mut polled = vec![PollFd::new(&*control, PollFlags::IN), PollFd::new(&self.signals, PollFlags::IN)];
        if self.ended.is_none() {
            polled.push(PollFd::new(&self.pidfd, PollFlags::IN));
        }
        if let Some(channel) = &self.channel {
            polled.push(PollFd::new(channel.get_ref(), PollFlags::IN));
        }
        match poll(&mut polled, Some(&wait_for)) {
            Ok(_) | Err(rustix::io::Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
        let [is_spoken_to, is_signalled] = [0, 1].map(|at: usize| !polled[at].revents().is_empty());
        let mut said = [0; 4_096];
        match (is_signalled, is_spoken_to) {
            (true, _) => Ok(Heard::Gone),
            (_, true) => Ok(match control.read(&mut said)? {
                0 => Heard::Gone,
                read => self.understand(&said[..read]),
            }),
            _ => Ok(Heard::Nothing),
        }
    }

    /// Reads the complete lines of Interlock's messages. A request to stop counts more than an interrupt.
    fn understand(&mut self, said: &[u8]) -> Heard {
        self.part.extend_from_slice(said);
        let mut heard = Heard::Nothing;
        while let Some(end) = self.part.iter().position(|byte| *byte == b'\n') {
            let line: Vec<u8> = self.part.drain(..=end).collect();
            match line.strip_prefix(NEW_AFTER) {
                Some(after) => self.after = serde_json::from_slice(after).unwrap_or_default(),
                None if line == INTERRUPT => heard = Heard::Interrupt,
                None => return Heard::Stop,
            }
        }
        heard
    }

    /// Passes the reports of the other stages on to Interlock.
    fn pass_on(&mut self, control: &mut UnixStream) {
        while self.is_spoken_to() {
            self.hear();
        }
        for report in self.unsent.drain(..) {
            let _ = wire::send(control, &report);
        }
    }

    fn is_spoken_to(&self) -> bool {
        let Some(channel) = &self.channel else { return false };
        let mut polled = [PollFd::new(channel.get_ref(), PollFlags::IN)];
        let now = Timespec { tv_sec: 0, tv_nsec: 0 };
        !channel.buffer().is_empty() || matches!(poll(&mut polled, Some(&now)), Ok(1..))
    }

    /// Processes one message of another stage, or the end of its channel.
    fn hear(&mut self) {
        let Some(channel) = &mut self.channel else { return };
        match wire::receive::<Said>(channel) {
            // Only this process reports the end of the program and its violations.
            Ok(Said::Report(report @ (Report::Started(_) | Report::NotStarted { .. }))) => {
                self.is_heard = true;
                self.unsent.push(report);
            }
            Ok(Said::Exited { code, signal }) if self.is_init && self.ended.is_none() => {
                self.ended = Some((code, signal));
            }
            Ok(_) => {}
            Err(_) => self.channel = None,
        }
    }

    /// Reaps all processes that have ended. Returns true if none is left.
    fn reap(&mut self) -> bool {
        loop {
            match wait(WaitOptions::NOHANG) {
                Ok(Some((pid, status))) if pid == self.program => {
                    // If this is the first process of the namespaces, it has reported the end of the program before.
                    // The other end of the channel is closed now.
                    while self.is_init && self.channel.is_some() {
                        self.hear();
                    }
                    // An exit code of 0 of the first process does not mean that the program succeeded.
                    let code = status.exit_status().filter(|code| !self.is_init || *code != 0);
                    self.ended.get_or_insert((code, status.terminating_signal()));
                }
                Ok(Some(_)) | Err(rustix::io::Errno::INTR) => {}
                Ok(None) => return false,
                Err(_) => return true,
            }
        }
    }

    /// Waits a limited time for the end of the first process.
    fn await_end(&self, at_most: Duration) {
        let Ok(at_most) = Timespec::try_from(at_most) else { return };
        let _ = poll(&mut [PollFd::new(&self.pidfd, PollFlags::IN)], Some(&at_most));
    }

    /// Ends all processes. Returns the number of processes that could not be ended.
    fn end_all(&mut self) -> u64 {
        let deadline = Instant::now() + ENDING_MAX;
        let mut pause = Duration::from_micros(200);
        // The kernel signals the whole group at once, so that no member can fork meanwhile. This happens first, because
        // the process id cannot have been reused yet.
        let _ = rustix::process::kill_process_group(self.program, Signal::KILL);
        if self.is_init {
            // The kernel ends the rest of the namespace with it, which is faster than searching for all processes.
            self.await_end(NAMESPACE_END);
        }
        while !self.reap() {
            self.cgroups.close();
            tree::kill_all(|| self.reap());
            if Instant::now() > deadline {
                return tree::count().processes.len() as u64;
            }
            std::thread::sleep(pause);
            pause = (pause * 2).min(Duration::from_millis(20));
        }
        0
    }
}

/// Removes the private directory, even if the program has removed permissions in it.
fn remove(temp: &TempDir) {
    if let (Some(above), Some(name)) = (temp.path().parent(), temp.path().file_name()) {
        let _ = Folder::open(above).and_then(|above| above.remove_all(name.as_ref()));
    }
}
