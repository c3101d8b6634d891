//! The parts of the state of a repository that the end of an attempt has put back, for the attempts that overlap with it.
//!
//! An attempt that begins while another program works records what that program has planted, or not what it has removed.
//! When that program's attempt ends, the state is put back, and this says so to the other one: it then restores the same.

#![expect(
    clippy::disallowed_methods,
    reason = "the private directory of a workspace is in the store, which no program can change"
)]

use std::{
    fs, io,
    path::Path,
    time::{SystemTime, UNIX_EPOCH},
};

use serde::{Deserialize, Serialize};

use super::{
    copies,
    state::{Part, State},
};

/// The directory of these files within the one of the recorded states. A file is named like its part and replaced by the
/// next one.
const FOLDER: &str = "returned";

/// A part that was put back.
#[derive(Debug, Serialize, Deserialize)]
struct Returned {
    name: String,
    /// `None` if the part was removed, because it had not been there.
    part: Option<Part>,
    at_ms: u64,
}

/// The present time, as it is recorded with the state.
pub(super) fn now_ms() -> u64 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(now.as_millis()).unwrap_or(u64::MAX)
}

/// Records that a part was put back to what it was in `before`.
pub(super) fn note(folder: &Path, name: &str, before: &State) -> io::Result<()> {
    let returned = Returned { name: name.to_owned(), part: before.get(name).cloned(), at_ms: now_ms() };
    fs::create_dir_all(folder.join(FOLDER))?;
    copies::put(&folder.join(FOLDER).join(name.replace('/', "%")), &serde_json::to_vec(&returned)?)
}

/// Returns a state that was recorded at a time, with the parts that have been put back since.
pub(super) fn corrected(folder: &Path, recorded: &State, since_ms: u64) -> State {
    let mut state = recorded.clone();
    let files = fs::read_dir(folder.join(FOLDER)).into_iter().flatten().flatten();
    let all = files.filter_map(|file| serde_json::from_slice::<Returned>(&fs::read(file.path()).ok()?).ok());
    for Returned { name, part, .. } in all.filter(|returned| returned.at_ms >= since_ms) {
        match part {
            Some(part) => drop(state.insert(name, part)),
            None => drop(state.remove(&name)),
        }
    }
    state
}
