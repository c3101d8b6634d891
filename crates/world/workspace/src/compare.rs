//! The difference between two stored trees: all paths with their counts of lines, the patch of one path, and the whole
//! patch. Counts come from the trees, never from a patch that somebody may have cut.

use std::{
    fs,
    os::unix::ffi::OsStrExt,
    path::{Path, PathBuf},
};

use crate::{
    Change, NotKept, Result, Workspace,
    changes::listed,
    git::Git,
    private::Private,
    workspace::{full_hash, keep_since},
};

/// The most paths that one call of `git` gets.
const PATHS_MAX: usize = 200;

/// Two stored trees that can be compared.
#[derive(Debug)]
pub struct Comparison {
    git: Git,
    from: String,
    to: String,
}

impl Workspace {
    /// Opens two stored trees of a directory's workspace. The directory itself need not exist any more.
    pub fn compare(&self, folder: &Path, from: &str, to: &str) -> Result<Comparison> {
        let (from, to) = (full_hash(from)?.to_owned(), full_hash(to)?.to_owned());
        let git = self.holding_trees(folder, [&from, &to])?;
        Ok(Comparison { git, from, to })
    }

    /// Stores the content of the workspace by the ignore rules of a snapshot. Returns its tree, and the paths that
    /// changed since the snapshot and cannot be stored.
    pub fn since(&self, folder: &Path, snapshot: &str) -> Result<(String, Vec<NotKept>)> {
        let (private, before) = self.holding(folder, snapshot)?;
        keep_since(&private, snapshot, &before).map(|kept| (kept.tree, kept.not_kept))
    }

    /// Returns the checkout whose repository a directory belonged to when a snapshot of it was taken, such as that of a
    /// worktree which has been removed since. Returns `None` if it is not known or does not exist any more.
    pub fn checkout(&self, folder: &Path) -> Option<PathBuf> {
        let known = Private::known_at(self.home().ok()?, folder).ok()?;
        let repositories = known.into_iter().filter_map(|private| private.place.repository);
        let mut checkouts = repositories.filter_map(|repository| repository.git_dir.parent().map(Path::to_owned));
        checkouts.find(|checkout| checkout.is_dir())
    }

    /// Returns `git` on the private directory that stores these trees. It has no files to look at, so that no file of
    /// the workspace influences a comparison.
    fn holding_trees(&self, folder: &Path, trees: [&str; 2]) -> Result<Git> {
        // A directory that is gone, such as a removed worktree, is known by the path that the run recorded.
        let folder = fs::canonicalize(folder).unwrap_or_else(|_| folder.to_owned());
        let stored = |folder: PathBuf| Git::new(&folder, &folder);
        let holds = |git: &Git| trees.iter().all(|tree| git.run(&["cat-file", "-e", tree]).is_ok());
        let known = Private::known_at(self.home()?, &folder)?.into_iter().map(|private| stored(private.folder));
        known.into_iter().find(holds).ok_or_else(|| crate::Error::NoSnapshot(trees[0].to_owned()))
    }
}

impl Comparison {
    /// Returns every path that differs, with its counts of lines. A renamed file is a removed one and a new one, as in
    /// the patch.
    pub fn files(&self) -> Result<Vec<Change>> {
        listed(&self.git, &self.from, &self.to, "--no-renames")
    }

    /// Returns the whole patch.
    pub fn patch(&self) -> Result<Vec<u8>> {
        self.git.between(&self.from, &self.to)
    }

    /// Returns the patch of one path.
    pub fn patch_of(&self, path: &Path) -> Result<Vec<u8>> {
        // A path also names the files below it, which are other paths of the list.
        let (path, below) = (pathspec(path, ""), pathspec(path, "exclude,") + "/");
        self.git.between_at(&self.from, &self.to, &[&path, &below])
    }

    /// Returns the patch of these paths.
    pub fn patch_of_all<'p>(&self, paths: impl IntoIterator<Item = &'p Path>) -> Result<Vec<u8>> {
        let paths: Vec<&Path> = paths.into_iter().collect();
        let mut patch = Vec::new();
        for some in paths.chunks(PATHS_MAX) {
            // A path also names the files below it, which count only if they are in the list.
            let is_above = |path: &Path| some.iter().any(|other| *other != path && other.starts_with(path));
            let below = some.iter().filter(|path| !is_above(path)).map(|path| pathspec(path, "exclude,") + "/");
            let specs: Vec<String> = some.iter().map(|path| pathspec(path, "")).chain(below).collect();
            let specs: Vec<&str> = specs.iter().map(String::as_str).collect();
            patch.extend(self.git.between_at(&self.from, &self.to, &specs)?);
        }
        Ok(patch)
    }
}

/// Returns the argument with which `git` selects one path. A byte that is not text is matched by a wildcard.
fn pathspec(path: &Path, magic: &str) -> String {
    if let Some(path) = path.to_str() {
        return format!(":({magic}top,literal){path}");
    }
    let spelled = path.as_os_str().as_bytes().iter().map(|byte| match byte {
        b'*' | b'?' | b'[' | b']' | b'\\' => format!("\\{}", char::from(*byte)),
        byte if byte.is_ascii() => char::from(*byte).to_string(),
        _ => "?".to_owned(),
    });
    format!(":({magic}top,glob){}", spelled.collect::<String>())
}
