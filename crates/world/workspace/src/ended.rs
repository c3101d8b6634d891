//! Records the workspace as an attempt left it. Only this state can tell the changes of the attempt from later changes.
//!
//! Each attempt has one file with the hash of that tree. The runtime writes it when the attempt ends. If the runtime is
//! gone by then, the attempt's supervisor runs [`entry`] to write it. An activity that knows its changes in advance
//! records them before it writes.

#![expect(
    clippy::disallowed_methods,
    reason = "the private directory of a workspace is in the store, which no program can change"
)]

use std::{
    ffi::OsString,
    fs::{self, File},
    io::Write,
    path::{Path, PathBuf},
    process::ExitCode,
};

use rustix::fs::{FlockOperation, flock};

use crate::{
    Error, Result, Workspace,
    cleared::{clear, note, unblocked},
    nested,
    patch::Plan,
    private::Private,
    repository, scope, trees,
    workspace::{full_hash, keep_opened_since, name_it, name_part, prefix_of},
};

/// The directory of these files within a private directory.
pub(crate) const FOLDER: &str = "ended";

/// The first argument of the command that stores a workspace for a supervisor.
const KEEP: &str = "__keep";

/// The state of the workspace when an attempt ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EndSnapshot {
    /// The name of the snapshot that holds it.
    pub name: String,
    /// The hash of its tree.
    pub tree: String,
    /// The hash of the tree that the attempt began with.
    pub before: String,
}

/// Stores a workspace if the arguments are `__keep HOME FOLDER RUN SNAPSHOT`. `main` must call this before anything
/// else.
pub fn entry(arguments: impl IntoIterator<Item = OsString>) -> Option<ExitCode> {
    let words: Vec<OsString> = arguments.into_iter().skip(1).collect();
    let [first, home, folder, run, snapshot] = &words[..] else { return None };
    if first != KEEP {
        return None;
    }
    let (Some(run), Some(snapshot)) = (run.to_str(), snapshot.to_str()) else { return Some(ExitCode::FAILURE) };
    let folder = Path::new(folder);
    // A program may have put a link into the path of the run's directory, and this process does not know the run's place.
    if interlock_beneath::Folder::open(folder).is_err() {
        return Some(ExitCode::FAILURE);
    }
    match Workspace::new(home).keep_ended(folder, run, snapshot) {
        Ok(_) => Some(ExitCode::SUCCESS),
        Err(_) => Some(ExitCode::FAILURE),
    }
}

impl Workspace {
    /// Stores the workspace as left by the attempt that began with the snapshot `before`.
    pub fn keep_ended(&self, folder: &Path, run: &str, before: &str) -> Result<EndSnapshot> {
        let mut said = clear(folder);
        unblocked(folder, &mut said, |said| self.keep_ended_now(folder, run, before, said))
    }

    /// Does the same if nothing blocks git.
    fn keep_ended_now(&self, folder: &Path, run: &str, before: &str, said: &mut Vec<String>) -> Result<EndSnapshot> {
        let (private, before_tree) = self.holding(folder, before)?;
        // Calls are serialized: the last one to begin sees the writes of all programs of the attempt.
        let _turn = turn(&private)?;
        repository::repair(&private, before);
        let mut kept = keep_opened_since(&private, before, &before_tree)?;
        let nested = nested::keep(self, &private, before, &mut kept, run)?;
        note(&private, said.drain(..).chain(kept.said).collect());
        let tree = kept.tree;
        let ended = EndSnapshot { name: name_it(&private, &tree, run, None)?, tree, before: before_tree };
        nested::write(&private, &ended.name, &nested)?;
        write(&private, before, &ended)?;
        Ok(ended)
    }

    /// Records the planned changes as the end of the attempt, before they are written.
    pub(crate) fn announce(&self, folder: &Path, run: &str, before: &str, plan: &Plan) -> Result<()> {
        let (private, tree) = self.holding(folder, before)?;
        let tree = trees::changed(&private, &tree, plan)?;
        self.announce_tree(folder, run, before, &tree)
    }

    /// Records that an attempt that began with a snapshot is about to change the workspace to a tree.
    pub fn announce_tree(&self, folder: &Path, run: &str, before: &str, tree: &str) -> Result<()> {
        let (private, before_tree) = self.holding(folder, before)?;
        let tree = full_hash(tree)?.to_owned();
        let ended = EndSnapshot { name: name_it(&private, &tree, run, None)?, tree, before: before_tree };
        write(&private, before, &ended)
    }

    /// Returns the workspace as left by the attempt that began with a snapshot, if it is known.
    pub fn ended(&self, folder: &Path, before: &str) -> Result<Option<EndSnapshot>> {
        let (private, _) = self.holding(folder, before)?;
        Ok(read(&private, before))
    }
}

fn turn(private: &Private) -> Result<File> {
    let path = private.folder.join("ended.lock");
    let wrong = |error: std::io::Error| Error::io("lock", &path, &error);
    let file = File::options().create(true).truncate(false).write(true).open(&path).map_err(wrong)?;
    flock(&file, FlockOperation::LockExclusive).map_err(|error| wrong(error.into()))?;
    Ok(file)
}

/// Records the end of an attempt. The file is written atomically.
pub(crate) fn write(private: &Private, before: &str, ended: &EndSnapshot) -> Result<()> {
    let path = file(private, before);
    let written = || {
        fs::create_dir_all(private.folder.join(FOLDER))?;
        let mut file = tempfile::NamedTempFile::new_in(&private.folder)?;
        file.write_all(format!("{} {} {}\n", ended.name, ended.tree, ended.before).as_bytes())?;
        file.persist(&path).map_err(|error| error.error)
    };
    written().map(drop).map_err(|error| Error::io("write", &path, &error))
}

pub(crate) fn read(private: &Private, before: &str) -> Option<EndSnapshot> {
    read_file(&file(private, before))
}

/// Returns the attempts of other runs in the same workspace that ended after an attempt began.
pub(crate) fn of_other_runs(private: &Private, run: &str, began: &str) -> Vec<EndSnapshot> {
    let began = fs::metadata(scope::file(private, began)).and_then(|about| about.modified()).ok();
    let own = name_part(&prefix_of(run));
    let entries = fs::read_dir(private.folder.join(FOLDER)).into_iter().flatten().flatten();
    let others = entries.filter(|entry| !entry.file_name().to_string_lossy().starts_with(&own));
    let is_later = |entry: &fs::DirEntry| entry.metadata().and_then(|about| about.modified()).ok() >= began;
    others.filter(is_later).filter_map(|entry| read_file(&entry.path())).collect()
}

fn read_file(path: &Path) -> Option<EndSnapshot> {
    let text = fs::read_to_string(path).ok()?;
    let [name, tree, before] = text.strip_suffix('\n')?.split(' ').collect::<Vec<_>>()[..] else { return None };
    let (tree, before) = (full_hash(tree).ok()?.to_owned(), full_hash(before).ok()?.to_owned());
    Some(EndSnapshot { name: name.to_owned(), tree, before })
}

fn file(private: &Private, before: &str) -> PathBuf {
    private.folder.join(FOLDER).join(name_part(before))
}

/// Returns the number of a snapshot within its run. Later snapshots have higher numbers.
pub(crate) fn number(name: &str) -> u64 {
    name.rsplit('/').next().and_then(|number| number.parse().ok()).unwrap_or(0)
}
