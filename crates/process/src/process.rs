//! Programs: started in the sandbox, read while they run, and ended with all their children when the attempt is over.
//!
//! The sandbox's launcher starts and ends them; this side holds one end of a socket to it. The socket closes when
//! this process ends, for any reason, and then the launcher ends the program. So no program keeps writing into a
//! workspace that is about to be restored.

use std::{
    collections::BTreeMap,
    ffi::OsString,
    io::Write,
    os::unix::fs::PermissionsExt,
    path::{Path, PathBuf},
    process::Child,
    sync::Arc,
    time::{Duration, Instant},
};

use interlock_activity::{Attempt, Outcome, code};
use interlock_journal::Evidence;
use interlock_sandbox::{After, Enforced, LaunchOrder, Launcher, ProgramEnd, Report, Rules, STOP};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{UnixStream, unix::OwnedReadHalf, unix::OwnedWriteHalf},
    process::{ChildStderr, ChildStdout},
};

use crate::{
    held,
    leftovers::{MARK, end_leftovers},
    output::{Shown, Stream, Tell},
    spare::Spare,
};

/// The longest time that the launcher may take to stop a program: its grace period plus a margin for a busy computer.
const STOPPING_MAX: Duration = Duration::from_secs(20);

/// The time to wait for the end of output after the program is gone: another process may still hold the pipe open.
const REST: Duration = Duration::from_secs(1);

/// The environment variables that a program inherits, besides those that begin with `LC_`.
const INHERITED: [&str; 5] = ["PATH", "HOME", "LANG", "TERM", "USER"];

/// The first argument of the command that keeps a workspace's changes.
const KEEP: &str = "__keep";

/// The code of the error that a program cannot be confined as required.
pub const SANDBOX: &str = "SANDBOX";

/// The code of the error that a program exceeded a limit.
const LIMIT: &str = "LIMIT";

/// A program to run, with its input and its rules.
#[derive(Clone, Debug)]
pub struct Plan {
    /// The path of the program, already resolved, and its arguments.
    pub words: Vec<OsString>,
    /// The program's working directory.
    pub folder: PathBuf,
    /// Variables in addition to the inherited ones.
    pub env: BTreeMap<String, String>,
    /// The program's standard input.
    pub stdin: Vec<u8>,
    /// The time after which the program is stopped.
    pub timeout: Option<Duration>,
    /// The number of bytes kept of each stream.
    pub output_bytes_max: u64,
    /// The lines of standard output and of standard error that are reported as progress.
    pub tell: [Tell; 2],
    /// The permissions and limits of the program.
    pub rules: Rules,
    /// The launcher that starts the program.
    pub launcher: Launcher,
}

/// The way a program ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum How {
    /// The program ended by itself or by a signal.
    Exited {
        /// The exit code; 128 plus the signal number if a signal ended the program.
        code: i64,
        /// The signal that ended the program, if any.
        signal: Option<i64>,
    },
    /// The program exceeded its timeout.
    TimedOut,
    /// The attempt was cancelled.
    Cancelled,
    /// The program was stopped because it exceeded a limit; the text names the limit.
    Limited(String),
}

/// The result of a program that has ended.
#[derive(Debug)]
pub struct ProgramResult {
    /// The way the program ended.
    pub how: How,
    /// The program's standard output.
    pub stdout: Stream,
    /// The program's standard error.
    pub stderr: Stream,
    /// Both streams as they were shown live.
    pub shown: Arc<Shown>,
    /// The time from start to end.
    pub duration: Duration,
    /// The confinement that applied to the program.
    pub confined: Confined,
}

/// The enforced rules, and the launcher's report about the program's end.
#[derive(Clone, Debug, Default)]
pub struct Confined {
    /// The enforced rules, if the program was started.
    pub enforced: Option<Enforced>,
    /// The launcher's report about the program's end, with the breaches of rules.
    pub ended: ProgramEnd,
}

/// Runs a program to its end. Returns an outcome as the error if the program could not be started or its launcher
/// died.
pub async fn run(attempt: &Attempt, plan: &Plan) -> Result<ProgramResult, Outcome> {
    let failed = |error: std::io::Error| not_started(&error.to_string());
    if let Some(folder) = attempt.live.parent() {
        std::fs::create_dir_all(folder).map_err(failed)?;
    }
    let mut stdout = Stream::new("stdout", plan.output_bytes_max, plan.tell[0], attempt).map_err(failed)?;
    let mut stderr = Stream::new("stderr", plan.output_bytes_max, plan.tell[1], attempt).map_err(failed)?;
    let shown = Shown::new(attempt);
    let begun = Instant::now();
    let mut program = Program::start(attempt, plan).await.map_err(failed)?;
    let (out, err) = (program.stdout.take(), program.stderr.take());
    let ended = {
        let listen = async { tokio::join!(stdout.pump(out, &shown), stderr.pump(err, &shown)) };
        let end = program.end(attempt, plan);
        tokio::pin!(listen, end);
        tokio::select! {
            how = &mut end => {
                let _ = tokio::time::timeout(REST, listen).await;
                how
            }
            // A program may close its output long before it ends.
            _ = &mut listen => end.await,
        }
    };
    stdout.finish(&shown);
    stderr.finish(&shown);
    let (how, confined) = ended.map_err(|(code, why)| {
        let talk = shown.last_line().map(|line| format!(" ({line})")).unwrap_or_default();
        Outcome::error(code, why + &talk)
    })?;
    Ok(ProgramResult { how, stdout, stderr, shown, duration: begun.elapsed(), confined })
}

/// The reason that a program has no result: an error code and a text.
type Nothing = (&'static str, String);

fn not_started(why: &str) -> Outcome {
    Outcome::error(code::FAILED, not_started_words(why))
}

fn not_started_words(why: &str) -> String {
    format!("it could not be started: {why}")
}

/// A running launcher. When this is dropped, or the whole runtime is, the launcher ends the program and itself.
struct Program {
    /// `None` once the child is waited for or held.
    child: Option<Child>,
    stdout: Option<ChildStdout>,
    stderr: Option<ChildStderr>,
    says: OwnedReadHalf,
    /// `None` once the socket is held for the rest of the attempt.
    hears: Option<OwnedWriteHalf>,
    /// The file of the program's standard input, removed on drop.
    _stdin: Option<tempfile::TempPath>,
}

impl Program {
    async fn start(attempt: &Attempt, plan: &Plan) -> std::io::Result<Self> {
        let stdin = stdin_file(attempt, &plan.stdin)?;
        let order = order(attempt, plan, stdin.as_deref()).to_line()?;
        let Spare { child, socket, .. } = Spare::take(&plan.launcher)?;
        let (says, hears) = UnixStream::from_std(socket)?.into_split();
        let mut program =
            Program { child: Some(child), stdout: None, stderr: None, says, hears: Some(hears), _stdin: stdin };
        if let Some(child) = &mut program.child {
            program.stdout = child.stdout.take().map(ChildStdout::from_std).transpose()?;
            program.stderr = child.stderr.take().map(ChildStderr::from_std).transpose()?;
        }
        program.tell(&order).await;
        let launcher = plan.launcher.clone();
        drop(tokio::task::spawn_blocking(move || Spare::keep_ready(&launcher)));
        Ok(program)
    }

    /// Waits for the end of the program, the timeout or the cancellation. Afterwards no process of the program is
    /// left.
    async fn end(&mut self, attempt: &Attempt, plan: &Plan) -> Result<(How, Confined), Nothing> {
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
            () = timeout => Some(How::TimedOut),
            () = cancel.cancelled() => Some(How::Cancelled),
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
            (Some(child), Some(hears)) if attempt.snapshot.is_some() => held::add(&attempt.live, child, hears),
            (Some(mut child), hears) => {
                drop(hears);
                let _ = tokio::time::timeout(STOPPING_MAX, tokio::task::spawn_blocking(move || child.wait())).await;
            }
            (None, _) => {}
        }
        heard.conclude(stopped)
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
        Ok((how, Confined { enforced: self.enforced, ended }))
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
        temp: std::env::temp_dir(),
        rules: plan.rules.clone(),
        after: after(attempt, plan),
    }
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

fn stdin_file(attempt: &Attempt, content: &[u8]) -> std::io::Result<Option<tempfile::TempPath>> {
    if content.is_empty() {
        return Ok(None);
    }
    let mut file = tempfile::Builder::new().tempfile_in(attempt.live.parent().unwrap_or(&attempt.folder))?;
    file.write_all(content)?;
    Ok(Some(file.into_temp_path()))
}

/// Returns the variables of our environment that programs inherit.
pub fn inherited() -> impl Iterator<Item = (OsString, OsString)> {
    std::env::vars_os()
        .filter(|(name, _)| name.to_str().is_some_and(|name| INHERITED.contains(&name) || name.starts_with("LC_")))
}

/// Resolves a program to its file: by path, or by name in `PATH` as a shell does.
pub fn find(program: &str, folder: &Path, env: &BTreeMap<String, String>) -> Result<PathBuf, String> {
    let is_program = |path: &PathBuf| {
        std::fs::metadata(path).is_ok_and(|about| about.is_file() && about.permissions().mode() & 0o111 != 0)
    };
    if program.contains('/') {
        return Some(folder.join(program))
            .filter(is_program)
            .ok_or_else(|| format!("`{program}` is not a program that can be started"));
    }
    let path = env.get("PATH").map(OsString::from).or_else(|| std::env::var_os("PATH")).unwrap_or_default();
    let mut found = std::env::split_paths(&path).map(|place| folder.join(place).join(program)).filter(is_program);
    found.next().ok_or_else(|| format!("there is no program called `{program}`"))
}

/// Stores the output of a program as evidence, together with the enforced rules.
pub async fn keep(attempt: &Attempt, streams: Vec<Stream>, confined: Confined) -> Result<Vec<Evidence>, Outcome> {
    let attempt = attempt.clone();
    let kept = tokio::task::spawn_blocking(move || {
        let streams = streams.into_iter().map(|stream| stream.keep(&attempt));
        let all = streams.chain(std::iter::once_with(|| confined.keep(&attempt)));
        all.filter_map(Result::transpose).collect::<Result<Vec<_>, _>>()
    });
    let wrong = |why: String| Outcome::not_stored(format!("the output of an attempt could not be stored: {why}"));
    kept.await.map_err(|error| wrong(error.to_string()))?.map_err(wrong)
}

impl Confined {
    /// Stores the enforced rules. The text is equal for all programs with equal rules and no breaches, so it is
    /// stored once.
    fn keep(&self, attempt: &Attempt) -> Result<Option<Evidence>, String> {
        let Some(enforced) = &self.enforced else { return Ok(None) };
        let said =
            serde_json::json!({ "enforced": enforced, "breaches": self.ended.breaches, "left": self.ended.left });
        let kept = attempt.evidence.put("sandbox", "application/json", format!("{said:#}\n").as_bytes());
        kept.map(Some).map_err(|error| error.to_string())
    }
}

/// Returns the error of a program that was stopped before its end, or `None` if it exited.
pub fn not_ended(how: &How, plan: &Plan, ended_after: Duration) -> Option<Outcome> {
    match how {
        How::Exited { .. } => None,
        How::TimedOut => {
            let seconds = plan.timeout.unwrap_or(ended_after).as_secs_f64();
            Some(Outcome::error(code::TIMEOUT, format!("it did not end within {seconds} seconds and was stopped")))
        }
        How::Cancelled => Some(Outcome::cancelled("it was stopped")),
        How::Limited(why) => Some(Outcome::error(LIMIT, format!("it was stopped: {why}"))),
    }
}
