//! Worktrees of runs: a checkout of its own for a run, on a branch of its own, beside the user's checkout.
//!
//! A worktree begins at the commit that is checked out; uncommitted work of the user stays in the user's checkout and is
//! not part of it. `apply.rs` brings the result into the checkout, `furnish.rs` copies ignored files into a new worktree.
//! Like everywhere in this crate, no program that the repository's configuration names is run.

mod apply;
mod files;
mod furnish;
mod in_place;

use std::{
    fs,
    path::{Path, PathBuf},
};

use interlock_beneath::whole;
use serde::{Deserialize, Serialize};
use tempfile::TempDir;

pub use apply::{Applied, Unapply};
pub use in_place::{apply_in_place, checked_out, contains};

use crate::{
    Error, Result,
    git::{Git, differing, take_in},
    place::{WorkspaceRoot, users_excludes},
    private::VIEW_FILES,
};

/// The prefix of the branches of runs.
const BRANCHES: &str = "interlock/";

/// A worktree of a run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Worktree {
    /// The name of the run.
    pub run: String,
    /// The root of the user's checkout.
    #[serde(with = "crate::path_text")]
    pub checkout: PathBuf,
    /// The root of the worktree.
    #[serde(with = "crate::path_text")]
    pub path: PathBuf,
    /// The branch that is checked out in the worktree.
    pub branch: String,
    /// The commit at which the worktree began.
    pub base: String,
    /// The content that was last applied to the checkout.
    #[serde(default)]
    pub applied: Option<Content>,
}

/// The content of a worktree: its commit, and the tree of its files.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Content {
    /// The commit that is checked out.
    pub commit: String,
    /// The tree of all files that are not ignored.
    pub tree: String,
}

impl Worktree {
    /// Makes a worktree at `path`, which does not exist yet, for a run that works in the repository of `folder`.
    #[expect(clippy::disallowed_methods, reason = "no program can change the directory of worktrees")]
    pub fn create(folder: &Path, path: &Path, run: &str) -> Result<Self> {
        let git = Git::discover(folder);
        let no_repository = |_| Error::Worktree(format!("{} is in no git repository", folder.display()));
        let checkout = PathBuf::from(git.line(&["rev-parse", "--show-toplevel"]).map_err(no_repository)?);
        let no_commit = |_| Error::Worktree("the repository has no commit that a worktree could begin at".into());
        let base = git.line(&["rev-parse", "--verify", "HEAD^{commit}"]).map_err(no_commit)?;
        let branch = format!("{BRANCHES}{run}");
        if let Some(above) = path.parent() {
            fs::create_dir_all(above).map_err(|error| Error::io("make", above, &error))?;
        }
        let git = changing(&checkout)?.filling(path.parent().unwrap_or(path));
        // The checkout is a call of its own, because git starts a helper program for it otherwise.
        let add = ["worktree", "add", "--quiet", "--no-checkout", "-b", &branch, text(path)?, &base];
        git.helped().run(&add)?;
        let path = fs::canonicalize(path).map_err(|error| Error::io("find", path, &error))?;
        // No program works there yet.
        changing(&path)?.writing(&path).run(&["read-tree", "--reset", "-u", &base])?;
        Ok(Worktree { run: run.to_owned(), checkout, path, branch, base, applied: None })
    }

    /// Returns the folder in the worktree for a folder of the checkout.
    pub fn folder(&self, in_checkout: &Path) -> PathBuf {
        let below = in_checkout.strip_prefix(&self.checkout).unwrap_or(Path::new(""));
        self.path.join(below)
    }

    /// Returns true if a directory is in a repository with a commit that a worktree can begin at.
    pub fn is_possible(folder: &Path) -> bool {
        Git::discover(folder).line(&["rev-parse", "--verify", "HEAD^{commit}"]).is_ok()
    }

    /// Returns true if a checkout has changes that are not committed, or files that are not tracked.
    pub fn is_dirty(folder: &Path) -> Result<bool> {
        let git = excluding(Git::discover(folder), folder).without_filters()?;
        let status =
            ["status", "--porcelain", "-z", "--untracked-files=normal", "--ignore-submodules=dirty", "--", "."];
        Ok(!git.run(&[&status[..], &besides_views().each_ref().map(String::as_str)].concat())?.is_empty())
    }

    /// Returns the content of the worktree.
    pub fn content(&self) -> Result<Content> {
        let view = View::of(&self.path)?;
        Ok(Content { commit: view.commit, tree: view.tree })
    }

    /// Returns true if the worktree has no result that is not in the checkout: it is unchanged, or was applied as it is.
    pub fn is_done(&self) -> Result<bool> {
        let content = self.content()?;
        let base = Git::discover(&self.path).line(&["rev-parse", &format!("{}^{{tree}}", self.base)])?;
        let is_unchanged = content.commit == self.base && content.tree == base;
        Ok(is_unchanged || self.applied.as_ref() == Some(&content))
    }

    /// Removes the worktree. Its branch is removed too, unless it has commits that the checkout does not have.
    pub fn remove(&self) -> Result<()> {
        whole::remove_all(&self.path).map_err(|error| Error::io("remove", &self.path, &error.into()))?;
        let git = changing(&self.checkout)?;
        git.run(&["worktree", "prune"])?;
        let is_merged = git.run(&["merge-base", "--is-ancestor", &self.branch, "HEAD"]).is_ok();
        match is_merged {
            true => git.run(&["branch", "--quiet", "-D", &self.branch]).map(drop),
            false => Ok(()),
        }
    }
}

/// The files of a checkout or a worktree as a tree. Its objects lie in a temporary directory.
struct View {
    git: Git,
    commit: String,
    tree: String,
    scratch: TempDir,
}

impl View {
    #[expect(clippy::disallowed_methods, reason = "the temporary directory is private")]
    fn of(root: &Path) -> Result<Self> {
        let scratch =
            TempDir::new().map_err(|error| Error::io("make a directory in", &std::env::temp_dir(), &error))?;
        let plain = Git::discover(root);
        let commit = plain.line(&["rev-parse", "--verify", "HEAD^{commit}"])?;
        let objects = plain.line(&["rev-parse", "--path-format=absolute", "--git-path", "objects"])?;
        let own = scratch.path().join("objects");
        fs::create_dir(&own).map_err(|error| Error::io("make", &own, &error))?;
        let git = excluding(plain, root).without_filters()?.index(&scratch.path().join("index")).objects(&own);
        let git = git.var("GIT_ALTERNATE_OBJECT_DIRECTORIES", &objects).for_a_moment();
        git.run(&["read-tree", &commit])?;
        take_in(&git, differing(&git)?)?;
        let tree = git.line(&["write-tree"])?;
        Ok(View { git, commit, tree, scratch })
    }
}

/// Returns the patterns that leave out the view files of runs: they show a run and are no part of its result.
fn besides_views() -> [String; VIEW_FILES.len()] {
    VIEW_FILES.map(|path| format!(":(top,exclude,glob)**/{path}"))
}

/// Returns calls of git on a checkout that may change its repository, but not its files. No filter program is run.
fn changing(root: &Path) -> Result<Git> {
    let place = WorkspaceRoot::find(root)?;
    let no_repository = || Error::Worktree(format!("{} is in no git repository", root.display()));
    let git = place.repository.as_ref().ok_or_else(no_repository)?.git(&place.root);
    excluding(git, &place.root).without_filters()
}

fn excluding(git: Git, root: &Path) -> Git {
    match users_excludes(root) {
        Some(rules) => git.excluding(&rules),
        None => git,
    }
}

fn text(path: &Path) -> Result<&str> {
    path.to_str().ok_or_else(|| Error::Worktree(format!("{} is not a UTF-8 path", path.display())))
}
