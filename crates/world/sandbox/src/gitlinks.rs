//! Finds the repositories in a workspace that its index names (gitlinks): git enters them at every `git status`, and
//! reads their settings.
//!
//! The index is read here and not by git, because a program may have prepared it. Only the mode and the name of an entry
//! are looked at.

use std::{
    ffi::OsStr,
    os::unix::ffi::OsStrExt,
    path::{Component, Path, PathBuf},
};

use interlock_beneath::{Error, whole};
use interlock_git::git_dirs;

use crate::guard::Refusal;

/// Maximum size of an index that is read.
pub(crate) const INDEX_BYTES_MAX: u64 = 256 * 1_024 * 1_024;

/// Maximum number of repositories in an index. With more no program starts.
const LINKS_MAX: usize = 2_000;

/// The length of an entry before its hash, and the place of the mode in it.
const STAT_BYTES: usize = 40;
const MODE_AT: usize = 24;

/// The part of a mode that says what an entry is, and its value for a repository.
const KIND: u32 = 0o170_000;
const REPOSITORY: u32 = 0o160_000;

/// The flag of entries with two more bytes of flags.
const EXTENDED: u16 = 0x4000;

/// Returns the paths of the repositories that the index of a workspace names.
pub(crate) fn of(workspace: &Path) -> Result<Vec<PathBuf>, Refusal> {
    let Some(dirs) = git_dirs(workspace) else { return Ok(Vec::new()) };
    let path = dirs.own.join("index");
    let index = match whole::read(&path, INDEX_BYTES_MAX) {
        Err(Error::TooLong { .. }) => {
            let (path, mib) = (path.display(), INDEX_BYTES_MAX >> 20);
            return Err(Refusal(format!(
                "{path} is too long to find the repositories that it names (at most {mib} MiB)"
            )));
        }
        // A file that is none, or cannot be read, names nothing for git either.
        index => index.unwrap_or_default(),
    };
    // No name and no hash is compared if the bytes of the mode are nowhere.
    if !index.windows(4).any(|bytes| bytes == REPOSITORY.to_be_bytes()) {
        return Ok(Vec::new());
    }
    let hash = if dirs.object_format() == "sha256" { 32 } else { 20 };
    let mut found = Vec::new();
    // An index that cannot be read to its end has no further entries for git either.
    let _ = read(&index, hash, &mut found);
    if found.len() > LINKS_MAX {
        let path = path.display();
        return Err(Refusal(format!(
            "{path} names more than {LINKS_MAX} repositories (submodules), and each must be guarded while a program works. \
             Remove those that are not needed from it"
        )));
    }
    Ok(found.into_iter().map(|path| workspace.join(path)).collect())
}

fn read(index: &[u8], hash: usize, found: &mut Vec<PathBuf>) -> Option<()> {
    let (version, count) = (number(index, 4)?, number(index, 8)?);
    let (mut at, mut name) = (12, Vec::new());
    for _ in 0..count {
        let begin = at;
        let mode = number(index, at + MODE_AT)?;
        at += STAT_BYTES + hash;
        let flags = u16::from_be_bytes(index.get(at..at + 2)?.try_into().ok()?);
        at += if version >= 3 && flags & EXTENDED != 0 { 4 } else { 2 };
        // From version 4 on, a name says how much of the end of the one before it replaces.
        if version >= 4 {
            let (gone, next) = offset(index, at)?;
            name.truncate(name.len().checked_sub(gone)?);
            at = next;
        } else {
            name.clear();
        }
        let end = at + index.get(at..)?.iter().position(|byte| *byte == 0)?;
        name.extend_from_slice(&index[at..end]);
        at = if version >= 4 { end + 1 } else { begin + (end - begin + 8) / 8 * 8 };
        let path = Path::new(OsStr::from_bytes(&name));
        let is_inside = path.components().all(|part| matches!(part, Component::Normal(_)));
        if mode & KIND == REPOSITORY && is_inside && found.len() <= LINKS_MAX {
            found.push(path.to_owned());
        }
    }
    Some(())
}

fn number(index: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_be_bytes(index.get(at..at + 4)?.try_into().ok()?))
}

/// Reads a number in git's form for offsets. Returns it with the place behind it.
fn offset(index: &[u8], mut at: usize) -> Option<(usize, usize)> {
    let mut byte = *index.get(at)?;
    let mut value = usize::from(byte & 127);
    while byte & 128 != 0 {
        at += 1;
        byte = *index.get(at)?;
        value = value.checked_add(1)?.checked_mul(128)?.checked_add(usize::from(byte & 127))?;
    }
    Some((value, at + 1))
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    use super::*;

    #[test]
    fn repositories_are_found_in_every_form_of_an_index() {
        for (format, version) in [("sha1", 2), ("sha1", 3), ("sha1", 4), ("sha256", 2), ("sha256", 4)] {
            let folder = tempfile::tempdir().unwrap();
            let top = folder.path().canonicalize().unwrap();
            let script = format!(
                "git init -q --object-format={format} .; git config index.version {version}; mkdir -p deep/er; \
                 for n in a b c abc abcd; do echo $n > $n; echo $n > deep/er/$n; done; git add .; \
                 zero=$(git hash-object a); for path in aa deep/er/sub deep/z zz; do \
                 git update-index --add --cacheinfo 160000,$zero,$path; done; echo n > n; git add -N n"
            );
            assert!(Command::new("sh").args(["-ec", &script]).current_dir(&top).status().unwrap().success());
            let expected = ["aa", "deep/er/sub", "deep/z", "zz"].map(|path| top.join(path));
            assert_eq!(of(&top).unwrap(), expected, "{format} {version}");
        }
    }

    /// A repository beyond the bound would have no guard.
    #[test]
    fn too_many_repositories_are_refused() {
        let folder = tempfile::tempdir().unwrap();
        let top = folder.path().canonicalize().unwrap();
        let zero = "0123456789012345678901234567890123456789";
        let script = format!(
            "git init -q .; i=0; while [ $i -le {LINKS_MAX} ]; do echo \"160000 {zero} 0\ta$i\"; i=$((i+1)); done | \
             git update-index --index-info"
        );
        assert!(Command::new("sh").args(["-ec", &script]).current_dir(&top).status().unwrap().success());
        assert!(of(&top).unwrap_err().0.contains("names more than 2000 repositories"));
    }
}
