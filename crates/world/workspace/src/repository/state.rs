//! What lies in a git directory besides objects, references, logs, index and settings: the state of a merge, rebase or
//! bisection, `shallow`, `info` and the like.
//!
//! It decides what the next git command of a person does: `git rebase --continue` runs the `exec` lines of a planted
//! list, and `info/grafts` rewrites the history. So it is what it was after an attempt. A program cannot begin a rebase
//! in one attempt and continue it in the next one. It can finish what a person has begun.

#![expect(
    clippy::disallowed_methods,
    reason = "the private directory of a workspace is in the store, which no program can change"
)]

use std::{
    collections::{BTreeMap, BTreeSet},
    fs, io,
    path::{Path, PathBuf},
};

use interlock_beneath::{FileType, Folder};
use serde::{Deserialize, Serialize};

use super::copies::Copies;

/// Names in a git directory that a program may change. Settings and hooks are guarded by the sandbox; the other parts are
/// compared in their own way, are caches, or belong to other programs.
const FREE: [&str; 34] = [
    "COMMIT_EDITMSG",
    "EDIT_DESCRIPTION",
    "FETCH_HEAD",
    "HEAD",
    "MERGE_RR",
    "NOTES_EDITMSG",
    "ORIG_HEAD",
    "TAG_EDITMSG",
    "annex",
    "branches",
    "commondir",
    "config",
    "config.worktree",
    "description",
    "gc.log",
    "gc.pid",
    "gitdir",
    "gitk.cache",
    "hooks",
    "index",
    "info",
    "jj",
    "lfs",
    "locked",
    "logs",
    "modules",
    "objects",
    "packed-refs",
    "refs",
    "reftable",
    "rr-cache",
    "sl",
    "svn",
    "worktrees",
];

/// Prefixes of the names of files that git and Interlock make for a moment.
const PASSING: [&str; 6] = ["tmp_", ".tmp-", "next-index-", "index.stash.", "sharedindex.", ".interlock-writing-"];

/// The folders whose files are state, one by one, and the ones of their names that are caches.
const FOLDERS: [(&str, &[&str]); 2] =
    [("info", &["refs", "commit-graphs"]), ("objects/info", &["packs", "commit-graph", "commit-graphs", "refs"])];

/// The commits whose parents are missing on purpose. It is not restored but corrected.
pub(super) const SHALLOW: &str = "shallow";

/// Maximum number and size of the files of one part. A larger one is not compared.
const FILES_MAX: usize = 2_000;
const BYTES_MAX: u64 = 8 << 20;

/// A part of the state: a file or a folder with its files, by their paths in the git directory.
pub(super) type Part = BTreeMap<String, Node>;

/// The parts by their names, such as `rebase-merge` and `info/grafts`.
pub(super) type State = BTreeMap<String, Part>;

/// A file of the state.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Node {
    Folder,
    /// The name of the copy of a file.
    File(String),
    Link(String),
    /// A pipe, a socket or a device.
    Other,
    /// It is too large to be compared.
    Large,
}

/// Reads the state of a git directory.
pub(super) fn read(git: &Folder, copies: &Copies<'_>) -> State {
    let mut state = State::new();
    for name in names(git, "").filter(|name| !FREE.contains(&name.as_str()) && !is_passing(name)) {
        state.insert(name.clone(), part(git, &name, copies));
    }
    for (folder, caches) in FOLDERS {
        for name in names(git, folder).filter(|name| !caches.contains(&name.as_str()) && !is_passing(name)) {
            let path = format!("{folder}/{name}");
            state.insert(path.clone(), part(git, &path, copies));
        }
    }
    state
}

fn names(git: &Folder, folder: &str) -> impl Iterator<Item = String> + use<> {
    let names = git.names(Path::new(folder)).unwrap_or_default();
    names.into_iter().filter_map(|name| name.into_string().ok())
}

fn is_passing(name: &str) -> bool {
    name.ends_with(".lock") || PASSING.iter().any(|prefix| name.starts_with(prefix))
}

fn part(git: &Folder, name: &str, copies: &Copies<'_>) -> Part {
    let mut left = BYTES_MAX;
    let mut part = Part::new();
    let all = git.list(Path::new(name), FILES_MAX, |_| true);
    let below: Vec<String> = match git.kind(Path::new(name)) {
        Ok(Some(FileType::Directory)) => match all {
            Ok(all) => all.into_iter().filter_map(|entry| entry.path.into_os_string().into_string().ok()).collect(),
            Err(_) => return Part::from([(name.to_owned(), Node::Large)]),
        },
        _ => Vec::new(),
    };
    for path in std::iter::once(name.to_owned()).chain(below) {
        let node = node(git, &path, &mut left, copies);
        if node == Node::Large {
            return Part::from([(name.to_owned(), Node::Large)]);
        }
        part.insert(path, node);
    }
    part
}

fn node(git: &Folder, path: &str, left: &mut u64, copies: &Copies<'_>) -> Node {
    match git.kind(Path::new(path)) {
        Ok(Some(FileType::Directory)) => Node::Folder,
        Ok(Some(FileType::Symlink)) => {
            let target = git.read_link(Path::new(path)).unwrap_or_default();
            Node::Link(target.to_string_lossy().into_owned())
        }
        Ok(Some(FileType::RegularFile)) => match git.read(Path::new(path), *left) {
            Ok(content) => {
                *left = left.saturating_sub(content.len() as u64);
                copies.of_content(&content).map_or(Node::Large, Node::File)
            }
            Err(_) => Node::Large,
        },
        _ => Node::Other,
    }
}

/// Returns the names of the parts that differ.
pub(super) fn differing<'s>(before: &'s State, now: &'s State) -> BTreeSet<&'s str> {
    let all = before.keys().chain(now.keys()).filter(|name| before.get(*name) != now.get(*name));
    all.map(String::as_str).collect()
}

/// Puts a part back to what it was. What is there now is kept in a folder first, if it is not too large.
pub(super) fn put_back(
    git: &Folder,
    name: &str,
    [before, now]: [&State; 2],
    aside: &Path,
    copies: &Copies<'_>,
) -> io::Result<()> {
    let empty = Part::new();
    keep_aside(now.get(name).unwrap_or(&empty), aside, copies)?;
    git.remove_all(Path::new(name))?;
    for (path, node) in before.get(name).unwrap_or(&empty) {
        if let Some(above) = Path::new(path).parent() {
            git.make_folders(above)?;
        }
        match node {
            Node::Folder => git.make_folders(Path::new(path))?,
            Node::File(copy) => super::write(git, path, &copies.read(copy).ok_or(io::ErrorKind::NotFound)?)?,
            Node::Link(target) => git.symlink(Path::new(target), Path::new(path))?,
            Node::Other | Node::Large => {}
        }
    }
    Ok(())
}

fn keep_aside(part: &Part, aside: &Path, copies: &Copies<'_>) -> io::Result<()> {
    for (path, node) in part {
        let path: PathBuf = aside.join(path);
        if let (Node::File(copy), Some(above)) = (node, path.parent()) {
            fs::create_dir_all(above)?;
            fs::copy(copies.path(copy), &path)?;
        }
    }
    Ok(())
}
