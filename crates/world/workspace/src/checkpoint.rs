//! Checkpoints: snapshots with names that machines and users assign.

use std::{collections::BTreeMap, path::Path};

use serde::Serialize;

use crate::{
    Error, Result, Workspace, legacy,
    private::Private,
    workspace::{keep, prefix_of},
};

/// Maximum length of a checkpoint name.
const NAME_BYTES_MAX: usize = 100;

/// Maximum number of checkpoints of a run with the same prefix.
const NUMBERS_MAX: u32 = 100_000;

/// A snapshot with an assigned name.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Checkpoint {
    /// The name of the checkpoint, unique within the run.
    pub name: String,
    /// The hash of its tree.
    pub tree: String,
    /// The git reference that keeps it.
    pub reference: String,
}

/// A snapshot of a run, numbered or named.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Snapshot {
    /// Its number, or the name of the checkpoint.
    pub name: String,
    /// The hash of its tree.
    pub tree: String,
    /// The git reference that keeps it.
    pub reference: String,
}

impl Workspace {
    /// Returns all snapshots of a run: first by number, then the checkpoints by name.
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

    /// Returns the references with a prefix and their trees, including those of earlier versions of Interlock.
    fn references(&self, folder: &Path, prefix: &str) -> Result<BTreeMap<String, String>> {
        let mut all = BTreeMap::new();
        let found = self.read_private(folder)?;
        for private in Private::known(self.home()?, folder)?.into_iter().chain([found]) {
            let known = private.git().line(&["for-each-ref", "--format=%(refname) %(objectname)", prefix])?;
            let own = known.lines().filter_map(|line| line.split_once(' '));
            let own = own.map(|(reference, tree)| (reference.to_owned(), tree.to_owned()));
            all.extend(legacy::names(&private, prefix).into_iter().chain(own));
        }
        Ok(all)
    }

    /// Stores the current workspace under a name. A checkpoint with the same name is replaced.
    pub fn checkpoint(&self, folder: &Path, run: &str, name: &str) -> Result<Checkpoint> {
        let reference = reference(run, name)?;
        let private = self.open_private(folder)?;
        let tree = keep(&private)?;
        private.git().run(&["update-ref", &reference, &tree])?;
        Ok(Checkpoint { name: name.to_owned(), tree, reference })
    }

    /// Stores a checkpoint under the next name `PREFIX-NUMBER` after the highest existing number.
    pub fn next_checkpoint(&self, folder: &Path, run: &str, prefix: &str) -> Result<Checkpoint> {
        let known = self.checkpoints(folder, run)?;
        let numbers = known.iter().filter_map(|known| known.name.strip_prefix(prefix)?.strip_prefix('-')?.parse().ok());
        let number: u32 = numbers.max().unwrap_or(0) + 1;
        match number <= NUMBERS_MAX {
            true => self.checkpoint(folder, run, &format!("{prefix}-{number}")),
            false => Err(Error::NoSnapshot(format!("{prefix}-{number}"))),
        }
    }

    /// Stores a checkpoint under a name, or under `NAME-2`, `NAME-3`, … if the run has one of that name.
    pub fn unused_checkpoint(&self, folder: &Path, run: &str, name: &str) -> Result<Checkpoint> {
        let known = self.checkpoints(folder, run)?;
        let names = (2..NUMBERS_MAX).map(|number| format!("{name}-{number}"));
        let mut unused = std::iter::once(name.to_owned()).chain(names);
        let unused = unused.find(|name| known.iter().all(|known| known.name != *name));
        self.checkpoint(folder, run, &unused.ok_or_else(|| Error::NoSnapshot(name.to_owned()))?)
    }

    /// Returns the checkpoints of a run, sorted by name.
    pub fn checkpoints(&self, folder: &Path, run: &str) -> Result<Vec<Checkpoint>> {
        let prefix = named(run);
        let all = self.references(folder, &prefix)?;
        let checkpoint = |(reference, tree): (String, String)| {
            let name = reference.strip_prefix(&prefix)?.to_owned();
            Some(Checkpoint { name, tree, reference })
        };
        Ok(all.into_iter().filter_map(checkpoint).collect())
    }

    /// Returns the checkpoint of a run with this name.
    pub fn find_checkpoint(&self, folder: &Path, run: &str, name: &str) -> Result<Checkpoint> {
        let known = self.checkpoints(folder, run)?;
        let found = known.into_iter().find(|known| known.name == name);
        let found = found.ok_or_else(|| Error::NoSnapshot(name.to_owned()))?;
        // A checkpoint of an earlier version of Interlock is imported.
        let tree = self.tree_named(folder, &found.reference)?;
        Ok(Checkpoint { tree, ..found })
    }
}

fn named(run: &str) -> String {
    format!("{}named/", prefix_of(run))
}

/// Returns the reference of a checkpoint, or an error if the name is invalid.
pub(crate) fn reference(run: &str, name: &str) -> Result<String> {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_';
    if name.is_empty() || name.len() > NAME_BYTES_MAX || !name.bytes().all(is_plain) {
        let doing = "could not store a checkpoint".to_owned();
        return Err(Error::Io {
            doing,
            why: format!("`{name}` is not a valid name: use letters, digits, `-` and `_`"),
        });
    }
    Ok(format!("{}{name}", named(run)))
}
