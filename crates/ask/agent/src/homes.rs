//! The private homes of agents: one directory per store, in it one per run, in it one per agent.
//!
//! They are in Interlock's cache directory and not in the store, because the sandbox hides the store. Different stores may
//! have runs of the same name.
//!
//! An agent can change its home as it likes, also while Interlock copies or removes it, but not the directories above it.

use std::{
    collections::BTreeSet,
    io,
    path::{Path, PathBuf},
};

use interlock_beneath::{Error, Folder};

use crate::{
    logins,
    session::{continue_session, plain},
};

/// The most files of homes that are copied, and their size together.
const COPIED_MAX: (usize, u64) = (500_000, 16 << 30);

/// Returns the directory with the homes of a store's runs, or `None` if there is no cache directory. `cache` replaces the
/// user's cache directory.
pub fn homes(store: &Path, cache: Option<&Path>) -> Option<PathBuf> {
    let cache = cache.map(Path::to_owned).or_else(user_cache)?;
    // FNV-1a, so that every version of this program finds the same directory.
    let mix = |hash: u64, byte: &u8| (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3);
    let hash = store.as_os_str().as_encoded_bytes().iter().fold(0xcbf2_9ce4_8422_2325, mix);
    Some(cache.join("agents").join(format!("{hash:016x}")))
}

fn user_cache() -> Option<PathBuf> {
    let own = std::env::var_os("XDG_CACHE_HOME").map(PathBuf::from).filter(|path| path.is_absolute());
    own.or_else(|| Some(std::env::home_dir()?.join(".cache"))).map(|cache| cache.join("interlock"))
}

/// Removes the homes of all runs except these, and returns their number. With `is_dry` nothing is removed.
pub fn remove_homes(homes: &Path, except: &BTreeSet<String>, is_dry: bool) -> io::Result<u64> {
    let homes = match Folder::open_through_links(homes) {
        Err(error) if error.is_not_found() => return Ok(0),
        homes => homes?,
    };
    let except: BTreeSet<String> = except.iter().map(|run| plain(run)).collect();
    let is_kept = |name: &str| name == logins::FOLDER || except.contains(name);
    let mut count = 0;
    for name in homes.names(Path::new(""))?.into_iter().filter(|name| !name.to_str().is_some_and(is_kept)) {
        if !is_dry {
            homes.remove_all(Path::new(&name))?;
        }
        count += 1;
    }
    Ok(count)
}

/// Gives a run that continues another the agent's session of that run: its state in the store, and a copy of its home. A
/// home that `gc` has removed is no error: the agent then opens a new session, which is told the rounds so far.
pub fn continue_run(store: &Path, cache: Option<&Path>, from: &str, run: &str) -> Result<(), String> {
    continue_session(store, from, run)?;
    let Some(homes) = homes(store, cache) else { return Ok(()) };
    match copy(&homes, &plain(from), &plain(run)) {
        Err(error) if !error.is_not_found() => {
            Err(format!("{} cannot be copied: {error}", homes.join(plain(from)).display()))
        }
        _ => Ok(()),
    }
}

/// Copies the homes of one run for another. Links are not followed; sockets and pipes are left out.
fn copy(homes: &Path, from: &str, to: &str) -> Result<(), Error> {
    let homes = Folder::open_through_links(homes)?;
    let old = homes.folder(Path::new(from))?;
    homes.make_folders(Path::new(to))?;
    old.copy_to(&homes.folder(Path::new(to))?, COPIED_MAX, |_| true)
}

#[cfg(test)]
mod tests {
    use std::{fs, os::unix::fs::PermissionsExt as _};

    use super::*;

    /// A directory with homes: the home of `old` has a file, links that lead out of it, and a pipe.
    fn prepared(top: &Path) -> PathBuf {
        let homes = top.join("homes");
        fs::create_dir_all(homes.join("old/it/inner")).unwrap();
        fs::create_dir(top.join("mine")).unwrap();
        fs::write(top.join("mine/key"), "mine").unwrap();
        fs::write(homes.join("old/it/inner/session"), "history").unwrap();
        fs::set_permissions(homes.join("old/it"), fs::Permissions::from_mode(0o700)).unwrap();
        for name in ["folder", "key"] {
            let target = if name == "key" { top.join("mine/key") } else { top.join("mine") };
            std::os::unix::fs::symlink(target, homes.join("old/it").join(name)).unwrap();
        }
        let pipe = std::process::Command::new("mkfifo").arg(homes.join("old/it/pipe")).status().unwrap();
        assert!(pipe.success());
        homes
    }

    #[test]
    fn a_copied_home_has_links_as_links_and_no_pipes() {
        let top = tempfile::tempdir().unwrap();
        let homes = prepared(top.path());
        copy(&homes, "old", "new").unwrap();
        let new = homes.join("new/it");
        assert_eq!(fs::read_to_string(new.join("inner/session")).unwrap(), "history");
        assert!(new.join("folder").is_symlink() && new.join("key").is_symlink());
        assert!(fs::symlink_metadata(new.join("pipe")).is_err());
        assert_eq!(fs::metadata(&new).unwrap().permissions().mode() & 0o777, 0o700);
    }

    #[test]
    fn a_home_that_turns_into_a_link_while_it_is_removed_leads_nowhere() {
        let top = tempfile::tempdir().unwrap();
        let homes = prepared(top.path());
        let home = Folder::open(&homes.join("old/it")).unwrap();
        (0..200).for_each(|n| fs::write(homes.join("old/it/inner").join(n.to_string()), "").unwrap());
        (0..200).for_each(|n| fs::write(top.path().join("mine").join(n.to_string()), "mine").unwrap());
        std::thread::scope(|scope| {
            // What an agent that still runs does until its home is gone.
            scope.spawn(|| while home.exchange(Path::new("inner"), Path::new("folder")).is_ok() {});
            assert!((0..10_000).any(|_| remove_homes(&homes, &BTreeSet::new(), false).is_ok()));
        });
        assert_eq!(fs::read_dir(top.path().join("mine")).unwrap().count(), 201);
        assert!(!homes.join("old").exists());
    }

    #[test]
    fn only_homes_of_other_runs_are_removed() {
        let cache = tempfile::tempdir().unwrap();
        let homes = homes(Path::new("/store"), Some(cache.path())).unwrap();
        assert_eq!(remove_homes(&homes, &BTreeSet::new(), false).unwrap(), 0);
        for run in ["a.1", "b"] {
            fs::create_dir_all(homes.join(plain(run)).join("goose")).unwrap();
        }
        let except = BTreeSet::from(["a.1".to_owned()]);
        assert_eq!(remove_homes(&homes, &except, true).unwrap(), 1);
        assert_eq!(remove_homes(&homes, &except, false).unwrap(), 1);
        assert!(homes.join(plain("a.1")).exists() && !homes.join("b").exists());
        assert_ne!(super::homes(Path::new("/other"), Some(cache.path())).unwrap(), homes);
    }
}
