//! The files of a repository that hold its history: packs, loose objects, and the list of other object folders.
//!
//! New objects must still be made beside them, so the folders stay writable and each file is protected by itself. The folders are listed, too: if one
//! could be renamed, its files would go with it. Indexes that git writes anew (commit graphs, the index of all packs) are left out, because
//! replacing them is ordinary work.

use std::{
    fs,
    path::{Path, PathBuf},
};

use interlock_beneath::Folder;

use crate::{Rules, repository};

/// How many files are protected: each needs a mount. Packs come first.
const FILES_MAX: usize = 10_000;

/// Files of history, and the folders on the way to them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct History {
    /// The folders with objects, each with those of its files that must not change.
    pub(crate) stores: Vec<Store>,
    /// True if no file was left out.
    pub(crate) is_whole: bool,
}

/// A folder of objects.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Store {
    /// The folder `objects`.
    pub(crate) objects: PathBuf,
    /// Folders that must not be renamed, outer ones first.
    pub(crate) folders: Vec<PathBuf>,
    /// Files that must not change, relative to `objects`.
    pub(crate) files: Vec<PathBuf>,
}

/// The history of the repository of a workspace and of its submodules. A folder that the machine lets the program write is left out.
pub(crate) fn of(rules: &Rules) -> History {
    let mut history = History { stores: Vec::new(), is_whole: true };
    let mut room = FILES_MAX;
    for git_folder in repository::git_folders(&rules.workspace) {
        // With more submodules than can be listed the program is not started.
        let modules = repository::modules(&git_folder).unwrap_or_default();
        for folder in std::iter::once(git_folder.clone()).chain(modules) {
            let is_open = rules.write.iter().any(|place| folder.join("objects").starts_with(place));
            if is_folder(&folder.join("objects")) && !is_open {
                let store = Store::read(&folder, &mut room);
                history.is_whole &= store.is_some();
                history.stores.extend(store);
            }
        }
    }
    history
}

impl Store {
    /// Reads the folder of objects of a git folder. Returns nothing if there is no room for all of its files.
    fn read(git_folder: &Path, room: &mut usize) -> Option<Self> {
        let objects = git_folder.join("objects");
        let mut store = Store { folders: vec![git_folder.to_owned(), objects.clone()], ..Store::default() };
        store.take(&objects, "pack", |name| name.starts_with("pack-"));
        store.take(&objects, "info", |name| name == "alternates");
        for name in names(&objects).into_iter().filter(|name| is_hex(name, 2)) {
            store.take(&objects, &name, |name| is_hex(name, 38) || is_hex(name, 62));
        }
        store.objects = objects;
        *room = room.checked_sub(store.files.len())?;
        Some(store)
    }

    fn take(&mut self, objects: &Path, folder: &str, is_meant: impl Fn(&str) -> bool) {
        let path = objects.join(folder);
        if !is_folder(&path) {
            return;
        }
        let is_file = |name: &String| fs::symlink_metadata(path.join(name)).is_ok_and(|about| about.is_file());
        let files = names(&path).into_iter().filter(|name| is_meant(name)).filter(is_file);
        self.files.extend(files.map(|name| Path::new(folder).join(name)));
        self.folders.push(path);
    }
}

fn names(folder: &Path) -> Vec<String> {
    let names = Folder::open(folder).and_then(|folder| folder.names(Path::new("")));
    names.unwrap_or_default().into_iter().filter_map(|name| name.into_string().ok()).collect()
}

fn is_hex(name: &str, length: usize) -> bool {
    name.len() == length && name.bytes().all(|byte| byte.is_ascii_hexdigit())
}

fn is_folder(path: &Path) -> bool {
    fs::symlink_metadata(path).is_ok_and(|about| about.is_dir())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rules(work: &Path) -> Rules {
        for file in [
            "pack/pack-1.pack",
            "pack/pack-1.idx",
            "pack/multi-pack-index",
            "pack/tmp_pack_x",
            "info/alternates",
            "info/commit-graph",
        ] {
            let path = work.join(".git/objects").join(file);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, "x").unwrap();
        }
        let loose = work.join(".git/objects/ab");
        fs::create_dir_all(&loose).unwrap();
        fs::write(loose.join("0".repeat(38)), "x").unwrap();
        fs::write(loose.join("tmp_obj_x"), "x").unwrap();
        Rules { workspace: work.to_owned(), ..Rules::default() }
    }

    #[test]
    fn objects_are_history_and_indexes_that_git_replaces_are_not() {
        let work = tempfile::tempdir().unwrap();
        let history = of(&rules(work.path()));
        assert!(history.is_whole);
        let mut files = history.stores[0].files.clone();
        files.sort();
        let loose = format!("ab/{}", "0".repeat(38));
        assert_eq!(
            files,
            [loose.as_str(), "info/alternates", "pack/pack-1.idx", "pack/pack-1.pack"].map(PathBuf::from)
        );
        let git = work.path().join(".git");
        let folders = [git.clone(), git.join("objects"), git.join("objects/pack")];
        assert_eq!(history.stores[0].folders[..3], folders);
    }

    #[test]
    fn what_the_machine_opens_is_not_protected() {
        let work = tempfile::tempdir().unwrap();
        let mut rules = rules(work.path());
        rules.write.push(work.path().join(".git"));
        assert_eq!(of(&rules).stores, []);
    }

    #[test]
    fn too_many_files_are_left_out_and_that_is_known() {
        let work = tempfile::tempdir().unwrap();
        let rules = rules(work.path());
        assert_eq!(Store::read(&rules.workspace.join(".git"), &mut 3), None);
        assert!(Store::read(&rules.workspace.join(".git"), &mut 4).is_some());
    }
}
