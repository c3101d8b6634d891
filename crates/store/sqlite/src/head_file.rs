//! The end of the store's chain, in a file beside the database.
//!
//! SQLite silently drops a damaged end of its write-ahead log, and an emptied database is still a valid database. This
//! file is written after every commit, so it is never ahead of the records that the database has committed. If it is
//! ahead when the store is opened, records are lost.
//!
//! It is not synced: after a loss of power it may be behind, which is no sign of a loss.

#![expect(clippy::disallowed_methods, reason = "these files are in the store, which no program can change")]

use std::{
    fs::{File, OpenOptions},
    io::{self, Write as _},
    os::unix::fs::{FileExt as _, OpenOptionsExt as _},
    path::{Path, PathBuf},
};

use interlock_journal::{Error, Hash, Result, StoreHead};

/// The file's name in the store's directory.
const FILE: &str = "journal.head";

/// The file of losses that were noticed, one per line. It stays until a person removes it.
const LOSSES: &str = "journal.lost";

/// The length of the line: twenty digits, a space, a hash and a line end.
const LINE: usize = 20 + 1 + 64 + 1;

/// The file, open for writing.
#[derive(Debug)]
pub(crate) struct HeadFile(File);

/// The content of the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Noted {
    pub(crate) records: u64,
    pub(crate) hash: Hash,
}

impl HeadFile {
    /// Opens the file, and creates it if the store is new.
    pub(crate) fn open(folder: &Path) -> Result<Self> {
        let path = path(folder);
        let file = OpenOptions::new().read(true).write(true).create(true).truncate(false).mode(0o600).open(&path);
        Ok(HeadFile(file.map_err(|error| failed("open", &path, &error))?))
    }

    /// Records the end of the chain after a commit, unless the file has a later one: another process may have been
    /// faster.
    pub(crate) fn note(&self, head: &StoreHead) -> io::Result<()> {
        self.0.lock()?;
        let noted = match read(&self.0)? {
            Some(noted) if noted.records > head.records => Ok(()),
            _ => self.0.write_all_at(line(head).as_bytes(), 0),
        };
        self.0.unlock()?;
        noted
    }

    /// Replaces the recorded end by an earlier one. Call it only after the loss was recorded.
    fn replace(&self, head: &StoreHead) -> io::Result<()> {
        self.0.write_all_at(line(head).as_bytes(), 0)
    }
}

/// Compares the file with the database when the store is opened. A loss is recorded once and kept until a person
/// removes the file of losses.
pub(crate) fn compare(folder: &Path, file: &HeadFile, head: impl Fn() -> Result<StoreHead>) -> Result<()> {
    let failed = |error: io::Error| failed("use", &path(folder), &error);
    file.0.lock().map_err(failed)?;
    // Read the file before the database: a commit between the two reads only makes the database newer.
    let noted = read(&file.0).map_err(failed)?;
    let head = head()?;
    if let Some(noted) = noted
        && (noted.records > head.records || (noted.records == head.records && noted.hash != head.hash))
    {
        write_down(folder, &noted, &head).map_err(failed)?;
        file.replace(&head).map_err(failed)?;
    }
    file.0.unlock().map_err(failed)
}

fn write_down(folder: &Path, noted: &Noted, head: &StoreHead) -> io::Result<()> {
    let mut file = OpenOptions::new().append(true).create(true).mode(0o600).open(folder.join(LOSSES))?;
    writeln!(
        file,
        "the store had {} records ending in {}; when it was opened again it had {} ending in {}",
        noted.records, noted.hash, head.records, head.hash
    )?;
    file.sync_all()
}

/// Returns the losses that were noticed when the store was opened.
pub(crate) fn losses(folder: &Path) -> Result<Vec<String>> {
    let path = folder.join(LOSSES);
    match std::fs::read_to_string(&path) {
        Ok(text) => Ok(text.lines().map(str::to_owned).collect()),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Vec::new()),
        Err(error) => Err(failed("read", &path, &error)),
    }
}

/// Returns the content of the file, if it has any.
pub(crate) fn noted(folder: &Path) -> Result<Option<Noted>> {
    let path = path(folder);
    match File::open(&path).and_then(|file| read(&file)) {
        Ok(noted) => Ok(noted),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(failed("read", &path, &error)),
    }
}

fn line(head: &StoreHead) -> String {
    format!("{:020} {}\n", head.records, head.hash)
}

fn read(file: &File) -> io::Result<Option<Noted>> {
    let mut bytes = [0; LINE];
    match file.read_exact_at(&mut bytes, 0) {
        Ok(()) => {}
        Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => return Ok(None),
        Err(error) => return Err(error),
    }
    let text = String::from_utf8_lossy(&bytes);
    let parsed = text
        .trim_end()
        .split_once(' ')
        .and_then(|(records, hash)| Some(Noted { records: records.parse().ok()?, hash: Hash::from_hex(hash)? }));
    Ok(parsed)
}

fn path(folder: &Path) -> PathBuf {
    folder.join(FILE)
}

fn failed(doing: &str, path: &Path, error: &io::Error) -> Error {
    Error::io(format!("could not {doing} {}", path.display()), error)
}
