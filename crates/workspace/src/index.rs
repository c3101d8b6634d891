//! Brings an index of our own up to what the files are now: everything but what is ignored, what lies outside the workspace and what cannot be kept.

use std::{
    collections::BTreeSet,
    ffi::OsStr,
    fs,
    os::unix::ffi::OsStrExt,
    path::{Path, PathBuf},
    thread::ScopedJoinHandle,
};

use tempfile::TempDir;

use crate::{
    Error, Result,
    git::{Git, join},
    private::Private,
    scope::Scope,
    unkept::{self, Unkept},
};

/// Asks for what an index has although it is ignored.
const IGNORED: [&str; 5] = ["ls-files", "-z", "--cached", "--ignored", "--exclude-standard"];

/// Asks for paths that are not as an index has them.
const DIFFERING: [&str; 5] = ["ls-files", "-z", "--others", "--modified", "--deleted"];

/// Takes paths in as they are now.
const UPDATE: [&str; 6] = ["update-index", "--add", "--remove", "--replace", "-z", "--stdin"];

/// An index being brought up to date, aside.
#[derive(Debug)]
pub(crate) struct Index<'p> {
    pub(crate) private: &'p Private,
    pub(crate) git: Git,
    pub(crate) scratch: TempDir,
    pub(crate) path: PathBuf,
}

impl<'p> Index<'p> {
    /// An empty one.
    pub(crate) fn new(private: &'p Private) -> Result<Self> {
        let scratch = private.scratch()?;
        let path = scratch.path().join("index");
        let git = private.git().index(&path);
        Ok(Index { private, git, scratch, path })
    }

    /// What is written goes where the snapshots are, and survives a loss of power.
    #[must_use]
    pub(crate) fn kept(mut self) -> Self {
        self.git = self.git.objects(&self.private.objects);
        self
    }

    /// What is written goes away with this.
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

    /// Starts from what was known the last time.
    pub(crate) fn recall(&self, name: &str) -> Result<()> {
        let known = self.private.folder.join(name);
        let Ok(found) = fs::metadata(&known) else { return Ok(()) };
        // The time it was written belongs to it: files changed since then or at that moment are looked at again.
        let copied = fs::copy(&known, &self.path).and_then(|_| {
            let copy = fs::OpenOptions::new().write(true).open(&self.path)?;
            copy.set_modified(found.modified()?)
        });
        copied.map_err(|error| Error::io("copy", &known, &error))
    }

    /// Keeps what is known now for the next time.
    pub(crate) fn remember(&self, name: &str) -> Result<()> {
        let known = self.private.folder.join(name);
        match fs::rename(&self.path, &known) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(Error::io("write", &known, &error)),
            _ => Ok(()),
        }
    }

    /// Makes it what a tree is. What is known of files that are the same in both stays known.
    pub(crate) fn start_from(&self, tree: &str) -> Result<()> {
        let merge: &[&str] = if self.path.exists() { &["read-tree", "-m", tree] } else { &["read-tree", tree] };
        self.git.run(merge).map(drop)
    }

    /// Takes in all changes, additions and removals that the rules of this moment allow. Returns what cannot be kept.
    pub(crate) fn add(&self) -> Result<Unkept> {
        let differing = self.git.paths(&[&DIFFERING[..], &["--exclude-standard"]].concat())?;
        self.take_in(differing)
    }

    /// The same by the rules of another moment.
    pub(crate) fn add_by(&self, scope: &Scope) -> Result<Unkept> {
        let rules = self.scratch.path().join("rules");
        fs::write(&rules, scope.rules()).map_err(|error| Error::io("write", &rules, &error))?;
        let from = format!("--exclude-from={}", rules.display());
        let mut differing = self.git.paths(&[&DIFFERING[..], &[&from]].concat())?;
        let ignored = scope.ignored();
        if !ignored.is_empty() && !differing.is_empty() {
            let known: BTreeSet<Vec<u8>> = self.git.paths(&["ls-files", "-z", "--cached"])?.into_iter().collect();
            differing.retain(|path| known.contains(path) || !is_below_any(path, &ignored));
        }
        self.take_in(differing)
    }

    /// Takes in paths, but for those that cannot be kept.
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
        // Folders of other repositories are named with a slash, which `update-index` does not take.
        let plain = paths.into_iter().map(|mut path| {
            path.truncate(path.len() - usize::from(path.ends_with(b"/")));
            path
        });
        // The first time is much at once, unless the repository has had it already.
        let has_packs =
            || fs::read_dir(self.private.objects.join("pack")).is_ok_and(|mut packs| packs.next().is_some());
        let is_much = !self.path.exists() && !has_packs();
        self.git.clone().bulk(is_much).run_with(&UPDATE, &join(plain))?;
        Ok(unkept)
    }

    /// Takes in everything that belongs to the workspace: of the ignored files exactly those that the user's repository tracks.
    pub(crate) fn add_what_belongs(&self) -> Result<Unkept> {
        let before = self.scratch.path().join("index.before");
        let is_recalled = self.path.exists();
        if is_recalled {
            fs::copy(&self.path, &before).map_err(|error| Error::io("copy", &self.path, &error))?;
        }
        // Asked while the files are read: all three take their time. What is taken in meanwhile is not ignored, so that only what was known
        // before can be.
        let (tracked, mut ignored, unkept) = std::thread::scope(|scope| {
            let tracked = scope.spawn(|| self.tracked_though_ignored());
            let ignored = scope.spawn(|| match is_recalled {
                true => self.private.git().index(&before).paths(&IGNORED),
                false => Ok(Vec::new()),
            });
            let unkept = self.add()?;
            Ok((joined(tracked)?, joined(ignored)?, unkept))
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

pub(crate) fn joined<T>(asked: ScopedJoinHandle<'_, Result<T>>) -> Result<T> {
    asked.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
}

fn bytes(path: &Path) -> Vec<u8> {
    path.as_os_str().as_bytes().to_vec()
}

/// Whether nothing stands under a path. What is behind a link does not count.
fn is_gone(root: &Path, path: &[u8]) -> bool {
    let path = Path::new(OsStr::from_bytes(path));
    let is_link = |above: &Path| fs::symlink_metadata(root.join(above)).is_ok_and(|about| about.is_symlink());
    let mut above = path.ancestors().skip(1).filter(|above| !above.as_os_str().is_empty());
    fs::symlink_metadata(root.join(path)).is_err() || above.any(is_link)
}

/// Whether a path is one of these or lies below one.
fn is_below_any(path: &[u8], folders: &BTreeSet<Vec<u8>>) -> bool {
    let ends = path.iter().enumerate().filter(|(_, byte)| **byte == b'/').map(|(at, _)| at);
    ends.chain([path.len()]).any(|end| folders.contains(&path[..end]))
}

/// Whether a path is a folder or lies below it.
fn is_within(path: &[u8], folder: &[u8]) -> bool {
    let folder = folder.strip_suffix(b"/").unwrap_or(folder);
    path.strip_prefix(folder).is_some_and(|rest| rest.is_empty() || rest.starts_with(b"/"))
}
