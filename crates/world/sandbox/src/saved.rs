//! The content of protected paths: how it is read, compared, and written to the store.
//!
//! `guard.rs` restores it, and `baseline.rs` shares it between supervisors.

use std::{
    collections::BTreeMap,
    ffi::OsString,
    path::{Component, Path, PathBuf},
};

use interlock_beneath::{Error, FileType, Folder, Result};
use serde::{Deserialize, Serialize};

/// Maximum size of all guarded content together. Most projects have some hundred KiB, but actions of GitHub have their
/// packed programs beside them.
pub(crate) const BYTES_MAX: u64 = 64 * 1_024 * 1_024;

/// Maximum number of names in guarded directories together.
pub(crate) const NAMES_MAX: usize = 32_768;

/// Maximum depth of guarded directories. A deeper one is only recognized.
pub(crate) const DEPTH_MAX: usize = 16;

/// The path of an open directory itself.
pub(crate) const HERE: &str = "";

/// The content of a protected path.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum SavedNode {
    Nothing,
    File {
        #[serde(with = "as_text")]
        content: Vec<u8>,
        mode: u32,
        /// The number of hard links. An additional link would allow a later change.
        names: u64,
    },
    Link(#[serde(with = "path_as_text")] PathBuf),
    Folder {
        #[serde(with = "entries_as_text")]
        entries: BTreeMap<OsString, SavedNode>,
        mode: u32,
    },
    /// What has no content (a device, a socket, a pipe), what this user cannot read, and directories that are too deep.
    /// They are recognized, but never written and never removed.
    Unread(Identity),
}

/// What makes a file the same one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Identity {
    kind: u32,
    inode: u64,
}

impl Identity {
    /// Returns the identity of what is at a name in a directory, if anything is there.
    pub(crate) fn at(above: &Folder, name: &Path) -> Option<Self> {
        above.stat(name).ok().map(|about| Identity::of(&about))
    }

    pub(crate) fn of(about: &interlock_beneath::Stat) -> Self {
        Identity { kind: about.st_mode & !0o7777, inode: about.st_ino }
    }

    pub(crate) fn is_kind_of(&self, other: &Identity) -> bool {
        self.kind == other.kind
    }
}

impl SavedNode {
    /// Returns true if `now` is what was saved. A restored file may have fewer names than before.
    pub(crate) fn is_kept_by(&self, now: &SavedNode) -> bool {
        match (self, now) {
            (
                SavedNode::File { content, mode, names },
                SavedNode::File { content: now, mode: mode_now, names: names_now },
            ) => content == now && mode == mode_now && names_now <= names,
            (SavedNode::Folder { entries, mode }, SavedNode::Folder { entries: now, mode: mode_now }) => {
                let is_kept = |((name, one), (name_now, now)): ((&OsString, &SavedNode), (&OsString, &SavedNode))| {
                    name == name_now && one.is_kept_by(now)
                };
                mode == mode_now && entries.len() == now.len() && entries.iter().zip(now).all(is_kept)
            }
            (one, now) => one == now,
        }
    }

    /// Removes these paths from what was saved at `path`.
    pub(crate) fn prune(&mut self, path: &Path, open: &[PathBuf]) {
        for below in open.iter().filter_map(|open| open.strip_prefix(path).ok()) {
            if let Some((entries, name)) = self.parent_of(below) {
                entries.remove(&name);
            }
        }
    }

    /// Adds what is at a path below this directory. Nothing changes if the directories on the way were not saved.
    pub(crate) fn graft(&mut self, below: &Path, node: SavedNode) {
        if let Some((entries, name)) = self.parent_of(below).filter(|_| node != SavedNode::Nothing) {
            entries.insert(name, node);
        }
    }

    /// Returns the entries of the directory with a path below this one, and the name in it.
    fn parent_of(&mut self, below: &Path) -> Option<(&mut BTreeMap<OsString, SavedNode>, OsString)> {
        let name = below.file_name()?.to_owned();
        let mut here = self;
        for part in below.parent()?.components() {
            let (SavedNode::Folder { entries, .. }, Component::Normal(part)) = (here, part) else { return None };
            here = entries.get_mut(part)?;
        }
        match here {
            SavedNode::Folder { entries, .. } => Some((entries, name)),
            _ => None,
        }
    }
}

/// Reads content up to a limit for all files together.
pub(crate) struct BoundedReader<'g> {
    room: u64,
    names: usize,
    open: &'g [PathBuf],
    /// The files and directories whose content was not read.
    pub(crate) unread: Vec<PathBuf>,
}

impl<'g> BoundedReader<'g> {
    /// Reads everything but the paths in `open`.
    pub(crate) fn new(open: &'g [PathBuf]) -> Self {
        BoundedReader { room: BYTES_MAX, names: NAMES_MAX, open, unread: Vec::new() }
    }

    pub(crate) fn read(&mut self, path: &Path) -> Result<SavedNode> {
        match Folder::above(path) {
            Err(error) if is_nothing(&error) => Ok(SavedNode::Nothing),
            Err(error) => Err(error),
            Ok((above, name)) => self.node(&above, &name, path, DEPTH_MAX),
        }
    }

    /// Reads what is at a name in a directory. `path` is the whole path.
    fn node(&mut self, above: &Folder, name: &Path, path: &Path, depth: usize) -> Result<SavedNode> {
        let about = match above.stat(name) {
            Err(error) if error.is_not_found() => return Ok(SavedNode::Nothing),
            other => other?,
        };
        let mode = about.st_mode & 0o7777;
        let unread = SavedNode::Unread(Identity::of(&about));
        let read = match FileType::from_raw_mode(about.st_mode) {
            FileType::Symlink => Ok(SavedNode::Link(above.read_link(name)?)),
            FileType::RegularFile => above.read(name, self.room).map(|content| {
                self.room -= content.len() as u64;
                SavedNode::File { content, mode, names: about.st_nlink }
            }),
            FileType::Directory if depth > 0 => above
                .folder(name)
                .and_then(|here| self.entries(&here, path, depth))
                .map(|entries| SavedNode::Folder { entries, mode }),
            FileType::Directory => {
                self.unread.push(path.to_owned());
                Ok(unread.clone())
            }
            _ => Ok(unread.clone()),
        };
        match read {
            // Its neighbours are still read.
            Err(error) if is_refused(&error) => {
                self.unread.push(path.to_owned());
                Ok(unread)
            }
            other => other,
        }
    }

    fn entries(&mut self, here: &Folder, path: &Path, depth: usize) -> Result<BTreeMap<OsString, SavedNode>> {
        let mut entries = BTreeMap::new();
        for name in here.names(HERE.as_ref())? {
            let entry = path.join(&name);
            if !self.open.contains(&entry) {
                let too_many = || Error::TooMany { path: path.to_owned(), files_max: NAMES_MAX };
                self.names = self.names.checked_sub(1).ok_or_else(too_many)?;
                let node = self.node(here, name.as_ref(), &entry, depth - 1)?;
                entries.insert(name, node);
            }
        }
        Ok(entries)
    }
}

/// Returns true if there is no directory. A link in its place is something.
pub(crate) fn is_nothing(error: &Error) -> bool {
    error.is_absent() && !matches!(error, Error::Link { .. })
}

/// Returns true if this user may not read something.
fn is_refused(error: &Error) -> bool {
    matches!(error, Error::System { source, .. } if source.kind() == std::io::ErrorKind::PermissionDenied)
}

/// Bytes as a text with one character for each: names and contents need not be UTF-8, and a list of numbers in JSON would
/// be four times as long.
mod as_text {
    use serde::{Deserialize, Deserializer, Serializer, de::Error};

    pub(super) fn text(bytes: &[u8]) -> String {
        bytes.iter().map(|byte| char::from(*byte)).collect()
    }

    pub(super) fn bytes<E: Error>(text: &str) -> Result<Vec<u8>, E> {
        text.chars().map(|letter| u8::try_from(letter).map_err(E::custom)).collect()
    }

    pub(super) fn serialize<S: Serializer>(bytes: &[u8], to: S) -> Result<S::Ok, S::Error> {
        to.serialize_str(&text(bytes))
    }

    pub(super) fn deserialize<'d, D: Deserializer<'d>>(from: D) -> Result<Vec<u8>, D::Error> {
        bytes(&String::deserialize(from)?)
    }
}

mod path_as_text {
    use std::{
        ffi::OsString,
        os::unix::ffi::{OsStrExt as _, OsStringExt as _},
        path::{Path, PathBuf},
    };

    use serde::{Deserializer, Serializer};

    pub(super) fn serialize<S: Serializer>(path: &Path, to: S) -> Result<S::Ok, S::Error> {
        super::as_text::serialize(path.as_os_str().as_bytes(), to)
    }

    pub(super) fn deserialize<'d, D: Deserializer<'d>>(from: D) -> Result<PathBuf, D::Error> {
        super::as_text::deserialize(from).map(|bytes| OsString::from_vec(bytes).into())
    }
}

/// A map with names that need not be UTF-8.
pub(crate) mod entries_as_text {
    use std::{
        collections::BTreeMap,
        ffi::{OsStr, OsString},
        os::unix::ffi::{OsStrExt as _, OsStringExt as _},
    };

    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    use super::as_text;

    pub(crate) fn serialize<K: AsRef<OsStr>, V: Serialize, S: Serializer>(
        map: &BTreeMap<K, V>,
        to: S,
    ) -> Result<S::Ok, S::Error> {
        to.collect_map(map.iter().map(|(name, value)| (as_text::text(name.as_ref().as_bytes()), value)))
    }

    pub(crate) fn deserialize<'d, K: From<OsString> + Ord, V: Deserialize<'d>, D: Deserializer<'d>>(
        from: D,
    ) -> Result<BTreeMap<K, V>, D::Error> {
        let map = BTreeMap::<String, V>::deserialize(from)?;
        let name = |name: &str| as_text::bytes(name).map(OsString::from_vec).map(K::from);
        map.into_iter().map(|(text, value)| Ok((name(&text)?, value))).collect()
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::ffi::OsStringExt as _;

    use super::*;

    #[test]
    fn content_and_names_of_any_bytes_are_read_again() {
        let bytes: Vec<u8> = (0..=255).collect();
        let name = OsString::from_vec(vec![1, 0x80, 0xff]);
        let file = SavedNode::File { content: bytes, mode: 0o600, names: 1 };
        let entries = BTreeMap::from([(name.clone(), file), ("link".into(), SavedNode::Link(name.into()))]);
        let node = SavedNode::Folder { entries, mode: 0o755 };
        let text = serde_json::to_string(&node).unwrap();
        assert_eq!(serde_json::from_str::<SavedNode>(&text).unwrap(), node);
    }
}
