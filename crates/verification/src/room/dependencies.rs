//! The dependencies of a project that git ignores: found, listed when the run begins, and compared later.
//!
//! A program may replace a package in `node_modules`, and no diff shows that. So the list has the times that only the
//! kernel sets. The lists are kept in the store, which no program can read.

use std::{
    collections::BTreeMap,
    fs, io,
    os::unix::fs::MetadataExt,
    path::{Path, PathBuf},
};

use sha2::{Digest, Sha256};

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

/// Directories inside of dependencies that programs fill while they run. Nothing there is believed: the room gives
/// programs no such file.
const PASSING: [&str; 4] = ["__pycache__", ".cache", ".vite", ".vitest"];

/// The directories with dependencies of a workspace that are no part of a tree. `in_tree` says whether a path is.
pub(crate) fn find(root: &Path, more: &[String], in_tree: impl Fn(&Path) -> bool) -> Vec<PathBuf> {
    let (mut found, mut waiting) = (Vec::new(), vec![(PathBuf::new(), 0)]);
    while let Some((folder, depth)) = waiting.pop() {
        let Ok(entries) = fs::read_dir(root.join(&folder)) else { continue };
        for entry in entries.flatten() {
            let (path, name) = (folder.join(entry.file_name()), entry.file_name());
            let Ok(kind) = entry.file_type() else { continue };
            // A link leads out of the workspace, where programs of a run cannot write; only its target is compared.
            if kind.is_symlink() && is_usual(&path) && !in_tree(&path) {
                found.push(path);
                continue;
            }
            if !kind.is_dir() || SKIPPED.iter().any(|skipped| name == *skipped) {
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

/// Returns true if package managers use this name for dependencies.
pub(crate) fn is_usual(path: &Path) -> bool {
    let Some(name) = path.file_name() else { return false };
    NAMES.iter().any(|known| name == *known) || name.to_string_lossy().ends_with(".egg-info")
}

/// The state of dependencies: each package with a hash of its files' names, sizes and times.
pub(crate) type Inventory = BTreeMap<String, String>;

/// Lists the packages below directories of a workspace.
pub(crate) fn inventory(root: &Path, folders: &[PathBuf]) -> Inventory {
    let mut packages: BTreeMap<String, Sha256> = BTreeMap::new();
    for folder in folders {
        if let Ok(target) = fs::read_link(root.join(folder)) {
            packages.entry(folder.display().to_string()).or_default().update(target.as_os_str().as_encoded_bytes());
            continue;
        }
        let mut waiting = vec![folder.clone()];
        while let Some(at) = waiting.pop() {
            let Ok(entries) = fs::read_dir(root.join(&at)) else { continue };
            let mut names: Vec<_> = entries.flatten().map(|entry| entry.file_name()).collect();
            names.sort();
            for name in names.into_iter().filter(|name| PASSING.iter().all(|passing| *name != **passing)) {
                let path = at.join(&name);
                let Ok(about) = fs::symlink_metadata(root.join(&path)) else { continue };
                let hash = packages.entry(package(folder, &path)).or_default();
                if about.is_dir() {
                    waiting.push(path);
                    continue;
                }
                let times = [about.ctime(), about.ctime_nsec(), about.mtime(), about.mtime_nsec()];
                let facts =
                    format!("{}\0{}\0{}\0{}\0{times:?}\n", path.display(), about.len(), about.mode(), about.ino());
                hash.update(facts.as_bytes());
            }
        }
    }
    packages.into_iter().map(|(name, hash)| (name, crate::hex(&hash.finalize()))).collect()
}

/// The most other files of a workspace that are listed.
const OTHERS_MAX: usize = 20_000;

/// Lists all other files of a workspace, each with a hash of its size and times.
pub(crate) fn others(root: &Path, folders: &[PathBuf]) -> Inventory {
    let (mut found, mut waiting) = (Inventory::new(), vec![PathBuf::new()]);
    while let Some(at) = waiting.pop() {
        for entry in fs::read_dir(root.join(&at)).into_iter().flatten().flatten() {
            let (path, name) = (at.join(entry.file_name()), entry.file_name());
            let is_skipped = [&SKIPPED[..], &PASSING].concat().iter().any(|skipped| name == *skipped);
            let Ok(about) = entry.metadata() else { continue };
            if is_skipped || folders.contains(&path) {
                continue;
            }
            if about.is_dir() {
                waiting.push(path);
            } else if found.len() < OTHERS_MAX {
                let facts = format!("{} {} {} {}", about.len(), about.ino(), about.ctime(), about.ctime_nsec());
                found.insert(path.display().to_string(), facts);
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
    inner.iter().take(depth).fold(folder.to_owned(), |path, part| path.join(part)).display().to_string()
}

/// Returns the packages that differ.
pub(crate) fn changed(before: &Inventory, now: &Inventory) -> Vec<String> {
    let names: std::collections::BTreeSet<&String> = before.keys().chain(now.keys()).collect();
    names.into_iter().filter(|name| before.get(*name) != now.get(*name)).cloned().collect()
}

/// Reads the list of a run, or writes it if the run has none yet. Returns the list and whether it existed.
pub(crate) fn remembered(file: &Path, now: &Inventory) -> io::Result<(Inventory, bool)> {
    match fs::read(file) {
        Ok(text) => serde_json::from_slice(&text).map(|known| (known, true)).map_err(io::Error::other),
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            file.parent().map_or(Ok(()), fs::create_dir_all)?;
            fs::write(file, serde_json::to_vec(now)?)?;
            Ok((now.clone(), false))
        }
        Err(error) => Err(error),
    }
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
        let before = inventory(root.path(), &folders);
        let time = fs::metadata(&file)?.modified()?;
        std::thread::sleep(std::time::Duration::from_millis(20));
        fs::write(&file, "wrong")?;
        fs::File::options().write(true).open(&file)?.set_modified(time)?;
        assert_eq!(changed(&before, &inventory(root.path(), &folders)), ["node_modules/tape"]);
        Ok(())
    }
}
