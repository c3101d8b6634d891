//! The commits that a run may build on: where a branch was when the run began, and its own commits there.
//!
//! A program that works in the checkout can make or move the branch of a run. What such a commit holds is in the parent of
//! the next commit and in that commit itself, so no comparison of the two shows it. Therefore a change is compared with a
//! commit of this list. The list is kept in the store, which no program can change.

#![expect(
    clippy::disallowed_methods,
    reason = "the private directory of a workspace is in the store, which no program can change"
)]

use std::{
    fs::{self, File},
    io::Write,
    path::{Path, PathBuf},
};

use crate::{Error, Moved, Result, Workspace, private::Private, repository, workspace::name_part};

/// The directory within a private directory with one file per run: lines with a reference and a commit.
pub(crate) const FOLDER: &str = "made";

/// The first word of a line that names the run whose records a run continues.
const AFTER: &str = "after";

/// In place of a reference: the commit counts for all of them.
const ANY: &str = "*";

/// The most runs of which each continues the one before.
const RUNS_MAX: usize = 1_000;

impl Workspace {
    /// Lets a run that shares the records of another one build on the same commits as that one. To be called before its
    /// first snapshot.
    pub fn continue_run(&self, folder: &Path, from: &str, run: &str) -> Result<()> {
        append(&self.open_private(folder)?, run, &format!("{AFTER} {from}"))
    }

    /// Lets a run build on the commit that is checked out: a person has spoken, and no program of the run has worked since.
    pub fn build_on_head(&self, folder: &Path, run: &str) -> Result<()> {
        match self.checked_out(folder)? {
            Some((_, commit)) => append(&self.open_private(folder)?, run, &format!("{ANY} {commit}")),
            None => Ok(()),
        }
    }
}

/// Records that a run is about to move a reference to a commit of its own.
pub(crate) fn record(private: &Private, run: &str, reference: &str, commit: &str) -> Result<()> {
    append(private, run, &format!("{reference} {commit}"))
}

/// Returns the difference between the commit that a run would build on and the last one that it may build on; `None` if it
/// may, or if nothing is known about the begin of the run.
pub(crate) fn foreign(private: &Private, run: &str, reference: &str, parent: Option<&str>) -> Option<Moved> {
    let mut known = known(private, run, reference)?;
    let is_known = match parent {
        Some(parent) => known.iter().any(|commit| commit == parent),
        None => known.is_empty(),
    };
    let after = parent.map_or_else(|| "0".repeat(known.last().map_or(40, String::len)), str::to_owned);
    (!is_known).then(|| Moved { reference: reference.to_owned(), before: known.pop(), after })
}

/// Returns the commits that a run may build on, the newest one last.
fn known(private: &Private, run: &str, reference: &str) -> Option<Vec<String>> {
    let (mut made, mut first, mut run) = (Vec::new(), None, run.to_owned());
    for _ in 0..RUNS_MAX {
        first = repository::first(private, &run).or(first);
        let text = fs::read_to_string(file(private, &run)).unwrap_or_default();
        let lines = || text.lines().filter_map(|line| line.split_once(' '));
        let own = lines().filter(|(name, _)| [reference, ANY].contains(name)).map(|(_, commit)| commit.to_owned());
        made = own.chain(made).collect();
        match lines().find(|(name, _)| *name == AFTER) {
            Some((_, before)) => before.clone_into(&mut run),
            None => break,
        }
    }
    let began = first?.commit_at(reference).map(str::to_owned);
    Some(began.into_iter().chain(made).collect())
}

fn append(private: &Private, run: &str, line: &str) -> Result<()> {
    let path = file(private, run);
    let write = || {
        fs::create_dir_all(private.folder.join(FOLDER))?;
        let mut file = File::options().create(true).append(true).open(&path)?;
        writeln!(file, "{line}")?;
        file.sync_data()
    };
    write().map_err(|error| Error::io("write", &path, &error))
}

/// Returns the file of a run.
pub(crate) fn file(private: &Private, run: &str) -> PathBuf {
    private.folder.join(FOLDER).join(name_part(run))
}
