//! Guards files that a program must not change although they lie in a place that it may change (`protected.rs` lists
//! them).
//!
//! Landlock cannot express this. So the content of these files is read into memory before the program starts, and
//! restored when no process of the program is left. Each change is a breach. Other programs may work in the same
//! workspace, so symbolic links on the way are not followed.

use std::{
    collections::BTreeMap,
    ffi::OsString,
    path::{Path, PathBuf},
};

use interlock_beneath::{Error, FileType, Folder, Mode, Result};

use crate::{Breach, placed::PlacedFolder, protected::Protected};

/// Maximum size of all guarded content together. Settings, hooks and machines are small.
const BYTES_MAX: u64 = 8 * 1_024 * 1_024;

/// The bytes that a name in a directory adds to this size.
const NAME_BYTES: u64 = 256;

/// Maximum depth of guarded directories.
const DEPTH_MAX: usize = 16;

/// How often a path is restored if it has changed again at once.
const ROUNDS_MAX: usize = 3;

/// The guarded paths with their content.
#[derive(Debug, Default)]
pub(crate) struct Guard {
    kept: Vec<(Protected, SavedNode)>,
    /// The directories that stay at their paths, from the top.
    placed: Vec<PlacedFolder>,
    /// The directories on the way to them, from the top, with their modes.
    folders: BTreeMap<PathBuf, u32>,
    /// Paths below them that the program may change nevertheless.
    open: Vec<PathBuf>,
    /// Descriptions of the paths that could not be read.
    pub(crate) missing: Vec<String>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum SavedNode {
    Nothing,
    File {
        content: Vec<u8>,
        mode: u32,
        /// The number of hard links. An additional link would allow a later change.
        names: u64,
    },
    Link(PathBuf),
    Folder {
        entries: BTreeMap<OsString, SavedNode>,
        mode: u32,
    },
    /// A device, a socket or a pipe, which has no content.
    Other,
}

impl Guard {
    /// Reads the content of the protected paths, except those that are open to the program. The program can change
    /// everything below `tops`.
    pub(crate) fn new(protected: Vec<Protected>, open: &[PathBuf], tops: &[PathBuf]) -> Self {
        let is_below = |place: &&PathBuf| protected.iter().any(|protected| place.starts_with(&protected.path));
        let mut guard = Guard { open: open.iter().filter(is_below).cloned().collect(), ..Guard::default() };
        let above = protected.iter().flat_map(|protected| protected.path.ancestors().skip(1));
        let above = above.filter(|folder| tops.iter().any(|top| folder.starts_with(top)));
        guard.folders = above.filter_map(|folder| Some((folder.to_owned(), folder_mode(folder)?))).collect();
        let mut reading = BoundedReader { room: BYTES_MAX, open: &guard.open };
        for protected in protected {
            match reading.read(&protected.path, DEPTH_MAX) {
                Ok(kept) => guard.kept.push((protected, kept)),
                Err(error) => guard.missing.push(format!("{} cannot be stored: {error}", protected.path.display())),
            }
        }
        guard
    }

    /// Guards the places of these directories, too, which are sorted from the top.
    pub(crate) fn with_placed(self, placed: Vec<PlacedFolder>) -> Self {
        Guard { placed, ..self }
    }

    /// Returns the guarded paths that exist.
    pub(crate) fn paths(&self) -> impl Iterator<Item = &Path> {
        self.kept.iter().filter(|(_, kept)| *kept != SavedNode::Nothing).map(|(protected, _)| protected.path.as_path())
    }

    /// Restores the files that have changed. Returns the breaches.
    pub(crate) fn restore(&self) -> Vec<Breach> {
        // What was in the right place is there again before its content is compared.
        let mut breaches: Vec<_> = self.placed.iter().filter_map(PlacedFolder::restore).collect();
        // A directory without access permission would hide its content.
        for (folder, mode) in self.folders.iter().filter(|(folder, mode)| folder_mode(folder) != Some(**mode)) {
            let _ = Folder::above(folder)
                .and_then(|(above, name)| above.folder(&name)?.set_mode(HERE.as_ref(), bits(*mode)));
        }
        let changed = self.kept.iter().filter_map(|(protected, kept)| self.restore_one(protected, kept));
        breaches.extend(changed);
        breaches
    }

    fn restore_one(&self, protected: &Protected, kept: &SavedNode) -> Option<Breach> {
        let path = &protected.path;
        // A file that has grown beyond the maximum size has changed too.
        let is_same = || {
            let found = BoundedReader { room: BYTES_MAX, open: &self.open }.read(path, DEPTH_MAX);
            found.is_ok_and(|found| found == *kept)
        };
        if is_same() {
            return None;
        }
        // Another program may put a directory in place of the one that is being restored.
        let restored = (0..ROUNDS_MAX).map(|_| self.write(path, kept)).find(|result| result.is_err() || is_same());
        let said = match restored {
            Some(Ok(())) => format!("{} was changed and restored", path.display()),
            Some(Err(error)) => format!("{} was changed and could not be restored: {error}", path.display()),
            None => {
                format!("{} was changed and could not be restored: another program keeps changing it", path.display())
            }
        };
        Some(Breach { path: Some(path.clone()), ..Breach::new(protected.rule, said) })
    }

    fn write(&self, path: &Path, kept: &SavedNode) -> Result<()> {
        let (above, name) = match (Folder::above(path), kept) {
            (Err(error), SavedNode::Nothing) if is_nothing(&error) => return Ok(()),
            (Err(_), SavedNode::Nothing) => return remove_above(path),
            (Err(_), _) => {
                replace_parent(path)?;
                Folder::above(path)?
            }
            (Ok(found), _) => found,
        };
        self.put(&above, &name, path, kept)
    }

    /// Restores what is at a name in a directory. `path` is the whole path.
    fn put(&self, above: &Folder, name: &Path, path: &Path, kept: &SavedNode) -> Result<()> {
        let is_folder = above.kind(name)? == Some(FileType::Directory);
        if is_folder != matches!(kept, SavedNode::Folder { .. }) {
            above.remove_all(name)?;
        }
        match kept {
            SavedNode::Nothing | SavedNode::Other => above.remove_all(name),
            SavedNode::Link(target) => above.write_link(name, target),
            SavedNode::File { content, mode, .. } => above.write_as(name, content, bits(*mode)),
            SavedNode::Folder { entries, mode } => {
                if !is_folder {
                    above.make_folder(name)?;
                }
                self.put_folder(&above.folder(name)?, path, entries, *mode)
            }
        }
    }

    /// Restores a directory entry by entry, because entries that may be changed stay.
    fn put_folder(&self, here: &Folder, path: &Path, entries: &BTreeMap<OsString, SavedNode>, mode: u32) -> Result<()> {
        here.set_mode(HERE.as_ref(), Mode::RWXU)?;
        for name in here.names(HERE.as_ref())? {
            if !entries.contains_key(&name) && !self.open.iter().any(|open| open.starts_with(path.join(&name))) {
                here.remove_all(name.as_ref())?;
            }
        }
        entries.iter().try_for_each(|(name, kept)| self.put(here, name.as_ref(), &path.join(name), kept))?;
        here.set_mode(HERE.as_ref(), bits(mode))
    }
}

/// The path of an open directory itself.
const HERE: &str = "";

fn bits(mode: u32) -> Mode {
    Mode::from_raw_mode(mode)
}

/// Returns the mode of a directory that is reached without symbolic links, or `None` if the path is not a directory.
fn folder_mode(path: &Path) -> Option<u32> {
    let (above, name) = Folder::above(path).ok()?;
    let about = above.stat(&name).ok()?;
    (FileType::from_raw_mode(about.st_mode) == FileType::Directory).then_some(about.st_mode & 0o7777)
}

/// Returns true if there is no directory. A link in its place is something.
fn is_nothing(error: &Error) -> bool {
    error.is_absent() && !matches!(error, Error::Link { .. })
}

/// Reads content up to a limit for all files together.
struct BoundedReader<'g> {
    room: u64,
    open: &'g [PathBuf],
}

impl BoundedReader<'_> {
    fn read(&mut self, path: &Path, depth: usize) -> Result<SavedNode> {
        match Folder::above(path) {
            Err(error) if is_nothing(&error) => Ok(SavedNode::Nothing),
            Err(error) => Err(error),
            Ok((above, name)) => self.node(&above, &name, path, depth),
        }
    }

    /// Reads what is at a name in a directory. `path` is the whole path.
    fn node(&mut self, above: &Folder, name: &Path, path: &Path, depth: usize) -> Result<SavedNode> {
        let about = match above.stat(name) {
            Err(error) if error.is_not_found() => return Ok(SavedNode::Nothing),
            other => other?,
        };
        let mode = about.st_mode & 0o7777;
        match FileType::from_raw_mode(about.st_mode) {
            FileType::Symlink => Ok(SavedNode::Link(above.read_link(name)?)),
            FileType::RegularFile => {
                let content = above.read(name, self.room)?;
                self.room -= content.len() as u64;
                Ok(SavedNode::File { content, mode, names: about.st_nlink })
            }
            FileType::Directory if depth > 0 => {
                Ok(SavedNode::Folder { entries: self.entries(&above.folder(name)?, path, depth)?, mode })
            }
            _ => Ok(SavedNode::Other),
        }
    }

    fn entries(&mut self, here: &Folder, path: &Path, depth: usize) -> Result<BTreeMap<OsString, SavedNode>> {
        let mut entries = BTreeMap::new();
        for name in here.names(HERE.as_ref())? {
            let entry = path.join(&name);
            if !self.open.contains(&entry) {
                self.room = self
                    .room
                    .checked_sub(NAME_BYTES)
                    .ok_or(Error::TooLong { path: path.to_owned(), bytes_max: BYTES_MAX })?;
                let node = self.node(here, name.as_ref(), &entry, depth - 1)?;
                entries.insert(name, node);
            }
        }
        Ok(entries)
    }
}

/// Restores a parent directory that was removed or replaced: removes a file in its place and creates the directory.
fn replace_parent(path: &Path) -> Result<()> {
    let folder = path.parent().unwrap_or(Path::new("/"));
    let (above, name) = match Folder::above(folder) {
        Err(_) if folder.parent().is_some_and(|above| above != Path::new("/")) => {
            replace_parent(folder)?;
            Folder::above(folder)?
        }
        other => other?,
    };
    above.replace_folders(&name)
}

/// Removes a symbolic link that was created in place of a directory that did not exist before.
fn remove_above(path: &Path) -> Result<()> {
    let Some(folder) = path.parent() else { return Ok(()) };
    match Folder::above(folder) {
        Ok((above, name)) if above.kind(&name)? == Some(FileType::Symlink) => above.remove_file(&name).map(drop),
        Ok(_) => Ok(()),
        Err(error) if is_nothing(&error) => Ok(()),
        Err(_) => remove_above(folder),
    }
}

#[cfg(test)]
mod tests {
    use std::{
        fs,
        os::unix::fs::symlink,
        sync::atomic::{AtomicBool, Ordering},
        thread,
    };

    use rustix::fs::{CWD, RenameFlags};

    use super::*;

    const HOOKS: usize = 200;

    fn guard(top: &Path) -> Guard {
        let hooks = Protected { path: top.join(".git/hooks"), rule: "git.protected" };
        Guard::new(vec![hooks], &[], &[top.to_owned()])
    }

    /// A second program replaces the directory of hooks by a link while the supervisor restores it.
    #[test]
    fn a_restore_removes_nothing_behind_a_link() {
        let (work, elsewhere) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let top = fs::canonicalize(work.path()).unwrap();
        let (hooks, link) = (top.join(".git/hooks"), top.join(".git/link"));
        fs::create_dir_all(&hooks).unwrap();
        fs::write(hooks.join("pre-commit"), "mine").unwrap();
        symlink(elsewhere.path(), &link).unwrap();
        let guard = guard(&top);
        let name = |n: usize| format!("hook-{n:03}");
        (0..HOOKS).for_each(|n| fs::write(elsewhere.path().join(name(n)), "theirs").unwrap());
        let done = AtomicBool::new(false);
        thread::scope(|scope| {
            scope.spawn(|| {
                while !done.load(Ordering::Relaxed) {
                    let _ = rustix::fs::renameat_with(CWD, &hooks, CWD, &link, RenameFlags::EXCHANGE);
                }
            });
            for _ in 0..50 {
                for folder in [&hooks, &link].into_iter().filter(|folder| !folder.is_symlink()) {
                    (0..HOOKS).for_each(|n| drop(fs::File::create_new(folder.join(name(n)))));
                }
                let _ = guard.restore();
            }
            done.store(true, Ordering::Relaxed);
        });
        assert_eq!(fs::read_dir(elsewhere.path()).unwrap().count(), HOOKS);
        assert!((0..HOOKS).all(|n| fs::read_to_string(elsewhere.path().join(name(n))).unwrap() == "theirs"));
        // As soon as nobody interferes, everything is as before.
        guard.restore();
        assert_eq!(guard.restore(), []);
        assert_eq!(fs::read_to_string(hooks.join("pre-commit")).unwrap(), "mine");
        assert_eq!(fs::read_dir(&hooks).unwrap().count(), 1);
    }

    #[test]
    fn a_directory_of_too_many_names_is_restored() {
        let work = tempfile::tempdir().unwrap();
        let top = fs::canonicalize(work.path()).unwrap();
        let guard = guard(&top);
        fs::create_dir_all(top.join(".git/hooks")).unwrap();
        let most = usize::try_from(BYTES_MAX / NAME_BYTES).unwrap();
        (0..=most).for_each(|n| drop(fs::File::create(top.join(".git/hooks").join(n.to_string())).unwrap()));
        assert_eq!(guard.restore().len(), 1);
        assert!(!top.join(".git/hooks").exists());
    }
}
