//! Copies elsewhere, and trees made of trees.

use std::fs;

use interlock_workspace::patch::Patch;

use crate::folder::Folder;

const PATCH: &str = "--- a/a\n+++ b/a\n@@ -1 +1 @@\n-one\n+two\n--- /dev/null\n+++ b/d/new\n@@ -0,0 +1 @@\n+new\n";

#[test]
fn a_patch_makes_a_tree_of_a_tree_and_touches_nobodys_files() {
    let folder = Folder::repository();
    folder.write("a", "one\n");
    folder.write("b", "same\n");
    let (_, base) = folder.workspace.take_tree(&folder.path, "r").unwrap();
    let elsewhere = tempfile::tempdir().unwrap();
    let copy = elsewhere.path().join("copy");
    let patch = Patch::parse(PATCH.as_bytes()).unwrap();
    let made = folder.workspace.apply_to_tree(&folder.path, "r", &base, &patch, &copy).unwrap();
    assert_ne!(made, base);
    assert_eq!(folder.workspace.tree(&folder.path).unwrap(), base);
    assert_eq!(fs::read_to_string(copy.join("d/new")).unwrap(), "new\n");
    let diff = String::from_utf8(folder.workspace.diff_trees(&folder.path, &base, &made).unwrap()).unwrap();
    assert!(diff.contains("+two") && diff.contains("+new"), "{diff}");
}

#[test]
fn what_was_left_by_a_patch_that_was_cut_off_is_in_nobodys_way() {
    let folder = Folder::repository();
    folder.write("a", "one\n");
    let (_, base) = folder.workspace.take_tree(&folder.path, "r").unwrap();
    let elsewhere = tempfile::tempdir().unwrap();
    let copy = elsewhere.path().join("copy");
    let patch = Patch::parse(PATCH.as_bytes()).unwrap();
    let apply = || folder.workspace.apply_to_tree(&folder.path, "r", &base, &patch, &copy);
    folder.workspace.copy_tree(&folder.path, &base, &copy).unwrap();
    fs::create_dir(copy.join("d")).unwrap();
    fs::write(copy.join("d/new"), "half").unwrap();
    assert!(apply().is_err(), "a file that nobody knows of is not written over");
    fs::write(elsewhere.path().join("copy.writing"), "").unwrap();
    let made = apply().unwrap();
    assert_eq!(apply().unwrap(), made);
    fs::remove_dir_all(&copy).unwrap();
    fs::write(elsewhere.path().join("copy.writing"), "").unwrap();
    assert_eq!(apply().unwrap(), made, "also where a cleaner was there first");
}

#[test]
fn a_copy_is_brought_from_tree_to_tree_and_keeps_what_was_built_in_it() {
    let folder = Folder::repository();
    folder.write("a", "one\n");
    folder.write("b", "same\n");
    let (_, base) = folder.workspace.take_tree(&folder.path, "r").unwrap();
    let elsewhere = tempfile::tempdir().unwrap();
    let copy = elsewhere.path().join("copy");
    let patch = Patch::parse(PATCH.as_bytes()).unwrap();
    let made = folder.workspace.apply_to_tree(&folder.path, "r", &base, &patch, &copy).unwrap();
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
fn a_patch_that_does_not_fit_makes_no_tree() {
    let folder = Folder::repository();
    folder.write("a", "three\n");
    let (_, base) = folder.workspace.take_tree(&folder.path, "r").unwrap();
    let elsewhere = tempfile::tempdir().unwrap();
    let copy = elsewhere.path().join("copy");
    let patch = Patch::parse(PATCH.as_bytes()).unwrap();
    let refused = folder.workspace.apply_to_tree(&folder.path, "r", &base, &patch, &copy).unwrap_err();
    assert!(refused.to_string().contains('a'), "{refused}");
    assert_eq!(fs::read_to_string(copy.join("a")).unwrap(), "three\n");
}
