//! The logs of references: copied before an attempt, and put back if a program has removed entries.
//!
//! The stash is a list in the log of one reference, so each of its entries counts. Of other logs the last entry does:
//! `git gc` removes old ones.

use std::{
    collections::{BTreeMap, BTreeSet},
    io,
    path::Path,
};

use interlock_beneath::{FileType, Folder};

use super::{copies::Copies, references::STASH};

/// Maximum number of logs, and maximum size of one.
const LOGS_MAX: usize = 20_000;
const LOG_BYTES_MAX: u64 = 1 << 20;

/// The folder with the logs in a git directory.
const LOGS: &str = "logs";

/// The names of the copies of the logs, by the path of the log in the git directory.
pub(super) type Logs = BTreeMap<String, String>;

/// Copies the logs of a git directory.
pub(super) fn copy(git: &Folder, copies: &Copies<'_>) -> Logs {
    let all = git.list(Path::new(LOGS), LOGS_MAX, |_| true).unwrap_or_default();
    let small = all.iter().filter(|log| {
        log.kind == FileType::RegularFile && u64::try_from(log.about.st_size).is_ok_and(|size| size <= LOG_BYTES_MAX)
    });
    let named = small.filter_map(|log| {
        let name = log.path.to_str()?;
        Some((name.to_owned(), copies.of_file(git, name, &log.about, LOG_BYTES_MAX).ok()?))
    });
    named.collect()
}

/// A log that has lost entries.
pub(super) struct Lost {
    /// The path of the log.
    pub(super) path: String,
    /// The whole log: the earlier entries and the added ones.
    pub(super) lines: Vec<String>,
    /// The entries that were removed.
    pub(super) removed: Vec<String>,
}

/// Returns the logs that have lost entries since they were copied.
pub(super) fn lost(git: &Folder, logs: &Logs, copies: &Copies<'_>) -> Vec<Lost> {
    let lost = logs.iter().filter_map(|(path, copy)| {
        if git.stat(Path::new(path)).is_ok_and(|about| super::copies::name(&about) == *copy) {
            return None;
        }
        let now = git.read_text(Path::new(path), 2 * LOG_BYTES_MAX).ok().flatten().unwrap_or_default();
        let before = String::from_utf8(copies.read(copy)?).ok()?;
        let there: BTreeSet<&str> = now.lines().map(entry).collect();
        let is_stash = path.strip_prefix("logs/") == Some(STASH);
        let mut counted = before.lines().rev().take(if is_stash { usize::MAX } else { 1 });
        if counted.all(|line| there.contains(entry(line))) {
            return None;
        }
        let known: BTreeSet<&str> = before.lines().map(entry).collect();
        let removed = before.lines().filter(|line| !there.contains(entry(line))).map(str::to_owned).collect();
        let added = now.lines().filter(|line| !known.contains(entry(line)));
        let lines = before.lines().chain(added).map(str::to_owned).collect();
        Some(Lost { path: path.clone(), lines: chained(lines), removed })
    });
    lost.collect()
}

impl Lost {
    /// Returns the value that the reference has by its last entry.
    pub(super) fn value(&self) -> Option<&str> {
        self.lines.last()?.split(' ').nth(1)
    }

    /// Writes the whole log.
    pub(super) fn write(&self, git: &Folder) -> io::Result<()> {
        super::write(git, &self.path, (self.lines.join("\n") + "\n").as_bytes())
    }
}

/// Returns an entry without the value before it, which `git stash drop` changes in the next entry.
fn entry(line: &str) -> &str {
    line.split_once(' ').map_or(line, |(_, entry)| entry)
}

/// Lets each entry begin with the value of the entry before it.
fn chained(lines: Vec<String>) -> Vec<String> {
    let mut last: Option<String> = None;
    let chain = lines.into_iter().map(|line| {
        let chained = match &last {
            Some(last) => format!("{last} {}", entry(&line)),
            None => line.clone(),
        };
        last = line.split(' ').nth(1).map(str::to_owned);
        chained
    });
    chain.collect()
}
