//! The console of a board: opening, login and commands.

use std::{
    io,
    path::Path,
    time::{Duration, Instant},
};

use regex::bytes::Regex;
use serial2_tokio::{FlowControl, SerialPort, Settings as PortSettings};
use tokio::{
    io::{AsyncRead, AsyncWrite},
    net::TcpStream,
};

use super::config::{Board, Flow, Serial, Step};
use crate::{
    Bench, Trouble,
    bmc::Sol,
    expect::{Expect, PatternMatch, Unmet},
};

/// The time limit for connecting to a serial port server.
const CONNECT_MAX: Duration = Duration::from_secs(10);

/// The time after which an empty line is sent again to get a prompt.
const ASK_EVERY: Duration = Duration::from_secs(2);

/// The number of complete logins that are attempted.
const LOGINS_MAX: usize = 3;

/// The time without output after which a board is taken to wait for an answer.
const QUIET: Duration = Duration::from_millis(700);

/// The time to wait for the rest of a line.
const SETTLING: Duration = Duration::from_millis(300);

/// A bidirectional byte stream.
pub(crate) trait Wire: AsyncRead + AsyncWrite + Unpin + Send {}

impl<W: AsyncRead + AsyncWrite + Unpin + Send> Wire for W {}

/// An open console of a board.
pub(crate) struct Console {
    /// The line to the board, with the text received so far.
    pub(crate) line: Expect<Box<dyn Wire>>,
}

impl Console {
    /// Opens a board's console. Earlier output is discarded; output from now on is written to `log`.
    pub(crate) async fn open(bench: Bench<'_>, board: &Board, log: Option<&Path>) -> Result<Self, Trouble> {
        let sol = board.controller.as_ref().and_then(|controller| controller.ipmi.as_ref());
        let wire = match (&board.serial, sol) {
            (Some(serial), _) => Console::serial(bench, board, serial).await?,
            (None, Some(ipmi)) => Box::new(Sol::open(bench, ipmi).await?),
            (None, None) => return Err(Trouble::config("serial", "is missing: there is no console")),
        };
        let line = Expect::new(wire);
        let line = if let Some(log) = log { line.logged(log)? } else { line };
        Ok(Console { line })
    }

    async fn serial(bench: Bench<'_>, board: &Board, serial: &Serial) -> Result<Box<dyn Wire>, Trouble> {
        let mut cancel = bench.attempt.cancel.clone();
        let opened = tokio::select! {
            opened = tokio::time::timeout(CONNECT_MAX, open(serial)) => opened,
            () = cancel.cancelled() => return Err(Trouble::Cancelled),
        };
        let opened = opened.unwrap_or_else(|_| Err(io::ErrorKind::TimedOut.into()));
        opened.map_err(|error| {
            Trouble::environment(format!("the console {} of {} cannot be opened: {error}", serial.port, board.name))
        })
    }

    /// Sends a text unchanged.
    pub(crate) async fn send(&mut self, text: &str) -> Result<(), Trouble> {
        Ok(self.line.send(text.as_bytes()).await?)
    }

    /// Waits for one of several patterns.
    pub(crate) async fn wait_for(&mut self, patterns: &[Regex], timeout: Duration) -> Result<PatternMatch, Unmet> {
        self.line.wait_for(patterns, timeout).await
    }

    /// Waits for a pattern that may match more text once more arrives, such as the end of a number. A match at the
    /// very end of the received text is accepted only if nothing follows soon.
    pub(crate) async fn wait_for_whole(&mut self, pattern: &Regex, timeout: Duration) -> Result<PatternMatch, Unmet> {
        let deadline = Instant::now() + timeout;
        loop {
            let rest = self.line.rest();
            let is_whole = pattern.find(rest).map(|found| found.end() < rest.len());
            let left = match is_whole {
                Some(true) => Duration::ZERO,
                Some(false) => SETTLING,
                None => deadline.saturating_duration_since(Instant::now()),
            };
            let heard = tokio::time::timeout(left, self.line.listen()).await;
            if !matches!(heard, Ok(Ok(1..))) || is_whole == Some(true) {
                return self.wait_for(std::slice::from_ref(pattern), Duration::ZERO).await;
            }
        }
    }

    /// Runs other work while the console is read, so that no output is lost.
    pub(crate) async fn beside<T>(&mut self, work: impl Future<Output = T>) -> T {
        let listen = async {
            while matches!(self.line.listen().await, Ok(1..)) {}
            std::future::pending::<()>().await;
        };
        tokio::select! {
            done = work => done,
            () = listen => std::future::pending().await,
        }
    }

    /// Logs in up to the prompt. Questions are answered in any order: a late blank line, or text typed earlier, may
    /// have begun a login already. Does nothing if the board has no prompt.
    pub(crate) async fn log_in(&mut self, board: &Board, timeout: Duration) -> Result<(), Trouble> {
        let Some(prompt) = &board.prompt else { return Ok(()) };
        let asked = board.login.iter().map(|step| (*step.expect).clone());
        let patterns: Vec<Regex> = std::iter::once((**prompt).clone()).chain(asked).collect();
        let deadline = Instant::now() + timeout;
        let kept_out = |why: String| Trouble::environment(format!("{} refuses the login: {why}", board.name));
        let mut found = self.ask(&patterns, timeout, board).await?;
        for answers in 0..=LOGINS_MAX * board.login.len() {
            if answers > 0 && answers % board.login.len() == 0 {
                // The login should be complete by now. The board may have taken other input for an answer, and our
                // answer for the next one.
                while Instant::now() < deadline
                    && let Ok(later) = self.wait_for(&patterns, QUIET).await
                {
                    found = later;
                }
            }
            let Some(step) = found.which.checked_sub(1).and_then(|at| board.login.get(at)) else { return Ok(()) };
            self.send(&format!("{}\n", answer(step)?)).await?;
            let left = deadline.saturating_duration_since(Instant::now());
            found = self.wait_for(&patterns, left).await.map_err(|unmet| kept_out(unmet.to_string()))?;
        }
        Err(kept_out(format!("it asks repeatedly; its last output is `{}`", found.before.trim())))
    }

    /// Sends an empty line repeatedly until one of the patterns appears.
    async fn ask(&mut self, patterns: &[Regex], timeout: Duration, board: &Board) -> Result<PatternMatch, Trouble> {
        let deadline = Instant::now() + timeout;
        loop {
            self.send("\n").await?;
            let left = deadline.saturating_duration_since(Instant::now());
            match self.wait_for(patterns, ASK_EVERY.min(left)).await {
                Ok(found) => return Ok(found),
                Err(Unmet::TimedOut { .. }) if Instant::now() < deadline => {}
                Err(Unmet::TimedOut { instead, .. }) => {
                    let seconds = timeout.as_secs();
                    let why =
                        format!("{} shows no prompt within {seconds} seconds; its output is `{instead}`", board.name);
                    return Err(Trouble::Environment(why));
                }
                Err(unmet) => return Err(Trouble::environment(format!("the console of {}: {unmet}", board.name))),
            }
        }
    }

    /// Returns the output of a command on a console with a POSIX shell at its prompt.
    pub(crate) async fn output_of(&mut self, command: &str, timeout: Duration) -> Result<String, Trouble> {
        let (begin, end) = ("interlock-begins", "interlock-ends");
        // The shell joins the two halves of each marker, so that the echo of the command line is not taken for its
        // output.
        let line = format!("echo {begin}\"\"-here; {command}; echo {end}\"\"-here\n");
        self.send(&line).await?;
        let patterns = [format!(r"{begin}-here\r?\n"), format!(r"(?:\r?\n)?{end}-here\r?\n")];
        let mut text = String::new();
        for pattern in patterns {
            let pattern = Regex::new(&pattern).map_err(Trouble::environment)?;
            let found = self.wait_for(&[pattern], timeout).await;
            text = found.map_err(|unmet| Trouble::environment(format!("`{command}`: {unmet}")))?.before;
        }
        Ok(text.replace("\r\n", "\n"))
    }
}

fn answer(step: &Step) -> Result<String, Trouble> {
    match &step.send_env {
        Some(name) => std::env::var(name)
            .map_err(|_| Trouble::config("login", format!("names the variable {name}, which is not set"))),
        None => Ok(step.send.clone()),
    }
}

async fn open(serial: &Serial) -> io::Result<Box<dyn Wire>> {
    if let Some(address) = serial.port.strip_prefix("tcp://") {
        return Ok(Box::new(TcpStream::connect(address).await?));
    }
    let port = SerialPort::open(&serial.port, |mut settings: PortSettings| {
        settings.set_raw();
        settings.set_baud_rate(serial.baud)?;
        settings.set_flow_control(match serial.flow {
            Flow::None => FlowControl::None,
            Flow::Software => FlowControl::XonXoff,
            Flow::Hardware => FlowControl::RtsCts,
        });
        Ok(settings)
    })?;
    port.discard_input_buffer()?;
    Ok(Box::new(port))
}
