//! How commands write: data to stdout, talk to stderr, colours only for a person's eyes.

use std::io::{self, IsTerminal as _, Write as _};

use serde::Serialize;

use crate::escape;

/// Where a command writes, and how.
#[derive(Debug)]
pub(crate) struct Output {
    json: bool,
    is_colored: bool,
    is_talk_colored: bool,
}

impl Output {
    /// Colours are used where a terminal is looking and `NO_COLOR` is not set.
    pub(crate) fn new(json: bool) -> Self {
        let is_wanted = std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty());
        Output {
            json,
            is_colored: is_wanted && io::stdout().is_terminal(),
            is_talk_colored: is_wanted && io::stderr().is_terminal(),
        }
    }

    /// Whether a program is to read the data.
    pub(crate) fn is_json(&self) -> bool {
        self.json
    }

    /// Whether talk may be coloured.
    pub(crate) fn is_talk_colored(&self) -> bool {
        self.is_talk_colored
    }

    /// Writes data. Nothing in it steers a terminal.
    pub(crate) fn data(&self, text: &str) -> io::Result<()> {
        let mut stdout = io::stdout().lock();
        stdout.write_all(escape::shown(text).as_bytes())?;
        stdout.flush()
    }

    /// Writes the content of a file: every byte of it, unless a terminal would be steered by it.
    pub(crate) fn content(&self, content: &[u8]) -> io::Result<()> {
        match io::stdout().is_terminal() {
            true => self.data(&String::from_utf8_lossy(content)),
            false => io::stdout().lock().write_all(content),
        }
    }

    /// Writes data for a program.
    pub(crate) fn json(&self, value: &impl Serialize) -> io::Result<()> {
        let mut text = serde_json::to_string_pretty(value)?;
        text.push('\n');
        self.data(&escape::json(&text))
    }

    /// Says something to the person. Nothing in it steers a terminal. There is nobody to tell if that fails.
    pub(crate) fn talk(&self, text: &str) {
        self.steer(&escape::shown(text));
    }

    /// Writes to the person's terminal as it is: for status lines, which are written over.
    pub(crate) fn steer(&self, text: &str) {
        let _ = io::stderr().write_all(text.as_bytes());
    }

    /// A heading in the data.
    pub(crate) fn bold(&self, text: &str) -> String {
        paint(text, "1", self.is_colored)
    }

    /// Something good in the data.
    pub(crate) fn green(&self, text: &str) -> String {
        paint(text, "32", self.is_colored)
    }

    /// Something bad in the data.
    pub(crate) fn bad(&self, text: &str) -> String {
        paint(text, "1;31", self.is_colored)
    }

    /// Something bad in the talk.
    pub(crate) fn red(&self, text: &str) -> String {
        paint(text, "1;31", self.is_talk_colored)
    }

    /// Something odd in the talk.
    pub(crate) fn yellow(&self, text: &str) -> String {
        paint(text, "1;33", self.is_talk_colored)
    }
}

fn paint(text: &str, code: &str, is_colored: bool) -> String {
    if is_colored { format!("\x1b[{code}m{text}\x1b[0m") } else { text.to_owned() }
}
