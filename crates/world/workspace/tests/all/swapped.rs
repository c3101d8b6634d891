//! A second program replaces a directory by a link, again and again, while Interlock writes below it.

use std::{
    fs,
    os::unix::fs::symlink,
    path::Path,
    process::Command,
    sync::atomic::{AtomicBool, Ordering},
    thread,
    time::Duration,
};

use rustix::fs::{CWD, RenameFlags};

use interlock_workspace::{Commit, Worktree};

use crate::folder::Folder;

const FILES: usize = 1000;
/// The tree without files.
const EMPTY: &str = "4b825dc642cb6eb9a060e54bf8d69288fbee4904";
const MOMENT: Duration = Duration::from_micros(200);

/// Does something while `dir` in a directory and a link to another place are exchanged. Returns what is in the other
/// place afterwards.
fn while_swapped(folder: &Path, act: impl Fn()) -> Vec<String> {
    let elsewhere = tempfile::tempdir().unwrap();
    while_swapped_with(elsewhere.path(), folder, act)
}

fn while_swapped_with(elsewhere: &Path, folder: &Path, act: impl Fn()) -> Vec<String> {
    fs::create_dir_all(elsewhere).unwrap();
    fs::write(elsewhere.join("000"), "theirs").unwrap();
    let (dir, link) = (folder.join("dir"), folder.join("link"));
    symlink(elsewhere, &link).unwrap();
    let done = AtomicBool::new(false);
    thread::scope(|scope| {
        scope.spawn(|| {
            // The link is in place for shorter times, so that whoever looks first mostly finds the directory.
            for pause in [MOMENT, 4 * MOMENT].into_iter().cycle() {
                if done.load(Ordering::Relaxed) && pause == MOMENT {
                    break;
                }
                let _ = rustix::fs::renameat_with(CWD, &dir, CWD, &link, RenameFlags::EXCHANGE);
                thread::sleep(pause);
            }
        });
        act();
        done.store(true, Ordering::Relaxed);
    });
    let names = fs::read_dir(elsewhere).unwrap().map(|entry| entry.unwrap());
    let mut names: Vec<String> = names
        .map(|entry| format!("{} {}", entry.file_name().display(), fs::read_to_string(entry.path()).unwrap()))
        .collect();
    names.sort();
    names
}

fn with_files() -> Folder {
    let folder = Folder::repository();
    folder.write(".git/info/exclude", "/link\n");
    (0..FILES).for_each(|n| folder.write(&format!("dir/{n:03}"), "ours"));
    folder
}

/// Removes the files of the directory, under whatever name it is at this moment.
fn spoil(folder: &Path) {
    for place in ["dir", "link"].map(|name| folder.join(name)) {
        if fs::symlink_metadata(&place).is_ok_and(|about| about.is_dir()) {
            (0..FILES).for_each(|n| drop(fs::remove_file(place.join(format!("{n:03}")))));
        }
    }
}

#[test]
fn a_restore_writes_nothing_behind_a_link() {
    let folder = with_files();
    let kept = folder.workspace.take(&folder.path, "run-1").unwrap();
    for _ in 0..3 {
        spoil(&folder.path);
        let found = while_swapped(&folder.path, || drop(folder.workspace.restore(&folder.path, &kept)));
        assert_eq!(found, ["000 theirs"]);
        let _ = fs::remove_file(folder.path.join("link")).or_else(|_| fs::remove_dir_all(folder.path.join("link")));
    }
    // As soon as nobody interferes, everything is as before.
    folder.workspace.restore(&folder.path, &kept).unwrap();
    assert_eq!(fs::read_to_string(folder.path.join("dir/399")).unwrap(), "ours");
}

#[test]
fn a_copy_in_which_a_program_works_is_written_only_beneath_it() {
    let folder = with_files();
    let (_, base) = folder.workspace.take_tree(&folder.path, "r").unwrap();
    let elsewhere = tempfile::tempdir().unwrap();
    let copy = elsewhere.path().join("copy");
    for _ in 0..3 {
        folder.workspace.copy_tree(&folder.path, &base, &copy).unwrap();
        spoil(&copy);
        let found = while_swapped(&copy, || drop(folder.workspace.copy_tree(&folder.path, &base, &copy)));
        assert_eq!(found, ["000 theirs"]);
        fs::remove_dir_all(&copy).unwrap();
    }
}

/// A repository with many files, and a worktree in which they are all changed.
fn with_result(is_committed: bool) -> (Folder, Worktree, tempfile::TempDir) {
    let folder = with_files();
    folder.commit_all();
    let cache = tempfile::TempDir::new().unwrap();
    let tree = Worktree::create(&folder.path, &cache.path().join("tree"), "fix-1").unwrap();
    (0..FILES).for_each(|n| fs::write(tree.path.join(format!("dir/{n:03}")), "better").unwrap());
    if is_committed {
        let identity = ["-c", "user.name=run", "-c", "user.email=run@localhost", "commit", "-qam", "better"];
        assert!(std::process::Command::new("git").args(identity).current_dir(&tree.path).status().unwrap().success());
    }
    (folder, tree, cache)
}

/// Puts the directory back under its name, and removes the link.
fn calm(folder: &Path) {
    let (dir, link) = (folder.join("dir"), folder.join("link"));
    if fs::symlink_metadata(&dir).is_ok_and(|about| about.is_symlink()) {
        fs::remove_file(&dir).unwrap();
        fs::rename(&link, &dir).unwrap();
    }
    let _ = fs::remove_file(&link).or_else(|_| fs::remove_dir_all(&link));
}

#[test]
fn applying_a_result_and_taking_it_out_writes_only_in_the_checkout() {
    for is_committed in [false, true] {
        let (folder, tree, _cache) = with_result(is_committed);
        // Git may write there, so only that it does not write files keeps it from it.
        let theirs = folder.path.join(".git/theirs");
        let found = while_swapped_with(&theirs, &folder.path, || drop(tree.apply()));
        assert_eq!(found, ["000 theirs"]);
        calm(&folder.path);
        folder.git(&["update-ref", "HEAD", &tree.base]);
        folder.git(&["reset", "-q", "--hard"]);
        let undo = tree.apply().unwrap().undo.unwrap();
        let found = while_swapped_with(&theirs, &folder.path, || drop(undo.run(false)));
        assert_eq!(found, ["000 theirs"]);
    }
}

#[test]
fn a_worktree_is_removed_without_what_its_links_lead_to() {
    for _ in 0..3 {
        let (folder, tree, _cache) = with_result(false);
        let theirs = folder.path.join(".git/theirs");
        let found = while_swapped_with(&theirs, &tree.path, || assert!((0..1000).any(|_| tree.remove().is_ok())));
        assert_eq!(found, ["000 theirs"]);
    }
}

/// A directory with other files, and a link to it, which is exchanged for `dir` while something is done ten times.
fn while_exchanged(folder: &Folder, act: impl Fn(usize)) {
    let elsewhere = tempfile::tempdir().unwrap();
    (0..FILES).for_each(|n| fs::write(elsewhere.path().join(format!("{n:03}")), format!("theirs {n}")).unwrap());
    let (dir, link) = (folder.path.join("dir"), folder.path.join("link"));
    symlink(elsewhere.path(), &link).unwrap();
    let done = AtomicBool::new(false);
    thread::scope(|scope| {
        scope.spawn(|| {
            while !done.load(Ordering::Relaxed) {
                let _ = rustix::fs::renameat_with(CWD, &dir, CWD, &link, RenameFlags::EXCHANGE);
                thread::sleep(MOMENT);
            }
        });
        (0..10).for_each(act);
        done.store(true, Ordering::Relaxed);
    });
}

#[test]
fn a_commit_has_no_file_from_behind_a_link() {
    for paths in [Vec::new(), vec!["dir".to_owned()], (0..FILES).map(|n| format!("dir/{n:03}")).collect()] {
        let folder = with_files();
        folder.commit_all();
        while_exchanged(&folder, |round| {
            let commit = Commit { message: format!("round {round}"), paths: paths.clone(), ..Commit::default() };
            let _ = folder.workspace.commit(&folder.path, &commit);
        });
        let mut all = Command::new("git");
        all.args(["cat-file", "--batch-all-objects", "--batch", "--buffer"]).current_dir(&folder.path);
        let all = all.output().unwrap().stdout;
        assert!(!String::from_utf8_lossy(&all).contains("theirs "), "{} paths", paths.len());
    }
}

#[test]
fn a_snapshot_has_no_file_from_behind_a_link() {
    let folder = with_files();
    while_exchanged(&folder, |round| {
        let Ok((_, tree)) = folder.workspace.take_tree(&folder.path, &format!("r{round}")) else { return };
        let diff = folder.workspace.diff_trees(&folder.path, EMPTY, &tree).unwrap_or_default();
        assert!(!String::from_utf8_lossy(&diff).contains("theirs "), "round {round}");
    });
}
