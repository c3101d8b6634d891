//! Checkpoints and cleanup, and the proof that they do not touch the user's repository.

use std::{
    collections::BTreeMap,
    fs,
    os::unix::fs::PermissionsExt,
    path::Path,
    time::{Duration, SystemTime},
};

use interlock_workspace::{Commit, Error, patch::Patch};

use crate::folder::Folder;

#[test]
fn checkpoints_are_named_listed_and_restored() {
    for folder in [Folder::repository(), Folder::plain()] {
        folder.write("a", "1");
        let next = || folder.workspace.next_checkpoint(&folder.path, "run-1", "chk").unwrap();
        let (first, files) = (next(), folder.files());
        folder.write("a", "2");
        folder.write("b", "untracked");
        let second = next();
        assert_eq!((first.name.as_str(), second.name.as_str()), ("chk-1", "chk-2"));
        let listed = folder.workspace.checkpoints(&folder.path, "run-1").unwrap();
        assert_eq!(listed, [first.clone(), second]);
        assert_eq!(folder.workspace.checkpoints(&folder.path, "run-2").unwrap(), []);
        let found = folder.workspace.find_checkpoint(&folder.path, "run-1", "chk-1").unwrap();
        folder.workspace.restore_tree(&folder.path, &found.tree).unwrap();
        assert_eq!(folder.files(), files);
        let missing = folder.workspace.find_checkpoint(&folder.path, "run-1", "chk-9");
        assert_eq!(missing, Err(Error::NoSnapshot("chk-9".into())));
        for wrong in ["", "a/b", "..", "x y"] {
            assert!(folder.workspace.checkpoint(&folder.path, "run-1", wrong).is_err(), "{wrong}");
        }
    }
}

#[test]
fn only_a_stored_tree_can_be_restored() {
    let folder = Folder::repository();
    folder.write("a", "1");
    let blob = folder.git(&["hash-object", "-w", "a"]);
    for wrong in ["0".repeat(40), blob, "HEAD".into(), "--help".into()] {
        assert_eq!(folder.workspace.restore_tree(&folder.path, &wrong), Err(Error::NoSnapshot(wrong)));
    }
}

#[test]
fn forget_removes_the_snapshots_of_one_run_only() {
    for folder in [Folder::repository(), Folder::plain()] {
        folder.write("a", "1");
        let take = |run: &str| folder.workspace.take(&folder.path, run).unwrap();
        let (first, other) = (take("run-1"), take("run-10"));
        folder.workspace.checkpoint(&folder.path, "run-1", "chk").unwrap();
        let forget = |is_dry| folder.workspace.forget(&folder.path, "run-1", is_dry).unwrap();
        assert_eq!((forget(true), forget(false), forget(false)), (2, 2, 0));
        assert!(folder.workspace.restore(&folder.path, &first).is_err());
        folder.workspace.restore(&folder.path, &other).unwrap();
        assert_eq!(take("run-1"), "refs/interlock/run-1/1");
    }
}

#[test]
fn the_store_is_private_and_leftovers_are_swept() {
    let folder = Folder::plain();
    folder.write("a", "1");
    let home = folder.home();
    fs::create_dir_all(home.join("workspaces")).unwrap();
    fs::set_permissions(home.join("workspaces"), fs::Permissions::from_mode(0o755)).unwrap();
    folder.workspace.take(&folder.path, "run-1").unwrap();
    let private = fs::read_dir(home.join("workspaces")).unwrap().next().unwrap().unwrap().path();
    for path in [home.join("workspaces"), private.clone()] {
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o700, "{}", path.display());
    }
    let old = private.join("scratch-old");
    fs::create_dir(&old).unwrap();
    let hours_ago = SystemTime::now() - Duration::from_secs(3 * 60 * 60);
    fs::File::open(&old).unwrap().set_modified(hours_ago).unwrap();
    fs::create_dir(private.join("scratch-new")).unwrap();
    // A new rule needs `git`, whose calls use a scratch directory.
    folder.write(".gitignore", "x\n");
    folder.workspace.take(&folder.path, "run-1").unwrap();
    assert!(!old.exists() && private.join("scratch-new").exists());
    let sweep = |is_dry| folder.workspace.sweep(Duration::ZERO, is_dry).unwrap();
    assert_eq!((sweep(true).scratch, sweep(false).scratch, sweep(false).scratch), (1, 1, 0));
    assert_eq!(sweep(false).workspaces, 0);
    fs::remove_dir_all(&folder.path).unwrap();
    assert_eq!(sweep(false).workspaces, 1);
    assert!(!private.exists());
}

/// Collects every file of a repository with its content and mode.
fn all_of_git(path: &Path, within: &Path, all: &mut BTreeMap<String, (Vec<u8>, u32)>) {
    for entry in fs::read_dir(path).unwrap().map(|entry| entry.unwrap().path()) {
        let name = entry.strip_prefix(within).unwrap().display().to_string();
        match entry.is_dir() {
            true => all_of_git(&entry, within, all),
            false => {
                let mode = fs::metadata(&entry).unwrap().permissions().mode();
                all.insert(name, (fs::read(&entry).unwrap(), mode));
            }
        }
    }
}

#[test]
fn only_a_commit_changes_the_users_repository() {
    let folder = Folder::repository();
    folder.write("a", "1\n");
    folder.git(&["add", "."]);
    folder.git(&["commit", "-q", "-m", "first"]);
    folder.write("a", "stashed\n");
    folder.git(&["stash", "-q"]);
    folder.git(&["branch", "other"]);
    folder.git(&["tag", "v1"]);
    folder.write("staged", "s\n");
    folder.git(&["add", "staged"]);
    folder.write("a", "2\n");
    fs::create_dir_all(folder.path.join(".git/hooks")).unwrap();
    fs::write(folder.path.join(".git/hooks/pre-commit"), "#!/bin/sh\ntouch hooked\n").unwrap();
    fs::set_permissions(folder.path.join(".git/hooks/pre-commit"), fs::Permissions::from_mode(0o755)).unwrap();
    let git = || {
        let mut all = BTreeMap::new();
        all_of_git(&folder.path.join(".git"), &folder.path.join(".git"), &mut all);
        all
    };
    let before = git();
    let (workspace, path) = (&folder.workspace, &folder.path);
    workspace.tree(path).unwrap();
    let kept = workspace.take(path, "run-1").unwrap();
    let patch =
        Patch::parse(b"*** Begin Patch\n*** Update File: a\n@@\n-2\n+3\n*** Add File: n\n+n\n*** End Patch\n").unwrap();
    workspace.apply(path, &patch, &BTreeMap::new()).unwrap();
    let changes = workspace.changes_since(path, "run-1", &kept).unwrap().unwrap();
    let checkpoint = workspace.next_checkpoint(path, "run-1", "chk").unwrap();
    let undo = workspace.plan_undo(path, &[&changes], &|_| true).unwrap();
    workspace.carry_out(&undo).unwrap();
    workspace.restore_tree(path, &checkpoint.tree).unwrap();
    workspace.restore(path, &kept).unwrap();
    let failed = workspace.commit(path, &Commit { tree: Some("0".repeat(40)), ..Commit::default() });
    assert!(failed.is_err());
    workspace.forget(path, "run-1", false).unwrap();
    workspace.sweep(Duration::ZERO, false).unwrap();
    assert_eq!(git(), before);
    workspace.commit(path, &Commit { message: "m".into(), ..Commit::default() }).unwrap();
    assert_ne!(git(), before);
    assert!(!path.join("hooked").exists());
}
