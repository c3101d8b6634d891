//! What is too big for a record: files, by the hash of their content, compressed, each stored once however many runs refer to it.
//!
//! What attempts leave goes through a store that redacts: the hash is that of the redacted content, and no other is ever written. The engine
//! keeps its own big records, redacted before, through one that does not.
//!
//! A file is on the disk before a record refers to it: at once, or, what an attempt leaves, when the attempt ends, all of it together. Until then
//! only a loss of power could lose it, and what it leaves half-written is known by its hash and written anew.

use std::{
    collections::BTreeSet,
    fs::{self, File},
    io::{self, Read, Write},
    path::{Path, PathBuf},
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
};

use interlock_redact::{Reader, Redactor};
use sha2::{Digest, Sha256};

use crate::{Error, Evidence, Hash, Result, private};

/// How hard evidence is compressed: fast, because somebody waits.
const LEVEL: i32 = 3;

/// How much of a content is looked at to see whether it is text.
const LOOK_BYTES: u64 = 8 * 1024;

/// The folder of all evidence.
#[derive(Clone, Debug)]
pub struct EvidenceStore {
    folder: PathBuf,
    /// Whether the folder of a first byte is known to be on the disk itself: to find that out costs as much as to see to it.
    settled: Arc<[AtomicBool; 256]>,
    /// What takes secrets out of what is put in.
    redactor: Option<Arc<Redactor>>,
    /// What was put in and is still to be brought to the disk; nothing where everything is brought there at once.
    pending: Option<Arc<Mutex<BTreeSet<Hash>>>>,
}

/// How much is brought to the disk at a time: a file system joins what it is asked for together.
const SYNCS_AT_ONCE: usize = 8;

/// Makes names of unfinished files differ within a process.
static UNFINISHED: AtomicU64 = AtomicU64::new(0);

impl EvidenceStore {
    /// Opens the evidence in a directory and creates the directory if it does not exist.
    pub fn open(folder: PathBuf) -> Result<Self> {
        private::folder(&folder)?;
        let settled = Arc::new([const { AtomicBool::new(false) }; 256]);
        Ok(EvidenceStore { folder, settled, redactor: None, pending: None })
    }

    /// The same store, which leaves it to [`settle`](Self::settle) to bring what is put in to the disk.
    #[must_use]
    pub fn deferring(&self) -> Self {
        EvidenceStore { pending: Some(Arc::default()), ..self.clone() }
    }

    /// Whether everything that was put in is on the disk.
    pub fn is_settled(&self) -> bool {
        self.pending.as_ref().is_none_or(|pending| pending.lock().unwrap_or_else(PoisonError::into_inner).is_empty())
    }

    /// Brings everything that was put in to the disk. No record may refer to it before.
    pub fn settle(&self) -> Result<()> {
        let Some(pending) = &self.pending else { return Ok(()) };
        let hashes = std::mem::take(&mut *pending.lock().unwrap_or_else(PoisonError::into_inner));
        self.bring(&hashes)
    }

    /// Brings files to the disk, and their names: files and folders alike, several at a time.
    fn bring(&self, hashes: &BTreeSet<Hash>) -> Result<()> {
        let files = hashes.iter().map(|hash| self.path(hash));
        let folders: BTreeSet<PathBuf> = files.clone().filter_map(|file| file.parent().map(Path::to_owned)).collect();
        let is_settled = |hash: &Hash| &self.settled[usize::from(hash.0[0])];
        let is_new = |hash: &Hash| !is_settled(hash).load(Ordering::Acquire);
        let own = hashes.iter().any(is_new).then(|| self.folder.clone());
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

    /// The same store, which takes the secrets out of all text that is put into it.
    #[must_use]
    pub fn redacting(&self, redactor: Arc<Redactor>) -> Self {
        EvidenceStore { redactor: Some(redactor), ..self.clone() }
    }

    /// What takes secrets out of text, for whoever shows it before it is put in.
    pub fn redactor(&self) -> Arc<Redactor> {
        self.redactor.clone().unwrap_or_default()
    }

    /// Keeps some bytes.
    pub fn put(&self, name: &str, media: &str, content: &[u8]) -> Result<Evidence> {
        self.put_from(name, media, content)
    }

    /// Keeps what a reader gives, however much it is.
    pub fn put_from(&self, name: &str, media: &str, mut content: impl Read) -> Result<Evidence> {
        let Some(redactor) = self.redactor.clone() else { return self.put_as_it_is(name, media, content) };
        let mut begin = Vec::new();
        let looked = content.by_ref().take(LOOK_BYTES).read_to_end(&mut begin);
        looked.map_err(|error| failed("read", Path::new(name), &error))?;
        let is_text = is_text(media) || !begin.contains(&0);
        let content = begin.as_slice().chain(content);
        match is_text {
            true => self.put_as_it_is(name, media, Reader::new(content, redactor)),
            false => self.put_as_it_is(name, media, content),
        }
    }

    fn put_as_it_is(&self, name: &str, media: &str, content: impl Read) -> Result<Evidence> {
        let unfinished = self.folder.join(format!(
            "unfinished-{}-{}",
            std::process::id(),
            UNFINISHED.fetch_add(1, Ordering::Relaxed)
        ));
        let written = self.write(&unfinished, content);
        if written.is_err() {
            let _ = fs::remove_file(&unfinished);
        }
        let (hash, bytes) = written?;
        Ok(Evidence { name: name.to_owned(), hash, media: media.to_owned(), bytes })
    }

    fn write(&self, unfinished: &Path, mut content: impl Read) -> Result<(Hash, u64)> {
        let wrong = |error: io::Error| failed("write", unfinished, &error);
        let file = File::create_new(unfinished).map_err(wrong)?;
        let mut encoder = zstd::Encoder::new(file, LEVEL).map_err(wrong)?;
        encoder.include_checksum(true).map_err(wrong)?;
        let (mut hasher, mut bytes, mut buffer) = (Sha256::new(), 0, vec![0; 64 * 1024]);
        loop {
            let read = fill(&mut content, &mut buffer).map_err(wrong)?;
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

    /// Where it is there already, that one stays, made younger so that a collection under way spares it. It is brought to the disk all the
    /// same: whoever has put it there may not have come so far.
    fn keep(&self, unfinished: &Path, hash: &Hash) -> Result<()> {
        let path = self.path(hash);
        let folder = path.parent().unwrap_or(&self.folder);
        if self.is_good(hash) {
            let _ = fs::remove_file(unfinished);
            File::open(&path)
                .and_then(|kept| kept.set_modified(std::time::SystemTime::now()))
                .map_err(|error| failed("touch", &path, &error))?;
        } else {
            fs::create_dir_all(folder).map_err(|error| failed("make", folder, &error))?;
            fs::rename(unfinished, &path).map_err(|error| failed("name", &path, &error))?;
        }
        match &self.pending {
            Some(pending) => {
                pending.lock().unwrap_or_else(PoisonError::into_inner).insert(*hash);
                Ok(())
            }
            None => self.bring(&BTreeSet::from([*hash])),
        }
    }

    /// A file's content.
    pub fn get(&self, hash: &Hash) -> Result<Vec<u8>> {
        let path = self.path(hash);
        let packed = fs::read(&path).map_err(|error| match error.kind() {
            io::ErrorKind::NotFound => damaged(hash, "its file is not there"),
            _ => failed("read", &path, &error),
        })?;
        let content = zstd::decode_all(packed.as_slice()).map_err(|error| damaged(hash, &error.to_string()))?;
        match Hash::of(&content) == *hash {
            true => Ok(content),
            false => Err(damaged(hash, "its content has another hash")),
        }
    }

    /// Whether a file is exactly as it was written: not only its content but every byte of how it is stored.
    pub fn check(&self, hash: &Hash) -> Result<()> {
        let content = self.get(hash)?;
        let path = self.path(hash);
        let stored = fs::read(&path).map_err(|error| failed("read", &path, &error))?;
        match pack(&content).is_ok_and(|packed| packed == stored) {
            true => Ok(()),
            false => Err(damaged(hash, "its file is not what this content is stored as")),
        }
    }

    fn is_good(&self, hash: &Hash) -> bool {
        self.get(hash).is_ok()
    }

    /// Where a file is or would be.
    pub fn path(&self, hash: &Hash) -> PathBuf {
        let name = hash.to_string();
        self.folder.join(&name[..2]).join(format!("{}.zst", &name[2..]))
    }

    /// Every file, with how it is named; unfinished ones have no hash.
    pub(crate) fn files(&self) -> Result<Vec<(Option<Hash>, PathBuf)>> {
        let mut found = Vec::new();
        for entry in read_dir(&self.folder)? {
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

/// Whether a media type says that it is text.
fn is_text(media: &str) -> bool {
    let media = media.to_ascii_lowercase();
    media.starts_with("text/") || ["json", "xml", "yaml", "toml", "javascript"].iter().any(|kind| media.contains(kind))
}

/// Reads as much as the buffer holds: pieces of another length would be packed into other bytes.
fn fill(content: &mut impl Read, buffer: &mut [u8]) -> io::Result<usize> {
    let mut filled = 0;
    while filled < buffer.len() {
        match content.read(&mut buffer[filled..])? {
            0 => break,
            read => filled += read,
        }
    }
    Ok(filled)
}

/// What a content is stored as: the same bytes for the same content.
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

/// A file or a folder.
fn sync(path: &Path) -> Result<()> {
    File::open(path).and_then(|file| file.sync_all()).map_err(|error| failed("sync", path, &error))
}

fn broken_off() -> Error {
    Error::io("could not bring evidence to the disk".to_owned(), &io::Error::other("it broke off"))
}

fn failed(doing: &str, path: &Path, error: &io::Error) -> Error {
    Error::io(format!("could not {doing} {}", path.display()), error)
}

fn damaged(hash: &Hash, why: &str) -> Error {
    Error::Damaged { what: format!("evidence {hash}"), why: why.to_owned() }
}
