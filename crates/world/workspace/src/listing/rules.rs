//! The conditions under which the same files belong to a workspace as at its last snapshot.

use std::{collections::BTreeMap, ffi::OsStr, fs, os::unix::ffi::OsStrExt, path::PathBuf};

use super::{Before, stamp::Stamp, walk::stamp_at};
use crate::{
    private::{Private, VIEW_FILES},
    repository,
    scope::{RULES, Scope},
};

/// The rules that decide which files belong to a workspace, with the metadata of their files.
#[derive(Debug)]
pub(super) struct Rules {
    /// The name of the stored [`Scope`].
    pub(super) scope: String,
    /// Paths that are no part of the workspace, with true for directories.
    pub(super) ignored: BTreeMap<Vec<u8>, bool>,
    /// Files that can contain rules and are no part of the workspace. `None` if there is no such file.
    files: Vec<(PathBuf, Option<Stamp>)>,
    sources: Sources,
    /// True if no rule applies except that for the files that show a run.
    is_plain: bool,
}

/// The parts of the rules that are not in files of the workspace.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Sources {
    /// The rules that come in addition to those in the workspace.
    excludes: Vec<u8>,
    /// The stamp of the user's index. Files that the user's repository tracks are never ignored.
    users_index: Option<String>,
}

impl Sources {
    pub(super) fn of(private: &Private) -> Option<Self> {
        Some(Sources { excludes: fs::read(private.excludes()).ok()?, users_index: users_index(private)? })
    }
}

impl Rules {
    /// Returns the rules of a scope. `None` if they may have changed since it was built.
    pub(super) fn of(private: &Private, before: Before, scope: &Scope, name: &str) -> Option<Self> {
        let mut ignored = scope.ignored_paths();
        // The store is skipped before it is compared.
        let home = private.home_within().map(|home| home.as_os_str().as_bytes().to_vec());
        ignored.retain(|path| home.is_none() || home.as_deref() != path.strip_suffix(b"/"));
        let plain = |path: &[u8]| path.strip_suffix(b"/").map_or((path.to_vec(), false), |path| (path.to_vec(), true));
        let files = ignored.iter().filter_map(|path| match path.ends_with(b"/") {
            true => Some([path, RULES].concat()),
            false => is_rules(path).then(|| path.clone()),
        });
        let stamped = |path: Vec<u8>| {
            let path = PathBuf::from(OsStr::from_bytes(&path));
            match stamp_at(&private.place.root, &path) {
                Some(stamp) => stamp.if_older_than(before.began).map(|stamp| (path, Some(stamp))),
                None => Some((path, None)),
            }
        };
        (Sources::of(private)? == before.sources).then_some(())?;
        Some(Rules {
            scope: name.to_owned(),
            files: files.map(stamped).collect::<Option<_>>()?,
            ignored: ignored.iter().map(|path| plain(path)).collect(),
            sources: before.sources,
            is_plain: scope.rules().split(|byte| *byte == b'\n').all(is_without_effect),
        })
    }

    /// Returns true if the rules outside the workspace are the same as before.
    pub(super) fn are_current(&self, private: &Private) -> bool {
        let root = &private.place.root;
        fs::read(private.excludes()).is_ok_and(|excludes| excludes == self.sources.excludes)
            && self.files.iter().all(|(path, stamp)| stamp_at(root, path) == *stamp)
    }

    /// Returns true if the user's repository tracks the same files as before.
    pub(super) fn is_same_index(&self, private: &Private) -> bool {
        users_index(private).as_ref() == Some(&self.sources.users_index)
    }

    /// Returns true if one of these new paths is ignored.
    pub(super) fn ignore_any(&self, private: &Private, paths: &[&[u8]]) -> Option<bool> {
        let folder = |view: &'static str| view.split('/').next().unwrap_or(view).as_bytes();
        let is_view = |path: &&[u8]| {
            path.split(|byte| *byte == b'/').any(|name| VIEW_FILES.into_iter().any(|view| folder(view) == name))
        };
        match self.is_plain && !paths.iter().any(is_view) {
            true => Some(false),
            false => private.ignored(paths.iter().copied()).ok().map(|ignored| !ignored.is_empty()),
        }
    }
}

/// Returns true for a file with ignore rules.
pub(super) fn is_rules(path: &[u8]) -> bool {
    path.rsplit(|byte| *byte == b'/').next() == Some(RULES)
}

/// Returns the stamp of the user's index: an empty one if there is no repository or no index, `None` if the index is no
/// ordinary file.
fn users_index(private: &Private) -> Option<Option<String>> {
    let Some(repository) = &private.place.repository else { return Some(None) };
    match fs::symlink_metadata(repository.own_git_dir.join("index")) {
        Ok(_) => repository::stamp(repository).map(Some),
        Err(_) => Some(None),
    }
}

/// Returns true for a line that is no rule, and for the rules of the files that show a run.
fn is_without_effect(line: &[u8]) -> bool {
    let is_view = |path: &str| line.strip_prefix(b"**/") == Some(path.as_bytes());
    let words = line.strip_suffix(b"\r").unwrap_or(line);
    words.iter().all(|byte| *byte == b' ') || line.starts_with(b"#") || VIEW_FILES.into_iter().any(is_view)
}
