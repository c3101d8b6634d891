//! The keys of a person, on their way from the terminal to the line editor.
//!
//! A line editor takes whatever lies in the terminal's queue, and forgets what it has read beyond the end of a line. So a `yes`
//! that was typed before a question would answer it, and a second line that was typed ahead would be lost. Therefore the
//! editor reads from a terminal of its own, made here, and gets keys only while it asks, and only up to the end of a line.
//! Keys that were typed before a question wait for the next message.

#![expect(clippy::disallowed_methods, reason = "it opens the terminal of the person")]

use std::{
    fs::{File, OpenOptions},
    io::{self, Read as _, Write as _},
    os::{
        fd::{AsFd, OwnedFd},
        unix::{fs::OpenOptionsExt as _, net::UnixStream},
    },
    thread,
    time::Duration,
};

use rustix::{
    event::{PollFd, PollFlags, Timespec, poll},
    pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt},
    termios::{InputModes, LocalModes, OptionalActions, Termios, tcgetattr, tcsetattr},
};

/// The time that the editor has to end after the end of a line. If it goes on, as in a message of several lines, it gets
/// the next keys.
const LINE_TIME: Duration = Duration::from_millis(200);

/// The terminals that the editor cannot use; it reads whole lines there.
const PLAIN_TERMINALS: [&str; 3] = ["dumb", "cons25", "emacs"];

/// The marks around pasted text.
const PASTE: [&[u8]; 2] = [b"\x1b[200~", b"\x1b[201~"];

/// Clears the line and ends the input: the keys for a terminal that is gone.
const GONE: &[u8] = b"\x15\x04";

/// The way of keys from the terminal to the editor.
#[derive(Debug)]
pub(super) struct Keyboard {
    /// The terminal of the person.
    terminal: File,
    /// The other end of the terminal that the editor reads; `None` if the editor reads the person's terminal line by line.
    editor: Option<File>,
    /// Keys that are not read yet.
    ahead: Vec<u8>,
}

impl Keyboard {
    /// Puts itself between standard input, which is a terminal, and the editor.
    pub(super) fn open() -> io::Result<Self> {
        let terminal = File::from(io::stdin().as_fd().try_clone_to_owned()?);
        let name = std::env::var("TERM").unwrap_or_default().to_lowercase();
        let is_plain = PLAIN_TERMINALS.contains(&name.as_str());
        // Where no terminal can be made, the editor reads the person's own. What was typed before a question is still set aside.
        let editor = if is_plain { None } else { own_terminal().ok().map(File::from) };
        Ok(Keyboard { terminal, editor, ahead: Vec::new() })
    }

    /// Returns a line that was typed ahead, if the editor cannot be given its keys.
    pub(super) fn line_ahead(&mut self) -> Option<String> {
        if self.editor.is_some() {
            return None;
        }
        self.collect().ok()?;
        let end = self.ahead.iter().position(|key| *key == b'\n')?;
        let line: Vec<u8> = self.ahead.drain(..=end).collect();
        Some(String::from_utf8_lossy(&line).trim().to_owned())
    }

    /// Sets aside what was typed so far, so that it does not answer a question. Returns true if there was something.
    pub(super) fn set_aside(&mut self) -> bool {
        // A terminal that cannot be read gives no keys later, either.
        let _ = self.collect();
        !self.ahead.is_empty()
    }

    /// Lets keys flow to the editor while it reads a line. For a question, only keys count that are typed from now on.
    pub(super) fn flow<T>(&mut self, is_question: bool, read: impl FnOnce() -> T) -> T {
        if is_question {
            self.set_aside();
        }
        let Some(editor) = &self.editor else { return read() };
        let _raw = RawMode::set(&self.terminal);
        let held = if is_question { std::mem::take(&mut self.ahead) } else { Vec::new() };
        let first = std::mem::take(&mut self.ahead);
        let Ok((stop, stopped)) = UnixStream::pair() else { return read() };
        let (result, rest) = thread::scope(|scope| {
            let pump = scope.spawn(|| pump(&self.terminal, editor, first, &stopped));
            let result = read();
            drop(stop);
            (result, pump.join().unwrap_or_default())
        });
        // Keys that came after the line and that the editor has not read.
        let mut unread = Vec::new();
        let _ = read_ready(&io::stdin(), &mut unread);
        self.ahead = [held, unread, rest].concat();
        result
    }

    /// Reads the keys that wait in the terminal, also those of a line that is not finished.
    fn collect(&mut self) -> io::Result<()> {
        let _raw = RawMode::set(&self.terminal);
        let mut keys = Vec::new();
        read_ready(&self.terminal, &mut keys)?;
        // The end of input that was typed while nobody read is a zero.
        keys.retain(|key| *key != 0);
        self.ahead.extend(keys);
        Ok(())
    }
}

/// Makes a terminal, puts it in the place of standard input, and returns its other end.
fn own_terminal() -> io::Result<OwnedFd> {
    let other = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC)?;
    grantpt(&other)?;
    unlockpt(&other)?;
    let name = ptsname(&other, Vec::new())?;
    let path = name.to_str().map_err(io::Error::other)?;
    let no_controlling = rustix::fs::OFlags::NOCTTY.bits() as i32;
    let own = OpenOptions::new().read(true).write(true).custom_flags(no_controlling).open(path)?;
    // Keys pass as they are; the editor interprets them.
    let mut modes = tcgetattr(&own)?;
    modes.make_raw();
    tcsetattr(&own, OptionalActions::Now, &modes)?;
    rustix::stdio::dup2_stdin(&own)?;
    Ok(other)
}

/// Passes keys on until it is stopped. Returns those that it has not passed on.
fn pump(mut terminal: &File, mut editor: &File, keys: Vec<u8>, stopped: &UnixStream) -> Vec<u8> {
    let (mut keys, mut passed) = (std::collections::VecDeque::from(keys), Vec::new());
    let mut is_pasted = false;
    loop {
        while let Some(key) = keys.pop_front() {
            if editor.write_all(&[key]).is_err() {
                return keys.into();
            }
            passed.push(key);
            is_pasted = (is_pasted && !passed.ends_with(PASTE[1])) || passed.ends_with(PASTE[0]);
            let is_end = matches!(key, b'\r' | b'\n') && !is_pasted;
            if is_end && is_ready(stopped, Some(LINE_TIME)) {
                return keys.into();
            }
        }
        passed.clear();
        let mut both = [PollFd::new(stopped, PollFlags::IN), PollFd::new(&terminal, PollFlags::IN)];
        if poll(&mut both, None).is_err() {
            continue;
        }
        if !both[0].revents().is_empty() {
            return Vec::new();
        }
        let mut bytes = [0; 1024];
        match terminal.read(&mut bytes) {
            Ok(count) if count > 0 => keys.extend(&bytes[..count]),
            // The terminal is gone.
            _ => {
                let _ = editor.write_all(GONE);
                is_ready(stopped, None);
                return Vec::new();
            }
        }
    }
}

/// Waits until something can be read, at most for this time.
fn is_ready(from: &impl AsFd, time: Option<Duration>) -> bool {
    let time = time.and_then(|time| Timespec::try_from(time).ok());
    let mut ready = [PollFd::new(from, PollFlags::IN)];
    poll(&mut ready, time.as_ref()).is_ok_and(|count| count > 0)
}

/// Reads what can be read without waiting.
fn read_ready(from: &impl AsFd, into: &mut Vec<u8>) -> io::Result<()> {
    let mut bytes = [0; 1024];
    while is_ready(from, Some(Duration::ZERO)) {
        match rustix::io::read(from, &mut bytes)? {
            0 => break,
            count => into.extend(&bytes[..count]),
        }
    }
    Ok(())
}

/// The mode in which a terminal gives every key at once and shows none. The former mode comes back at the end.
struct RawMode<'t>(&'t File, Option<Termios>);

impl<'t> RawMode<'t> {
    fn set(terminal: &'t File) -> Self {
        let before = tcgetattr(terminal).ok();
        if let Some(mut modes) = before.clone() {
            modes.local_modes -= LocalModes::ECHO | LocalModes::ICANON | LocalModes::IEXTEN | LocalModes::ISIG;
            modes.input_modes -= InputModes::BRKINT | InputModes::ICRNL | InputModes::IXON;
            // Waiting keys stay: they are read next.
            let _ = tcsetattr(terminal, OptionalActions::Now, &modes);
        }
        RawMode(terminal, before)
    }
}

impl Drop for RawMode<'_> {
    fn drop(&mut self) {
        if let Some(before) = &self.1 {
            let _ = tcsetattr(self.0, OptionalActions::Now, before);
        }
    }
}
