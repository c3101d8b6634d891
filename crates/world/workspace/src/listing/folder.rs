//! The files of a workspace as directories in memory. Unchanged directories are shared between versions, so that a new
//! version costs as much as its changes.

use std::{
    collections::{BTreeMap, BTreeSet},
    io,
    sync::Arc,
};

use super::stamp::Stamp;
use crate::{loose::Hash, patch::Kind, trees::FOLDER};

/// A directory without files.
pub(super) static EMPTY: Folder = Folder { hash: None, files: BTreeMap::new(), folders: BTreeMap::new() };

/// A directory with its files.
#[derive(Clone, Debug, Default)]
pub(crate) struct Folder {
    /// The hash of its git tree. `None` after a change, until the tree is written.
    hash: Option<Hash>,
    pub(super) files: BTreeMap<Box<[u8]>, ListedFile>,
    pub(super) folders: BTreeMap<Box<[u8]>, Arc<Folder>>,
}

/// A file that a snapshot stores.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ListedFile {
    pub(super) kind: Kind,
    pub(super) hash: Hash,
    /// The metadata with which the file had this content. `None` if it may have been written at the time it was read.
    pub(super) stamp: Option<Stamp>,
}

impl Folder {
    /// Returns the file at a path.
    pub(super) fn file(&self, path: &[u8]) -> Option<&ListedFile> {
        match split(path) {
            (name, None) => self.files.get(name),
            (name, Some(rest)) => self.folders.get(name)?.file(rest),
        }
    }

    /// Sets the file at a path, or removes it. A file takes the place of a directory and the other way round.
    pub(super) fn set(&mut self, path: &[u8], file: Option<ListedFile>) {
        self.hash = None;
        match (split(path), file) {
            ((name, None), Some(file)) => {
                self.folders.remove(name);
                self.files.insert(name.into(), file);
            }
            ((name, None), None) => drop(self.files.remove(name)),
            ((name, Some(_)), None) if !self.folders.contains_key(name) => {}
            ((name, Some(rest)), file) => {
                if file.is_some() {
                    self.files.remove(name);
                }
                let folder = Arc::make_mut(self.folders.entry(name.into()).or_default());
                folder.set(rest, file);
                if folder.files.is_empty() && folder.folders.is_empty() {
                    self.folders.remove(name);
                }
            }
        }
    }

    /// Sets the metadata of a file whose content is the same.
    pub(super) fn set_stamp(&mut self, path: &[u8], stamp: Option<Stamp>) {
        match split(path) {
            (name, None) => self.files.get_mut(name).into_iter().for_each(|file| file.stamp = stamp),
            (name, Some(rest)) => {
                let folder = self.folders.get_mut(name);
                folder.into_iter().for_each(|folder| Arc::make_mut(folder).set_stamp(rest, stamp));
            }
        }
    }

    /// Gives the trees of the changed directories to `store` and returns the hash of this directory's tree.
    pub(super) fn tree(&mut self, store: &dyn Fn(&[u8]) -> io::Result<Hash>) -> io::Result<Hash> {
        if let Some(hash) = &self.hash {
            return Ok(hash.clone());
        }
        // `git` sorts the names as if those of directories ended with a slash.
        let mut entries: BTreeMap<Vec<u8>, (&str, &[u8], Hash)> = BTreeMap::new();
        for (name, folder) in &mut self.folders {
            let hash = match &folder.hash {
                Some(hash) => hash.clone(),
                None => Arc::make_mut(folder).tree(store)?,
            };
            entries.insert([name, &b"/"[..]].concat(), (FOLDER, name, hash));
        }
        for (name, file) in &self.files {
            entries.insert(name.to_vec(), (file.kind.mode(), name, file.hash.clone()));
        }
        let entry =
            |(mode, name, hash): &(&str, &[u8], Hash)| [mode.as_bytes(), b" ", name, b"\0", hash.bytes()].concat();
        let content: Vec<u8> = entries.values().flat_map(entry).collect();
        let hash = store(&content)?;
        self.hash = Some(hash.clone());
        Ok(hash)
    }

    /// Returns the hash of the tree, if no file has changed since it was computed.
    pub(super) fn hash(&self) -> Option<&Hash> {
        self.hash.as_ref()
    }

    /// Adds every path that differs from an earlier version to `differences`, with both files.
    pub(super) fn differences<'f>(&'f self, before: &'f Folder, above: &[u8], differences: &mut Vec<Difference<'f>>) {
        if self.hash.is_some() && self.hash == before.hash {
            return;
        }
        let path = |name: &[u8]| [above, name].concat();
        let names: BTreeSet<&[u8]> = self.files.keys().chain(before.files.keys()).map(|name| &**name).collect();
        for name in names {
            let (old, new) = (before.files.get(name), self.files.get(name));
            if old.map(ListedFile::version) != new.map(ListedFile::version) {
                differences.push(Difference { path: path(name), before: old, after: new });
            }
        }
        let names: BTreeSet<&[u8]> = self.folders.keys().chain(before.folders.keys()).map(|name| &**name).collect();
        for name in names {
            let folder = |of: &'f Folder| of.folders.get(name).map_or(&EMPTY, Arc::as_ref);
            folder(self).differences(folder(before), &[&path(name), &b"/"[..]].concat(), differences);
        }
    }
}

/// A path that differs between two versions of a directory.
#[derive(Debug)]
pub(super) struct Difference<'f> {
    pub(super) path: Vec<u8>,
    pub(super) before: Option<&'f ListedFile>,
    pub(super) after: Option<&'f ListedFile>,
}

impl ListedFile {
    /// Returns the parts that a snapshot stores.
    pub(super) fn version(&self) -> (Kind, &Hash) {
        (self.kind, &self.hash)
    }
}

/// Splits a path after its first name.
fn split(path: &[u8]) -> (&[u8], Option<&[u8]>) {
    match path.iter().position(|byte| *byte == b'/') {
        Some(end) => (&path[..end], Some(&path[end + 1..])),
        None => (path, None),
    }
}
