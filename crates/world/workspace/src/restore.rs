//! Restores the files of a workspace to a snapshot.
//!
//! Each round compares the files with the snapshot and restores those that differ. The restore ends when no file
//! differs. If a round is interrupted, the next one finds the remaining differences.

use std::fmt;

use interlock_beneath::Folder;

use crate::{Error, Result, checkout, index::Index, plural, private::Private};

/// Maximum number of rounds. If files still differ after that, another program keeps changing them, and an error is
/// reported.
const ROUNDS_MAX: usize = 4;

/// The git mode of a nested repository.
const REPOSITORY: &str = "160000";

/// The result of a restore.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Restored {
    /// The number of files that had changed or were missing.
    pub put_back: usize,
    /// The number of new files that were removed.
    pub removed: usize,
    /// Nested repositories that are new or at another commit. They are left unchanged.
    pub left: Vec<String>,
}

impl fmt::Display for Restored {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{} file{} restored, {} removed", self.put_back, plural(self.put_back), self.removed)?;
        match self.left.as_slice() {
            [] => Ok(()),
            left => write!(out, "; nested repositories not changed: {}", left.join(", ")),
        }
    }
}

/// A file that differs from the snapshot.
#[derive(Debug)]
struct Difference {
    path: Vec<u8>,
    /// The file in the snapshot. `None` if the file is new.
    before: Option<checkout::File>,
    is_repository: bool,
}

pub(crate) fn restore(private: &Private, tree: &str) -> Result<Restored> {
    let index = Index::new(private)?.for_a_moment()?;
    index.git.run(&["read-tree", tree])?;
    let root = &private.place.root;
    let folder = Folder::open(root).map_err(|error| Error::io("open", root, &error.into()))?;
    let (mut done, mut refused) = (Restored::default(), None);
    for round in 0.. {
        put_back_rules(&index, &folder)?;
        index.add()?;
        let (left, differing): (Vec<_>, Vec<_>) =
            differences(&index, tree)?.into_iter().partition(|difference| difference.is_repository);
        if differing.is_empty() {
            done.left = left.iter().map(|difference| String::from_utf8_lossy(&difference.path).into_owned()).collect();
            break;
        }
        if round == ROUNDS_MAX {
            let path = String::from_utf8_lossy(&differing[0].path).into_owned();
            return Err(refused.unwrap_or(Error::Unequal { count: differing.len(), path }));
        }
        done.removed += differing.iter().filter(|difference| difference.before.is_none()).count();
        done.put_back += differing.iter().filter(|difference| difference.before.is_some()).count();
        refused = put_back(&index, &folder, differing).err();
        index.git.run(&["read-tree", "--reset", tree])?;
    }
    Ok(done)
}

/// Removes new files, deepest first, and writes those that differ.
fn put_back(index: &Index<'_>, folder: &Folder, differing: Vec<Difference>) -> Result<()> {
    let new = differing.iter().rev().filter(|difference| difference.before.is_none());
    let removed = new.map(|difference| checkout::remove(folder, &difference.path)).collect::<Vec<_>>();
    let files: Vec<_> = differing.into_iter().filter_map(|difference| difference.before).collect();
    checkout::write(&index.git, folder, &files)?;
    removed.into_iter().collect()
}

/// Restores the `.gitignore` files first, so that the old rules decide which files are ignored. Otherwise, if a command
/// had removed a rule, the restore would remove the files that the rule covered.
fn put_back_rules(index: &Index<'_>, folder: &Folder) -> Result<()> {
    let rules = ":(top,glob)**/.gitignore";
    let before = index.git.paths(&["ls-files", "-z", "--cached", "--stage", rules])?;
    for path in index.git.paths(&["ls-files", "-z", "--others", "--exclude-standard", rules])? {
        checkout::remove(folder, &path)?;
    }
    let before: Vec<_> = before.iter().filter_map(|entry| checkout::File::staged(entry)).collect();
    checkout::write(&index.git, folder, &before)
}

fn differences(index: &Index<'_>, tree: &str) -> Result<Vec<Difference>> {
    let raw = index.git.paths(&["diff-index", "--cached", "--raw", "--no-renames", "-z", tree])?;
    Ok(raw.chunks_exact(2).map(|pair| difference(&pair[0], &pair[1])).collect())
}

fn difference(about: &[u8], path: &[u8]) -> Difference {
    let text = String::from_utf8_lossy(about);
    let is_repository = text.trim_start_matches(':').split(' ').take(2).any(|mode| mode == REPOSITORY);
    Difference { path: path.to_vec(), before: checkout::File::before(about, path), is_repository }
}
