//! The heavy parts of tests, which scripts install outside of the repository: agents, kernels, a browser, a model.
//!
//! A test that needs one is in a module whose name begins with `heavy`. `make test-parts` runs these modules and `make test` all
//! others (`.config/nextest.toml`), so a test of another module that asks for a part fails.

use std::{
    path::{Path, PathBuf},
    process::Command,
};

/// Returns the directory into which a script of `scripts/` installs a part, or `None` if the part is not installed and need
/// not be.
///
/// # Panics
/// Panics if the part is missing and `INTERLOCK_REQUIRE_PARTS` is set, or if the test is in the wrong module.
pub fn installed(script: &str) -> Option<PathBuf> {
    belongs_here(script);
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../scripts").join(script);
    let told = Command::new(path).arg("--print").output().unwrap();
    let folder = PathBuf::from(String::from_utf8(told.stdout).unwrap().trim());
    if folder.join("READY").exists() {
        return Some(folder);
    }
    missing(&format!("scripts/{script} was not run"));
    None
}

/// Reports that a part is missing.
///
/// # Panics
/// Panics if `INTERLOCK_REQUIRE_PARTS` is set.
pub fn missing(what: &str) {
    assert!(std::env::var_os("INTERLOCK_REQUIRE_PARTS").is_none(), "a part of the tests is missing: {what}");
    eprintln!("left out: {what}");
}

/// Checks that the running test is in a module for tests that need a heavy part.
///
/// # Panics
/// Panics if it is in another module: `make test` would run it without the part.
pub fn belongs_here(part: &str) {
    let thread = std::thread::current().name().unwrap_or_default().to_owned();
    let test = std::env::var("NEXTEST_TEST_NAME").unwrap_or(thread);
    let is_test = test.contains("::");
    let is_heavy = test.split("::").any(|module| module == "heavy" || module.starts_with("heavy_"));
    assert!(!is_test || is_heavy, "{test} needs {part}: move it to a module whose name begins with `heavy`");
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
