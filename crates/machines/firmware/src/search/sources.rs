//! The sources that a search reads: the C files of the tree, keyed by their paths from the root of the workspace.

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
};

use globset::{Glob, GlobSet, GlobSetBuilder};

use interlock_beneath::Folder;

use super::Constraints;
use crate::listed::files;

/// The largest number of files, the largest file, and the greatest directory depth.
const FILES_MAX: usize = 2_000;
const FILE_BYTES_MAX: u64 = 1024 * 1024;
const DEPTH_MAX: usize = 12;

/// The C sources of a copy.
#[derive(Clone, Debug)]
pub(crate) struct Sources {
    /// The root directory of the copy.
    pub(crate) root: PathBuf,
    /// The repository's directory in it, to which relative paths of a build refer.
    pub(crate) folder: PathBuf,
    pub(crate) texts: BTreeMap<String, String>,
}

impl Sources {
    pub(crate) fn read(root: &Path, folder: &Path) -> Self {
        let mut sources = Sources { root: root.to_owned(), folder: folder.to_owned(), texts: BTreeMap::new() };
        for path in files(root, folder, DEPTH_MAX).into_iter().filter(|path| is_c(path)).take(FILES_MAX) {
            let text = interlock_beneath::read_text(root, &path, FILE_BYTES_MAX).ok().flatten();
            sources.texts.extend(path.to_str().map(str::to_owned).zip(text));
        }
        sources
    }

    /// Finds the source that a name in debug information or a log refers to, if it is one of these.
    pub(crate) fn named(&self, name: &str) -> Option<String> {
        let path = tidy(&self.folder.join(name));
        let within = path.strip_prefix(&self.root).ok().and_then(Path::to_str).map(str::to_owned);
        if let Some(found) = within.filter(|path| self.texts.contains_key(path)) {
            return Some(found);
        }
        // The file was compiled in another place or is named by its last directories only: accept a unique file with
        // that ending.
        let end = format!("/{}", name.trim_start_matches(['.', '/']));
        let mut ending = self.texts.keys().filter(|path| format!("/{path}").ends_with(&end));
        match (ending.next(), ending.next()) {
            (Some(only), None) => Some(only.clone()),
            _ => None,
        }
    }

    /// Returns the sources that a run may not change.
    pub(crate) fn kept_from(&self, constraints: &Constraints) -> Result<Vec<String>, globset::Error> {
        // A glob such as `src/**` is relative to the directory of the run.
        let within = self.folder.strip_prefix(&self.root).map(|path| path.to_string_lossy()).unwrap_or_default();
        let (allowed, forbidden) =
            (set(&within, &constraints.allowed_paths)?, set(&within, &constraints.forbidden_paths)?);
        let may = |path: &&String| (allowed.is_empty() || allowed.is_match(path)) && !forbidden.is_match(path);
        Ok(self.texts.keys().filter(|path| !may(path)).cloned().collect())
    }
}

/// Replaces a source of a copy. A build may have put a link in its place or in that of a directory.
pub(super) fn write(root: &Path, path: &Path, text: &str) -> Result<(), interlock_beneath::Error> {
    Folder::open(root)?.write(path, text.as_bytes())
}

fn is_c(path: &Path) -> bool {
    path.extension().and_then(|end| end.to_str()).is_some_and(|end| ["c", "h"].contains(&end))
}

fn set(within: &str, globs: &[String]) -> Result<GlobSet, globset::Error> {
    let mut builder = GlobSetBuilder::new();
    for glob in globs {
        let is_anywhere = within.is_empty() || glob.starts_with("**/");
        let glob = if is_anywhere { glob.clone() } else { format!("{within}/{glob}") };
        builder.add(Glob::new(&glob)?);
    }
    builder.build()
}

/// Resolves `.` and `..` in a path lexically.
fn tidy(path: &Path) -> PathBuf {
    let mut tidy = PathBuf::new();
    for part in path.components() {
        match part {
            std::path::Component::ParentDir => {
                tidy.pop();
            }
            std::path::Component::CurDir => {}
            other => tidy.push(other),
        }
    }
    tidy
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]
    use std::{
        fs,
        os::unix::fs::symlink,
        sync::atomic::{AtomicBool, Ordering},
        thread,
    };

    use rustix::fs::{CWD, RenameFlags, renameat_with};

    use super::*;

    #[test]
    fn source_is_found_by_its_debug_information_name() {
        let root = tempfile::tempdir().unwrap();
        let folder = root.path().join("fw");
        fs::create_dir_all(folder.join("src")).unwrap();
        fs::write(folder.join("src/a.c"), "int a;\n").unwrap();
        fs::write(folder.join("src/a.py"), "a\n").unwrap();
        let sources = Sources::read(root.path(), &folder);
        assert_eq!(sources.texts.keys().collect::<Vec<_>>(), ["fw/src/a.c"]);
        for name in [
            "src/a.c",
            "./src/a.c",
            "src/../src/a.c",
            "a.c",
            &folder.join("src/a.c").display().to_string(),
            "/elsewhere/src/a.c",
        ] {
            let expected = if name.starts_with("/elsewhere") { None } else { Some("fw/src/a.c".to_owned()) };
            assert_eq!(sources.named(name), expected, "{name}");
        }
        assert_eq!(sources.named("b.c"), None);
        let held = Constraints { allowed_paths: vec!["src/**".into()], forbidden_paths: vec!["**/a.*".into()] };
        assert_eq!(sources.kept_from(&held).unwrap(), ["fw/src/a.c"]);
    }

    #[test]
    fn a_link_that_a_build_put_in_place_of_a_source_is_not_followed() {
        let (root, elsewhere) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let theirs = elsewhere.path().join("a.c");
        fs::write(&theirs, "theirs").unwrap();
        fs::create_dir(root.path().join("src")).unwrap();
        symlink(&theirs, root.path().join("src/a.c")).unwrap();
        symlink(elsewhere.path(), root.path().join("link")).unwrap();
        write(root.path(), Path::new("src/a.c"), "int a;\n").unwrap();
        assert!(write(root.path(), Path::new("link/a.c"), "int a;\n").is_err());
        assert_eq!(fs::read_to_string(root.path().join("src/a.c")).unwrap(), "int a;\n");
        // A second program exchanges the directory for a link during the write.
        let (dir, link, done) = (root.path().join("src"), root.path().join("link"), AtomicBool::new(false));
        thread::scope(|scope| {
            scope.spawn(|| {
                while !done.load(Ordering::Relaxed) {
                    let _ = renameat_with(CWD, &dir, CWD, &link, RenameFlags::EXCHANGE);
                }
            });
            (0..2_000).for_each(|_| drop(write(root.path(), Path::new("src/a.c"), "int b;\n")));
            done.store(true, Ordering::Relaxed);
        });
        assert_eq!(fs::read_to_string(theirs).unwrap(), "theirs");
        assert_eq!(fs::read_dir(elsewhere.path()).unwrap().count(), 1);
    }
}
