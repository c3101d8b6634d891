//! Decides where the workspace of a directory is: its root, and the repository that belongs to it.
//!
//! This is the only place that decides it, and every call of git is told the result. Git itself would believe the files
//! that it finds: a `core.worktree`, a `commondir`, or a `.git` file or link that leads into any repository of the person.
//! A confined program can write these files, but Interlock is not confined when it applies, commits, restores and deletes.
//! So the root is the parent of the nearest `.git`, and the repository is that `.git` itself. A `.git` file counts only if
//! the repository that it names points back. Files are read by descriptor, and git is not asked.
//!
//! The place of a run is fixed when the run begins ([`Place::fix`]). What a program makes of its directory later does not
//! change it: a repository that it makes is none of the run, and a repository that it replaces is an error. So is a link
//! in the path of the directory: a program can rename a directory in its workspace and put a link in its place.

use std::{
    collections::BTreeMap,
    fs, io,
    path::{Path, PathBuf},
    sync::{Mutex, MutexGuard, PoisonError},
};

use interlock_beneath::{Error, FileType, Folder};

/// The longest file with a path that is read, and the longest configuration.
const PATH_BYTES_MAX: u64 = 64 * 1_024;
const CONFIG_BYTES_MAX: u64 = 1 << 20;

/// Where a workspace is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// The root directory. Everything below belongs to the workspace.
    pub root: PathBuf,
    /// The repository of the workspace, if it has one.
    pub repository: Option<GitDirs>,
}

/// The git directories of a repository. They differ in a linked worktree.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GitDirs {
    /// The directory with `HEAD` and the index.
    pub own: PathBuf,
    /// The directory with the references, objects and settings.
    pub common: PathBuf,
}

/// The fixed places, by the directories of the runs as these are recorded.
static FIXED: Mutex<BTreeMap<PathBuf, Place>> = Mutex::new(BTreeMap::new());

fn fixed() -> MutexGuard<'static, BTreeMap<PathBuf, Place>> {
    FIXED.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Place {
    /// Returns the workspace of a directory: the fixed one if a run works there, and otherwise the one that is there now.
    /// Fails if the repository of a fixed place was replaced, or if a link leads there or out of such a place.
    pub fn find(folder: &Path) -> io::Result<Self> {
        if let Some(place) = Place::known(folder) {
            stands(folder)?;
            return place.checked();
        }
        let real = fs::canonicalize(folder)?;
        let leads_out = |place: &&Place| folder.starts_with(&place.root) && !real.starts_with(&place.root);
        if let Some(left) = fixed().values().find(leads_out) {
            let (folder, root) = (folder.display(), left.root.display());
            return Err(io::Error::other(format!("{folder} leads out of the workspace {root} by a symbolic link")));
        }
        Place::known(&real).map_or_else(|| Ok(Place::look(&real)), Place::checked)
    }

    /// Checks that a run can still work in its directory: that no part of the path has become a link.
    pub fn check(folder: &Path) -> io::Result<()> {
        match Place::known(folder).map(|_| stands(folder)) {
            Some(Err(error)) if error.kind() != io::ErrorKind::NotFound => Err(error),
            _ => Ok(()),
        }
    }

    /// Returns the fixed place of a directory or root. The path is compared as it is: a link could lead it anywhere.
    fn known(folder: &Path) -> Option<Self> {
        let fixed = fixed();
        fixed.get(folder).or_else(|| fixed.values().find(|place| place.root == folder)).cloned()
    }

    /// Returns the workspace that is there now, for a run that begins.
    pub fn now(folder: &Path) -> io::Result<Self> {
        Ok(Place::look(&fs::canonicalize(folder)?))
    }

    fn look(folder: &Path) -> Self {
        let root = folder.ancestors().find(|above| fs::symlink_metadata(above.join(".git")).is_ok());
        let root = root.unwrap_or(folder).to_owned();
        Place { repository: git_dirs(&root), root }
    }

    /// Makes this the workspace of a directory for the rest of this process, because a run begins or goes on there.
    pub fn fix(self, folder: &Path) {
        fixed().insert(folder.to_owned(), self);
    }

    /// Does the same for a run that is only looked at, unless a run works in the directory.
    pub fn fix_if_free(self, folder: &Path) {
        fixed().entry(folder.to_owned()).or_insert(self);
    }

    /// Checks that the repository was not replaced. A missing one is no replacement: it is repaired or reported later.
    fn checked(self) -> io::Result<Self> {
        let Some(expected) = &self.repository else { return Ok(self) };
        let kind = Folder::open(&self.root).and_then(|root| root.kind(Path::new(".git")));
        let is_same = match (git_dirs(&self.root), kind) {
            (Some(now), _) => now == *expected,
            (None, Ok(kind)) => kind.is_none() || (kind == Some(FileType::Directory) && expected.is_in(&self.root)),
            (None, Err(_)) => true,
        };
        let (root, own) = (self.root.display(), expected.own.display());
        match is_same {
            true => Ok(self),
            false => Err(io::Error::other(format!(
                "{root}/.git was replaced: when the run began, the repository was {own}. Put {root}/.git back, or start a new run"
            ))),
        }
    }
}

/// Checks that the directory of a run is there, and that no part of its path is a link.
fn stands(folder: &Path) -> io::Result<()> {
    match Folder::open(folder) {
        Err(Error::Link { path }) => Err(io::Error::other(format!(
            "{} has become a symbolic link, and the run works in {}. Put the directory back, or start a new run",
            path.display(),
            folder.display()
        ))),
        opened => Ok(opened.map(drop)?),
    }
}

impl GitDirs {
    /// Returns true if the repository is the `.git` directory of a work tree.
    fn is_in(&self, root: &Path) -> bool {
        self.own == root.join(".git")
    }

    /// Returns the hash algorithm of the repository: `sha1` or `sha256`.
    pub fn object_format(&self) -> String {
        setting(&self.common, "extensions", "objectformat").unwrap_or_else(|| "sha1".to_owned())
    }
}

/// Returns the git directories of the repository whose work tree is a directory, if there is one. The path must be
/// canonical.
pub fn git_dirs(root: &Path) -> Option<GitDirs> {
    let own = root.join(".git");
    match Folder::open(root).ok()?.kind(Path::new(".git")).ok()?? {
        FileType::Directory => is_git_dir(&own).then(|| GitDirs { common: own.clone(), own }),
        FileType::RegularFile => {
            let own = fs::canonicalize(root.join(text_of(root, ".git")?.strip_prefix("gitdir: ")?)).ok()?;
            linked(root, &own).or_else(|| submodule(root, &own))
        }
        _ => None,
    }
}

/// Returns the repository of a linked worktree, if it knows that worktree.
fn linked(root: &Path, own: &Path) -> Option<GitDirs> {
    let back = fs::canonicalize(own.join(text_of(own, "gitdir")?)).ok()?;
    let common = fs::canonicalize(own.join(text_of(own, "commondir")?)).ok()?;
    let agrees = back == root.join(".git") && own.parent()? == common.join("worktrees") && is_git_dir(&common);
    agrees.then(|| GitDirs { own: own.to_owned(), common })
}

/// Returns the repository of a submodule, if the repository around it has it and its settings name the work tree.
fn submodule(root: &Path, own: &Path) -> Option<GitDirs> {
    let is_around = |above: &Path| own.starts_with(above.join(".git/modules"));
    let tree = fs::canonicalize(own.join(setting(own, "core", "worktree")?)).ok()?;
    let agrees = tree == root && root.ancestors().skip(1).any(is_around) && is_git_dir(own);
    agrees.then(|| GitDirs { own: own.to_owned(), common: own.to_owned() })
}

fn is_git_dir(folder: &Path) -> bool {
    let Ok(folder) = Folder::open(folder) else { return false };
    ["HEAD", "objects", "refs"].iter().all(|name| matches!(folder.kind(Path::new(name)), Ok(Some(_))))
}

/// Reads a file that contains one path.
fn text_of(folder: &Path, name: &str) -> Option<String> {
    let text = Folder::open(folder).ok()?.read_text(Path::new(name), PATH_BYTES_MAX).ok()??;
    Some(text.trim_end_matches('\n').to_owned())
}

/// Reads a setting from the configuration of a repository, in the form in which git writes it. Files that the
/// configuration includes are not read: git does not read them for these settings either.
fn setting(git_dir: &Path, section: &str, key: &str) -> Option<String> {
    let text = Folder::open(git_dir).ok()?.read_text(Path::new("config"), CONFIG_BYTES_MAX).ok()??;
    let (mut is_section, mut found) = (false, None);
    for line in text.lines().map(str::trim) {
        if let Some(name) = line.strip_prefix('[') {
            is_section = name.trim_end_matches(']').trim().eq_ignore_ascii_case(section);
        } else if let Some((name, value)) = line.split_once('=').filter(|_| is_section)
            && name.trim().eq_ignore_ascii_case(key)
        {
            found = Some(value.trim().trim_matches('"').to_owned());
        }
    }
    found
}
