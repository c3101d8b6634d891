//! The larger parts of tests that scripts install outside of the repository.

use std::{
    path::{Path, PathBuf},
    process::Command,
};

/// Returns the directory into which a script of `scripts/` installs a part, or `None` if the part is not installed and need
/// not be.
///
/// # Panics
/// Panics if the part is missing in CI, or if `INTERLOCK_REQUIRE_PARTS` is set.
pub fn installed(script: &str) -> Option<PathBuf> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scripts").join(script);
    let told = Command::new(path).arg("--print").output().unwrap();
    let folder = PathBuf::from(String::from_utf8(told.stdout).unwrap().trim());
    if folder.join("READY").exists() {
        return Some(folder);
    }
    let is_needed = ["CI", "INTERLOCK_REQUIRE_PARTS"].iter().any(|name| std::env::var_os(name).is_some());
    assert!(!is_needed, "a part of the tests is not installed: run scripts/{script}");
    eprintln!("left out: scripts/{script} was not run");
    None
}

/// Returns true if `bwrap` is installed, which `scripts/setup.sh` does.
///
/// # Panics
/// Panics if it is missing in CI, or if `INTERLOCK_REQUIRE_PARTS` is set.
pub fn has_bubblewrap() -> bool {
    let is_there = Path::new("/usr/bin/bwrap").is_file();
    let is_needed = ["CI", "INTERLOCK_REQUIRE_PARTS"].iter().any(|name| std::env::var_os(name).is_some());
    assert!(is_there || !is_needed, "bubblewrap is not installed: run scripts/setup.sh");
    if !is_there {
        eprintln!("left out: bubblewrap is not installed");
    }
    is_there
}
