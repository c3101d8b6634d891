//! The repository's hooks around a commit. This module decides which hooks run, with which files and variables, and what
//! their result means; a [`HookRunner`] runs them, because a hook is a program of the repository and has to be confined.
//!
//! A hook works on copies: the index of the commit, the message, and an object directory of its own, which reads those of
//! the repository. So it can stage and write objects as with `git commit`, although the commit itself is made without it.

#![expect(clippy::disallowed_methods, reason = "the directory is private, and no hook works there yet")]

use std::{
    collections::BTreeMap,
    ffi::OsString,
    fs,
    io::Read as _,
    os::unix::fs::{OpenOptionsExt as _, PermissionsExt as _},
    path::{Path, PathBuf},
};

use interlock_beneath::{Entry, Folder};
use tempfile::TempDir;

use crate::{
    Error, Result,
    commit::{Committer, setting_path},
    git::Git,
    workspace::keep,
};

/// The longest message that a hook may leave.
const MESSAGE_BYTES_MAX: u64 = 1024 * 1024;

/// The most objects that a hook may stage, and the most bytes of these and of its index.
const COPIED_MAX: (usize, u64) = (100_000, 256 << 20);

/// A hook to run.
#[derive(Clone, Debug)]
pub struct Hook<'h> {
    /// Its name, such as `pre-commit`.
    pub name: &'static str,
    /// The program and its arguments.
    pub words: Vec<OsString>,
    /// The root of the workspace, in which it runs.
    pub folder: &'h Path,
    /// Variables that git sets for it.
    pub env: BTreeMap<String, String>,
    /// The directory with its copies, which it may change besides the workspace.
    pub scratch: &'h Path,
}

/// Runs hooks.
pub trait HookRunner {
    /// Runs a hook to its end. The error says why it failed, and refuses the commit if the hook may do so.
    fn run(&self, hook: &Hook<'_>) -> std::result::Result<(), String>;
}

/// The hooks around one commit.
pub(crate) struct Hooks<'h> {
    committer: &'h Committer<'h>,
    runner: &'h dyn HookRunner,
    folder: PathBuf,
    scratch: TempDir,
}

impl<'h> Hooks<'h> {
    /// Finds the hooks of a repository.
    pub(crate) fn new(committer: &'h Committer<'h>, runner: &'h dyn HookRunner) -> Result<Self> {
        let temp = std::env::temp_dir();
        let real = temp.canonicalize().unwrap_or(temp);
        let scratch = TempDir::with_prefix_in("interlock-hooks-", &real);
        let scratch = scratch.map_err(|error| Error::io("write in", &real, &error))?;
        Ok(Hooks { folder: folder(committer), committer, runner, scratch })
    }

    /// Runs the hooks before a commit. `index` and `tree` are those of the commit, `raw` is the tree of the workspace.
    /// Returns the message, which hooks may have changed.
    pub(crate) fn before(&self, message: &str, index: &Path, tree: &str, raw: &str) -> Result<String> {
        let names = ["pre-commit", "prepare-commit-msg", "commit-msg"];
        if names.iter().all(|name| self.program(name).is_none()) {
            return Ok(message.to_owned());
        }
        let file = self.file("COMMIT_EDITMSG");
        let io = |error: std::io::Error| Error::io("write in", self.scratch.path(), &error);
        fs::write(&file, message).map_err(io)?;
        fs::copy(index, self.file("index")).map_err(io)?;
        fs::create_dir(self.file("objects")).map_err(io)?;
        let references = self.references()?;
        if self.run("pre-commit", &[])? {
            let found = keep(self.committer.private)?;
            if found != raw {
                return Err(Error::TreeChanged { expected: raw.to_owned(), found });
            }
            self.check_index(tree)?;
        }
        self.run("prepare-commit-msg", &[file.as_os_str().to_owned(), "message".into()])?;
        self.run("commit-msg", &[file.as_os_str().to_owned()])?;
        if self.references()? != references {
            return Err(Error::Commit("a hook moved a branch or a tag; look at `git reflog`".into()));
        }
        self.message(&file)
    }

    /// Runs the hook after a commit. As with git, its result has no effect.
    pub(crate) fn after(&self) {
        let _ = self.run("post-commit", &[]);
    }

    /// Runs a hook. Returns false if the repository has none of this name.
    fn run(&self, name: &'static str, arguments: &[OsString]) -> Result<bool> {
        let Some(mut words) = self.program(name) else { return Ok(false) };
        words.extend_from_slice(arguments);
        let root = &self.committer.private.place.root;
        let hook = Hook { name, words, folder: root, env: self.env(name), scratch: self.scratch.path() };
        match self.runner.run(&hook) {
            Ok(()) => Ok(true),
            Err(why) => Err(Error::Commit(format!("the hook {name} refused: {why}"))),
        }
    }

    /// Returns the words that start a hook, or `None` if there is none that can be started.
    fn program(&self, name: &str) -> Option<Vec<OsString>> {
        let path = self.folder.join(name);
        let is_program = |about: &fs::Metadata| about.is_file() && about.permissions().mode() & 0o111 != 0;
        fs::metadata(&path).ok().filter(is_program)?;
        let real = fs::canonicalize(&path).ok()?;
        let begin = interlock_beneath::read_beginning(real.parent()?, Path::new(real.file_name()?), 4);
        let begin = begin.unwrap_or_default();
        // As git does, a file that the kernel cannot start is given to the shell.
        let is_started = begin.starts_with(b"#!") || begin.starts_with(b"\x7fELF");
        let shell = (!is_started).then(|| OsString::from("/bin/sh"));
        Some(shell.into_iter().chain([path.into_os_string()]).collect())
    }

    fn env(&self, name: &str) -> BTreeMap<String, String> {
        let text = |path: PathBuf| path.to_string_lossy().into_owned();
        // After the commit the copies are out of date.
        let copies = (name != "post-commit").then(|| {
            [
                ("GIT_INDEX_FILE", text(self.file("index"))),
                ("GIT_OBJECT_DIRECTORY", text(self.file("objects"))),
                ("GIT_ALTERNATE_OBJECT_DIRECTORIES", text(self.objects())),
            ]
        });
        let editor = [("GIT_EDITOR", ":".to_owned()), ("GIT_PREFIX", String::new())];
        copies.into_iter().flatten().chain(editor).map(|(name, value)| (name.to_owned(), value)).collect()
    }

    fn file(&self, name: &str) -> PathBuf {
        self.scratch.path().join(name)
    }

    fn objects(&self) -> PathBuf {
        self.committer.repository.git_dir.join("objects")
    }

    /// Refuses an index whose tree is not the one to commit: only that was verified.
    fn check_index(&self, tree: &str) -> Result<()> {
        // The hook may have made anything of its copies, also links. So git gets copies of these, and directories of its own.
        let own = self.committer.private.scratch()?;
        let io = |error: std::io::Error| Error::io("write in", own.path(), &error);
        let copy = own.path().join("objects");
        fs::create_dir(&copy).map_err(io)?;
        let objects = self.objects().to_string_lossy().into_owned();
        let git = self.committer.git().index(&own.path().join("index")).objects(&copy);
        let git: Git = git.var("GIT_ALTERNATE_OBJECT_DIRECTORIES", &objects);
        let taken = Folder::open(self.scratch.path()).and_then(|hooks| {
            hooks.copy_file(Path::new("index"), (&Folder::open(own.path())?, Path::new("index")), COPIED_MAX.1)?;
            // In `info` are the paths of further objects.
            let is_wanted = |entry: &Entry| !entry.path.starts_with("info");
            hooks.folder(Path::new("objects"))?.copy_to(&Folder::open(&copy)?, COPIED_MAX, is_wanted)
        });
        match taken.map(|()| git.line(&["write-tree"])) {
            Ok(Ok(found)) if found == tree => Ok(()),
            _ => Err(Error::Commit(
                "the hook pre-commit staged other content than was verified; let it change files instead".into(),
            )),
        }
    }

    fn references(&self) -> Result<Vec<u8>> {
        let git = self.committer.git();
        let head = git.run(&["rev-parse", "--verify", "--quiet", "HEAD"]).unwrap_or_default();
        Ok([git.run(&["for-each-ref"])?, head].concat())
    }

    /// Reads the message. The hook may have put a link to another file in its place, which is not followed.
    fn message(&self, file: &Path) -> Result<String> {
        let flags = rustix::fs::OFlags::NOFOLLOW | rustix::fs::OFlags::NONBLOCK;
        let flags = i32::try_from(flags.bits()).unwrap_or_default();
        let read = || {
            let file = fs::File::options().read(true).custom_flags(flags).open(file)?;
            let about = file.metadata()?;
            if !about.is_file() || about.len() > MESSAGE_BYTES_MAX {
                return Err(std::io::Error::other("a hook replaced it with something else than a short text"));
            }
            let mut text = String::new();
            file.take(MESSAGE_BYTES_MAX).read_to_string(&mut text).map(|_| text)
        };
        let text = read().map_err(|error| Error::io("read", file, &error))?;
        match text.trim() {
            "" => Err(Error::Commit("a hook left an empty message".into())),
            text => Ok(format!("{text}\n")),
        }
    }
}

/// Returns the directory of the hooks. `core.hooksPath` counts only if it leads into the workspace or the repository.
fn folder(committer: &Committer<'_>) -> PathBuf {
    let (root, git_dir) = (&committer.private.place.root, &committer.repository.git_dir);
    let set = setting_path(root, "core.hooksPath").and_then(|path| fs::canonicalize(root.join(path)).ok());
    let inside = [root, git_dir].map(|place| fs::canonicalize(place).unwrap_or_else(|_| place.clone()));
    set.filter(|path| inside.iter().any(|place| path.starts_with(place))).unwrap_or_else(|| git_dir.join("hooks"))
}
