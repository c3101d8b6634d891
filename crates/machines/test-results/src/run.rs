//! One start of the firmware or its tests, and its end: the facts that a measurement needs beside the printed text.

use std::{collections::BTreeMap, path::PathBuf, time::Duration};

use serde::{Deserialize, Serialize};

/// The longest id that is used as a file name without a change.
const NAME_BYTES_MAX: usize = 80;

/// One start of the firmware or its tests.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Start {
    /// The suite or the case that is started, or `all`. The id and `repetition` name the directory of the start.
    pub id: String,
    /// The number of the repetition, from 1.
    pub repetition: u32,
    /// The arguments of the started program.
    pub args: Vec<String>,
    /// The command that runs it, if the environment runs commands.
    pub command: String,
    /// The environment variables of the started program.
    pub environment_vars: BTreeMap<String, String>,
    /// The maximum duration of the start.
    pub timeout: Duration,
    /// True if the executed lines are to be recorded, provided the environment can do that.
    pub coverage: bool,
    /// The point at which a program that never ends is stopped and judged, if the task sets one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit: Option<Limit>,
}

/// The point at which a program that prints for ever is stopped and judged by what it has printed: whichever comes
/// first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Limit {
    /// The time since the start.
    pub seconds: Option<f64>,
    /// The number of lines on the console.
    pub lines: Option<u32>,
}

/// The result of one start. It is stored as `ran.json` in the directory of the start.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Ran {
    /// The start that this is the result of.
    pub start: Start,
    /// The way in which it ended.
    pub stop: Stop,
    /// The duration of the start, in milliseconds.
    pub duration_ms: u64,
    /// The files with the printed text, within the directory of the start. The file from which results are read comes
    /// first.
    pub logs: Vec<PathBuf>,
    /// The files into which tests wrote their results, within the directory of the start.
    pub reports: Vec<PathBuf>,
    /// All other files, within the directory of the start.
    pub artifacts: Vec<PathBuf>,
    /// The faults that were detected, with their place in the source if it is known.
    pub faults: Vec<Fault>,
    /// The executed lines, by file as the debug information names it; empty if they were not recorded.
    pub coverage: BTreeMap<String, Vec<u32>>,
}

/// The way in which a start ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "how")]
pub enum Stop {
    /// The program ended by itself.
    Exited {
        /// The exit code of the program.
        code: i64,
    },
    /// It was still printing when its time was up.
    TimedOut,
    /// It was stopped at the limit that the task sets for a program that never ends.
    Limited,
    /// It made no progress any more.
    Hung {
        /// The place in the program, as far as it is known.
        place: String,
    },
    /// It restarted again and again.
    BootLoop {
        /// The number of starts that were observed.
        boots: u32,
    },
    /// The emulator or the connection ended in the middle.
    Lost {
        /// The symptom that was observed.
        why: String,
    },
}

impl Stop {
    /// Returns the exit code; -1 if the start did not end as it should. A start that reached its limit did.
    pub fn code(&self) -> i64 {
        match self {
            Stop::Exited { code } => *code,
            Stop::Limited => 0,
            Stop::TimedOut | Stop::Hung { .. } | Stop::BootLoop { .. } | Stop::Lost { .. } => -1,
        }
    }
}

/// A fault that the firmware, the emulator or a sanitiser reported.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Fault {
    /// The printed line that reports the fault.
    pub banner: String,
    /// The call stack as `file:line`, innermost first.
    pub stack: Vec<String>,
    /// Registers and similar values, by name.
    pub registers: BTreeMap<String, String>,
}

/// Returns a file name that is unique for the id: if characters of the id are replaced or left out, a hash of the id is
/// appended.
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
