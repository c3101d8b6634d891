//! A program that one talks to while it runs: lines to its standard input, lines from its standard output.
//!
//! [`crate::run`] collects the output of a program; a conversation hands it out line by line and keeps none of it, so
//! memory does not grow with the transcript. Everything else is equal: sandbox, limits, timeout, cancellation, and that
//! no process is left. A task of its own watches the program, so none of this depends on the caller reading.

use std::{
    io,
    sync::Arc,
    time::{Duration, Instant},
};

use interlock_activity::{Attempt, Outcome, code};
use tokio::{
    io::{AsyncBufReadExt, AsyncWriteExt, BufReader},
    net::unix::pipe,
    process::ChildStdout,
    sync::{oneshot, watch},
    task::JoinHandle,
};

use crate::{
    output::{Shown, Stream},
    process::{Confined, How, Plan, ProgramResult, not_started, streams, without_result},
    program::{Control, Input, Nothing, Program, REST},
};

/// The longest line that is read. The rest of a longer line is skipped.
pub const LINE_BYTES_MAX: usize = 16 * 1_024 * 1_024;

/// The number of bytes that are read at once.
const READ_BYTES: usize = 64 * 1_024;

/// A running program, its input and its output. If this is dropped, the program and all its children are ended.
#[derive(Debug)]
pub struct Conversation {
    input: ProgramInput,
    output: ProgramOutput,
    shown: Arc<Shown>,
    stdout: Stream,
    watched: Watched,
    control: Control,
    stop: oneshot::Sender<()>,
}

/// The standard input of a program.
#[derive(Debug)]
pub struct ProgramInput(Option<pipe::Sender>);

/// The standard output of a program.
#[derive(Debug)]
pub struct ProgramOutput {
    from: Option<BufReader<ChildStdout>>,
    /// The part of a line that was read so far.
    part: Vec<u8>,
    /// True while the rest of a line that is too long is skipped.
    is_skipping: bool,
    /// Closes when the program is gone.
    gone: watch::Receiver<()>,
}

/// The task that watches the program. It ends together with the conversation.
#[derive(Debug)]
struct Watched(JoinHandle<Seen>);

/// The result of the watch: the end of the program and its standard error.
type Seen = (Result<(How, Confined), Nothing>, Stream, Duration);

impl Drop for Watched {
    fn drop(&mut self) {
        self.0.abort();
    }
}

impl Conversation {
    /// Starts a program. `plan.stdin` is not used, and `plan.timeout` limits the whole conversation.
    ///
    /// A program that the sandbox refuses has no output, and [`Conversation::close`] returns the reason.
    pub async fn open(attempt: &Attempt, plan: &Plan) -> Result<Self, Outcome> {
        let failed = |error: io::Error| not_started(&error);
        let [stdout, stderr] = streams(attempt, plan).map_err(failed)?;
        let shown = Shown::new(attempt);
        let mut program = Program::start(attempt, plan, Input::Pipe).await.map_err(failed)?;
        let control = program.control().map_err(failed)?;
        let input = ProgramInput(program.stdin.take());
        let (is_here, gone) = watch::channel(());
        let from = program.stdout.take().map(|from| BufReader::with_capacity(READ_BYTES, from));
        let output = ProgramOutput { from, part: Vec::new(), is_skipping: false, gone };
        let (stop, stopped) = oneshot::channel();
        let watch = Watch { program, stderr, shown: shown.clone(), is_here, stopped };
        let watched = Watched(tokio::spawn(watch.until_end(attempt.clone(), plan.clone())));
        Ok(Conversation { input, output, shown, stdout, watched, control, stop })
    }

    /// Sends bytes to the program. The caller adds the line break. See [`ProgramInput::send`].
    pub async fn send(&mut self, line: &[u8]) -> io::Result<()> {
        self.input.send(line).await
    }

    /// Returns the next line of the program. See [`ProgramOutput::line`].
    pub async fn line(&mut self) -> io::Result<Option<Vec<u8>>> {
        self.output.line().await
    }

    /// Returns both directions, to send and to receive at the same time.
    pub fn split(&mut self) -> (&mut ProgramInput, &mut ProgramOutput) {
        (&mut self.input, &mut self.output)
    }

    /// Returns the live view of the attempt, which also has the program's standard error.
    pub fn shown(&self) -> &Arc<Shown> {
        &self.shown
    }

    /// Returns a handle to the program, which can be used while the output is read.
    pub fn control(&self) -> &Control {
        &self.control
    }

    /// Closes the input of the program and waits for its end. If it does not end within `grace`, it is stopped. Output
    /// that was not read is dropped.
    pub async fn close(mut self, grace: Duration) -> Result<ProgramResult, Outcome> {
        self.input.close();
        let Conversation { mut output, shown, stdout, mut watched, stop, .. } = self;
        let over = async { tokio::join!(&mut watched.0, output.discard()).0 };
        tokio::pin!(over);
        let seen = match tokio::time::timeout(grace, &mut over).await {
            Ok(seen) => seen,
            Err(_) => {
                // If the receiver is gone, the program is ending already.
                let _ = stop.send(());
                over.await
            }
        };
        let broken = |error| Outcome::error(code::FAILED, format!("the watch over the program has failed: {error}"));
        let (end, stderr, duration) = seen.map_err(broken)?;
        let (how, confined) = end.map_err(|nothing| without_result(nothing, &shown))?;
        Ok(ProgramResult { how, stdout, stderr, shown, duration, confined })
    }
}

/// The parts of a running program that belong to its watch.
struct Watch {
    program: Program,
    stderr: Stream,
    shown: Arc<Shown>,
    is_here: watch::Sender<()>,
    stopped: oneshot::Receiver<()>,
}

impl Watch {
    async fn until_end(self, attempt: Attempt, plan: Plan) -> Seen {
        let Watch { mut program, mut stderr, shown, is_here, stopped } = self;
        let begun = Instant::now();
        let from = program.stderr.take();
        let stop = async {
            // A conversation that is dropped ends this task as well.
            if stopped.await.is_err() {
                std::future::pending().await
            }
        };
        let end = {
            let listen = stderr.pump(from, &shown);
            let end = program.end(&attempt, &plan, stop);
            tokio::pin!(listen, end);
            tokio::select! {
                end = &mut end => {
                    drop(is_here);
                    let _ = tokio::time::timeout(REST, listen).await;
                    end
                }
                () = &mut listen => {
                    let end = end.await;
                    drop(is_here);
                    end
                }
            }
        };
        stderr.finish(&shown);
        (end, stderr, begun.elapsed())
    }
}

impl ProgramInput {
    /// Sends bytes and returns when the kernel has taken all of them. The caller adds the line break.
    ///
    /// If the program has ended or has closed its input, this is an error. If the returned future is dropped, part of
    /// the bytes may have been sent.
    pub async fn send(&mut self, line: &[u8]) -> io::Result<()> {
        match &mut self.0 {
            Some(to) => to.write_all(line).await,
            None => Err(io::ErrorKind::BrokenPipe.into()),
        }
    }

    /// Closes the input, so that the program reads its end.
    pub fn close(&mut self) {
        self.0 = None;
    }
}

impl ProgramOutput {
    /// Returns the next line without its line break, or `None` at the end of the output. Secrets in it are not redacted.
    ///
    /// A line that is longer than [`LINE_BYTES_MAX`] is an error of the kind [`io::ErrorKind::FileTooLarge`]; the next
    /// call returns the line after it. No line is lost if the returned future is dropped.
    pub async fn line(&mut self) -> io::Result<Option<Vec<u8>>> {
        let Some(from) = &mut self.from else { return Ok(None) };
        loop {
            let some = tokio::select! {
                biased;
                some = from.fill_buf() => some?,
                () = has_ended(&mut self.gone) => &[],
            };
            let at = some.iter().position(|byte| *byte == b'\n');
            let (piece, used) = (&some[..at.unwrap_or(some.len())], at.map_or(some.len(), |at| at + 1));
            self.is_skipping |= self.part.len() + piece.len() > LINE_BYTES_MAX;
            match self.is_skipping {
                true => self.part = Vec::new(),
                false => self.part.extend_from_slice(piece),
            }
            from.consume(used);
            if at.is_some() || used == 0 {
                return self.take(used == 0);
            }
        }
    }

    fn take(&mut self, is_end: bool) -> io::Result<Option<Vec<u8>>> {
        if is_end {
            self.from = None;
        }
        let line = std::mem::take(&mut self.part);
        match std::mem::take(&mut self.is_skipping) {
            true => Err(io::ErrorKind::FileTooLarge.into()),
            false => Ok((!is_end || !line.is_empty()).then_some(line)),
        }
    }

    /// Reads until the end, so that the program does not block.
    async fn discard(&mut self) {
        let Some(from) = &mut self.from else { return };
        loop {
            let some = tokio::select! {
                biased;
                some = from.fill_buf() => some,
                () = has_ended(&mut self.gone) => return,
            };
            match some.map(<[u8]>::len) {
                Ok(used @ 1..) => from.consume(used),
                _ => return,
            }
        }
    }
}

/// Waits until the program is gone and its last output had time to arrive.
async fn has_ended(gone: &mut watch::Receiver<()>) {
    while gone.changed().await.is_ok() {}
    tokio::time::sleep(REST).await;
}
