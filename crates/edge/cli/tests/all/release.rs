//! The refusals of the script that builds releases. `packages.rs` tests the packages.

use std::{path::Path, process::Command};

#[test]
fn release_names_a_missing_standard_library() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../..");
    let output = Command::new("bash").arg(root.join("scripts/release.sh")).arg("no-such-target").output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{said}");
    assert!(said.contains("Install it with: rustup target add no-such-target"), "{said}");
}
