//! The end of the store's chain, in a file beside the database.
//!
//! SQLite drops a damaged end of its write-ahead log without a word, and an emptied database is a good database. This file is written after every
//! commit, so it is never ahead of what the database has promised. If it is ahead when the store is opened, records are gone.
//!
//! It is not synced: after a loss of power it may be behind, which means nothing.

use std::{
    fs::{File, OpenOptions},
    io::{self, Write as _},
    os::unix::fs::{FileExt as _, OpenOptionsExt as _},
    path::{Path, PathBuf},
};

use interlock_journal::{Error, Hash, Result, StoreHead};

/// The file's name in the store's folder.
const FILE: &str = "journal.head";

/// Losses that were noticed, one to a line. The file stays until a person removes it.
const LOSSES: &str = "journal.lost";

/// Length of the line: twenty digits, a blank, a hash, a line end.
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
    /// Opens the file, created if the store is new.
    pub(crate) fn open(folder: &Path) -> Result<Self> {
        let path = path(folder);
        let file = OpenOptions::new().read(true).write(true).create(true).truncate(false).mode(0o600).open(&path);
        Ok(HeadFile(file.map_err(|error| failed("open", &path, &error))?))
    }

    /// Notes a commit, unless a later one is noted already: another process may have been quicker.
    pub(crate) fn note(&self, head: &StoreHead) -> io::Result<()> {
        self.0.lock()?;
        let noted = match read(&self.0)? {
            Some(noted) if noted.records > head.records => Ok(()),
            _ => self.0.write_all_at(line(head).as_bytes(), 0),
        };
        self.0.unlock()?;
        noted
    }

    /// Replaces the note by one that is behind it. Only after the loss was written down.
    fn replace(&self, head: &StoreHead) -> io::Result<()> {
        self.0.write_all_at(line(head).as_bytes(), 0)
    }
}

/// Compares the file with the database when the store is opened. A loss is written down, once, and kept until a person removes the note.
pub(crate) fn compare(folder: &Path, file: &HeadFile, head: impl Fn() -> Result<StoreHead>) -> Result<()> {
    let failed = |error: io::Error| failed("use", &path(folder), &error);
    file.0.lock().map_err(failed)?;
    // The file first: a commit in between only makes the database newer.
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

/// The losses that were noticed when the store was opened.
pub(crate) fn losses(folder: &Path) -> Result<Vec<String>> {
    let path = folder.join(LOSSES);
    match std::fs::read_to_string(&path) {
        Ok(text) => Ok(text.lines().map(str::to_owned).collect()),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Vec::new()),
        Err(error) => Err(failed("read", &path, &error)),
    }
}

/// The content of the file, if there is any.
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
