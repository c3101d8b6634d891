//! Makes a plan true: all of it, or nothing is changed.
//!
//! New content is written beside its place first. Then what goes is put aside, and what comes changes places with what was there. Until all
//! of that is done and on the disk, everything old is still there under another name; whatever fails, each step taken is taken back.

use std::{
    collections::{BTreeMap, BTreeSet},
    ffi::OsString,
    io,
    path::{Path, PathBuf},
    sync::atomic::{AtomicU64, Ordering},
};

use super::{Disk, Node, Plan, Planned, Problem};
use crate::{Error, Result};

/// What names begin with that are there only while something is written.
const ASIDE: &str = ".interlock-aside-";

/// Makes such names differ within a process.
static COUNT: AtomicU64 = AtomicU64::new(0);

/// Writes what is planned. Whatever is no longer what the plan was made for is a problem, and nothing is changed.
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

/// A step taken.
#[derive(Debug)]
enum Done {
    MadeFolder(PathBuf),
    RemovedFolder(PathBuf),
    /// What was under the first is now under the second.
    PutAside(PathBuf, PathBuf),
    Added(PathBuf, PathBuf),
    Exchanged(PathBuf, PathBuf),
}

struct Writer<'p> {
    disk: &'p Disk,
    plan: &'p Plan,
    /// Paths that something will stand under.
    comes: BTreeSet<&'p Path>,
    done: Vec<Done>,
    /// New content that is not in its place yet, by the path that is its place.
    written: BTreeMap<&'p Path, PathBuf>,
}

impl<'p> Writer<'p> {
    fn all(&mut self) -> Result<()> {
        let plan = self.plan;
        self.sweep();
        for change in &plan.changes {
            self.prepare(change).map_err(|error| failed("write", &change.path, &error))?;
        }
        // Deepest first, so that folders are empty before something takes their place.
        for change in plan.changes.iter().rev().filter(|change| change.after.is_none()) {
            self.put_aside(change)?;
        }
        for change in plan.changes.iter().filter(|change| change.after.is_some()) {
            self.put_in_place(change)?;
        }
        self.sync()
    }

    /// What a writer that was killed has left aside goes: all of it is in snapshots or was never in its place.
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
        self.disk.make(&folder, &name, after, Some(&change.path))
    }

    /// The folder to put things aside in for a path: its own, or the first above that is there and stays a folder.
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

    fn put_aside(&mut self, change: &Planned) -> Result<()> {
        let aside = self.staging(&change.path).join(aside());
        self.disk.rename(&change.path, &aside).map_err(|error| failed("remove", &change.path, &error))?;
        self.done.push(Done::PutAside(change.path.clone(), aside.clone()));
        self.check(change, &aside)
    }

    fn put_in_place(&mut self, change: &'p Planned) -> Result<()> {
        let Some(new) = self.written.get(change.path.as_path()).cloned() else { return Ok(()) };
        let path = &change.path;
        self.make_folders(path)?;
        if change.before.is_some() {
            self.disk.exchange(&new, path).map_err(|error| failed("write", path, &error))?;
            self.written.remove(path.as_path());
            self.done.push(Done::Exchanged(path.clone(), new.clone()));
            return self.check(change, &new);
        }
        self.clear_folder(path)?;
        self.disk.rename(&new, path).map_err(|error| failed("make", path, &error))?;
        self.written.remove(path.as_path());
        self.done.push(Done::Added(path.clone(), new));
        Ok(())
    }

    /// What was there must be what the plan was made for: somebody may have written to it since it was looked at.
    fn check(&self, change: &Planned, aside: &Path) -> Result<()> {
        let found = self.disk.node(aside).map_err(|error| failed("read", &change.path, &error))?;
        let is_same = |found: &Node| change.before.as_ref() == Some(found);
        match found.as_ref().is_some_and(is_same) {
            true => Ok(()),
            false => Err(Error::Patch(vec![Problem::file(&change.path, "somebody changed it in the meantime")])),
        }
    }

    fn make_folders(&mut self, path: &Path) -> Result<()> {
        let mut folders: Vec<&Path> = path.ancestors().skip(1).filter(|above| !above.as_os_str().is_empty()).collect();
        folders.reverse();
        for folder in folders {
            match self.disk.make_folder(folder) {
                Ok(()) => self.done.push(Done::MadeFolder(folder.to_owned())),
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists && self.disk.is_folder(folder) => {}
                Err(error) => return Err(failed("make", folder, &error)),
            }
        }
        Ok(())
    }

    /// Where a file takes the place of a folder, the folder must be empty by now.
    fn clear_folder(&mut self, path: &Path) -> Result<()> {
        if !self.disk.is_folder(path) {
            return Ok(());
        }
        let gone = self.plan.changes.iter().filter(|change| change.after.is_none() && change.path.starts_with(path));
        let below = gone.flat_map(|change| change.path.ancestors().skip(1)).filter(|folder| folder.starts_with(path));
        let folders: BTreeSet<&Path> = below.chain([path]).collect();
        for folder in folders.into_iter().rev() {
            self.disk.remove_folder(folder).map_err(|error| failed("remove the folder", folder, &error))?;
            self.done.push(Done::RemovedFolder(folder.to_owned()));
        }
        Ok(())
    }

    fn sync(&self) -> Result<()> {
        let above = |change: &'p Planned| change.path.parent().unwrap_or(Path::new(""));
        let folders: BTreeSet<&Path> = self.plan.changes.iter().map(above).collect();
        for folder in folders.into_iter().filter(|folder| self.disk.is_folder(folder)) {
            self.disk.sync(folder).map_err(|error| failed("sync", folder, &error))?;
        }
        Ok(())
    }

    /// Takes every step back, newest first. What cannot be taken back is said: nothing of it is lost, it is under another name.
    fn take_back(&mut self, error: Error) -> Error {
        let mut left = Vec::new();
        for done in std::mem::take(&mut self.done).into_iter().rev() {
            let (path, result) = match &done {
                Done::MadeFolder(path) => (path, self.disk.remove_folder(path)),
                Done::RemovedFolder(path) => (path, self.disk.make_folder(path)),
                Done::PutAside(path, aside) => (path, self.disk.rename(aside, path)),
                Done::Added(path, new) => (path, self.disk.rename(path, new).and_then(|()| self.disk.remove(new))),
                Done::Exchanged(path, old) => {
                    (path, self.disk.exchange(old, path).and_then(|()| self.disk.remove(old)))
                }
            };
            left.extend(result.err().map(|error| format!("{}: {error}", path.display())));
        }
        // One that was never made is not there.
        self.written.values().for_each(|new| drop(self.disk.remove(new)));
        if left.is_empty() { error } else { Error::Torn { why: error.to_string(), left } }
    }

    /// Everything is in its place: what was put aside can go, and folders that are empty now.
    fn clear_away(&self) {
        for done in &self.done {
            if let Done::PutAside(_, old) | Done::Exchanged(_, old) = done {
                let _ = self.disk.remove(old);
            }
        }
        for change in self.plan.changes.iter().rev().filter(|change| change.after.is_none()) {
            let above = change.path.ancestors().skip(1).filter(|above| !above.as_os_str().is_empty());
            above.take_while(|above| self.disk.remove_folder(above).is_ok()).for_each(drop);
        }
    }
}

fn aside() -> OsString {
    format!("{ASIDE}{}-{}", std::process::id(), COUNT.fetch_add(1, Ordering::Relaxed)).into()
}

fn failed(doing: &str, path: &Path, error: &io::Error) -> Error {
    Error::io(doing, path, error)
}
