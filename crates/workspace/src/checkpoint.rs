//! Snapshots with names that machines and people give them.

use std::path::Path;

use serde::Serialize;

use crate::{
    Error, Result, Workspace,
    workspace::{keep, prefix_of},
};

/// Longest name of a checkpoint.
const NAME_BYTES_MAX: usize = 100;

/// Checkpoints with one prefix that a run can have.
const NUMBERS_MAX: u32 = 100_000;

/// A snapshot with a name.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Checkpoint {
    /// What it is called.
    pub name: String,
    /// Its tree.
    pub tree: String,
    /// The reference that keeps it.
    pub reference: String,
}

impl Workspace {
    /// Keeps the workspace as it is under a name; one of the same name is replaced.
    pub fn checkpoint(&self, folder: &Path, run: &str, name: &str) -> Result<Checkpoint> {
        let reference = reference(run, name)?;
        let private = self.open_private(folder)?;
        let tree = keep(&private)?;
        private.names().run(&["update-ref", &reference, &tree])?;
        Ok(Checkpoint { name: name.to_owned(), tree, reference })
    }

    /// The same under the first name `PREFIX-NUMBER` that is free.
    pub fn next_checkpoint(&self, folder: &Path, run: &str, prefix: &str) -> Result<Checkpoint> {
        let known = self.checkpoints(folder, run)?;
        let numbers = known.iter().filter_map(|known| known.name.strip_prefix(prefix)?.strip_prefix('-')?.parse().ok());
        let number: u32 = numbers.max().unwrap_or(0) + 1;
        match number <= NUMBERS_MAX {
            true => self.checkpoint(folder, run, &format!("{prefix}-{number}")),
            false => Err(Error::NoSnapshot(format!("{prefix}-{number}"))),
        }
    }

    /// The checkpoints of a run, by name.
    pub fn checkpoints(&self, folder: &Path, run: &str) -> Result<Vec<Checkpoint>> {
        let private = self.open_private(folder)?;
        let prefix = named(run);
        // One that was taken by an earlier version is a commit.
        let tree = "%(if)%(tree)%(then)%(tree)%(else)%(objectname)%(end)";
        let known = private.names().line(&["for-each-ref", &format!("--format=%(refname) {tree}"), &prefix])?;
        let checkpoint = |line: &str| {
            let (reference, tree) = line.split_once(' ')?;
            let name = reference.strip_prefix(&prefix)?.to_owned();
            Some(Checkpoint { name, tree: tree.to_owned(), reference: reference.to_owned() })
        };
        Ok(known.lines().filter_map(checkpoint).collect())
    }

    /// A checkpoint of a run by its name.
    pub fn find_checkpoint(&self, folder: &Path, run: &str, name: &str) -> Result<Checkpoint> {
        let known = self.checkpoints(folder, run)?;
        known.into_iter().find(|known| known.name == name).ok_or_else(|| Error::NoSnapshot(name.to_owned()))
    }
}

fn named(run: &str) -> String {
    format!("{}named/", prefix_of(run))
}

/// The reference of a checkpoint with a name, where that is one.
pub(crate) fn reference(run: &str, name: &str) -> Result<String> {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_';
    if name.is_empty() || name.len() > NAME_BYTES_MAX || !name.bytes().all(is_plain) {
        let doing = "could not keep a checkpoint".to_owned();
        return Err(Error::Io { doing, why: format!("`{name}` is no name: letters, digits, `-` and `_` are") });
    }
    Ok(format!("{}{name}", named(run)))
}
