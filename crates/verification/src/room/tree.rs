//! The base tree and the new tree as directories, and the difference between them.

use std::{
    collections::BTreeSet,
    fs,
    path::{Component, Path, PathBuf},
};

use interlock_workspace::Workspace;
use sha2::{Digest, Sha256};
use tempfile::TempDir;

use super::{
    Becomes, files,
    kinds::{self, Part},
};

/// Both trees, in directories that no program sees.
pub(crate) struct Trees {
    /// The tree that the change began with.
    pub(crate) base: PathBuf,
    /// The tree to verify.
    pub(crate) new: PathBuf,
    /// The paths that differ.
    pub(crate) changed: Vec<Changed>,
    /// The reason why the commit cannot be made as it is.
    pub(crate) problem: Option<String>,
    _temp: TempDir,
}

/// A path that differs between the trees.
#[derive(Clone, Debug)]
pub(crate) struct Changed {
    pub(crate) path: String,
    pub(crate) part: Part,
    /// The content in the base tree; `None` if it is new.
    pub(crate) before: Option<Vec<u8>>,
    /// The content in the new tree; `None` if it was removed.
    pub(crate) after: Option<Vec<u8>>,
}

impl Trees {
    /// Writes both trees below a directory: those of the commit that is to be made, or the stored ones. May block.
    pub(crate) fn export(
        workspace: &Workspace,
        folder: &Path,
        (base, new, becomes): (&str, &str, &Becomes),
        home: &Path,
    ) -> Result<Self, String> {
        let temp = tempfile::Builder::new().prefix(super::TREES).tempdir_in(home).map_err(|error| error.to_string())?;
        let places = [temp.path().join("base"), temp.path().join("new")];
        let commit = match becomes {
            Becomes::Commit(branch) => {
                workspace.export_commit(folder, branch.as_deref(), (base, new), [&places[0], &places[1]])
            }
            Becomes::Workspace => Ok(false),
        };
        let problem = commit.as_ref().err().map(ToString::to_string);
        if !commit.unwrap_or(false) {
            for (tree, into) in [base, new].iter().zip(&places) {
                workspace.export_tree(folder, tree, into).map_err(|error| error.to_string())?;
            }
        }
        let [base, new] = places;
        let paths: BTreeSet<String> = list(&base).into_iter().chain(list(&new)).collect();
        let changed = paths.into_iter().filter_map(|path| Changed::of(path, &base, &new)).collect();
        Ok(Trees { base, new, changed, problem, _temp: temp })
    }

    /// Returns true if a path is part of one of the trees.
    pub(crate) fn has(&self, path: &Path) -> bool {
        [&self.base, &self.new].iter().any(|root| fs::symlink_metadata(root.join(path)).is_ok())
    }

    /// The changed files that play one of these parts.
    pub(crate) fn with_part(&self, parts: &[Part]) -> impl Iterator<Item = &Changed> {
        self.changed.iter().filter(move |changed| parts.contains(&changed.part))
    }

    /// The changed source files that exist now and that a person or a model wrote.
    pub(crate) fn sources(&self) -> impl Iterator<Item = (&Changed, &[u8])> {
        let there = self.with_part(&[Part::Source]).filter_map(|changed| Some((changed, changed.after.as_deref()?)));
        there.filter(|(changed, text)| !kinds::is_generated(&changed.path, text))
    }

    /// All source files of a tree, changed or not.
    pub(crate) fn all_sources(root: &Path) -> Vec<(String, Vec<u8>)> {
        let texts = list(root).into_iter().filter_map(|path| Some((files::content(root, &path)?, path)));
        texts.filter(|(text, path)| kinds::part(path, text) == Part::Source).map(|(text, path)| (path, text)).collect()
    }

    /// The texts of all files of a tree that play a part.
    pub(crate) fn texts(root: &Path, part: Part) -> Vec<String> {
        let texts = list(root).into_iter().filter_map(|path| Some((files::content(root, &path)?, path)));
        let texts = texts.filter(|(text, path)| kinds::part(path, text) == part);
        texts.map(|(text, _)| String::from_utf8_lossy(&text).into_owned()).collect()
    }

    /// The tests and definitions of the new tree that a program has changed in a copy of it. Lock files are left out: tools
    /// write them anew.
    pub(crate) fn rewritten(&self, copy: &Path) -> Vec<String> {
        let checks = list(&self.new).into_iter().filter(|path| !path.contains("lock"));
        let checks = checks.filter_map(|path| Some((files::content(&self.new, &path)?, path)));
        let checks = checks.filter(|(text, path)| matches!(kinds::part(path, text), Part::Definition | Part::Test));
        // A copy of a program can be anything, so a file is read only if it has the same size and is no link.
        let is_same = |path: &str, text: &[u8]| {
            let about = fs::symlink_metadata(copy.join(path)).ok();
            about.is_some_and(|about| about.is_symlink() || about.len() == text.len() as u64)
                && files::content(copy, path).as_deref() == Some(text)
        };
        checks.filter(|(text, path)| !is_same(path, text)).map(|(_, path)| path).collect()
    }

    /// The changed paths that are links now and lead out of the tree.
    pub(crate) fn links_outside(&self) -> impl Iterator<Item = String> {
        self.changed.iter().filter_map(|changed| {
            let target = fs::read_link(self.new.join(&changed.path)).ok()?;
            let folder = Path::new(&changed.path).parent().unwrap_or(Path::new(""));
            let mut depth = folder.components().count();
            for part in target.components() {
                match part {
                    Component::ParentDir => match depth.checked_sub(1) {
                        Some(less) => depth = less,
                        None => return Some(changed.path.clone()),
                    },
                    Component::CurDir => {}
                    Component::Normal(_) => depth += 1,
                    Component::RootDir | Component::Prefix(_) => return Some(changed.path.clone()),
                }
            }
            None
        })
    }

    /// A hash of the new contents of some files.
    pub(crate) fn hash<'c>(changed: impl Iterator<Item = &'c Changed>) -> String {
        let mut hash = Sha256::new();
        for changed in changed {
            hash.update(changed.path.as_bytes());
            hash.update([0, u8::from(changed.after.is_some())]);
            hash.update(changed.after.as_deref().unwrap_or_default());
        }
        crate::hex(&hash.finalize())
    }
}

impl Changed {
    fn of(path: String, base: &Path, new: &Path) -> Option<Self> {
        let (before, after) = (files::content(base, &path), files::content(new, &path));
        let kind = |root: &Path| {
            use std::os::unix::fs::PermissionsExt;
            let about = fs::symlink_metadata(root.join(&path)).ok()?;
            Some((about.is_symlink(), about.permissions().mode() & 0o111))
        };
        if before == after && kind(base) == kind(new) {
            return None;
        }
        let part = kinds::part(&path, after.as_deref().or(before.as_deref()).unwrap_or_default());
        Some(Changed { path, part, before, after })
    }

    pub(crate) fn text_before(&self) -> String {
        String::from_utf8_lossy(self.before.as_deref().unwrap_or_default()).into_owned()
    }

    pub(crate) fn text_after(&self) -> String {
        String::from_utf8_lossy(self.after.as_deref().unwrap_or_default()).into_owned()
    }
}

/// Lists the files and links below a directory. Names that are not text are left out: no check is defined by them.
fn list(root: &Path) -> Vec<String> {
    let (mut found, mut waiting) = (Vec::new(), vec![PathBuf::new()]);
    while let Some(folder) = waiting.pop() {
        for entry in fs::read_dir(root.join(&folder)).into_iter().flatten().flatten() {
            let path = folder.join(entry.file_name());
            match entry.file_type() {
                Ok(kind) if kind.is_dir() => waiting.push(path),
                _ => found.extend(path.to_str().map(str::to_owned)),
            }
        }
    }
    found
}
