//! The private homes of agents: one directory per store, in it one per run, in it one per agent.
//!
//! They are in Interlock's cache directory and not in the store, because the sandbox hides the store. Different stores may
//! have runs of the same name.

use std::{
    collections::BTreeSet,
    fs, io,
    path::{Path, PathBuf},
};

use crate::{
    logins,
    session::{continue_session, plain},
};

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
    let entries = match fs::read_dir(homes) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(0),
        entries => entries?,
    };
    let except: BTreeSet<String> = except.iter().map(|run| plain(run)).collect();
    let mut count = 0;
    for entry in entries {
        let entry = entry?;
        if entry.file_name().to_str().is_some_and(|name| name == logins::FOLDER || except.contains(name)) {
            continue;
        }
        if !is_dry {
            fs::remove_dir_all(entry.path())?;
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
    let (old, new) = (homes.join(plain(from)), homes.join(plain(run)));
    match copy(&old, &new) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => {
            Err(format!("{} cannot be copied: {error}", old.display()))
        }
        _ => Ok(()),
    }
}

/// Copies a directory with its files and links. Links are not followed; sockets and pipes are left out.
fn copy(from: &Path, to: &Path) -> io::Result<()> {
    let mut open = vec![(from.to_owned(), to.to_owned())];
    while let Some((from, to)) = open.pop() {
        let about = fs::symlink_metadata(&from)?;
        if about.is_symlink() {
            std::os::unix::fs::symlink(fs::read_link(&from)?, &to)?;
        } else if about.is_file() {
            fs::copy(&from, &to)?;
        } else if about.is_dir() {
            fs::create_dir_all(&to)?;
            fs::set_permissions(&to, about.permissions())?;
            for entry in fs::read_dir(&from)? {
                let name = entry?.file_name();
                open.push((from.join(&name), to.join(name)));
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

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
