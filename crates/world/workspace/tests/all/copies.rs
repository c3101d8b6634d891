//! Copies of stored trees in other directories.

use std::fs;

use interlock_workspace::patch::Patch;

use crate::folder::Folder;

const PATCH: &str = "--- a/a\n+++ b/a\n@@ -1 +1 @@\n-one\n+two\n--- /dev/null\n+++ b/d/new\n@@ -0,0 +1 @@\n+new\n";

#[test]
fn copy_is_switched_between_trees_and_keeps_build_results() {
    let folder = Folder::repository();
    folder.write("a", "one\n");
    folder.write("b", "same\n");
    let (_, base) = folder.workspace.take_tree(&folder.path, "r").unwrap();
    let elsewhere = tempfile::tempdir().unwrap();
    let copy = elsewhere.path().join("copy");
    let patch = Patch::parse(PATCH.as_bytes()).unwrap();
    let made = folder.workspace.apply_to_tree(&folder.path, "r", &base, &patch).unwrap();
    folder.workspace.copy_tree(&folder.path, &made, &copy).unwrap();
    assert_eq!(fs::read_to_string(copy.join("d/new")).unwrap(), "new\n");
    fs::write(copy.join("built.o"), "object").unwrap();
    let before = fs::metadata(copy.join("b")).unwrap().modified().unwrap();
    fs::write(copy.join("a"), "somebody tried something\n").unwrap();
    folder.workspace.copy_tree(&folder.path, &base, &copy).unwrap();
    assert_eq!(fs::read_to_string(copy.join("a")).unwrap(), "one\n");
    assert!(!copy.join("d/new").exists());
    assert_eq!(fs::read_to_string(copy.join("built.o")).unwrap(), "object");
    assert_eq!(
        fs::metadata(copy.join("b")).unwrap().modified().unwrap(),
        before,
        "an unchanged file is not written again"
    );
    fs::write(copy.join("a"), "tried\n").unwrap();
    folder.workspace.copy_tree(&folder.path, &made, &copy).unwrap();
    folder.workspace.copy_tree(&folder.path, &made, &copy).unwrap();
    assert_eq!(fs::read_to_string(copy.join("a")).unwrap(), "two\n");
}

#[test]
fn changes_in_a_copy_are_reverted_even_if_its_tree_is_the_same() {
    let folder = Folder::repository();
    folder.write("changed", "one\n");
    folder.write("gone", "here\n");
    let (_, base) = folder.workspace.take_tree(&folder.path, "r").unwrap();
    let elsewhere = tempfile::tempdir().unwrap();
    let copy = elsewhere.path().join("copy");
    folder.workspace.copy_tree(&folder.path, &base, &copy).unwrap();
    // The length stays the same, so that only the time or the content shows the change.
    fs::write(copy.join("changed"), "two\n").unwrap();
    fs::remove_file(copy.join("gone")).unwrap();
    folder.workspace.copy_tree(&folder.path, &base, &copy).unwrap();
    assert_eq!(fs::read_to_string(copy.join("changed")).unwrap(), "one\n");
    assert_eq!(fs::read_to_string(copy.join("gone")).unwrap(), "here\n");
}

#[test]
fn copy_that_was_left_locked_is_created_again() {
    let folder = Folder::repository();
    folder.write("a", "one\n");
    let (_, base) = folder.workspace.take_tree(&folder.path, "r").unwrap();
    let elsewhere = tempfile::tempdir().unwrap();
    let copy = elsewhere.path().join("copy");
    folder.workspace.copy_tree(&folder.path, &base, &copy).unwrap();
    fs::write(copy.join("a"), "half").unwrap();
    fs::write(elsewhere.path().join("copy.index.lock"), "half").unwrap();
    folder.workspace.copy_tree(&folder.path, &base, &copy).unwrap();
    assert_eq!(fs::read_to_string(copy.join("a")).unwrap(), "one\n");
}
