//! A machine's directory on disk.

use super::{Error, MACHINE_FILE, Origin, Source};
use crate::yaml::limits::FILE_BYTES_MAX;
use interlock_beneath::{self as beneath, Folder};
use std::{fs, path::Path};

/// The subdirectories whose files belong to the machine.
const PARTS: &[&str] = &["prompts/", "schemas/"];
/// The maximum number of files in a machine's directory.
const FILES_MAX: usize = 1_000;
/// The maximum total size of these files in bytes.
const BYTES_MAX: usize = 16 << 20;
/// The maximum depth of subdirectories.
const DEPTH_MAX: usize = 8;

/// Returns true if a file, given by its path within the directory, is part of the machine.
pub(super) fn is_part(path: &str) -> bool {
    PARTS.iter().any(|part| path.starts_with(part))
}

/// Returns the names of the machines in a directory of machines.
pub(super) fn machines_in(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let machines = entries.filter(|entry| entry.path().join(MACHINE_FILE).is_file());
    let mut names: Vec<String> = machines.filter_map(|entry| entry.file_name().into_string().ok()).collect();
    names.sort();
    names
}

/// Loads a machine from `folder` within `root`. No link below `root` is followed, so that a machine contains only its
/// own files.
pub(super) fn load(name: String, origin: Origin, root: &Path, folder: &Path) -> Result<Source, Error> {
    let bytes = machine_file(root, &folder.join(MACHINE_FILE))?;
    let mut files = Files { root, folder, found: Vec::new(), bytes: 0 };
    for part in PARTS {
        if is_there(&root.join(folder).join(part.trim_end_matches('/'))) {
            files.collect(part, 0)?;
        }
    }
    files.found.sort();
    Ok(Source::new(name, origin, root.join(folder).join(MACHINE_FILE), bytes, files.found))
}

/// Loads a single file with any name. The user gave its path, so it may be a link.
pub(super) fn load_file(name: String, path: &Path) -> Result<Source, Error> {
    let real = path.canonicalize().map_err(|source| Error::Unreadable { path: path.to_owned(), source })?;
    let (folder, file) = (real.parent().unwrap_or(&real), real.file_name().unwrap_or_default());
    let bytes = machine_file(folder, Path::new(file))?;
    Ok(Source::new(name, Origin::Path, path.to_owned(), bytes, Vec::new()))
}

struct Files<'f> {
    root: &'f Path,
    folder: &'f Path,
    found: Vec<(String, Vec<u8>)>,
    bytes: usize,
}

impl Files<'_> {
    fn collect(&mut self, prefix: &str, depth: usize) -> Result<(), Error> {
        if depth > DEPTH_MAX {
            return Err(self.too_much("8 levels of subfolders"));
        }
        let subfolder = self.root.join(self.folder).join(prefix.trim_end_matches('/'));
        if subfolder.is_symlink() {
            return Err(Error::Refused(beneath::Error::Link { path: subfolder }));
        }
        let unreadable = |source| Error::Unreadable { path: subfolder.clone(), source };
        for entry in fs::read_dir(&subfolder).map_err(unreadable)? {
            let entry = entry.map_err(unreadable)?;
            let path = format!("{prefix}{}", entry.file_name().to_string_lossy());
            if entry.file_type().map_err(unreadable)?.is_dir() {
                self.collect(&format!("{path}/"), depth + 1)?;
                continue;
            }
            let within = self.folder.join(prefix).join(entry.file_name());
            let content = Folder::open_through_links(self.root)
                .and_then(|root| root.read(&within, BYTES_MAX as u64))
                .map_err(refused)?;
            self.bytes += content.len();
            self.found.push((path, content));
            if self.found.len() > FILES_MAX {
                return Err(self.too_much("1,000 files"));
            }
            if self.bytes > BYTES_MAX {
                return Err(self.too_much("16 MiB"));
            }
        }
        Ok(())
    }

    fn too_much(&self, limit: &'static str) -> Error {
        Error::TooMuch { path: self.root.join(self.folder), limit }
    }
}

/// Returns true if the path exists, even as a dangling link.
fn is_there(path: &Path) -> bool {
    fs::symlink_metadata(path).is_ok()
}

/// Reads the machine file, or only as much of it as shows that it is too large.
fn machine_file(root: &Path, path: &Path) -> Result<Vec<u8>, Error> {
    Folder::open_through_links(root)
        .and_then(|root| root.read_beginning(path, FILE_BYTES_MAX as u64 + 1))
        .map_err(refused)
}

fn refused(error: beneath::Error) -> Error {
    match error {
        beneath::Error::System { path, source } => Error::Unreadable { path, source },
        refused => Error::Refused(refused),
    }
}
