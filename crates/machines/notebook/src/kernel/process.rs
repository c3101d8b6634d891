//! The process of a kernel: confined, in a process group of its own, and watched until it ends.
//!
//! It belongs to a run and not to an attempt, so it is started with an attempt of its own that nothing cancels. When
//! the last handle is dropped, or Interlock ends for any reason, the launcher ends it with all its children.

#![expect(clippy::disallowed_methods, reason = "these files are in the store, which no program can change")]

use std::{path::PathBuf, sync::Arc, time::Duration};

use interlock_activity::{Attempt, Canceller, Ending, Future, Host, Outcome, StartRun, code};
use interlock_core::ActivityId;
use interlock_process::{Control, Conversation, How, Plan, ProgramResult};
use interlock_sandbox::end_leftovers;
use tokio::{sync::watch, task::JoinHandle};

/// The longest wait for the end of a kernel that has closed its output.
const END_MAX: Duration = Duration::from_secs(366 * 24 * 3_600);

/// The number of lines of standard error that explain why a kernel ended.
const LINES: usize = 3;

/// The reason why a kernel is gone.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Death {
    /// The reason, such as `it was ended by signal 9`.
    pub(crate) why: String,
    /// True if it exceeded a limit of the sandbox.
    pub(crate) is_limit: bool,
}

/// A running kernel process. Dropping it ends the process.
#[derive(Debug)]
pub(crate) struct Process {
    task: JoinHandle<()>,
    control: Control,
    plan: Plan,
    gone: watch::Receiver<Option<Death>>,
    live: PathBuf,
}

impl Drop for Process {
    fn drop(&mut self) {
        // This process goes on and keeps the changes of its attempts itself.
        let _ = self.control.works_for(None, &self.plan);
        self.task.abort();
        let _ = std::fs::remove_file(&self.live);
    }
}

impl Process {
    /// Starts the process of a run's kernel.
    pub(crate) async fn start(attempt: &Attempt, plan: &Plan) -> Result<Self, Outcome> {
        let attempt = of_the_run(attempt);
        let mark = attempt.live.clone();
        // A kernel of the same run may be left if the process that ran it was killed together with its launcher.
        let _ = tokio::task::spawn_blocking(move || end_leftovers(&mark)).await;
        let conversation = Conversation::open(&attempt, plan).await?;
        let (tell, gone) = watch::channel(None);
        let (control, plan) = (conversation.control().clone(), plan.clone());
        let live = attempt.live.clone();
        let task = tokio::spawn(async move {
            let death = attend(conversation).await;
            tell.send_replace(Some(death));
        });
        Ok(Process { task, control, plan, gone, live })
    }

    /// Sends `SIGINT` to the kernel and all its children.
    pub(crate) fn interrupt(&self) {
        // If the launcher is gone, the kernel is too.
        let _ = self.control.interrupt();
    }

    /// Sets the attempt that the kernel works for. If this process is killed, the launcher keeps the workspace as the
    /// kernel left it, so that the changes of that attempt can be taken back.
    pub(crate) fn works_for(&self, attempt: &Attempt) {
        let _ = self.control.works_for(Some(attempt), &self.plan);
    }

    /// Returns when the process is gone.
    pub(crate) async fn gone(&mut self) -> Death {
        let unknown = || Death { why: "its watch has failed".to_owned(), is_limit: false };
        match self.gone.wait_for(Option::is_some).await {
            Ok(death) => death.clone().unwrap_or_else(unknown),
            Err(_) => unknown(),
        }
    }

    /// Returns true if the process is gone.
    pub(crate) fn is_gone(&self) -> bool {
        self.gone.borrow().is_some() || self.task.is_finished()
    }
}

/// Reads the output of the process, so that it never blocks, until it ends.
async fn attend(mut conversation: Conversation) -> Death {
    loop {
        match conversation.line().await {
            Ok(Some(_)) => {}
            Err(error) if error.kind() == std::io::ErrorKind::FileTooLarge => {}
            Ok(None) | Err(_) => break,
        }
    }
    match conversation.close(END_MAX).await {
        Ok(result) => death(&result),
        Err(outcome) => Death { why: outcome.message(), is_limit: false },
    }
}

fn death(result: &ProgramResult) -> Death {
    let (why, is_limit) = match &result.how {
        How::Limited(why) => (why.clone(), true),
        How::Exited { signal: Some(signal), .. } => (format!("it was ended by signal {signal}"), false),
        How::Exited { code, .. } => (format!("it ended with exit code {code}"), false),
        How::TimedOut | How::Cancelled => ("it was stopped".to_owned(), false),
    };
    let tail = result.stderr.tail.text();
    let lines: Vec<_> = tail.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    let last = lines[lines.len().saturating_sub(LINES)..].join(" / ");
    Death { why: if last.is_empty() { why } else { format!("{why}: {last}") }, is_limit }
}

/// An attempt that lasts as long as the run: the kernel has a mark of its own, and no snapshot waits for its end.
fn of_the_run(attempt: &Attempt) -> Attempt {
    let (_, cancel) = Canceller::new();
    let live = attempt.live.with_file_name(format!("kernel-{}", attempt.run));
    Attempt { live, snapshot: None, cancel, host: Arc::new(Nobody), ..attempt.clone() }
}

/// The host of a kernel. A kernel outlives its attempt, so it must not hold the attempt's host.
struct Nobody;

impl Host for Nobody {
    fn progress(&self, _: &str, _: ActivityId, _: &str) {}

    fn now_ms(&self) -> i64 {
        0
    }

    fn sleep(&self, ms: u64) -> Future<()> {
        Box::pin(tokio::time::sleep(Duration::from_millis(ms)))
    }

    fn run(&self, _: StartRun) -> Ending {
        Box::pin(std::future::ready(Outcome::error(code::FAILED, "a kernel cannot start runs")))
    }
}
