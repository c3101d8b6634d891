//! The structure of the workspace: the allowed dependencies between crates, their picture in ARCHITECTURE.md, and a
//! reason for every dependency.
//!
//! The manifests are the source of the picture. `UPDATE_DOCS=1` (or `make docs`) rewrites it.

mod codes;
mod manifest;
mod picture;
mod prose;
mod references;
mod sections;

use std::path::{Path, PathBuf};

use manifest::{folders, manifests, ours, parse};

/// The crates that each crate depends on. An arrow that is not listed is not allowed, and an arrow that no manifest has
/// must be removed from the list.
const ARROWS: &[(&str, &[&str])] = &[
    ("http", &[]),
    ("proxy", &[]),
    ("redact", &[]),
    ("beneath", &[]),
    ("repair", &[]),
    ("sandbox", &["beneath", "git"]),
    ("shell-effects", &[]),
    ("suggest", &[]),
    ("test-results", &[]),
    ("triage", &[]),
    ("testkit-cli", &[]),
    ("git", &["beneath"]),
    ("workspace", &["beneath", "git", "redact"]),
    ("testkit-shell", &["shell-effects"]),
    ("chart", &["beneath", "suggest"]),
    ("codemap", &["beneath", "git"]),
    ("policy", &["shell-effects", "suggest"]),
    ("project", &["beneath"]),
    ("relay", &["http"]),
    ("core", &["chart"]),
    ("draw", &["chart"]),
    ("exchange", &["chart"]),
    ("checker", &["chart", "core", "suggest"]),
    ("conform", &["chart", "core", "exchange"]),
    ("journal", &["chart", "core", "redact"]),
    ("testkit", &["chart", "core"]),
    ("activity", &["chart", "core", "journal", "beneath", "git", "policy"]),
    ("sqlite", &["core", "journal"]),
    ("testkit-engine", &["chart", "core", "journal"]),
    ("knowledge", &["journal", "sqlite"]),
    ("process", &["activity", "journal", "proxy", "redact", "sandbox", "policy"]),
    ("testkit-activity", &["activity", "chart", "core", "journal", "sandbox"]),
    ("model", &["http", "sandbox"]),
    ("judge", &["activity", "chart", "core", "http", "journal", "model", "process", "beneath", "sandbox", "triage"]),
    ("runtime", &["activity", "chart", "core", "journal", "policy", "redact", "sandbox", "workspace"]),
    ("testbench", &["activity", "beneath", "http", "journal", "process", "sandbox", "test-results"]),
    (
        "activities",
        &[
            "activity",
            "chart",
            "codemap",
            "git",
            "http",
            "journal",
            "judge",
            "policy",
            "process",
            "project",
            "beneath",
            "sandbox",
            "triage",
            "verification",
            "workspace",
            "tools",
        ],
    ),
    ("planning", &["activity", "chart", "http", "journal", "judge", "suggest"]),
    ("notebook", &["activity", "chart", "core", "journal", "process", "redact", "beneath", "sandbox", "policy"]),
    (
        "agent",
        &[
            "activity",
            "chart",
            "git",
            "journal",
            "process",
            "redact",
            "beneath",
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
            "model",
            "process",
            "beneath",
            "repair",
            "suggest",
            "test-results",
            "testbench",
            "workspace",
        ],
    ),
    (
        "verification",
        &["activity", "beneath", "codemap", "journal", "process", "sandbox", "test-results", "triage", "workspace"],
    ),
    ("coder", &["activity", "chart", "journal", "process", "project", "tools", "verification", "workspace", "policy"]),
    ("prd", &["activity", "chart", "journal", "process", "project", "beneath", "verification", "workspace", "policy"]),
    (
        "tools",
        &["activity", "chart", "codemap", "journal", "process", "beneath", "suggest", "workspace", "policy", "sandbox"],
    ),
    ("follow", &["activity", "chart", "draw", "journal", "runtime"]),
    ("testkit-runs", &["activity", "chart", "core", "journal", "runtime", "sqlite", "testkit"]),
    ("server", &["activity", "beneath", "chart", "draw", "follow", "http", "journal", "runtime", "sqlite"]),
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
            "git",
            "journal",
            "judge",
            "knowledge",
            "model",
            "notebook",
            "planning",
            "policy",
            "prd",
            "process",
            "redact",
            "beneath",
            "runtime",
            "sandbox",
            "server",
            "sqlite",
            "suggest",
            "test-results",
            "testbench",
            "tools",
            "triage",
            "verification",
            "workspace",
        ],
    ),
];

/// The number of crates in the longest chain of dependencies. Lower it when a chain gets shorter.
const CHAIN_MAX: usize = 9;

/// Crates without I/O; none of their dependencies may bring in a runtime, a clock or randomness.
const PURE: [&str; 11] = [
    "chart",
    "core",
    "checker",
    "draw",
    "exchange",
    "policy",
    "redact",
    "shell-effects",
    "suggest",
    "test-results",
    "triage",
];
const NOT_FOR_PURE: [&str; 6] = ["tokio", "rand", "chrono", "time", "reqwest", "rusqlite"];

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../..")
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
    for folder in folders() {
        let folder = folder.strip_prefix(root()).unwrap().display().to_string();
        assert!(text.contains(&format!("| `{folder}` |")), "the code map in ARCHITECTURE.md lacks {folder}");
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
        let folder = folders().into_iter().find(|folder| folder.ends_with(name)).unwrap();
        assert!(folder.join("clippy.toml").exists(), "{} has no clippy.toml", folder.display());
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

/// The files that start programs. Git is started in `crates/world/git` only; every other program of a user or of a workspace
/// is started by the sandbox. A new file here must start something else, such as Interlock itself or a person's editor.
const STARTERS: [&str; 13] = [
    "crates/edge/cli/src/again.rs",
    "crates/edge/cli/src/anchor/deliver.rs",
    "crates/edge/cli/src/form/editor.rs",
    "crates/edge/cli/src/store.rs",
    "crates/edge/server/src/notify/deliver.rs",
    "crates/world/git/src/call.rs",
    "crates/world/git/src/program.rs",
    "crates/world/sandbox/src/confine/mod.rs",
    "crates/world/sandbox/src/confine/probe.rs",
    "crates/world/sandbox/src/launcher.rs",
    "crates/world/sandbox/src/supervise/after.rs",
    "crates/world/sandbox/src/supervise/mod.rs",
    "crates/world/sandbox/src/supervise/stage.rs",
];

#[test]
fn git_is_started_in_one_crate_only() {
    let mut starters = Vec::new();
    for file in sources(&folders()) {
        let text = std::fs::read_to_string(&file).unwrap();
        let shipped = text.split("#[cfg(test)]").next().unwrap();
        let path = file.strip_prefix(root()).unwrap().to_str().unwrap().to_owned();
        if shipped.contains("Command::new(") {
            assert!(!shipped.contains("Command::new(\"git\")"), "{path} starts git: use crates/world/git");
            starters.push(path);
        }
    }
    starters.sort();
    assert_eq!(starters, STARTERS, "a file starts a program: use crates/world/git for git, the sandbox for others");
}

/// A crate with a file of its own does not have the list of the workspace, which forbids to change files by path.
#[test]
fn every_list_of_lints_forbids_to_change_files_by_path() {
    let listed = |path: &Path| -> Vec<String> {
        let text = std::fs::read_to_string(path).unwrap();
        text.lines().filter(|line| line.contains("use interlock-beneath")).map(str::to_owned).collect()
    };
    let all = listed(&root().join("clippy.toml"));
    for name in ["std::fs::write", "std::fs::rename", "std::fs::OpenOptions::open", "tokio::fs::write", "persist"] {
        assert!(all.iter().any(|line| line.contains(&format!("{name}\""))), "{name}");
    }
    for folder in folders() {
        let own = folder.join("clippy.toml");
        if own.exists() {
            assert_eq!(listed(&own), all, "{} has another list than the workspace's clippy.toml", own.display());
        }
    }
}

/// The exceptions state why no confined program can change the place.
#[test]
fn no_crate_as_a_whole_may_change_files_by_path() {
    for file in sources(&folders()) {
        let text = std::fs::read_to_string(&file).unwrap();
        let is_top = file.ends_with("src/lib.rs") || file.ends_with("src/main.rs");
        let given = text.lines().filter(|line| line.contains("clippy::disallowed_methods"));
        for line in given.filter(|line| !line.contains("cfg_attr(test,")) {
            assert!(!line.contains("allow("), "{}: use `expect` with a reason: {line}", file.display());
            assert!(!is_top, "{}: {line}", file.display());
        }
    }
}

/// Returns the source files that are shipped.
fn sources(crates: &[PathBuf]) -> Vec<PathBuf> {
    let is_kit = |path: &Path| path.file_name().is_some_and(|name| name.to_string_lossy().starts_with("testkit"));
    let crates = crates.iter().filter(|path| !is_kit(path));
    let (mut open, mut found): (Vec<PathBuf>, Vec<PathBuf>) =
        (crates.map(|path| path.join("src")).collect(), Vec::new());
    while let Some(folder) = open.pop() {
        for path in std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()) {
            let name = path.file_name().unwrap().to_string_lossy().into_owned();
            match path.is_dir() {
                true if name == "tests" => {}
                true => open.push(path),
                false if name.ends_with(".rs") && name != "tests.rs" => found.push(path),
                false => {}
            }
        }
    }
    found
}
