//! The structure of the workspace: the allowed dependencies between crates, their picture in ARCHITECTURE.md, and a
//! reason for every dependency.
//!
//! The manifests are the source of the picture. `UPDATE_DOCS=1` (or `make docs`) rewrites it.

mod manifest;
mod picture;
mod prose;

use std::path::{Path, PathBuf};

use manifest::{manifests, ours, parse};

/// The crates that each crate depends on. An arrow that is not listed is not allowed, and an arrow that no manifest has
/// must be removed from the list.
const ARROWS: &[(&str, &[&str])] = &[
    ("http", &[]),
    ("proxy", &[]),
    ("redact", &[]),
    ("regular-file", &[]),
    ("repair", &[]),
    ("sandbox", &[]),
    ("shell-effects", &[]),
    ("suggest", &[]),
    ("test-results", &[]),
    ("testkit-cli", &[]),
    ("workspace", &["redact"]),
    ("testkit-shell", &["shell-effects"]),
    ("chart", &["regular-file", "suggest"]),
    ("codemap", &["regular-file"]),
    ("policy", &["shell-effects", "suggest"]),
    ("project", &["regular-file"]),
    ("relay", &["http"]),
    ("core", &["chart"]),
    ("draw", &["chart"]),
    ("exchange", &["chart"]),
    ("checker", &["chart", "core", "suggest"]),
    ("conform", &["chart", "core", "exchange"]),
    ("journal", &["chart", "core", "redact"]),
    ("testkit", &["chart", "core"]),
    ("activity", &["chart", "core", "journal", "regular-file"]),
    ("sqlite", &["core", "journal"]),
    ("testkit-engine", &["chart", "core", "journal"]),
    ("knowledge", &["journal", "sqlite"]),
    ("process", &["activity", "journal", "proxy", "redact", "sandbox"]),
    ("testkit-activity", &["activity", "chart", "core", "journal", "sandbox"]),
    ("judge", &["activity", "chart", "core", "http", "journal", "process", "regular-file", "sandbox"]),
    ("runtime", &["activity", "chart", "core", "journal", "policy", "redact", "sandbox", "workspace"]),
    ("testbench", &["activity", "http", "journal", "process", "sandbox", "test-results"]),
    (
        "activities",
        &[
            "activity",
            "chart",
            "codemap",
            "http",
            "journal",
            "judge",
            "policy",
            "process",
            "project",
            "regular-file",
            "sandbox",
            "verification",
            "workspace",
        ],
    ),
    ("planning", &["activity", "chart", "http", "journal", "judge", "suggest"]),
    ("notebook", &["activity", "chart", "core", "journal", "process", "redact", "regular-file", "sandbox"]),
    (
        "agent",
        &[
            "activity",
            "chart",
            "journal",
            "process",
            "redact",
            "regular-file",
            "relay",
            "sandbox",
            "suggest",
            "workspace",
        ],
    ),
    (
        "firmware",
        &[
            "activity",
            "chart",
            "journal",
            "judge",
            "knowledge",
            "process",
            "regular-file",
            "repair",
            "suggest",
            "test-results",
            "testbench",
            "workspace",
        ],
    ),
    ("verification", &["activity", "codemap", "journal", "process", "sandbox", "test-results", "workspace"]),
    ("coder", &["activity", "chart", "journal", "judge", "process", "project", "tools", "verification", "workspace"]),
    (
        "prd",
        &["activity", "chart", "journal", "judge", "process", "project", "regular-file", "verification", "workspace"],
    ),
    ("tools", &["activity", "chart", "codemap", "journal", "process", "regular-file", "suggest", "workspace"]),
    ("follow", &["activity", "chart", "draw", "journal", "runtime"]),
    ("testkit-runs", &["activity", "chart", "core", "journal", "runtime", "sqlite", "testkit"]),
    ("server", &["activity", "chart", "draw", "follow", "http", "journal", "runtime", "sqlite"]),
    (
        "cli",
        &[
            "activities",
            "activity",
            "agent",
            "chart",
            "checker",
            "codemap",
            "coder",
            "conform",
            "core",
            "draw",
            "exchange",
            "firmware",
            "follow",
            "journal",
            "judge",
            "knowledge",
            "notebook",
            "planning",
            "policy",
            "prd",
            "process",
            "redact",
            "regular-file",
            "runtime",
            "sandbox",
            "server",
            "sqlite",
            "suggest",
            "test-results",
            "testbench",
            "tools",
            "verification",
            "workspace",
        ],
    ),
];

/// The number of crates in the longest chain of dependencies. Lower it when a chain gets shorter.
const CHAIN_MAX: usize = 9;

/// Crates without I/O; none of their dependencies may bring in a runtime, a clock or randomness.
const PURE: [&str; 10] =
    ["chart", "core", "checker", "draw", "exchange", "policy", "redact", "shell-effects", "suggest", "test-results"];
const NOT_FOR_PURE: [&str; 6] = ["tokio", "rand", "chrono", "time", "reqwest", "rusqlite"];

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

#[test]
fn crates_know_only_those_below_them() {
    let manifests = manifests();
    let known: Vec<_> = ARROWS.iter().map(|(name, _)| *name).collect();
    for (name, manifest) in &manifests {
        let Some((_, allowed)) = ARROWS.iter().find(|(known, _)| known == name) else {
            panic!(
                "crates/{name} has no arrows: add it to this test ({known:?}) and to the code map in ARCHITECTURE.md"
            );
        };
        let arrows = manifest.arrows();
        for target in &arrows {
            assert!(allowed.contains(target), "crates/{name} must not depend on crates/{target}");
        }
        for target in *allowed {
            assert!(arrows.contains(target), "crates/{name} does not depend on crates/{target}: remove the arrow");
        }
    }
    assert_eq!(manifests.len(), known.len(), "this test names a crate that is not there");
}

#[test]
fn chains_of_crates_are_short() {
    let manifests = manifests();
    let chain = picture::longest_chain(&manifests);
    assert_eq!(chain.len(), CHAIN_MAX, "{}", chain.join(" -> "));
}

#[test]
fn the_picture_in_the_architecture_is_that_of_the_manifests() {
    let path = root().join("ARCHITECTURE.md");
    let text = std::fs::read_to_string(&path).unwrap();
    let drawn = picture::put_into(&text, &picture::draw(&manifests()));
    if std::env::var_os("UPDATE_DOCS").is_some() {
        std::fs::write(&path, drawn).unwrap();
    } else {
        assert!(drawn == text, "the picture of the crates in ARCHITECTURE.md is out of date: run `make docs`");
    }
}

#[test]
fn the_code_map_names_every_crate() {
    let text = std::fs::read_to_string(root().join("ARCHITECTURE.md")).unwrap();
    for name in manifests().keys() {
        assert!(text.contains(&format!("| `crates/{name}` |")), "the code map in ARCHITECTURE.md lacks crates/{name}");
    }
}

#[test]
fn test_kits_are_dev_dependencies_only() {
    for (name, manifest) in manifests().iter().filter(|(name, _)| !name.starts_with("testkit")) {
        let kit = manifest.ordinary.iter().find(|dependency| dependency.starts_with("interlock-testkit"));
        assert_eq!(kit, None, "crates/{name} ships a test kit");
    }
}

/// The tests of the pure crates compile no database, no TLS and no grammars: their test kit depends on pure crates
/// only.
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
