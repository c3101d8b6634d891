//! Patches that fail midway on a real file system. Each test runs itself again in a private mount namespace, so that
//! its mounts are not visible elsewhere.

use std::{collections::BTreeMap, fs, os::unix::fs::MetadataExt, path::Path, process::Command};

use interlock_workspace::patch::Patch;

use crate::folder::Folder;

const INSIDE: &str = "INTERLOCK_TEST_INSIDE_OWN_MOUNTS";

/// Runs the test again in a private mount namespace. Returns true inside that namespace.
fn is_inside(test: &str) -> bool {
    if std::env::var_os(INSIDE).is_some() {
        return true;
    }
    let is_root = fs::metadata("/proc/self").unwrap().uid() == 0;
    let output = Command::new("unshare")
        .args(if is_root { &["--mount"][..] } else { &["--mount", "--map-root-user"] })
        .arg(std::env::current_exe().unwrap())
        .args(["--exact", test, "--nocapture"])
        .env(INSIDE, "1")
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && said.contains("1 passed"), "{said}");
    false
}

fn mount(arguments: &[&str], at: &Path) {
    let output = Command::new("mount").args(arguments).arg(at).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

/// Applies a patch that must fail for one of these reasons. Afterwards all files are unchanged and no temporary file is
/// left.
fn fails(folder: &Folder, patch: &str, why: &[&str]) {
    let before = folder.files();
    let patch = Patch::parse(patch.as_bytes()).unwrap();
    let error = folder.workspace.apply(&folder.path, &patch, &BTreeMap::new()).unwrap_err().to_string();
    assert!(why.iter().any(|why| error.contains(why)), "{error}");
    assert!(!error.contains("undone"), "{error}");
    assert_eq!(folder.files(), before);
    let names = fs::read_dir(&folder.path).unwrap().map(|entry| entry.unwrap().file_name());
    assert!(!names.into_iter().any(|name| name == "new" || name == "z"), "a folder was left behind");
}

fn sample() -> Folder {
    let folder = Folder::plain();
    ["a", "b", "c", "gone", "d/e"].iter().for_each(|name| folder.write(name, "one\n"));
    folder
}

const BEFORE: &str = "*** Begin Patch\n*** Delete File: gone\n*** Update File: a\n@@\n-one\n+two\n*** Update File: b\n*** Move to: new/b\n@@\n-one\n+two\n";
const AFTER: &str = "*** Update File: d/e\n@@\n-one\n+two\n*** Add File: z/new\n+x\n*** End Patch\n";

#[test]
fn a_full_disk_changes_nothing() {
    if !is_inside("patch_failures::a_full_disk_changes_nothing") {
        return;
    }
    let folder = sample();
    mount(&["-t", "tmpfs", "-o", "size=64k", "none"], &folder.path);
    ["a", "b", "c", "gone", "d/e"].iter().for_each(|name| folder.write(name, "one\n"));
    let big = format!("*** Add File: big\n{}", format!("+{}\n", "x".repeat(1_000)).repeat(200));
    fails(&folder, &format!("{BEFORE}{big}{AFTER}"), &["No space left"]);
}

#[test]
fn a_folder_that_cannot_be_written_to_changes_nothing() {
    if !is_inside("patch_failures::a_folder_that_cannot_be_written_to_changes_nothing") {
        return;
    }
    let folder = sample();
    let inner = folder.path.join("d");
    mount(&["--bind", inner.to_str().unwrap()], &inner);
    mount(&["-o", "remount,bind,ro"], &inner);
    fails(&folder, &format!("{BEFORE}{AFTER}"), &["Read-only"]);
}

#[test]
fn replaced_files_are_restored_if_a_later_file_cannot_be_replaced() {
    if !is_inside("patch_failures::replaced_files_are_restored_if_a_later_file_cannot_be_replaced") {
        return;
    }
    let folder = sample();
    let held = folder.path.join("c");
    // A file that is a mount point cannot be replaced.
    mount(&["--bind", held.to_str().unwrap()], &held);
    let failing = "*** Update File: c\n@@\n-one\n+two\n";
    fails(&folder, &format!("{BEFORE}{failing}{AFTER}"), &["busy", "cross-device", "Cross-device"]);
    let failing = "*** Delete File: c\n";
    fails(&folder, &format!("{BEFORE}{failing}{AFTER}"), &["busy", "cross-device", "Cross-device"]);
}

#[test]
fn a_disk_without_room_for_one_more_folder_changes_nothing() {
    if !is_inside("patch_failures::a_disk_without_room_for_one_more_folder_changes_nothing") {
        return;
    }
    // Each file and each directory takes one inode. If there are enough for the new files but not for the directories,
    // creating a directory fails.
    let took = |count: u32| {
        let folder = sample();
        mount(&["-t", "tmpfs", "-o", &format!("nr_inodes={count}"), "none"], &folder.path);
        ["a", "b", "c", "gone", "d/e"].iter().for_each(|name| folder.write(name, "one\n"));
        let before = folder.files();
        let patch = Patch::parse(format!("{BEFORE}{AFTER}").as_bytes()).unwrap();
        match folder.workspace.apply(&folder.path, &patch, &BTreeMap::new()) {
            Ok(_) => true,
            Err(error) => {
                assert!(error.to_string().contains("No space left"), "{error}");
                assert_eq!(folder.files(), before, "with {count}");
                false
            }
        }
    };
    let outcomes: Vec<bool> = (8..20).map(took).collect();
    assert!(outcomes.contains(&true) && outcomes.contains(&false), "{outcomes:?}");
}
