//! The files of workspaces that this process remembers, as they were at the last snapshots, with hashes and metadata.
//!
//! The next snapshot reads only the files whose metadata differs, and writes only their objects, without starting
//! `git`. The result is the same as that of `git`. Whenever it could differ, the functions here return `None` and the
//! caller asks `git`: for changed ignore rules, nested repositories, large files, many changes and after `git gc`.
//!
//! Start reading at [`take`].

mod difference;
mod folder;
pub(crate) mod mapped;
pub(crate) mod mark;
mod rules;
mod stamp;
#[cfg(test)]
mod tests;
mod walk;

use std::{
    collections::{BTreeMap, BTreeSet, VecDeque},
    ffi::OsStr,
    io::Read,
    os::unix::ffi::OsStrExt,
    path::{Path, PathBuf},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::SystemTime,
};

use rustix::fs::fstat;

use self::{
    folder::{Folder, ListedFile},
    rules::{Rules, Sources, is_rules},
    stamp::Stamp,
};
use crate::{
    Change,
    loose::{Hash, Loose, ObjectKind},
    patch::{Kind, Plan},
    private::Private,
    refs,
    scope::Scope,
    unkept::is_refused,
};

/// Maximum number of files that are remembered, in all workspaces together.
const FILES_MAX: usize = 400_000;

/// Maximum size of a file that is read here, and of all files that are read for one snapshot.
const FILE_BYTES_MAX: u64 = 16 << 20;
const READ_BYTES_MAX: u64 = 64 << 20;

/// The number of earlier versions of a workspace that are remembered, and of snapshot names.
const VERSIONS_MAX: usize = 8;
const SNAPSHOTS_MAX: usize = 64;

/// The remembered workspaces by their private directory.
static LISTINGS: Mutex<BTreeMap<PathBuf, Listing>> = Mutex::new(BTreeMap::new());

/// The files of a workspace at its last snapshots.
#[derive(Clone, Debug)]
struct Listing {
    /// The versions with the hash of their tree, the latest last.
    versions: VecDeque<(String, Arc<Folder>)>,
    rules: Arc<Rules>,
    /// The snapshots that were taken by these rules.
    snapshots: VecDeque<String>,
    /// The mark of the store. It changes whenever objects may have been removed.
    mark: String,
    files: usize,
}

/// A file as a snapshot stores it, by `git ls-files --stage`.
#[derive(Debug)]
pub(crate) struct Staged {
    pub(crate) mode: String,
    pub(crate) hash: String,
    pub(crate) path: Vec<u8>,
}

impl Staged {
    /// Parses `MODE HASH STAGE`, a tab and the path.
    pub(crate) fn parse(line: &[u8]) -> Option<Self> {
        let tab = line.iter().position(|byte| *byte == b'\t')?;
        let about = std::str::from_utf8(&line[..tab]).ok()?;
        let mut fields = about.split(' ').map(str::to_owned);
        Some(Staged { mode: fields.next()?, hash: fields.next()?, path: line[tab + 1..].to_vec() })
    }
}

/// A stored version of a workspace.
#[derive(Debug)]
pub(crate) struct Stored {
    pub(crate) tree: String,
    /// The name of the scope by which it was stored.
    pub(crate) scope: String,
    mark: String,
}

/// The state that a listing depends on besides the files, read before `git` reads the files.
#[derive(Debug)]
pub(crate) struct Before {
    began: SystemTime,
    mark: String,
    sources: Sources,
    /// Files that may be written without a change of their times.
    mapped: BTreeSet<u64>,
}

impl Before {
    pub(crate) fn of(private: &Private) -> Option<Self> {
        let began = SystemTime::now();
        let mapped = mapped::inodes(&private.place.root);
        Some(Before { began, mark: mark::find(private)?, sources: Sources::of(private)?, mapped })
    }
}

/// Stores the current files by the current ignore rules.
pub(crate) fn take(private: &Private) -> Option<Stored> {
    by_current_rules(private, true)
}

/// Returns the tree of the current files if they are the same as before.
pub(crate) fn unchanged(private: &Private) -> Option<String> {
    by_current_rules(private, false).map(|stored| stored.tree)
}

fn by_current_rules(private: &Private, is_stored: bool) -> Option<Stored> {
    let listing = current(private).filter(|listing| listing.rules.is_same_index(private))?;
    let (listing, found) = listing.renewed(private, is_stored)?;
    // A scope lists the ignored paths that exist.
    (found.ignored == listing.rules.ignored.len()).then(|| listing.keep(private))
}

/// Stores the current files by the ignore rules of a snapshot.
pub(crate) fn since(private: &Private, snapshot: &str) -> Option<Stored> {
    let listing = current(private)?;
    if !listing.snapshots.iter().any(|name| name == snapshot) {
        return None;
    }
    listing.renewed(private, true).map(|(listing, _)| listing.keep(private))
}

/// Remembers the files of a new snapshot that `git` has stored.
pub(crate) fn remember(
    private: &Private,
    before: Option<Before>,
    files: &[Staged],
    scope: (&Scope, &str),
    stored: (&str, &str),
) {
    forget(private);
    let listing = before.and_then(|before| Listing::of(private, before, files, scope, stored));
    listing.into_iter().for_each(|listing| drop(listing.keep(private)));
}

/// Records the name of a snapshot that [`take`] has stored. Returns false if objects may have been removed meanwhile:
/// then the snapshot may be incomplete.
pub(crate) fn named(private: &Private, name: &str, stored: &Stored) -> bool {
    if mark::read(private).as_ref() != Some(&stored.mark) {
        forget(private);
        return false;
    }
    // Another thread may have remembered the workspace by other rules meanwhile.
    if let Some(listing) = listings().get_mut(&private.folder).filter(|listing| listing.rules.scope == stored.scope) {
        push(&mut listing.snapshots, name.to_owned(), SNAPSHOTS_MAX);
    }
    true
}

/// Forgets a workspace.
pub(crate) fn forget(private: &Private) {
    listings().remove(&private.folder);
}

/// Returns the difference between two remembered versions.
pub(crate) fn difference(private: &Private, before: &str, after: &str) -> Option<Vec<Change>> {
    let listing = listings().get(&private.folder)?.clone();
    let (before, after) = (listing.version(before)?, listing.version(after)?);
    difference::between(&Loose::of(private), &before, &after)
}

/// Stores a remembered version with the planned changes and returns its tree.
pub(crate) fn changed(private: &Private, tree: &str, plan: &Plan) -> Option<String> {
    let listing = current(private)?;
    let (objects, mut root) = (Loose::of(private), listing.version(tree)?);
    let changed = Arc::make_mut(&mut root);
    // Removals come first, because a directory may replace a file.
    let (gone, there): (Vec<_>, Vec<_>) = plan.changes.iter().partition(|change| change.after.is_none());
    for change in gone.into_iter().chain(there) {
        let path = change.path.as_os_str().as_bytes();
        if !change.after.as_ref().is_none_or(|node| is_accepted(path, node.kind)) {
            return None;
        }
        let file = match &change.after {
            Some(node) => {
                let hash = objects.write(ObjectKind::Blob, &node.content).ok()?;
                Some(ListedFile { kind: node.kind, hash, stamp: None })
            }
            None => None,
        };
        changed.set(path, file);
    }
    changed.tree(&|content| objects.write(ObjectKind::Tree, content)).ok().map(|hash| hash.to_string())
}

/// Returns the remembered workspace if its objects are still stored and its ignore rules are the same.
fn current(private: &Private) -> Option<Listing> {
    let listing = listings().get(&private.folder)?.clone();
    // If the latest snapshot is gone, nothing keeps its objects.
    let is_kept = listing.snapshots.back().is_some_and(|name| refs::read(private, name).is_some());
    let is_current =
        is_kept && mark::read(private).as_ref() == Some(&listing.mark) && listing.rules.are_current(private);
    is_current.then_some(listing)
}

impl Listing {
    fn of(
        private: &Private,
        before: Before,
        files: &[Staged],
        (scope, scope_name): (&Scope, &str),
        (name, tree): (&str, &str),
    ) -> Option<Self> {
        if !scope.keeps_all() || files.len() > FILES_MAX || !stamp::is_trusted(&private.place.root) {
            return None;
        }
        let mut root = Folder::default();
        for file in files {
            let path = Path::new(OsStr::from_bytes(&file.path));
            let kind = Kind::from_mode(&file.mode).filter(|kind| *kind != Kind::Repository)?;
            let stamp = walk::stamp_at(&private.place.root, path)
                .filter(|stamp| !before.mapped.contains(&stamp.inode()))
                .and_then(|stamp| stamp.if_older_than(before.began));
            // Rules that may have changed since `git` read them, and rules behind a link, cannot be compared.
            if is_rules(&file.path) && (kind == Kind::Link || stamp.is_none()) {
                return None;
            }
            root.set(&file.path, Some(ListedFile { kind, hash: Hash::parse(&file.hash)?, stamp }));
        }
        let objects = Loose::of(private);
        let hash = root.tree(&|content| objects.hash(ObjectKind::Tree, content)).ok()?;
        (hash.to_string() == tree).then_some(())?;
        Some(Listing {
            versions: VecDeque::from([(tree.to_owned(), Arc::new(root))]),
            mark: before.mark.clone(),
            rules: Arc::new(Rules::of(private, before, scope, scope_name)?),
            snapshots: VecDeque::from([name.to_owned()]),
            files: files.len(),
        })
    }

    fn latest(&self) -> Option<&(String, Arc<Folder>)> {
        self.versions.back()
    }

    fn version(&self, tree: &str) -> Option<Arc<Folder>> {
        self.versions.iter().find(|(known, _)| known == tree).map(|(_, root)| root.clone())
    }

    /// Returns the listing with the current files. Without `is_stored`, it fails if a file has changed.
    fn renewed(mut self, private: &Private, is_stored: bool) -> Option<(Self, walk::Found)> {
        let began = SystemTime::now();
        let mapped = mapped::inodes(&private.place.root);
        let (objects, mut root) = (Loose::of(private), self.latest()?.1.clone());
        let found = walk::compare(private, &root, &self.rules.ignored)?;
        let new: Vec<&[u8]> = found.new.iter().map(|(path, _)| path.as_slice()).collect();
        let mut changed = new.iter().copied().chain(found.gone.iter().map(Vec::as_slice));
        if changed.any(is_rules) || self.rules.ignore_any(private, &new)? {
            return None;
        }
        for path in &found.gone {
            Arc::make_mut(&mut root).set(path, None);
        }
        let read = found.unsure.iter().chain(&found.new);
        mapped::settle(&private.place.root, read.map(|(path, _)| path.as_slice()));
        let mut left = READ_BYTES_MAX;
        for (path, stamp) in found.unsure.iter().chain(&found.new) {
            left = left.checked_sub(stamp.size())?;
            let content = content(&private.place.root, path, stamp)?;
            let file = listed(&objects, path, stamp, &content)?;
            let trusted = stamp.if_older_than(began).filter(|stamp| !mapped.contains(&stamp.inode()));
            let file = ListedFile { stamp: trusted, ..file };
            match root.file(path) {
                Some(known) if *known == file => {}
                Some(known) if known.version() == file.version() => {
                    Arc::make_mut(&mut root).set_stamp(path, file.stamp);
                }
                _ if is_rules(path) || !is_stored => return None,
                _ => {
                    objects.write_hashed(ObjectKind::Blob, &content, &file.hash).ok()?;
                    Arc::make_mut(&mut root).set(path, Some(file));
                }
            }
        }
        let tree = match root.hash() {
            Some(hash) => hash.to_string(),
            None if !is_stored => return None,
            None => {
                Arc::make_mut(&mut root).tree(&|content| objects.write(ObjectKind::Tree, content)).ok()?.to_string()
            }
        };
        self.files = (self.files + found.new.len()).saturating_sub(found.gone.len());
        self.versions.retain(|(known, _)| *known != tree);
        push(&mut self.versions, (tree, root), VERSIONS_MAX);
        Some((self, found))
    }

    /// Remembers this listing.
    fn keep(self, private: &Private) -> Stored {
        let tree = self.latest().map(|(tree, _)| tree.clone()).unwrap_or_default();
        let stored = Stored { tree, scope: self.rules.scope.clone(), mark: self.mark.clone() };
        let mut listings = listings();
        listings.insert(private.folder.clone(), self);
        if listings.values().map(|listing| listing.files).sum::<usize>() > FILES_MAX {
            listings.retain(|folder, _| *folder == private.folder);
        }
        stored
    }
}

/// Returns a file with the hash of its content. `None` if `git` does not accept it.
fn listed(objects: &Loose, path: &[u8], stamp: &Stamp, content: &[u8]) -> Option<ListedFile> {
    let kind = stamp.kind().filter(|kind| is_accepted(path, *kind))?;
    Some(ListedFile { kind, hash: objects.hash(ObjectKind::Blob, content).ok()?, stamp: Some(*stamp) })
}

/// Returns true if `git` accepts a file of this kind at a path in a tree.
fn is_accepted(path: &[u8], kind: Kind) -> bool {
    let is_modules =
        |path: &[u8]| path.split(|byte| *byte == b'/').any(|name| name.eq_ignore_ascii_case(b".gitmodules"));
    !is_refused(path) && (kind != Kind::Link || !is_modules(path))
}

/// Reads a file that has this metadata. Returns `None` if it is large, cannot be read, or is no longer the same file.
fn content(root: &Path, path: &[u8], stamp: &Stamp) -> Option<Vec<u8>> {
    // A directory on the way may have become a link, or the file a pipe.
    let (root, path) = (interlock_beneath::Folder::open(root).ok()?, Path::new(OsStr::from_bytes(path)));
    if stamp.kind()? == Kind::Link {
        return root.read_link(path).ok().map(|target| target.into_os_string().into_encoded_bytes());
    }
    let file = root.open_file(path).ok()?;
    let is_same = Stamp::of(&fstat(&file).ok()?) == *stamp;
    if !is_same || stamp.size() > FILE_BYTES_MAX {
        return None;
    }
    let mut content = Vec::new();
    file.take(FILE_BYTES_MAX + 1).read_to_end(&mut content).ok()?;
    (content.len() as u64 <= FILE_BYTES_MAX).then_some(content)
}

fn push<T>(list: &mut VecDeque<T>, item: T, max: usize) {
    list.push_back(item);
    if list.len() > max {
        list.pop_front();
    }
}

fn listings() -> MutexGuard<'static, BTreeMap<PathBuf, Listing>> {
    LISTINGS.lock().unwrap_or_else(PoisonError::into_inner)
}
