//! Changes that tests cannot confirm: a person must read such a patch before it is delivered, whatever the test results
//! are.
//!
//! Tests run on an emulator or on one board, so a wait for hardware can be inverted or deleted and every case still
//! passes. A patch can also repeat the data of the failing test, which makes only that test pass. Both are found from
//! the text alone; nothing is run. The rules prefer a false alarm, which costs one question, to a delivered patch that
//! hangs a device.

mod hardware;
mod literals;
mod waits;

use std::collections::BTreeMap;

use crate::localise::is_test;
use crate::source::{Source, parser};
use hardware::Hardware;

/// The maximum number of doubts that are reported. Further ones add no information.
const DOUBTS_MAX: usize = 12;

/// The maximum number of files from which hardware names are read.
const FILES_MAX: usize = 2_000;

/// The reason why a person must read a change.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum DoubtKind {
    /// A wait for hardware or for volatile data changed: its condition, its bound, its body, or the data it reads.
    WaitChanged,
    /// A wait loop was removed.
    WaitRemoved,
    /// A wait loop now waits for the opposite.
    WaitInverted,
    /// A constant of the failing test is new in the code.
    TestConstant,
}

/// One reason why a person must read a change.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Doubt {
    /// The kind of change.
    pub kind: DoubtKind,
    /// The path of the changed file.
    pub path: String,
    /// The line: in the text before the patch for a wait, in the text after it for a constant. The first line is 1.
    pub line: usize,
    /// The reason in words, without the position.
    pub why: String,
}

impl std::fmt::Display for Doubt {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(out, "{}:{}: {}", self.path, self.line, self.why)
    }
}

/// A file before and after a patch. A file that is new or deleted is empty on one side.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Change {
    /// The path of the file.
    pub path: String,
    /// The text before the patch.
    pub before: String,
    /// The text after the patch.
    pub after: String,
}

/// The texts and inputs of the failing cases.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FailingTests {
    /// The sources of the failing cases and the files that they read, by path.
    pub sources: BTreeMap<String, String>,
    /// The inputs of the cases: arguments, commands, lines of a dialogue.
    pub inputs: Vec<String>,
}

/// Returns every reason why a person must read a patch; empty if there is none.
///
/// `code` has all sources before the patch, because registers and volatile fields are declared in headers.
pub fn doubts(changes: &[Change], code: &BTreeMap<String, String>, tests: &FailingTests) -> Vec<Doubt> {
    let own: Vec<&Change> = changes.iter().filter(|change| !is_test(&change.path)).collect();
    let mut found = Vec::new();
    if own.iter().any(|change| is_c(&change.path)) {
        found.extend(in_waits(&own, code));
    }
    found.extend(literals::repeated(&own, tests));
    found.sort();
    found.dedup();
    found.truncate(DOUBTS_MAX);
    found
}

fn in_waits(changes: &[&Change], code: &BTreeMap<String, String>) -> Vec<Doubt> {
    let Some(mut parser) = parser() else { return Vec::new() };
    let mut read = |path: &str, text: &str| Source::read(&mut parser, path, text);
    let files = code.iter().filter(|(path, _)| is_c(path) && !is_test(path)).take(FILES_MAX);
    let mut sources: Vec<Source> = files.filter_map(|(path, text)| read(path, text)).collect();
    let mut pairs = Vec::new();
    for change in changes.iter().filter(|change| is_c(&change.path)) {
        let (Some(before), Some(after)) = (read(&change.path, &change.before), read(&change.path, &change.after))
        else {
            continue;
        };
        sources.extend(read(&change.path, &change.before));
        pairs.push((before, after));
    }
    let hardware = Hardware::read(&sources);
    let mut found: Vec<Doubt> =
        pairs.iter().flat_map(|(before, after)| waits::changed(&hardware, before, after)).collect();
    found.extend(waits::redefined(&hardware, &sources, &pairs));
    found
}

/// Returns true if a file is C or C++, for which the grammar recognises loops well enough.
fn is_c(path: &str) -> bool {
    let end = path.rsplit('.').next().unwrap_or_default();
    matches!(end, "c" | "h" | "cc" | "cpp" | "cxx" | "hh" | "hpp" | "ino" | "inc")
}
