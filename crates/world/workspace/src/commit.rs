//! Commits the workspace. Only this module changes the user's branches. A commit to a branch that is not checked out
//! does not check it out.
//!
//! A commit contains the current workspace, with line endings as `.gitattributes` states. No program that the
//! repository's configuration names is run; hooks run only on request (`hooks.rs`). Files that need a filter program are
//! therefore rejected. So is a commit that would publish a secret (`secrets.rs`).

#![expect(clippy::disallowed_methods, reason = "the directory is new, and no program works there yet")]

use std::{
    ffi::OsStr,
    os::unix::ffi::OsStrExt,
    path::{Path, PathBuf},
};

use interlock_redact::Redactor;
use serde::{Deserialize, Serialize};

use crate::{
    Error, Result, Workspace,
    changes::difference,
    git::{Git, differing, join, split, take_in},
    hooks::{HookRunner, Hooks},
    parent,
    place::{Repository, WorkspaceRoot},
    private::Private,
    repository::{self, STASH},
    secrets::{self, NewHistory},
    workspace::{full_hash, keep},
};

/// The name of the evidence that lists the references which a commit has moved.
pub const COMMIT_EVIDENCE: &str = "commit";

/// The text of the error if the commit would change nothing.
pub const NOTHING_TO_COMMIT: &str = "there is nothing to commit";

/// The mode of a repository inside, in a tree.
const REPOSITORY: &str = "160000";

/// A request to make a commit.
#[derive(Clone, Debug, Default)]
pub struct Commit {
    /// The commit message.
    pub message: String,
    /// The branch to commit to; it is created if it does not exist. The default is the branch that is checked out.
    pub branch: Option<String>,
    /// The expected tree of the workspace, as [`Workspace::tree`] returns it.
    pub tree: Option<String>,
    /// Two stored trees: only the difference between them is committed, and all other uncommitted changes stay
    /// uncommitted. The default is to commit everything.
    pub only: Option<(String, String)>,
    /// The paths to commit, relative to the workspace's root; all other changes stay uncommitted. Empty means all paths.
    /// It is not combined with `only`.
    pub paths: Vec<String>,
    /// The run that commits; later it may build on this commit. Commits that programs have made in the repository since its
    /// first snapshot are searched for secrets before the commit builds on them.
    pub run: Option<String>,
}

/// The result of a successful commit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Committed {
    /// The hash of the commit.
    pub commit: String,
    /// The branch of the commit, or `None` if `HEAD` is detached.
    pub branch: Option<String>,
    /// The tree of the commit.
    pub tree: String,
    /// The reference that moved to the commit.
    pub moved: Moved,
    /// The changed paths with their numbers of added and removed lines.
    pub files: Vec<(String, Option<(u64, u64)>)>,
}

/// The trees of a commit that is to be made, as they were written out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Exported {
    /// The hashes of the trees in `before` and `after`.
    pub trees: [String; 2],
    /// The parent of the commit, if the run does not know it: somebody else has made or moved the branch since the run began.
    pub foreign: Option<Moved>,
}

/// A reference and its values before and after a commit.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Moved {
    /// The full name of the reference.
    pub reference: String,
    /// The commit it pointed to before, or `ref: ` and another reference. `None` if the reference is new.
    pub before: Option<String>,
    /// The commit or the reference it points to now. Zeros, as git writes them, if the reference was deleted.
    pub after: String,
}

impl Moved {
    /// Describes the deletion of a reference that pointed to this commit.
    pub fn deleted(reference: String, commit: String) -> Self {
        Moved { reference, after: "0".repeat(commit.len()), before: Some(commit) }
    }

    /// Returns the move in the other direction.
    pub fn reversed(&self) -> Self {
        let nothing = || "0".repeat(self.after.len().max(40));
        Moved {
            reference: self.reference.clone(),
            before: (!self.is_deleted()).then(|| self.after.clone()),
            after: self.before.clone().unwrap_or_else(nothing),
        }
    }

    /// Returns true if the reference was deleted.
    pub fn is_deleted(&self) -> bool {
        self.after.bytes().all(|digit| digit == b'0')
    }

    /// Returns true if a reference that points to this commit, or does not exist, has not moved since.
    pub fn is_at(&self, commit: Option<&String>) -> bool {
        commit.map_or(self.is_deleted(), |commit| *commit == self.after)
    }
}

impl Workspace {
    /// Commits the workspace without hooks. The index is updated if the branch is the one that is checked out, and left
    /// unchanged otherwise.
    pub fn commit(&self, folder: &Path, commit: &Commit) -> Result<Committed> {
        self.commit_around(folder, commit, None)
    }

    /// Commits the workspace as [`Workspace::commit`] does, with the repository's hooks. If a hook changes files, nothing
    /// is committed and the error is [`Error::TreeChanged`].
    pub fn commit_with_hooks(&self, folder: &Path, commit: &Commit, runner: &dyn HookRunner) -> Result<Committed> {
        self.commit_around(folder, commit, Some(runner))
    }

    fn commit_around(&self, folder: &Path, commit: &Commit, runner: Option<&dyn HookRunner>) -> Result<Committed> {
        let place = WorkspaceRoot::find(folder)?;
        let repository = place.repository.clone().ok_or_else(no_repository)?;
        let private = Private::open(Some(self.home()?), place)?;
        let raw = keep(&private)?;
        if let Some(expected) = commit.tree.as_ref().filter(|expected| **expected != raw) {
            return Err(Error::TreeChanged { expected: expected.clone(), found: raw });
        }
        Committer { private: &private, repository: &repository, secrets: &self.secrets }.commit(commit, &raw, runner)
    }

    /// Checks that a branch can be committed to, as far as this is known before the commit.
    pub fn can_commit_to(&self, folder: &Path, branch: &str) -> Result<()> {
        let place = WorkspaceRoot::find(folder)?;
        let repository = place.repository.as_ref().ok_or_else(no_repository)?;
        reference(&repository.git(&place.root), Some(branch)).map(drop)
    }

    /// Returns the value of a reference or of `HEAD`: a hash, or `ref: ` and the name of another reference.
    pub fn standing(&self, folder: &Path, reference: &str) -> Result<Option<String>> {
        let place = WorkspaceRoot::find(folder)?;
        let Some(repository) = &place.repository else { return Ok(None) };
        match repository::value(repository, reference) {
            Some(value) => Ok(Some(value)),
            None => resolve(&repository.git(&place.root), reference),
        }
    }

    /// Undoes a commit of Interlock: moves the reference back, unless it has moved since. Returns true if the reference
    /// was still at the commit. With `is_dry` nothing is changed.
    pub fn take_back_commit(&self, folder: &Path, moved: &Moved, is_dry: bool) -> Result<bool> {
        let is_ours = moved.is_at(self.standing(folder, &moved.reference)?.as_ref());
        if is_ours && !is_dry {
            self.take_back_moves(folder, &[moved])?;
        }
        Ok(is_ours)
    }

    /// Moves references back, each of which must still have the value that it was moved to. Changes that are staged stay
    /// staged.
    pub fn take_back_moves(&self, folder: &Path, moves: &[&Moved]) -> Result<()> {
        let place = WorkspaceRoot::find(folder)?;
        let Some(repository) = &place.repository else { return Ok(()) };
        let git = repository.git(&place.root);
        let was = resolve(&git, "HEAD")?;
        // A reference that is removed may be in the way of one that is made again.
        let (new, others): (Vec<&Moved>, Vec<&Moved>) = moves.iter().partition(|moved| moved.before.is_none());
        new.into_iter().chain(others).try_for_each(|moved| move_back(&git, moved))?;
        let is = resolve(&git, "HEAD")?;
        if let (Some(was), Some(is)) = (&was, is.filter(|is| Some(is) != was.as_ref())) {
            // If staged changes conflict, `git status` shows it.
            let _ = apply(&git, &git.between(&is, was)?, &["--reverse"]);
        }
        Ok(())
    }
}

/// Shows a commit before it is made.
impl Workspace {
    /// Writes the tree that a commit of the difference between two stored trees would have into the directory `after`, and
    /// the tree that it would build on into `before`. Both are what a clone has: line endings, encodings and identifiers are
    /// those that `.gitattributes` states. No filter applies: a clone has none until somebody sets it up.
    /// If somebody else than the run has moved the branch, `before` is the last commit that the run knows.
    /// Returns `None` if the directory is in no repository.
    pub fn export_commit(
        &self,
        (folder, run): (&Path, &str),
        branch: Option<&str>,
        only: (&str, &str),
        [before, after]: [&Path; 2],
    ) -> Result<Option<Exported>> {
        let place = WorkspaceRoot::find(folder)?;
        let Some(repository) = place.repository.clone() else { return Ok(None) };
        let private = Private::open(Some(self.home()?), place)?;
        let committer = Committer { private: &private, repository: &repository, secrets: &self.secrets };
        let scratch = private.scratch()?;
        let git = committer.git().index(&scratch.path().join("index"));
        let head = git.line(&["symbolic-ref", "--quiet", "HEAD"]).unwrap_or_else(|_| "HEAD".into());
        let branch = branch.map_or_else(|| head.clone(), |branch| format!("refs/heads/{branch}"));
        let (found, parent) = match resolve(&git, &branch)? {
            Some(tip) => (branch.clone(), Some(tip)),
            None => (head, resolve(&git, "HEAD")?),
        };
        let foreign = parent::foreign(&private, run, &branch, parent.as_deref());
        let foreign = foreign.map(|moved| Moved { reference: found, ..moved });
        let known = foreign.as_ref().map_or(&parent, |moved| &moved.before);
        git.run(&["read-tree", known.as_deref().unwrap_or("--empty")])?;
        let base = git.line(&["write-tree"])?;
        git.run(&["read-tree", parent.as_deref().unwrap_or("--empty")])?;
        add_difference(&private.git(), &git, only.0, only.1)?;
        let trees = [base, git.line(&["write-tree"])?];
        let objects = repository.git_dir.join("objects").to_string_lossy().into_owned();
        let checkout = private.plain_in(scratch.path())?;
        for (tree, into) in trees.iter().zip([before, after]) {
            std::fs::create_dir_all(into).map_err(|error| Error::io("make", into, &error))?;
            let git = Git::new(into, &checkout).objects(&private.objects).index(&scratch.path().join("export"));
            let git = git.filling(into);
            let git = git.var("GIT_ALTERNATE_OBJECT_DIRECTORIES", &objects).for_a_moment();
            git.run(&["read-tree", "--empty"])?;
            git.run(&["read-tree", "--reset", "-u", tree])?;
        }
        Ok(Some(Exported { trees, foreign }))
    }
}

/// Moves the user's branch back over commits that Interlock made.
impl Workspace {
    /// Returns the reference that is checked out (`HEAD` itself if it is detached) and its commit, or `None` if the
    /// directory is in no repository or has no commit yet.
    pub fn checked_out(&self, folder: &Path) -> Result<Option<(String, String)>> {
        let place = WorkspaceRoot::find(folder)?;
        let Some(repository) = &place.repository else { return Ok(None) };
        let git = repository.git(&place.root);
        let (reference, _) = reference(&git, None)?;
        Ok(resolve(&git, &reference)?.map(|commit| (reference, commit)))
    }

    /// Returns the content of a file in the commit that is checked out; `None` if it has no such file. The path is
    /// relative to the root of the workspace.
    pub fn committed_file(&self, folder: &Path, path: &Path) -> Result<Option<Vec<u8>>> {
        let place = WorkspaceRoot::find(folder)?;
        let Some(repository) = &place.repository else { return Ok(None) };
        let git = repository.git(&place.root);
        Ok(git.run(&["cat-file", "blob", &format!("HEAD:{}", path.display())]).ok())
    }

    /// Returns the paths that a commit changed.
    pub fn commit_files(&self, folder: &Path, commit: &str) -> Result<Vec<String>> {
        let place = WorkspaceRoot::find(folder)?;
        let repository = place.repository.as_ref().ok_or_else(no_repository)?;
        let git = repository.git(&place.root);
        let commit = full_hash(commit)?;
        let paths = git.paths(&["diff-tree", "--no-commit-id", "--name-only", "-r", "--root", "-z", commit])?;
        Ok(paths.iter().map(|path| String::from_utf8_lossy(path).into_owned()).collect())
    }

    /// Checks that a reference can be moved back to a commit: it is checked out, and only the commits in `ours` were
    /// made since. Returns the move, or `None` if the reference is at that commit already.
    pub fn plan_move_back(&self, folder: &Path, reference: &str, to: &str, ours: &[String]) -> Result<Option<Moved>> {
        let place = WorkspaceRoot::find(folder)?;
        let repository = place.repository.as_ref().ok_or_else(no_repository)?;
        let git = repository.git(&place.root);
        let current = git.line(&["symbolic-ref", "--quiet", "HEAD"]).unwrap_or_else(|_| "HEAD".into());
        if current != reference {
            return Err(Error::Commit(format!("{current} is checked out, not {reference}; check that out first")));
        }
        let tip = resolve(&git, reference)?.ok_or_else(|| Error::Commit(format!("{reference} has no commit")))?;
        if tip == to {
            return Ok(None);
        }
        if resolve(&git, to)?.is_none() || git.run(&["merge-base", "--is-ancestor", to, &tip]).is_err() {
            return Err(Error::Commit(format!("{reference} does not contain the commit {to} any more")));
        }
        let since = git.line(&["rev-list", &format!("{to}..{tip}")])?;
        match since.lines().find(|commit| !ours.iter().any(|known| known == commit)) {
            Some(other) => {
                Err(Error::Commit(format!("{reference} has the commit {other}, which this run did not make")))
            }
            None => Ok(Some(Moved { reference: reference.to_owned(), before: Some(to.to_owned()), after: tip })),
        }
    }
}

/// The text in the log of a reference that an undo has moved.
const UNDONE: &str = "interlock: undone";

/// Maximum number of entries of the stash that an undo removes.
const STASHES_MAX: usize = 100;

/// Moves a reference back to the value before.
fn move_back(git: &Git, moved: &Moved) -> Result<()> {
    let Moved { reference, before, after } = moved;
    let was_symbolic = after.starts_with("ref: ");
    match before {
        Some(before) if reference == STASH && !moved.is_deleted() => return move_stash(git, before, after),
        Some(before) if reference == STASH => {
            git.run(&["update-ref", "--create-reflog", "-m", UNDONE, reference, before])?
        }
        Some(before) => match before.strip_prefix("ref: ") {
            Some(target) => git.run(&["symbolic-ref", "-m", UNDONE, reference, target])?,
            None if was_symbolic => git.run(&["update-ref", "--no-deref", "-m", UNDONE, reference, before])?,
            None => git.run(&["update-ref", "--no-deref", "-m", UNDONE, reference, before, after])?,
        },
        None if was_symbolic => git.run(&["symbolic-ref", "--delete", reference])?,
        None => git.run(&["update-ref", "--no-deref", "-d", reference, after])?,
    };
    Ok(())
}

/// Removes the newer entries of the stash, or adds the entry if it is not in the stash.
fn move_stash(git: &Git, to: &str, from: &str) -> Result<()> {
    let entries = git.line(&["reflog", "show", "--format=%H", STASH])?;
    match entries.lines().position(|entry| entry == to) {
        Some(newer) if newer <= STASHES_MAX => (0..newer)
            .try_for_each(|_| git.run(&["reflog", "delete", "--updateref", "--rewrite", "refs/stash@{0}"]).map(drop)),
        _ => git.run(&["update-ref", "--create-reflog", "-m", UNDONE, STASH, to, from]).map(drop),
    }
}

fn no_repository() -> Error {
    Error::Commit("the directory is not in a git repository".into())
}

pub(crate) struct Committer<'c> {
    pub(crate) private: &'c Private,
    pub(crate) repository: &'c Repository,
    pub(crate) secrets: &'c Redactor,
}

impl Committer<'_> {
    /// Returns `git` calls on the user's repository.
    pub(crate) fn git(&self) -> Git {
        self.repository.git(&self.private.place.root)
    }

    fn commit(&self, order: &Commit, raw: &str, runner: Option<&dyn HookRunner>) -> Result<Committed> {
        let scratch = self.private.scratch()?;
        let (reference, is_current) = reference(&self.git(), order.branch.as_deref())?;
        let tip = resolve(&self.git(), &reference)?;
        let parent = match &tip {
            Some(tip) => Some(tip.clone()),
            None => resolve(&self.git(), "HEAD")?,
        };
        let index = scratch.path().join("index");
        let git = self.git().index(&index);
        self.refuse_history(order.run.as_deref(), parent.as_deref())?;
        if let Some(made) =
            tip.as_deref().and_then(|tip| self.made_before(&git, &reference, tip, order, runner.is_some()))
        {
            return Ok(made);
        }
        let tree = self.tree(&git, parent.as_deref(), order)?;
        let message = format!("{}\n", order.message.trim_end());
        secrets::refuse(&self.git(), &self.before(parent.as_deref())?, &tree, &message, self.secrets)?;
        let hooks = runner.map(|runner| Hooks::new(self, runner)).transpose()?;
        let message = match &hooks {
            Some(hooks) => hooks.before(&message, &index, &tree, raw)?,
            None => message,
        };
        // A hook may have written the message anew.
        secrets::refuse_message(&message, self.secrets)?;
        let commit = self.write(&git, &tree, parent.as_deref(), &message)?;
        let nothing = "0".repeat(commit.len());
        let subject = format!("commit: {}", message.lines().next().unwrap_or_default());
        let old = tip.as_deref().unwrap_or(&nothing);
        if let Some(run) = &order.run {
            parent::record(self.private, run, &reference, &commit)?;
        }
        self.git().run(&["update-ref", "-m", &subject, &reference, &commit, old])?;
        if is_current {
            // If the index is locked, it stays as it was, and `git status` shows the difference.
            let _ = match &order.only {
                Some((from, to)) => apply(&self.git(), &self.private.git().between(from, to)?, &[]),
                None if !order.paths.is_empty() => add_paths(&self.git(), &order.paths),
                None => self.differing(&self.git()).and_then(|paths| take_in(&self.git(), paths)),
            };
        }
        if let Some(hooks) = &hooks {
            hooks.after();
        }
        let files = self.files(parent.as_deref(), &tree)?;
        let branch = reference.strip_prefix("refs/heads/").map(str::to_owned);
        let moved = Moved { reference, before: tip, after: commit.clone() };
        Ok(Committed { commit, branch, tree, moved, files })
    }

    /// Refuses to build on commits that a program has made since the run began, if one of them has a secret.
    fn refuse_history(&self, run: Option<&str>, parent: Option<&str>) -> Result<()> {
        let (Some(run), Some(parent)) = (run, parent) else { return Ok(()) };
        let Some(first) = repository::first(self.private, run) else { return Ok(()) };
        let history = NewHistory { tips: vec![parent.to_owned()], known: first.hashes() };
        history.refuse(
            &self.git(),
            "a commit that was made since the run began has a secret, so nothing was committed",
            self.secrets,
        )
    }

    /// Returns the commit that an interrupted attempt made: the tip has this message, and taking the difference back from it is
    /// possible. `None` if the tip is another commit, or cannot be compared. Hooks may have added lines to the message.
    fn made_before(&self, git: &Git, reference: &str, tip: &str, order: &Commit, has_hooks: bool) -> Option<Committed> {
        let (from, to) = order.only.as_ref()?;
        let said = git.line(&["log", "-1", "--format=%B", tip]).ok()?;
        let before = resolve(&self.git(), &format!("{tip}^")).ok()?;
        let (said, wanted) = (said.trim(), order.message.trim());
        let is_ours = said == wanted || (has_hooks && said.lines().next() == wanted.lines().next());
        if !is_ours || from == to {
            return None;
        }
        git.run(&["read-tree", tip]).ok()?;
        let difference = self.private.git().between(from, to).ok()?;
        apply(git, &difference, &["--reverse", "--check"]).ok()?;
        let tree = git.line(&["rev-parse", &format!("{tip}^{{tree}}")]).ok()?;
        let files = self.files(before.as_deref(), &tree).ok()?;
        let branch = reference.strip_prefix("refs/heads/").map(str::to_owned);
        let moved = Moved { reference: reference.to_owned(), before, after: tip.to_owned() };
        Some(Committed { commit: tip.to_owned(), branch, tree, moved, files })
    }

    /// Builds the tree to commit.
    fn tree(&self, git: &Git, parent: Option<&str>, order: &Commit) -> Result<String> {
        match parent {
            Some(parent) => git.run(&["read-tree", parent])?,
            None => git.run(&["read-tree", "--empty"])?,
        };
        match &order.only {
            Some((from, to)) => add_difference(&self.private.git(), git, from, to)?,
            None if !order.paths.is_empty() => {
                refuse_filters(git, order.paths.iter().map(|path| path.as_bytes().to_vec()).collect())?;
                add_paths(git, &order.paths)?;
            }
            None => self.add_everything(git)?,
        }
        refuse_repositories(git, &self.before(parent)?)?;
        let tree = git.line(&["write-tree"])?;
        let before = parent.map(|parent| git.line(&["rev-parse", &format!("{parent}^{{tree}}")])).transpose()?;
        let is_empty = git.run(&["ls-files", "-z"])?.is_empty();
        match before.as_ref() == Some(&tree) || (before.is_none() && is_empty) {
            true => Err(Error::Commit(NOTHING_TO_COMMIT.into())),
            false => Ok(tree),
        }
    }

    /// Writes a commit of all files as they are, on top of `HEAD`. No reference and no index is changed.
    pub(crate) fn write_loose(&self, message: &str) -> Result<String> {
        let scratch = self.private.scratch()?;
        let parent = resolve(&self.git(), "HEAD")?;
        let git = self.git().index(&scratch.path().join("index"));
        git.run(&["read-tree", parent.as_deref().unwrap_or("--empty")])?;
        self.add_everything(&git)?;
        let tree = git.line(&["write-tree"])?;
        self.write(&git, &tree, parent.as_deref(), message)
    }

    fn add_everything(&self, git: &Git) -> Result<()> {
        let paths = self.differing(git)?;
        refuse_filters(git, paths.clone())?;
        take_in(git, paths)
    }

    /// Returns the paths that differ from an index and belong to the workspace.
    fn differing(&self, git: &Git) -> Result<Vec<Vec<u8>>> {
        let mut paths = differing(git)?;
        if let Some(home) = self.private.home_within() {
            paths.retain(|path| !Path::new(OsStr::from_bytes(path)).starts_with(home));
        }
        Ok(paths)
    }

    fn write(&self, git: &Git, tree: &str, parent: Option<&str>, message: &str) -> Result<String> {
        let mut git = git.clone();
        let root = &self.private.place.root;
        if let (Some(name), Some(email)) = (setting(root, "user.name"), setting(root, "user.email")) {
            for variable in ["GIT_AUTHOR_NAME", "GIT_COMMITTER_NAME"] {
                git = git.var(variable, &name);
            }
            for variable in ["GIT_AUTHOR_EMAIL", "GIT_COMMITTER_EMAIL"] {
                git = git.var(variable, &email);
            }
        }
        let arguments: Vec<&str> = ["commit-tree", tree, "-F", "-"]
            .into_iter()
            .chain(parent.into_iter().flat_map(|parent| ["-p", parent]))
            .collect();
        let commit = git.run_with(&arguments, message.as_bytes())?;
        Ok(String::from_utf8_lossy(&commit).trim_end().to_owned())
    }

    fn files(&self, parent: Option<&str>, tree: &str) -> Result<Vec<CommittedFile>> {
        let changes = difference(&self.git(), &self.before(parent)?, tree)?;
        Ok(changes.into_iter().map(|change| (change.path.display().to_string(), change.lines)).collect())
    }

    /// Returns the commit or tree that a commit is compared with: its parent, or the empty tree.
    fn before(&self, parent: Option<&str>) -> Result<String> {
        match parent {
            Some(parent) => Ok(parent.to_owned()),
            None => {
                let empty = self.git().run_with(&["mktree"], b"")?;
                Ok(String::from_utf8_lossy(&empty).trim_end().to_owned())
            }
        }
    }
}

/// Rejects files with a filter attribute, because they cannot be stored without running the filter program.
fn refuse_filters(git: &Git, paths: Vec<Vec<u8>>) -> Result<()> {
    let answer = split(&git.run_with(&["check-attr", "-z", "--stdin", "filter"], &join(paths))?);
    let filtered = answer.chunks_exact(3).find(|each| !matches!(each[2].as_slice(), b"unspecified" | b"unset"));
    match filtered {
        None => Ok(()),
        Some(each) => {
            let [path, filter] = [0, 2].map(|at| String::from_utf8_lossy(&each[at]).into_owned());
            Err(Error::Commit(format!(
                "{path} is stored through the filter `{filter}`, which is another program; commit it yourself"
            )))
        }
    }
}

/// Returns the reference that the commit moves, and true if it is checked out.
fn reference(git: &Git, branch: Option<&str>) -> Result<(String, bool)> {
    let current = git.line(&["symbolic-ref", "--quiet", "HEAD"]).ok();
    let Some(branch) = branch else { return Ok((current.unwrap_or_else(|| "HEAD".into()), true)) };
    let reference = format!("refs/heads/{branch}");
    if branch.starts_with('-') || git.run(&["check-ref-format", &reference]).is_err() {
        return Err(Error::Commit(format!("`{branch}` is not a valid branch name")));
    }
    let is_current = current.as_ref() == Some(&reference);
    let elsewhere = git.line(&["for-each-ref", "--format=%(worktreepath)", &reference])?;
    match elsewhere.is_empty() || is_current {
        true => Ok((reference, is_current)),
        false => Err(Error::Commit(format!("the branch {branch} is checked out in {elsewhere}"))),
    }
}

/// Applies the difference between two trees to an index.
fn add_difference(kept: &Git, git: &Git, from: &str, to: &str) -> Result<()> {
    refuse_filters(git, kept.paths(&["diff", "--name-only", "--no-renames", "-z", from, to])?)?;
    let difference = kept.between(from, to)?;
    apply(git, &difference, &[]).map_err(|error| match error {
        Error::Git { said, .. } => {
            let said = said.lines().next().unwrap_or_default();
            Error::Commit(format!("it does not apply to the branch: it depends on changes that are not committed there, or the branch has diverged ({said})"))
        }
        other => other,
    })
}

/// Adds the current content of these paths to an index. A path without a file is removed from it.
fn add_paths(git: &Git, paths: &[String]) -> Result<()> {
    take_in(git, paths.iter().map(|path| path.as_bytes().to_vec()).collect())
}

/// Refuses repositories inside that the parent commit does not have. Once such a repository is committed, git enters it
/// whenever a person asks for the status, and its settings can name programs.
fn refuse_repositories(git: &Git, before: &str) -> Result<()> {
    let raw = git.paths(&["diff-index", "--cached", "--raw", "--no-renames", "-z", before])?;
    let is_new = |pair: &&[Vec<u8>]| {
        let modes = String::from_utf8_lossy(&pair[0]).into_owned();
        let mut modes = modes.trim_start_matches(':').split(' ');
        modes.next() != Some(REPOSITORY) && modes.next() == Some(REPOSITORY)
    };
    match raw.chunks_exact(2).find(is_new) {
        None => Ok(()),
        Some(pair) => Err(Error::Commit(format!(
            "{} is a git repository of its own that no commit has yet; remove it, or add it yourself with `git submodule add`",
            String::from_utf8_lossy(&pair[1])
        ))),
    }
}

/// Applies a patch to the index only, not to the files.
fn apply(git: &Git, patch: &[u8], options: &[&str]) -> Result<()> {
    let all = [&["apply", "--cached", "--whitespace=nowarn"][..], options].concat();
    match patch.is_empty() {
        true => Ok(()),
        false => git.run_with(&all, patch).map(drop),
    }
}

/// A path with its numbers of added and removed lines.
type CommittedFile = (String, Option<(u64, u64)>);

/// Returns the commit that a reference points to, if there is one.
fn resolve(git: &Git, reference: &str) -> Result<Option<String>> {
    match git.line(&["rev-parse", "--quiet", "--verify", &format!("{reference}^{{commit}}")]) {
        Ok(commit) => Ok(Some(commit)),
        Err(Error::Git { .. }) => Ok(None),
        Err(error) => Err(error),
    }
}

/// Returns a git setting of the user from any configuration file. Reading it runs no program.
fn setting(root: &Path, name: &str) -> Option<String> {
    read_setting(root, &["--get", name])
}

/// Returns a git setting that is a path, with `~` expanded.
pub(crate) fn setting_path(root: &Path, name: &str) -> Option<PathBuf> {
    read_setting(root, &["--type=path", "--get", name]).map(PathBuf::from)
}

fn read_setting(root: &Path, arguments: &[&str]) -> Option<String> {
    let value = Git::discover(root).as_person().run(&[&["config"], arguments].concat()).ok()?;
    let value = String::from_utf8(value).ok()?.trim_end().to_owned();
    (!value.is_empty()).then_some(value)
}
