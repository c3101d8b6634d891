//! Reads the parts of the workspace's manifests that these tests need: names of dependencies.

use std::{
    collections::{BTreeMap, BTreeSet},
    path::{Path, PathBuf},
};

use super::root;

/// The dependencies of a crate: ordinary ones, and those for tests only.
#[derive(Debug, Default)]
pub(crate) struct Manifest {
    pub(crate) ordinary: BTreeSet<String>,
    pub(crate) tests_only: BTreeSet<String>,
}

impl Manifest {
    /// Returns the crates of this workspace that the crate depends on.
    pub(crate) fn arrows(&self) -> BTreeSet<&str> {
        self.ordinary.iter().filter_map(|dependency| ours(dependency)).collect()
    }
}

/// Returns the directories of all crates, which lie in directories of groups.
pub(crate) fn folders() -> Vec<PathBuf> {
    let inside = |folder: &Path| std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let mut folders: Vec<_> = inside(&root().join("crates")).flat_map(|group| inside(&group)).collect();
    folders.retain(|folder| folder.join("Cargo.toml").exists());
    folders.sort();
    folders
}

/// Reads the manifest of every crate, by the name of its directory.
pub(crate) fn manifests() -> BTreeMap<String, Manifest> {
    folders()
        .into_iter()
        .map(|folder| {
            let text = std::fs::read_to_string(folder.join("Cargo.toml")).unwrap();
            (folder.file_name().unwrap().to_string_lossy().into_owned(), parse(&text))
        })
        .collect()
}

/// Reads the dependencies of a manifest.
pub(crate) fn parse(text: &str) -> Manifest {
    let (mut manifest, mut section) = (Manifest::default(), "");
    for line in text.lines() {
        if let Some(name) = line.strip_prefix('[') {
            section = name.trim_end_matches(']');
        } else if let Some((name, _)) = line.split_once(['.', '=']) {
            let name = name.trim().to_owned();
            match section {
                "dependencies" | "build-dependencies" => drop(manifest.ordinary.insert(name)),
                "dev-dependencies" => drop(manifest.tests_only.insert(name)),
                _ => {}
            }
        }
    }
    manifest
}

/// Returns the directory of a dependency, if it is a crate of this workspace.
pub(crate) fn ours(name: &str) -> Option<&str> {
    name.strip_prefix("interlock-")
}

#[test]
fn the_parser_of_manifests_sees_what_is_there() {
    let text = "[package]\nname = \"x\"\n[dependencies]\na.workspace = true\nb = \"1\"\n[dev-dependencies]\nc.workspace = true\n";
    let manifest = parse(text);
    assert_eq!(manifest.ordinary, BTreeSet::from(["a".to_owned(), "b".to_owned()]));
    assert_eq!(manifest.tests_only, BTreeSet::from(["c".to_owned()]));
}
