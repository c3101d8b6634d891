//! Git objects as single files, written and read without starting `git`. Starting it takes longer than writing the few
//! objects that most attempts change.

#![expect(
    clippy::disallowed_methods,
    reason = "the private directory of a workspace is in the store, which no program can change"
)]

use std::{
    fmt,
    fs::{DirBuilder, File, Permissions},
    io::{self, Read, Write},
    os::unix::fs::{DirBuilderExt, PermissionsExt},
    path::{Path, PathBuf},
    time::SystemTime,
};

use flate2::{Compression, read::ZlibDecoder, write::ZlibEncoder};
use sha2::{Digest as _, Sha256};

use crate::private::{Private, hex, unhex};

/// The prefix of objects that are being written. `git gc` removes those that a crash has left.
const UNFINISHED: &str = "tmp_obj_";

/// Maximum size of the header of an object: its kind, its length and a NUL byte.
const HEADER_BYTES_MAX: u64 = 32;

/// The hash of an object.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Hash(Box<[u8]>);

impl Hash {
    /// Parses hexadecimal digits.
    pub(crate) fn parse(digits: &str) -> Option<Self> {
        unhex(digits).filter(|bytes| [20, 32].contains(&bytes.len())).map(|bytes| Hash(bytes.into()))
    }

    pub(crate) fn bytes(&self) -> &[u8] {
        &self.0
    }
}

impl fmt::Display for Hash {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&hex(&self.0))
    }
}

impl fmt::Debug for Hash {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, out)
    }
}

/// The kind of an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ObjectKind {
    /// The content of a file, or the target of a link.
    Blob,
    /// A directory.
    Tree,
}

impl ObjectKind {
    fn word(self) -> &'static str {
        match self {
            ObjectKind::Blob => "blob",
            ObjectKind::Tree => "tree",
        }
    }
}

/// The objects of a private directory.
#[derive(Clone, Debug)]
pub(crate) struct Loose {
    objects: PathBuf,
    is_sha256: bool,
}

impl Loose {
    pub(crate) fn of(private: &Private) -> Self {
        let format = private.place.repository.as_ref().map(|repository| repository.format.as_str());
        Loose { objects: private.objects.clone(), is_sha256: format == Some("sha256") }
    }

    /// Returns the hash of an object. Fails if the content is made to have the SHA-1 of another content.
    pub(crate) fn hash(&self, kind: ObjectKind, content: &[u8]) -> io::Result<Hash> {
        let header = header(kind, content);
        if self.is_sha256 {
            let hash = Sha256::new_with_prefix(&header).chain_update(content).finalize();
            return Ok(Hash(hash.to_vec().into()));
        }
        use sha1_checked::Digest as _;
        let hash = sha1_checked::Sha1::new_with_prefix(&header).chain_update(content).try_finalize();
        match hash.has_collision() {
            true => Err(io::Error::other("the content is part of an attack on SHA-1")),
            false => Ok(Hash(hash.hash().to_vec().into())),
        }
    }

    /// Writes an object durably, unless it exists, and returns its hash.
    pub(crate) fn write(&self, kind: ObjectKind, content: &[u8]) -> io::Result<Hash> {
        let hash = self.hash(kind, content)?;
        self.write_hashed(kind, content, &hash)?;
        Ok(hash)
    }

    /// Writes an object whose hash is known durably, unless it exists.
    pub(crate) fn write_hashed(&self, kind: ObjectKind, content: &[u8], hash: &Hash) -> io::Result<()> {
        let path = self.path(hash);
        // As `git` does, an object that is used again is made younger, so that `git gc` keeps it.
        if File::open(&path).and_then(|file| file.set_modified(SystemTime::now())).is_ok() {
            return Ok(());
        }
        if let Some(folder) = path.parent() {
            DirBuilder::new().recursive(true).mode(0o700).create(folder)?;
        }
        let mut file = tempfile::Builder::new().prefix(UNFINISHED).tempfile_in(&self.objects)?;
        let mut packed = ZlibEncoder::new(file.as_file_mut(), Compression::fast());
        packed.write_all(&header(kind, content))?;
        packed.write_all(content)?;
        packed.finish()?;
        file.as_file().set_permissions(Permissions::from_mode(0o444))?;
        file.as_file().sync_data()?;
        file.persist(path).map(drop).map_err(|error| error.error)
    }

    /// Reads a file's content of at most `bytes_max` bytes. Returns `None` if it is longer, or if it is no object of
    /// its own but part of a pack.
    pub(crate) fn read_blob(&self, hash: &Hash, bytes_max: u64) -> Option<Vec<u8>> {
        let mut object = Vec::new();
        let file = File::open(self.path(hash)).ok()?;
        let limit = bytes_max + HEADER_BYTES_MAX;
        ZlibDecoder::new(file).take(limit + 1).read_to_end(&mut object).ok()?;
        let end = object.iter().position(|byte| *byte == 0)?;
        let is_whole = object.starts_with(b"blob ") && object.len() as u64 <= limit;
        is_whole.then(|| object.split_off(end + 1))
    }

    fn path(&self, hash: &Hash) -> PathBuf {
        let digits = hash.to_string();
        let (folder, name) = digits.split_at(2);
        self.objects.join(Path::new(folder)).join(name)
    }
}

fn header(kind: ObjectKind, content: &[u8]) -> Vec<u8> {
    format!("{} {}\0", kind.word(), content.len()).into_bytes()
}
