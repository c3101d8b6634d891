//! Snapshots that are stored and restored with the real git.

use std::{
    fs,
    os::unix::fs::{PermissionsExt, symlink},
};

use crate::folder::Folder;

/// Stores a snapshot, makes a change and restores the snapshot. Afterwards the files and the user's git files must be
/// as before.
#[track_caller]
fn check(before: impl Fn(&Folder), change: impl Fn(&Folder)) {
    for folder in [Folder::repository(), Folder::plain()] {
        before(&folder);
        let kept = folder.workspace.take(&folder.path, "run-1").unwrap();
        let files = folder.files();
        change(&folder);
        assert_ne!(folder.files(), files, "the change changes nothing");
        let git = folder.user_files();
        folder.workspace.restore(&folder.path, &kept).unwrap();
        assert_eq!(folder.files(), files);
        assert_eq!(folder.user_files(), git, "the user's own git files were touched");
        let again = folder.workspace.restore(&folder.path, &kept).unwrap();
        assert_eq!((again.put_back, again.removed), (0, 0), "a second restore has nothing to do");
    }
}

#[test]
fn a_changed_file_is_restored() {
    check(|folder| folder.write("a", "one"), |folder| folder.write("a", "two"));
}

#[test]
fn a_new_file_is_removed_with_its_directories() {
    check(|folder| folder.write("a", "one"), |folder| folder.write("new/deep/b", "two"));
}

#[test]
fn restore_after_a_killed_writer_recovers_files_and_removes_leftovers() {
    let before = |folder: &Folder| {
        folder.write("a", "one");
        folder.write("d/b", "two");
    };
    check(before, |folder| {
        // The new file is in place with the old one next to it; a deleted file is moved aside; another new file is not
        // in place yet.
        folder.write("a", "new");
        folder.write(".interlock-aside-4194999-1", "one");
        fs::rename(folder.path.join("d/b"), folder.path.join("d/.interlock-aside-4194999-2")).unwrap();
        folder.write("d/.interlock-aside-4194999-3", "three");
    });
}

#[test]
fn deleted_files_are_restored_whether_tracked_or_not() {
    check(
        |folder| {
            folder.write("tracked/a", "one");
            folder.git(&["add", "."]);
            folder.write("untracked/b", "two");
        },
        |folder| {
            fs::remove_dir_all(folder.path.join("tracked")).unwrap();
            fs::remove_dir_all(folder.path.join("untracked")).unwrap();
        },
    );
}

#[test]
fn the_executable_bit_is_restored() {
    let set = |folder: &Folder, mode| {
        fs::set_permissions(folder.path.join("a"), fs::Permissions::from_mode(mode)).unwrap();
    };
    check(
        |folder| {
            folder.write("a", "#!/bin/sh\n");
            set(folder, 0o755);
        },
        |folder| set(folder, 0o644),
    );
}

#[test]
fn links_are_restored_as_links() {
    check(
        |folder| {
            folder.write("d/a", "one");
            symlink("d", folder.path.join("to-folder")).unwrap();
            symlink("nowhere", folder.path.join("to-nothing")).unwrap();
        },
        |folder| {
            fs::remove_file(folder.path.join("to-folder")).unwrap();
            folder.write("to-folder/b", "a folder now");
            fs::remove_file(folder.path.join("to-nothing")).unwrap();
            symlink("elsewhere", folder.path.join("to-nothing")).unwrap();
        },
    );
}

#[test]
fn a_link_that_replaced_a_directory_is_not_followed() {
    let outside = tempfile::tempdir().unwrap();
    fs::write(outside.path().join("a"), "not ours").unwrap();
    check(
        |folder| folder.write("d/a", "one"),
        |folder| {
            fs::remove_dir_all(folder.path.join("d")).unwrap();
            symlink(outside.path(), folder.path.join("d")).unwrap();
        },
    );
    assert_eq!(fs::read_to_string(outside.path().join("a")).unwrap(), "not ours");
}

#[test]
fn bytes_are_restored_unchanged_despite_attributes() {
    let bytes: Vec<u8> = (0..=255).cycle().take(70_000).collect();
    check(
        |folder| {
            folder.write(".gitattributes", "* text=auto eol=lf ident filter=upper working-tree-encoding=UTF-16\n");
            folder.write("text", "one\r\ntwo\n$Id: x$\r\n");
            folder.write_bytes("binary", &bytes);
        },
        |folder| {
            folder.write("text", "one\ntwo\n");
            folder.write("binary", "");
        },
    );
}

#[test]
fn a_file_that_replaced_a_directory_is_reverted_and_vice_versa() {
    check(
        |folder| {
            folder.write("x/a", "one");
            folder.write("y", "two");
        },
        |folder| {
            fs::remove_dir_all(folder.path.join("x")).unwrap();
            folder.write("x", "a file now");
            fs::remove_file(folder.path.join("y")).unwrap();
            folder.write("y/b", "a folder now");
        },
    );
}

#[test]
fn unusual_file_names_are_restored() {
    let names =
        ["with space", "with\nline break", "ünïcödé/ſ", "-rf", ":(top)x", "\"quoted\"", "*", "a\\b", "\u{7f}\t"];
    check(
        |folder| names.iter().for_each(|name| folder.write(name, name)),
        |folder| {
            names.iter().for_each(|name| fs::remove_file(folder.path.join(name)).unwrap());
            names.iter().for_each(|name| folder.write(&format!("new {name}"), name));
        },
    );
}

#[test]
fn new_ignore_rules_hide_no_file_and_removed_rules_lose_no_file() {
    check(
        |folder| {
            folder.write(".gitignore", "*.secret\n/built/\n");
            folder.write("sub/.gitignore", "*.tmp\n");
            folder.write("a.secret", "must stay");
            folder.write("built/b", "must stay");
            folder.write("sub/c.tmp", "must stay");
        },
        |folder| {
            fs::remove_file(folder.path.join(".gitignore")).unwrap();
            folder.write("sub/.gitignore", "*.log\n");
            folder.write("new/.gitignore", "*.out\n");
            folder.write("sub/d.log", "must go");
            folder.write("new/e.out", "must go");
        },
    );
}

#[test]
fn the_users_index_branches_and_stash_stay_unchanged() {
    let folder = Folder::repository();
    folder.write("a", "one");
    folder.write("b", "one");
    folder.git(&["add", "."]);
    folder.git(&["commit", "-qm", "first"]);
    folder.write("a", "stashed");
    folder.git(&["stash", "-q"]);
    folder.write("a", "staged");
    folder.git(&["add", "a"]);
    folder.write("a", "and changed since");
    folder.git(&["rm", "-q", "--cached", "b"]);
    let before = folder.user_files();
    let kept = folder.workspace.take(&folder.path, "run-1").unwrap();
    folder.workspace.tree(&folder.path).unwrap();
    fs::remove_file(folder.path.join("a")).unwrap();
    folder.workspace.restore(&folder.path, &kept).unwrap();
    assert_eq!(folder.user_files(), before);
    assert_eq!(fs::read_to_string(folder.path.join("a")).unwrap(), "and changed since");
}

#[test]
fn a_subdirectory_selects_the_whole_repository() {
    let folder = Folder::repository();
    folder.write("top", "one");
    folder.write("down/here", "one");
    let down = folder.path.join("down");
    let kept = folder.workspace.take(&down, "run-1").unwrap();
    folder.write("top", "two");
    let restored = folder.workspace.restore(&down, &kept).unwrap();
    assert_eq!(restored.to_string(), "1 file restored, 0 removed");
    assert_eq!(fs::read_to_string(folder.path.join("top")).unwrap(), "one");
}

#[test]
fn a_directory_that_became_a_repository_is_restored() {
    let folder = Folder::plain();
    folder.write("a", "one");
    let kept = folder.workspace.take(&folder.path, "run-1").unwrap();
    folder.init();
    folder.write("a", "two");
    folder.git(&["add", "."]);
    folder.git(&["commit", "-qm", "first"]);
    folder.workspace.restore(&folder.path, &kept).unwrap();
    assert_eq!(fs::read_to_string(folder.path.join("a")).unwrap(), "one");
}

#[test]
fn nested_repositories_are_left_unchanged() {
    let folder = Folder::repository();
    folder.write("a", "one");
    folder.write("unborn/x", "one");
    folder.git(&["init", "-q", "unborn"]);
    let kept = folder.workspace.take(&folder.path, "run-1").unwrap();
    folder.git(&["init", "-q", "new"]);
    folder.write("new/y", "one");
    folder.git(&["-C", "new", "add", "."]);
    folder.git(&["-C", "new", "commit", "-qm", "first"]);
    folder.write("a", "two");
    let restored = folder.workspace.restore(&folder.path, &kept).unwrap();
    assert_eq!(restored.to_string(), "1 file restored, 0 removed; nested repositories not changed: new");
    assert!(folder.path.join("new/y").exists() && folder.path.join("unborn/x").exists());
}

#[test]
fn the_store_is_not_part_of_the_workspace() {
    let folder = Folder::plain();
    let home = folder.path.join("in here");
    let workspace = interlock_workspace::Workspace::new(&home);
    folder.write("a", "one");
    folder.write("in here/journal", "one record");
    let kept = workspace.take(&folder.path, "run-1").unwrap();
    folder.write("in here/journal", "two records");
    folder.write("a", "two");
    workspace.restore(&folder.path, &kept).unwrap();
    assert_eq!(fs::read_to_string(home.join("journal")).unwrap(), "two records");
    assert_eq!(fs::read_to_string(folder.path.join("a")).unwrap(), "one");
}

#[test]
fn snapshots_of_a_run_are_numbered_and_survive_gc() {
    let folder = Folder::repository();
    let names = ["run-1", "run-1", "run-1.2..odd~name.lock"].map(|run| {
        folder.write("a", run);
        folder.workspace.take(&folder.path, run).unwrap()
    });
    let odd = "refs/interlock/run-1.2=2e=2eodd=7ename=2elock/1";
    assert_eq!(names, ["refs/interlock/run-1/1", "refs/interlock/run-1/2", odd]);
    folder.git(&["gc", "-q", "--prune=now"]);
    folder.workspace.restore(&folder.path, &names[0]).unwrap();
    assert_eq!(fs::read_to_string(folder.path.join("a")).unwrap(), "run-1");
    let missing = folder.workspace.restore(&folder.path, "refs/interlock/run-1/3").unwrap_err();
    assert_eq!(missing.to_string(), "there is no snapshot called `refs/interlock/run-1/3`");
    assert!(folder.workspace.restore(&folder.path, "HEAD").is_err(), "only snapshots can be restored");
}

#[test]
fn snapshots_appear_in_no_history_and_pass_fsck() {
    let folder = Folder::repository();
    folder.write("a", "one");
    folder.git(&["add", "."]);
    folder.git(&["commit", "-qm", "the only commit"]);
    folder.write("a", "two");
    folder.workspace.take(&folder.path, "run-1").unwrap();
    folder.workspace.checkpoint(&folder.path, "run-1", "chk").unwrap();
    assert_eq!(folder.git(&["log", "--all", "--format=%s"]), "the only commit");
    assert_eq!(folder.git(&["fsck", "--full", "--strict"]), "");
}

#[test]
fn numbering_continues_without_the_file_of_the_last_number() {
    let folder = Folder::repository();
    folder.write("a", "one");
    let take = || folder.workspace.take(&folder.path, "run-1").unwrap();
    take();
    take();
    fs::remove_file(folder.private().join("last-run-1")).unwrap();
    assert_eq!(take(), "refs/interlock/run-1/3");
}

#[test]
fn files_that_become_ignored_are_left_out() {
    let folder = Folder::repository();
    folder.write("a", "one");
    folder.write("made", "one");
    let (_, before) = folder.workspace.take_tree(&folder.path, "run-1").unwrap();
    folder.write(".gitignore", "made\n");
    let (_, after) = folder.workspace.take_tree(&folder.path, "run-1").unwrap();
    assert_eq!(folder.kept(&["ls-tree", "--name-only", &before]), "a\nmade");
    assert_eq!(folder.kept(&["ls-tree", "--name-only", &after]), ".gitignore\na");
}

#[test]
fn a_directory_that_replaced_an_ignored_tracked_file_gives_a_stable_tree() {
    let folder = Folder::repository();
    folder.write(".gitignore", "made\n");
    folder.write("made", "one");
    folder.git(&["add", "--force", "."]);
    folder.git(&["commit", "-qm", "first"]);
    fs::remove_file(folder.path.join("made")).unwrap();
    folder.write("made/x", "nobody's but its owner's");
    let trees = [(); 3].map(|()| folder.workspace.take_tree(&folder.path, "run-1").unwrap().1);
    assert!(trees.iter().all(|tree| *tree == trees[0]), "{trees:?}");
    assert_eq!(folder.kept(&["ls-tree", "--name-only", &trees[0]]), ".gitignore");
}

#[test]
fn pruned_content_is_stored_again() {
    let folder = Folder::repository();
    folder.write("d/a", "one");
    let kept = folder.workspace.take(&folder.path, "run-1").unwrap();
    folder.kept(&["update-ref", "-d", &kept]);
    folder.kept(&["-c", "gc.pruneExpire=now", "prune", "--expire=now"]);
    folder.kept(&["repack", "-adq"]);
    folder.write("b", "two");
    let kept = folder.workspace.take(&folder.path, "run-1").unwrap();
    fs::remove_dir_all(folder.path.join("d")).unwrap();
    folder.workspace.restore(&folder.path, &kept).unwrap();
    assert_eq!(fs::read_to_string(folder.path.join("d/a")).unwrap(), "one");
}
