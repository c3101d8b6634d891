//! References, the stash and the state of git that a program has changed: put back at once, or by an undo.

use std::{fs, path::Path, process::Command};

use interlock_workspace::{Changes, Moved, Why};

use crate::folder::Folder;

const AS_ME: &str =
    "export GIT_AUTHOR_NAME=a GIT_AUTHOR_EMAIL=a@b GIT_COMMITTER_NAME=a GIT_COMMITTER_EMAIL=a@b GIT_EDITOR=true;";

fn shell(folder: &Folder, command: &str) {
    let command = format!("{AS_ME} {command}");
    assert!(Command::new("bash").current_dir(&folder.path).args(["-c", &command]).status().unwrap().success());
}

/// Makes a repository with a branch, a tag, a note, a remote-tracking branch and two entries of the stash.
fn busy() -> Folder {
    let folder = Folder::repository();
    let make = "git checkout -qb main; echo 1 > a; git add a; git commit -qm one; git commit -q --allow-empty -m two;
        git branch side HEAD~; git tag -a v1 -m v1; git notes add -m note;
        git update-ref refs/remotes/origin/main HEAD~;
        echo 2 > a; git stash push -qm first; echo 3 > a; git stash push -qm second; git checkout -q main";
    shell(&folder, make);
    folder
}

/// Returns all that a person sees of the references and the state.
fn standing(folder: &Folder) -> [String; 4] {
    [
        folder.git(&["for-each-ref", "--format=%(refname) %(objectname)"]),
        folder.git(&["stash", "list", "--format=%H %gs"]),
        folder.git(&["rev-parse", "--symbolic-full-name", "HEAD"]),
        folder.git(&["status"]),
    ]
}

fn write(folder: &Folder, command: &str) -> Option<Changes> {
    let before = folder.workspace.take(&folder.path, "run-1").unwrap();
    shell(folder, command);
    folder.workspace.changes_since(&folder.path, "run-1", &before).unwrap()
}

#[test]
fn deleted_references_and_stash_entries_are_put_back_and_reported() {
    let deletions = [
        ("git branch -qD side", "refs/heads/side"),
        ("git tag -d v1", "refs/tags/v1"),
        ("git pack-refs --all; git tag -d v1; git branch -qD side", "refs/tags/v1"),
        ("git update-ref -d refs/notes/commits", "refs/notes/commits"),
        ("git update-ref -d refs/remotes/origin/main", "refs/remotes/origin/main"),
        ("git stash clear", "(On main: first)"),
        ("git stash drop -q", "(On main: second)"),
        ("git stash drop -q 'stash@{1}'", "(On main: first)"),
        ("git stash pop -q; git checkout -q a", "(On main: second)"),
        ("rm .git/refs/stash", "refs/stash"),
        ("rm -r .git/logs", "the stash"),
        ("git branch -qm main other; git checkout -q side; git branch -qD other; git checkout -q -B main v1", "logs"),
        (
            "git branch -qD side; mkdir -p .git/refs/heads/side; git rev-parse HEAD > .git/refs/heads/side/x",
            "in the way",
        ),
        ("rm .git/refs/heads/side; mkfifo .git/refs/heads/side", "refs/heads/side"),
        ("mkfifo .git/refs/heads/pipe", "refs/heads/pipe"),
        ("git pack-refs --all; rm .git/packed-refs", "refs/tags/v1"),
        (
            "git pack-refs --all; rm .git/packed-refs; mkfifo .git/packed-refs",
            "packed-refs is a named pipe; it was removed",
        ),
        ("git pack-refs --all; echo garbage >> .git/packed-refs", "packed references"),
    ];
    for (deletion, told) in deletions {
        let folder = busy();
        let before = standing(&folder);
        let changes = write(&folder, deletion).unwrap();
        if told != "logs" {
            assert!(changes.breaches.iter().any(|said| said.contains(told)), "{deletion}: {:?}", changes.breaches);
        }
        assert_eq!(standing(&folder), before, "{deletion}: {:?}", changes.breaches);
        let again = folder.workspace.changes_since(&folder.path, "run-1", &changes.before).unwrap();
        assert_eq!(again.map(|changes| changes.breaches).unwrap_or_default(), [""; 0], "{deletion}");
        folder.git(&["stash", "pop", "-q"]);
        assert_eq!(fs::read_to_string(folder.path.join("a")).unwrap(), "3\n", "{deletion}");
    }
}

#[test]
fn references_that_a_program_made_or_moved_are_recorded_and_moved_back() {
    let moves = [
        "git commit -q --allow-empty -m more; git branch new; git tag v2",
        "git checkout -q side; git commit -q --allow-empty -m more",
        "git checkout -qb new; echo x > n; git add n; git commit -qm n; rm n",
        "git checkout -q --detach HEAD~",
        "git branch -f side main; git update-ref refs/remotes/origin/main main; git tag -f v1 side",
        "echo 4 > a; git stash push -qm third; echo 5 > a; git stash push -qm fourth",
        "git notes add -fm other; git symbolic-ref refs/remotes/origin/HEAD refs/remotes/origin/main",
        "git checkout -q side; git reset -q --hard main; git checkout -q main; git pack-refs --all",
    ];
    for command in moves {
        let folder = busy();
        let before = standing(&folder);
        let changes = write(&folder, command).unwrap();
        assert_eq!(changes.breaches, [""; 0], "{command}");
        let after = standing(&folder);
        let moved: Vec<&Moved> = changes.references.iter().collect();
        assert!(!moved.is_empty() && after != before, "{command}");
        for moved in &moved {
            let now = folder.workspace.standing(&folder.path, &moved.reference).unwrap();
            assert!(moved.is_at(now.as_ref()), "{command}: {moved:?} {now:?}");
        }
        folder.workspace.take_back_moves(&folder.path, &moved).unwrap();
        assert_eq!(standing(&folder), before, "{command}: {moved:?}");
    }
}

#[test]
fn references_of_other_runs_and_worktrees_are_left_alone() {
    let folder = busy();
    shell(&folder, "git worktree add -qb interlock/r ../r; git worktree add -qb theirs ../theirs; git tag chk-1");
    let elsewhere =
        "cd ../theirs; git commit -q --allow-empty -m n; cd ../r; git commit -q --allow-empty -m n; git tag chk-2";
    assert_eq!(write(&folder, elsewhere), None);
    let gone = write(&folder, "git tag -d chk-1").unwrap();
    assert_eq!((gone.breaches.len(), gone.references.len()), (0, 1));
    folder.workspace.take_back_moves(&folder.path, &[&gone.references[0]]).unwrap();
    assert_eq!(folder.git(&["rev-parse", "chk-1"]), folder.git(&["rev-parse", "main"]));
}

#[test]
fn planted_state_of_git_is_removed_kept_aside_and_reported() {
    let planted = [
        "mkdir .git/rebase-merge; echo 'exec touch hacked' > .git/rebase-merge/git-rebase-todo; git rev-parse HEAD > .git/rebase-merge/orig-head; echo refs/heads/main > .git/rebase-merge/head-name; cp .git/rebase-merge/orig-head .git/rebase-merge/onto",
        "mkdir .git/rebase-apply; touch .git/rebase-apply/applying",
        "mkdir .git/sequencer; echo 'pick x' > .git/sequencer/todo",
        "git rev-parse side > .git/MERGE_HEAD",
        "git rev-parse side > .git/CHERRY_PICK_HEAD",
        "echo garbage > .git/shallow",
        "git rev-parse HEAD > .git/shallow",
        "mkfifo .git/shallow",
        "mkfifo .git/objects/info/alternates",
        "ln -s /dev/zero .git/objects/info/alternates",
        "echo /elsewhere > .git/objects/info/alternates",
        "echo \"$(git rev-parse HEAD)\" > .git/info/grafts",
        "echo '* filter=x' > .git/info/attributes",
        "git bisect start -q main side; git checkout -q main",
        "echo x > .git/some-new-file-of-git",
    ];
    for plant in planted {
        let folder = busy();
        let before = standing(&folder);
        let changes = write(&folder, plant).unwrap_or_else(|| panic!("{plant}"));
        assert!(!changes.breaches.is_empty(), "{plant}");
        let moved: Vec<&Moved> = changes.references.iter().collect();
        folder.workspace.take_back_moves(&folder.path, &moved).unwrap();
        assert_eq!(standing(&folder), before, "{plant}: {:?}", changes.breaches);
        assert_eq!(folder.git(&["rev-list", "--count", "main"]), "2", "{plant}");
        assert_eq!(write(&folder, "true"), None, "{plant}");
    }
    let folder = busy();
    let said = write(&folder, planted[0]).unwrap().breaches.join("");
    let aside = said.split("a copy is in ").nth(1).unwrap();
    let list = fs::read_to_string(Path::new(aside).join("rebase-merge/git-rebase-todo")).unwrap();
    assert_eq!(list, "exec touch hacked\n");
}

/// Makes a repository in the middle of a merge with a conflict.
fn merging() -> Folder {
    let folder = busy();
    let make = "git checkout -q side; echo s > a; git commit -qam side; git checkout -q main; echo m > a;
        git commit -qam main; git merge side >/dev/null; true";
    shell(&folder, make);
    folder
}

#[test]
fn a_merge_of_a_person_is_put_back_if_aborted_and_stays_finished_if_finished() {
    let folder = merging();
    let before = folder.git(&["rev-parse", "MERGE_HEAD"]);
    let changes = write(&folder, "git merge --abort; echo planted >> .git/MERGE_MSG").unwrap();
    assert!(changes.breaches.iter().any(|said| said.contains("MERGE_HEAD was removed")), "{:?}", changes.breaches);
    assert_eq!(folder.git(&["rev-parse", "MERGE_HEAD"]), before);
    assert!(!fs::read_to_string(folder.path.join(".git/MERGE_MSG")).unwrap().contains("planted"));

    let folder = merging();
    let changes = write(&folder, "echo both > a; git add a; git commit -qm merged").unwrap();
    assert_eq!((changes.breaches.len(), changes.references.len()), (0, 1), "{changes:?}");
    assert!(changes.not_kept.iter().any(|it| it.path == Path::new(".git/MERGE_HEAD") && it.why == Why::Finished));
    assert!(!folder.path.join(".git/MERGE_HEAD").exists());
    let undo = folder.workspace.plan_undo(&folder.path, &[&changes], &|_| true).unwrap();
    assert!(!undo.not_kept.is_empty());
}

/// What a program plants is recorded for an attempt that begins meanwhile, and what it removes is not.
#[test]
fn an_attempt_that_overlaps_with_another_one_does_not_bring_back_what_that_one_has_planted() {
    let take = |folder: &Folder, run: &str| folder.workspace.take(&folder.path, run).unwrap();
    let end =
        |folder: &Folder, run: &str, before: &str| folder.workspace.changes_since(&folder.path, run, before).unwrap();
    for (change, folder) in [
        ("mkdir .git/rebase-merge; echo 'exec touch hacked' > .git/rebase-merge/git-rebase-todo", busy()),
        ("mkdir -p .git/info; git rev-parse HEAD > .git/info/grafts", busy()),
        ("echo /tmp > .git/objects/info/alternates", busy()),
        ("rm .git/MERGE_HEAD", merging()),
    ] {
        let status = standing(&folder);
        let first = take(&folder, "run-1");
        shell(&folder, change);
        let second = take(&folder, "run-2");
        assert!(!end(&folder, "run-1", &first).unwrap().breaches.is_empty(), "{change}");
        assert_eq!(standing(&folder), status, "{change}");
        assert_eq!(end(&folder, "run-2", &second), None, "{change}");
        assert_eq!(standing(&folder), status, "{change}");
        // The program of the second attempt cannot do it either.
        shell(&folder, change);
        assert!(!end(&folder, "run-2", &second).unwrap().breaches.is_empty(), "{change}");
        assert_eq!(standing(&folder), status, "{change}");
        // What a person does afterwards stays.
        if !folder.path.join(".git/MERGE_HEAD").exists() {
            shell(&folder, change);
            let third = take(&folder, "run-3");
            assert_eq!(end(&folder, "run-3", &third), None, "{change}");
        }
    }
}

#[test]
fn a_shallow_repository_may_be_deepened_but_not_broken() {
    let folder = Folder::plain();
    let make = "mkdir ../source; cd ../source; git init -qb main; for n in 1 2 3; do echo $n > a; git add a; git commit -qm $n; done;
        cd ../folder; git clone -q --depth 1 file://$PWD/../source .; git config user.name a";
    shell(&folder, make);
    let list = || fs::read_to_string(folder.path.join(".git/shallow")).unwrap_or_default();
    let before = list();
    for (damage, told) in [
        ("rm .git/shallow", 1),
        ("echo x > .git/shallow", 1),
        ("echo x >> .git/shallow", 1),
        // The pipe is removed first; then the list is as if it had been deleted.
        ("rm .git/shallow; mkfifo .git/shallow", 2),
    ] {
        let changes = write(&folder, damage).unwrap();
        assert_eq!((changes.breaches.len(), list()), (told, before.clone()), "{damage}: {:?}", changes.breaches);
        assert_eq!(folder.git(&["rev-list", "--count", "HEAD"]), "1", "{damage}");
    }
    let deepened = write(&folder, "git fetch -q --deepen=1");
    assert!(deepened.is_none_or(|changes| changes.breaches.is_empty()));
    assert_eq!(folder.git(&["rev-list", "--count", "HEAD"]), "2");
    assert!(write(&folder, "git fetch -q --unshallow").is_none_or(|changes| changes.breaches.is_empty()));
    assert_eq!((folder.git(&["rev-list", "--count", "HEAD"]).as_str(), list().as_str()), ("3", ""));
}

#[test]
fn locks_that_an_attempt_left_behind_are_removed_and_reported() {
    let folder = busy();
    fs::write(folder.path.join(".git/HEAD.lock"), "of a person").unwrap();
    let changes =
        write(&folder, "touch .git/index.lock .git/packed-refs.lock; mkdir .git/refs/heads/main.lock").unwrap();
    let removed = [".git/index.lock", ".git/packed-refs.lock", ".git/refs/heads/main.lock"];
    for lock in removed {
        assert!(changes.breaches.iter().any(|said| said.contains(lock)), "{lock}: {:?}", changes.breaches);
        assert!(fs::symlink_metadata(folder.path.join(lock)).is_err(), "{lock}");
    }
    assert!(folder.path.join(".git/HEAD.lock").exists(), "it was there before");
}

#[test]
fn a_lock_stays_while_a_git_of_a_person_works() {
    let folder = busy();
    let before = folder.workspace.take(&folder.path, "run-1").unwrap();
    let mut git = Command::new("git");
    let git = git.args(["-c", "core.editor=cat", "hash-object", "--stdin"]).current_dir(&folder.path);
    let mut git = git.stdin(std::process::Stdio::piped()).stdout(std::process::Stdio::null()).spawn().unwrap();
    fs::write(folder.path.join(".git/index.lock"), "").unwrap();
    folder.workspace.changes_since(&folder.path, "run-1", &before).unwrap();
    assert!(folder.path.join(".git/index.lock").exists());
    drop(git.stdin.take());
    git.wait().unwrap();
    folder.workspace.changes_since(&folder.path, "run-1", &before).unwrap();
    assert!(!folder.path.join(".git/index.lock").exists());
}
