//! Maps of small repositories in each language, and the limits of a map.

#![allow(clippy::disallowed_methods, reason = "tests prepare the places")]
#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod cache;
mod folder;
mod languages;
mod ranking;

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use interlock_codemap::{Map, Survey, Wish};
use tempfile::TempDir;

/// A directory with files for one test.
struct Folder {
    scratch: TempDir,
}

impl Folder {
    fn new(files: &[(&str, &str)]) -> Self {
        let folder = Folder { scratch: tempfile::tempdir().unwrap() };
        files.iter().for_each(|(path, text)| folder.write(path, text.as_bytes()));
        folder
    }

    fn root(&self) -> PathBuf {
        self.scratch.path().join("work")
    }

    fn home(&self) -> PathBuf {
        self.scratch.path().join("home")
    }

    fn write(&self, path: &str, content: &[u8]) {
        let full = self.root().join(path);
        fs::create_dir_all(full.parent().unwrap()).unwrap();
        fs::write(full, content).unwrap();
    }

    fn git(&self, arguments: &[&str]) {
        let mut command = Command::new("git");
        command.args(["-c", "user.name=a", "-c", "user.email=a@b"]).args(arguments);
        assert!(command.current_dir(self.root()).status().unwrap().success(), "git {arguments:?}");
    }

    fn survey(&self) -> Survey {
        Survey::of(&self.root(), Some(&self.home())).unwrap()
    }

    fn map(&self, goal: &str) -> Map {
        self.survey().rank(&Wish::goal(goal)).map(1_000)
    }
}

/// Returns the paths on a map in their order.
fn paths(map: &Map) -> Vec<&str> {
    map.entries.iter().map(|entry| entry.path.as_str()).collect()
}

/// Returns the only file of a directory of caches.
fn only_file(folder: &Path) -> PathBuf {
    let mut found: Vec<_> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    assert_eq!(found.len(), 1, "{found:?}");
    found.remove(0)
}
