//! Brings an index of our own up to what the files are now: everything but what is ignored and what lies outside the workspace.

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
};

/// What `git add` says of a repository inside that has no commit yet. Messages are in English because `LC_ALL` is `C`.
const UNBORN: &str = "does not have a commit checked out";

/// Asks for what an index has although it is ignored.
const IGNORED: [&str; 5] = ["ls-files", "-z", "--cached", "--ignored", "--exclude-standard"];

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

    /// Takes in all changes, additions and removals.
    pub(crate) fn add(&self) -> Result<()> {
        let mut left_out: Vec<Vec<u8>> = self.private.home_within().map(bytes).into_iter().collect();
        match self.add_without(&left_out) {
            Err(Error::Git { said, .. }) if said.contains(UNBORN) => {
                left_out.extend(self.unborn()?);
                self.add_without(&left_out)
            }
            other => other,
        }
    }

    fn add_without(&self, left_out: &[Vec<u8>]) -> Result<()> {
        let patterns = left_out.iter().map(|path| [b":(top,exclude,literal)", path.as_slice()].concat());
        let patterns = join(std::iter::once(b":/".to_vec()).chain(patterns));
        let add = ["add", "--all", "--pathspec-from-file=-", "--pathspec-file-nul"];
        // What a repository holds already is not written again. Elsewhere the first time is much at once.
        let is_much = self.private.place.repository.is_none() && !self.path.exists();
        self.git.clone().bulk(is_much).run_with(&add, &patterns).map(drop)
    }

    /// Repositories inside that have no commit: nothing can be said about them.
    fn unborn(&self) -> Result<Vec<Vec<u8>>> {
        let mut found = self.git.paths(&["ls-files", "-z", "--others", "--exclude-standard"])?;
        found.retain(|path| path.ends_with(b"/"));
        found.retain(|path| {
            let inside = self.private.place.root.join(OsStr::from_bytes(path));
            Git::discover(&inside).run(&["rev-parse", "--quiet", "--verify", "HEAD"]).is_err()
        });
        Ok(found)
    }

    /// Takes in everything that belongs to the workspace: of the ignored files exactly those that the user's repository tracks.
    pub(crate) fn add_what_belongs(&self) -> Result<()> {
        let before = self.scratch.path().join("index.before");
        let is_recalled = self.path.exists();
        if is_recalled {
            fs::copy(&self.path, &before).map_err(|error| Error::io("copy", &self.path, &error))?;
        }
        // Asked while the files are read: all three take their time. What is taken in meanwhile is not ignored, so that only what was known
        // before can be.
        let (tracked, mut ignored) = std::thread::scope(|scope| {
            let tracked = scope.spawn(|| self.tracked_though_ignored());
            let ignored = scope.spawn(|| match is_recalled {
                true => self.private.git().index(&before).paths(&IGNORED),
                false => Ok(Vec::new()),
            });
            self.add()?;
            Ok((joined(tracked)?, joined(ignored)?))
        })?;
        let root = &self.private.place.root;
        let is_there = |path: &Vec<u8>| fs::symlink_metadata(root.join(OsStr::from_bytes(path))).is_ok();
        let there: Vec<_> = tracked.iter().filter(|path| is_there(path)).collect();
        if !there.is_empty() {
            let patterns = join(there.into_iter().map(|path| [b":(top,literal)", path.as_slice()].concat()));
            let add = ["add", "--all", "--force", "--pathspec-from-file=-", "--pathspec-file-nul"];
            self.git.run_with(&add, &patterns)?;
            // A folder that has come in the place of a file was taken in with all that is in it.
            ignored = self.git.paths(&IGNORED)?;
        }
        let ours = join(ignored.into_iter().filter(|path| !tracked.contains(path)));
        match ours.is_empty() {
            true => Ok(()),
            false => self.git.run_with(&["update-index", "--force-remove", "-z", "--stdin"], &ours).map(drop),
        }
    }

    fn tracked_though_ignored(&self) -> Result<BTreeSet<Vec<u8>>> {
        match self.private.place.repository {
            Some(_) => Ok(Git::discover(&self.private.place.root).paths(&IGNORED)?.into_iter().collect()),
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
