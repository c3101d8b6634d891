//! What a program prints: kept whole up to a limit, shown while it comes in, remembered by its end.

use std::{
    fs::File,
    io::{self, Seek, Write},
    sync::{Arc, Mutex, PoisonError},
    time::{Duration, Instant},
};

use interlock_activity::Attempt;
use interlock_journal::Evidence;
use tokio::io::{AsyncRead, AsyncReadExt};

/// How much of the end of a stream the data of an outcome carries.
const TAIL_BYTES: usize = 4 * 1024;

/// The longest line that is reported.
const LINE_CHARS_MAX: usize = 240;

/// How often a program that prints a lot says how far it has come.
const TELL_EVERY: Duration = Duration::from_secs(1);

/// Which lines are told to those who watch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tell {
    /// Every one: they are meant as that.
    Each,
    /// One a second.
    NowAndThen,
    /// None, nor is the output shown: it is meant for us.
    Nothing,
}

/// One stream of a program.
#[derive(Debug)]
pub struct Stream {
    name: &'static str,
    file: File,
    kept: u64,
    bytes_max: u64,
    /// Whether some of it was not kept.
    pub is_truncated: bool,
    /// The end of it.
    pub tail: Tail,
    /// When something was printed last.
    pub heard: Option<Instant>,
    tell: Tell,
    line: Vec<u8>,
    /// Takes secrets out before anything is written down or shown. What is meant for us alone is redacted when it is kept.
    redaction: Option<interlock_redact::Stream>,
    /// Why not all of it could be written down.
    broken: Option<String>,
}

/// What all streams of a try come together in.
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
    /// Watching is a courtesy: where its file cannot be made, the program runs all the same.
    pub fn new(attempt: &Attempt) -> Arc<Self> {
        let file = File::options().create(true).append(true).open(&attempt.live).ok();
        let live = Mutex::new(Live { file, tail: Tail::default(), told: None });
        Arc::new(Shown { attempt: attempt.clone(), live })
    }

    /// The last line of all that has something on it.
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
    /// A stream of which at most so much is kept.
    pub fn new(name: &'static str, bytes_max: u64, tell: Tell, attempt: &Attempt) -> io::Result<Self> {
        let folder = attempt.live.parent().unwrap_or(&attempt.folder);
        let file = tempfile::tempfile_in(folder)?;
        let (tail, line) = (Tail::default(), Vec::new());
        let redaction = (tell != Tell::Nothing).then(|| interlock_redact::Stream::new(attempt.evidence.redactor()));
        let (heard, broken) = (None, None);
        Ok(Stream { name, file, kept: 0, bytes_max, is_truncated: false, tail, heard, tell, line, redaction, broken })
    }

    /// Reads until there is no more. What is beyond the limit is read, too, so that the program does not have to wait.
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

    /// What was held back: a last line without its end.
    pub fn finish(&mut self, shown: &Shown) {
        if let Some(rest) = self.redaction.as_mut().map(interlock_redact::Stream::finish) {
            self.take(&rest, shown);
        }
    }

    fn take(&mut self, bytes: &[u8], shown: &Shown) {
        let room = usize::try_from(self.bytes_max - self.kept).unwrap_or(usize::MAX);
        let fitting = &bytes[..bytes.len().min(room)];
        self.is_truncated |= fitting.len() < bytes.len();
        // Into the page cache; waiting for the disk comes when it is made evidence.
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

    /// All that was kept.
    pub fn content(&mut self) -> io::Result<Vec<u8>> {
        let mut content = Vec::new();
        self.file.rewind()?;
        io::Read::read_to_end(&mut self.file, &mut content)?;
        Ok(content)
    }

    /// Makes it evidence, unless there is none. May block.
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

/// The end of something long.
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

    /// As text that does not begin within a character.
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
    fn a_tail_is_the_end_and_begins_with_a_whole_character() {
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
