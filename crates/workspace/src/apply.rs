//! Applies a patch to the files of a workspace, if no rule forbids it.

use std::{
    collections::{BTreeMap, BTreeSet},
    ffi::OsStr,
    os::unix::ffi::OsStrExt,
    path::{Path, PathBuf},
};

use sha2::{Digest, Sha256};

use crate::{
    Error, Result, Workspace,
    git::{Git, join},
    patch::{self, Disk, Look, LookupResult, Patch, Plan, Problem, plan},
    place::WorkspaceRoot,
    private::{Private, hex},
};

impl Workspace {
    /// Applies a patch completely, or changes nothing. Its paths are relative to the workspace's root. `expected` maps
    /// files to the SHA-256 that they must have before. The patch is rejected if it touches paths that snapshots do not
    /// store: ignored files and files of nested repositories.
    pub fn apply(&self, folder: &Path, patch: &Patch, expected: &BTreeMap<PathBuf, String>) -> Result<Plan> {
        self.apply_in(folder, patch, expected, None)
    }

    /// Applies a patch for an attempt that began with a snapshot. The result is first recorded as the end of the
    /// attempt, so that after a crash midway its writes can be told from the work of others.
    pub fn apply_in(
        &self,
        folder: &Path,
        patch: &Patch,
        expected: &BTreeMap<PathBuf, String>,
        attempt: Option<(&str, &str)>,
    ) -> Result<Plan> {
        let private = Private::open(self.home.as_deref(), WorkspaceRoot::find(folder)?)?;
        let disk = Disk::open(&private.place.root, private.home_within())?;
        let stale = stale(&disk, expected);
        let plan = plan(patch, &disk).map_err(|more| Error::Patch(stale.iter().cloned().chain(more).collect()))?;
        let problems: Vec<Problem> = stale.into_iter().chain(ignored(&private, patch)?).collect();
        if !problems.is_empty() {
            return Err(Error::Patch(problems));
        }
        if let Some((run, before)) = attempt {
            self.announce(folder, run, before, &plan)?;
        }
        patch::write(&disk, &plan).map(|()| plan)
    }
}

fn stale(disk: &Disk, expected: &BTreeMap<PathBuf, String>) -> Vec<Problem> {
    let check = |(path, expected): (&PathBuf, &String)| {
        let found = match disk.look(path) {
            LookupResult::Node(node) => Some(hex(&Sha256::digest(&node.content))),
            LookupResult::Nothing | LookupResult::Not(_) => None,
        };
        let (path, expected) = (path.clone(), expected.to_ascii_lowercase());
        (found.as_ref() != Some(&expected)).then_some(Problem::Stale { path, expected, found })
    };
    expected.iter().filter_map(check).collect()
}

/// Returns the paths of a patch that are ignored and not tracked.
fn ignored(private: &Private, patch: &Patch) -> Result<Vec<Problem>> {
    let paths = || patch.paths().into_iter().map(|path| path.as_os_str().as_bytes().to_vec());
    let ignored = match private.git().run_with(&["check-ignore", "--no-index", "-z", "--stdin"], &join(paths())) {
        Ok(ignored) => crate::git::split(&ignored),
        // `git check-ignore` fails without a message if no path is ignored.
        Err(Error::Git { said, .. }) if said.is_empty() => return Ok(Vec::new()),
        Err(error) => return Err(error),
    };
    let tracked: BTreeSet<Vec<u8>> = match private.place.repository {
        Some(_) => Git::discover(&private.place.root).paths(&["ls-files", "-z", "--cached"])?.into_iter().collect(),
        None => BTreeSet::new(),
    };
    let untracked = ignored.into_iter().filter(|path| !tracked.contains(path));
    let why = "git ignores it, so it is not stored and could not be restored";
    Ok(untracked.map(|path| Problem::file(Path::new(OsStr::from_bytes(&path)), why)).collect())
}
