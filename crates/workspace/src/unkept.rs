//! Files that no snapshot holds: git refuses their names, they are too large, or they belong to another repository.
//!
//! Their content cannot be put back, but that they have changed is noticed, so that nobody says there was nothing to take back.

use std::{
    collections::BTreeMap,
    ffi::OsStr,
    fs::{self, Metadata},
    os::unix::{ffi::OsStrExt, fs::MetadataExt},
    path::{Path, PathBuf},
};

use serde::{Deserialize, Serialize};

use crate::private::hex;

/// Size of the largest file that is kept. A larger one takes longer to read than an attempt should wait.
pub const KEPT_BYTES_MAX: u64 = 256 << 20;

/// Files of another repository that are looked at.
const FILES_MAX: usize = 100_000;

/// Paths that are not kept, each with what tells it from a changed one, and why.
pub(crate) type Unkept = BTreeMap<Vec<u8>, (String, Why)>;

/// Why a path is not kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Why {
    /// Git takes no such name.
    Name,
    /// It is larger than [`KEPT_BYTES_MAX`].
    Size,
    /// It is another repository, or belongs to one.
    Repository,
}

impl Why {
    /// In words that follow the path.
    pub fn words(self) -> String {
        match self {
            Why::Name => "git takes no file of this name, so that its content is not kept".to_owned(),
            Why::Size => format!("it is larger than {} MiB, so that its content is not kept", KEPT_BYTES_MAX >> 20),
            Why::Repository => "it belongs to a repository of its own, whose content is not kept".to_owned(),
        }
    }
}

/// A path that an attempt has changed and that is not kept.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct NotKept {
    /// From the root of the workspace.
    #[serde(with = "crate::path_text")]
    pub path: PathBuf,
    /// Why it is not kept.
    pub why: Why,
}

/// Parts paths into those that can be kept and those that cannot.
pub(crate) fn part(root: &Path, paths: Vec<Vec<u8>>) -> (Vec<Vec<u8>>, Unkept) {
    let mut unkept = Unkept::new();
    let kept = paths.into_iter().filter(|path| {
        let place = root.join(OsStr::from_bytes(path));
        let about = fs::symlink_metadata(&place);
        let why = match &about {
            _ if is_refused(path) => Why::Name,
            Ok(about) if about.is_file() && about.len() > KEPT_BYTES_MAX => Why::Size,
            Ok(about) if about.is_dir() && path.ends_with(b"/") => Why::Repository,
            _ => return true,
        };
        let stamp = match why {
            Why::Repository => tree_stamp(&place),
            _ => about.map(|about| stamp(&about)).unwrap_or_default(),
        };
        unkept.insert(path.clone(), (stamp, why));
        // Of a repository the commit that it stands at is kept, if there is one.
        why == Why::Repository && has_commit(&place)
    });
    (kept.collect(), unkept)
}

/// Repositories within folders whose files are kept all the same.
pub(crate) fn repositories<'p>(root: &Path, kept: impl Iterator<Item = &'p Vec<u8>>) -> Unkept {
    let mut found = Unkept::new();
    let mut last: &[u8] = b"";
    for path in kept {
        let Some(end) = path.iter().rposition(|byte| *byte == b'/') else { continue };
        let mut folder = &path[..end];
        if folder == last {
            continue;
        }
        last = folder;
        loop {
            let git = [folder, b"/.git"].concat();
            if let Ok(about) = fs::symlink_metadata(root.join(OsStr::from_bytes(&git))) {
                found.insert(git, (about.ino().to_string(), Why::Repository));
            }
            match folder.iter().rposition(|byte| *byte == b'/') {
                Some(end) => folder = &folder[..end],
                None => break,
            }
        }
    }
    found
}

/// Paths that are not as they were.
pub(crate) fn changed(before: &Unkept, after: &Unkept) -> Vec<NotKept> {
    let is_new = |(path, what): &(&Vec<u8>, &(String, Why))| before.get(*path) != Some(*what);
    let is_gone = |(path, _): &(&Vec<u8>, &(String, Why))| !after.contains_key(*path);
    let all: BTreeMap<&Vec<u8>, Why> =
        after.iter().filter(is_new).chain(before.iter().filter(is_gone)).map(|(path, (_, why))| (path, *why)).collect();
    all.into_iter().map(|(path, why)| NotKept { path: OsStr::from_bytes(path).into(), why }).collect()
}

/// Whether git takes no path with this name, however it is set: `.git` in any case.
fn is_refused(path: &[u8]) -> bool {
    path.split(|byte| *byte == b'/').any(|name| name.eq_ignore_ascii_case(b".git"))
}

fn stamp(about: &Metadata) -> String {
    format!("{}.{}.{}.{}", about.ino(), about.len(), about.mtime(), about.mtime_nsec())
}

/// Whether a repository has a commit that could be kept.
fn has_commit(folder: &Path) -> bool {
    crate::git::Git::discover(folder).run(&["rev-parse", "--quiet", "--verify", "HEAD"]).is_ok()
}

/// Tells a folder from one with other files, or from one whose files were written.
fn tree_stamp(folder: &Path) -> String {
    use sha2::{Digest, Sha256};
    let (mut folders, mut hash, mut left) = (vec![folder.to_owned()], Sha256::new(), FILES_MAX);
    while let Some(folder) = folders.pop() {
        let entries = fs::read_dir(&folder).into_iter().flatten().flatten();
        let mut entries: Vec<PathBuf> = entries.map(|entry| entry.path()).collect();
        entries.sort();
        for path in entries {
            // What git keeps for itself is not the content of the folder.
            if left == 0 || path.file_name() == Some(OsStr::new(".git")) {
                continue;
            }
            left -= 1;
            let Ok(about) = fs::symlink_metadata(&path) else { continue };
            hash.update(path.as_os_str().as_bytes());
            match about.is_dir() {
                true => folders.push(path),
                false => hash.update(stamp(&about).as_bytes()),
            }
        }
    }
    hex(&hash.finalize())
}
