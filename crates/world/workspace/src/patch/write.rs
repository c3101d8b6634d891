//! Applies a plan to the disk completely, or changes nothing.
//!
//! New content is first written to temporary files next to the targets. Then deleted files are moved aside, and new
//! files are exchanged with the old ones. All old content remains under other names until every step is done and
//! synced. If a step fails, all earlier steps are undone.

use std::{
    collections::{BTreeMap, BTreeSet},
    ffi::OsString,
    io,
    path::{Path, PathBuf},
    sync::atomic::{AtomicU64, Ordering},
};

use super::{Disk, Node, Plan, Planned, Problem};
use crate::{Error, Result};

/// Prefix of the names of temporary files that exist only during a write.
const ASIDE: &str = ".interlock-aside-";

/// Counter that makes these names unique within a process.
static COUNT: AtomicU64 = AtomicU64::new(0);

/// Applies the plan. If a file no longer has the content that the plan expects, reports a problem and changes nothing.
pub(crate) fn write(disk: &Disk, plan: &Plan) -> Result<()> {
    let comes =
        plan.changes.iter().filter(|change| change.after.is_some()).map(|change| change.path.as_path()).collect();
    let mut writer = Writer { disk, plan, comes, done: Vec::new(), written: BTreeMap::new() };
    match writer.all() {
        Ok(()) => {
            writer.clear_away();
            Ok(())
        }
        Err(error) => Err(writer.take_back(error)),
    }
}

/// A completed step, for the undo.
#[derive(Debug)]
enum Done {
    MadeFolder(PathBuf),
    RemovedFolder(PathBuf),
    /// The file was moved from the first path to the second.
    PutAside(PathBuf, PathBuf),
    Added(PathBuf, PathBuf),
    Exchanged(PathBuf, PathBuf),
}

struct Writer<'p> {
    disk: &'p Disk,
    plan: &'p Plan,
    /// Paths at which a file will exist.
    comes: BTreeSet<&'p Path>,
    done: Vec<Done>,
    /// New content that is not moved to its target yet, as a map from the target to the temporary file.
    written: BTreeMap<&'p Path, PathBuf>,
}

impl<'p> Writer<'p> {
    fn all(&mut self) -> Result<()> {
        let plan = self.plan;
        self.sweep();
        for change in &plan.changes {
            self.prepare(change).map_err(|error| failed("write", &change.path, &error))?;
        }
        // Deepest paths come first, so that directories are empty before a file replaces them.
        for change in plan.changes.iter().rev().filter(|change| change.after.is_none()) {
            self.put_aside(change)?;
        }
        for change in plan.changes.iter().filter(|change| change.after.is_some()) {
            self.put_in_place(change)?;
        }
        self.sync()
    }

    /// Removes temporary files of a writer that was killed. Their content is in snapshots or was never at its target.
    fn sweep(&self) {
        let folders: BTreeSet<PathBuf> = self.plan.changes.iter().map(|change| self.staging(&change.path)).collect();
        for folder in folders {
            for name in self.disk.names(&folder).unwrap_or_default() {
                let of =
                    name.to_str().and_then(|name| name.strip_prefix(ASIDE)?.split('-').next()?.parse::<u32>().ok());
                if of.is_some_and(|pid| pid != std::process::id() && !Path::new(&format!("/proc/{pid}")).exists()) {
                    let _ = self.disk.remove(&folder.join(name));
                }
            }
        }
    }

    fn prepare(&mut self, change: &'p Planned) -> io::Result<()> {
        let Some(after) = &change.after else { return Ok(()) };
        let (folder, name) = (self.staging(&change.path), aside());
        self.written.insert(&change.path, folder.join(&name));
        self.disk.make(&folder.join(name), after, Some(&change.path))
    }

    /// Returns the directory for the temporary files of a path: its parent, or the nearest ancestor that exists and
    /// stays a directory.
    fn staging(&self, path: &Path) -> PathBuf {
        let mut folder = PathBuf::new();
        for name in path.parent().into_iter().flatten() {
            let next = folder.join(name);
            if self.comes.contains(next.as_path()) || !self.disk.is_folder(&next) {
                break;
            }
            folder = next;
        }
        folder
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        Ok(self.disk.root.rename_to_free(from, to)?)
    }

    fn exchange(&self, one: &Path, other: &Path) -> io::Result<()> {
        Ok(self.disk.root.exchange(one, other)?)
    }

    fn make_folder(&self, path: &Path) -> io::Result<()> {
        Ok(self.disk.root.make_folder(path)?)
    }

    fn put_aside(&mut self, change: &Planned) -> Result<()> {
        let aside = self.staging(&change.path).join(aside());
        self.rename(&change.path, &aside).map_err(|error| failed("remove", &change.path, &error))?;
        self.done.push(Done::PutAside(change.path.clone(), aside.clone()));
        self.check(change, &aside)
    }

    fn put_in_place(&mut self, change: &'p Planned) -> Result<()> {
        let Some(new) = self.written.get(change.path.as_path()).cloned() else { return Ok(()) };
        let path = &change.path;
        self.make_folders(path)?;
        if change.before.is_some() {
            self.exchange(&new, path).map_err(|error| failed("write", path, &error))?;
            self.written.remove(path.as_path());
            self.done.push(Done::Exchanged(path.clone(), new.clone()));
            return self.check(change, &new);
        }
        self.clear_folder(path)?;
        self.rename(&new, path).map_err(|error| failed("make", path, &error))?;
        self.written.remove(path.as_path());
        self.done.push(Done::Added(path.clone(), new));
        Ok(())
    }

    /// Checks that the replaced file had the content that the plan expects, because another program may have changed it
    /// since.
    fn check(&self, change: &Planned, aside: &Path) -> Result<()> {
        let found = self.disk.node(aside).map_err(|error| failed("read", &change.path, &error))?;
        let is_same = |found: &Node| change.before.as_ref() == Some(found);
        match found.as_ref().is_some_and(is_same) {
            true => Ok(()),
            false => Err(Error::Patch(vec![Problem::file(&change.path, "it was changed in the meantime")])),
        }
    }

    fn make_folders(&mut self, path: &Path) -> Result<()> {
        let mut folders: Vec<&Path> = path.ancestors().skip(1).filter(|above| !above.as_os_str().is_empty()).collect();
        folders.reverse();
        for folder in folders {
            match self.make_folder(folder) {
                Ok(()) => self.done.push(Done::MadeFolder(folder.to_owned())),
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists && self.disk.is_folder(folder) => {}
                Err(error) => return Err(failed("make", folder, &error)),
            }
        }
        Ok(())
    }

    /// Removes a directory that a file replaces. It must be empty by now.
    fn clear_folder(&mut self, path: &Path) -> Result<()> {
        if !self.disk.is_folder(path) {
            return Ok(());
        }
        let gone = self.plan.changes.iter().filter(|change| change.after.is_none() && change.path.starts_with(path));
        let below = gone.flat_map(|change| change.path.ancestors().skip(1)).filter(|folder| folder.starts_with(path));
        let folders: BTreeSet<&Path> = below.chain([path]).collect();
        for folder in folders.into_iter().rev() {
            self.disk.remove_folder(folder).map_err(|error| failed("remove the directory", folder, &error))?;
            self.done.push(Done::RemovedFolder(folder.to_owned()));
        }
        Ok(())
    }

    fn sync(&self) -> Result<()> {
        let above = |change: &'p Planned| change.path.parent().unwrap_or(Path::new(""));
        let folders: BTreeSet<&Path> = self.plan.changes.iter().map(above).collect();
        for folder in folders.into_iter().filter(|folder| self.disk.is_folder(folder)) {
            self.disk.root.sync(folder).map_err(|error| failed("sync", folder, &error.into()))?;
        }
        Ok(())
    }

    /// Undoes all steps, newest first. Reports the steps that cannot be undone. No content is lost: it remains under
    /// another name.
    fn take_back(&mut self, error: Error) -> Error {
        let mut left = Vec::new();
        for done in std::mem::take(&mut self.done).into_iter().rev() {
            let (path, result) = match &done {
                Done::MadeFolder(path) => (path, self.disk.remove_folder(path)),
                Done::RemovedFolder(path) => (path, self.make_folder(path)),
                Done::PutAside(path, aside) => (path, self.rename(aside, path)),
                Done::Added(path, new) => (path, self.rename(path, new).and_then(|()| self.disk.remove(new))),
                Done::Exchanged(path, old) => (path, self.exchange(old, path).and_then(|()| self.disk.remove(old))),
            };
            left.extend(result.err().map(|error| format!("{}: {error}", path.display())));
        }
        // Removing a file that was never created fails without harm.
        self.written.values().for_each(|new| drop(self.disk.remove(new)));
        if left.is_empty() { error } else { Error::Torn { why: error.to_string(), left } }
    }

    /// Removes the files that were moved aside and the directories that are empty now, after all changes are complete.
    fn clear_away(&self) {
        for done in &self.done {
            if let Done::PutAside(_, old) | Done::Exchanged(_, old) = done {
                let _ = self.disk.remove(old);
            }
        }
        for change in self.plan.changes.iter().rev().filter(|change| change.after.is_none()) {
            self.disk.root.remove_empty_above(&change.path);
        }
    }
}

fn aside() -> OsString {
    format!("{ASIDE}{}-{}", std::process::id(), COUNT.fetch_add(1, Ordering::Relaxed)).into()
}

fn failed(doing: &str, path: &Path, error: &io::Error) -> Error {
    Error::io(doing, path, error)
}
