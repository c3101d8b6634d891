//! The output of commands: data to stdout, messages to stderr, colours only on a terminal.
//!
//! A reader that goes away (`interlock check m | head -1`) changes nothing about the command: the rest of its output is
//! dropped here, and the command goes on and ends with its real exit code. A command that would go on without an end
//! asks [`Output::is_unread`] and ends with [`crate::Exit::Unread`].

use std::io::{self, IsTerminal as _, Write as _};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use serde::Serialize;

use crate::escape;

/// The output of a command and its format.
#[derive(Debug)]
pub(crate) struct Output {
    json: bool,
    is_colored: bool,
    is_talk_colored: bool,
}

impl Output {
    /// Makes the output. Colours are used if the stream is a terminal and `NO_COLOR` is not set.
    pub(crate) fn new(json: bool) -> Self {
        let is_wanted = std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty());
        Output {
            json,
            is_colored: is_wanted && io::stdout().is_terminal(),
            is_talk_colored: is_wanted && io::stderr().is_terminal(),
        }
    }

    /// Returns true if the data is written as JSON.
    pub(crate) fn is_json(&self) -> bool {
        self.json
    }

    /// Returns true if messages go to a terminal.
    pub(crate) fn is_talk_terminal(&self) -> bool {
        io::stderr().is_terminal()
    }

    /// Colours a part of a message with a code of the terminal, such as `32` for green.
    pub(crate) fn tint(&self, text: &str, code: &str) -> String {
        paint(text, code, self.is_talk_colored)
    }

    /// Writes a value as one line of JSON.
    pub(crate) fn json_line(&self, value: &impl Serialize) -> io::Result<()> {
        self.data(&format!("{}\n", escape::json(&serde_json::to_string(value)?)))
    }

    /// Returns true if messages may be coloured.
    pub(crate) fn is_talk_colored(&self) -> bool {
        self.is_talk_colored
    }

    /// Writes data, with characters escaped that would control a terminal.
    pub(crate) fn data(&self, text: &str) -> io::Result<()> {
        self.write(escape::shown(text).as_bytes())
    }

    /// Writes the content of a file: escaped on a terminal, otherwise byte by byte.
    pub(crate) fn content(&self, content: &[u8]) -> io::Result<()> {
        match io::stdout().is_terminal() {
            true => self.data(&String::from_utf8_lossy(content)),
            false => self.write(content),
        }
    }

    /// Writes bytes to stdout. Bytes that nobody reads any more are dropped.
    fn write(&self, bytes: &[u8]) -> io::Result<()> {
        let mut stdout = io::stdout().lock();
        match stdout.write_all(bytes).and_then(|()| stdout.flush()) {
            Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
            written => written,
        }
    }

    /// Returns true if stdout is a pipe or a socket whose reader has gone away.
    pub(crate) fn is_unread(&self) -> bool {
        let stdout = io::stdout();
        // The kernel reports a closed reader without being asked for an event.
        let mut watched = [PollFd::new(&stdout, PollFlags::empty())];
        let at_once = Timespec { tv_sec: 0, tv_nsec: 0 };
        let is_told = poll(&mut watched, Some(&at_once)).is_ok_and(|count| count > 0);
        is_told && watched[0].revents().intersects(PollFlags::ERR | PollFlags::HUP)
    }

    /// Writes a value as JSON.
    pub(crate) fn json(&self, value: &impl Serialize) -> io::Result<()> {
        let mut text = serde_json::to_string_pretty(value)?;
        text.push('\n');
        self.data(&escape::json(&text))
    }

    /// Writes a message to stderr, with characters escaped that would control a terminal. Errors are ignored, because
    /// they could not be reported.
    pub(crate) fn talk(&self, text: &str) {
        self.steer(&escape::shown(text));
    }

    /// Writes text to stderr without escaping: for status lines, which are overwritten.
    pub(crate) fn steer(&self, text: &str) {
        let _ = io::stderr().write_all(text.as_bytes());
    }

    /// Formats a heading in the data.
    pub(crate) fn bold(&self, text: &str) -> String {
        paint(text, "1", self.is_colored)
    }

    /// Colours a good result in the data.
    pub(crate) fn green(&self, text: &str) -> String {
        paint(text, "32", self.is_colored)
    }

    /// Colours a bad result in the data.
    pub(crate) fn bad(&self, text: &str) -> String {
        paint(text, "1;31", self.is_colored)
    }

    /// Colours an error in a message.
    pub(crate) fn red(&self, text: &str) -> String {
        paint(text, "1;31", self.is_talk_colored)
    }

    /// Colours a warning in a message.
    pub(crate) fn yellow(&self, text: &str) -> String {
        paint(text, "1;33", self.is_talk_colored)
    }
}

/// Writes a line to stderr from a place that has no [`Output`]. Errors are ignored, because they could not be reported.
pub(crate) fn tell(line: &str) {
    let _ = writeln!(io::stderr(), "{}", escape::shown(line));
}

fn paint(text: &str, code: &str, is_colored: bool) -> String {
    if is_colored { format!("\x1b[{code}m{text}\x1b[0m") } else { text.to_owned() }
}
