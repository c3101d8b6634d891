//! One start of the firmware or its tests, and how it ended: the facts that a measurement needs beside the printed text.

use std::{collections::BTreeMap, path::PathBuf, time::Duration};

use serde::{Deserialize, Serialize};

/// The longest name that is taken as it is.
const NAME_BYTES_MAX: usize = 80;

/// One start of the firmware or its tests.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Start {
    /// What is started: a suite, a case, or `all`. Together with `repetition` the name of its folder.
    pub id: String,
    /// The how-manieth time, from 1.
    pub repetition: u32,
    /// What it is told.
    pub args: Vec<String>,
    /// What it is run by, where the environment runs commands.
    pub command: String,
    /// Variables it sees.
    pub environment_vars: BTreeMap<String, String>,
    /// How long it may take.
    pub timeout: Duration,
    /// Whether to find out which lines are executed, where that can be found out.
    pub coverage: bool,
}

/// How one start went. Kept as `ran.json` in its folder.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Ran {
    /// What was started.
    pub start: Start,
    /// How it ended.
    pub stop: Stop,
    /// How long it took.
    pub duration_ms: u64,
    /// The files with what was printed, within the start's folder; what results are read from comes first.
    pub logs: Vec<PathBuf>,
    /// Files that tests wrote their results into, within the start's folder.
    pub reports: Vec<PathBuf>,
    /// What else there is, within the start's folder.
    pub artifacts: Vec<PathBuf>,
    /// Faults that were seen, with the place in the source where it could be told.
    pub faults: Vec<Fault>,
    /// Lines that were executed, by file as the debug information names it; empty where nobody looked.
    pub coverage: BTreeMap<String, Vec<u32>>,
}

/// How one start ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "how")]
pub enum Stop {
    /// By itself.
    Exited {
        /// Its exit code.
        code: i64,
    },
    /// It was still printing when its time was up.
    TimedOut,
    /// It had stopped doing anything.
    Hung {
        /// Where, as far as it could be told.
        place: String,
    },
    /// It started over and over.
    BootLoop {
        /// How often it was seen to start.
        boots: u32,
    },
    /// The emulator or the connection ended in the middle.
    Lost {
        /// What was seen.
        why: String,
    },
}

/// A fault that the firmware, the emulator or a sanitiser reported.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Fault {
    /// The line that says so.
    pub banner: String,
    /// Where, as `file:line`, innermost first.
    pub stack: Vec<String>,
    /// Registers and the like, by name.
    pub registers: BTreeMap<String, String>,
}

/// A name for a file that no other id has: where letters have to be replaced or left out, a number says which id it was.
pub fn file_name(id: &str) -> String {
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
