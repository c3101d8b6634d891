//! The objects of the commit that is checked out, kept in the private directory.

use std::{collections::BTreeSet, path::Path};

use interlock_beneath::Folder;

use super::{copies::put, references::References};
use crate::{Result, git::Git, place::Repository, private::Private};

/// Maximum number of objects of a commit that are copied. The objects of a larger commit are not restored.
const OBJECTS_MAX: usize = 100_000;

/// Packs objects without searching for deltas, which would take most of the time.
pub(super) const PACK: [&str; 4] = ["pack-objects", "--stdout", "--window=0", "-q"];

/// The file with the commit whose objects were copied last, in the folder of the recorded states.
const COMMIT: &str = "commit";

/// Returns the names of the packs and of the directories of loose objects. `git gc` repacks objects, so a missing name
/// alone is no damage.
pub(super) fn names(git: &Folder) -> BTreeSet<String> {
    let names = |folder: &str| {
        let names = git.names(Path::new(folder)).unwrap_or_default();
        let names = names.into_iter().filter_map(|name| name.into_string().ok());
        names.map(|name| format!("{folder}/{name}")).collect::<Vec<_>>()
    };
    names("objects").into_iter().chain(names("objects/pack")).collect()
}

/// Returns the checked-out commit if its objects have been copied already.
pub(super) fn brought(folder: &Path, head: &str, references: &References) -> Option<String> {
    let head = head.trim_end();
    let commit = match head.strip_prefix("ref: ") {
        Some(name) => references.get(name)?,
        None => head,
    };
    (last(folder) == *commit).then(|| commit.to_owned())
}

fn last(folder: &Path) -> String {
    std::fs::read_to_string(folder.join(COMMIT)).unwrap_or_default()
}

/// Copies the objects of the checked-out commit to the private directory and returns that commit.
pub(super) fn bring_head(private: &Private, repository: &Repository, folder: &Path) -> Option<String> {
    let theirs = repository.git(&private.place.root);
    let commit = theirs.line(&["rev-parse", "--quiet", "--verify", "HEAD^{commit}"]).ok()?;
    let last = last(folder);
    if last == commit {
        return Some(commit);
    }
    let known = Some(last.as_str()).filter(|last| !last.is_empty());
    // The previous commit may have been removed since.
    let all = listed(&theirs, &commit, known).or_else(|_| listed(&theirs, &commit, None)).ok()?;
    if all.iter().filter(|byte| **byte == b'\n').count() > OBJECTS_MAX {
        return None;
    }
    let pack = theirs.run_with(&PACK, &all).ok()?;
    private.git().run_with(&["index-pack", "--stdin"], &pack).ok()?;
    // This reference protects the commit from pruning, and `shallow` stops git from searching for its history.
    put(&private.folder.join("shallow"), format!("{commit}\n").as_bytes()).ok()?;
    private.git().run(&["update-ref", "refs/repository/head", &commit]).ok()?;
    put(&folder.join(COMMIT), commit.as_bytes()).ok()?;
    Some(commit)
}

/// Lists the objects of a commit and of its tree, except those of another commit. Fails if an object is missing.
pub(super) fn listed(git: &Git, commit: &str, but_for: Option<&str>) -> Result<Vec<u8>> {
    let not = but_for.map(|commit| format!("^{commit}^{{tree}}"));
    let tree = format!("{commit}^{{tree}}");
    let mut all = vec!["rev-list", "--objects", "--no-object-names", "--no-walk", commit, tree.as_str()];
    all.extend(not.as_deref());
    git.run(&all)
}

/// Returns those of the objects that exist.
pub(super) fn existing(git: &Git, hashes: impl Iterator<Item = String>) -> Result<BTreeSet<String>> {
    let asked: String = hashes.map(|hash| hash + "\n").collect();
    if asked.is_empty() {
        return Ok(BTreeSet::new());
    }
    let found = git.run_with(&["cat-file", "--batch-check=%(objectname)"], asked.as_bytes())?;
    let found = String::from_utf8_lossy(&found);
    Ok(found.lines().filter(|line| !line.contains(' ')).map(str::to_owned).collect())
}

/// Returns the commits among these whose parents are not all there: those that `shallow` has to list.
pub(super) fn without_parents(git: &Git, commits: BTreeSet<String>) -> BTreeSet<String> {
    let parents = |commit: &String| {
        let text = git.line(&["cat-file", "commit", commit]).ok()?;
        let header = text.lines().take_while(|line| !line.is_empty());
        Some(header.filter_map(|line| line.strip_prefix("parent ").map(str::to_owned)).collect::<Vec<_>>())
    };
    let is_cut = |commit: &String| {
        let Some(parents) = parents(commit) else { return false };
        let count = parents.len();
        existing(git, parents.into_iter()).is_ok_and(|found| found.len() < count)
    };
    commits.into_iter().filter(is_cut).collect()
}
