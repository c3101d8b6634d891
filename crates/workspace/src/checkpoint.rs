//! Snapshots with names that machines and people give them.

use std::{collections::BTreeMap, path::Path};

use serde::Serialize;

use crate::{
    Error, Result, Workspace, legacy,
    private::Private,
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

/// A snapshot of a run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Snapshot {
    /// Its number, or the name of a checkpoint.
    pub name: String,
    /// Its tree.
    pub tree: String,
    /// The reference that keeps it.
    pub reference: String,
}

impl Workspace {
    /// All snapshots of a run: by number, then the checkpoints by name.
    pub fn snapshots(&self, folder: &Path, run: &str) -> Result<Vec<Snapshot>> {
        let (prefix, named) = (prefix_of(run), named(run));
        let mut all: Vec<Snapshot> = self
            .references(folder, &prefix)?
            .into_iter()
            .filter_map(|(reference, tree)| {
                let name = reference.strip_prefix(&named).or_else(|| reference.strip_prefix(&prefix))?.to_owned();
                Some(Snapshot { name, tree, reference })
            })
            .collect();
        all.sort_by_key(|snapshot| (snapshot.name.parse::<u64>().unwrap_or(u64::MAX), snapshot.name.clone()));
        Ok(all)
    }

    /// The references with a prefix, and the trees that they keep; those of earlier versions, too.
    fn references(&self, folder: &Path, prefix: &str) -> Result<BTreeMap<String, String>> {
        let mut all = BTreeMap::new();
        let found = self.open_private(folder)?;
        for private in Private::known(self.home()?, folder)?.into_iter().chain([found]) {
            let known = private.git().line(&["for-each-ref", "--format=%(refname) %(objectname)", prefix])?;
            let own = known.lines().filter_map(|line| line.split_once(' '));
            let own = own.map(|(reference, tree)| (reference.to_owned(), tree.to_owned()));
            all.extend(legacy::names(&private, prefix).into_iter().chain(own));
        }
        Ok(all)
    }

    /// Keeps the workspace as it is under a name; one of the same name is replaced.
    pub fn checkpoint(&self, folder: &Path, run: &str, name: &str) -> Result<Checkpoint> {
        let reference = reference(run, name)?;
        let private = self.open_private(folder)?;
        let tree = keep(&private)?;
        private.git().run(&["update-ref", &reference, &tree])?;
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
        let prefix = named(run);
        let all = self.references(folder, &prefix)?;
        let checkpoint = |(reference, tree): (String, String)| {
            let name = reference.strip_prefix(&prefix)?.to_owned();
            Some(Checkpoint { name, tree, reference })
        };
        Ok(all.into_iter().filter_map(checkpoint).collect())
    }

    /// A checkpoint of a run by its name.
    pub fn find_checkpoint(&self, folder: &Path, run: &str, name: &str) -> Result<Checkpoint> {
        let known = self.checkpoints(folder, run)?;
        let found = known.into_iter().find(|known| known.name == name);
        let found = found.ok_or_else(|| Error::NoSnapshot(name.to_owned()))?;
        // One of an earlier version is brought over.
        let tree = self.tree_named(folder, &found.reference)?;
        Ok(Checkpoint { tree, ..found })
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
