//! Programs: started in a group of their own, watched, and gone with everything they started when the try is over.
//!
//! A program is started by a small shell script that reads a pipe of ours beside it. The pipe closes when this process ends,
//! however it ends; the script then kills the group. So nothing goes on writing into a workspace that is about to be put back.

use std::{
    collections::BTreeMap,
    ffi::OsString,
    io::Write,
    os::unix::{fs::PermissionsExt, process::ExitStatusExt},
    path::{Path, PathBuf},
    process::{ExitStatus, Stdio},
    sync::Arc,
    time::{Duration, Instant},
};

use interlock_activity::{Attempt, Outcome, code};
use interlock_journal::Evidence;
use rustix::process::{Pid, Signal, kill_process_group, test_kill_process_group};
use tokio::process::{Child, ChildStdin, Command};

use super::{
    leftovers::{MARK, end_leftovers},
    output::{Shown, Stream, Tell},
};

/// From the request to end until the end is forced.
const GRACE: Duration = Duration::from_secs(2);
const BETWEEN_LOOKS: Duration = Duration::from_millis(10);

/// How long to wait for the end of output after the program is gone: somebody else may still hold it open.
const REST: Duration = Duration::from_secs(1);

/// What a program gets to see of the environment, besides everything that begins with `LC_`.
const INHERITED: [&str; 6] = ["PATH", "HOME", "LANG", "TERM", "TMPDIR", "USER"];

/// Watches the pipe, from outside the program's family, then becomes the program. `$1` is a file with what it is to read.
const SCRIPT: &str = r#"
exec 3<&0
( { while read -r line <&3; do :; done; kill -9 0; } </dev/null >/dev/null 2>&1 & )
if [ -n "$1" ]; then exec <"$1"; rm -f -- "$1"; else exec </dev/null; fi
shift
exec 3<&- "$@"
"#;

/// A program to run.
#[derive(Clone, Debug)]
pub(crate) struct Plan {
    /// The program, found already, and its arguments.
    pub(crate) words: Vec<OsString>,
    pub(crate) folder: PathBuf,
    pub(crate) env: BTreeMap<String, String>,
    pub(crate) stdin: Vec<u8>,
    pub(crate) timeout: Option<Duration>,
    pub(crate) output_bytes_max: u64,
    pub(crate) tell: [Tell; 2],
}

/// How a program came to its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum How {
    Exited { code: i64, signal: Option<i64> },
    TimedOut,
    Cancelled,
}

/// A program that has ended.
pub(crate) struct Ended {
    pub(crate) how: How,
    pub(crate) stdout: Stream,
    pub(crate) stderr: Stream,
    pub(crate) shown: Arc<Shown>,
    pub(crate) duration: Duration,
}

/// Runs a program to its end. An error where it could not be started or listened to.
pub(crate) async fn run(attempt: &Attempt, plan: &Plan) -> Result<Ended, String> {
    let failed = |error: std::io::Error| error.to_string();
    if let Some(folder) = attempt.live.parent() {
        std::fs::create_dir_all(folder).map_err(failed)?;
    }
    let mut stdout = Stream::new("stdout", plan.output_bytes_max, plan.tell[0], attempt).map_err(failed)?;
    let mut stderr = Stream::new("stderr", plan.output_bytes_max, plan.tell[1], attempt).map_err(failed)?;
    let shown = Shown::new(attempt);
    let begun = Instant::now();
    let stdin = stdin_file(attempt, &plan.stdin).map_err(failed)?;
    let spawned = command(attempt, plan, stdin.as_deref()).spawn();
    if let (Err(_), Some(stdin)) = (&spawned, &stdin) {
        let _ = std::fs::remove_file(stdin);
    }
    let mut child = spawned.map_err(failed)?;
    let mut group = Group::new(&mut child);
    let (out, err) = (child.stdout.take(), child.stderr.take());
    let how = {
        let listen = async { tokio::join!(stdout.pump(out, &shown), stderr.pump(err, &shown)) };
        let end = end(attempt, plan, &mut child, &mut group);
        tokio::pin!(listen, end);
        tokio::select! {
            how = &mut end => {
                let _ = tokio::time::timeout(REST, listen).await;
                how?
            }
            // It may close its output long before it ends.
            _ = &mut listen => end.await?,
        }
    };
    stdout.finish(&shown);
    stderr.finish(&shown);
    Ok(Ended { how, stdout, stderr, shown, duration: begun.elapsed() })
}

/// Waits for the program, the clock and whoever may stop it; afterwards nothing of it is left.
async fn end(attempt: &Attempt, plan: &Plan, child: &mut Child, group: &mut Group) -> Result<How, String> {
    let mut cancel = attempt.cancel.clone();
    let timeout = async {
        match plan.timeout {
            Some(timeout) => tokio::time::sleep(timeout).await,
            None => std::future::pending().await,
        }
    };
    let how = tokio::select! {
        status = child.wait() => exited(status.map_err(|error| error.to_string())?),
        () = timeout => How::TimedOut,
        () = cancel.cancelled() => How::Cancelled,
    };
    group.stop_unless(matches!(how, How::Exited { .. }), child).await?;
    let mark = attempt.live.clone();
    let _ = tokio::task::spawn_blocking(move || end_leftovers(&mark)).await;
    Ok(how)
}

fn exited(status: ExitStatus) -> How {
    let signal = status.signal().map(i64::from);
    // As shells say it.
    let code = status.code().map(i64::from).or_else(|| signal.map(|signal| 128 + signal)).unwrap_or(-1);
    How::Exited { code, signal }
}

fn stdin_file(attempt: &Attempt, content: &[u8]) -> std::io::Result<Option<PathBuf>> {
    if content.is_empty() {
        return Ok(None);
    }
    let mut file = tempfile::Builder::new().tempfile_in(attempt.live.parent().unwrap_or(&attempt.folder))?;
    file.write_all(content)?;
    // The script removes it as soon as it is open.
    let (_, path) = file.keep().map_err(|error| error.error)?;
    Ok(Some(path))
}

fn command(attempt: &Attempt, plan: &Plan, stdin: Option<&Path>) -> Command {
    let mut command = Command::new("/bin/sh");
    command.args(["-c", SCRIPT, "interlock"]).arg(stdin.unwrap_or(Path::new(""))).args(&plan.words);
    command.current_dir(&plan.folder).env_clear().envs(inherited()).envs(&plan.env);
    command.env("INTERLOCK_RUN", &*attempt.run).env(MARK, &attempt.live);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command.process_group(0).kill_on_drop(true);
    command
}

/// What of our own environment programs see.
pub(crate) fn inherited() -> impl Iterator<Item = (OsString, OsString)> {
    std::env::vars_os()
        .filter(|(name, _)| name.to_str().is_some_and(|name| INHERITED.contains(&name) || name.starts_with("LC_")))
}

/// The file of a program: by its path, or by its name as a shell looks for it.
pub(crate) fn find(program: &str, folder: &Path, env: &BTreeMap<String, String>) -> Result<PathBuf, String> {
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

/// The process group of a program. Where it is dropped before its end, as when the whole runtime is, the group is killed.
struct Group {
    pid: Option<Pid>,
    /// The pipe that the script watches.
    _lifeline: Option<ChildStdin>,
}

impl Group {
    fn new(child: &mut Child) -> Self {
        let pid = child.id().and_then(|id| Pid::from_raw(i32::try_from(id).ok()?));
        Group { pid, _lifeline: child.stdin.take() }
    }

    async fn stop_unless(&mut self, has_ended: bool, child: &mut Child) -> Result<(), String> {
        match has_ended {
            true => {
                self.kill();
                Ok(())
            }
            false => self.stop(child).await,
        }
    }

    /// Asks all of them to end, then makes them.
    async fn stop(&mut self, child: &mut Child) -> Result<(), String> {
        let Some(pid) = self.pid else { return Ok(()) };
        let _ = kill_process_group(pid, Signal::TERM);
        let deadline = Instant::now() + GRACE;
        while Instant::now() < deadline {
            let has_ended = child.try_wait().map_err(|error| error.to_string())?.is_some();
            if has_ended && test_kill_process_group(pid).is_err() {
                self.pid = None;
                return Ok(());
            }
            tokio::time::sleep(BETWEEN_LOOKS).await;
        }
        self.kill();
        child.wait().await.map(drop).map_err(|error| error.to_string())
    }

    fn kill(&mut self) {
        if let Some(pid) = self.pid.take() {
            // Nobody left is fine.
            let _ = kill_process_group(pid, Signal::KILL);
        }
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        self.kill();
    }
}

/// What a program left, kept as evidence.
pub(crate) async fn keep(attempt: &Attempt, streams: Vec<Stream>) -> Result<Vec<Evidence>, Outcome> {
    let attempt = attempt.clone();
    let kept = tokio::task::spawn_blocking(move || {
        streams.into_iter().filter_map(|stream| stream.keep(&attempt).transpose()).collect::<Result<Vec<_>, _>>()
    });
    let wrong =
        |why: String| Outcome::error(code::NOT_KEPT, format!("the output of an attempt could not be kept: {why}"));
    kept.await.map_err(|error| wrong(error.to_string()))?.map_err(wrong)
}

/// The error of a program that did not come to its own end.
pub(crate) fn not_ended(how: How, plan: &Plan, ended_after: Duration) -> Option<Outcome> {
    match how {
        How::Exited { .. } => None,
        How::TimedOut => {
            let seconds = plan.timeout.unwrap_or(ended_after).as_secs_f64();
            Some(Outcome::error(code::TIMEOUT, format!("it did not end within {seconds} seconds and was stopped")))
        }
        How::Cancelled => Some(Outcome::error(code::CANCELLED, "it was stopped")),
    }
}
