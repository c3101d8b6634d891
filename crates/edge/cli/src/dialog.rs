//! A form on the terminal that can be closed from outside: when its deadline fires, or when another user answers.
//!
//! Reading keys blocks, and a blocked thread cannot be ended. So the form is a separate process of this same binary.
//! The question and the answer travel over a socket that is the form's standard output. If the other end of that socket
//! closes, the form restores the terminal and ends immediately.

use std::{
    ffi::OsString,
    io::{BufRead as _, BufReader, Read as _, Write as _},
    os::{
        fd::{AsFd as _, OwnedFd},
        unix::net::UnixStream,
    },
    process::{Child, ExitCode, Stdio},
    time::{Duration, Instant},
};

use interlock_runtime::Offers;
use rustix::termios::{OptionalActions, QueueSelector, Termios, tcflush, tcgetattr, tcsetattr};
use serde::{Deserialize, Serialize};

use crate::{
    failure::Failure,
    form::{self, FormAnswer},
};

/// The first argument that makes a process of this binary a form.
const FORM: &str = "__form";

/// The time that a form has to restore the terminal before it is killed.
const CLOSING: Duration = Duration::from_secs(2);

/// Shows the cursor, turns bracketed paste off, and begins a new line.
const PLAIN: &[u8] = b"\x1b[?25h\x1b[?2004l\r\n";

/// The question that the form shows.
#[derive(Serialize, Deserialize)]
struct FormRequest {
    place: String,
    offers: Offers,
}

/// Runs the form and returns its exit code, if the arguments request a form. Must be called first in `main`.
pub fn entry(arguments: impl IntoIterator<Item = OsString>) -> Option<ExitCode> {
    (arguments.into_iter().nth(1)?.to_str()? == FORM).then(|| match ask() {
        Some(()) => ExitCode::SUCCESS,
        None => ExitCode::FAILURE,
    })
}

fn ask() -> Option<()> {
    let socket = UnixStream::from(std::io::stdout().as_fd().try_clone_to_owned().ok()?);
    let mut line = String::new();
    BufReader::new(&socket).read_line(&mut line).ok()?;
    let FormRequest { place, offers } = serde_json::from_str(&line).ok()?;
    end_with(socket.try_clone().ok()?, Terminal::now());
    // Keys that were typed before the question was shown must not answer it.
    let _ = tcflush(std::io::stdin(), QueueSelector::IFlush);
    let answer = form::ask(&place, &offers);
    let said = serde_json::to_string(&answer).ok()?;
    (&socket).write_all(format!("{said}\n").as_bytes()).ok()
}

/// Ends this process when the other end of the socket closes.
fn end_with(mut socket: UnixStream, terminal: Terminal) {
    std::thread::spawn(move || {
        while matches!(socket.read(&mut [0; 1]), Ok(1..)) {}
        form::end_editor();
        terminal.put_back();
        std::process::exit(0);
    });
}

/// The settings of the terminal before the form opened.
struct Terminal(Option<Termios>);

impl Terminal {
    fn now() -> Self {
        Terminal(tcgetattr(std::io::stdin()).ok())
    }

    fn put_back(&self) {
        if let Some(settings) = &self.0 {
            let _ = tcsetattr(std::io::stdin(), OptionalActions::Flush, settings);
        }
        let _ = std::io::stderr().write_all(PLAIN);
    }
}

/// A form process that is open on the terminal.
pub(crate) struct Dialog {
    process: Child,
    socket: UnixStream,
    terminal: Terminal,
}

impl Dialog {
    /// Starts a form process and sends it the question.
    pub(crate) fn open(place: &str, offers: &Offers) -> Result<Self, Failure> {
        let failed = |error: std::io::Error| Failure::failed(format!("cannot open a form: {error}"));
        let (socket, theirs) = UnixStream::pair().map_err(failed)?;
        let terminal = Terminal::now();
        let mut form = crate::again::command();
        let process = form.arg(FORM).stdout(Stdio::from(OwnedFd::from(theirs))).spawn().map_err(failed)?;
        // The command holds a copy of the form's end, which would keep the socket open.
        drop(form);
        let asked = FormRequest { place: place.to_owned(), offers: offers.clone() };
        let line = serde_json::to_string(&asked).map_err(|error| failed(error.into()))?;
        (&socket).write_all(format!("{line}\n").as_bytes()).map_err(failed)?;
        Ok(Dialog { process, socket, terminal })
    }

    /// Returns a closure that blocks its thread until the answer arrives. It returns `None` if the person does not
    /// answer or the form is closed.
    pub(crate) fn answer(&self) -> impl FnOnce() -> Option<FormAnswer> + use<> {
        let socket = self.socket.try_clone();
        move || {
            let mut line = String::new();
            BufReader::new(socket.ok()?).read_line(&mut line).ok()?;
            serde_json::from_str(&line).ok()?
        }
    }

    /// Closes the form, answered or not, and restores the terminal.
    pub(crate) fn close(mut self) {
        let _ = self.socket.shutdown(std::net::Shutdown::Both);
        let deadline = Instant::now() + CLOSING;
        while matches!(self.process.try_wait(), Ok(None)) {
            if Instant::now() > deadline {
                let _ = self.process.kill();
                let _ = self.process.wait();
                self.terminal.put_back();
                return;
            }
            std::thread::sleep(Duration::from_millis(5));
        }
    }
}
