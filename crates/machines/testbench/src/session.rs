//! A session: the directory with all files of one use of an environment.
//!
//! ```text
//! session.json     the session itself: profile, resource, image
//! image            a copy of the firmware, so that a later build does not change it
//! runs/ID-N/       one start: its logs and `ran.json`
//! controls/ID-N/   one control start, which is compared with others and is not a result
//! logs/ artifacts/ files that were fetched afterwards
//! ```

use interlock_beneath::{Folder, whole};
use std::{
    io,
    path::{Path, PathBuf},
};

use interlock_test_results::file_name;
use serde::{Deserialize, Serialize};

use crate::{Profile, Ran, Start, Stop, walk::FILE_BYTES_MAX};

const FILE: &str = "session.json";

/// One use of an environment.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Session {
    /// The name of the session.
    pub id: String,
    /// The session's directory: its path is short enough for a socket.
    pub folder: PathBuf,
    /// The directory of the sources as they were built, for files that must be read or run there.
    pub sources: PathBuf,
    /// The test profile to run.
    pub profile: Profile,
    /// The acquired resource, if the environment has any.
    pub resource: Option<String>,
    /// The firmware image, once it was copied.
    pub image: Option<PathBuf>,
}

impl Session {
    /// Creates a new session with an empty directory.
    pub fn create(folder: PathBuf, id: &str, sources: &Path, profile: Profile) -> io::Result<Self> {
        let session =
            Session { id: id.to_owned(), folder, sources: sources.to_owned(), profile, resource: None, image: None };
        whole::make_folders(session.folder.join("runs"))?;
        session.save()?;
        Ok(session)
    }

    /// Opens the session of a directory.
    pub fn open(folder: &Path) -> io::Result<Self> {
        let text = whole::read(folder.join(FILE), FILE_BYTES_MAX)?;
        serde_json::from_slice(&text).map_err(io::Error::other)
    }

    /// Saves the session. The file is renamed into place, so it is never incomplete.
    pub fn save(&self) -> io::Result<()> {
        Ok(whole::write(self.folder.join(FILE), serde_json::to_vec_pretty(self)?)?)
    }

    /// Creates and returns the directory of one start.
    pub fn run_folder(&self, start: &Start) -> io::Result<PathBuf> {
        self.folder_of("runs", start)
    }

    /// Creates and returns the directory of one start within another directory of the session, from which no results
    /// are read.
    pub fn folder_of(&self, within: &str, start: &Start) -> io::Result<PathBuf> {
        let name = file_name(&start.id);
        let folder = self.folder.join(within).join(format!("{name}-{}", start.repetition));
        whole::make_folders(&folder)?;
        Ok(folder)
    }

    /// Saves the result of a start.
    pub fn keep(&self, folder: &Path, ran: &Ran) -> io::Result<()> {
        Ok(whole::write(folder.join("ran.json"), serde_json::to_vec_pretty(ran)?)?)
    }

    /// Returns all finished starts with their directories, by name.
    pub fn ran(&self) -> io::Result<Vec<(PathBuf, Ran)>> {
        let runs = self.folder.join("runs");
        let mut all = Vec::new();
        for folder in Folder::open(&runs)?.names(Path::new(""))?.into_iter().map(|name| runs.join(name)) {
            match whole::read(folder.join("ran.json"), FILE_BYTES_MAX) {
                Ok(text) => all.push((folder, serde_json::from_slice(&text).map_err(io::Error::other)?)),
                Err(error) if error.is_absent() => {}
                Err(error) => return Err(error.into()),
            }
        }
        Ok(all)
    }
}

/// The file in a start's directory that marks that the start still printed at its time limit.
const PRINTING: &str = "printing";

/// Returns the time before the time limit within which output counts as still printing.
pub(crate) fn still(timeout: std::time::Duration) -> std::time::Duration {
    (timeout / 4).min(std::time::Duration::from_secs(1))
}

/// Returns the end of a start whose time is up, for an environment that knows how long it was `silent`. A firmware that
/// prints for ever ends so as the task wants, unless it has stopped printing long before.
pub(crate) fn time_is_up(start: &Start, silent: std::time::Duration) -> Stop {
    let has_limit = start.limit.is_some_and(|limit| limit.seconds.is_some());
    match has_limit && silent >= start.timeout / 2 {
        true => Stop::Hung { place: format!("it printed nothing in its last {:.1} s", silent.as_secs_f64()) },
        false if has_limit => Stop::Limited,
        false => Stop::TimedOut,
    }
}

/// Records that a start still printed at its time limit.
pub(crate) fn note_printing(folder: &Path) -> io::Result<()> {
    Ok(whole::write(folder.join(PRINTING), "")?)
}

/// Reports whether a start still printed at its time limit: it needed more time, or it prints forever.
pub fn was_printing(folder: &Path) -> bool {
    folder.join(PRINTING).exists()
}
