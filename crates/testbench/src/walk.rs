//! Visits all files below a directory.

use std::{
    fs, io,
    path::{Path, PathBuf},
};

/// The largest number of visited entries, and the greatest depth.
const FILES_MAX: usize = 200_000;
const DEPTH_MAX: usize = 64;

/// Visits everything below a directory, parents first, without following links and without `.git` directories.
pub(crate) fn walk(folder: &Path, mut visit: impl FnMut(&Path, &fs::Metadata) -> io::Result<()>) -> io::Result<()> {
    let (mut open, mut seen): (Vec<(PathBuf, usize)>, usize) = (vec![(folder.to_owned(), 0)], 0);
    while let Some((folder, depth)) = open.pop() {
        for entry in fs::read_dir(&folder)? {
            let entry = entry?;
            let (path, about) = (entry.path(), entry.metadata()?);
            if entry.file_name() == ".git" {
                continue;
            }
            seen += 1;
            if seen > FILES_MAX {
                return Err(io::Error::other(format!("there are more than {FILES_MAX} files in {}", folder.display())));
            }
            visit(&path, &about)?;
            if about.is_dir() && depth < DEPTH_MAX {
                open.push((path, depth + 1));
            }
        }
    }
    Ok(())
}
