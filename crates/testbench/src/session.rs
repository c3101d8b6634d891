//! A session: a folder that everything about one use of an environment is in.
//!
//! ```text
//! session.json     what it is: profile, resource, image
//! image            the firmware to run, copied, so that a later build does not change it
//! runs/ID-N/       one start: its logs and `ran.json`
//! controls/ID-N/   one start that is only compared with others, and is no result
//! logs/ artifacts/ what was fetched afterwards
//! ```

use std::{
    fs, io,
    path::{Path, PathBuf},
};

use serde::{Deserialize, Serialize};

use crate::{Profile, Ran, Start};

const FILE: &str = "session.json";

/// One use of an environment.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Session {
    /// Its name.
    pub id: String,
    /// Its folder: short enough for a socket's path.
    pub folder: PathBuf,
    /// The folder of the sources as they were built, for what has to be read or run there.
    pub sources: PathBuf,
    /// What is to be run.
    pub profile: Profile,
    /// The thing that was taken hold of, where the environment has any.
    pub resource: Option<String>,
    /// The firmware, once it is there.
    pub image: Option<PathBuf>,
}

impl Session {
    /// A new one, empty but for what it is.
    pub fn create(folder: PathBuf, id: &str, sources: &Path, profile: Profile) -> io::Result<Self> {
        let session =
            Session { id: id.to_owned(), folder, sources: sources.to_owned(), profile, resource: None, image: None };
        fs::create_dir_all(session.folder.join("runs"))?;
        session.save()?;
        Ok(session)
    }

    /// The one of a folder.
    pub fn open(folder: &Path) -> io::Result<Self> {
        let text = fs::read(folder.join(FILE))?;
        serde_json::from_slice(&text).map_err(io::Error::other)
    }

    /// Remembers what it is. Never half: it is renamed into place.
    pub fn save(&self) -> io::Result<()> {
        write_whole(&self.folder.join(FILE), &serde_json::to_vec_pretty(self)?)
    }

    /// The folder of one start, made.
    pub fn run_folder(&self, start: &Start) -> io::Result<PathBuf> {
        self.folder_of("runs", start)
    }

    /// The folder of one start within another folder of the session than the one that results are read from, made.
    pub fn folder_of(&self, within: &str, start: &Start) -> io::Result<PathBuf> {
        let name = file_name(&start.id);
        let folder = self.folder.join(within).join(format!("{name}-{}", start.repetition));
        fs::create_dir_all(&folder)?;
        Ok(folder)
    }

    /// Remembers how a start went.
    pub fn keep(&self, folder: &Path, ran: &Ran) -> io::Result<()> {
        write_whole(&folder.join("ran.json"), &serde_json::to_vec_pretty(ran)?)
    }

    /// All starts that came to an end, with their folders, by name.
    pub fn ran(&self) -> io::Result<Vec<(PathBuf, Ran)>> {
        let mut folders: Vec<PathBuf> =
            fs::read_dir(self.folder.join("runs"))?.filter_map(|entry| Some(entry.ok()?.path())).collect();
        folders.sort();
        let mut all = Vec::new();
        for folder in folders {
            match fs::read(folder.join("ran.json")) {
                Ok(text) => all.push((folder, serde_json::from_slice(&text).map_err(io::Error::other)?)),
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                Err(error) => return Err(error),
            }
        }
        Ok(all)
    }
}

/// The file in the folder of a start that still printed when its time was up.
const PRINTING: &str = "printing";

/// How long before the end of its time a start must have printed to count as still printing.
pub(crate) fn still(timeout: std::time::Duration) -> std::time::Duration {
    (timeout / 4).min(std::time::Duration::from_secs(1))
}

/// Notes that a start still printed when its time was up.
pub(crate) fn note_printing(folder: &Path) -> io::Result<()> {
    fs::write(folder.join(PRINTING), "")
}

/// Whether a start still printed when its time was up: it needed longer, or it prints for ever.
pub fn was_printing(folder: &Path) -> bool {
    folder.join(PRINTING).exists()
}

fn write_whole(path: &Path, content: &[u8]) -> io::Result<()> {
    let temporary = path.with_extension("new");
    fs::write(&temporary, content)?;
    fs::rename(temporary, path)
}

/// The longest name that is taken as it is.
const NAME_BYTES_MAX: usize = 80;

/// A name for a file that no other id has: where letters have to be replaced or left out, a number says which id it was.
pub(crate) fn file_name(id: &str) -> String {
    let is_plain = |letter: char| letter.is_ascii_alphanumeric() || letter == '_' || letter == '-';
    if !id.is_empty() && id.len() <= NAME_BYTES_MAX && id.chars().all(is_plain) {
        return id.to_owned();
    }
    let plain: String =
        id.chars().take(NAME_BYTES_MAX).map(|letter| if is_plain(letter) { letter } else { '_' }).collect();
    // FNV-1a: the same in every version and on every computer.
    let hash = id
        .bytes()
        .fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3));
    format!("{plain}-{:08x}", hash >> 32)
}

#[cfg(test)]
mod tests {
    use super::file_name;

    #[test]
    fn different_ids_have_different_names_that_are_no_paths() {
        let long = "x".repeat(500);
        let ids = ["all", "a-b", "a_b", "a/b", "a.b", "a b", "..", "", "ä", "ö", &long, &format!("{long}y")];
        let mut names: Vec<String> = ids.iter().map(|id| file_name(id)).collect();
        assert_eq!(names[0], "all");
        for name in &names {
            assert!(name.len() < 120 && !name.contains(['/', '.']) && !name.is_empty(), "{name}");
        }
        names.sort();
        names.dedup();
        assert_eq!(names.len(), ids.len(), "{names:?}");
    }
}
