//! A scripted dialogue with a program or device: wait for a pattern, send an answer, wait for the next pattern.
//!
//! It works on any byte stream: a socket, a serial port, a pipe. No input is lost: the log contains all of it, in
//! order and unchanged. The text in memory is bounded, so that a device that prints for days does no harm; a pattern
//! must match within that bound.

use std::{
    collections::BTreeMap,
    fs::File,
    io::{self, Write},
    path::Path,
    time::{Duration, Instant},
};

use regex::bytes::Regex;
use thiserror::Error;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};

/// The number of unconsumed bytes that are kept.
const BUFFER_BYTES_MAX: usize = 64 * 1024;

/// The number of bytes kept when the buffer overflows, so that a pattern whose match has begun can still match.
const OVERLAP_BYTES: usize = 16 * 1024;

/// The number of bytes that are read at once.
const READ_BYTES: usize = 8 * 1024;

/// The number of bytes of other input that an error shows.
const TOLD_BYTES: usize = 400;

/// A byte stream with pattern matching on its input.
#[derive(Debug)]
pub struct Expect<S> {
    stream: S,
    log: Option<File>,
    /// Input that no pattern has consumed yet.
    buffer: Vec<u8>,
    counts: Vec<Count>,
    heard: u64,
    last_heard: Option<Instant>,
    is_closed: bool,
}

/// A match of an awaited pattern.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PatternMatch {
    /// The index of the pattern, from 0: the one that matched first in the text.
    pub which: usize,
    /// The matched text.
    pub text: String,
    /// The text before the match.
    pub before: String,
    /// The named groups of the match.
    pub groups: BTreeMap<String, String>,
}

/// The reason why a pattern was not found.
#[derive(Debug, Error)]
pub enum Unmet {
    /// The pattern did not appear in time.
    #[error("{}", late(after, instead))]
    TimedOut {
        /// The time that was waited.
        after: Duration,
        /// The end of the input that came instead.
        instead: String,
    },
    /// The other side has closed the stream.
    #[error("the connection was closed; the output is `{instead}`")]
    Closed {
        /// The end of the input that came instead.
        instead: String,
    },
    /// The stream or the log failed.
    #[error(transparent)]
    Broken(#[from] io::Error),
}

fn late(after: &Duration, instead: &str) -> String {
    match instead.trim().is_empty() {
        true => format!("no output within {after:?}"),
        false => format!("it did not appear within {after:?}; the output is `{instead}`"),
    }
}

/// A counter for the matches of a pattern, independent of the awaited patterns.
#[derive(Debug)]
struct Count {
    pattern: Regex,
    seen: u32,
    /// The position in the buffer at which the next search starts.
    from: usize,
}

impl Expect<tokio::net::UnixStream> {
    /// Returns the process at the other end.
    pub(crate) fn peer(&self) -> Option<i32> {
        self.stream.peer_cred().ok()?.pid()
    }
}

impl<S> Expect<S> {
    /// Creates a dialogue over a stream.
    pub fn new(stream: S) -> Self {
        Expect {
            stream,
            log: None,
            buffer: Vec::new(),
            counts: Vec::new(),
            heard: 0,
            last_heard: None,
            is_closed: false,
        }
    }

    /// Appends all input to a file.
    pub fn logged(mut self, path: &Path) -> io::Result<Self> {
        self.log = Some(interlock_beneath::whole::append(path)?);
        Ok(self)
    }

    /// Counts a pattern in all input from now on, independent of the awaited patterns. Returns the index for
    /// [`Expect::seen`].
    pub fn count(&mut self, pattern: Regex) -> usize {
        self.counts.push(Count { pattern, seen: 0, from: self.buffer.len() });
        self.counts.len() - 1
    }

    /// Returns the number of matches of a counted pattern.
    pub fn seen(&self, count: usize) -> u32 {
        self.counts.get(count).map_or(0, |count| count.seen)
    }

    /// Returns the number of bytes received.
    pub fn heard(&self) -> u64 {
        self.heard
    }

    /// Returns the time of the last input.
    pub fn last_heard(&self) -> Option<Instant> {
        self.last_heard
    }

    /// Reports whether the other side has closed the stream and all its output was read.
    pub fn is_closed(&self) -> bool {
        self.is_closed
    }

    /// Returns the input that no pattern has consumed yet, as far as it is kept.
    pub fn rest(&self) -> &[u8] {
        &self.buffer
    }

    /// Returns the stream itself; unconsumed input is discarded.
    pub fn into_inner(self) -> S {
        self.stream
    }

    fn take(&mut self, read: &[u8]) -> io::Result<()> {
        if let Some(log) = &mut self.log {
            log.write_all(read)?;
        }
        self.heard += read.len() as u64;
        self.last_heard = Some(Instant::now());
        self.buffer.extend(read);
        for count in &mut self.counts {
            count.look(&self.buffer);
        }
        if self.buffer.len() > BUFFER_BYTES_MAX {
            self.forget(self.buffer.len() - OVERLAP_BYTES);
        }
        Ok(())
    }

    /// Drops the beginning of the buffer.
    fn forget(&mut self, bytes: usize) {
        self.buffer.drain(..bytes);
        for count in &mut self.counts {
            count.from = count.from.saturating_sub(bytes);
        }
    }

    /// Returns the first match of any pattern, and removes it from the buffer together with the text before it.
    fn find(&mut self, patterns: &[Regex]) -> Option<PatternMatch> {
        let matched =
            patterns.iter().enumerate().filter_map(|(which, pattern)| Some((which, pattern.find(&self.buffer)?)));
        let (which, first) = matched.min_by_key(|(which, matched)| (matched.start(), *which))?;
        let (start, end) = (first.start(), first.end());
        let groups = patterns.get(which).map(|pattern| groups(pattern, &self.buffer)).unwrap_or_default();
        let found =
            PatternMatch { which, text: text(&self.buffer[start..end]), before: text(&self.buffer[..start]), groups };
        self.forget(end);
        Some(found)
    }

    fn instead(&self) -> String {
        text(&self.buffer[self.buffer.len().saturating_sub(TOLD_BYTES)..])
    }
}

impl<S: AsyncRead + Unpin> Expect<S> {
    /// Waits until the input contains one of the patterns, and consumes the text up to the end of the match. May be
    /// dropped at any time without losing input.
    ///
    /// Patterns are matched as soon as any input has arrived: one that ends in `\d+` may match the first of several
    /// digits.
    pub async fn wait_for(&mut self, patterns: &[Regex], timeout: Duration) -> Result<PatternMatch, Unmet> {
        let looking = async {
            loop {
                if let Some(found) = self.find(patterns) {
                    return Ok(found);
                }
                if self.listen().await? == 0 {
                    return Err(Unmet::Closed { instead: self.instead() });
                }
            }
        };
        match tokio::time::timeout(timeout, looking).await {
            Ok(found) => found,
            Err(_) => Err(Unmet::TimedOut { after: timeout, instead: self.instead() }),
        }
    }

    /// Waits for input and reads it; returns the number of bytes. Zero means that the other side has closed the
    /// stream.
    pub async fn listen(&mut self) -> io::Result<usize> {
        let mut read = [0; READ_BYTES];
        let count = match self.stream.read(&mut read).await {
            Ok(count) => count,
            // A terminal reports EIO when its other end has closed.
            Err(error) if error.raw_os_error() == Some(rustix::io::Errno::IO.raw_os_error()) => 0,
            Err(error) if error.kind() == io::ErrorKind::ConnectionReset => 0,
            Err(error) => return Err(error),
        };
        self.is_closed |= count == 0;
        self.take(&read[..count])?;
        Ok(count)
    }

    /// Reads until the other side closes the stream, at most for the given time.
    pub async fn drain(&mut self, timeout: Duration) {
        let reading = async { while matches!(self.listen().await, Ok(1..)) {} };
        let _ = tokio::time::timeout(timeout, reading).await;
    }
}

impl<S: AsyncWrite + Unpin> Expect<S> {
    /// Sends bytes to the other side.
    pub async fn send(&mut self, said: &[u8]) -> io::Result<()> {
        self.stream.write_all(said).await?;
        self.stream.flush().await
    }
}

impl Count {
    fn look(&mut self, buffer: &[u8]) {
        while self.from < buffer.len() {
            let Some(found) = self.pattern.find_at(buffer, self.from) else { return };
            self.seen += 1;
            // An empty match would otherwise be found forever.
            self.from = found.end().max(found.start() + 1);
        }
    }
}

fn groups(pattern: &Regex, buffer: &[u8]) -> BTreeMap<String, String> {
    let Some(found) = pattern.captures(buffer) else { return BTreeMap::new() };
    let named = pattern.capture_names().flatten();
    named.filter_map(|name| Some((name.to_owned(), text(found.name(name)?.as_bytes())))).collect()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}
