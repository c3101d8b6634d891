//! A run's directories outside its workspace and the store. Programs may read what is built and run there, but may
//! not read the store.
//!
//! The directories are a cache: lost content is rebuilt from trees and evidence.

#![expect(clippy::disallowed_methods, reason = "no program can change the directory above the areas")]

use std::{
    fs::{self, DirBuilder},
    hash::{DefaultHasher, Hash, Hasher},
    io,
    os::unix::fs::{DirBuilderExt, MetadataExt},
    path::{Path, PathBuf},
};

use interlock_activity::{Attempt, Outcome};

use crate::table::{Settings, failed};

/// The directories of one run.
#[derive(Clone, Debug)]
pub(crate) struct Area(PathBuf);

impl Area {
    /// Creates the directories of an attempt's run, accessible only to the current user.
    pub(crate) fn of(settings: &Settings, attempt: &Attempt) -> Result<Self, Outcome> {
        let folder = folder(settings, &attempt.run);
        let made = own(&base()).and_then(|()| own(&folder));
        made.map_err(|error| failed(format!("{} cannot be used: {error}", folder.display())))?;
        Ok(Area(folder))
    }

    /// The directory in which trees are built and tested.
    pub(crate) fn copy(&self) -> PathBuf {
        self.0.join("tree")
    }

    /// The directory in which candidates are tried. It is separate from the build directory, so that build leftovers
    /// of one candidate cannot influence the result of another tree.
    pub(crate) fn trial(&self) -> PathBuf {
        self.0.join("trial")
    }

    /// The directory in which the untouched tree is built for comparison.
    pub(crate) fn untouched(&self) -> PathBuf {
        self.0.join("base")
    }

    /// The directory of a session. The path is short because it holds sockets, whose path length is limited.
    pub(crate) fn session(&self, id: &str) -> PathBuf {
        self.0.join("s").join(name_of(id))
    }

    /// Returns a session name that is unique among all runs of all stores on this computer: the area's name and the
    /// handle.
    pub(crate) fn mark(&self, handle: &str) -> String {
        let area = self.0.file_name().unwrap_or_default().to_string_lossy();
        format!("{area}-{handle}")
    }

    /// Returns the path of a file in the run's directory.
    pub(crate) fn file(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }
}

/// Removes the directories of a run that has ended.
pub(crate) fn remove(settings: &Settings, run: &str) {
    // The run may never have created any.
    let _ = interlock_beneath::whole::remove_all(folder(settings, run));
}

/// Returns the run's directory. The name contains a hash of the store, because runs of different stores may have
/// equal names.
fn folder(settings: &Settings, run: &str) -> PathBuf {
    let mut hasher = DefaultHasher::new();
    settings.home.hash(&mut hasher);
    base().join(format!("{:08x}-{}", hasher.finish() as u32, name_of(run)))
}

fn base() -> PathBuf {
    let temp = std::env::temp_dir();
    // Below this directory no link is followed.
    let temp = temp.canonicalize().unwrap_or(temp);
    temp.join(format!("interlock-{}", rustix::process::getuid().as_raw()))
}

/// Creates a directory that only its owner may enter. An existing directory is refused if it belongs to another user
/// or others may enter it.
fn own(folder: &Path) -> io::Result<()> {
    match DirBuilder::new().mode(0o700).create(folder) {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
        made => return made,
    }
    let found = fs::symlink_metadata(folder)?;
    let is_ours = found.is_dir() && found.uid() == rustix::process::getuid().as_raw() && found.mode() & 0o077 == 0;
    match is_ours {
        true => Ok(()),
        false => Err(io::Error::other("it already exists and is accessible to others")),
    }
}

fn name_of(run: &str) -> String {
    run.chars()
        .map(|letter| if letter.is_ascii_alphanumeric() || "-_.".contains(letter) { letter } else { '_' })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn session_names_differ_between_runs_and_stores() {
        let here = Settings { home: Some("/here".into()), ..Settings::default() };
        let there = Settings { home: Some("/there".into()), ..Settings::default() };
        let mark = |settings: &Settings, run: &str| Area(folder(settings, run)).mark("a7");
        assert!(mark(&here, "one").ends_with("-one-a7"));
        assert_ne!(mark(&here, "one"), mark(&here, "two"));
        assert_ne!(mark(&here, "one"), mark(&there, "one"));
        assert_eq!(mark(&here, "one"), mark(&here, "one"), "however often it is tried");
    }
}
