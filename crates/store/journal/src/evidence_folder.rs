//! Evidence in a directory: one compressed file per content, named by the hash of the content.
//!
//! A file is on the disk before a record refers to it: at once, or, for the files of an attempt, when the attempt ends.
//! Until then only a loss of power could lose it. A file that a loss of power has left half-written does not fit its
//! hash and is written again.

#![expect(clippy::disallowed_methods, reason = "these files are in the store, which no program can change")]

use std::{
    collections::BTreeSet,
    fs::{self, File},
    io::{self, Read, Write},
    path::{Path, PathBuf},
    sync::atomic::{AtomicBool, AtomicU64, Ordering},
    time::{Duration, SystemTime},
};

use sha2::{Digest, Sha256};

use crate::{Collected, Error, Hash, Result, evidence::Blobs, private};

/// The compression level of evidence: a fast one, because an attempt waits for it.
const LEVEL: i32 = 3;

/// The number of files that are synced at a time: a file system joins requests that arrive together.
const SYNCS_AT_ONCE: usize = 8;

/// A counter that makes the names of unfinished files unique within a process.
static UNFINISHED: AtomicU64 = AtomicU64::new(0);

/// The directory of all evidence.
#[derive(Debug)]
pub(crate) struct Folder {
    path: PathBuf,
    /// True if the subdirectory for a first byte is known to be on the disk. To find that out costs as much as to sync
    /// it.
    settled: [AtomicBool; 256],
}

impl Folder {
    pub(crate) fn open(path: PathBuf) -> Result<Self> {
        private::folder(&path)?;
        Ok(Self::existing(path))
    }

    pub(crate) fn existing(path: PathBuf) -> Self {
        Folder { path, settled: [const { AtomicBool::new(false) }; 256] }
    }

    fn file(&self, hash: &Hash) -> PathBuf {
        let name = hash.to_string();
        self.path.join(&name[..2]).join(format!("{}.zst", &name[2..]))
    }

    /// Syncs files and the directories that name them, several at a time.
    fn sync_all(&self, hashes: &BTreeSet<Hash>) -> Result<()> {
        let files = hashes.iter().map(|hash| self.file(hash));
        let folders: BTreeSet<PathBuf> = files.clone().filter_map(|file| file.parent().map(Path::to_owned)).collect();
        let is_settled = |hash: &Hash| &self.settled[usize::from(hash.0[0])];
        let is_new = |hash: &Hash| !is_settled(hash).load(Ordering::Acquire);
        let own = hashes.iter().any(is_new).then(|| self.path.clone());
        let all: Vec<PathBuf> = files.chain(folders).chain(own).collect();
        for some in all.chunks(SYNCS_AT_ONCE) {
            let [others @ .., last] = some else { continue };
            std::thread::scope(|scope| {
                let others: Vec<_> = others.iter().map(|path| scope.spawn(|| sync(path))).collect();
                let last = sync(last);
                others.into_iter().try_for_each(|other| other.join().unwrap_or_else(|_| Err(broken_off())))?;
                last
            })?;
        }
        hashes.iter().for_each(|hash| is_settled(hash).store(true, Ordering::Release));
        Ok(())
    }

    fn write(&self, unfinished: &Path, content: &mut dyn Read) -> Result<(Hash, u64)> {
        let wrong = |error: io::Error| failed("write", unfinished, &error);
        let file = File::create_new(unfinished).map_err(wrong)?;
        let mut encoder = zstd::Encoder::new(file, LEVEL).map_err(wrong)?;
        encoder.include_checksum(true).map_err(wrong)?;
        let (mut hasher, mut bytes, mut buffer) = (Sha256::new(), 0, vec![0; 64 * 1024]);
        loop {
            let read = fill(content, &mut buffer).map_err(wrong)?;
            if read == 0 {
                break;
            }
            hasher.update(&buffer[..read]);
            encoder.write_all(&buffer[..read]).map_err(wrong)?;
            bytes += read as u64;
        }
        encoder.finish().map_err(wrong)?;
        let hash = Hash(hasher.finalize().into());
        self.keep(unfinished, &hash)?;
        Ok((hash, bytes))
    }

    /// Moves an unfinished file to its place. If the content is stored already, the existing file stays and gets a new
    /// modification time, so that a collection under way spares it.
    fn keep(&self, unfinished: &Path, hash: &Hash) -> Result<()> {
        let path = self.file(hash);
        let folder = path.parent().unwrap_or(&self.path);
        if self.get(hash).is_ok() {
            let _ = fs::remove_file(unfinished);
            File::open(&path)
                .and_then(|kept| kept.set_modified(SystemTime::now()))
                .map_err(|error| failed("touch", &path, &error))
        } else {
            fs::create_dir_all(folder).map_err(|error| failed("make", folder, &error))?;
            fs::rename(unfinished, &path).map_err(|error| failed("name", &path, &error))
        }
    }

    /// Returns every file with its hash; unfinished files have none.
    fn files(&self) -> Result<Vec<(Option<Hash>, PathBuf)>> {
        let mut found = Vec::new();
        for entry in read_dir(&self.path)? {
            if !entry.is_dir() {
                found.push((None, entry));
                continue;
            }
            let prefix = entry.file_name().unwrap_or_default().to_string_lossy().into_owned();
            for file in read_dir(&entry)? {
                let rest = file.file_stem().unwrap_or_default().to_string_lossy().into_owned();
                found.push((Hash::from_hex(&format!("{prefix}{rest}")), file));
            }
        }
        Ok(found)
    }
}

impl Blobs for Folder {
    fn put(&self, content: &mut dyn Read) -> Result<(Hash, u64)> {
        let unfinished =
            self.path.join(format!("unfinished-{}-{}", std::process::id(), UNFINISHED.fetch_add(1, Ordering::Relaxed)));
        let written = self.write(&unfinished, content);
        if written.is_err() {
            let _ = fs::remove_file(&unfinished);
        }
        written
    }

    /// Syncs files that existed before too: the process that wrote them may not have synced them.
    fn settle(&self, hashes: &BTreeSet<Hash>) -> Result<()> {
        self.sync_all(hashes)
    }

    fn get(&self, hash: &Hash) -> Result<Vec<u8>> {
        let path = self.file(hash);
        let packed = fs::read(&path).map_err(|error| match error.kind() {
            io::ErrorKind::NotFound => damaged(hash, "its file is missing"),
            _ => failed("read", &path, &error),
        })?;
        let content = zstd::decode_all(packed.as_slice()).map_err(|error| damaged(hash, &error.to_string()))?;
        match Hash::of(&content) == *hash {
            true => Ok(content),
            false => Err(damaged(hash, "its content has another hash")),
        }
    }

    fn check(&self, hash: &Hash) -> Result<()> {
        let content = self.get(hash)?;
        let path = self.file(hash);
        let stored = fs::read(&path).map_err(|error| failed("read", &path, &error))?;
        match pack(&content).is_ok_and(|packed| packed == stored) {
            true => Ok(()),
            false => Err(damaged(hash, "its file differs from the stored form of this content")),
        }
    }

    fn path(&self, hash: &Hash) -> Option<PathBuf> {
        Some(self.file(hash))
    }

    fn collect(&self, used: &BTreeSet<Hash>, now: SystemTime, grace: Duration, is_dry: bool) -> Result<Collected> {
        let mut collected = Collected::default();
        for (hash, path) in self.files()? {
            let Ok(metadata) = fs::metadata(&path) else { continue };
            let modified = metadata.modified().ok();
            let age = modified.and_then(|modified| now.duration_since(modified).ok()).unwrap_or_default();
            if hash.is_some_and(|hash| used.contains(&hash)) || age < grace {
                collected.kept += 1;
                continue;
            }
            if is_dry || fs::remove_file(&path).is_ok() {
                collected.removed += 1;
                collected.bytes += metadata.len();
            }
        }
        Ok(collected)
    }
}

/// Reads until the buffer is full or the content ends: pieces of another length would be compressed to other bytes.
fn fill(content: &mut dyn Read, buffer: &mut [u8]) -> io::Result<usize> {
    let mut filled = 0;
    while filled < buffer.len() {
        match content.read(&mut buffer[filled..])? {
            0 => break,
            read => filled += read,
        }
    }
    Ok(filled)
}

/// Returns the stored form of a content: the same bytes for the same content.
fn pack(content: &[u8]) -> io::Result<Vec<u8>> {
    let mut encoder = zstd::Encoder::new(Vec::new(), LEVEL)?;
    encoder.include_checksum(true)?;
    for piece in content.chunks(64 * 1024) {
        encoder.write_all(piece)?;
    }
    encoder.finish()
}

fn read_dir(folder: &Path) -> Result<Vec<PathBuf>> {
    let wrong = |error: io::Error| failed("read", folder, &error);
    let entries = fs::read_dir(folder).map_err(wrong)?;
    entries.map(|entry| entry.map(|entry| entry.path()).map_err(wrong)).collect()
}

/// Syncs a file or a directory.
fn sync(path: &Path) -> Result<()> {
    File::open(path).and_then(|file| file.sync_all()).map_err(|error| failed("sync", path, &error))
}

fn broken_off() -> Error {
    Error::io("could not write evidence to the disk".to_owned(), &io::Error::other("it broke off"))
}

fn failed(doing: &str, path: &Path, error: &io::Error) -> Error {
    Error::io(format!("could not {doing} {}", path.display()), error)
}

fn damaged(hash: &Hash, why: &str) -> Error {
    Error::Damaged { what: format!("evidence {hash}"), why: why.to_owned() }
}
