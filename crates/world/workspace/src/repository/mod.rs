//! Records the state of the user's repository before an attempt, and repairs it if a program has damaged it.
//!
//! A program may commit, switch, merge and make references: that is recorded (`moved`), and an undo takes it back. What
//! is lost or decides what the next git command of a person does is put back at once (`repair.rs`): deleted references
//! and entries of the stash, files that git cannot read, the state of a merge or rebase (`state.rs`), and the objects of
//! the commit that was checked out (`objects.rs`). Earlier commits are not stored. If they are gone, the repaired
//! history begins at the commit that was checked out.
//!
//! Other programs may work in the repository meanwhile, so its files are opened by `interlock-beneath` only.

mod copies;
mod locks;
mod logs;
mod objects;
mod references;
mod repair;
mod returned;
mod state;

use std::{
    collections::BTreeSet,
    fs, io,
    path::{Component, Path, PathBuf},
};

use interlock_beneath::{FileType, Folder};
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use self::{
    copies::Copies,
    locks::Locks,
    logs::Logs,
    references::{Compared, HEAD, PACKED, References},
    state::State,
};
use crate::{
    Error, Moved, NotKept, Result, Why,
    place::Repository,
    private::{Private, hex},
    secrets::NewHistory,
    workspace::{name_part, prefix_of},
};

pub(crate) use references::STASH;
pub(crate) use repair::repair;

/// The directory within a private directory that holds the recorded states of the repository.
pub(crate) const FOLDER: &str = "repository";

/// The directory in it with what was removed from the repository, by the snapshot before.
pub(crate) const REMOVED: &str = "removed";

/// Maximum size of `HEAD` and of the configuration, and of the index and the packed references.
const TEXT_BYTES_MAX: u64 = 1 << 20;
const FILE_BYTES_MAX: u64 = 256 << 20;

/// Maximum number of references that lead to each other.
const REFERENCES_DEPTH_MAX: usize = 5;

/// The recorded state of a repository.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Standing {
    /// Its location. A program may have replaced it with a link to another repository since.
    repository: Option<Repository>,
    head: String,
    config: String,
    /// The references with their values: a hash or the name of another reference.
    references: References,
    /// The commit that was checked out, if its objects are stored.
    commit: Option<String>,
    /// The names of the packs and of the directories of loose objects.
    objects: BTreeSet<String>,
    /// The name of the copy of its index.
    index: Option<String>,
    /// The name of the copy of its packed references.
    #[serde(default)]
    packed: Option<String>,
    #[serde(default)]
    logs: Logs,
    /// The other parts of its own git directory. `None` if an earlier version of Interlock recorded the state.
    #[serde(default)]
    state: Option<State>,
    /// The lock files. `None` if an earlier version of Interlock recorded the state.
    #[serde(default)]
    locks: Option<Locks>,
    /// The time before it was read. `None` if an earlier version of Interlock recorded the state.
    #[serde(default)]
    read_ms: Option<u64>,
}

impl Standing {
    /// Reads the current state of the user's repository. Parts that cannot be read are not recorded.
    #[expect(clippy::disallowed_methods, reason = "the private directory is in the store")]
    pub(crate) fn of(private: &Private) -> Result<Option<Self>> {
        let Some(repository) = &private.place.repository else { return Ok(None) };
        let folder = private.folder.join(FOLDER);
        fs::create_dir_all(&folder).map_err(|error| Error::io("write in", &folder, &error))?;
        let Ok((git, own)) = open(repository) else { return Ok(None) };
        let copies = Copies { folder: &folder };
        let read_ms = Some(returned::now_ms());
        let (head, (references, _)) = (text(&own, HEAD), references::read(&git));
        let copy = |git: &Folder, name: &str| {
            let about = git.stat(Path::new(name)).ok()?;
            copies.of_file(git, name, &about, FILE_BYTES_MAX).ok()
        };
        Ok(Some(Standing {
            commit: objects::brought(&folder, &head, &references)
                .or_else(|| objects::bring_head(private, repository, &folder)),
            head,
            config: text(&git, "config"),
            references,
            objects: objects::names(&git),
            index: copy(&own, "index"),
            packed: copy(&git, PACKED),
            logs: logs::copy(&git, &copies),
            state: Some(state::read(&own, &copies)),
            locks: Some(locks::read(&git, &own)),
            repository: Some(repository.clone()),
            read_ms,
        }))
    }

    /// Saves this state with a snapshot.
    pub(crate) fn write(&self, private: &Private, name: &str) -> Result<()> {
        let path = file(private, name);
        let written = serde_json::to_vec(self).map_err(io::Error::from).and_then(|json| copies::put(&path, &json));
        written.map_err(|error| Error::io("write", &path, &error))
    }

    /// Reads the state at a snapshot.
    fn at(private: &Private, snapshot: &str) -> Option<(Self, Repository)> {
        let mut standing: Standing = serde_json::from_slice(&fs::read(file(private, snapshot)).ok()?).ok()?;
        if let (Some(state), Some(read_ms)) = (&standing.state, standing.read_ms) {
            standing.state = Some(returned::corrected(&private.folder.join(FOLDER), state, read_ms));
        }
        let repository = standing.repository.clone()?;
        Some((standing, repository))
    }

    /// Returns the hashes that `HEAD` and the references have.
    pub(crate) fn hashes(&self) -> Vec<String> {
        let all = self.references.values().map(String::as_str).chain([self.head.trim_end()]);
        all.filter(|value| is_hash(value)).map(str::to_owned).collect()
    }

    /// Returns the commit of a reference, or the one that is checked out if there is no such reference: a new branch begins
    /// there.
    pub(crate) fn commit_at(&self, reference: &str) -> Option<&str> {
        match self.references.get(reference) {
            Some(value) => commit_of(value, &self.references),
            None => self.head_commit(),
        }
        .filter(|commit| is_hash(commit))
    }

    /// Returns the commit that `HEAD` leads to.
    fn head_commit(&self) -> Option<&str> {
        commit_of(&self.head, &self.references)
    }
}

fn commit_of<'r>(head: &'r str, references: &'r References) -> Option<&'r str> {
    match head.trim_end().strip_prefix("ref: ") {
        Some(name) => references.get(name).map(String::as_str),
        None => Some(head.trim_end()),
    }
}

fn file(private: &Private, snapshot: &str) -> PathBuf {
    private.folder.join(FOLDER).join(name_part(snapshot))
}

/// The references that were made or moved since a snapshot. To be called after `repair`: a damaged one has not moved.
pub(crate) fn moved(private: &Private, before: &str) -> Vec<Moved> {
    let Some((standing, repository)) = Standing::at(private, before) else { return Vec::new() };
    let Ok((git, own)) = open(&repository) else { return Vec::new() };
    let head = text(&own, HEAD);
    let compared = Compared::new(&git, [&standing.head, &head], worktree(&repository));
    let mut moved = compared.moved(&standing.references, &references::read(&git).0);
    let (was, is) = (standing.head.trim_end(), head.trim_end());
    if was != is && [was, is].iter().all(|head| references::is_value(head)) {
        moved.push(Moved { reference: HEAD.to_owned(), before: Some(was.to_owned()), after: is.to_owned() });
    }
    moved
}

/// Returns the state of the repository at the first snapshot of a run; `None` if no snapshot has recorded it.
pub(crate) fn first(private: &Private, run: &str) -> Option<Standing> {
    let prefix = prefix_of(run);
    let written = fs::read_dir(private.folder.join(FOLDER)).ok()?.flatten().filter_map(|entry| {
        let name = entry.file_name().into_string().ok()?;
        name.strip_prefix(&name_part(&prefix))?.parse::<u64>().ok()
    });
    let first = written.min()?;
    Standing::at(private, &format!("{prefix}{first}")).map(|(standing, _)| standing)
}

/// The commits and tags that programs have made since a snapshot, as far as a reference leads to them.
pub(crate) fn made_since(private: &Private, before: &str) -> NewHistory {
    let Some((standing, _)) = Standing::at(private, before) else { return NewHistory::default() };
    let tips = moved(private, before).into_iter().map(|moved| moved.after).filter(|after| is_hash(after));
    NewHistory { tips: tips.collect(), known: standing.hashes() }
}

fn is_hash(value: &str) -> bool {
    references::is_value(value) && !value.starts_with("ref: ") && value.bytes().any(|digit| digit != b'0')
}

/// Returns the value of a reference of a repository, or of `HEAD`: a hash or `ref: ` and the name of another one.
pub(crate) fn value(repository: &Repository, reference: &str) -> Option<String> {
    let (git, own) = open(repository).ok()?;
    references::value(if reference.starts_with("refs/") { &git } else { &own }, reference)
}

/// Returns the state of a merge or rebase that was there at a snapshot and has been finished since. To be called after
/// `repair`.
pub(crate) fn finished(private: &Private, before: &str) -> Vec<NotKept> {
    let Some((standing, repository)) = Standing::at(private, before) else { return Vec::new() };
    let Ok((_, own)) = open(&repository) else { return Vec::new() };
    let parts = standing.state.iter().flat_map(State::keys).filter(|name| name.as_str() != state::SHALLOW);
    let gone = parts.filter(|name| matches!(own.kind(Path::new(name)), Ok(None)));
    gone.map(|name| NotKept { path: Path::new(".git").join(name), why: Why::Finished }).collect()
}

/// Returns a hash that changes with the commits and references of a nested repository. `None` if there is none.
pub(crate) fn nested_stamp(root: &Path, path: &Path) -> Option<String> {
    let root_folder = Folder::open(root).ok()?;
    let place = path.join(".git");
    let about = root_folder.stat(&place).ok()?;
    let link = text(&root_folder, place.to_str().unwrap_or_default());
    let target = match link.trim_end().strip_prefix("gitdir: ") {
        Some(target) => plain(&root.join(path).join(target)).strip_prefix(root).ok().map(Path::to_owned),
        None => Some(place),
    };
    let mut hash = Sha256::new();
    hash.update(format!("{} {link}", about.st_ino));
    if let Some(git) = target.and_then(|target| root_folder.folder(&target).ok()) {
        hash.update(format!("{} {:?}", text(&git, HEAD), references::read(&git)));
    }
    Some(hex(&hash.finalize()))
}

/// Returns the commit that a nested repository has checked out. Git is not asked, because it would read the settings of
/// that repository. The path must be canonical.
pub(crate) fn nested_commit(root: &Path) -> Option<String> {
    let dirs = interlock_git::git_dirs(root)?;
    let (own, common) = (Folder::open(&dirs.own).ok()?, Folder::open(&dirs.common).ok()?);
    let mut value = references::value(&own, HEAD)?;
    for _ in 0..REFERENCES_DEPTH_MAX {
        match value.strip_prefix("ref: ") {
            Some(name) => value = references::value(&common, name)?,
            None => return Some(value),
        }
    }
    None
}

/// Resolves `..` in a path by its text.
fn plain(path: &Path) -> PathBuf {
    path.components().fold(PathBuf::new(), |mut plain, part| {
        match part {
            Component::ParentDir => drop(plain.pop()),
            part => plain.push(part),
        }
        plain
    })
}

/// Opens the directory with the references and the one with `HEAD`. No part of their paths may be a link, because it may
/// lead to another repository.
fn open(repository: &Repository) -> interlock_beneath::Result<(Folder, Folder)> {
    let open = |path: &Path| Folder::open(path);
    Ok((open(&repository.git_dir)?, open(&repository.own_git_dir)?))
}

/// Returns the name of a linked worktree.
fn worktree(repository: &Repository) -> Option<&str> {
    let is_linked = repository.own_git_dir != repository.git_dir;
    repository.own_git_dir.file_name().filter(|_| is_linked)?.to_str()
}

/// Names the current content of the index by its metadata.
pub(crate) fn stamp(repository: &Repository) -> Option<String> {
    let about = Folder::open(&repository.own_git_dir).ok()?.stat(Path::new("index")).ok()?;
    (FileType::from_raw_mode(about.st_mode) == FileType::RegularFile).then(|| copies::name(&about))
}

/// Returns a file's text: an empty one if it is missing, no text, or anything but a file.
fn text(git: &Folder, name: &str) -> String {
    git.read_text(Path::new(name), TEXT_BYTES_MAX).ok().flatten().unwrap_or_default()
}

/// Replaces whatever is at a path by a file.
fn write(git: &Folder, path: &str, content: &[u8]) -> io::Result<()> {
    let path = Path::new(path);
    git.make_folders(path.parent().unwrap_or(Path::new("")))?;
    if git.kind(path)? == Some(FileType::Directory) {
        git.remove_all(path)?;
    }
    Ok(git.write(path, content)?)
}
