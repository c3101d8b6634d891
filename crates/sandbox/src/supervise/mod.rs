//! The first stage of a launcher: it stays outside of the sandbox and looks after what is inside.
//!
//! It gets the second stage ready, and its control group, before it has an order, because a kernel takes its time for that: whoever starts it
//! before there is an order waits the less for it.
//!
//! It holds one end of a socket; Interlock holds the other. Whatever happens to Interlock, the socket closes with it. This process is the
//! "subreaper" of everything below: whoever loses its parent becomes its child. So "is anything left?" has one answer, which no double
//! fork, new session, cleared environment or ignored signal can change: whether there is a child to wait for.

mod cgroup;
mod tree;
mod usage;

use std::{
    fs::File,
    io::{self, BufReader, Read},
    os::unix::{fs::PermissionsExt, net::UnixStream},
    process::{Command, ExitCode, Stdio},
    time::{Duration, Instant},
};

use rustix::{
    event::{PollFd, PollFlags, Timespec, poll},
    fd::OwnedFd,
    io::fcntl_dupfd_cloexec,
    process::{
        Pid, PidfdFlags, Signal, WaitOptions, WaitStatus, pidfd_open, set_child_subreaper, setpriority_process, setsid,
        wait, waitpid,
    },
    stdio::{dup2_stderr, dup2_stdin, dup2_stdout, stdin},
};
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use tempfile::TempDir;

use crate::{
    Breach, CONFINE, Ended, Enforced, Kind, Order, Report, bubblewrap, confine::Task, guard::Guard, launcher::name_of,
    repository, wire,
};
use cgroup::Cgroup;
use usage::Usage;

/// From the request to end until the end is forced.
const GRACE: Duration = Duration::from_secs(2);

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
    let report = match begin(&control) {
        Ok(None) => return ExitCode::SUCCESS,
        Ok(Some(mut scene)) => scene.play(&mut control),
        Err(error) => Err(error),
    };
    let report = report.unwrap_or_else(|error| Report::NotStarted { why: error.to_string(), is_refusal: false });
    // Where nobody listens any more there is nobody to tell.
    let _ = wire::send(&mut control, &report);
    ExitCode::SUCCESS
}

/// A program at work, and what belongs to it.
struct Scene {
    program: Pid,
    ended: Option<WaitStatus>,
    /// Tells when the program has ended.
    pidfd: OwnedFd,
    /// What the second stage says, until it closes.
    channel: Option<BufReader<UnixStream>>,
    /// Whether it has said anything.
    is_heard: bool,
    /// Whether Interlock has said already that it is to end.
    is_stopped: bool,
    /// Tells that this process itself is to end.
    signals: UnixStream,
    guard: Guard,
    temp: TempDir,
    cgroup: Option<Cgroup>,
    usage: Usage,
}

/// What came over the socket, or did not.
enum Heard {
    Nothing,
    Stop,
    Gone,
}

/// A second stage that waits for its task.
struct Stage {
    program: Pid,
    channel: UnixStream,
}

impl Stage {
    fn start(mut command: Command) -> io::Result<Self> {
        let (channel, theirs) = UnixStream::pair()?;
        command.env_clear().stdout(Stdio::inherit()).stderr(Stdio::inherit());
        let child = command.stdin(OwnedFd::from(theirs)).spawn()?;
        let program = i32::try_from(child.id()).ok().and_then(Pid::from_raw).ok_or(io::ErrorKind::InvalidData)?;
        Ok(Stage { program, channel })
    }

    /// Waits until it is gone, which it is when nobody has a task for it.
    fn dismiss(self) {
        drop(self.channel);
        while matches!(waitpid(Some(self.program), WaitOptions::empty()), Err(rustix::io::Errno::INTR)) {}
    }
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
    // Also after its file was replaced.
    let mut again = Command::new("/proc/self/exe");
    again.arg(CONFINE);
    let mut stage = Stage::start(again)?;
    let cgroup = Cgroup::around(stage.program);
    let furnished = match order(control, &signals) {
        Ok(Some((order, is_stopped))) => {
            furnish(&mut stage, order, cgroup.as_ref(), &nowhere).map(|furnished| Some((furnished, is_stopped)))
        }
        Ok(None) => Ok(None),
        Err(error) => Err(error),
    };
    match furnished {
        Ok(Some((Furnished { pidfd, guard, temp, usage }, is_stopped))) => {
            let (program, channel) = (stage.program, Some(BufReader::new(stage.channel)));
            let (ended, is_heard) = (None, false);
            Ok(Some(Scene {
                program,
                ended,
                pidfd,
                channel,
                is_heard,
                is_stopped,
                signals,
                guard,
                temp,
                cgroup,
                usage,
            }))
        }
        nothing => {
            stage.dismiss();
            cgroup.into_iter().for_each(Cgroup::remove);
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
}

/// Gives the second stage its task, with all that belongs to it.
fn furnish(stage: &mut Stage, order: Order, cgroup: Option<&Cgroup>, nowhere: &File) -> io::Result<Furnished> {
    let temp = private(&order)?;
    let git = repository::git_folders(&order.rules.workspace);
    let guarded = match order.rules.sandbox {
        Kind::None => Vec::new(),
        _ => git.iter().flat_map(|folder| repository::protected(folder, &order.rules.write)).collect(),
    };
    let guard = Guard::new(guarded);
    if order.rules.sandbox == Kind::Bubblewrap {
        let wrapped = Stage::start(bubblewrapped(&order, &temp, &guard)?)?;
        cgroup.map_or(Ok(()), |cgroup| cgroup.take_in(wrapped.program))?;
        std::mem::replace(stage, wrapped).dismiss();
    }
    // After that start, so that the program does not have it, too.
    let _ = setpriority_process(None, PRIORITY);
    // Its output is the program's alone: whoever reads it sees its end.
    dup2_stdout(nowhere)?;
    dup2_stderr(nowhere)?;
    let pidfd = pidfd_open(stage.program, PidfdFlags::empty())?;
    cgroup.map_or(Ok(()), |cgroup| cgroup.limit(&order.rules.limits))?;
    let enforced = enforced(&order, &guard, cgroup.is_some());
    let task = Task { temp: temp.path().to_owned(), enforced, order };
    // Where it has ended already, that shows later.
    let _ = wire::send(&mut stage.channel, &task);
    let usage = Usage::new(&task.order.rules, temp.path());
    Ok(Furnished { pidfd, guard, temp, usage })
}

fn private(order: &Order) -> io::Result<TempDir> {
    let only_mine = std::fs::Permissions::from_mode(0o700);
    tempfile::Builder::new().prefix("interlock-").permissions(only_mine).tempdir_in(&order.temp)
}

fn bubblewrapped(order: &Order, temp: &TempDir, guard: &Guard) -> io::Result<Command> {
    let program = bubblewrap::program().ok_or_else(|| io::Error::other("bubblewrap is not installed"))?;
    let mut command = Command::new(program);
    command.args(bubblewrap::arguments(order, temp.path(), guard, &std::env::current_exe()?));
    Ok(command)
}

fn enforced(order: &Order, guard: &Guard, has_cgroup: bool) -> Enforced {
    let by = std::iter::once("supervisor").chain(has_cgroup.then_some("cgroup"));
    Enforced {
        sandbox: order.rules.sandbox,
        network: order.rules.network,
        protected: guard.paths().map(|path| path.display().to_string()).collect(),
        limits: order.rules.limits,
        processes_by: by.map(str::to_owned).collect(),
        missing: guard.missing.clone(),
        ..Enforced::default()
    }
}

impl Scene {
    /// Until nothing is left.
    fn play(&mut self, control: &mut UnixStream) -> io::Result<Report> {
        let over = self.attend(control);
        let left = self.end_all();
        let mut breaches = self.guard.restore();
        if let Some(cgroup) = self.cgroup.take() {
            cgroup.remove();
        }
        remove(&self.temp);
        let limit = over?;
        let rule = limit.as_ref().map(|breach| breach.rule.clone());
        breaches.extend(limit);
        let code = self.ended.and_then(WaitStatus::exit_status);
        let signal = self.ended.and_then(WaitStatus::terminating_signal);
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
                if let Some(breach) = self.usage.look() {
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

    /// Hands on what the second stage says; it says little, and all of it before it becomes the program.
    fn pass_on(&mut self, control: &mut UnixStream) {
        let Some(channel) = &mut self.channel else { return };
        let mut polled = [PollFd::new(channel.get_ref(), PollFlags::IN)];
        let now = Timespec { tv_sec: 0, tv_nsec: 0 };
        if channel.buffer().is_empty() && !matches!(poll(&mut polled, Some(&now)), Ok(1..)) {
            return;
        }
        match wire::receive::<Report>(channel) {
            Ok(report) => {
                self.is_heard = true;
                let _ = wire::send(control, &report);
            }
            Err(_) => self.channel = None,
        }
    }

    /// Takes leave of all that have ended. Whether nobody is left.
    fn reap(&mut self) -> bool {
        loop {
            match wait(WaitOptions::NOHANG) {
                Ok(Some((pid, status))) if pid == self.program => self.ended = Some(status),
                Ok(Some(_)) | Err(rustix::io::Errno::INTR) => {}
                Ok(None) => return false,
                Err(_) => return true,
            }
        }
    }

    /// Ends whatever is there. How many could not be ended.
    fn end_all(&mut self) -> u64 {
        let deadline = Instant::now() + ENDING_MAX;
        let mut pause = Duration::from_micros(200);
        // At once: the kernel lets nobody in the group make another meanwhile. Only now, while the number cannot be somebody else's.
        let _ = rustix::process::kill_process_group(self.program, Signal::KILL);
        while !self.reap() {
            if let Some(cgroup) = &self.cgroup {
                cgroup.close();
            }
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
