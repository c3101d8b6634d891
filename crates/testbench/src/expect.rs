//! A conversation with something that prints: wait for a pattern, answer, wait for the next.
//!
//! It works on any stream of bytes: a socket, a serial port, a pipe. What comes in is never lost: all of it is in the log, in order, as it came.
//! What is kept in memory is bounded, so that a device that prints for days does no harm; a pattern has to match within that much text.

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

/// How much text that nobody has waited for is kept.
const BUFFER_BYTES_MAX: usize = 64 * 1024;

/// How much of it is kept when that is too much: a pattern that has begun to match still can.
const OVERLAP_BYTES: usize = 16 * 1024;

/// How much is read at once.
const READ_BYTES: usize = 8 * 1024;

/// How much of what came instead is told.
const TOLD_BYTES: usize = 400;

/// A stream of bytes to talk to.
#[derive(Debug)]
pub struct Expect<S> {
    stream: S,
    log: Option<File>,
    /// What came in and was not waited for yet.
    buffer: Vec<u8>,
    counts: Vec<Count>,
    heard: u64,
    last_heard: Option<Instant>,
    is_closed: bool,
}

/// A pattern that was waited for and came.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Found {
    /// Which of the patterns, from 0: the one that matched first in the text.
    pub which: usize,
    /// What it matched.
    pub text: String,
    /// What came before that.
    pub before: String,
    /// Its named groups.
    pub groups: BTreeMap<String, String>,
}

/// Why a pattern was not found.
#[derive(Debug, Error)]
pub enum Unmet {
    /// It did not come in time.
    #[error("{}", late(after, instead))]
    TimedOut {
        /// How long it was waited for.
        after: Duration,
        /// The end of what came instead.
        instead: String,
    },
    /// The other side has gone.
    #[error("the other side has closed the connection; what came is `{instead}`")]
    Closed {
        /// The end of what came instead.
        instead: String,
    },
    /// The stream or the log cannot be used.
    #[error(transparent)]
    Broken(#[from] io::Error),
}

fn late(after: &Duration, instead: &str) -> String {
    match instead.trim().is_empty() {
        true => format!("nothing came within {after:?}"),
        false => format!("it did not come within {after:?}; what came is `{instead}`"),
    }
}

/// How often a pattern was seen, whoever waits for what.
#[derive(Debug)]
struct Count {
    pattern: Regex,
    seen: u32,
    /// Where to look on, in the buffer.
    from: usize,
}

impl<S> Expect<S> {
    /// Talks over a stream.
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

    /// Writes all that comes in to the end of a file.
    pub fn logged(mut self, path: &Path) -> io::Result<Self> {
        self.log = Some(File::options().create(true).append(true).open(path)?);
        Ok(self)
    }

    /// Counts a pattern in all that comes in from now on, besides what is waited for. What it is asked for with is its place among those that are
    /// counted.
    pub fn count(&mut self, pattern: Regex) -> usize {
        self.counts.push(Count { pattern, seen: 0, from: self.buffer.len() });
        self.counts.len() - 1
    }

    /// How often a pattern that is counted was seen.
    pub fn seen(&self, count: usize) -> u32 {
        self.counts.get(count).map_or(0, |count| count.seen)
    }

    /// How many bytes have come in.
    pub fn heard(&self) -> u64 {
        self.heard
    }

    /// When the last of them came in.
    pub fn last_heard(&self) -> Option<Instant> {
        self.last_heard
    }

    /// Whether the other side has gone, and all it said was read.
    pub fn is_closed(&self) -> bool {
        self.is_closed
    }

    /// What came in and was not waited for yet, as far as it is kept.
    pub fn rest(&self) -> &[u8] {
        &self.buffer
    }

    /// The stream itself; what was read and not waited for is gone.
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

    /// Forgets the beginning of the buffer.
    fn forget(&mut self, bytes: usize) {
        self.buffer.drain(..bytes);
        for count in &mut self.counts {
            count.from = count.from.saturating_sub(bytes);
        }
    }

    /// The first match of any pattern, taken out of the buffer with all that came before it.
    fn find(&mut self, patterns: &[Regex]) -> Option<Found> {
        let matched =
            patterns.iter().enumerate().filter_map(|(which, pattern)| Some((which, pattern.find(&self.buffer)?)));
        let (which, first) = matched.min_by_key(|(which, matched)| (matched.start(), *which))?;
        let (start, end) = (first.start(), first.end());
        let groups = patterns.get(which).map(|pattern| groups(pattern, &self.buffer)).unwrap_or_default();
        let found = Found { which, text: text(&self.buffer[start..end]), before: text(&self.buffer[..start]), groups };
        self.forget(end);
        Some(found)
    }

    fn instead(&self) -> String {
        text(&self.buffer[self.buffer.len().saturating_sub(TOLD_BYTES)..])
    }
}

impl<S: AsyncRead + Unpin> Expect<S> {
    /// Waits until one of the patterns is in what came in, and takes out the text up to its end. May be dropped at any time: nothing is lost.
    ///
    /// Patterns are looked for as soon as anything has come in: one that ends in `\d+` may match the first of several digits.
    pub async fn wait_for(&mut self, patterns: &[Regex], timeout: Duration) -> Result<Found, Unmet> {
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

    /// Reads what there is, waiting for it; how much that was. Nothing: the other side has gone.
    pub async fn listen(&mut self) -> io::Result<usize> {
        let mut read = [0; READ_BYTES];
        let count = match self.stream.read(&mut read).await {
            Ok(count) => count,
            // What a terminal says when its other end has closed.
            Err(error) if error.raw_os_error() == Some(rustix::io::Errno::IO.raw_os_error()) => 0,
            Err(error) if error.kind() == io::ErrorKind::ConnectionReset => 0,
            Err(error) => return Err(error),
        };
        self.is_closed |= count == 0;
        self.take(&read[..count])?;
        Ok(count)
    }

    /// Reads on until the other side has gone, at most for so long.
    pub async fn drain(&mut self, timeout: Duration) {
        let reading = async { while matches!(self.listen().await, Ok(1..)) {} };
        let _ = tokio::time::timeout(timeout, reading).await;
    }
}

impl<S: AsyncWrite + Unpin> Expect<S> {
    /// Says something.
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
            // A pattern that matches nothing would be found for ever.
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
