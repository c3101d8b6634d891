//! The Ed25519 key that anchors are signed with. It is kept outside the store: write access to the store must not be
//! enough to sign.

#![expect(clippy::disallowed_methods, reason = "a key is where a person puts it, and never in a workspace")]

use std::{
    ffi::OsStr,
    fmt,
    fs::OpenOptions,
    io::{self, Write as _},
    os::unix::{ffi::OsStrExt as _, fs::OpenOptionsExt as _},
    path::{Path, PathBuf},
};

use ring::{
    rand::SystemRandom,
    signature::{Ed25519KeyPair, KeyPair as _, Signature},
};

use crate::failure::Failure;

/// The file in the store with the paths of the keys that were used.
const NOTED: &str = "anchor-keys";

/// The private key that signs anchors.
#[derive(Debug)]
pub(crate) struct Key(Ed25519KeyPair);

/// The public key that checks the signatures of anchors.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct PublicKey(pub(crate) [u8; 32]);

impl fmt::Display for PublicKey {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&hex(&self.0))
    }
}

impl PublicKey {
    /// Parses a public key from 64 hex digits.
    pub(crate) fn from_hex(text: &str) -> Option<Self> {
        Some(PublicKey(bytes(text)?.try_into().ok()?))
    }
}

impl Key {
    /// Reads the key from a file.
    pub(crate) fn read(path: &Path) -> Result<Self, Failure> {
        let content = std::fs::read(path).map_err(|error| Failure::file("read", path, &error))?;
        let pair = Ed25519KeyPair::from_pkcs8(&content)
            .map_err(|error| Failure::bad_input(format!("{} is not an Ed25519 key: {error}", path.display())))?;
        Ok(Key(pair))
    }

    /// Reads the key from a file, or creates the file with a new key. The second value is true if the key is new. The
    /// store in `home` remembers the file, so that programs cannot read it.
    pub(crate) fn read_or_create(path: &Path, home: &Path) -> Result<(Self, bool), Failure> {
        refuse_in_repository(path)?;
        remember(path, home)?;
        if path.exists() {
            return Ok((Key::read(path)?, false));
        }
        let key = Ed25519KeyPair::generate_pkcs8(&SystemRandom::new())
            .map_err(|_| Failure::failed("could not get random bytes for a key"))?;
        save(path, key.as_ref()).map_err(|error| Failure::file("write", path, &error))?;
        Ok((Key::read(path)?, true))
    }

    /// Returns the public key that checks this key's signatures.
    pub(crate) fn public(&self) -> PublicKey {
        let mut bytes = [0; 32];
        bytes.copy_from_slice(self.0.public_key().as_ref());
        PublicKey(bytes)
    }

    /// Signs the bytes of a message.
    pub(crate) fn sign(&self, message: &[u8]) -> Signature {
        self.0.sign(message)
    }
}

/// Returns the default file of the key: `$INTERLOCK_ANCHOR_KEY`, or a file in the user's configuration directory,
/// outside the store.
pub(crate) fn default_path() -> Result<PathBuf, Failure> {
    let named = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    let config = named("XDG_CONFIG_HOME").or_else(|| named("HOME").map(|home| home.join(".config")));
    let missing =
        || Failure::bad_input("there is no directory for the key that signs anchors").hint("name a file with --key");
    named("INTERLOCK_ANCHOR_KEY")
        .or_else(|| config.map(|config| config.join("interlock/anchor.key")))
        .ok_or_else(missing)
}

/// Refuses a key in a git repository: every program of a run there could read it.
fn refuse_in_repository(path: &Path) -> Result<(), Failure> {
    let folder = path.parent().and_then(|folder| interlock_sandbox::workspace_of(folder).ok());
    match folder.filter(|folder| folder.join(".git").exists()) {
        Some(folder) => Err(Failure::bad_input(format!(
            "the key {} is in the repository {}, where programs of runs could read it",
            path.display(),
            folder.display()
        ))
        .hint("keep it outside of every repository, preferably on another computer, and name it with --key")),
        None => Ok(()),
    }
}

/// Notes the path of a key that was used.
fn remember(path: &Path, home: &Path) -> Result<(), Failure> {
    let path = std::path::absolute(path).map_err(|error| Failure::file("read", path, &error))?;
    let noted = home.join(NOTED);
    if remembered(home).contains(&path) {
        return Ok(());
    }
    let file = OpenOptions::new().append(true).create(true).mode(0o600).open(&noted);
    let line = [path.as_os_str().as_encoded_bytes(), b"\n"].concat();
    file.and_then(|mut file| file.write_all(&line)).map_err(|error| Failure::file("write", &noted, &error))
}

/// Returns the paths of all keys that have signed anchors of a store.
pub(super) fn remembered(home: &Path) -> Vec<PathBuf> {
    let content = std::fs::read(home.join(NOTED)).unwrap_or_default();
    let lines = content.split(|byte| *byte == b'\n').filter(|line| !line.is_empty());
    lines.map(|line| PathBuf::from(OsStr::from_bytes(line))).collect()
}

fn save(path: &Path, key: &[u8]) -> io::Result<()> {
    if let Some(folder) = path.parent() {
        std::fs::create_dir_all(folder)?;
    }
    let mut file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(path)?;
    file.write_all(key)?;
    file.sync_all()
}

/// Formats bytes as hex digits.
pub(crate) fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Parses hex digits into bytes; `None` if the text is not an even number of hex digits.
pub(crate) fn bytes(text: &str) -> Option<Vec<u8>> {
    let digits: Option<Vec<u8>> =
        text.chars().map(|digit| digit.to_digit(16).and_then(|value| u8::try_from(value).ok())).collect();
    let digits = digits.filter(|digits| digits.len().is_multiple_of(2))?;
    Some(digits.chunks_exact(2).map(|pair| pair[0] * 16 + pair[1]).collect())
}
