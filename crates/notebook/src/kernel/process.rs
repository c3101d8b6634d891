//! The process of a kernel: confined, in a process group of its own, and watched until it ends.
//!
//! It belongs to a run and not to an attempt, so it is started with an attempt of its own that nothing cancels. When
//! the last handle is dropped, or Interlock ends for any reason, the launcher ends it with all its children.

use std::{path::PathBuf, sync::Arc, time::Duration};

use interlock_activity::{Attempt, Canceller, Ending, Future, Host, Outcome, StartRun, code};
use interlock_core::ActivityId;
use interlock_process::{Conversation, How, Plan, ProgramResult, end_leftovers};
use tokio::{
    sync::{mpsc, watch},
    task::JoinHandle,
};

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
    interrupts: mpsc::Sender<()>,
    gone: watch::Receiver<Option<Death>>,
    live: PathBuf,
}

impl Drop for Process {
    fn drop(&mut self) {
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
        let (interrupts, orders) = mpsc::channel(4);
        let live = attempt.live.clone();
        let task = tokio::spawn(async move {
            let death = attend(conversation, orders).await;
            tell.send_replace(Some(death));
        });
        Ok(Process { task, interrupts, gone, live })
    }

    /// Sends `SIGINT` to the kernel and all its children.
    pub(crate) fn interrupt(&self) {
        // If earlier interrupts are still waiting, one more changes nothing.
        let _ = self.interrupts.try_send(());
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
async fn attend(mut conversation: Conversation, mut orders: mpsc::Receiver<()>) -> Death {
    loop {
        tokio::select! {
            line = conversation.line() => match line {
                Ok(Some(_)) => {}
                Err(error) if error.kind() == std::io::ErrorKind::FileTooLarge => {}
                Ok(None) | Err(_) => break,
            },
            Some(()) = orders.recv() => drop(conversation.interrupt()),
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
