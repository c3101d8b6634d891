//! A program behind its launcher: started with an order, and waited for until none of its processes is left.
//!
//! This module does not read the program's output: `process.rs` collects it, `conversation.rs` hands it out by lines.

#![expect(clippy::disallowed_methods, reason = "these files are in the store, which no program can change")]

use std::{
    collections::BTreeMap,
    ffi::OsString,
    io::{self, Write},
    os::fd::{AsFd, OwnedFd},
    path::Path,
    process::Child,
    sync::Arc,
    time::Duration,
};

use interlock_activity::{Attempt, code};
use interlock_sandbox::{
    After, Attached, Enforced, INTERRUPT, KEPT, LaunchOrder, MARK, ProgramEnd, Report, STOP, attach, end_leftovers,
    hold,
};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{
        UnixStream,
        unix::{OwnedReadHalf, OwnedWriteHalf, pipe},
    },
    process::{ChildStderr, ChildStdout},
};

use crate::{
    process::{Confined, How, Plan, SANDBOX, inherited},
    spare::Spare,
    way_out::WayOut,
};

/// The longest time that the launcher may take to stop a program: its grace period plus a margin for a busy computer.
const STOPPING_MAX: Duration = Duration::from_secs(20);

/// The time to wait for the end of output after the program is gone: another process may still hold the pipe open.
pub(crate) const REST: Duration = Duration::from_secs(1);

/// The first argument of the command that keeps a workspace's changes.
const KEEP: &str = "__keep";

/// The reason that a program has no result: an error code and a text.
pub(crate) type Nothing = (&'static str, String);

/// The source of a program's standard input.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Input {
    /// A file with the content of [`Plan::stdin`].
    File,
    /// A pipe that stays open while the program runs.
    Pipe,
}

pub(crate) fn not_started_words(why: &str) -> String {
    format!("it could not be started: {why}")
}

/// A running launcher. When this is dropped, or the whole runtime is, the launcher ends the program and itself.
#[derive(Debug)]
pub(crate) struct Program {
    /// `None` once the child is waited for or held.
    child: Option<Child>,
    pub(crate) stdout: Option<ChildStdout>,
    pub(crate) stderr: Option<ChildStderr>,
    /// The writing end of the program's standard input, for [`Input::Pipe`].
    pub(crate) stdin: Option<pipe::Sender>,
    says: OwnedReadHalf,
    /// `None` once the socket is held for the rest of the attempt.
    hears: Option<OwnedWriteHalf>,
    /// The proxy, if the program may only reach listed hosts.
    way_out: Option<WayOut>,
    /// The file of the program's standard input, removed on drop.
    _input_file: Option<tempfile::TempPath>,
}

/// A handle to a running program. The launcher's socket stays open while the handle exists, so the program ends only
/// after it is dropped too.
#[derive(Clone, Debug)]
pub struct Control(Arc<std::os::unix::net::UnixStream>);

impl Control {
    /// Sends `SIGINT` to all processes of the program. The socket does not block, and the request is short.
    pub fn interrupt(&self) -> io::Result<()> {
        (&*self.0).write_all(INTERRUPT)
    }

    /// Sets the attempt whose changes the launcher keeps if this process ends: the program outlives attempts.
    pub fn works_for(&self, attempt: Option<&Attempt>, plan: &Plan) -> io::Result<()> {
        let after = attempt.and_then(|attempt| after(attempt, plan));
        (&*self.0).write_all(&After::to_line(after.as_ref())?)
    }
}

impl Program {
    pub(crate) async fn start(attempt: &Attempt, plan: &Plan, input: Input) -> io::Result<Self> {
        let (input_file, pipe) = match input {
            Input::File => (stdin_file(attempt, &plan.stdin)?, None),
            Input::Pipe => (None, Some(io::pipe()?)),
        };
        let (stdin, theirs) = match pipe {
            Some((theirs, ours)) => (Some(pipe::Sender::from_owned_fd(ours.into())?), Some(theirs)),
            None => (None, None),
        };
        let mut order = order(attempt, plan, input_file.as_deref());
        let mut attached: Vec<(Attached, OwnedFd)> = Vec::new();
        attached.extend(theirs.map(|theirs| (Attached::Stdin, theirs.into())));
        let way_out = WayOut::open(&plan.rules)?.map(|(way_out, theirs)| {
            attached.push((Attached::Listeners, theirs));
            lead_to(&way_out, plan, &mut order);
            way_out
        });
        order.attached = attached.iter().map(|(used, _)| *used).collect();
        let order = order.to_line()?;
        let Spare { child, socket, .. } = Spare::take(&plan.launcher)?;
        let files: Vec<_> = attached.iter().map(|(_, file)| file.as_fd()).collect();
        let rest = attach(&socket, &order, &files)?;
        let (says, hears) = UnixStream::from_std(socket)?.into_split();
        let (stdout, stderr, hears) = (None, None, Some(hears));
        let child = Some(child);
        let mut program = Program { child, stdout, stderr, stdin, says, hears, way_out, _input_file: input_file };
        if let Some(child) = &mut program.child {
            program.stdout = child.stdout.take().map(ChildStdout::from_std).transpose()?;
            program.stderr = child.stderr.take().map(ChildStderr::from_std).transpose()?;
        }
        program.tell(rest).await;
        let launcher = plan.launcher.clone();
        drop(tokio::task::spawn_blocking(move || Spare::keep_ready(&launcher)));
        Ok(program)
    }

    /// Returns a handle to the running program.
    pub(crate) fn control(&self) -> io::Result<Control> {
        let hears = self.hears.as_ref().ok_or(io::ErrorKind::NotConnected)?;
        Ok(Control(Arc::new(rustix::io::dup(hears.as_ref())?.into())))
    }

    /// Waits for the end of the program, the timeout, the cancellation or the request to stop it. Afterwards no
    /// process of the program is left.
    pub(crate) async fn end(
        &mut self,
        attempt: &Attempt,
        plan: &Plan,
        stop: impl Future<Output = ()>,
    ) -> Result<(How, Confined), Nothing> {
        let mut cancel = attempt.cancel.clone();
        let timeout = async {
            match plan.timeout {
                Some(timeout) => tokio::time::sleep(timeout).await,
                None => std::future::pending().await,
            }
        };
        let mut said = Vec::new();
        let stopped = tokio::select! {
            _ = self.says.read_to_end(&mut said) => None,
            () = timeout => Some(Some(How::TimedOut)),
            () = cancel.cancelled() => Some(Some(How::Cancelled)),
            // A program that is stopped on request ends with the exit code or the signal that this leads to.
            () = stop => Some(None),
        };
        if stopped.is_some() {
            self.tell(STOP).await;
            let _ = tokio::time::timeout(STOPPING_MAX, self.says.read_to_end(&mut said)).await;
        }
        let heard = Heard::read(&said);
        if heard.ended.is_none() {
            // The launcher did not report an end, so its programs are searched for and killed here.
            self.child.as_mut().map(Child::kill);
            let mark = attempt.live.clone();
            let _ = tokio::task::spawn_blocking(move || end_leftovers(&mark)).await;
        }
        match (self.child.take(), self.hears.take()) {
            // The launcher stays until the changes of the program are kept.
            (Some(child), Some(hears)) if attempt.snapshot.is_some() => hold_supervisor(&attempt.live, child, hears),
            (Some(mut child), hears) => {
                // The attempt that the program worked for last keeps its changes itself.
                if let Some(mut hears) = hears {
                    let _ = hears.write_all(KEPT).await;
                }
                let _ = tokio::time::timeout(STOPPING_MAX, tokio::task::spawn_blocking(move || child.wait())).await;
            }
            (None, _) => {}
        }
        let destinations = match self.way_out.take() {
            Some(way_out) => way_out.close().await,
            None => Vec::new(),
        };
        let (how, confined) = heard.conclude(stopped.flatten())?;
        Ok((how, Confined { destinations, ..confined }))
    }

    /// Writes to the launcher. A write error means that the launcher has ended, which its read half shows soon.
    async fn tell(&mut self, what: &[u8]) {
        if let Some(hears) = &mut self.hears {
            let _ = hears.write_all(what).await;
        }
    }
}

/// Waits for the child in a thread: a child that is never waited for stays in the process list as a zombie.
impl Drop for Program {
    fn drop(&mut self) {
        if let Some(mut child) = self.child.take() {
            std::thread::spawn(move || child.wait());
        }
    }
}

/// The reports of a launcher.
#[derive(Default)]
struct Heard {
    enforced: Option<Enforced>,
    refused: Option<(String, bool)>,
    ended: Option<ProgramEnd>,
}

impl Heard {
    fn read(said: &[u8]) -> Self {
        let mut heard = Heard::default();
        for line in said.split(|byte| *byte == b'\n') {
            match serde_json::from_slice(line) {
                Ok(Report::Started(enforced)) => heard.enforced = Some(*enforced),
                Ok(Report::NotStarted { why, is_refusal }) => heard.refused = Some((why, is_refusal)),
                Ok(Report::Ended(ended)) => heard.ended = Some(ended),
                Err(_) => {}
            }
        }
        heard
    }

    fn conclude(self, stopped: Option<How>) -> Result<(How, Confined), Nothing> {
        match self.refused {
            Some((why, true)) => return Err((SANDBOX, why)),
            Some((why, false)) => return Err((code::FAILED, not_started_words(&why))),
            None => {}
        }
        let died = || (code::FAILED, "its launcher died, and the programs it had started were ended".to_owned());
        let ended = match (self.ended, &stopped) {
            (Some(ended), _) => ended,
            (None, Some(_)) => ProgramEnd::default(),
            (None, None) => return Err(died()),
        };
        let limit = ended.limit.as_ref().and_then(|rule| ended.breaches.iter().find(|breach| breach.rule == *rule));
        let how = match (stopped, limit) {
            (Some(how), _) => how,
            (None, Some(breach)) => How::Limited(breach.said.clone()),
            (None, None) => exited(&ended),
        };
        Ok((how, Confined { enforced: self.enforced, ended, destinations: Vec::new() }))
    }
}

fn exited(ended: &ProgramEnd) -> How {
    let signal = ended.signal.map(i64::from);
    // The convention of shells: 128 plus the signal number.
    let code = ended.code.map(i64::from).or_else(|| signal.map(|signal| 128 + signal)).unwrap_or(-1);
    How::Exited { code, signal }
}

fn order(attempt: &Attempt, plan: &Plan, stdin: Option<&Path>) -> LaunchOrder {
    let own = plan.env.iter().map(|(name, value)| (name.into(), value.into()));
    let marks =
        [("INTERLOCK_RUN".into(), (&*attempt.run).into()), (MARK.into(), attempt.live.clone().into_os_string())];
    // Later entries override earlier ones.
    let env: BTreeMap<OsString, OsString> = inherited().chain(own).chain(marks).collect();
    LaunchOrder {
        mark: attempt.live.clone(),
        words: plan.words.clone(),
        env: env.into_iter().collect(),
        folder: plan.folder.clone(),
        stdin: stdin.map(Path::to_owned),
        attached: Vec::new(),
        listen: Vec::new(),
        temp: std::env::temp_dir(),
        rules: plan.rules.clone(),
        after: after(attempt, plan),
    }
}

/// Makes a program use the way out: listeners in its network, and variables that the plan does not set itself.
fn lead_to(way_out: &WayOut, plan: &Plan, order: &mut LaunchOrder) {
    order.listen = way_out.listen().to_vec();
    let own = way_out.env().filter(|(name, _)| !plan.env.contains_key(*name));
    order.env.extend(own.map(|(name, value)| (name.into(), value.into())));
}

/// Returns the command that keeps the workspace as the program left it, for the case that this process is gone by
/// then. `interlock_workspace::entry` reads its arguments.
fn after(attempt: &Attempt, plan: &Plan) -> Option<After> {
    let (snapshot, home) = (attempt.snapshot.as_ref()?, plan.rules.store.as_ref()?);
    let words: [OsString; 6] = [
        plan.launcher.keeper().into(),
        KEEP.into(),
        home.into(),
        attempt.folder.clone().into(),
        (&*attempt.run).into(),
        snapshot.into(),
    ];
    let env = ["PATH", "HOME", "XDG_CONFIG_HOME"].into_iter();
    let env = env.filter_map(|name| Some((name.into(), std::env::var_os(name)?))).collect();
    Some(After { words: words.into(), env })
}

/// Leaves a supervisor to the hold of its attempt.
fn hold_supervisor(mark: &Path, child: Child, hears: OwnedWriteHalf) {
    // The read half is dropped already or will be dropped by its reader, so this duplicate then owns the whole
    // socket.
    let Ok(socket) = rustix::io::dup(hears.as_ref()) else { return };
    hears.forget();
    hold(mark, child, socket);
}

fn stdin_file(attempt: &Attempt, content: &[u8]) -> io::Result<Option<tempfile::TempPath>> {
    if content.is_empty() {
        return Ok(None);
    }
    let mut file = tempfile::Builder::new().tempfile_in(attempt.live.parent().unwrap_or(&attempt.folder))?;
    file.write_all(content)?;
    Ok(Some(file.into_temp_path()))
}
