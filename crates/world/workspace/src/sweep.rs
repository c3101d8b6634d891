//! Deletes data that is no longer needed: snapshots of finished runs, leftovers of interrupted calls, and private
//! directories of workspaces that no longer exist.

#![expect(
    clippy::disallowed_methods,
    reason = "the private directory of a workspace is in the store, which no program can change"
)]

use std::{
    ffi::OsStr,
    fs,
    os::unix::ffi::OsStrExt,
    path::{Path, PathBuf},
    time::{Duration, SystemTime},
};

use serde::Serialize;

use crate::{
    Error, Result, Workspace, ended,
    git::Git,
    index::tree_file,
    legacy,
    listing::mark,
    nested, parent,
    place::WorkspaceRoot,
    private::{Private, ROOT, SCRATCH},
    repository, scope,
    workspace::{HASHED, KEPT, name_part, prefix_of},
};

/// Minimum age of a scratch directory that counts as left by an interrupted call.
pub(crate) const SCRATCH_AGE: Duration = Duration::from_secs(60 * 60);

/// The numbers of deleted items.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Swept {
    /// Scratch directories of interrupted calls.
    pub scratch: u64,
    /// Private directories whose workspace no longer exists.
    pub workspaces: u64,
}

impl Workspace {
    /// Deletes the snapshots of a run and returns their number. With `is_dry` it only counts them. After this the run's
    /// writes can no longer be undone.
    pub fn forget(&self, folder: &Path, run: &str, is_dry: bool) -> Result<u64> {
        let mut count = 0;
        for place in places(folder)? {
            let private = Private::open(Some(self.home()?), place)?;
            let nested = nested::stores_of_run(self, &private, &prefix_of(run))?;
            if !is_dry {
                for inner in &nested {
                    forget_in(&inner.git(), run, is_dry)?;
                    forget_files(&inner.folder, run);
                }
            }
            for git in std::iter::once(private.git()).chain(legacy::git(&private)) {
                count += forget_in(&git, run, is_dry)?;
            }
            if !is_dry {
                forget_files(&private.folder, run);
            }
        }
        Ok(count)
    }

    /// Deletes leftovers that are older than `age`.
    pub fn sweep(&self, age: Duration, is_dry: bool) -> Result<Swept> {
        let mut swept = Swept::default();
        let all = self.home()?.join("workspaces");
        for folder in folders(&fs::canonicalize(&all).unwrap_or(all)) {
            swept.scratch += cut_off(&folder, age).len() as u64;
            if !is_dry {
                scratch(&folder, age);
            }
            if is_gone(&folder) && is_older(&folder, age) {
                swept.workspaces += 1;
                if !is_dry {
                    fs::remove_dir_all(&folder).map_err(|error| Error::io("remove", &folder, &error))?;
                }
            } else if !is_dry {
                // Recent objects without a reference stay, because a running call may need them. If the collection
                // fails, the next sweep repeats it.
                mark::renew(&folder).map_err(|error| Error::io("write in", &folder, &error))?;
                let _ = Git::new(&folder, &folder).helped().run(&["gc", "--quiet", "--prune=1.day.ago"]);
                // A process may have read the mark before the collection began.
                mark::renew(&folder).map_err(|error| Error::io("write in", &folder, &error))?;
                // The tree of a cached index may be among the removed objects.
                [HASHED, KEPT].iter().for_each(|name| drop(fs::remove_file(tree_file(&folder, name))));
            }
        }
        Ok(swept)
    }
}

/// Deletes the references of the snapshots of a run. Returns their number.
fn forget_in(git: &Git, run: &str, is_dry: bool) -> Result<u64> {
    let names = git.line(&["for-each-ref", "--format=delete %(refname)", &prefix_of(run)])?;
    if !is_dry && !names.is_empty() {
        git.run_with(&["update-ref", "--stdin"], format!("{names}\n").as_bytes())?;
    }
    Ok(names.lines().count() as u64)
}

/// Removes the files about the snapshots of a run, except their content.
fn forget_files(private: &Path, run: &str) {
    for file in [PathBuf::from(format!("last-{}", name_part(run))), Path::new(parent::FOLDER).join(name_part(run))] {
        let _ = fs::remove_file(private.join(file));
    }
    let prefix = name_part(&prefix_of(run));
    for (folder, before) in
        [(ended::FOLDER, ""), (nested::FOLDER, ""), (repository::FOLDER, ""), (scope::FOLDER, scope::OF)]
    {
        let of_run = format!("{before}{prefix}");
        let entries = fs::read_dir(private.join(folder)).into_iter().flatten().flatten();
        let is_of_run = |entry: &fs::DirEntry| entry.file_name().as_bytes().starts_with(of_run.as_bytes());
        entries.filter(is_of_run).for_each(|entry| drop(fs::remove_file(entry.path())));
    }
    let removed = folders(&private.join(repository::FOLDER).join(repository::REMOVED)).into_iter();
    for folder in
        removed.filter(|folder| folder.file_name().is_some_and(|name| name.as_bytes().starts_with(prefix.as_bytes())))
    {
        let _ = fs::remove_dir_all(folder);
    }
}

/// Returns the repository that contains a directory, and the directory itself, because it may have become a repository
/// after a snapshot was taken.
fn places(folder: &Path) -> Result<Vec<WorkspaceRoot>> {
    let found = WorkspaceRoot::find(folder)?;
    let alone = found.repository.is_some().then(|| WorkspaceRoot::alone(folder)).transpose()?;
    Ok(std::iter::once(found).chain(alone).collect())
}

/// Returns true if the workspace of a private directory no longer exists.
fn is_gone(private: &Path) -> bool {
    let root = fs::read(private.join(ROOT));
    root.is_ok_and(|root| !root.is_empty() && fs::symlink_metadata(OsStr::from_bytes(&root)).is_err())
}

/// Removes the scratch directories of interrupted calls.
pub(crate) fn scratch(private: &Path, age: Duration) {
    cut_off(private, age).iter().for_each(|folder| drop(fs::remove_dir_all(folder)));
}

fn cut_off(private: &Path, age: Duration) -> Vec<PathBuf> {
    let is_scratch =
        |folder: &PathBuf| folder.file_name().is_some_and(|name| name.as_bytes().starts_with(SCRATCH.as_bytes()));
    folders(private).into_iter().filter(|folder| is_scratch(folder) && is_older(folder, age)).collect()
}

fn folders(within: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(within).into_iter().flatten().flatten();
    entries.filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir())).map(|entry| entry.path()).collect()
}

fn is_older(path: &Path, age: Duration) -> bool {
    let modified = fs::metadata(path).and_then(|about| about.modified());
    modified.is_ok_and(|modified| SystemTime::now().duration_since(modified).unwrap_or_default() >= age)
}
