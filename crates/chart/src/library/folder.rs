//! A machine's folder on disk.

use super::{Error, MACHINE_FILE, Origin, Source};
use crate::yaml::limits::FILE_BYTES_MAX;
use std::{
    fs::{self, File},
    io::Read as _,
    path::{Path, PathBuf},
};

/// The subfolders whose files belong to the machine.
const PARTS: &[&str] = &["prompts/", "schemas/"];
/// Most files of a machine's folder.
const FILES_MAX: usize = 1_000;
/// Most bytes of all of them together.
const BYTES_MAX: usize = 16 << 20;
/// Deepest subfolder.
const DEPTH_MAX: usize = 8;

/// Whether a file, by its path within the folder, is part of what the machine is.
pub(super) fn is_part(path: &str) -> bool {
    PARTS.iter().any(|part| path.starts_with(part))
}

/// The names of the machines in a folder of machines.
pub(super) fn machines_in(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let machines = entries.filter(|entry| entry.path().join(MACHINE_FILE).is_file());
    let mut names: Vec<String> = machines.filter_map(|entry| entry.file_name().into_string().ok()).collect();
    names.sort();
    names
}

pub(super) fn load(name: String, origin: Origin, folder: &Path) -> Result<Source, Error> {
    let path = folder.join(MACHINE_FILE);
    let bytes = read(&path, FILE_BYTES_MAX)?;
    let mut files = Files { folder, found: Vec::new(), bytes: 0 };
    for part in PARTS {
        let subfolder = folder.join(part);
        if subfolder.is_dir() {
            files.collect(&subfolder, part, 0)?;
        }
    }
    files.found.sort();
    Ok(Source::new(name, origin, path, bytes, files.found))
}

/// A file that stands alone, whatever its name.
pub(super) fn load_file(name: String, path: &Path) -> Result<Source, Error> {
    let bytes = read(path, FILE_BYTES_MAX)?;
    Ok(Source::new(name, Origin::Path, path.to_owned(), bytes, Vec::new()))
}

struct Files<'f> {
    folder: &'f Path,
    found: Vec<(String, Vec<u8>)>,
    bytes: usize,
}

impl Files<'_> {
    fn collect(&mut self, subfolder: &Path, prefix: &str, depth: usize) -> Result<(), Error> {
        if depth > DEPTH_MAX {
            return Err(self.too_much("8 levels of subfolders"));
        }
        let entries = fs::read_dir(subfolder).map_err(|source| unreadable(subfolder, source))?;
        for entry in entries {
            let entry = entry.map_err(|source| unreadable(subfolder, source))?;
            let path = format!("{prefix}{}", entry.file_name().to_string_lossy());
            if entry.path().is_dir() {
                self.collect(&entry.path(), &format!("{path}/"), depth + 1)?;
                continue;
            }
            let content = read(&entry.path(), BYTES_MAX)?;
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
        Error::TooMuch { path: self.folder.to_owned(), limit }
    }
}

/// The file, or so much of it that it is seen to be too large.
fn read(path: &Path, bytes_max: usize) -> Result<Vec<u8>, Error> {
    let mut content = Vec::new();
    let limit = u64::try_from(bytes_max).unwrap_or(u64::MAX).saturating_add(1);
    let file = File::open(path).map_err(|source| unreadable(path, source))?;
    file.take(limit).read_to_end(&mut content).map_err(|source| unreadable(path, source))?;
    Ok(content)
}

fn unreadable(path: &Path, source: std::io::Error) -> Error {
    Error::Unreadable { path: PathBuf::from(path), source }
}
