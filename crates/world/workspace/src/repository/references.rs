//! Reads the references of a repository from their files, without following a link and without starting `git`.

use std::{
    collections::{BTreeMap, BTreeSet},
    path::Path,
};

use interlock_beneath::{FileType, Folder};

use crate::Moved;

/// Maximum number of references that are read.
const REFERENCES_MAX: usize = 20_000;

/// Maximum size of the file of one reference, and of the file with the packed ones.
const REFERENCE_BYTES_MAX: u64 = 4 << 10;
const PACKED_BYTES_MAX: u64 = 64 << 20;

/// The file with the packed references.
pub(super) const PACKED: &str = "packed-refs";

/// The name under which the checked-out commit or branch is compared.
pub(super) const HEAD: &str = "HEAD";

/// The stash.
pub(crate) const STASH: &str = "refs/stash";

/// Branches of other runs and the tags of their checkpoints. Interlock creates, moves and deletes them at any time.
const OF_RUNS: [&str; 2] = ["refs/heads/interlock/", "refs/tags/chk-"];

/// References that are no work of anybody: copies that `git maintenance` fetches, and those of Interlock itself.
const OURS: &str = "refs/interlock/";
const UNCOMPARED: [&str; 2] = [OURS, "refs/prefetch/"];

/// References with their values: a hash or `ref: ` and the name of another reference. A value that git does not accept
/// is empty.
pub(crate) type References = BTreeMap<String, String>;

/// Returns every reference with its value, and true. If there are too many, it returns only the packed ones.
pub(super) fn read(git: &Folder) -> (References, bool) {
    let mut found = packed(git).unwrap_or_default();
    let loose = git.list(Path::new("refs"), REFERENCES_MAX, |_| true);
    let is_complete = loose.is_ok();
    for entry in loose.unwrap_or_default().into_iter().filter(|entry| entry.kind != FileType::Directory) {
        let Some(name) = entry.path.to_str().filter(|name| !name.ends_with(".lock")) else { continue };
        // The commits of an agent are kept under references of ours; snapshots of earlier versions are not used.
        if !name.starts_with(OURS) || name.starts_with("refs/interlock/agent/") {
            found.insert(name.to_owned(), loose_value(git, name).unwrap_or_default());
        }
    }
    (found, is_complete)
}

/// Returns the packed references, or `None` if git could not read the file.
pub(super) fn packed(git: &Folder) -> Option<References> {
    let text = git.read_text(Path::new(PACKED), PACKED_BYTES_MAX).ok()?.unwrap_or_default();
    let lines = text.lines().filter(|line| !line.starts_with(['#', '^']));
    let parse = |line: &str| {
        let (hash, name) = line.split_once(' ')?;
        (is_value(hash) && name.starts_with("refs/")).then(|| (name.to_owned(), hash.to_owned()))
    };
    let all: Option<Vec<_>> = lines.map(parse).collect();
    Some(all?.into_iter().filter(|(name, _)| !name.starts_with(OURS)).take(REFERENCES_MAX).collect())
}

/// Returns the value of one reference, or of `HEAD`.
pub(crate) fn value(git: &Folder, name: &str) -> Option<String> {
    loose_value(git, name).or_else(|| packed(git)?.remove(name)).filter(|value| !value.is_empty())
}

/// Returns the value in the file of a reference: empty if git does not accept it, `None` if there is no file.
fn loose_value(git: &Folder, name: &str) -> Option<String> {
    match git.read_text(Path::new(name), REFERENCE_BYTES_MAX) {
        Ok(Some(text)) => Some(Some(text.trim_end()).filter(|text| is_value(text)).unwrap_or_default().to_owned()),
        Ok(None) => None,
        Err(error) if error.is_absent() && !matches!(error, interlock_beneath::Error::Link { .. }) => None,
        Err(_) => Some(String::new()),
    }
}

/// Returns true if git accepts this as the value of a reference.
pub(super) fn is_value(text: &str) -> bool {
    let is_hash = [40, 64].contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_hexdigit());
    is_hash || text.strip_prefix("ref: ").is_some_and(|name| name.starts_with("refs/"))
}

/// Returns the branches that other worktrees have checked out. `own` is the name of a linked worktree, if it is one.
fn checked_out_elsewhere(git: &Folder, own: Option<&str>) -> BTreeSet<String> {
    let names = git.names(Path::new("worktrees")).unwrap_or_default();
    let others = names.iter().filter_map(|name| name.to_str()).filter(|name| Some(*name) != own);
    let heads = others.filter_map(|name| loose_value(git, &format!("worktrees/{name}/HEAD")));
    heads.filter_map(|head| head.strip_prefix("ref: ").map(str::to_owned)).collect()
}

/// The references that a program of a workspace may have changed. Other runs and people work in the same repository.
pub(super) struct Compared {
    /// In a linked worktree only its own branches are compared, because the sandbox keeps programs out of the others.
    only: Option<BTreeSet<String>>,
    elsewhere: BTreeSet<String>,
}

impl Compared {
    /// `heads` are the values of `HEAD` before and now; `worktree` is the name of a linked worktree.
    pub(super) fn new(git: &Folder, heads: [&str; 2], worktree: Option<&str>) -> Self {
        let branches = heads.into_iter().filter_map(|head| head.trim_end().strip_prefix("ref: ")).map(str::to_owned);
        Compared {
            only: worktree.is_some().then(|| branches.collect()),
            elsewhere: checked_out_elsewhere(git, worktree),
        }
    }

    /// Returns true if the deletion of a reference is undone at once.
    pub(super) fn is_put_back(&self, name: &str) -> bool {
        self.only.as_ref().is_none_or(|only| only.contains(name)) && !is_of_runs(name)
    }

    /// Returns true if a new value of a reference is recorded. A branch that is checked out elsewhere is moved there.
    fn is_recorded(&self, name: &str) -> bool {
        self.is_put_back(name)
            && !self.elsewhere.contains(name)
            && !UNCOMPARED.iter().any(|prefix| name.starts_with(prefix))
    }

    /// Returns the references that were made or moved, and those of other runs that were deleted.
    pub(super) fn moved(&self, before: &References, now: &References) -> Vec<Moved> {
        let changed = now
            .iter()
            .filter(|(name, after)| self.is_recorded(name) && !after.is_empty() && before.get(*name) != Some(*after));
        let moved = changed.map(|(reference, after)| Moved {
            reference: reference.clone(),
            before: before.get(reference).filter(|value| !value.is_empty()).cloned(),
            after: after.clone(),
        });
        let gone = before.iter().filter(|(name, value)| {
            self.only.is_none() && is_of_runs(name) && is_value(value) && !now.contains_key(*name)
        });
        moved.chain(gone.map(|(name, value)| Moved::deleted(name.clone(), value.clone()))).collect()
    }
}

fn is_of_runs(name: &str) -> bool {
    OF_RUNS.iter().any(|prefix| name.starts_with(prefix))
}
