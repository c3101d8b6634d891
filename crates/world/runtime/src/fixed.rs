//! The workspace of a run: decided when the run begins, recorded in its first record, and fixed from then on.
//!
//! A confined program can make a repository in its directory, or replace one. Interlock works there unconfined, so it must
//! not ask the directory again what its workspace is (`crates/world/git/src/place.rs`).

use std::path::{Path, PathBuf};

use interlock_activity::{Outcome, code};
use interlock_journal::{Created, WorkspacePlace};
use interlock_workspace::{GitDirs, Place};

/// Returns the real path of the directory in which a run begins: the run records it and follows no link in it afterwards.
/// The directory of a run that another run starts is known, and programs may have worked above it.
pub(crate) fn real(folder: PathBuf, is_child: bool) -> PathBuf {
    if is_child { folder } else { folder.canonicalize().unwrap_or(folder) }
}

/// Returns the error of an attempt in a directory whose path has a link now.
pub(crate) fn lost(folder: &Path) -> Option<Outcome> {
    Place::check(folder).err().map(|error| Outcome::error(code::FAILED, format!("it was not started: {error}")))
}

/// Fixes the workspace of a run that begins, and returns it for the first record. A run that another run started has the
/// workspace of that run, whose programs may have worked there already.
pub(crate) fn begin(folder: &Path, is_child: bool) -> Option<WorkspacePlace> {
    let place = if is_child { Place::find(folder) } else { Place::now(folder) }.ok()?;
    let text = |path: &Path| path.to_str().map(str::to_owned);
    let git = match &place.repository {
        Some(dirs) => Some((text(&dirs.own)?, text(&dirs.common)?)),
        None => None,
    };
    let recorded = WorkspacePlace { root: text(&place.root)?, git };
    place.fix(folder);
    Some(recorded)
}

/// Fixes the workspace of a run that goes on, as its first record has it.
pub(crate) fn go_on(created: &Created) {
    if let Some((folder, place)) = recorded(created) {
        place.fix(folder);
    }
}

/// Does the same for a run that is only looked at.
pub fn fix_place(created: &Created) {
    if let Some((folder, place)) = recorded(created) {
        place.fix_if_free(folder);
    }
}

fn recorded(created: &Created) -> Option<(&Path, Place)> {
    let (folder, place) = (created.folder.as_ref()?, created.place.as_ref()?);
    let dirs = |(own, common): &(String, String)| GitDirs { own: own.into(), common: common.into() };
    Some((Path::new(folder), Place { root: place.root.clone().into(), repository: place.git.as_ref().map(dirs) }))
}

#[cfg(test)]
#[expect(clippy::disallowed_methods, reason = "the test prepares the place")]
mod tests {
    use super::*;

    #[test]
    fn a_repository_that_appears_during_a_run_is_only_that_of_later_runs() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        let first = begin(&root, false).unwrap();
        assert_eq!(first.git, None);
        for name in [".git/objects", ".git/refs"] {
            std::fs::create_dir_all(root.join(name)).unwrap();
        }
        std::fs::write(root.join(".git/HEAD"), "ref: refs/heads/main\n").unwrap();
        assert_eq!(begin(&root, true).as_ref(), Some(&first), "a run that this run starts has its workspace");
        assert_eq!(Place::find(&root).unwrap().repository, None);
        assert!(begin(&root, false).unwrap().git.is_some(), "a person has started another run");
    }

    #[test]
    fn the_policy_of_a_run_is_not_that_of_a_repository_that_appears_above_it() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        let (sub, deep) = (root.join("sub"), root.join("sub/deep"));
        std::fs::create_dir_all(&deep).unwrap();
        begin(&sub, false).unwrap();
        std::fs::create_dir(root.join(".git")).unwrap();
        assert_eq!(interlock_activity::project::root(&sub), sub);
        // A link that a program has put there is not followed.
        std::fs::rename(&sub, root.join("s2")).unwrap();
        std::os::unix::fs::symlink("s2/deep", &sub).unwrap();
        assert_eq!(interlock_activity::project::root(&sub), sub);
        let said = lost(&sub).unwrap();
        assert!(format!("{said:?}").contains("sub has become a symbolic link"), "{said:?}");
        assert!(interlock_activity::project::read(&sub, "x").is_err());
    }
}
