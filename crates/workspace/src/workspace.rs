//! What can be done with a workspace: hash it, keep it, put it back.

use std::path::{Path, PathBuf};

use crate::{Error, Restored, Result, index::Index, place::Place, private::Private, restore};

/// How many others may take the next number of a run before we give up.
const NUMBERS_TRIED_MAX: u32 = 16;

/// What is known of the files when they are hashed: their content need not be there any more.
const HASHED: &str = "index.hashed";

/// The same of files whose content is kept.
const KEPT: &str = "index.kept";

/// Keeps workspaces.
#[derive(Clone, Debug, Default)]
pub struct Workspace {
    pub(crate) home: Option<PathBuf>,
}

impl Workspace {
    /// One that keeps what it needs under `workspaces` in a folder. Where that folder is inside a workspace, it is no part of it.
    pub fn new(home: impl Into<PathBuf>) -> Self {
        Workspace { home: Some(home.into()) }
    }

    /// The hash of the git tree that the workspace of a folder is, with its untracked files; also where it is no git
    /// repository. Nothing is written into the repository.
    pub fn tree(&self, folder: &Path) -> Result<String> {
        let private = Private::open(self.home.as_deref(), Place::find(folder)?)?;
        let index = Index::new(&private)?.for_a_moment()?;
        index.recall(HASHED)?;
        index.add()?;
        index.settle_ignored()?;
        let tree = index.git.line(&["write-tree", "--missing-ok"])?;
        index.remember(HASHED)?;
        Ok(tree)
    }

    /// Keeps the workspace of a folder as it is. The name is that of a reference, `refs/interlock/RUN/NUMBER`.
    pub fn take(&self, folder: &Path, run: &str) -> Result<String> {
        let private = Private::open(Some(self.home()?), Place::find(folder)?)?;
        // Somebody may have cleared away content that was kept but that no name referred to any more.
        let tree = keep(&private, true).or_else(|_| keep(&private, false))?;
        let git = private.git().objects(&private.objects);
        let commit = git.line(&["commit-tree", &tree, "-m", &format!("before an attempt of {run}")])?;
        name_it(&private, &commit, run)
    }

    /// Makes the files of a workspace what they were: what changed or is gone is put back, what is new is removed, ignored files stay.
    /// Cut off, it can be done again.
    pub fn restore(&self, folder: &Path, name: &str) -> Result<Restored> {
        let home = self.home()?;
        let found = Private::open(Some(home), Place::find(folder)?)?;
        if let Some(tree) = tree_of(&found, name)? {
            return restore::restore(&found, &tree);
        }
        // It may have become a repository in the meantime.
        let alone = Private::open(Some(home), Place::alone(folder)?)?;
        let tree = tree_of(&alone, name)?.ok_or_else(|| Error::NoSnapshot(name.to_owned()))?;
        restore::restore(&alone, &tree)
    }

    fn home(&self) -> Result<&Path> {
        let why = "this workspace was made to hash only".to_owned();
        self.home.as_deref().ok_or(Error::Io { doing: "could not keep anything".into(), why })
    }
}

fn keep(private: &Private, recall: bool) -> Result<String> {
    let index = Index::new(private)?.kept();
    if recall {
        index.recall(KEPT)?;
    }
    index.add()?;
    index.settle_ignored()?;
    let tree = index.git.line(&["write-tree"])?;
    index.remember(KEPT)?;
    Ok(tree)
}

fn name_it(private: &Private, commit: &str, run: &str) -> Result<String> {
    let git = private.names();
    let prefix = format!("refs/interlock/{}/", name_part(run));
    let known = git.line(&["for-each-ref", "--format=%(refname)", &prefix])?;
    let numbers = known.lines().filter_map(|name| name.strip_prefix(&prefix)?.parse::<u32>().ok());
    let first = numbers.max().unwrap_or(0) + 1;
    let nothing = "0".repeat(commit.len());
    let mut result = Err(Error::NoSnapshot(prefix.clone()));
    for number in first..first + NUMBERS_TRIED_MAX {
        let name = format!("{prefix}{number}");
        result = git.run(&["update-ref", &name, commit, &nothing]).map(|_| name);
        if result.is_ok() {
            break;
        }
    }
    result
}

fn tree_of(private: &Private, name: &str) -> Result<Option<String>> {
    if !name.starts_with("refs/interlock/") {
        return Err(Error::NoSnapshot(name.to_owned()));
    }
    match private.names().line(&["rev-parse", "--quiet", "--verify", &format!("{name}^{{tree}}")]) {
        Ok(tree) => Ok(Some(tree)),
        Err(Error::Git { .. }) => Ok(None),
        Err(error) => Err(error),
    }
}

/// A run's name as part of a reference: what references do not allow everywhere is spelled as its number.
fn name_part(run: &str) -> String {
    let bytes = run.as_bytes();
    let is_plain = |at: usize| match bytes[at] {
        // Children are called `parent.3`.
        b'.' => at > 0 && bytes.get(at + 1).is_some_and(u8::is_ascii_digit),
        byte => byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_',
    };
    let spell =
        |at: usize| if is_plain(at) { char::from(bytes[at]).to_string() } else { format!("={:02x}", bytes[at]) };
    (0..bytes.len()).map(spell).collect()
}
