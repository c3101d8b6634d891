//! Lists directories, and copies them.

use std::{
    collections::VecDeque,
    ffi::{OsStr, OsString},
    io::Read as _,
    os::unix::ffi::OsStrExt as _,
    path::{Path, PathBuf},
};

use rustix::fs::{self, AtFlags, FileType, Mode, OFlags, Stat};

use crate::{
    error::{Error, Result},
    folder::{Folder, refused},
};

/// The flags with which a directory is opened for listing.
pub(crate) const LISTED: OFlags = OFlags::DIRECTORY.union(OFlags::NOFOLLOW).union(OFlags::CLOEXEC);

/// The most names of one directory that are read.
const NAMES_MAX: usize = 1_000_000;

/// The most directories in each other whose content is listed. The kernel goes so far in one step.
const DEPTH_MAX: usize = 500;

/// A file, link or directory beneath a directory.
#[derive(Debug)]
pub struct Entry {
    /// The path from the directory.
    pub path: PathBuf,
    /// The kind of the entry.
    pub kind: FileType,
    /// Its metadata; that of a link itself.
    pub about: Stat,
}

impl Folder {
    /// Returns the names in a directory beneath this one, in order. An empty path lists this one.
    pub fn names(&self, path: &Path) -> Result<Vec<OsString>> {
        Ok(self.kinds(path)?.into_iter().map(|(name, _)| name).collect())
    }

    /// Returns the names in a directory beneath this one, in order, each with what it is. An empty path lists this one.
    pub fn kinds(&self, path: &Path) -> Result<Vec<(OsString, FileType)>> {
        self.kinds_where(path, |_, _| true)
    }

    /// Returns those names in a directory that are wanted, in order, each with what it is. Only these count as names of the
    /// directory, so that any number of others cannot hide them.
    pub fn kinds_where(
        &self,
        path: &Path,
        is_wanted: impl Fn(&OsStr, FileType) -> bool,
    ) -> Result<Vec<(OsString, FileType)>> {
        let here = self.folder(path)?;
        let failed = |error| Error::system(&here.path, error);
        let opened = fs::openat(&here.handle, ".", LISTED, Mode::empty()).map_err(failed)?;
        let mut names = Vec::new();
        for entry in fs::Dir::new(opened).map_err(failed)? {
            let entry = entry.map_err(failed)?;
            let name = OsStr::from_bytes(entry.file_name().to_bytes());
            if name == "." || name == ".." {
                continue;
            }
            let kind = match entry.file_type() {
                // Some file systems do not say it in the list.
                FileType::Unknown => here.kind(Path::new(name))?.unwrap_or(FileType::Unknown),
                kind => kind,
            };
            if !is_wanted(name, kind) {
                continue;
            }
            if names.len() == NAMES_MAX {
                return Err(Error::TooMany { path: here.path, files_max: NAMES_MAX });
            }
            names.push((name.to_owned(), kind));
        }
        names.sort_by(|(one, _), (other, _)| one.cmp(other));
        Ok(names)
    }

    /// Lists everything beneath a directory, each directory before its content. Directories for which `enter` returns
    /// false are listed without their content. What disappears meanwhile is left out.
    pub fn list(&self, path: &Path, files_max: usize, enter: impl Fn(&Entry) -> bool) -> Result<Vec<Entry>> {
        let (mut found, mut waiting) = (Vec::new(), VecDeque::from([path.to_owned()]));
        while let Some(folder) = waiting.pop_front() {
            match self.list_one(&folder, &mut found, files_max) {
                Err(error) if error.is_absent() && folder != path => continue,
                Err(Error::TooMany { .. }) => return Err(Error::TooMany { path: self.path.join(path), files_max }),
                other => waiting.extend(folders(&found[other?..], &enter)),
            }
            if waiting.back().is_some_and(|folder| is_deep(folder)) {
                return Err(Error::TooDeep { path: self.path.join(path), depth_max: DEPTH_MAX });
            }
        }
        Ok(found)
    }

    /// Lists the first entries beneath a directory, those of higher directories first. What cannot be listed is left
    /// out.
    pub fn list_some(&self, path: &Path, files_max: usize, enter: impl Fn(&Entry) -> bool) -> Vec<Entry> {
        let (mut found, mut waiting) = (Vec::new(), VecDeque::from([path.to_owned()]));
        while let Some(folder) = waiting.pop_front() {
            let first = found.len();
            match self.list_one(&folder, &mut found, files_max) {
                Err(Error::TooMany { .. }) => break,
                _ => waiting.extend(folders(&found[first..], &enter).filter(|folder| !is_deep(folder))),
            }
        }
        found
    }

    /// Adds the entries of one directory. Returns the number of entries before them.
    fn list_one(&self, folder: &Path, found: &mut Vec<Entry>, files_max: usize) -> Result<usize> {
        let (here, first) = (self.folder(folder)?, found.len());
        for name in here.names(Path::new(""))? {
            let about = match fs::statat(&here.handle, &name, AtFlags::SYMLINK_NOFOLLOW) {
                Ok(about) => about,
                Err(rustix::io::Errno::NOENT) => continue,
                Err(error) => return Err(refused(&here.handle, &name, &here.path.join(&name), error)),
            };
            if found.len() == files_max {
                return Err(Error::TooMany { path: self.path.join(folder), files_max });
            }
            found.push(Entry { path: folder.join(name), kind: FileType::from_raw_mode(about.st_mode), about });
        }
        Ok(first)
    }

    /// Copies everything of this directory into another one: files and directories with their permissions, links as
    /// links. The owner may always write the new directories. Pipes, sockets and devices are left out, and entries that
    /// are not wanted.
    pub fn copy_to(
        &self,
        other: &Folder,
        (files_max, bytes_max): (usize, u64),
        is_wanted: impl Fn(&Entry) -> bool,
    ) -> Result<()> {
        let (mut bytes, mut folders) = (0, Vec::new());
        for entry in self.list(Path::new(""), files_max, &is_wanted)?.into_iter().filter(|entry| is_wanted(entry)) {
            match entry.kind {
                FileType::Directory => {
                    other.make_folders(&entry.path)?;
                    folders.push((entry.path, Mode::from_raw_mode(entry.about.st_mode & 0o777) | Mode::RWXU));
                }
                FileType::Symlink => other.symlink(&self.read_link(&entry.path)?, &entry.path)?,
                FileType::RegularFile => {
                    bytes += self.copy_file(&entry.path, (other, &entry.path), bytes_max - bytes)?;
                }
                _ => {}
            }
        }
        folders.iter().try_for_each(|(path, mode)| other.set_mode(path, *mode))
    }

    /// Copies a file with its permissions. A file or a link at the new path is replaced at once. Returns its length.
    pub fn copy_file(&self, from: &Path, (other, to): (&Folder, &Path), bytes_max: u64) -> Result<u64> {
        let file = self.open_file(from)?;
        let about = fs::fstat(&file).map_err(|error| Error::system(&self.path.join(from), error))?;
        let mode = Mode::from_raw_mode(about.st_mode & 0o777);
        let mut bytes = 0;
        other.write_from(to, mode, |new| {
            bytes = std::io::copy(&mut file.take(bytes_max.saturating_add(1)), new)?;
            Ok(())
        })?;
        match bytes > bytes_max {
            true => {
                other.remove_file(to)?;
                Err(Error::TooLong { path: self.path.join(from), bytes_max })
            }
            false => Ok(bytes),
        }
    }
}

fn is_deep(folder: &Path) -> bool {
    folder.components().count() > DEPTH_MAX
}

fn folders<'e>(entries: &'e [Entry], enter: &'e impl Fn(&Entry) -> bool) -> impl Iterator<Item = PathBuf> + 'e {
    let folders = entries.iter().filter(|entry| entry.kind == FileType::Directory && enter(entry));
    folders.map(|entry| entry.path.clone())
}
