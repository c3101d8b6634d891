//! Patches on a real disk: successful ones and rejected ones.

use std::{
    collections::BTreeMap,
    fs,
    os::unix::fs::{PermissionsExt, symlink},
};

use interlock_workspace::{Error, patch::Patch};

use crate::folder::Folder;

fn apply(folder: &Folder, patch: &str) -> Result<(), Error> {
    let patch = Patch::parse(patch.as_bytes()).map_err(|problem| Error::Patch(vec![problem]))?;
    folder.workspace.apply(&folder.path, &patch, &BTreeMap::new()).map(drop)
}

/// Applies a patch that must be rejected for this reason, without any change.
#[track_caller]
fn refused(folder: &Folder, patch: &str, why: &str) {
    let before = folder.files();
    let error = apply(folder, patch).unwrap_err().to_string();
    assert!(error.contains(why), "{error}");
    assert_eq!(folder.files(), before);
}

const CHANGE_A: &str = "*** Update File: a\n@@\n-one\n+two\n";

fn with_a(more: &str) -> String {
    format!("*** Begin Patch\n{CHANGE_A}{more}*** End Patch\n")
}

#[test]
fn files_are_changed_created_moved_and_deleted_and_empty_directories_go() {
    for folder in [Folder::repository(), Folder::plain()] {
        folder.write("a", "one\n");
        folder.write("deep/down/gone", "x\n");
        folder.write("from", "f\n");
        fs::set_permissions(folder.path.join("a"), fs::Permissions::from_mode(0o750)).unwrap();
        let patch = "*** Add File: made/new\n+n\n*** Delete File: deep/down/gone\n*** Update File: from\n*** Move to: to/there\n@@\n-f\n+F\n";
        apply(&folder, &with_a(patch)).unwrap();
        let read = |name: &str| fs::read_to_string(folder.path.join(name)).unwrap();
        assert_eq!((read("a"), read("made/new"), read("to/there")), ("two\n".into(), "n\n".into(), "F\n".into()));
        assert!(!folder.path.join("deep").exists() && !folder.path.join("from").exists());
        assert_eq!(fs::metadata(folder.path.join("a")).unwrap().permissions().mode() & 0o777, 0o750);
        assert_eq!(folder.files().len(), 3, "no temporary file is left");
    }
}

#[test]
fn a_file_replaces_a_directory_and_vice_versa() {
    let folder = Folder::repository();
    folder.write("d/x", "x\n");
    folder.write("f", "f\n");
    let patch = "diff --git a/d b/d\nnew file mode 100644\n--- /dev/null\n+++ b/d\n@@ -0,0 +1 @@\n+d\n\
                 diff --git a/d/x b/d/x\ndeleted file mode 100644\n--- a/d/x\n+++ /dev/null\n@@ -1 +0,0 @@\n-x\n\
                 diff --git a/f b/f\ndeleted file mode 100644\n--- a/f\n+++ /dev/null\n@@ -1 +0,0 @@\n-f\n\
                 diff --git a/f/y b/f/y\nnew file mode 100644\n--- /dev/null\n+++ b/f/y\n@@ -0,0 +1 @@\n+y\n";
    apply(&folder, patch).unwrap();
    assert_eq!(fs::read_to_string(folder.path.join("d")).unwrap(), "d\n");
    assert_eq!(fs::read_to_string(folder.path.join("f/y")).unwrap(), "y\n");
}

#[test]
fn links_on_the_way_are_not_followed() {
    let outside = tempfile::tempdir().unwrap();
    fs::write(outside.path().join("x"), "not ours\n").unwrap();
    let folder = Folder::repository();
    folder.write("a", "one\n");
    symlink(outside.path(), folder.path.join("out")).unwrap();
    symlink(outside.path().join("x"), folder.path.join("link")).unwrap();
    refused(&folder, &with_a("*** Add File: out/new\n+x\n"), "`out` in its path is a symbolic link");
    refused(&folder, &with_a("*** Update File: out/x\n@@\n-not ours\n+ours\n"), "`out` in its path is a symbolic link");
    refused(
        &folder,
        &with_a("*** Update File: link\n@@\n-not ours\n+ours\n"),
        "it is a symbolic link, but the patch treats it as a file",
    );
    assert_eq!(fs::read_to_string(outside.path().join("x")).unwrap(), "not ours\n");
    assert_eq!(fs::read_dir(outside.path()).unwrap().count(), 1);
}

#[test]
fn obstacles_are_found_before_any_write() {
    let folder = Folder::repository();
    folder.write("a", "one\n");
    folder.write("file", "f\n");
    folder.write("folder/x", "x\n");
    refused(&folder, &with_a("*** Add File: file/new\n+x\n"), "file/new: `file` in its path is not a directory");
    refused(&folder, &with_a("*** Add File: folder\n+x\n"), "folder: it is a directory");
    refused(&folder, &with_a("*** Update File: folder\n@@\n-x\n+y\n"), "folder: it is a directory");
    refused(&folder, &with_a("*** Add File: file\n+x\n"), "file: it already exists");
    let long = "n".repeat(300);
    refused(&folder, &with_a(&format!("*** Add File: {long}\n+x\n")), "File name too long");
}

#[test]
fn files_that_are_not_stored_are_not_patched() {
    let folder = Folder::repository();
    folder.write("a", "one\n");
    folder.write(".gitignore", "*.log\nbuild/\n");
    folder.write("x.log", "log\n");
    refused(&folder, &with_a("*** Update File: x.log\n@@\n-log\n+x\n"), "x.log: git ignores it");
    refused(&folder, &with_a("*** Add File: build/new\n+x\n"), "build/new: git ignores it");
    folder.git(&["add", "--force", "x.log"]);
    apply(&folder, &with_a("*** Update File: x.log\n@@\n-log\n+tracked\n")).unwrap();
    folder.write("a", "one\n");
    folder.write("inner/f", "f\n");
    folder.git(&["init", "-q", "inner"]);
    refused(&folder, &with_a("*** Update File: inner/f\n@@\n-f\n+g\n"), "belongs to another repository (`inner`)");
}

#[test]
fn a_file_with_unexpected_content_is_not_changed() {
    let folder = Folder::repository();
    folder.write("a", "one\n");
    let patch = Patch::parse(with_a("").as_bytes()).unwrap();
    let is = "2c8b08da5ce60398e1f19af0e5dccc744df274b826abe585eaba68c525434806";
    let apply = |hash: &str| folder.workspace.apply(&folder.path, &patch, &[("a".into(), hash.to_owned())].into());
    let error = apply(&"0".repeat(64)).unwrap_err().to_string();
    assert!(error.contains("a: expected") && error.contains(is), "{error}");
    assert_eq!(fs::read_to_string(folder.path.join("a")).unwrap(), "one\n");
    apply(is).unwrap();
    assert_eq!(fs::read_to_string(folder.path.join("a")).unwrap(), "two\n");
}
