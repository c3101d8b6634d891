//! The commits of nested repositories in a private index.
//!
//! Git would enter a nested repository to see which commit it has checked out, and read its settings for that. A program
//! can make these settings include a named pipe, for which each call of git would wait. So the commits are read from files
//! (`repository::nested_commit`), and their entries are marked as unchanged, which keeps git out.

use std::{
    collections::BTreeSet,
    ffi::OsStr,
    fs,
    os::unix::ffi::OsStrExt,
    path::{Path, PathBuf},
};

use crate::{
    Result,
    git::{Git, join},
    listing::Staged,
    repository::nested_commit,
};

/// The git mode of a nested repository, and its bytes in the file of an index.
const REPOSITORY: &str = "160000";
const MODE_BYTES: [u8; 4] = [0, 0, 0xe0, 0];

/// Marks the entries that `update-index --index-info` adds as unchanged.
const UNCHANGED: &str = "core.ignoreStat=true";

/// Separates the nested repositories from the files.
pub(crate) fn part(root: &Path, paths: Vec<Vec<u8>>) -> (Vec<Vec<u8>>, Vec<Vec<u8>>) {
    paths.into_iter().partition(|path| is_folder(&at(root, path)))
}

/// Takes the commits of nested repositories into an index.
pub(crate) fn take_in(git: &Git, root: &Path, paths: &[Vec<u8>]) -> Result<()> {
    let lines = paths.iter().filter_map(|path| Some(line(&nested_commit(&at(root, path))?, path)));
    write(git, lines.collect())
}

/// Updates the entries of nested repositories in an index to the commits that are checked out, before git reads the index.
pub(crate) fn settle(git: &Git, index: &Path, root: &Path) -> Result<()> {
    let has_links = fs::read(index).is_ok_and(|index| index.windows(MODE_BYTES.len()).any(|mode| mode == MODE_BYTES));
    if !has_links {
        return Ok(());
    }
    let lists = |option: &str| git.paths(&["ls-files", "-z", option]);
    let unmarked: BTreeSet<Vec<u8>> =
        lists("-v")?.into_iter().filter_map(|tagged| Some(tagged.strip_prefix(b"H ")?.to_vec())).collect();
    let staged = lists("--stage")?.into_iter().filter_map(|entry| Staged::parse(&entry));
    let lines = staged.filter(|entry| entry.mode == REPOSITORY).filter_map(|Staged { hash, path, .. }| {
        let place = at(root, &path);
        // A file in place of the repository must be seen.
        if fs::symlink_metadata(&place).is_ok_and(|about| !about.is_dir()) {
            return Some([format!("0 {hash}\t").as_bytes(), &path].concat());
        }
        let now = nested_commit(&place).unwrap_or_else(|| hash.clone());
        (now != hash || unmarked.contains(&path)).then(|| line(&now, &path))
    });
    write(git, lines.collect())
}

fn write(git: &Git, lines: Vec<Vec<u8>>) -> Result<()> {
    match lines.is_empty() {
        true => Ok(()),
        false => {
            let git = git.clone().setting(UNCHANGED);
            git.run_with(&["update-index", "-z", "--index-info"], &join(lines)).map(drop)
        }
    }
}

fn line(commit: &str, path: &[u8]) -> Vec<u8> {
    [format!("{REPOSITORY} {commit}\t").as_bytes(), path].concat()
}

fn at(root: &Path, path: &[u8]) -> PathBuf {
    root.join(OsStr::from_bytes(path))
}

fn is_folder(path: &Path) -> bool {
    fs::symlink_metadata(path).is_ok_and(|about| about.is_dir())
}
