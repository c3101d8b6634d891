//! Writes files of stored trees into a directory that programs can change.
//!
//! `git` checks a directory once and then opens paths below it, so a program that replaces the directory by a link would
//! make it write elsewhere. Here git only reads objects; [`Folder`] writes.

use std::{
    ffi::OsStr,
    os::unix::ffi::OsStrExt,
    path::{Path, PathBuf},
};

use interlock_beneath::{self as beneath, FileType, Folder, Mode};

use crate::{Error, Result, git::Git, objects, patch::Kind};

/// Maximum size of the contents that are in memory at once, unless a single file is larger.
const BATCH_BYTES_MAX: u64 = 64 << 20;

/// Maximum number of files whose contents are read in one call of `git`.
const BATCH_FILES_MAX: usize = 10_000;

/// A file of a tree.
#[derive(Debug)]
pub(crate) struct File {
    pub(crate) path: PathBuf,
    pub(crate) kind: Kind,
    pub(crate) hash: String,
}

impl File {
    /// Returns nothing for a kind that is no file, or that git does not write.
    pub(crate) fn new(path: &[u8], mode: &str, hash: &str) -> Option<Self> {
        let kind = Kind::from_mode(mode)?;
        Some(File { path: Path::new(OsStr::from_bytes(path)).to_owned(), kind, hash: hash.to_owned() })
    }

    /// Parses `:OLD_MODE NEW_MODE OLD_HASH NEW_HASH STATUS`, as `git` prints a difference, and takes the old version.
    pub(crate) fn before(about: &[u8], path: &[u8]) -> Option<Self> {
        let about = std::str::from_utf8(about).ok()?.trim_start_matches(':');
        let [mode, _, hash, ..] = about.split(' ').collect::<Vec<_>>()[..] else { return None };
        File::new(path, mode, hash)
    }

    /// Parses the same line, and takes the new version.
    pub(crate) fn after(about: &[u8], path: &[u8]) -> Option<Self> {
        let about = std::str::from_utf8(about).ok()?.trim_start_matches(':');
        let [_, mode, _, hash, ..] = about.split(' ').collect::<Vec<_>>()[..] else { return None };
        File::new(path, mode, hash)
    }

    /// Parses `MODE HASH STAGE`, a tab and a path, as `git ls-files --stage` prints it.
    pub(crate) fn staged(entry: &[u8]) -> Option<Self> {
        let tab = entry.iter().position(|byte| *byte == b'\t')?;
        let about = std::str::from_utf8(&entry[..tab]).ok()?;
        let [mode, hash, _] = about.split(' ').collect::<Vec<_>>()[..] else { return None };
        File::new(&entry[tab + 1..], mode, hash)
    }
}

/// Writes these files. What is in place of one of them or of a directory above it is removed. A file that has the
/// content already stays as it is.
pub(crate) fn write(git: &Git, into: &Folder, files: &[File]) -> Result<()> {
    write_as(git, into, files, |_, content| Ok(content))
}

/// Writes these files with the content that a function makes of what is stored.
pub(crate) fn write_as(
    git: &Git,
    into: &Folder,
    files: &[File],
    convert: impl Fn(&File, Vec<u8>) -> Result<Vec<u8>>,
) -> Result<()> {
    for batch in batches(git, files)? {
        let names: Vec<Vec<u8>> = batch.iter().map(|file| file.hash.clone().into_bytes()).collect();
        for (file, object) in batch.iter().zip(objects::read(git, &names)?) {
            let object = object.ok_or_else(|| Error::NoSnapshot(format!("the content {}", file.hash)))?;
            let content = convert(file, object.content)?;
            put(into, file, &content).map_err(|error| failed("write", &file.path, error))?;
        }
    }
    for repository in files.iter().filter(|file| file.kind == Kind::Repository) {
        into.replace_folders(&repository.path).map_err(|error| failed("make", &repository.path, error))?;
    }
    Ok(())
}

/// Removes a file or a link, and the directories above it that are empty then.
pub(crate) fn remove(from: &Folder, path: &[u8]) -> Result<()> {
    let path = Path::new(OsStr::from_bytes(path));
    // A file may have become a directory meanwhile, or have been one always: an ignored one stays.
    if from.kind(path).is_ok_and(|kind| kind == Some(FileType::Directory)) {
        return Ok(());
    }
    from.remove_file(path).map_err(|error| failed("remove", path, error))?;
    from.remove_empty_above(path);
    Ok(())
}

fn put(into: &Folder, file: &File, content: &[u8]) -> beneath::Result<()> {
    let path = file.path.as_path();
    if has(into, file, content) {
        return Ok(());
    }
    into.replace_folders(path.parent().unwrap_or(Path::new("")))?;
    if into.kind(path)? == Some(FileType::Directory) {
        into.remove_all(path)?;
    }
    match file.kind {
        Kind::Link => into.write_link(path, Path::new(OsStr::from_bytes(content))),
        Kind::Executable => into.write_new(path, content, Mode::from(0o777)),
        Kind::File | Kind::Repository => into.write_new(path, content, Mode::from(0o666)),
    }
}

/// Returns true if the path has this kind and content already.
fn has(folder: &Folder, file: &File, content: &[u8]) -> bool {
    let path = file.path.as_path();
    let Ok(about) = folder.stat(path) else { return false };
    match (FileType::from_raw_mode(about.st_mode), file.kind) {
        (FileType::Symlink, Kind::Link) => {
            folder.read_link(path).is_ok_and(|target| target.as_os_str().as_bytes() == content)
        }
        (FileType::RegularFile, Kind::File | Kind::Executable) => {
            let is_executable = about.st_mode & 0o100 != 0;
            is_executable == (file.kind == Kind::Executable)
                && u64::try_from(about.st_size).is_ok_and(|size| size == content.len() as u64)
                && folder.read(path, content.len() as u64).is_ok_and(|found| found == content)
        }
        _ => false,
    }
}

/// Divides files into groups whose contents fit into memory.
fn batches<'f>(git: &Git, files: &'f [File]) -> Result<Vec<Vec<&'f File>>> {
    let files: Vec<&File> = files.iter().filter(|file| file.kind != Kind::Repository).collect();
    let hashes: String = files.iter().flat_map(|file| [file.hash.as_str(), "\n"]).collect();
    let sizes = match files.is_empty() {
        true => return Ok(Vec::new()),
        false => git.run_with(&["cat-file", "--batch-check=%(objectsize)"], hashes.as_bytes())?,
    };
    let sizes = String::from_utf8_lossy(&sizes).into_owned();
    let (mut batches, mut batch, mut bytes) = (Vec::new(), Vec::new(), 0);
    for (file, size) in files.into_iter().zip(sizes.lines()) {
        // A missing object has no size. Reading it gives the error.
        let size: u64 = size.parse().unwrap_or(0);
        if !batch.is_empty() && (bytes + size > BATCH_BYTES_MAX || batch.len() == BATCH_FILES_MAX) {
            batches.push(std::mem::take(&mut batch));
            bytes = 0;
        }
        batch.push(file);
        bytes += size;
    }
    batches.push(batch);
    Ok(batches)
}

fn failed(doing: &str, path: &Path, error: beneath::Error) -> Error {
    Error::io(doing, path, &error.into())
}
