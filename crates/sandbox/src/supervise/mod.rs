//! The first stage of a launcher: it stays outside of the sandbox and looks after what is inside.
//!
//! It gets the second stage ready, and its control group, before it has an order, because a kernel takes its time for that: whoever starts it
//! before there is an order waits the less for it.
//!
//! It holds one end of a socket; Interlock holds the other. Whatever happens to Interlock, the socket closes with it. This process is the
//! "subreaper" of everything below: whoever loses its parent becomes its child. So "is anything left?" has one answer, which no double
//! fork, new session, cleared environment or ignored signal can change: whether there is a child to wait for.

mod after;
mod cgroup;
mod memory;
mod stage;
mod tree;
mod usage;

use std::{
    fs::File,
    io::{self, BufReader, Read},
    os::unix::{fs::PermissionsExt, net::UnixStream},
    process::{Command, ExitCode},
    time::{Duration, Instant},
};

use rustix::{
    event::{PollFd, PollFlags, Timespec, poll},
    fd::OwnedFd,
    io::fcntl_dupfd_cloexec,
    process::{
        Pid, PidfdFlags, Signal, WaitOptions, pidfd_open, set_child_subreaper, setpriority_process, setsid, wait,
    },
    stdio::{dup2_stderr, dup2_stdin, dup2_stdout, stdin},
};
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use tempfile::TempDir;

use crate::{
    After, Breach, Ended, Enforced, Kind, Namespaces, Order, Report, bubblewrap,
    confine::{Said, Task},
    guard::Guard,
    launcher::name_of,
    protected, repository, wire,
};
use cgroup::Cgroups;
use stage::Stage;
use usage::Usage;

/// From the request to end until the end is forced.
const GRACE: Duration = Duration::from_secs(2);

/// How long the kernel gets to end the processes of a namespace before they are looked for one by one.
const NAMESPACE_END: Duration = Duration::from_millis(200);

/// How long to try to end what does not go away: a process may hang in the kernel, and a big bomb leaves little time to others.
const ENDING_MAX: Duration = Duration::from_secs(60);

/// How often usage is looked at: soon after the beginning, then less and less.
const FIRST_LOOK: Duration = Duration::from_millis(20);
const LOOK_EVERY_MAX: Duration = Duration::from_millis(200);

/// How often it is asked whether there are suddenly many processes.
const GLANCE_EVERY: Duration = Duration::from_millis(10);

/// As much before the others as there is: where the administrator runs it, a bomb cannot keep it from its work.
const PRIORITY: i32 = -20;

/// Runs the program that it is told over stdin.
pub(crate) fn main() -> ExitCode {
    let Ok(control) = fcntl_dupfd_cloexec(stdin(), 3) else { return ExitCode::FAILURE };
    let mut control = UnixStream::from(control);
    let (report, after) = match begin(&control) {
        Ok(None) => return ExitCode::SUCCESS,
        Ok(Some(mut scene)) => (scene.play(&mut control), scene.after),
        Err(error) => (Err(error), None),
    };
    let report = report.unwrap_or_else(|error| Report::NotStarted { why: error.to_string(), is_refusal: false });
    // Where nobody listens any more there is nobody to tell.
    let _ = wire::send(&mut control, &report);
    after::see_to(&mut control, after);
    ExitCode::SUCCESS
}

/// A program at work, and what belongs to it.
struct Scene {
    /// The program, or the first process of the namespaces that it is in.
    program: Pid,
    is_init: bool,
    /// How the program has ended: its exit code or the signal.
    ended: Option<(Option<i32>, Option<i32>)>,
    /// Tells when the program has ended.
    pidfd: OwnedFd,
    /// What the second stage says, until it closes.
    channel: Option<BufReader<UnixStream>>,
    /// Whether it has said anything.
    is_heard: bool,
    /// Reports that Interlock has not been sent yet.
    unsent: Vec<Report>,
    /// Whether Interlock has said already that it is to end.
    is_stopped: bool,
    /// Tells that this process itself is to end.
    signals: UnixStream,
    guard: Guard,
    temp: TempDir,
    cgroups: Cgroups,
    usage: Usage,
    /// The command to run afterwards.
    after: Option<After>,
}

/// What came over the socket, or did not.
enum Heard {
    Nothing,
    Stop,
    Gone,
}

/// What comes over the socket first; nothing where nobody is there any more who would have it carried out.
fn order(control: &UnixStream, signals: &UnixStream) -> io::Result<Option<(Order, bool)>> {
    let mut polled = [PollFd::new(control, PollFlags::IN), PollFd::new(signals, PollFlags::IN)];
    while let Err(rustix::io::Errno::INTR) = poll(&mut polled, None) {}
    // Told to end before there is anything to do.
    if !polled[1].revents().is_empty() {
        return Ok(None);
    }
    let mut reader = BufReader::new(control);
    let order: Order = match wire::receive(&mut reader) {
        Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => return Ok(None),
        order => order?,
    };
    // By its name it is waited for should Interlock end. Only then is it asked whether Interlock has: so a program either is not started or is
    // known to whoever comes after.
    let name = std::ffi::CString::new(name_of(&order.mark)).map_err(io::Error::other)?;
    rustix::thread::set_name(&name)?;
    let mut polled = [PollFd::new(control, PollFlags::IN)];
    poll(&mut polled, Some(&Timespec { tv_sec: 0, tv_nsec: 0 }))?;
    // What follows the order is the word to stop, if anything.
    let is_stopped = !reader.buffer().is_empty();
    Ok((!polled[0].revents().contains(PollFlags::HUP)).then_some((order, is_stopped)))
}

fn begin(control: &UnixStream) -> io::Result<Option<Scene>> {
    // A session of its own: keys typed at Interlock's terminal are not for it.
    let _ = setsid();
    let (signals, ours) = UnixStream::pair()?;
    for signal in [SIGTERM, SIGINT, SIGHUP] {
        signal_hook::low_level::pipe::register(signal, ours.try_clone()?)?;
    }
    set_child_subreaper(Some(rustix::process::getpid()))?;
    let nowhere = File::options().read(true).write(true).open("/dev/null")?;
    dup2_stdin(&nowhere)?;
    // Whatever else Interlock was started with is not for the program.
    close_fds::set_fds_cloexec(3, &[]);
    let mut stage = Stage::prepare()?;
    let cgroups = Cgroups::around(stage.program);
    let furnished = match order(control, &signals) {
        Ok(Some((order, is_stopped))) => {
            furnish(&mut stage, order, &cgroups, &nowhere).map(|furnished| Some((furnished, is_stopped)))
        }
        Ok(None) => Ok(None),
        Err(error) => Err(error),
    };
    match furnished {
        Ok(Some((Furnished { pidfd, guard, temp, usage, after }, is_stopped))) => {
            let Stage { program, channel, is_init, .. } = stage;
            let channel = Some(channel);
            let (ended, is_heard) = (None, false);
            Ok(Some(Scene {
                program,
                is_init,
                ended,
                pidfd,
                channel,
                is_heard,
                unsent: Vec::new(),
                is_stopped,
                signals,
                guard,
                temp,
                cgroups,
                usage,
                after,
            }))
        }
        nothing => {
            stage.dismiss();
            cgroups.remove();
            nothing.map(|_| None)
        }
    }
}

/// What belongs to one order.
struct Furnished {
    pidfd: OwnedFd,
    guard: Guard,
    temp: TempDir,
    usage: Usage,
    after: Option<After>,
}

/// Gives the second stage its task, with all that belongs to it.
fn furnish(stage: &mut Stage, mut order: Order, cgroups: &Cgroups, nowhere: &File) -> io::Result<Furnished> {
    let (temp, after) = (private(&order)?, order.after.take());
    let guard = guard(&order);
    if let Some(other) = other_stage(stage, &order, &temp, &guard)? {
        cgroups.take_in(other.program)?;
        std::mem::replace(stage, other).dismiss();
    }
    // After that start, so that the program does not have it, too.
    let _ = setpriority_process(None, PRIORITY);
    // Its output is the program's alone: whoever reads it sees its end.
    dup2_stdout(nowhere)?;
    dup2_stderr(nowhere)?;
    let pidfd = pidfd_open(stage.program, PidfdFlags::empty())?;
    cgroups.limit(&order.rules.limits)?;
    let mut enforced = enforced(&order, &guard, cgroups);
    if order.rules.sandbox == Kind::Landlock {
        enforced.missing.extend(stage.why_not.take().map(|why| format!("no namespaces: {why}")));
    }
    let task = Task { temp: temp.path().to_owned(), enforced, order };
    // Where it has ended already, that shows later.
    let _ = wire::send(stage.channel.get_mut(), &task);
    let usage = Usage::new(&task.order.rules, temp.path(), u64::from(stage.is_init));
    Ok(Furnished { pidfd, guard, temp, usage, after })
}

fn private(order: &Order) -> io::Result<TempDir> {
    let only_mine = std::fs::Permissions::from_mode(0o700);
    tempfile::Builder::new().prefix("interlock-").permissions(only_mine).tempdir_in(&order.temp)
}

/// The stage that an order needs, if it is another than the one that is ready.
fn other_stage(ready: &Stage, order: &Order, temp: &TempDir, guard: &Guard) -> io::Result<Option<Stage>> {
    match (order.rules.sandbox, order.rules.namespaces) {
        (Kind::Bubblewrap, _) => Stage::start(bubblewrapped(order, temp, guard)?).map(Some),
        (Kind::Landlock, Namespaces::Auto) => Ok(None),
        _ if !ready.is_init => Ok(None),
        (Kind::Landlock, Namespaces::Off) => Stage::plain("the settings say so".into()).map(Some),
        (Kind::None, _) => Stage::plain("there is no sandbox".into()).map(Some),
    }
}

/// Keeps the files that the program must not change.
fn guard(order: &Order) -> Guard {
    let rules = &order.rules;
    if rules.sandbox == Kind::None {
        return Guard::default();
    }
    let mut tops = repository::git_folders(&rules.workspace);
    tops.push(rules.workspace.clone());
    Guard::new(protected::of(rules, &order.folder), &rules.write, &tops)
}

fn bubblewrapped(order: &Order, temp: &TempDir, guard: &Guard) -> io::Result<Command> {
    let program = bubblewrap::program().ok_or_else(|| io::Error::other("bubblewrap is not installed"))?;
    let mut command = Command::new(program);
    command.args(bubblewrap::arguments(order, temp.path(), guard, &std::env::current_exe()?));
    Ok(command)
}

fn enforced(order: &Order, guard: &Guard, cgroups: &Cgroups) -> Enforced {
    let by = |has_group: bool| (["supervisor"].into_iter().chain(has_group.then_some("cgroup"))).map(str::to_owned);
    Enforced {
        sandbox: order.rules.sandbox,
        network: order.rules.network,
        protected: guard.paths().map(|path| path.display().to_string()).collect(),
        limits: order.rules.limits,
        processes_by: by(cgroups.counts_processes()).collect(),
        memory_by: by(cgroups.memory.is_some()).collect(),
        missing: guard.missing.clone(),
        ..Enforced::default()
    }
}

impl Scene {
    /// Until nothing is left.
    fn play(&mut self, control: &mut UnixStream) -> io::Result<Report> {
        let over = self.attend(control);
        let left = self.end_all();
        self.pass_on(control);
        let mut breaches = self.guard.restore();
        let ended_by_kernel = self.cgroups.memory.as_ref().and_then(|group| self.usage.ended_by_kernel(group));
        self.cgroups.remove();
        remove(&self.temp);
        let limit = over?.or(ended_by_kernel);
        let rule = limit.as_ref().map(|breach| breach.rule.clone());
        breaches.extend(limit);
        let (code, signal) = self.ended.unwrap_or_default();
        if !self.is_heard && code.is_some() {
            // Bubblewrap, say, where the user may not make namespaces. It says why on the program's stderr.
            let why = "the sandbox could not be made; what made it says why on stderr".to_owned();
            return Ok(Report::NotStarted { why, is_refusal: true });
        }
        Ok(Report::Ended(Ended { code, signal, limit: rule, breaches, left }))
    }

    /// Until the program has ended or is to end now. The limit that was broken, if that is why.
    fn attend(&mut self, control: &mut UnixStream) -> io::Result<Option<Breach>> {
        let (mut every, mut stop_until) = (FIRST_LOOK, None);
        let mut look_at = Instant::now() + every;
        loop {
            let glance_at = look_at.min(Instant::now() + GLANCE_EVERY);
            let until = stop_until.map_or(glance_at, |stop: Instant| stop.min(glance_at));
            let heard = if std::mem::take(&mut self.is_stopped) { Heard::Stop } else { self.listen(control, until)? };
            match heard {
                Heard::Gone => return Ok(None),
                Heard::Stop if stop_until.is_none() => {
                    tree::signal_all(Signal::TERM);
                    stop_until = Some(Instant::now() + GRACE);
                }
                Heard::Stop | Heard::Nothing => {}
            }
            self.pass_on(control);
            let is_empty = self.reap();
            let (has_ended, now) = (self.ended.is_some(), Instant::now());
            if is_empty || (has_ended && stop_until.is_none()) || stop_until.is_some_and(|stop| now >= stop) {
                self.pass_on(control);
                return Ok(None);
            }
            if now >= look_at || self.usage.is_growing() {
                if let Some(breach) = self.usage.look(self.cgroups.memory.as_ref()) {
                    return Ok(Some(breach));
                }
                every = (every * 2).min(LOOK_EVERY_MAX);
                look_at = now + every;
            }
        }
    }

    /// Waits for something to happen.
    fn listen(&self, control: &mut UnixStream, until: Instant) -> io::Result<Heard> {
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
        let mut said = [0; 64];
        match (is_signalled, is_spoken_to) {
            (true, _) => Ok(Heard::Gone),
            (_, true) => Ok(if control.read(&mut said)? == 0 { Heard::Gone } else { Heard::Stop }),
            _ => Ok(Heard::Nothing),
        }
    }

    /// Hands on what the other stages have said so far.
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

    /// Takes in one line of what another stage says, or its end.
    fn hear(&mut self) {
        let Some(channel) = &mut self.channel else { return };
        match wire::receive::<Said>(channel) {
            // How it ended and what it did is said by this process alone.
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

    /// Takes leave of all that have ended. Whether nobody is left.
    fn reap(&mut self) -> bool {
        loop {
            match wait(WaitOptions::NOHANG) {
                Ok(Some((pid, status))) if pid == self.program => {
                    // How the program ended was said before, if it is not this process. Nobody holds the other end any more.
                    while self.is_init && self.channel.is_some() {
                        self.hear();
                    }
                    // The first process of namespaces has no success to report for the program.
                    let code = status.exit_status().filter(|code| !self.is_init || *code != 0);
                    self.ended.get_or_insert((code, status.terminating_signal()));
                }
                Ok(Some(_)) | Err(rustix::io::Errno::INTR) => {}
                Ok(None) => return false,
                Err(_) => return true,
            }
        }
    }

    /// Waits for the end of the first process for a while.
    fn await_end(&self, at_most: Duration) {
        let Ok(at_most) = Timespec::try_from(at_most) else { return };
        let _ = poll(&mut [PollFd::new(&self.pidfd, PollFlags::IN)], Some(&at_most));
    }

    /// Ends whatever is there. How many could not be ended.
    fn end_all(&mut self) -> u64 {
        let deadline = Instant::now() + ENDING_MAX;
        let mut pause = Duration::from_micros(200);
        // At once: the kernel lets nobody in the group make another meanwhile. Only now, while the number cannot be somebody else's.
        let _ = rustix::process::kill_process_group(self.program, Signal::KILL);
        if self.is_init {
            // The kernel ends the rest of its namespace with it, which is quicker than to look for everybody.
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

/// Removes the private directory, also where the program has taken rights away in it.
fn remove(temp: &TempDir) {
    if std::fs::remove_dir_all(temp.path()).is_ok() {
        return;
    }
    let mut open = vec![temp.path().to_owned()];
    while let Some(folder) = open.pop() {
        let _ = std::fs::set_permissions(&folder, std::fs::Permissions::from_mode(0o700));
        let entries = std::fs::read_dir(&folder).into_iter().flatten().flatten();
        open.extend(
            entries.filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir())).map(|entry| entry.path()),
        );
    }
    let _ = std::fs::remove_dir_all(temp.path());
}
