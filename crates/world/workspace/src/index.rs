//! Updates a private index to the current files: all except ignored files, files outside the workspace and files that
//! cannot be stored.

#![expect(
    clippy::disallowed_methods,
    reason = "the private directory of a workspace is in the store, which no program can change"
)]

use std::{
    collections::BTreeSet,
    ffi::OsStr,
    fs::{self, File},
    io::{Read, Seek, SeekFrom},
    os::unix::{ffi::OsStrExt, fs::MetadataExt},
    path::{Path, PathBuf},
    thread::ScopedJoinHandle,
};

use tempfile::TempDir;

use crate::{
    Error, Result,
    git::{Git, join},
    links,
    listing::{Staged, mapped},
    private::{Private, hex},
    scope::Scope,
    unkept::{self, Unkept},
    workspace::full_hash,
};

/// Lists paths that are in an index although they are ignored.
const IGNORED: [&str; 5] = ["ls-files", "-z", "--cached", "--ignored", "--exclude-standard"];

/// Lists paths whose files differ from an index.
const DIFFERING: [&str; 5] = ["ls-files", "-z", "--others", "--modified", "--deleted"];

/// Updates an index from the current files at the given paths.
const UPDATE: [&str; 6] = ["update-index", "--add", "--remove", "--replace", "-z", "--stdin"];

/// A temporary index that is brought up to date.
#[derive(Debug)]
pub(crate) struct Index<'p> {
    pub(crate) private: &'p Private,
    pub(crate) git: Git,
    pub(crate) scratch: TempDir,
    pub(crate) path: PathBuf,
}

impl<'p> Index<'p> {
    /// Creates an empty index in a scratch directory.
    pub(crate) fn new(private: &'p Private) -> Result<Self> {
        let scratch = private.scratch()?;
        let path = scratch.path().join("index");
        let git = private.git().index(&path);
        Ok(Index { private, git, scratch, path })
    }

    /// Writes new objects durably to the object store of the snapshots.
    #[must_use]
    pub(crate) fn kept(mut self) -> Self {
        self.git = self.git.objects(&self.private.objects);
        self
    }

    /// Writes new objects to the scratch directory, which is deleted with this value.
    pub(crate) fn for_a_moment(mut self) -> Result<Self> {
        let info = self.scratch.path().join("objects/info");
        let written = fs::create_dir_all(&info).and_then(|()| {
            let objects = self.private.objects.as_os_str().as_bytes();
            fs::write(info.join("alternates"), [objects, b"\n"].concat())
        });
        written.map_err(|error| Error::io("write", &info, &error))?;
        self.git = self.git.objects(&self.scratch.path().join("objects")).for_a_moment();
        Ok(self)
    }

    /// Loads the cached index of an earlier call, if there is one.
    pub(crate) fn recall(&self, name: &str) -> Result<()> {
        let known = self.private.folder.join(name);
        let Ok(found) = fs::metadata(&known) else { return Ok(()) };
        // Git uses the modification time of the index: files that changed at that time or later are read again.
        let copied = fs::copy(&known, &self.path).and_then(|_| {
            let copy = fs::OpenOptions::new().write(true).open(&self.path)?;
            copy.set_modified(found.modified()?)
        });
        copied.map_err(|error| Error::io("copy", &known, &error))
    }

    /// Saves the index and its tree as the cache for later calls. `since` is the snapshot by whose rules it was updated.
    pub(crate) fn remember(&self, name: &str, tree: &str, since: Option<&str>) -> Result<()> {
        let Some(checksum) = checksum(&self.path) else { return Ok(()) };
        let known = self.private.folder.join(name);
        fs::rename(&self.path, &known).map_err(|error| Error::io("write", &known, &error))?;
        // If this write fails, the checksum does not fit and the next call asks `git`.
        let note = format!("{checksum} {tree} {}", since.unwrap_or_default());
        let _ = fs::write(tree_file(&self.private.folder, name), note);
        Ok(())
    }

    /// Returns the tree of the index, if the index is the cached one and has not changed since.
    pub(crate) fn recalled_tree(&self, name: &str) -> Option<String> {
        self.note(name).map(|(tree, _)| tree)
    }

    /// Returns the tree of the index and the snapshot by whose rules it was updated, if it is the cached index.
    fn note(&self, name: &str) -> Option<(String, String)> {
        let note = fs::read_to_string(tree_file(&self.private.folder, name)).ok()?;
        let [known, tree, since] = note.split(' ').collect::<Vec<_>>()[..] else { return None };
        (checksum(&self.path)? == known).then_some((full_hash(tree).ok()?.to_owned(), since.to_owned()))
    }

    /// Loads the tree of a snapshot, unless the cached index has that tree or was updated by the rules of that snapshot.
    /// The cached file metadata of entries that are the same in both stays valid.
    pub(crate) fn start_from(&self, name: &str, snapshot: &str, tree: &str) -> Result<()> {
        if self.note(name).is_some_and(|(known, since)| known == tree || since == snapshot) {
            return Ok(());
        }
        let merge: &[&str] = if self.path.exists() { &["read-tree", "-m", tree] } else { &["read-tree", tree] };
        self.git.run(merge).map(drop)
    }

    /// Adds all changes, additions and removals by the current ignore rules. Returns the files that cannot be stored.
    pub(crate) fn add(&self) -> Result<Unkept> {
        self.settle_links()?;
        let differing = self.git.paths(&[&DIFFERING[..], &["--exclude-standard"]].concat())?;
        self.take_in(differing)
    }

    /// Adds all changes by the ignore rules of a snapshot.
    pub(crate) fn add_by(&self, scope: &Scope) -> Result<Unkept> {
        let rules = self.scratch.path().join("rules");
        fs::write(&rules, scope.rules()).map_err(|error| Error::io("write", &rules, &error))?;
        let from = format!("--exclude-from={}", rules.display());
        self.settle_links()?;
        let mut differing = self.git.paths(&[&DIFFERING[..], &[&from]].concat())?;
        // A nested repository of the snapshot stays one, even if it has no `.git` any more.
        let nested: BTreeSet<Vec<u8>> = scope.nested().into_iter().collect();
        differing.retain(|path| nested.contains(path) || !is_below_any(path, &nested));
        let ignored = scope.ignored();
        if !ignored.is_empty() && !differing.is_empty() {
            let known: BTreeSet<Vec<u8>> = self.git.paths(&["ls-files", "-z", "--cached"])?.into_iter().collect();
            differing.retain(|path| known.contains(path) || !is_below_any(path, &ignored));
        }
        self.take_in(differing)
    }

    fn settle_links(&self) -> Result<()> {
        links::settle(&self.git, &self.path, &self.private.place.root)
    }

    /// Updates the given paths, except those that cannot be stored.
    fn take_in(&self, mut paths: Vec<Vec<u8>>) -> Result<Unkept> {
        paths.sort();
        paths.dedup();
        let home = self.private.home_within().map(bytes);
        paths.retain(|path| home.as_ref().is_none_or(|home| !is_within(path, home)));
        let (paths, unkept) = unkept::part(&self.private.place.root, paths);
        let (gone, paths): (Vec<_>, Vec<_>) =
            paths.into_iter().partition(|path| is_gone(&self.private.place.root, path));
        if !gone.is_empty() {
            self.remove(gone)?;
        }
        if paths.is_empty() {
            return Ok(unkept);
        }
        // The directories of nested repositories are listed with a trailing slash, which `update-index` does not
        // accept.
        let plain = paths.into_iter().map(|mut path| {
            path.truncate(path.len() - usize::from(path.ends_with(b"/")));
            path
        });
        let root = &self.private.place.root;
        let (nested, plain) = links::part(root, plain.collect());
        let mapped = mapped::inodes(root);
        mapped::settle(root, plain.iter().map(Vec::as_slice));
        // The first update writes many objects, unless they were imported from the repository as packs.
        let has_packs =
            || fs::read_dir(self.private.objects.join("pack")).is_ok_and(|mut packs| packs.next().is_some());
        let is_much = !self.path.exists() && !has_packs();
        if !plain.is_empty() {
            let git = self.git.clone().bulk(is_much).reading_only(self.private.place.git_dirs());
            git.run_with(&UPDATE, &join(plain.iter().cloned()))?;
        }
        links::take_in(&self.git, root, &nested)?;
        self.distrust(plain, &mapped)?;
        Ok(unkept)
    }

    /// Removes the metadata of files that may be written without a change of it, so that git reads them again.
    fn distrust(&self, mut paths: Vec<Vec<u8>>, mapped: &BTreeSet<u64>) -> Result<()> {
        if mapped.is_empty() {
            return Ok(());
        }
        let root = &self.private.place.root;
        let inode = |path: &Vec<u8>| fs::symlink_metadata(root.join(OsStr::from_bytes(path))).map(|about| about.ino());
        paths.retain(|path| inode(path).is_ok_and(|inode| mapped.contains(&inode)));
        if paths.is_empty() {
            return Ok(());
        }
        let staged = self.git.paths(&["ls-files", "-z", "--stage"])?;
        let is_meant = |line: &Vec<u8>| Staged::parse(line).is_some_and(|file| paths.contains(&file.path));
        let lines = join(staged.into_iter().filter(is_meant));
        self.git.run_with(&["update-index", "-z", "--index-info"], &lines).map(drop)
    }

    /// Adds everything that belongs to the workspace. Of the ignored files, exactly those that the user's repository
    /// tracks belong to it.
    pub(crate) fn add_what_belongs(&self) -> Result<Unkept> {
        let before = self.scratch.path().join("index.before");
        let is_recalled = self.path.exists();
        if is_recalled {
            fs::copy(&self.path, &before).map_err(|error| Error::io("copy", &self.path, &error))?;
        }
        // All three queries take time, so they run in parallel. The files that `add` adds meanwhile are not ignored, so
        // that only entries of the previous index can be.
        let (tracked, mut ignored, unkept) = std::thread::scope(|scope| {
            let tracked = scope.spawn(|| self.tracked_though_ignored());
            let ignored = scope.spawn(|| match is_recalled {
                true => self.private.git().index(&before).paths(&IGNORED),
                false => Ok(Vec::new()),
            });
            let unkept = self.add()?;
            Ok::<_, Error>((joined(tracked)?, joined(ignored)?, unkept))
        })?;
        let root = &self.private.place.root;
        let is_file = |path: &&Vec<u8>| {
            fs::symlink_metadata(root.join(OsStr::from_bytes(path))).is_ok_and(|about| !about.is_dir())
        };
        let there: Vec<Vec<u8>> = tracked.iter().filter(is_file).cloned().collect();
        let mut unkept = unkept;
        if !there.is_empty() {
            unkept.extend(self.take_in(there)?);
            ignored = self.git.paths(&IGNORED)?;
        }
        let ours: Vec<Vec<u8>> = ignored.into_iter().filter(|path| !tracked.contains(path)).collect();
        if !ours.is_empty() {
            self.remove(ours)?;
        }
        Ok(unkept)
    }

    fn remove(&self, paths: Vec<Vec<u8>>) -> Result<()> {
        self.git.run_with(&["update-index", "--force-remove", "-z", "--stdin"], &join(paths)).map(drop)
    }

    fn tracked_though_ignored(&self) -> Result<BTreeSet<Vec<u8>>> {
        match self.private.place.repository {
            Some(_) => {
                let git = Git::discover(&self.private.place.root).excluding(&self.private.excludes());
                Ok(git.paths(&IGNORED)?.into_iter().collect())
            }
            None => Ok(BTreeSet::new()),
        }
    }
}

/// Returns the file with the tree of a cached index.
pub(crate) fn tree_file(private: &Path, name: &str) -> PathBuf {
    private.join(format!("{name}.tree"))
}

/// Returns the checksum that git writes at the end of an index. `None` if it wrote zeros instead, as `index.skipHash` says.
fn checksum(index: &Path) -> Option<String> {
    let mut end = [0; 20];
    let mut file = File::open(index).ok()?;
    file.seek(SeekFrom::End(-20)).ok()?;
    file.read_exact(&mut end).ok()?;
    (end != [0; 20]).then(|| hex(&end))
}

pub(crate) fn joined<T>(asked: ScopedJoinHandle<'_, Result<T>>) -> Result<T> {
    asked.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
}

fn bytes(path: &Path) -> Vec<u8> {
    path.as_os_str().as_bytes().to_vec()
}

/// Returns true if no file exists at a path. A file behind a symbolic link does not count.
fn is_gone(root: &Path, path: &[u8]) -> bool {
    let path = Path::new(OsStr::from_bytes(path));
    let is_link = |above: &Path| fs::symlink_metadata(root.join(above)).is_ok_and(|about| about.is_symlink());
    let mut above = path.ancestors().skip(1).filter(|above| !above.as_os_str().is_empty());
    fs::symlink_metadata(root.join(path)).is_err() || above.any(is_link)
}

/// Returns true if a path equals one of these directories or lies below one.
fn is_below_any(path: &[u8], folders: &BTreeSet<Vec<u8>>) -> bool {
    let ends = path.iter().enumerate().filter(|(_, byte)| **byte == b'/').map(|(at, _)| at);
    ends.chain([path.len()]).any(|end| folders.contains(&path[..end]))
}

/// Returns true if a path equals a directory or lies below it.
fn is_within(path: &[u8], folder: &[u8]) -> bool {
    let folder = folder.strip_suffix(b"/").unwrap_or(folder);
    path.strip_prefix(folder).is_some_and(|rest| rest.is_empty() || rest.starts_with(b"/"))
}
