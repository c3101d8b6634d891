//! The changes between two versions of a workspace.

use std::{ffi::OsString, os::unix::ffi::OsStringExt};

use similar::{Algorithm, DiffTag, capture_diff_slices};

use super::folder::{Folder, ListedFile};
use crate::{Change, Version, loose::Loose, patch::Kind};

/// Maximum size of a file whose changed lines are counted here.
const FILE_BYTES_MAX: u64 = 4 << 20;

/// The number of bytes at the beginning of a file in which `git` searches for a NUL byte, which a text does not have.
const TEXT_BYTES: usize = 8_000;

/// Returns every path that differs. `None` if only `git` can tell: files may have been renamed, or the content of a
/// file is not an object of its own.
pub(super) fn between(objects: &Loose, before: &Folder, after: &Folder) -> Option<Vec<Change>> {
    let mut differences = Vec::new();
    after.differences(before, b"", &mut differences);
    let is_any = |is: fn(&super::folder::Difference<'_>) -> bool| differences.iter().any(is);
    if is_any(|one| one.before.is_none()) && is_any(|one| one.after.is_none()) {
        return None;
    }
    let change = |one: &super::folder::Difference<'_>| {
        let version = |file: &ListedFile| Version { kind: file.kind, hash: file.hash.to_string() };
        Some(Change {
            path: OsString::from_vec(one.path.clone()).into(),
            before: one.before.map(version),
            after: one.after.map(version),
            renamed_from: None,
            lines: lines(objects, one.before, one.after)?,
        })
    };
    let mut changes = differences.iter().map(change).collect::<Option<Vec<_>>>()?;
    changes.sort_by(|one, other| one.path.cmp(&other.path));
    Some(changes)
}

/// Counts the added and removed lines of a file. The inner value is `None` for a binary file.
fn lines(objects: &Loose, before: Option<&ListedFile>, after: Option<&ListedFile>) -> Option<Option<(u64, u64)>> {
    let is_link = |file: Option<&ListedFile>| file.is_some_and(|file| file.kind == Kind::Link);
    if before.is_some() && after.is_some() && is_link(before) != is_link(after) {
        return None;
    }
    let content = |file: Option<&ListedFile>| match file {
        Some(file) => objects.read_blob(&file.hash, FILE_BYTES_MAX),
        None => Some(Vec::new()),
    };
    let (old, new) = (content(before)?, content(after)?);
    let is_binary = |content: &[u8]| content.iter().take(TEXT_BYTES).any(|byte| *byte == 0);
    if is_binary(&old) || is_binary(&new) {
        return Some(None);
    }
    let (old, new): (Vec<&[u8]>, Vec<&[u8]>) = (split(&old), split(&new));
    let parts = capture_diff_slices(Algorithm::Myers, &old, &new);
    let count = |tag: DiffTag| parts.iter().filter(move |part| part.tag() == tag || part.tag() == DiffTag::Replace);
    let added = count(DiffTag::Insert).map(|part| part.new_range().len() as u64).sum();
    let removed = count(DiffTag::Delete).map(|part| part.old_range().len() as u64).sum();
    Some(Some((added, removed)))
}

fn split(content: &[u8]) -> Vec<&[u8]> {
    content.split_inclusive(|byte| *byte == b'\n').collect()
}
