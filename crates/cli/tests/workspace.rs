//! The shape of the workspace: which crate may know which, and that every dependency is accounted for.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use std::{
    collections::{BTreeMap, BTreeSet},
    path::{Path, PathBuf},
};

/// Every crate, with the crates of the workspace that it may build on. An arrow that is not here is not allowed.
const ARROWS: &[(&str, &[&str])] = &[
    ("http", &[]),
    ("regular-file", &[]),
    ("chart", &["regular-file"]),
    ("redact", &[]),
    ("core", &["chart"]),
    ("checker", &["chart", "core"]),
    ("conform", &["chart", "core"]),
    ("journal", &["chart", "redact", "core"]),
    ("sqlite", &["core", "journal"]),
    ("knowledge", &["journal", "sqlite"]),
    ("activity", &["regular-file", "chart", "redact", "core", "journal"]),
    ("policy", &[]),
    ("workspace", &["chart", "redact", "core", "journal", "activity"]),
    ("sandbox", &[]),
    ("map", &["regular-file"]),
    ("program", &["redact", "journal", "activity", "sandbox"]),
    ("judge", &["http", "regular-file", "chart", "redact", "core", "journal", "activity", "program", "sandbox"]),
    ("testbench", &["http", "journal", "activity", "program", "sandbox"]),
    ("repair", &[]),
    (
        "firmware",
        &[
            "regular-file",
            "chart",
            "journal",
            "activity",
            "judge",
            "knowledge",
            "program",
            "repair",
            "testbench",
            "workspace",
        ],
    ),
    (
        "activities",
        &[
            "http",
            "regular-file",
            "chart",
            "journal",
            "map",
            "activity",
            "workspace",
            "judge",
            "policy",
            "program",
            "sandbox",
        ],
    ),
    ("runtime", &["chart", "redact", "core", "journal", "activity", "workspace", "policy", "program"]),
    (
        "cli",
        &[
            "chart",
            "redact",
            "core",
            "checker",
            "conform",
            "journal",
            "sqlite",
            "knowledge",
            "map",
            "activity",
            "workspace",
            "judge",
            "policy",
            "program",
            "sandbox",
            "testbench",
            "firmware",
            "activities",
            "runtime",
        ],
    ),
    ("testkit", &["chart", "core"]),
    ("testkit-activity", &["chart", "core", "journal", "activity", "sandbox"]),
    ("testkit-cli", &[]),
    ("testkit-engine", &["chart", "core", "journal"]),
    ("testkit-runs", &["chart", "core", "journal", "sqlite", "activity", "runtime", "testkit"]),
];

/// Crates that compute and touch nothing; no dependency of theirs may bring in a runtime, a clock or chance.
const PURE: [&str; 5] = ["chart", "core", "checker", "policy", "redact"];
const NOT_FOR_PURE: [&str; 6] = ["tokio", "rand", "chrono", "time", "reqwest", "rusqlite"];

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// What a crate's manifest depends on: ordinary ones, and those for tests only.
#[derive(Debug, Default)]
struct Manifest {
    ordinary: BTreeSet<String>,
    tests_only: BTreeSet<String>,
}

fn manifests() -> BTreeMap<String, Manifest> {
    let folders = std::fs::read_dir(root().join("crates")).unwrap().map(|entry| entry.unwrap().path());
    let folders = folders.filter(|folder| folder.join("Cargo.toml").exists());
    folders
        .map(|folder| {
            let text = std::fs::read_to_string(folder.join("Cargo.toml")).unwrap();
            (folder.file_name().unwrap().to_string_lossy().into_owned(), parse(&text))
        })
        .collect()
}

fn parse(text: &str) -> Manifest {
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

fn ours(name: &str) -> Option<&str> {
    name.strip_prefix("interlock-")
}

#[test]
fn crates_know_only_those_below_them() {
    let manifests = manifests();
    let known: Vec<_> = ARROWS.iter().map(|(name, _)| *name).collect();
    for (name, manifest) in &manifests {
        let Some((_, allowed)) = ARROWS.iter().find(|(known, _)| known == name) else {
            panic!("crates/{name} has no arrows: add it to this test ({known:?}) and to ARCHITECTURE.md");
        };
        for target in manifest.ordinary.iter().filter_map(|dependency| ours(dependency)) {
            assert!(allowed.contains(&target), "crates/{name} must not depend on crates/{target}");
        }
    }
    assert_eq!(manifests.len(), known.len(), "this test names a crate that is not there");
}

#[test]
fn test_kits_are_dev_dependencies_only() {
    for (name, manifest) in manifests().iter().filter(|(name, _)| !name.starts_with("testkit")) {
        let kit = manifest.ordinary.iter().find(|dependency| dependency.starts_with("interlock-testkit"));
        assert_eq!(kit, None, "crates/{name} ships a test kit");
    }
}

/// The tests of the pure crates compile no database, no TLS and no grammars: their kit builds on pure crates only.
#[test]
fn the_kit_of_the_pure_crates_is_pure() {
    let manifests = manifests();
    for name in ["core", "checker"] {
        let kits = manifests[name].tests_only.iter().filter(|dependency| dependency.starts_with("interlock-testkit"));
        assert_eq!(kits.collect::<Vec<_>>(), ["interlock-testkit"], "crates/{name}");
    }
    let builds_on: Vec<_> = manifests["testkit"].ordinary.iter().filter_map(|dependency| ours(dependency)).collect();
    assert_eq!(builds_on, ["chart", "core"]);
}

#[test]
fn pure_crates_bring_in_nothing_that_touches_the_world() {
    for (name, manifest) in manifests().iter().filter(|(name, _)| PURE.contains(&name.as_str())) {
        for forbidden in NOT_FOR_PURE {
            assert!(!manifest.ordinary.contains(forbidden), "crates/{name} must not depend on {forbidden}");
        }
        assert!(root().join("crates").join(name).join("clippy.toml").exists(), "crates/{name} has no clippy.toml");
    }
}

#[test]
fn every_direct_dependency_has_its_reason_in_the_documents() {
    let listed = std::fs::read_to_string(root().join("docs/dependencies.md")).unwrap();
    for (name, manifest) in manifests() {
        for dependency in manifest.ordinary.union(&manifest.tests_only).filter(|name| ours(name).is_none()) {
            let word = format!("`{dependency}`");
            assert!(listed.contains(&word), "crates/{name} depends on {dependency}: say why in docs/dependencies.md");
        }
    }
}

#[test]
fn the_workspace_lists_no_dependency_that_nobody_uses() {
    let text = std::fs::read_to_string(root().join("Cargo.toml")).unwrap();
    let mut manifests = manifests();
    if let Ok(benches) = std::fs::read_to_string(root().join("benches/Cargo.toml")) {
        manifests.insert("benches".to_owned(), parse(&benches));
    }
    let used = |name: &str| {
        manifests.values().any(|manifest| manifest.ordinary.contains(name) || manifest.tests_only.contains(name))
    };
    let lines = text.lines().skip_while(|line| *line != "[workspace.dependencies]").skip(1);
    for line in lines.take_while(|line| !line.starts_with('[')) {
        if let Some((name, _)) = line.split_once(" =") {
            assert!(used(name), "{name} is listed in Cargo.toml and used by no crate");
        }
    }
}

#[test]
fn the_parser_of_manifests_sees_what_is_there() {
    let text = "[package]\nname = \"x\"\n[dependencies]\na.workspace = true\nb = \"1\"\n[dev-dependencies]\nc.workspace = true\n";
    let manifest = parse(text);
    assert_eq!(manifest.ordinary, BTreeSet::from(["a".to_owned(), "b".to_owned()]));
    assert_eq!(manifest.tests_only, BTreeSet::from(["c".to_owned()]));
}
