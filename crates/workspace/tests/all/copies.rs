//! Copies elsewhere.

use std::fs;

use interlock_workspace::patch::Patch;

use crate::folder::Folder;

const PATCH: &str = "--- a/a\n+++ b/a\n@@ -1 +1 @@\n-one\n+two\n--- /dev/null\n+++ b/d/new\n@@ -0,0 +1 @@\n+new\n";

#[test]
fn a_copy_is_brought_from_tree_to_tree_and_keeps_what_was_built_in_it() {
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
        "what is the same is not written again"
    );
    fs::write(copy.join("a"), "tried\n").unwrap();
    folder.workspace.copy_tree(&folder.path, &made, &copy).unwrap();
    folder.workspace.copy_tree(&folder.path, &made, &copy).unwrap();
    assert_eq!(fs::read_to_string(copy.join("a")).unwrap(), "two\n");
}

#[test]
fn what_was_changed_in_a_copy_is_put_back_though_its_tree_is_the_same() {
    let folder = Folder::repository();
    folder.write("changed", "one\n");
    folder.write("gone", "here\n");
    let (_, base) = folder.workspace.take_tree(&folder.path, "r").unwrap();
    let elsewhere = tempfile::tempdir().unwrap();
    let copy = elsewhere.path().join("copy");
    folder.workspace.copy_tree(&folder.path, &base, &copy).unwrap();
    // As long as before, so that only its time or its content tells.
    fs::write(copy.join("changed"), "two\n").unwrap();
    fs::remove_file(copy.join("gone")).unwrap();
    folder.workspace.copy_tree(&folder.path, &base, &copy).unwrap();
    assert_eq!(fs::read_to_string(copy.join("changed")).unwrap(), "one\n");
    assert_eq!(fs::read_to_string(copy.join("gone")).unwrap(), "here\n");
}

#[test]
fn a_copy_that_somebody_left_locked_is_made_anew() {
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
