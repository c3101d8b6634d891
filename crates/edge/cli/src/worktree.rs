//! Worktrees of runs: when a run gets one, where it lies, and how a project furnishes it.
//!
//! A worktree lies in the user's cache directory and not in the store, because the sandbox hides the store. Beside it is
//! a file that says which checkout it belongs to. `.interlock/worktree.toml` says what a new worktree needs.

#![expect(clippy::disallowed_methods, reason = "no program can change the directory in which a worktree lies")]

mod setup;

use std::{
    fs,
    path::{Path, PathBuf},
};

use interlock_beneath::Folder;
use interlock_chart::Value;
use interlock_journal::{Engine as _, Entry, Filter, Head, Phase};
use interlock_workspace::{Error, Worktree};
use serde::Deserialize;

use crate::{failure::Failure, output::Output, store::Store};

/// The project's file, and its maximum size.
const FILE: &str = ".interlock/worktree.toml";
const FILE_BYTES_MAX: u64 = 64 * 1_024;

/// The name of the file beside a worktree, and of the worktree itself.
const ABOUT: &str = "worktree.json";
const TREE: &str = "tree";

/// The field of a machine's input that says if its runs want a worktree: `always`, `never`, or `auto`, if the checkout
/// has uncommitted changes or another run works in it.
const FIELD: &str = "worktree";

/// The needs of a new worktree.
#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct Needs {
    /// Ignored files and directories that are copied from the checkout.
    copy: Vec<String>,
    /// Ignored files and directories that are linked to those of the checkout. Programs cannot change them.
    link: Vec<String>,
    /// A shell command that runs once in the new worktree, in the sandbox.
    setup: Option<String>,
}

/// A worktree with the directory in which it is kept.
#[derive(Debug)]
pub(crate) struct Kept {
    place: PathBuf,
    pub(crate) tree: Worktree,
}

impl Kept {
    /// Writes the file beside the worktree.
    pub(crate) fn save(&self) -> Result<(), Failure> {
        let path = self.place.join(ABOUT);
        let failed = |error| Failure::file("write", &path, &error);
        let text = serde_json::to_vec_pretty(&self.tree).map_err(|error| failed(error.into()))?;
        let mut file = tempfile::NamedTempFile::new_in(&self.place).map_err(failed)?;
        std::io::Write::write_all(&mut file, &text).map_err(failed)?;
        file.persist(&path).map(drop).map_err(|error| failed(error.error))
    }

    /// Removes the worktree and the file beside it.
    pub(crate) fn remove(&self) -> Result<(), Failure> {
        self.tree.remove().map_err(wrong)?;
        let (above, name) = (self.place.parent(), self.place.file_name());
        let above = Folder::open_through_links(above.unwrap_or(&self.place));
        let removed = above.and_then(|above| above.remove_all(Path::new(name.unwrap_or_default())));
        removed.map_err(|error| Failure::file("remove", &self.place, &error.into()))
    }
}

/// Returns true if a run is to get a worktree. `forced` is the decision of the user, which overrules the input.
pub(crate) fn is_wanted(forced: Option<bool>, input: &Value, folder: &Path, store: &Store) -> Result<bool, Failure> {
    if let Some(is_wanted) = forced {
        return Ok(is_wanted);
    }
    is_wanted_by(input, folder, store)
}

/// Returns true if the input of a run asks for a worktree.
pub(crate) fn is_wanted_by(input: &Value, folder: &Path, store: &Store) -> Result<bool, Failure> {
    match input.get(FIELD).and_then(Value::as_str) {
        Some("always") => Ok(true),
        // A directory without a repository or a commit cannot have worktrees.
        Some("auto") if !Worktree::is_possible(folder) => Ok(false),
        Some("auto") => match Worktree::is_dirty(folder) {
            Ok(is_dirty) => Ok(is_dirty || is_busy(folder, store)?),
            Err(Error::Git { .. }) => Ok(false),
            Err(error) => Err(wrong(error)),
        },
        _ => Ok(false),
    }
}

/// Returns true if another run that is not over works in the same repository.
fn is_busy(folder: &Path, store: &Store) -> Result<bool, Failure> {
    let root = interlock_sandbox::workspace_of(folder).map_err(|error| Failure::file("use", folder, &error))?;
    let phases = vec![Phase::Active, Phase::Waiting, Phase::Paused];
    for head in store.journal.list(&Filter { phases, ..Filter::default() })? {
        let other = folder_of(store, &head)?.and_then(|folder| interlock_sandbox::workspace_of(&folder).ok());
        if other.as_ref() == Some(&root) {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Returns the directory that a run works in.
pub(crate) fn folder_of(store: &Store, head: &Head) -> Result<Option<PathBuf>, Failure> {
    let first = store.journal.records(head.key, 1, 1)?;
    let Some(record) = first.first() else { return Ok(None) };
    match store.journal.entry(record)? {
        Entry::Created(created) => Ok(created.folder.map(PathBuf::from)),
        _ => Ok(None),
    }
}

/// Makes and furnishes the worktree of a new run.
pub(crate) fn make(store: &Store, folder: &Path, run: &str, output: &Output) -> Result<Kept, Failure> {
    let place = worktrees(store)?.join(run);
    if place.exists() {
        return Err(
            Failure::bad_input(format!("there is already a worktree called `{run}`")).hint("choose another --name")
        );
    }
    let lock = lock(store)?;
    let tree = Worktree::create(folder, &place.join(TREE), run).map_err(wrong)?;
    drop(lock);
    let kept = Kept { place, tree };
    let furnished = kept.save().and_then(|()| furnish(&kept.tree, store, output));
    if let Err(failure) = furnished {
        let _ = kept.remove();
        return Err(failure);
    }
    output.talk(&format!("worktree {} on the branch {}\n", kept.tree.path.display(), kept.tree.branch));
    Ok(kept)
}

/// Waits until no other process makes a worktree: git fails if two are added to a repository at once.
fn lock(store: &Store) -> Result<fs::File, Failure> {
    let path = store.home.join("worktrees.lock");
    interlock_journal::private::file(&path)?;
    let failed = |error| Failure::file("lock", &path, &error);
    let lock = fs::File::open(&path).map_err(failed)?;
    lock.lock().map_err(failed)?;
    Ok(lock)
}

fn furnish(tree: &Worktree, store: &Store, output: &Output) -> Result<(), Failure> {
    let bad = |why: String| Failure::bad_input(format!("{FILE}: {why}"));
    let text = interlock_sandbox::read_project(Some(&store.home), &tree.checkout, FILE, FILE_BYTES_MAX);
    let Some(text) = text.map_err(bad)? else {
        bring_dependencies(tree, output);
        return Ok(());
    };
    let needs: Needs = toml::from_str(&text).map_err(|error| bad(error.to_string()))?;
    let in_file = |error: Error| bad(error.to_string());
    needs.copy.iter().try_for_each(|path| tree.copy(path)).map_err(in_file)?;
    needs.link.iter().try_for_each(|path| tree.link(path)).map_err(in_file)?;
    match &needs.setup {
        Some(command) => setup::run(command, tree, store, output).map_err(bad),
        None => Ok(()),
    }
}

/// Copies the ignored dependencies of the checkout, such as `node_modules`, without which the project's commands fail. A
/// directory that cannot be copied is named; the run can still begin.
fn bring_dependencies(tree: &Worktree, output: &Output) {
    for path in interlock_verification::dependency_folders(&tree.checkout) {
        let Some(path) = path.to_str() else { continue };
        match tree.copy(path) {
            Ok(()) => output.talk(&format!("copied {path} from the checkout\n")),
            // A tracked directory is in the worktree already.
            Err(Error::Worktree(why)) if why.contains("not ignored") => {}
            Err(error) => {
                output.talk(&format!("{path} was not copied: {error}. Name what the worktree needs in {FILE}\n"))
            }
        }
    }
}

/// Returns the worktree of a run, if it has one. A run that continues another works in the worktree of that run.
pub(crate) fn find(store: &Store, run: &str) -> Result<Option<Kept>, Failure> {
    if let Some(kept) = read(worktrees(store)?.join(run))? {
        return Ok(Some(kept));
    }
    let Some(head) = store.journal.find(run)? else { return Ok(None) };
    let Some(folder) = folder_of(store, &head)? else { return Ok(None) };
    Ok(all(store)?.into_iter().find(|kept| folder.starts_with(&kept.tree.path)))
}

/// Returns all worktrees of a store's runs.
pub(crate) fn all(store: &Store) -> Result<Vec<Kept>, Failure> {
    let Ok(entries) = fs::read_dir(worktrees(store)?) else { return Ok(Vec::new()) };
    entries.flatten().filter_map(|entry| read(entry.path()).transpose()).collect()
}

fn read(place: PathBuf) -> Result<Option<Kept>, Failure> {
    let path = place.join(ABOUT);
    let text = match fs::read(&path) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
        text => text.map_err(|error| Failure::file("read", &path, &error))?,
    };
    let tree =
        serde_json::from_slice(&text).map_err(|error| Failure::failed(format!("{}: {error}", path.display())))?;
    Ok(Some(Kept { place, tree }))
}

/// Returns the directory of the worktrees of a store's runs. Different stores may have runs of the same name.
fn worktrees(store: &Store) -> Result<PathBuf, Failure> {
    let named = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    let cache = named("XDG_CACHE_HOME").or_else(|| named("HOME").map(|home| home.join(".cache")));
    let cache = cache.filter(|cache| cache.is_absolute()).ok_or_else(|| {
        Failure::bad_input("there is no folder for worktrees").hint("set XDG_CACHE_HOME to a folder of your own")
    })?;
    // FNV-1a, so that every version of this program finds the same directory.
    let mix = |hash: u64, byte: &u8| (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3);
    let hash = store.home.as_os_str().as_encoded_bytes().iter().fold(0xcbf2_9ce4_8422_2325, mix);
    Ok(cache.join("interlock/worktrees").join(format!("{hash:016x}")))
}

fn wrong(error: Error) -> Failure {
    Failure::failed(error.to_string())
}
