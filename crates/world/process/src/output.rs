//! The output of a program: kept up to a limit, shown live, with the last part also held in memory.

#![expect(clippy::disallowed_methods, reason = "these files are in the store, which no program can change")]

use std::{
    fs::File,
    io::{self, Seek, Write},
    sync::{Arc, Mutex, PoisonError},
    time::{Duration, Instant},
};

use interlock_activity::Attempt;
use interlock_journal::Evidence;
use tokio::io::{AsyncRead, AsyncReadExt};

/// The number of bytes at the end of a stream that the data of an outcome carries.
const TAIL_BYTES: usize = 4 * 1024;

/// The longest reported line; longer lines are cut.
const LINE_CHARS_MAX: usize = 240;

/// The shortest time between two progress lines of a program that prints a lot.
const TELL_EVERY: Duration = Duration::from_secs(1);

/// Selects the lines that are reported as progress.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tell {
    /// Report every line: each is meant as progress.
    Each,
    /// Report at most one line per second.
    NowAndThen,
    /// Report no line and do not show the output: only Interlock itself reads it.
    Nothing,
}

/// One output stream of a program.
#[derive(Debug)]
pub struct Stream {
    name: &'static str,
    file: File,
    kept: u64,
    bytes_max: u64,
    /// True if part of the output was beyond the limit and was not kept.
    pub is_truncated: bool,
    /// The last part of the output.
    pub tail: Tail,
    /// The time of the last output.
    pub heard: Option<Instant>,
    tell: Tell,
    line: Vec<u8>,
    /// Removes secrets before anything is stored or shown. Output with [`Tell::Nothing`] is redacted when it is kept.
    redaction: Option<interlock_redact::Stream>,
    /// The first error that kept part of the output from being written.
    broken: Option<String>,
}

/// Combines all streams of an attempt into one live file and one tail.
pub struct Shown {
    attempt: Attempt,
    live: Mutex<Live>,
}

struct Live {
    file: Option<File>,
    tail: Tail,
    told: Option<Instant>,
}

impl Shown {
    /// Opens the live file of an attempt. Watching is optional: if the file cannot be opened, the program runs
    /// anyway.
    pub fn new(attempt: &Attempt) -> Arc<Self> {
        let file = File::options().create(true).append(true).open(&attempt.live).ok();
        let live = Mutex::new(Live { file, tail: Tail::default(), told: None });
        Arc::new(Shown { attempt: attempt.clone(), live })
    }

    /// Returns the last line of all streams that is not blank.
    pub fn last_line(&self) -> Option<String> {
        let live = self.live.lock().unwrap_or_else(PoisonError::into_inner);
        let text = live.tail.text();
        text.lines().rev().map(str::trim).find(|line| !line.is_empty()).map(shortened)
    }

    fn show(&self, bytes: &[u8]) {
        let mut live = self.live.lock().unwrap_or_else(PoisonError::into_inner);
        live.tail.push(bytes);
        if let Some(file) = &mut live.file {
            let _ = file.write_all(bytes);
        }
    }

    fn tell(&self, line: &[u8], tell: Tell) {
        let text = String::from_utf8_lossy(line);
        let text = text.trim();
        let mut live = self.live.lock().unwrap_or_else(PoisonError::into_inner);
        let is_due = tell == Tell::Each || live.told.is_none_or(|told| told.elapsed() >= TELL_EVERY);
        if is_due && !text.is_empty() {
            live.told = Some(Instant::now());
            self.attempt.host.progress(&self.attempt.run, self.attempt.activity, &shortened(text));
        }
    }
}

impl std::fmt::Debug for Shown {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.debug_struct("Shown").field("live", &self.attempt.live).finish()
    }
}

impl Stream {
    /// Creates a stream that keeps at most `bytes_max` bytes.
    pub fn new(name: &'static str, bytes_max: u64, tell: Tell, attempt: &Attempt) -> io::Result<Self> {
        let folder = attempt.live.parent().unwrap_or(&attempt.folder);
        let file = tempfile::tempfile_in(folder)?;
        let (tail, line) = (Tail::default(), Vec::new());
        let redaction = (tell != Tell::Nothing).then(|| interlock_redact::Stream::new(attempt.evidence.redactor()));
        let (heard, broken) = (None, None);
        Ok(Stream { name, file, kept: 0, bytes_max, is_truncated: false, tail, heard, tell, line, redaction, broken })
    }

    /// Reads until the end of the stream. Output beyond the limit is read too, so that the program does not block.
    pub async fn pump(&mut self, from: Option<impl AsyncRead + Unpin>, shown: &Shown) {
        let Some(mut from) = from else { return };
        let mut buffer = vec![0; 16 * 1024];
        while let Ok(read @ 1..) = from.read(&mut buffer).await {
            self.heard = Some(Instant::now());
            match self.redaction.as_mut().map(|redaction| redaction.push(&buffer[..read])) {
                Some(redacted) => self.take(&redacted, shown),
                None => self.take(&buffer[..read], shown),
            }
        }
    }

    /// Takes the rest that the redaction held back: a last line without a line break.
    pub fn finish(&mut self, shown: &Shown) {
        if let Some(rest) = self.redaction.as_mut().map(interlock_redact::Stream::finish) {
            self.take(&rest, shown);
        }
    }

    fn take(&mut self, bytes: &[u8], shown: &Shown) {
        let room = usize::try_from(self.bytes_max - self.kept).unwrap_or(usize::MAX);
        let fitting = &bytes[..bytes.len().min(room)];
        self.is_truncated |= fitting.len() < bytes.len();
        // This writes to the page cache; the sync to disk happens when the output becomes evidence.
        if let Err(error) = self.file.write_all(fitting) {
            self.broken.get_or_insert(error.to_string());
        }
        self.kept += fitting.len() as u64;
        self.tail.push(bytes);
        if self.tell != Tell::Nothing {
            shown.show(fitting);
            self.tell_lines(bytes, shown);
        }
    }

    fn tell_lines(&mut self, bytes: &[u8], shown: &Shown) {
        for piece in bytes.split_inclusive(|byte| *byte == b'\n') {
            let room = (4 * LINE_CHARS_MAX).saturating_sub(self.line.len());
            self.line.extend(&piece[..piece.len().min(room)]);
            if piece.ends_with(b"\n") {
                shown.tell(&self.line, self.tell);
                self.line.clear();
            }
        }
    }

    /// Returns all output that was kept.
    pub fn content(&mut self) -> io::Result<Vec<u8>> {
        let mut content = Vec::new();
        self.file.rewind()?;
        io::Read::read_to_end(&mut self.file, &mut content)?;
        Ok(content)
    }

    /// Stores the output as evidence; returns `None` if there is no output. May block.
    pub fn keep(mut self, attempt: &Attempt) -> Result<Option<Evidence>, String> {
        if let Some(why) = self.broken {
            return Err(why);
        }
        if self.kept == 0 {
            return Ok(None);
        }
        self.file.rewind().map_err(|error| error.to_string())?;
        let kept = attempt.evidence.put_from(self.name, "text/plain", &self.file);
        kept.map(Some).map_err(|error| error.to_string())
    }
}

/// The last bytes of a long text.
#[derive(Clone, Debug, Default)]
pub struct Tail {
    bytes: Vec<u8>,
    is_cut: bool,
}

impl Tail {
    fn push(&mut self, bytes: &[u8]) {
        self.bytes.extend(&bytes[bytes.len().saturating_sub(TAIL_BYTES)..]);
        self.is_cut |= bytes.len() > TAIL_BYTES || self.bytes.len() > TAIL_BYTES;
        self.bytes.drain(..self.bytes.len().saturating_sub(TAIL_BYTES));
    }

    /// Returns the tail as text that does not start in the middle of a character.
    pub fn text(&self) -> String {
        let is_within = |byte: &&u8| **byte & 0b1100_0000 == 0b1000_0000;
        let skip = if self.is_cut { self.bytes.iter().take(3).take_while(is_within).count() } else { 0 };
        String::from_utf8_lossy(&self.bytes[skip..]).into_owned()
    }
}

fn shortened(line: &str) -> String {
    line.chars().take(LINE_CHARS_MAX).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tail_keeps_the_last_bytes_and_starts_at_a_character_boundary() {
        let mut tail = Tail::default();
        tail.push("short".as_bytes());
        assert_eq!(tail.text(), "short");
        tail.push("ä".repeat(3_000).as_bytes());
        tail.push(b"x");
        assert_eq!(tail.text(), format!("{}x", "ä".repeat(2_047)));
        tail.push(&[b'y'; 10_000]);
        assert_eq!(tail.text(), "y".repeat(4_096));
    }
}
