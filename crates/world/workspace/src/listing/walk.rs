//! Compares the files on the disk with the listed ones, by their metadata.

use std::{
    collections::{BTreeMap, BTreeSet},
    ffi::{CStr, CString},
    os::fd::{AsFd, OwnedFd},
    path::Path,
};

use rustix::fs::{AtFlags, CWD, Dir, FileType, Mode, OFlags, openat, statat};

use super::{
    folder::{EMPTY, Folder},
    stamp::Stamp,
};
use crate::private::Private;

/// Maximum number of paths that may have changed. `git` is faster for more.
const CHANGES_MAX: usize = 1_000;

/// Maximum depth of directories. Each level needs an open file.
const DEPTH_MAX: usize = 100;

/// The differences that metadata shows.
#[derive(Debug, Default)]
pub(super) struct Found {
    /// Listed files that may have changed, with their metadata.
    pub(super) unsure: Vec<(Vec<u8>, Stamp)>,
    /// Files that are not listed.
    pub(super) new: Vec<(Vec<u8>, Stamp)>,
    /// Listed files that do not exist.
    pub(super) gone: Vec<Vec<u8>>,
    /// The number of ignored paths that exist.
    pub(super) ignored: usize,
}

/// Compares a workspace with the listed files. `ignored` are the paths that are no part of it, with true for
/// directories. Returns `None` if only `git` can tell: there is a nested repository, or a directory cannot be read.
pub(super) fn compare(private: &Private, listed: &Folder, ignored: &BTreeMap<Vec<u8>, bool>) -> Option<Found> {
    let root = &private.place.root;
    let home = private.home_within().map(|home| home.as_os_str().as_encoded_bytes().to_vec());
    let mut walk = Walk { ignored, home, path: Vec::new(), found: Found::default() };
    walk.folder(open(CWD, root)?, listed, 0)?;
    Some(walk.found)
}

fn open(above: impl AsFd, path: impl rustix::path::Arg) -> Option<OwnedFd> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    openat(above, path, flags, Mode::empty()).ok()
}

/// Returns the metadata of a file, which may be a link.
pub(super) fn stamp_at(root: &Path, path: &Path) -> Option<Stamp> {
    let root = interlock_beneath::Folder::open(root).ok()?;
    root.stat(path).ok().map(|about| Stamp::of(&about))
}

struct Walk<'l> {
    ignored: &'l BTreeMap<Vec<u8>, bool>,
    home: Option<Vec<u8>>,
    /// The path of the current entry, relative to the root.
    path: Vec<u8>,
    found: Found,
}

impl Walk<'_> {
    fn folder(&mut self, folder: OwnedFd, listed: &Folder, depth: usize) -> Option<()> {
        let names = names(&folder)?;
        let mut seen = BTreeSet::new();
        let above = self.path.len();
        for (name, kind) in &names {
            let bytes = name.to_bytes();
            if bytes.eq_ignore_ascii_case(b".git") {
                match depth == 0 && bytes == b".git" {
                    true => continue,
                    // The content of a nested repository is not stored.
                    false => return None,
                }
            }
            if above > 0 {
                self.path.push(b'/');
            }
            self.path.extend_from_slice(bytes);
            if self.home.as_ref() != Some(&self.path) && self.entry(&folder, (name, *kind), listed, depth)? {
                seen.insert(bytes);
            }
            self.path.truncate(above);
        }
        self.gone(listed, &seen)
    }

    /// Compares one entry of a directory. Returns true if it is a listed file or directory.
    fn entry(
        &mut self,
        folder: &OwnedFd,
        (name, kind): (&CStr, FileType),
        listed: &Folder,
        depth: usize,
    ) -> Option<bool> {
        let (is_folder, stamp) = match kind {
            FileType::Directory => (true, None),
            _ => {
                let stamp = Stamp::of(&statat(folder, name, AtFlags::SYMLINK_NOFOLLOW).ok()?);
                (stamp.is_folder(), Some(stamp))
            }
        };
        if let Some(was_folder) = self.ignored.get(&self.path) {
            self.found.ignored += 1;
            return (*was_folder == is_folder).then_some(false);
        }
        let Some(stamp) = stamp.filter(|_| !is_folder) else {
            let inner = listed.folders.get(name.to_bytes());
            let is_listed = inner.is_some();
            if depth == DEPTH_MAX {
                return None;
            }
            self.folder(open(folder, name)?, inner.map_or(&EMPTY, |inner| inner), depth + 1)?;
            return Some(is_listed);
        };
        if stamp.kind().is_none() {
            return Some(false);
        }
        let file = listed.files.get(name.to_bytes());
        match file {
            Some(file) if file.stamp == Some(stamp) => return Some(true),
            Some(_) => self.found.unsure.push((self.path.clone(), stamp)),
            None => self.found.new.push((self.path.clone(), stamp)),
        }
        (self.found.unsure.len() + self.found.new.len() <= CHANGES_MAX).then_some(file.is_some())
    }

    /// Lists the files of a directory that were not seen.
    fn gone(&mut self, listed: &Folder, seen: &BTreeSet<&[u8]>) -> Option<()> {
        let prefix = |path: &[u8]| if path.is_empty() { Vec::new() } else { [path, b"/"].concat() };
        let mut left: Vec<(Vec<u8>, &Folder)> = Vec::new();
        let above = prefix(&self.path);
        for name in listed.files.keys().filter(|name| !seen.contains(&***name)) {
            self.found.gone.push([&above, &**name].concat());
        }
        for (name, folder) in listed.folders.iter().filter(|(name, _)| !seen.contains(&***name)) {
            left.push(([&above, &**name].concat(), folder));
        }
        while let Some((path, folder)) = left.pop() {
            let above = prefix(&path);
            self.found.gone.extend(folder.files.keys().map(|name| [&above, &**name].concat()));
            left.extend(folder.folders.iter().map(|(name, folder)| ([&above, &**name].concat(), &**folder)));
        }
        (self.found.gone.len() <= CHANGES_MAX).then_some(())
    }
}

/// Returns the names in a directory with their kinds, as far as the file system tells them.
fn names(folder: &OwnedFd) -> Option<Vec<(CString, FileType)>> {
    let entries = Dir::read_from(folder).ok()?;
    let mut names = Vec::new();
    for entry in entries {
        let entry = entry.ok()?;
        if ![c".", c".."].contains(&entry.file_name()) {
            names.push((entry.file_name().to_owned(), entry.file_type()));
        }
    }
    Some(names)
}
