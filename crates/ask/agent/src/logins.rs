//! Copies of the user's credential files in an agent's private home, for the time of a turn.
//!
//! The supervisor of the agent's program removes them when the program ends, also if Interlock is killed
//! (`Rules::fleeting`). If the supervisor is killed too, the next command that handles runs removes them: a marker file
//! outside of the home names them, and it is locked as long as the turn lasts.

use std::{
    fs::{self, File},
    io::{self, Read as _, Write as _},
    os::unix::fs::OpenOptionsExt as _,
    path::{Path, PathBuf},
};

use interlock_beneath::{Folder, Mode};
use serde::{Deserialize, Serialize};

use crate::session::plain;

/// The directory of the markers, beside the homes of runs. No run has this name.
pub(crate) const FOLDER: &str = ".logins";

/// The longest credential file, and the longest marker.
const BYTES_MAX: u64 = 16 * 1_024 * 1_024;

/// The copies of a turn.
#[derive(Debug)]
pub(crate) struct Logins {
    noted: Noted,
    /// The marker and its path.
    marker: Option<(File, PathBuf)>,
}

/// The content of a marker.
#[derive(Debug, Default, Serialize, Deserialize)]
struct Noted {
    home: PathBuf,
    copies: Vec<PathBuf>,
}

impl Logins {
    /// Copies the user's files into a home. `homes` is the directory with all homes.
    pub(crate) fn bring(homes: &Path, run: &str, name: &str, home: &Path, logins: &[String]) -> Result<Self, String> {
        let noted = Noted { home: home.to_owned(), copies: Vec::new() };
        let mut all = Logins { noted, marker: None };
        if logins.is_empty() {
            return Ok(all);
        }
        let wrong = |error: io::Error| format!("`login`: {}: {error}", homes.join(FOLDER).display());
        let _lock = lock(homes).map_err(wrong)?;
        let from: Vec<(PathBuf, PathBuf)> = logins.iter().map(|login| login_path(login)).collect::<Result<_, _>>()?;
        all.noted.copies = from.iter().map(|(_, inside)| home.join(inside)).collect();
        let path = homes.join(FOLDER).join(format!("{}.{}", plain(run), plain(name)));
        // A turn of the same run that was killed may have left its copies.
        remove_copies(&all.noted);
        all.marker = Some((mark(&path, &all.noted).map_err(wrong)?, path));
        for (login, (from, inside)) in logins.iter().zip(&from) {
            copy(from, home, inside).map_err(|error| format!("`login`: {login} cannot be passed on: {error}"))?;
        }
        Ok(all)
    }

    /// Returns the paths of the copies.
    pub(crate) fn paths(&self) -> &[PathBuf] {
        &self.noted.copies
    }
}

impl Drop for Logins {
    fn drop(&mut self) {
        remove_copies(&self.noted);
        if let Some((_locked, path)) = self.marker.take() {
            // A marker without copies does no harm.
            let _ = Folder::open_through_links(path.parent().unwrap_or(&path))
                .and_then(|it| it.remove_file(Path::new(path.file_name().unwrap_or_default())));
        }
    }
}

/// Removes copies of credential files that a killed process has left, and returns their number. `homes` is the directory
/// with all homes. Copies of turns in progress stay.
pub fn remove_left_logins(homes: &Path) -> io::Result<u64> {
    let is_empty = match Folder::open_through_links(&homes.join(FOLDER)) {
        Err(error) if error.is_not_found() => true,
        folder => folder?.names(Path::new(""))?.is_empty(),
    };
    if is_empty {
        return Ok(0);
    }
    let _lock = lock(homes)?;
    let markers = Folder::open_through_links(&homes.join(FOLDER))?;
    let mut count = 0;
    for name in markers.names(Path::new(""))? {
        let name = Path::new(&name);
        let Ok(marker) = markers.open_file(name) else { continue };
        if marker.try_lock().is_err() {
            continue;
        }
        let mut text = Vec::new();
        (&marker).take(BYTES_MAX).read_to_end(&mut text)?;
        // A marker that was not written completely has no copies yet.
        let noted: Noted = serde_json::from_slice(&text).unwrap_or_default();
        count += remove_copies(&noted);
        markers.remove_file(name)?;
    }
    Ok(count)
}

/// Locks the directory of the markers, until the result is dropped.
#[expect(clippy::disallowed_methods, reason = "no program can change the directory of the markers")]
fn lock(homes: &Path) -> io::Result<File> {
    let folder = homes.join(FOLDER);
    fs::create_dir_all(&folder)?;
    let folder = File::open(folder)?;
    folder.lock()?;
    Ok(folder)
}

/// Writes a marker before its copies exist, and locks it.
#[expect(clippy::disallowed_methods, reason = "no program can change the directory of the markers")]
fn mark(path: &Path, noted: &Noted) -> io::Result<File> {
    let mut file = File::options().create(true).truncate(true).write(true).mode(0o600).open(path)?;
    file.try_lock()?;
    file.write_all(&serde_json::to_vec(noted)?)?;
    file.sync_data()?;
    Ok(file)
}

/// Copies a file into a home. The agent may have put links there. The supervisor makes the copy read-only.
fn copy(from: &Path, home: &Path, inside: &Path) -> io::Result<()> {
    let from = File::open(from)?;
    if !from.metadata()?.is_file() || from.metadata()?.len() > BYTES_MAX {
        return Err(io::Error::other("it is not a small file"));
    }
    let home = Folder::open(home)?;
    home.make_folders(inside.parent().unwrap_or(Path::new("")))?;
    let mut to = home.create_new(inside, Mode::RUSR | Mode::WUSR)?;
    io::copy(&mut from.take(BYTES_MAX), &mut to).map(drop)
}

/// Removes the copies that are left, and returns their number. The agent may have put links in their way.
fn remove_copies(noted: &Noted) -> u64 {
    let Ok(home) = Folder::open(&noted.home) else { return 0 };
    let inside = noted.copies.iter().filter_map(|copy| copy.strip_prefix(&noted.home).ok());
    inside.filter(|copy| home.remove_file(copy).is_ok_and(|removed| removed)).count() as u64
}

/// Returns the path of a credential file, and its path relative to the user's home directory.
pub(crate) fn login_path(login: &str) -> Result<(PathBuf, PathBuf), String> {
    let user = std::env::home_dir().unwrap_or_default();
    let from = login.strip_prefix("~/").map_or_else(|| PathBuf::from(login), |rest| user.join(rest));
    let inside = from.strip_prefix(&user).map(Path::to_owned);
    let inside = inside.map_err(|_| format!("`login`: {login} is not in your home directory"))?;
    Ok((from, inside))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A home with a copy, as a killed process leaves it.
    fn left(homes: &Path) -> PathBuf {
        let home = homes.join("r/goose");
        fs::create_dir_all(home.join(".config")).unwrap();
        let noted = Noted { home: home.clone(), copies: vec![home.join(".config/key")] };
        fs::write(&noted.copies[0], "secret").unwrap();
        fs::create_dir_all(homes.join(FOLDER)).unwrap();
        drop(mark(&homes.join(FOLDER).join("r.goose"), &noted).unwrap());
        home
    }

    #[test]
    fn copies_of_a_killed_process_are_removed() {
        let top = tempfile::tempdir().unwrap();
        let homes = top.path().canonicalize().unwrap();
        assert_eq!(remove_left_logins(&homes).unwrap(), 0);
        let home = left(&homes);
        assert_eq!(remove_left_logins(&homes).unwrap(), 1);
        assert!(!home.join(".config/key").exists() && home.join(".config").exists());
        assert_eq!(remove_left_logins(&homes).unwrap(), 0);
    }

    #[test]
    fn copies_of_a_turn_in_progress_stay() {
        let top = tempfile::tempdir().unwrap();
        let homes = top.path().canonicalize().unwrap();
        let home = left(&homes);
        let path = homes.join(FOLDER).join("r.goose");
        let marker = File::options().read(true).open(&path).unwrap();
        marker.lock().unwrap();
        assert_eq!(remove_left_logins(&homes).unwrap(), 0);
        assert!(home.join(".config/key").exists());
    }

    #[test]
    fn a_link_does_not_lead_a_copy_out_of_the_home() {
        let top = tempfile::tempdir().unwrap();
        let (home, elsewhere, from) = (top.path().join("home"), top.path().join("elsewhere"), top.path().join("key"));
        [&home, &elsewhere].iter().for_each(|folder| fs::create_dir(folder).unwrap());
        fs::write(&from, "secret").unwrap();
        std::os::unix::fs::symlink(&elsewhere, home.join(".config")).unwrap();
        std::os::unix::fs::symlink(elsewhere.join("key"), home.join("key")).unwrap();
        for inside in [".config/key", ".config/tool/key", "key"] {
            assert!(copy(&from, &home, Path::new(inside)).is_err(), "{inside}");
        }
        assert_eq!(fs::read_dir(&elsewhere).unwrap().count(), 0);
        copy(&from, &home, Path::new(".local/key")).unwrap();
        assert_eq!(fs::read_to_string(home.join(".local/key")).unwrap(), "secret");
    }

    #[test]
    fn a_link_does_not_lead_the_removal_out_of_the_home() {
        let top = tempfile::tempdir().unwrap();
        let homes = top.path().canonicalize().unwrap();
        let home = left(&homes);
        let mine = homes.join("mine");
        fs::create_dir(&mine).unwrap();
        fs::write(mine.join("key"), "mine").unwrap();
        fs::remove_dir_all(home.join(".config")).unwrap();
        std::os::unix::fs::symlink(&mine, home.join(".config")).unwrap();
        assert_eq!(remove_left_logins(&homes).unwrap(), 0);
        assert!(mine.join("key").exists());
    }
}
