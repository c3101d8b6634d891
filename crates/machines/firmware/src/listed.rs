//! Lists the files of a tree in which programs may have worked.

use std::path::{Path, PathBuf};

use interlock_beneath::{Entry, FileType, Folder};

/// The largest number of entries that are looked at.
const LOOKED_MAX: usize = 200_000;

/// Returns the regular files below a directory of a tree, in order, by their paths from the root of the tree. The
/// content of repositories is left out.
pub(crate) fn files(root: &Path, folder: &Path, depth_max: usize) -> Vec<PathBuf> {
    let within = folder.strip_prefix(root).unwrap_or(Path::new(""));
    let deepest = within.components().count() + depth_max;
    let enter = |entry: &Entry| {
        entry.path.components().count() <= deepest && entry.path.file_name().is_some_and(|name| name != ".git")
    };
    let Ok(tree) = Folder::open(root) else { return Vec::new() };
    let all = tree.list_some(within, LOOKED_MAX, enter).into_iter();
    let mut files: Vec<PathBuf> =
        all.filter(|entry| entry.kind == FileType::RegularFile).map(|entry| entry.path).collect();
    files.sort();
    files
}
