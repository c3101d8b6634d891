//! The transcript of a turn. It goes to an anonymous file while it arrives, so that memory does not grow with it, and
//! becomes evidence, redacted, at the end. People who watch see the readable part in the live file.

#![expect(clippy::disallowed_methods, reason = "these files are in the store, which no program can change")]

use std::{
    fs::File,
    io::{self, Seek, Write},
};

use interlock_activity::Attempt;
use interlock_journal::Evidence;

/// The number of bytes of a transcript that are kept.
const BYTES_MAX: u64 = 1_024 * 1_024 * 1_024;

/// The transcript of a turn.
pub(crate) struct Record {
    attempt: Attempt,
    name: String,
    file: File,
    live: Option<File>,
    kept: u64,
    broken: Option<String>,
}

impl Record {
    /// Creates an empty transcript. `name` is the agent's, shown to watchers.
    pub(crate) fn new(attempt: &Attempt, name: &str) -> io::Result<Self> {
        let folder = attempt.live.parent().unwrap_or(&attempt.folder);
        std::fs::create_dir_all(folder)?;
        let file = tempfile::tempfile_in(folder)?;
        // Watching is optional: if the live file cannot be opened, the turn goes on.
        let live = File::options().create(true).append(true).open(&attempt.live).ok();
        Ok(Record { attempt: attempt.clone(), name: name.to_owned(), file, live, kept: 0, broken: None })
    }

    /// Adds one line that was sent (`>`) or received (`<`).
    pub(crate) fn line(&mut self, direction: char, line: &[u8]) {
        let size = line.len() as u64 + 3;
        if self.kept + size > BYTES_MAX {
            return;
        }
        self.kept += size;
        let text = [&[direction as u8, b' '][..], line.trim_ascii_end(), b"\n"].concat();
        if let Err(error) = self.file.write_all(&text) {
            self.broken.get_or_insert(error.to_string());
        }
    }

    /// Shows a line to watchers.
    pub(crate) fn show(&mut self, text: &str) {
        let redactor = self.attempt.evidence.redactor();
        let text = redactor.text(text);
        if let Some(live) = &mut self.live {
            let _ = writeln!(live, "{}", text.trim_end());
        }
        let Some(line) = text.lines().rev().map(str::trim).find(|line| !line.is_empty()) else { return };
        let line: String = line.chars().take(200).collect();
        self.attempt.host.progress(&self.attempt.run, self.attempt.activity, &format!("{}: {line}", self.name));
    }

    /// Stores the transcript. May block.
    pub(crate) fn keep(mut self) -> Result<Evidence, String> {
        if let Some(why) = self.broken {
            return Err(why);
        }
        self.file.rewind().map_err(|error| error.to_string())?;
        self.attempt.evidence.put_from("transcript", "text/plain", &self.file).map_err(|error| error.to_string())
    }
}
