//! A run's own folders, outside of its workspace and of the store: what is built and run there may be read by programs, which the store may not.
//!
//! They are a cache. Whatever is lost with them is made again from trees and evidence.

use std::{
    fs::{self, DirBuilder},
    hash::{DefaultHasher, Hash, Hasher},
    io,
    os::unix::fs::{DirBuilderExt, MetadataExt},
    path::{Path, PathBuf},
};

use interlock_activity::{Attempt, Outcome};

use crate::hand::{Settings, failed};

/// The folders of one run.
#[derive(Clone, Debug)]
pub(crate) struct Area(PathBuf);

impl Area {
    /// The folders of an attempt's run, made and nobody else's.
    pub(crate) fn of(settings: &Settings, attempt: &Attempt) -> Result<Self, Outcome> {
        let folder = folder(settings, &attempt.run);
        let made = own(&base()).and_then(|()| own(&folder));
        made.map_err(|error| failed(format!("{} cannot be used: {error}", folder.display())))?;
        Ok(Area(folder))
    }

    /// Where trees are built and tested.
    pub(crate) fn copy(&self) -> PathBuf {
        self.0.join("tree")
    }

    /// Where candidates are tried. Apart from where trees are built: what a build leaves of a candidate must not have a say in whether it is good.
    pub(crate) fn trial(&self) -> PathBuf {
        self.0.join("trial")
    }

    /// Where the tree as it was found is built, to be compared with what has become of it.
    pub(crate) fn untouched(&self) -> PathBuf {
        self.0.join("base")
    }

    /// The folder of a session; short, because sockets are in it.
    pub(crate) fn session(&self, id: &str) -> PathBuf {
        self.0.join("s").join(name_of(id))
    }

    /// A name for a session that no run of any store of this computer has besides: the area's own, and its handle.
    pub(crate) fn mark(&self, handle: &str) -> String {
        let area = self.0.file_name().unwrap_or_default().to_string_lossy();
        format!("{area}-{handle}")
    }

    /// A file of the run's own.
    pub(crate) fn file(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }
}

/// Removes what a run that has ended leaves.
pub(crate) fn remove(settings: &Settings, run: &str) {
    // It may never have had any.
    let _ = fs::remove_dir_all(folder(settings, run));
}

/// Runs of different stores may have the same name.
fn folder(settings: &Settings, run: &str) -> PathBuf {
    let mut hasher = DefaultHasher::new();
    settings.home.hash(&mut hasher);
    base().join(format!("{:08x}-{}", hasher.finish() as u32, name_of(run)))
}

fn base() -> PathBuf {
    std::env::temp_dir().join(format!("interlock-{}", rustix::process::getuid().as_raw()))
}

/// Makes a folder that only its owner may enter; one that somebody else has put there is refused.
fn own(folder: &Path) -> io::Result<()> {
    match DirBuilder::new().mode(0o700).create(folder) {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
        made => return made,
    }
    let found = fs::symlink_metadata(folder)?;
    let is_ours = found.is_dir() && found.uid() == rustix::process::getuid().as_raw() && found.mode() & 0o077 == 0;
    match is_ours {
        true => Ok(()),
        false => Err(io::Error::other("it is there already and is not ours alone")),
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
    fn a_session_is_called_like_no_other_runs_and_no_other_stores() {
        let here = Settings { home: Some("/here".into()), ..Settings::default() };
        let there = Settings { home: Some("/there".into()), ..Settings::default() };
        let mark = |settings: &Settings, run: &str| Area(folder(settings, run)).mark("a7");
        assert!(mark(&here, "one").ends_with("-one-a7"));
        assert_ne!(mark(&here, "one"), mark(&here, "two"));
        assert_ne!(mark(&here, "one"), mark(&there, "one"));
        assert_eq!(mark(&here, "one"), mark(&here, "one"), "however often it is tried");
    }
}
