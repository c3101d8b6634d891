//! Lists the paths that changed between two snapshots. Undo works from this record.

use std::{collections::HashMap, ffi::OsString, os::unix::ffi::OsStringExt, path::PathBuf};

use serde::{Deserialize, Serialize};

use crate::{
    EndSnapshot, Error, Moved, NotKept, Result, Workspace,
    cleared::{clear, noted, unblocked},
    ended,
    git::Git,
    index::joined,
    listing, nested,
    patch::Kind,
    place::WorkspaceRoot,
    plural,
    private::Private,
    repository,
    workspace::{keep_opened_since, name_it, tree_of},
};

/// The difference between a workspace at two times.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Changes {
    /// The name of the snapshot before the changes.
    pub before: String,
    /// The name of the snapshot after the changes, if one was taken.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub after: Option<String>,
    /// The hash of the tree before.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub before_tree: Option<String>,
    /// The hash of the tree after.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub after_tree: Option<String>,
    /// All paths that differ.
    pub files: Vec<Change>,
    /// Paths that changed but are not stored in a snapshot.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub not_kept: Vec<NotKept>,
    /// Damage to the user's repository, and how it was repaired.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub breaches: Vec<String>,
    /// References of the user's repository that were made or moved meanwhile, as by `git merge`, and `HEAD`.
    #[serde(default, alias = "branches", skip_serializing_if = "Vec::is_empty")]
    pub references: Vec<Moved>,
}

/// The change of one path.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Change {
    /// The path relative to the workspace's root.
    #[serde(with = "crate::path_text")]
    pub path: PathBuf,
    /// The version before the change, or `None` if the file is new.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub before: Option<Version>,
    /// The version after the change, or `None` if the file was removed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub after: Option<Version>,
    /// The previous path, if the file was renamed.
    #[serde(default, skip_serializing_if = "Option::is_none", with = "crate::path_text::option")]
    pub renamed_from: Option<PathBuf>,
    /// The numbers of added and removed lines, or `None` for a binary file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lines: Option<(u64, u64)>,
}

/// The kind and the content of a path at one time.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Version {
    /// The kind of the file.
    pub kind: Kind,
    /// The git hash of its content.
    pub hash: String,
}

impl Changes {
    /// Summarizes the changes in one line.
    pub fn summary(&self) -> String {
        let count = |is: fn(&Change) -> bool| self.files.iter().filter(|change| is(change)).count();
        let made = count(|change| change.before.is_none());
        let gone = count(|change| change.after.is_none());
        format!("{made} file{} created, {} changed, {gone} removed", plural(made), self.files.len() - made - gone)
    }
}

impl Workspace {
    /// Returns the changes since a snapshot and stores the current workspace as a new snapshot. Returns `None` if
    /// nothing changed. If the user's repository was damaged since, it is repaired first.
    pub fn changes_since(&self, folder: &std::path::Path, run: &str, before: &str) -> Result<Option<Changes>> {
        let mut breaches = clear(folder);
        unblocked(folder, &mut breaches, |breaches| self.changes_now(folder, run, before, breaches))
    }

    /// Does the same if nothing blocks git.
    fn changes_now(
        &self,
        folder: &std::path::Path,
        run: &str,
        before: &str,
        breaches: &mut Vec<String>,
    ) -> Result<Option<Changes>> {
        let (private, before_tree) = self.holding(folder, before)?;
        breaches.extend(noted(&private));
        breaches.extend(repository::repair(&private, before));
        let references = repository::moved(&private, before);
        let mut kept = keep_opened_since(&private, before, &before_tree)?;
        let (was, nested) = (nested::read(&private, before), nested::keep(self, &private, before, &mut kept, run)?);
        breaches.extend(kept.said);
        let (after_tree, mut not_kept) = (kept.tree, kept.not_kept);
        not_kept.extend(repository::finished(&private, before));
        if after_tree == before_tree
            && nested == was
            && not_kept.is_empty()
            && breaches.is_empty()
            && references.is_empty()
        {
            ended::write(
                &private,
                before,
                &EndSnapshot { name: before.to_owned(), tree: after_tree, before: before_tree },
            )?;
            return Ok(None);
        }
        let (mut files, after) = std::thread::scope(|scope| {
            let files = scope.spawn(|| match listing::difference(&private, &before_tree, &after_tree) {
                Some(changes) => Ok(changes),
                None => difference(&private.git(), &before_tree, &after_tree),
            });
            let after = name_it(&private, &after_tree, run, None)?;
            Ok::<_, Error>((joined(files)?, after))
        })?;
        nested::write(&private, &after, &nested)?;
        files.extend(nested::differences(self, &private, &was, &nested)?);
        // What no snapshot held before is not new, although only the later one has it. An undo must not remove it.
        files.retain(|file| file.before.is_some() || not_kept.iter().all(|path| path.path != file.path));
        let (name, tree) = (after.clone(), after_tree.clone());
        ended::write(&private, before, &EndSnapshot { name, tree, before: before_tree.clone() })?;
        Ok(Some(Changes {
            before: before.to_owned(),
            after: Some(after),
            before_tree: Some(before_tree),
            after_tree: Some(after_tree),
            files,
            not_kept,
            breaches: std::mem::take(breaches),
            references,
        }))
    }

    /// Returns the private directory that stores a snapshot, and the snapshot's tree, to read them. Nothing is created or
    /// changed if the directory exists.
    pub(crate) fn reading(&self, folder: &std::path::Path, name: &str) -> Result<(Private, String)> {
        if let Some(private) = Private::existing(self.home()?, WorkspaceRoot::find(folder)?)
            && let Some(tree) = tree_of(&private, name)?
        {
            return Ok((private, tree));
        }
        self.holding(folder, name)
    }

    /// Returns the private directory that stores a snapshot, and the snapshot's tree.
    pub(crate) fn holding(&self, folder: &std::path::Path, name: &str) -> Result<(Private, String)> {
        let home = self.home()?;
        let found = Private::open(Some(home), WorkspaceRoot::find(folder)?)?;
        if let Some(tree) = tree_of(&found, name)? {
            return Ok((found, tree));
        }
        // The directory may have become a repository since, or its repository may have been damaged.
        for private in Private::known(home, folder)? {
            if let Some(tree) = tree_of(&private, name)? {
                return Ok((private, tree));
            }
        }
        Err(Error::NoSnapshot(name.to_owned()))
    }
}

/// Returns every path that differs between two trees. A removed and an added path with like content are a rename.
pub(crate) fn difference(git: &Git, before: &str, after: &str) -> Result<Vec<Change>> {
    listed(git, before, after, "-M")
}

/// Returns every path that differs between two trees; `renames` is the option that says how renames are found.
pub(crate) fn listed(git: &Git, before: &str, after: &str, renames: &str) -> Result<Vec<Change>> {
    let raw = git.run(&["diff-tree", "-r", "-z", "--raw", "--numstat", "--no-abbrev", renames, before, after])?;
    let mut pieces = raw.split(|byte| *byte == 0);
    let (mut changes, mut lines) = (Vec::new(), HashMap::new());
    while let Some(piece) = pieces.next().filter(|piece| !piece.is_empty()) {
        match piece.strip_prefix(b":") {
            Some(about) => changes.extend(raw_change(about, &mut pieces)),
            None => lines.extend(counted(piece, &mut pieces)),
        }
    }
    for change in &mut changes {
        change.lines = lines.get(&change.path).copied();
    }
    changes.sort_by(|one, other| one.path.cmp(&other.path));
    Ok(changes)
}

/// Parses `OLD_MODE NEW_MODE OLD_HASH NEW_HASH STATUS` and one path, or two paths if the file was renamed.
fn raw_change<'r>(about: &[u8], pieces: &mut impl Iterator<Item = &'r [u8]>) -> Vec<Change> {
    let about = String::from_utf8_lossy(about);
    let mut fields = about.split(' ');
    let mut field = || fields.next().unwrap_or_default().to_owned();
    let (old_mode, new_mode, old_hash, new_hash, status) = (field(), field(), field(), field(), field());
    let version = |mode: &str, hash: String| Kind::from_mode(mode).map(|kind| Version { kind, hash });
    let (before, after) = (version(&old_mode, old_hash), version(&new_mode, new_hash));
    let change = |path: PathBuf, before, after, renamed_from| Change { path, before, after, renamed_from, lines: None };
    let path = path(pieces.next());
    match status.starts_with(['R', 'C']) {
        false => vec![change(path, before, after, None)],
        true => {
            let new = self::path(pieces.next());
            vec![change(path.clone(), before, None, None), change(new, None, after, Some(path))]
        }
    }
}

/// Parses `ADDED<TAB>REMOVED<TAB>PATH`; `None` for a binary file. If the file was renamed, the path is empty and two more
/// pieces follow.
fn counted<'r>(piece: &[u8], pieces: &mut impl Iterator<Item = &'r [u8]>) -> Option<(PathBuf, (u64, u64))> {
    let mut fields = piece.splitn(3, |byte| *byte == b'\t');
    let mut number = || std::str::from_utf8(fields.next()?).ok()?.parse::<u64>().ok();
    let lines = number().zip(number());
    let name = match fields.next() {
        Some(name) if !name.is_empty() => path(Some(name)),
        _ => {
            pieces.next();
            path(pieces.next())
        }
    };
    Some((name, lines?))
}

fn path(piece: Option<&[u8]>) -> PathBuf {
    OsString::from_vec(piece.unwrap_or_default().to_vec()).into()
}
