//! Programs: started in the sandbox, read while they run, and ended with all their children when the attempt is over.
//!
//! The sandbox's launcher starts and ends them; this side holds one end of a socket to it. The socket closes when
//! this process ends, for any reason, and then the launcher ends the program. So no program keeps writing into a
//! workspace that is about to be restored.

#![expect(clippy::disallowed_methods, reason = "these files are in the store, which no program can change")]

use std::{
    collections::BTreeMap,
    ffi::OsString,
    os::unix::fs::PermissionsExt,
    path::{Path, PathBuf},
    sync::Arc,
    time::{Duration, Instant},
};

use interlock_activity::{Attempt, Outcome, code};
use interlock_journal::Evidence;
use interlock_proxy::Destination;
use interlock_sandbox::{Enforced, Launcher, ProgramEnd, Rules};

use crate::{
    output::{Shown, Stream, Tell},
    program::{Input, Nothing, Program, REST, not_started_words},
};

/// The environment variables that a program inherits, besides those that begin with `LC_`.
const INHERITED: [&str; 5] = ["PATH", "HOME", "LANG", "TERM", "USER"];

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
    /// The program's standard output. After a conversation it is empty.
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
    /// The destinations that the program asked for, if it could only reach listed hosts.
    pub destinations: Vec<Destination>,
}

/// Runs a program to its end. Returns an outcome as the error if the program could not be started or its launcher
/// died.
pub async fn run(attempt: &Attempt, plan: &Plan) -> Result<ProgramResult, Outcome> {
    let failed = |error: std::io::Error| not_started(&error);
    let [mut stdout, mut stderr] = streams(attempt, plan).map_err(failed)?;
    let shown = Shown::new(attempt);
    let begun = Instant::now();
    let mut program = Program::start(attempt, plan, Input::File).await.map_err(failed)?;
    let (out, err) = (program.stdout.take(), program.stderr.take());
    let ended = {
        let listen = async { tokio::join!(stdout.pump(out, &shown), stderr.pump(err, &shown)) };
        let end = program.end(attempt, plan, std::future::pending());
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
    let (how, confined) = ended.map_err(|nothing| without_result(nothing, &shown))?;
    Ok(ProgramResult { how, stdout, stderr, shown, duration: begun.elapsed(), confined })
}

/// Creates the streams of standard output and of standard error.
pub(crate) fn streams(attempt: &Attempt, plan: &Plan) -> std::io::Result<[Stream; 2]> {
    if let Some(folder) = attempt.live.parent() {
        std::fs::create_dir_all(folder)?;
    }
    let [out, err] = plan.tell;
    let stream = |name, tell| Stream::new(name, plan.output_bytes_max, tell, attempt);
    Ok([stream("stdout", out)?, stream("stderr", err)?])
}

/// Returns the error of a program that could not be started.
pub(crate) fn not_started(error: &std::io::Error) -> Outcome {
    Outcome::error(code::FAILED, not_started_words(&error.to_string()))
}

/// Returns the outcome of a program that has no result, with the last line that it printed.
pub(crate) fn without_result((code, why): Nothing, shown: &Shown) -> Outcome {
    let talk = shown.last_line().map(|line| format!(" ({line})")).unwrap_or_default();
    Outcome::error(code, why + &talk)
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
        let all = all.chain(std::iter::once_with(|| confined.keep_destinations(&attempt)));
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

impl Confined {
    /// Stores the destinations of a program that asked for any.
    fn keep_destinations(&self, attempt: &Attempt) -> Result<Option<Evidence>, String> {
        if self.destinations.is_empty() {
            return Ok(None);
        }
        let said = serde_json::to_string_pretty(&self.destinations).map_err(|error| error.to_string())?;
        let kept = attempt.evidence.put("network", "application/json", format!("{said}\n").as_bytes());
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
