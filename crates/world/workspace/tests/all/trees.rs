//! Patches on stored trees.

use std::{
    fmt::Write as _,
    fs,
    os::unix::fs::{PermissionsExt, symlink},
};

use interlock_workspace::{
    Error,
    patch::{Look, LookupResult, Patch},
};

use crate::folder::Folder;

fn patch(text: &str) -> Patch {
    Patch::parse(text.as_bytes()).unwrap()
}

const PATCH: &str = "--- a/a\n+++ b/a\n@@ -1 +1 @@\n-one\n+two\n--- /dev/null\n+++ b/d/new\n@@ -0,0 +1 @@\n+new\n";

#[test]
fn a_patch_on_a_tree_touches_no_files() {
    for folder in [Folder::repository(), Folder::plain(), Folder::of_format("sha256")] {
        folder.write("a", "one\n");
        folder.write("b", "same\n");
        let (_, base) = folder.workspace.take_tree(&folder.path, "r").unwrap();
        let made = folder.workspace.apply_to_tree(&folder.path, "r", &base, &patch(PATCH)).unwrap();
        assert_ne!(made, base);
        assert_eq!(folder.workspace.tree(&folder.path).unwrap(), base);
        let diff = String::from_utf8(folder.workspace.diff_trees(&folder.path, &base, &made).unwrap()).unwrap();
        assert!(diff.contains("+two") && diff.contains("+new"), "{diff}");
        folder.write("a", "two\n");
        folder.write("d/new", "new\n");
        assert_eq!(folder.workspace.tree(&folder.path).unwrap(), made, "patched files have the same tree");
    }
}

#[test]
fn files_keep_their_kind_and_a_directory_can_replace_a_file() {
    let folder = Folder::repository();
    folder.write("run.sh", "one\n");
    fs::set_permissions(folder.path.join("run.sh"), fs::Permissions::from_mode(0o755)).unwrap();
    folder.write("old", "same\nlines\n");
    folder.write("gone", "x\n");
    let (_, base) = folder.workspace.take_tree(&folder.path, "r").unwrap();
    let text = "--- a/run.sh\n+++ b/run.sh\n@@ -1 +1 @@\n-one\n+two\n--- a/gone\n+++ /dev/null\n@@ -1 +0,0 @@\n-x\n\
        diff --git a/old b/gone/new\nsimilarity index 100%\nrename from old\nrename to gone/new\n";
    let made = folder.workspace.apply_to_tree(&folder.path, "r", &base, &patch(text)).unwrap();
    folder.workspace.restore_tree(&folder.path, &made).unwrap();
    let files = folder.files();
    let expected = [("gone/new", ("same\nlines\n", false)), ("run.sh", ("two\n", true))];
    let expected =
        expected.map(|(name, (text, can_run))| (folder.path.join(name), (text.as_bytes().to_vec(), can_run)));
    assert_eq!(files, expected.into());
}

#[test]
fn many_files_are_created_at_once() {
    let folder = Folder::repository();
    folder.write("a", "one\n");
    let (_, base) = folder.workspace.take_tree(&folder.path, "r").unwrap();
    let mut text = String::new();
    for number in 0..300 {
        let _ = write!(text, "--- /dev/null\n+++ b/d{}/f {number}\n@@ -0,0 +1 @@\n+{number}\n", number % 7);
    }
    let made = folder.workspace.apply_to_tree(&folder.path, "r", &base, &patch(&text)).unwrap();
    folder.workspace.restore_tree(&folder.path, &made).unwrap();
    assert_eq!(folder.files().len(), 301);
}

#[test]
fn looking_up_paths_in_a_tree_reports_their_kind() {
    let folder = Folder::repository();
    folder.write("d/file", "content\n");
    symlink("file", folder.path.join("d/link")).unwrap();
    folder.write("d/two\nlines", "odd\n");
    folder.write("v-g0000000", "named\n");
    let (_, tree) = folder.workspace.take_tree(&folder.path, "r").unwrap();
    let files = folder.workspace.tree_files(&folder.path, &tree, &patch(PATCH)).unwrap();
    let look = |path: &str| match files.look(path.as_ref()) {
        LookupResult::Nothing => "nothing".to_owned(),
        LookupResult::Node(node) => format!("{:?} {}", node.kind, String::from_utf8_lossy(&node.content).trim()),
        LookupResult::Not(why) => why,
    };
    assert_eq!(look("d/file"), "File content");
    assert_eq!(look("d/link"), "Link file");
    assert_eq!(look("d"), "it is a directory");
    assert_eq!(look("d/none"), "nothing");
    assert_eq!(look("none/at/all"), "nothing");
    assert_eq!(look("d/file/x"), "`file` in its path is not a directory");
    assert_eq!(look("d/link/x"), "`link` in its path is a symbolic link");
    assert_eq!(look("d/two\nlines"), "File odd");
    // Git would read this name as the output of `git describe`, which ends with an abbreviated hash.
    assert_eq!(look("v-g0000000"), "File named");
    let gone = folder.workspace.tree_files(&folder.path, &"1".repeat(40), &patch(PATCH)).unwrap_err().to_string();
    assert!(gone.contains("1111"), "{gone}");
}

#[test]
fn a_patch_that_does_not_fit_makes_no_tree() {
    let folder = Folder::repository();
    folder.write("a", "three\n");
    let (_, base) = folder.workspace.take_tree(&folder.path, "r").unwrap();
    let refused = folder.workspace.apply_to_tree(&folder.path, "r", &base, &patch(PATCH)).unwrap_err();
    assert!(matches!(refused, Error::Patch(_)), "{refused}");
    assert_eq!(folder.workspace.tree(&folder.path).unwrap(), base);
}

#[test]
fn a_file_replaces_a_directory_only_if_all_its_files_are_deleted() {
    let folder = Folder::repository();
    folder.write("d/f", "x\n");
    folder.write("d/e/g", "y\n");
    let (_, base) = folder.workspace.take_tree(&folder.path, "r").unwrap();
    let some = "--- a/d/f\n+++ /dev/null\n@@ -1 +0,0 @@\n-x\n--- /dev/null\n+++ b/d\n@@ -0,0 +1 @@\n+file\n";
    let refused = folder.workspace.apply_to_tree(&folder.path, "r", &base, &patch(some)).unwrap_err().to_string();
    assert!(refused.contains("it is a directory, and d/e/g is not mentioned"), "{refused}");
    let all = format!("--- a/d/e/g\n+++ /dev/null\n@@ -1 +0,0 @@\n-y\n{some}");
    let made = folder.workspace.apply_to_tree(&folder.path, "r", &base, &patch(&all)).unwrap();
    folder.workspace.restore_tree(&folder.path, &made).unwrap();
    assert_eq!(folder.files(), [(folder.path.join("d"), (b"file\n".to_vec(), false))].into());
}

#[test]
fn a_patch_can_empty_a_tree() {
    let folder = Folder::repository();
    folder.write("a", "one\n");
    let (_, base) = folder.workspace.take_tree(&folder.path, "r").unwrap();
    let gone = patch("--- a/a\n+++ /dev/null\n@@ -1 +0,0 @@\n-one\n");
    let made = folder.workspace.apply_to_tree(&folder.path, "r", &base, &gone).unwrap();
    folder.workspace.restore_tree(&folder.path, &made).unwrap();
    assert!(folder.files().is_empty());
}

#[test]
fn only_a_complete_hash_selects_a_tree() {
    let folder = Folder::repository();
    folder.write("a", "one\n");
    let (name, base) = folder.workspace.take_tree(&folder.path, "r").unwrap();
    for wrong in [&base[..12], &name, "HEAD", ""] {
        let refused = folder.workspace.apply_to_tree(&folder.path, "r", wrong, &patch(PATCH)).unwrap_err();
        assert!(matches!(refused, Error::NoSnapshot(_)), "{wrong}: {refused}");
    }
}

#[test]
fn a_tree_is_made_of_a_base_and_some_of_its_changes() {
    for folder in [Folder::repository(), Folder::plain(), Folder::of_format("sha256")] {
        folder.write("a", "one\n");
        folder.write("gone/x", "old\n");
        folder.write("run.sh", "echo\n");
        let (_, base) = folder.workspace.take_tree(&folder.path, "r").unwrap();
        folder.write("a", "two\n");
        folder.write("mine", "a person's\n");
        fs::remove_dir_all(folder.path.join("gone")).unwrap();
        folder.write("gone", "a file now\n");
        fs::set_permissions(folder.path.join("run.sh"), fs::Permissions::from_mode(0o755)).unwrap();
        let (_, now) = folder.workspace.take_tree(&folder.path, "r").unwrap();
        let all = folder.workspace.changes_between(&folder.path, &base, &now).unwrap();
        let names: Vec<String> = all.iter().map(|change| change.path.display().to_string()).collect();
        assert_eq!(names, ["a", "gone", "gone/x", "mine", "run.sh"]);
        let ours: Vec<_> = all.iter().filter(|change| !change.path.ends_with("mine")).collect();
        let made = folder.workspace.tree_with(&folder.path, "r", &base, &ours).unwrap();
        let left = folder.workspace.changes_between(&folder.path, &made, &now).unwrap();
        let left: Vec<String> = left.iter().map(|change| change.path.display().to_string()).collect();
        assert_eq!(left, ["mine"]);
        assert_eq!(folder.workspace.tree_with(&folder.path, "r", &base, &[]).unwrap(), base);
    }
}
