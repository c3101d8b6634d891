//! The dependencies of a project that git ignores: found, listed when the run begins, and compared later.
//!
//! A program may replace a package in `node_modules`, and no diff shows that. So the list has the times that only the
//! kernel sets. The lists are kept in the store, which no program can read. Programs may work in the checkout meanwhile, so
//! it is read by descriptor.

#![expect(clippy::disallowed_methods, reason = "these files are in the store, which no program can change")]

use std::{
    collections::BTreeMap,
    fs, io,
    path::{Path, PathBuf},
};

use interlock_beneath::{FileType, Folder, Stat};
use sha2::{Digest, Sha256};

use super::names;

/// Names of directories with dependencies that package managers fill.
const NAMES: [&str; 14] = [
    "node_modules",
    ".venv",
    "venv",
    "bower_components",
    "jspm_packages",
    ".yarn",
    "vendor",
    "Pods",
    "deps",
    ".bundle",
    ".eggs",
    "_opam",
    "elm-stuff",
    ".pub-cache",
];

/// Directories that hold no dependencies.
const SKIPPED: [&str; 4] = [".git", "target", "dist", "build"];

/// How deep they are looked for. Packages of a workspace are seldom deeper.
const DEPTH_MAX: usize = 4;

/// Directories inside of dependencies that programs fill while they run. They are in no list, so the room shows none of
/// them, at any depth.
const PASSING: [&str; 4] = ["__pycache__", ".cache", ".vite", ".vitest"];

/// The directories with dependencies of a workspace that are no part of a tree. `in_tree` says whether a path is.
pub(crate) fn find(root: &Path, more: &[String], in_tree: impl Fn(&Path) -> bool) -> Vec<PathBuf> {
    let (mut found, mut waiting) = (Vec::new(), vec![(PathBuf::new(), 0)]);
    while let Some((folder, depth)) = waiting.pop() {
        for (path, about) in entries(root, &folder) {
            let kind = kind(&about);
            // A link leads out of the workspace, where programs of a run cannot write; only its target is compared.
            if kind == FileType::Symlink && is_usual(&path) && !in_tree(&path) {
                found.push(path);
                continue;
            }
            if kind != FileType::Directory || SKIPPED.iter().any(|skipped| path.ends_with(skipped)) {
                continue;
            }
            if (is_usual(&path) || more.iter().any(|more| Path::new(more) == path)) && !in_tree(&path) {
                found.push(path);
            } else if depth + 1 < DEPTH_MAX && in_tree(&path) {
                waiting.push((path, depth + 1));
            }
        }
    }
    found.sort();
    found
}

/// Lists what a directory of a checkout holds, by name. What cannot be read is left out.
fn entries(root: &Path, folder: &Path) -> Vec<(PathBuf, Stat)> {
    let Ok(here) = Folder::open(root).and_then(|root| root.folder(folder)) else { return Vec::new() };
    let names = here.names(Path::new("")).unwrap_or_default();
    names.into_iter().filter_map(|name| Some((folder.join(&name), here.stat(Path::new(&name)).ok()?))).collect()
}

fn kind(about: &Stat) -> FileType {
    FileType::from_raw_mode(about.st_mode)
}

/// Returns true if package managers use this name for dependencies.
pub(crate) fn is_usual(path: &Path) -> bool {
    let Some(name) = path.file_name() else { return false };
    NAMES.iter().any(|known| name == *known) || name.to_string_lossy().ends_with(".egg-info")
}

/// The state of dependencies: each package with a hash of its files' names, sizes and times.
pub(crate) type Inventory = BTreeMap<String, String>;

/// Lists the packages below directories of a workspace, and the directories there that are left out of the list.
pub(crate) fn inventory(root: &Path, folders: &[PathBuf]) -> (Inventory, Vec<PathBuf>) {
    let (mut packages, mut left_out): (BTreeMap<String, Sha256>, _) = (BTreeMap::new(), Vec::new());
    for folder in folders {
        if let Ok(target) = Folder::open(root).and_then(|root| root.read_link(folder)) {
            packages.entry(names::text(folder)).or_default().update(target.as_os_str().as_encoded_bytes());
            continue;
        }
        let mut waiting = vec![folder.clone()];
        while let Some(at) = waiting.pop() {
            for (path, about) in entries(root, &at) {
                if PASSING.iter().any(|passing| path.ends_with(passing)) {
                    left_out.push(path);
                    continue;
                }
                let hash = packages.entry(package(folder, &path)).or_default();
                if kind(&about) == FileType::Directory {
                    waiting.push(path);
                    continue;
                }
                let facts = (about.st_size, about.st_mode, about.st_ino);
                let times = (about.st_ctime, about.st_ctime_nsec, about.st_mtime, about.st_mtime_nsec);
                hash.update(format!("{}\0{facts:?}\0{times:?}\n", path.display()).as_bytes());
            }
        }
    }
    (packages.into_iter().map(|(name, hash)| (name, crate::hex(&hash.finalize()))).collect(), left_out)
}

/// The most other files of a workspace that are listed.
pub(crate) const OTHERS_MAX: usize = 20_000;

/// Lists all other files of a workspace, each with a hash of its size and times.
pub(crate) fn others(root: &Path, folders: &[PathBuf]) -> Inventory {
    let (mut found, mut waiting) = (Inventory::new(), vec![PathBuf::new()]);
    while let Some(at) = waiting.pop() {
        for (path, about) in entries(root, &at) {
            let is_skipped = SKIPPED.iter().chain(&PASSING).any(|skipped| path.ends_with(skipped));
            if is_skipped || folders.contains(&path) {
                continue;
            }
            if kind(&about) == FileType::Directory {
                waiting.push(path);
            } else if found.len() < OTHERS_MAX {
                let facts = format!("{} {} {} {}", about.st_size, about.st_ino, about.st_ctime, about.st_ctime_nsec);
                found.insert(names::text(&path), facts);
            }
        }
    }
    found
}

/// Names the package of a file: two names below its directory, or as many as lead to a package of Python.
fn package(folder: &Path, path: &Path) -> String {
    let inner: Vec<_> = path.strip_prefix(folder).unwrap_or(path).components().collect();
    let depth = match inner.iter().position(|part| part.as_os_str() == "site-packages") {
        Some(at) => at + 2,
        None if inner.first().is_some_and(|first| first.as_os_str().as_encoded_bytes().starts_with(b"@")) => 2,
        None => 1,
    };
    names::text(&inner.iter().take(depth).fold(folder.to_owned(), |path, part| path.join(part)))
}

/// Returns the packages that differ.
pub(crate) fn changed(before: &Inventory, now: &Inventory) -> Vec<String> {
    let names: std::collections::BTreeSet<&String> = before.keys().chain(now.keys()).collect();
    names.into_iter().filter(|name| before.get(*name) != now.get(*name)).cloned().collect()
}

/// Reads the list of a run, if it has one.
pub(crate) fn known(file: &Path) -> io::Result<Option<Inventory>> {
    match fs::read(file) {
        Ok(text) => serde_json::from_slice(&text).map(Some).map_err(io::Error::other),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}

/// Reads the list of a run, or writes it if the run has none yet.
pub(crate) fn remembered(file: &Path, now: &Inventory) -> io::Result<Inventory> {
    if let Some(known) = known(file)? {
        return Ok(known);
    }
    file.parent().map_or(Ok(()), fs::create_dir_all)?;
    fs::write(file, serde_json::to_vec(now)?)?;
    Ok(now.clone())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_replaced_package_is_noticed_even_with_its_old_size_and_time() -> io::Result<()> {
        let root = tempfile::tempdir()?;
        let file = root.path().join("node_modules/tape/index.js");
        fs::create_dir_all(file.parent().unwrap_or(root.path()))?;
        fs::write(&file, "right")?;
        let folders = find(root.path(), &[], |_| false);
        let (before, _) = inventory(root.path(), &folders);
        let time = fs::metadata(&file)?.modified()?;
        std::thread::sleep(std::time::Duration::from_millis(20));
        fs::write(&file, "wrong")?;
        fs::File::options().write(true).open(&file)?.set_modified(time)?;
        assert_eq!(changed(&before, &inventory(root.path(), &folders).0), ["node_modules/tape"]);
        Ok(())
    }
}
