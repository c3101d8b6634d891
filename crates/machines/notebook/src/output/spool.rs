//! Text that is too long for the document: written to a temporary file, with the end also held in memory.

use std::{
    fs::File,
    io::{Seek as _, Write as _},
};

use interlock_journal::{Evidence, EvidenceStore};

use super::effect::border_after;

/// The number of bytes that are kept. The rest is counted only.
const BYTES_MAX: u64 = 256 * 1_024 * 1_024;

/// The number of bytes at the end of the text that the document shows.
const TAIL_BYTES: usize = 64 * 1_024;

/// The text of a cell that printed too much.
#[derive(Debug)]
pub(crate) struct Spool {
    file: Result<File, String>,
    bytes: u64,
    /// The bytes before the first `push`, which the document shows as they are.
    before: u64,
    tail: String,
}

impl Spool {
    /// Creates a spool that begins with text that came before.
    pub(crate) fn new<'t>(before: impl Iterator<Item = &'t str>) -> Self {
        let file = tempfile::tempfile().map_err(|error| error.to_string());
        let mut spool = Spool { file, bytes: 0, before: 0, tail: String::new() };
        before.for_each(|text| spool.write(text));
        spool.before = spool.bytes;
        spool
    }

    /// Adds text.
    pub(crate) fn push(&mut self, text: &str) {
        self.write(text);
        self.tail.push_str(text);
        if self.tail.len() > 2 * TAIL_BYTES {
            self.tail.drain(..border_after(&self.tail, self.tail.len() - TAIL_BYTES));
        }
    }

    fn write(&mut self, text: &str) {
        self.bytes += text.len() as u64;
        if self.bytes > BYTES_MAX {
            return;
        }
        if let Ok(file) = &mut self.file
            && let Err(error) = file.write_all(text.as_bytes())
        {
            self.file = Err(error.to_string());
        }
    }

    /// Stores the text as evidence. Returns it with the text that the document shows at its end. May block.
    pub(crate) fn finish(mut self, store: &EvidenceStore) -> Result<(Evidence, String), String> {
        let mut file = self.file?;
        file.rewind().map_err(|error| error.to_string())?;
        let kept = store.put_from("output", "text/plain", &file).map_err(|error| error.to_string())?;
        self.tail.drain(..border_after(&self.tail, self.tail.len().saturating_sub(TAIL_BYTES)));
        let cut = self.bytes - self.before - self.tail.len() as u64;
        let lost = self.bytes.saturating_sub(BYTES_MAX);
        let lost = if lost > 0 { format!("; its last {lost} bytes are not kept") } else { String::new() };
        let shown = format!(
            "\n[Interlock: {cut} bytes are left out here. The output of {} bytes is evidence {}{lost}.]\n{}",
            self.bytes, kept.hash, self.tail
        );
        Ok((kept, shown))
    }
}
