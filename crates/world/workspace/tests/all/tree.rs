//! Tests of the hash of a workspace.

#![allow(clippy::print_stdout, reason = "the time it takes is for people to read")]

use std::{fs, time::Instant};

use crate::folder::Folder;

/// Returns the tree that git would commit if all files that are not ignored were added.
fn expected(folder: &Folder) -> String {
    folder.git(&["add", "--all"]);
    folder.git(&["write-tree"])
}

#[test]
fn the_tree_equals_a_commit_of_all_files() {
    let folder = Folder::repository();
    folder.write(".gitignore", "*.log\n");
    folder.write("a.log", "ignored");
    folder.write("kept.log", "ignored but tracked");
    folder.git(&["add", "--force", "kept.log"]);
    folder.write("d/b", "untracked");
    let tree = folder.workspace.tree(&folder.path).unwrap();
    let loose = folder.git(&["count-objects"]);
    assert_eq!(folder.workspace.tree(&folder.path).unwrap(), tree);
    assert_eq!(folder.git(&["count-objects"]), loose, "hashing writes no objects to the repository");
    assert_eq!(interlock_workspace::Workspace::default().tree(&folder.path).unwrap(), tree, "same tree without a home");
    assert_eq!(tree, expected(&folder));
}

#[test]
fn the_tree_depends_only_on_the_current_files() {
    let folder = Folder::repository();
    let tree = || folder.workspace.tree(&folder.path).unwrap();
    let mut seen = vec![tree()];
    // The sizes are equal and the writes follow each other quickly, so that only the content differs.
    for content in ["1", "2", "3", "4", "5"] {
        folder.write("a", content);
        seen.push(tree());
    }
    folder.write("a", "1");
    assert_eq!(tree(), seen[1]);
    folder.write(".gitignore", "a\n");
    let ignoring = tree();
    fs::remove_file(folder.path.join("a")).unwrap();
    assert_eq!(tree(), ignoring, "a file that became ignored does not count");
    seen.push(ignoring);
    let count = seen.len();
    seen.sort();
    seen.dedup();
    assert_eq!(seen.len(), count);
}

#[test]
fn a_file_marked_as_unchanged_is_still_read() {
    let folder = Folder::repository();
    folder.write("a", "one");
    folder.git(&["add", "a"]);
    folder.git(&["update-index", "--assume-unchanged", "a"]);
    let before = folder.workspace.tree(&folder.path).unwrap();
    folder.write("a", "two");
    assert_ne!(folder.workspace.tree(&folder.path).unwrap(), before);
}

#[test]
fn a_directory_outside_git_has_a_tree() {
    let folder = Folder::plain();
    folder.write("a", "one");
    let tree = folder.workspace.tree(&folder.path).unwrap();
    // A repository with the same file must have the same tree.
    let repository = Folder::repository();
    repository.write("a", "one");
    assert_eq!(repository.workspace.tree(&repository.path).unwrap(), tree);
    folder.write("a", "two");
    assert_ne!(folder.workspace.tree(&folder.path).unwrap(), tree);
    assert!(!folder.path.join(".git").exists());
    assert!(folder.workspace.tree(&folder.path.join("nowhere")).is_err());
}

#[test]
fn programs_that_the_repository_names_are_not_run() {
    let folder = Folder::repository();
    let trap = folder.path.join("../trapped");
    let run = format!("touch '{}'; cat", trap.display());
    for setting in ["filter.trap.clean", "filter.trap.smudge", "core.fsmonitor", "core.sshCommand", "core.pager"] {
        folder.git(&["config", setting, &run]);
    }
    folder.write(".git/info/attributes", "* filter=trap\n");
    folder.write("a", "one");
    let kept = folder.workspace.take(&folder.path, "run-1").unwrap();
    folder.workspace.tree(&folder.path).unwrap();
    folder.write("a", "two");
    folder.workspace.restore(&folder.path, &kept).unwrap();
    assert_eq!(fs::read_to_string(folder.path.join("a")).unwrap(), "one");
    assert!(!trap.exists());
}

#[test]
fn hashing_five_thousand_known_files_detects_one_change() {
    let folder = Folder::repository();
    for number in 0..5_000 {
        folder.write(&format!("d{}/f{number}", number % 50), &format!("content {number}\n"));
    }
    let timed = |what: &str, work: &dyn Fn() -> String| {
        let begun = Instant::now();
        let result = work();
        println!("{what}: {} ms", begun.elapsed().as_millis());
        result
    };
    let tree = || folder.workspace.tree(&folder.path).unwrap();
    let take = || folder.workspace.take(&folder.path, "run-1").unwrap();
    timed("tree, 5,000 files, cold", &tree);
    timed("take, 5,000 files, cold", &take);
    folder.write("d7/f7", "changed\n");
    timed("tree, 5,000 files, one changed", &tree);
    let before = timed("take, 5,000 files, one changed", &take);
    let unchanged = timed("tree, 5,000 files, none changed", &tree);
    folder.write("d7/f7", "changed again\n");
    let changed = timed("tree, 5,000 files, one changed", &tree);
    timed("restore, 5,000 files", &|| folder.workspace.restore(&folder.path, &before).unwrap().to_string());
    assert_ne!(unchanged, changed);
    assert_eq!(tree(), unchanged);
}
