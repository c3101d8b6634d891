//! Files that snapshots do not store: git rejects their names, they are too large, or they belong to a nested
//! repository.
//!
//! Their content cannot be restored, but their changes are detected, so that an undo does not falsely report that it
//! restored everything.

use std::{
    collections::{BTreeMap, BTreeSet},
    ffi::OsStr,
    fs::{self, Metadata},
    io::ErrorKind,
    os::unix::{ffi::OsStrExt, fs::MetadataExt},
    path::{Path, PathBuf},
};

use rustix::fs::{Access, AtFlags, CWD, accessat};
use serde::{Deserialize, Serialize};

use crate::{
    nested,
    private::{Private, hex},
    repository,
};

/// Maximum size of a stored file. Reading a larger file would delay an attempt too long.
pub const KEPT_BYTES_MAX: u64 = 256 << 20;

/// Maximum number of files of a nested repository that are checked for changes.
const FILES_MAX: usize = 100_000;

/// The permissions of a file that everybody can read.
const READABLE_BY_ALL: u32 = 0o444;

/// Paths that are not stored, each with a stamp that detects changes and with the reason.
pub(crate) type Unkept = BTreeMap<Vec<u8>, (String, Why)>;

/// The reason why a path is not stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Why {
    /// Git rejects the name of the file.
    Name,
    /// The file is larger than [`KEPT_BYTES_MAX`].
    Size,
    /// The path is the git directory of a nested repository.
    Repository,
    /// The path is a nested repository whose files are not stored: there are too many, or it is in another one.
    Files,
    /// The state of a merge or rebase that a person had begun and that was finished.
    Finished,
    /// The user cannot read the file.
    Unreadable,
}

impl Why {
    /// Returns the reason as a phrase that follows the path.
    pub fn words(self) -> String {
        match self {
            Why::Name => "git accepts no file of this name, so its content is not stored".to_owned(),
            Why::Size => format!("it is larger than {} MiB, so its content is not stored", KEPT_BYTES_MAX >> 20),
            Why::Repository => {
                "the commits and references of a nested repository are not stored; `git reflog` there shows them"
                    .to_owned()
            }
            Why::Files => "the files of nested repositories in others, or of too many, are not stored".to_owned(),
            Why::Finished => {
                "a merge or rebase that was finished cannot be begun again; `git reflog` shows its commits".to_owned()
            }
            Why::Unreadable => "it cannot be read, so its content is not stored".to_owned(),
        }
    }
}

/// A path that an attempt has changed and that is not stored.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct NotKept {
    /// The path relative to the workspace's root.
    #[serde(with = "crate::path_text")]
    pub path: PathBuf,
    /// The reason why it is not stored.
    pub why: Why,
}

/// Separates the paths that can be stored from those that cannot.
pub(crate) fn part(root: &Path, paths: Vec<Vec<u8>>) -> (Vec<Vec<u8>>, Unkept) {
    let mut unkept = Unkept::new();
    let kept = paths.into_iter().filter(|path| {
        let place = root.join(OsStr::from_bytes(path));
        let about = fs::symlink_metadata(&place);
        let why = match &about {
            _ if is_refused(path) => Why::Name,
            Ok(about) if about.is_file() && about.len() > KEPT_BYTES_MAX => Why::Size,
            Ok(about) if about.is_dir() && path.ends_with(b"/") => Why::Repository,
            Ok(about) if about.is_file() && !is_readable(&place, about) => Why::Unreadable,
            // A directory on the way is closed. That does not mean that the file was removed.
            Err(error) if error.kind() == ErrorKind::PermissionDenied => Why::Unreadable,
            _ => return true,
        };
        let stamp = about.map(|about| stamp(&about)).unwrap_or_default();
        unkept.insert(path.clone(), (stamp, why));
        // Of a nested repository the checked-out commit is stored, if there is one.
        why == Why::Repository && has_commit(&place)
    });
    (kept.collect(), unkept)
}

/// Returns the nested repositories in directories whose files are stored nevertheless.
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

/// Returns the nested repositories of a workspace: those in its index and those that could not be added to it. Their files
/// are stored apart, so that only their git directories are not stored. Files of too many, or of one in another one, are
/// not stored either.
pub(crate) fn nested(private: &Private, unkept: &mut Unkept, mut found: BTreeSet<Vec<u8>>) -> Vec<Vec<u8>> {
    let is_root = |path: &[u8], why: Why| why == Why::Repository && path.ends_with(b"/");
    let listed =
        unkept.iter().filter(|(path, (_, why))| is_root(path, *why)).map(|(path, _)| path[..path.len() - 1].to_vec());
    found.extend(listed);
    unkept.retain(|path, (_, why)| !is_root(path, *why));
    let max = if private.nested_in.is_some() { 0 } else { nested::REPOSITORIES_MAX };
    let root = &private.place.root;
    for (number, path) in found.iter().enumerate() {
        let place = Path::new(OsStr::from_bytes(path));
        let git = [path, &b"/.git"[..]].concat();
        let stamp = repository::nested_stamp(root, place);
        unkept.extend(stamp.map(|stamp| (git, (stamp, Why::Repository))));
        if number >= max {
            unkept.insert([path, &b"/"[..]].concat(), (tree_stamp(&root.join(place)), Why::Files));
        }
    }
    found.into_iter().take(max).collect()
}

/// Returns the paths that differ between two times.
pub(crate) fn changed(before: &Unkept, after: &Unkept) -> Vec<NotKept> {
    let is_new = |(path, what): &(&Vec<u8>, &(String, Why))| before.get(*path) != Some(*what);
    let is_gone = |(path, _): &(&Vec<u8>, &(String, Why))| !after.contains_key(*path);
    let all: BTreeMap<&Vec<u8>, Why> =
        after.iter().filter(is_new).chain(before.iter().filter(is_gone)).map(|(path, (_, why))| (path, *why)).collect();
    all.into_iter().map(|(path, why)| NotKept { path: OsStr::from_bytes(path).into(), why }).collect()
}

/// Returns true if git rejects this path regardless of its settings: a component is `.git` in upper or lower case.
pub(crate) fn is_refused(path: &[u8]) -> bool {
    path.split(|byte| *byte == b'/').any(|name| name.eq_ignore_ascii_case(b".git"))
}

/// Returns true if this user can read a file.
fn is_readable(path: &Path, about: &Metadata) -> bool {
    let is_open = || {
        let how = AtFlags::EACCESS | AtFlags::SYMLINK_NOFOLLOW;
        accessat(CWD, path, Access::READ_OK, how).is_ok()
    };
    about.mode() & READABLE_BY_ALL == READABLE_BY_ALL || is_open()
}

fn stamp(about: &Metadata) -> String {
    format!("{}.{}.{}.{}", about.ino(), about.len(), about.mtime(), about.mtime_nsec())
}

/// Returns true if a repository has a commit that can be stored.
fn has_commit(folder: &Path) -> bool {
    repository::nested_commit(folder).is_some()
}

/// Returns a hash that changes if a file in the directory is added, removed or written.
fn tree_stamp(folder: &Path) -> String {
    use sha2::{Digest, Sha256};
    let (mut folders, mut hash, mut left) = (vec![folder.to_owned()], Sha256::new(), FILES_MAX);
    while let Some(folder) = folders.pop() {
        let entries = fs::read_dir(&folder).into_iter().flatten().flatten();
        let mut entries: Vec<PathBuf> = entries.map(|entry| entry.path()).collect();
        entries.sort();
        for path in entries {
            // The data of git itself is not content of the directory.
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
