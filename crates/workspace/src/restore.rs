//! Restores the files of a workspace to a snapshot.
//!
//! Each round compares the files with the snapshot and restores those that differ. The restore ends when no file
//! differs. If a round is interrupted, the next one finds the remaining differences.

use std::{ffi::OsStr, fmt, fs, os::unix::ffi::OsStrExt};

use crate::{Error, Result, git::join, index::Index, plural, private::Private};

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
    is_new: bool,
    is_repository: bool,
}

pub(crate) fn restore(private: &Private, tree: &str) -> Result<Restored> {
    let index = Index::new(private)?.for_a_moment()?;
    index.git.run(&["read-tree", tree])?;
    let mut done = Restored::default();
    for round in 0.. {
        put_back_rules(&index)?;
        index.add()?;
        let (left, differing): (Vec<_>, Vec<_>) =
            differences(&index, tree)?.into_iter().partition(|difference| difference.is_repository);
        if differing.is_empty() {
            done.left = left.iter().map(|difference| String::from_utf8_lossy(&difference.path).into_owned()).collect();
            break;
        }
        if round == ROUNDS_MAX {
            let path = String::from_utf8_lossy(&differing[0].path).into_owned();
            return Err(Error::Unequal { count: differing.len(), path });
        }
        done.removed += differing.iter().filter(|difference| difference.is_new).count();
        done.put_back += differing.iter().filter(|difference| !difference.is_new).count();
        index.git.run(&["read-tree", "--reset", "-u", tree])?;
    }
    Ok(done)
}

/// Restores the `.gitignore` files first, so that the old rules decide which files are ignored. Otherwise, if a command
/// had removed a rule, the restore would remove the files that the rule covered.
fn put_back_rules(index: &Index<'_>) -> Result<()> {
    let (rules, kept) = (":(top,glob)**/.gitignore", ["ls-files", "-z", "--cached"]);
    let before = index.git.paths(&[&kept[..], &[rules]].concat())?;
    let others = index.git.paths(&["ls-files", "-z", "--others", "--exclude-standard", rules])?;
    for path in others {
        let path = index.private.place.root.join(OsStr::from_bytes(&path));
        fs::remove_file(&path).map_err(|error| Error::io("remove", &path, &error))?;
    }
    match before.is_empty() {
        true => Ok(()),
        false => {
            let checkout = ["checkout-index", "--force", "--quiet", "-z", "--stdin"];
            index.git.run_with(&checkout, &join(before)).map(drop)
        }
    }
}

fn differences(index: &Index<'_>, tree: &str) -> Result<Vec<Difference>> {
    let raw = index.git.paths(&["diff-index", "--cached", "--raw", "--no-renames", "-z", tree])?;
    Ok(raw.chunks_exact(2).map(|pair| difference(&pair[0], &pair[1])).collect())
}

/// Parses `:OLD_MODE NEW_MODE OLD_HASH NEW_HASH STATUS` and a path.
fn difference(about: &[u8], path: &[u8]) -> Difference {
    let about = String::from_utf8_lossy(about);
    let mut fields = about.trim_start_matches(':').split(' ');
    let (old, new) = (fields.next().unwrap_or_default(), fields.next().unwrap_or_default());
    Difference {
        path: path.to_vec(),
        is_new: old.bytes().all(|digit| digit == b'0'),
        is_repository: old == REPOSITORY || new == REPOSITORY,
    }
}
