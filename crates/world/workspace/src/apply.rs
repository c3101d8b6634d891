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
    git::Git,
    patch::{self, Disk, Kind, Look, LookupResult, Node, Patch, Plan, Planned, Problem, plan},
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
        let (private, disk) = self.disk(folder)?;
        let stale = stale(&disk, expected);
        let plan = plan(patch, &disk).map_err(|more| Error::Patch(stale.iter().cloned().chain(more).collect()))?;
        self.write_plan(folder, (&private, &disk), plan, stale, attempt)
    }

    /// Replaces the whole content of one file, makes the file, or deletes it if there is no content; or changes nothing.
    /// `path` is relative to the workspace's root. The other rules are those of [`apply_in`](Self::apply_in).
    pub fn replace_in(
        &self,
        folder: &Path,
        path: &Path,
        content: Option<&[u8]>,
        expected: &BTreeMap<PathBuf, String>,
        attempt: Option<(&str, &str)>,
    ) -> Result<Plan> {
        let (private, disk) = self.disk(folder)?;
        let stale = stale(&disk, expected);
        let plan = replacement(&disk, path, content)
            .map_err(|problem| Error::Patch(stale.iter().cloned().chain([problem]).collect()))?;
        self.write_plan(folder, (&private, &disk), plan, stale, attempt)
    }

    fn disk(&self, folder: &Path) -> Result<(Private, Disk)> {
        let private = Private::open(self.home.as_deref(), WorkspaceRoot::find(folder)?)?;
        let disk = Disk::open(&private.place.root, private.home_within())?;
        Ok((private, disk))
    }

    /// Checks the paths of a plan, announces it as the end of the attempt and writes it.
    fn write_plan(
        &self,
        folder: &Path,
        (private, disk): (&Private, &Disk),
        plan: Plan,
        stale: Vec<Problem>,
        attempt: Option<(&str, &str)>,
    ) -> Result<Plan> {
        let paths = plan.changes.iter().map(|change| change.path.as_path());
        let problems: Vec<Problem> = stale.into_iter().chain(ignored(private, paths)?).collect();
        if !problems.is_empty() {
            return Err(Error::Patch(problems));
        }
        if let Some((run, before)) = attempt {
            self.announce(folder, run, before, &plan)?;
        }
        patch::write(disk, &plan).map(|()| plan)
    }
}

/// Plans the change of one whole file. A file that stays the same is no change.
fn replacement(disk: &Disk, path: &Path, content: Option<&[u8]>) -> Result<Plan, Problem> {
    let before = match disk.look(path) {
        LookupResult::Node(node) if node.kind == Kind::Link => {
            return Err(Problem::file(path, "it is a symbolic link"));
        }
        LookupResult::Node(node) => Some(node),
        LookupResult::Nothing => None,
        LookupResult::Not(why) => return Err(Problem::file(path, why)),
    };
    let kind = before.as_ref().map_or(Kind::File, |node| node.kind);
    let after = content.map(|content| Node { kind, content: content.to_owned() });
    if before.is_none() && after.is_none() {
        return Err(Problem::file(path, "there is no such file"));
    }
    let changes = match before == after {
        true => Vec::new(),
        false => vec![Planned { path: path.to_owned(), before, after }],
    };
    Ok(Plan { changes })
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

/// Returns the paths that are ignored and not tracked.
fn ignored<'p>(private: &Private, paths: impl Iterator<Item = &'p Path>) -> Result<Vec<Problem>> {
    let ignored = private.ignored(paths.map(|path| path.as_os_str().as_bytes()))?;
    if ignored.is_empty() {
        return Ok(Vec::new());
    }
    let tracked: BTreeSet<Vec<u8>> = match private.place.repository {
        Some(_) => Git::discover(&private.place.root).paths(&["ls-files", "-z", "--cached"])?.into_iter().collect(),
        None => BTreeSet::new(),
    };
    let untracked = ignored.into_iter().filter(|path| !tracked.contains(path));
    Ok(untracked.map(|path| Problem::file(Path::new(OsStr::from_bytes(&path)), patch::IGNORED)).collect())
}
