//! Redaction of bytes that arrive in pieces. Lines are the unit: an incomplete line is held back, so that no secret
//! passes at the boundary of two pieces.

use std::{
    io::{self, Read},
    sync::Arc,
};

use crate::{Redactor, multiline, redactor::Position};

/// The maximum length of a line that is held back. The beginning of a longer one is released, cut between words.
const LINE_BYTES_MAX: usize = 64 * 1024;

/// The length of the part that is held back when a long line is released: longer than any token.
const HELD_BYTES: usize = 8 * 1024;

/// A stream that is redacted.
#[derive(Clone, Debug)]
pub struct Stream {
    redactor: Arc<Redactor>,
    /// The incomplete last line.
    held: Vec<u8>,
    position: Position,
}

impl Stream {
    /// Creates an empty stream.
    pub fn new(redactor: Arc<Redactor>) -> Self {
        Stream { redactor, held: Vec::new(), position: Position::default() }
    }

    /// Appends a piece; returns the redacted text that is complete.
    pub fn push(&mut self, piece: &[u8]) -> Vec<u8> {
        self.held.extend(piece);
        let is_end = |byte: &u8| matches!(byte, b'\n' | b'\r');
        // Only the new piece can contain a line end.
        let from = self.held.len() - piece.len();
        let ready = match self.held[from..].iter().rposition(is_end) {
            Some(end) => multiline::hold_back(&self.held[..from + end + 1]),
            None if self.held.len() > LINE_BYTES_MAX => cut(&self.held),
            None => return Vec::new(),
        };
        let rest = self.held.split_off(ready);
        let lines = std::mem::replace(&mut self.held, rest);
        self.redactor.lines(&lines, &mut self.position).into_owned()
    }

    /// Returns the redacted rest, when no more pieces follow.
    pub fn finish(&mut self) -> Vec<u8> {
        let rest = std::mem::take(&mut self.held);
        self.redactor.lines(&rest, &mut self.position).into_owned()
    }
}

/// Returns the position at which a line that is too long can be cut.
fn cut(line: &[u8]) -> usize {
    let latest = line.len() - HELD_BYTES;
    let is_apart = |byte: &u8| byte.is_ascii_whitespace() || matches!(byte, b',' | b';');
    line[..latest].iter().rposition(is_apart).filter(|at| *at > 0).unwrap_or(latest)
}

/// A reader that redacts the bytes of another reader.
#[derive(Debug)]
pub struct Reader<R> {
    from: R,
    stream: Stream,
    ready: Vec<u8>,
    given: usize,
    is_over: bool,
}

impl<R: Read> Reader<R> {
    /// Wraps `from`; reads return its bytes without secrets.
    pub fn new(from: R, redactor: Arc<Redactor>) -> Self {
        Reader { from, stream: Stream::new(redactor), ready: Vec::new(), given: 0, is_over: false }
    }

    fn fill(&mut self) -> io::Result<()> {
        let mut buffer = vec![0; 64 * 1024];
        while self.given == self.ready.len() && !self.is_over {
            let read = self.from.read(&mut buffer)?;
            self.is_over = read == 0;
            self.ready = if self.is_over { self.stream.finish() } else { self.stream.push(&buffer[..read]) };
            self.given = 0;
        }
        Ok(())
    }
}

impl<R: Read> Read for Reader<R> {
    /// Fills the buffer if enough bytes are available, as reading from a file does.
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let mut filled = 0;
        while filled < buffer.len() {
            self.fill()?;
            let ready = &self.ready[self.given..];
            if ready.is_empty() {
                break;
            }
            let length = ready.len().min(buffer.len() - filled);
            buffer[filled..filled + length].copy_from_slice(&ready[..length]);
            filled += length;
            self.given += length;
        }
        Ok(filled)
    }
}
