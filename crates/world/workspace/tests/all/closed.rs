//! An attempt of an ordinary user that takes the permissions of files away, or puts something in the way of git.

use std::{
    fs,
    os::unix::fs::{PermissionsExt, symlink},
    path::Path,
    process::Command,
    time::{Duration, Instant},
};

use interlock_workspace::{Changes, Why};
use rustix::process::Uid;

use crate::folder::Folder;

const NOBODY: u32 = 65_534;

/// The time in which an operation ends if git waits for nothing.
const SOON: Duration = Duration::from_secs(8);

fn sh(folder: &Path, script: &str) {
    let mut shell = Command::new("sh");
    let done = shell.arg("-ec").arg(script).current_dir(folder).env("GIT_CONFIG_GLOBAL", "/dev/null").output().unwrap();
    assert!(done.status.success(), "{script}: {}", String::from_utf8_lossy(&done.stderr));
}

/// Runs a test as an ordinary user, who owns the directory and the store.
fn as_nobody<T: Send>(folder: &Folder, test: impl FnOnce() -> T + Send) -> T {
    if !rustix::process::geteuid().is_root() {
        return test();
    }
    let top = folder.path.parent().unwrap();
    sh(top, &format!("chown -R {NOBODY}:{NOBODY} ."));
    let user = Uid::from_raw(NOBODY);
    std::thread::scope(|scope| {
        let test = || {
            // Only this thread, and the threads and processes that it starts, become the user.
            rustix::thread::set_thread_res_uid(user, user, user).unwrap();
            test()
        };
        scope.spawn(test).join().unwrap()
    })
}

fn scene() -> Folder {
    let folder = Folder::repository();
    ["d/f", "d/g", "g", "h"].iter().for_each(|name| folder.write(name, "mine\n"));
    folder.write(".gitignore", "*.o\n");
    folder.git(&["add", "-A"]);
    folder.git(&["commit", "-qm", "first"]);
    folder
}

/// Runs a script as an attempt. Returns its changes.
fn attempt(folder: &Folder, script: &str) -> Changes {
    let before = folder.workspace.take(&folder.path, "r").unwrap();
    sh(&folder.path, script);
    folder.workspace.changes_since(&folder.path, "r", &before).unwrap().unwrap()
}

fn paths(changes: &Changes) -> Vec<&str> {
    changes.files.iter().map(|change| change.path.to_str().unwrap()).collect()
}

/// Undoes changes completely.
fn undo(folder: &Folder, changes: &Changes) {
    let undo = folder.workspace.plan_undo(&folder.path, &[changes], &|_| true).unwrap();
    assert!(undo.conflicts.is_empty() && undo.not_kept.is_empty(), "{undo:?}");
    folder.workspace.carry_out(&undo).unwrap();
}

#[test]
fn an_attempt_that_takes_permissions_away_is_recorded_and_undone() {
    let cases = [
        ("chmod 000 d/f", "d/f could not be read, because its permissions were 000; now they are 400"),
        ("chmod 000 .gitignore", ".gitignore could not be read, because its permissions were 000; now they are 400"),
        ("chmod 000 d", "d could not be read, because its permissions were 000; now they are 700"),
        ("chmod 300 d", "d could not be read, because its permissions were 300; now they are 700"),
        ("chmod 400 d", "d could not be read, because its permissions were 400; now they are 700"),
        ("chmod 000 d/f d", "d could not be read, because its permissions were 000; now they are 700"),
        ("chmod 000 .git/objects", "objects could not be read, because its permissions were 000; now they are 700"),
        ("chmod 000 .git/refs/heads", "heads could not be read, because its permissions were 000; now they are 700"),
        ("chmod 000 .git", ".git could not be read, because its permissions were 000; now they are 700"),
        ("chmod 000 .", "folder could not be read, because its permissions were 000; now they are 700"),
    ];
    for (closing, said) in cases {
        let folder = scene();
        as_nobody(&folder, || {
            let files = folder.files();
            let changes = attempt(&folder, &format!("rm g; echo bad > h; echo bad > d/f; echo x > d/new; {closing}"));
            assert_eq!(paths(&changes), ["d/f", "d/new", "g", "h"], "{closing}: {changes:?}");
            assert!(changes.breaches.iter().any(|breach| breach.ends_with(said)), "{closing}: {changes:?}");
            undo(&folder, &changes);
            assert_eq!(folder.files(), files, "{closing}");
            // The next attempt is not concerned.
            let next = attempt(&folder, "echo next > h");
            assert_eq!((paths(&next), next.breaches.len()), (vec!["h"], 0), "{closing}: {next:?}");
        });
    }
}

/// Git tracks one permission, which an undo puts back.
#[test]
fn a_program_that_was_closed_can_be_executed_after_the_undo() {
    let folder = scene();
    sh(&folder.path, "chmod 755 h; git add h");
    as_nobody(&folder, || {
        let changes = attempt(&folder, "chmod 000 h");
        assert_eq!(paths(&changes), ["h"]);
        undo(&folder, &changes);
        assert_eq!(fs::metadata(folder.path.join("h")).unwrap().permissions().mode() & 0o700, 0o500);
    });
}

/// What the user cannot read before an attempt stays as it is, and hides nothing else.
#[test]
fn a_file_that_nobody_may_read_is_named_and_the_others_are_recorded() {
    let folder = scene();
    folder.write("theirs", "secret\n");
    as_nobody(&folder, || {
        sh(&folder.path, "chmod 000 theirs");
        let changes = attempt(&folder, "echo bad > h");
        assert_eq!((paths(&changes), changes.not_kept.len(), changes.breaches.len()), (vec!["h"], 0, 0), "{changes:?}");
        assert_eq!(fs::metadata(folder.path.join("theirs")).unwrap().permissions().mode() & 0o777, 0);
        // The attempt writes it all the same.
        let changes = attempt(&folder, "echo bad > g; chmod 200 theirs; echo more >> theirs; chmod 000 theirs");
        assert_eq!(paths(&changes), ["g"], "{changes:?}");
        let unkept: Vec<_> = changes.not_kept.iter().map(|it| (it.path.to_str().unwrap(), it.why)).collect();
        assert_eq!(unkept, [("theirs", Why::Unreadable)]);
    });
}

#[test]
fn many_files_hide_no_pipe() {
    let folder = scene();
    let began = Instant::now();
    let changes = attempt(
        &folder,
        "seq 21000 | sed s/^/a/ | xargs touch; mkdir -p x/.git/refs x/.git/objects; mkfifo x/.git/HEAD; echo bad > h",
    );
    assert!(paths(&changes).contains(&"h") && changes.files.len() == 21_001, "{}", changes.summary());
    assert!(changes.breaches[0].ends_with("x/.git/HEAD is a named pipe; it was removed"), "{:?}", changes.breaches);
    assert!(began.elapsed() < 3 * SOON, "{:?}", began.elapsed());
}

/// The tree of an attempt is computed before its changes.
#[test]
fn a_tree_is_computed_without_waiting_for_a_pipe_and_the_changes_name_it() {
    let folder = scene();
    let before = folder.workspace.take(&folder.path, "r").unwrap();
    sh(&folder.path, "mkdir -p x/.git/refs x/.git/objects; mkfifo x/.git/HEAD; echo bad > h");
    let began = Instant::now();
    folder.workspace.tree_since(&folder.path, &before).unwrap();
    let changes = folder.workspace.changes_since(&folder.path, "r", &before).unwrap().unwrap();
    assert!(began.elapsed() < SOON, "{:?}", began.elapsed());
    assert_eq!(paths(&changes), ["h"]);
    assert!(changes.breaches[0].ends_with("x/.git/HEAD is a named pipe; it was removed"), "{:?}", changes.breaches);
}

/// A program of another run put it there, so that no attempt of this one has cleared it.
#[test]
fn a_snapshot_that_git_cannot_take_is_taken_after_the_blocker_was_removed() {
    let folder = scene();
    sh(&folder.path, "mkdir -p x/.git/refs x/.git/objects; mkfifo x/.git/HEAD");
    let changes = attempt(&folder, "echo bad > h");
    assert_eq!(paths(&changes), ["h"]);
    assert!(changes.breaches[0].ends_with("x/.git/HEAD is a named pipe; it was removed"), "{:?}", changes.breaches);
}

/// A sparse file takes no space, and git would read it into memory in every call.
#[test]
fn ignore_rules_without_end_are_put_aside_and_undone() {
    let folder = scene();
    let files = folder.files();
    let changes = attempt(&folder, "truncate -s 3G .gitignore; echo bad > h");
    assert_eq!(paths(&changes), [".gitignore", "h"], "{changes:?}");
    let unkept: Vec<_> = changes.not_kept.iter().map(|it| (it.path.to_str().unwrap(), it.why)).collect();
    assert_eq!(unkept, [(".interlock-aside-odd-0", Why::Size)]);
    fs::remove_file(folder.path.join(".interlock-aside-odd-0")).unwrap();
    undo(&folder, &changes);
    assert_eq!(folder.files(), files);
}

/// The owner of a link's target is not the one who made the link.
#[test]
fn nothing_behind_a_link_is_opened() {
    let folder = scene();
    let elsewhere = folder.home().with_file_name("elsewhere");
    fs::write(&elsewhere, "precious\n").unwrap();
    fs::set_permissions(&elsewhere, fs::Permissions::from_mode(0o000)).unwrap();
    as_nobody(&folder, || {
        let before = folder.workspace.take(&folder.path, "r").unwrap();
        fs::remove_file(folder.path.join("h")).unwrap();
        symlink(&elsewhere, folder.path.join("h")).unwrap();
        symlink(&elsewhere, folder.path.join(".git/link")).unwrap();
        let changes = folder.workspace.changes_since(&folder.path, "r", &before).unwrap().unwrap();
        assert_eq!(paths(&changes), ["h"]);
        assert_eq!(fs::metadata(&elsewhere).unwrap().permissions().mode() & 0o777, 0);
    });
}
