//! Evidence: content that is too big for a record, stored once by its hash, however many runs refer to it.
//!
//! [`EvidenceStore`] is the handle that everything else uses. It redacts text before it is stored: the hash is that of the redacted
//! content, and no other content is ever written. [`Blobs`] is the seam to the storage itself: a directory
//! (`evidence_folder.rs`), or an object store for an engine that several machines share.

use std::{
    collections::BTreeSet,
    io::{self, Read},
    path::PathBuf,
    sync::{Arc, Mutex, PoisonError},
    time::{Duration, SystemTime},
};

use interlock_redact::{Reader, Redactor};

use crate::{Collected, Error, Evidence, Hash, Result, evidence_folder::Folder};

/// The number of bytes that are examined to decide if a content is text.
const LOOK_BYTES: u64 = 8 * 1024;

/// Storage of contents by their SHA-256.
pub trait Blobs: std::fmt::Debug + Send + Sync {
    /// Stores a content and returns its hash and its length. It need not be durable before [`Blobs::settle`].
    fn put(&self, content: &mut dyn Read) -> Result<(Hash, u64)>;

    /// Makes contents durable that were put before.
    fn settle(&self, hashes: &BTreeSet<Hash>) -> Result<()>;

    /// Returns a content. Fails if it is missing or does not fit its hash.
    fn get(&self, hash: &Hash) -> Result<Vec<u8>>;

    /// Fails if a content is not stored byte for byte as [`Blobs::put`] stores it.
    fn check(&self, hash: &Hash) -> Result<()>;

    /// The file of a content, stored or not; `None` if the storage has no files on this machine.
    fn path(&self, hash: &Hash) -> Option<PathBuf>;

    /// Removes contents that are not in `used` and were stored more than `grace` before `now`. A dry run only counts.
    fn collect(&self, used: &BTreeSet<Hash>, now: SystemTime, grace: Duration, is_dry: bool) -> Result<Collected>;
}

/// A handle to all evidence of a store.
#[derive(Clone, Debug)]
pub struct EvidenceStore {
    blobs: Arc<dyn Blobs>,
    /// Removes secrets from text that is put in.
    redactor: Option<Arc<Redactor>>,
    /// Contents that were put in and are not durable yet; `None` if every content is made durable at once.
    pending: Option<Arc<Mutex<BTreeSet<Hash>>>>,
}

impl EvidenceStore {
    /// Opens the evidence in a directory and creates the directory if it does not exist.
    pub fn open(folder: PathBuf) -> Result<Self> {
        Ok(Self::over(Arc::new(Folder::open(folder)?)))
    }

    /// Opens evidence that is only read: nothing is created.
    pub fn existing(folder: PathBuf) -> Self {
        Self::over(Arc::new(Folder::existing(folder)))
    }

    /// Returns a handle to the evidence in any storage.
    pub fn over(blobs: Arc<dyn Blobs>) -> Self {
        EvidenceStore { blobs, redactor: None, pending: None }
    }

    /// Returns a handle to the same store that makes contents durable only on [`settle`](Self::settle).
    #[must_use]
    pub fn deferring(&self) -> Self {
        EvidenceStore { pending: Some(Arc::default()), ..self.clone() }
    }

    /// Returns true if every content that was put in is durable.
    pub fn is_settled(&self) -> bool {
        self.pending.as_ref().is_none_or(|pending| pending.lock().unwrap_or_else(PoisonError::into_inner).is_empty())
    }

    /// Makes every content that was put in durable. No record may refer to it before.
    pub fn settle(&self) -> Result<()> {
        let Some(pending) = &self.pending else { return Ok(()) };
        let hashes = std::mem::take(&mut *pending.lock().unwrap_or_else(PoisonError::into_inner));
        self.blobs.settle(&hashes)
    }

    /// Returns a handle to the same store that removes secrets from all text that is put in.
    #[must_use]
    pub fn redacting(&self, redactor: Arc<Redactor>) -> Self {
        EvidenceStore { redactor: Some(redactor), ..self.clone() }
    }

    /// Returns the redactor, for code that shows text before it is put in.
    pub fn redactor(&self) -> Arc<Redactor> {
        self.redactor.clone().unwrap_or_default()
    }

    /// Stores some bytes and makes them durable, unless the handle defers that.
    pub fn put(&self, name: &str, media: &str, content: &[u8]) -> Result<Evidence> {
        self.put_from(name, media, content)
    }

    /// Stores the content of a reader, however long it is.
    pub fn put_from(&self, name: &str, media: &str, mut content: impl Read) -> Result<Evidence> {
        let Some(redactor) = self.redactor.clone() else { return self.put_as_it_is(name, media, content) };
        let mut begin = Vec::new();
        let looked = content.by_ref().take(LOOK_BYTES).read_to_end(&mut begin);
        looked.map_err(|error: io::Error| Error::io(format!("could not read {name}"), &error))?;
        let is_text = is_text(media) || !begin.contains(&0);
        let content = begin.as_slice().chain(content);
        match is_text {
            true => self.put_as_it_is(name, media, Reader::new(content, redactor)),
            false => self.put_as_it_is(name, media, content),
        }
    }

    fn put_as_it_is(&self, name: &str, media: &str, mut content: impl Read) -> Result<Evidence> {
        let (hash, bytes) = self.blobs.put(&mut content)?;
        match &self.pending {
            Some(pending) => drop(pending.lock().unwrap_or_else(PoisonError::into_inner).insert(hash)),
            None => self.blobs.settle(&BTreeSet::from([hash]))?,
        }
        Ok(Evidence { name: name.to_owned(), hash, media: media.to_owned(), bytes })
    }

    /// Returns a content by its hash.
    pub fn get(&self, hash: &Hash) -> Result<Vec<u8>> {
        self.blobs.get(hash)
    }

    /// Fails if a content is not stored exactly as it was written: content and every byte of its stored form.
    pub fn check(&self, hash: &Hash) -> Result<()> {
        self.blobs.check(hash)
    }

    /// The file of a content, stored or not; `None` if the storage has no files on this machine.
    pub fn path(&self, hash: &Hash) -> Option<PathBuf> {
        self.blobs.path(hash)
    }

    /// Removes contents that no record refers to and that are older than `grace`: a younger one may belong to a record that is
    /// about to be written.
    pub fn collect(&self, used: &BTreeSet<Hash>, now: SystemTime, grace: Duration, is_dry: bool) -> Result<Collected> {
        self.blobs.collect(used, now, grace, is_dry)
    }
}

/// Returns true if a media type names text.
fn is_text(media: &str) -> bool {
    let media = media.to_ascii_lowercase();
    media.starts_with("text/") || ["json", "xml", "yaml", "toml", "javascript"].iter().any(|kind| media.contains(kind))
}
