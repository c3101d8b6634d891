//! Programs in the workspace cannot reach the snapshots. Their changes are recorded, or reported as not stored.

use std::{fs, path::Path, process::Command};

use interlock_workspace::{Changes, Why};

use crate::folder::Folder;

fn shell(folder: &Folder, command: &str) {
    assert!(Command::new("sh").current_dir(&folder.path).args(["-c", command]).status().unwrap().success());
}

/// Creates a repository with one commit.
fn committed() -> Folder {
    let folder = Folder::repository();
    folder.write("a", "one\n");
    folder.write("d/b", "two\n");
    folder.write(".gitignore", "*.o\nout/\n");
    folder.git(&["add", "."]);
    folder.git(&["commit", "-qm", "first"]);
    folder
}

/// Returns the recorded changes of a command.
fn write(folder: &Folder, command: &str) -> Option<Changes> {
    let before = folder.workspace.take(&folder.path, "run-1").unwrap();
    shell(folder, command);
    folder.workspace.changes_since(&folder.path, "run-1", &before).unwrap()
}

fn paths(changes: &Changes) -> Vec<String> {
    changes.files.iter().map(|change| change.path.display().to_string()).collect()
}

fn take_back(folder: &Folder, changes: &Changes) {
    let undo = folder.workspace.plan_undo(&folder.path, &[changes], &|_| true).unwrap();
    assert_eq!((&undo.conflicts[..], &undo.not_kept[..]), (&[][..], &[][..]));
    folder.workspace.carry_out(&undo).unwrap();
}

#[test]
fn nothing_is_stored_in_the_users_repository() {
    let folder = committed();
    let before = folder.git(&["count-objects", "-v"]);
    folder.write("a", "three\n");
    folder.workspace.take(&folder.path, "run-1").unwrap();
    assert_eq!(folder.git(&["count-objects", "-v"]), before);
    assert_eq!(folder.git(&["for-each-ref", "refs/interlock"]), "");
    assert!(!folder.private().join("objects/info/alternates").exists());
    assert_eq!(folder.kept(&["cat-file", "-p", "refs/interlock/run-1/1:a"]), "three");
}

#[test]
fn packed_snapshots_are_found_and_their_numbers_are_not_used_again() {
    let folder = committed();
    let first = folder.workspace.take_tree(&folder.path, "run-1").unwrap();
    folder.kept(&["pack-refs", "--all", "--prune"]);
    assert_eq!(folder.workspace.tree_named(&folder.path, &first.0).unwrap(), first.1);
    fs::remove_file(folder.private().join("last-run-1")).unwrap();
    folder.write("a", "three\n");
    let second = folder.workspace.take_tree(&folder.path, "run-1").unwrap();
    assert_eq!((second.0.as_str(), second.1 == first.1), ("refs/interlock/run-1/2", false));
    let third = folder.workspace.take_tree(&folder.path, "run-1").unwrap();
    assert_eq!(third, ("refs/interlock/run-1/3".to_owned(), second.1.clone()));
    assert_eq!(folder.workspace.tree_since(&folder.path, &first.0).unwrap(), second.1);
    assert_eq!(folder.workspace.tree_since(&folder.path, &third.0).unwrap(), second.1);
}

#[test]
fn an_unchanged_workspace_is_stored_again_after_its_objects_were_removed() {
    let folder = committed();
    folder.workspace.kept_tree(&folder.path).unwrap();
    folder.write("a", "three\n");
    let tree = folder.workspace.kept_tree(&folder.path).unwrap();
    // `gc` keeps recent objects, so they are removed here as `gc` removes old ones.
    folder.workspace.sweep(std::time::Duration::from_secs(3_600), false).unwrap();
    folder.kept(&["prune", "--expire=now"]);
    let (name, again) = folder.workspace.take_tree(&folder.path, "run-1").unwrap();
    assert_eq!(again, tree);
    assert_eq!(folder.kept(&["cat-file", "-p", &format!("{name}:a")]), "three");
}

#[test]
fn writes_are_recorded_and_undone_despite_a_damaged_repository() {
    let damages = [
        "rm -rf .git/refs/*",
        "rm -rf .git/objects/*",
        "echo garbage > .git/HEAD",
        "echo garbage > .git/index",
        "rm -rf .git",
        "rm -rf .git; git init -q --object-format=sha256",
        "echo nonsense > .git/config",
    ];
    for damage in damages {
        let folder = committed();
        let before = folder.files();
        let changes = write(&folder, &format!("echo changed > a; echo new > n; {damage}")).unwrap();
        assert_eq!(paths(&changes), ["a", "n"], "{damage}");
        take_back(&folder, &changes);
        assert_eq!(folder.files(), before, "{damage}");
    }
}

#[test]
fn added_rules_hide_no_file_and_removed_rules_show_no_file() {
    let commands = [
        "echo n >> .gitignore; echo x > n; echo o > n.o",
        "echo n >> .git/info/exclude; echo x > n",
        "mkdir v; echo '*' > v/.gitignore; echo x > v/n",
        "echo '*' > d/.gitignore; echo x > d/n",
    ];
    for command in commands {
        let folder = committed();
        folder.write("old.o", "ignored\n");
        folder.write("out/x", "ignored, too\n");
        let before = folder.files();
        let changes = write(&folder, command).unwrap();
        assert!(paths(&changes).iter().any(|path| path.ends_with('n')), "{command}: {:?}", paths(&changes));
        assert!(!paths(&changes).iter().any(|path| path.ends_with(".o")), "{command}: {:?}", paths(&changes));
        take_back(&folder, &changes);
        let mut after = folder.files();
        after.retain(|path, _| !path.ends_with("n.o"));
        assert_eq!(after, before, "{command}");
    }
    let folder = committed();
    folder.write("old.o", "ignored\n");
    folder.write("out/x", "ignored, too\n");
    let changes = write(&folder, "rm .gitignore; echo x > n").unwrap();
    assert_eq!(paths(&changes), [".gitignore", "n"]);
}

#[test]
fn rules_in_ignored_files_apply() {
    let folder = committed();
    shell(
        &folder,
        "mkdir -p e/f; echo .gitignore >> .gitignore; echo secret > e/f/.gitignore; echo x > e/f/secret; echo y > e/f/seen",
    );
    let changes = write(&folder, "rm e/f/.gitignore; echo z > e/f/new").unwrap();
    assert_eq!(paths(&changes), ["e/f/new"]);
}

#[test]
fn names_that_other_systems_treat_as_git_are_stored() {
    let folder = committed();
    let before = folder.files();
    let changes = write(&folder, r"mkdir git~1; echo x > git~1/x; echo x > '.git\hooks\x'").unwrap();
    assert_eq!(paths(&changes), [r".git\hooks\x", "git~1/x"]);
    take_back(&folder, &changes);
    assert_eq!(folder.files(), before);
}

#[test]
fn a_name_that_git_rejects_is_reported_and_blocks_nothing_else() {
    let folder = committed();
    let changes = write(&folder, "mkdir .GIT; echo x > .GIT/config; echo y > n").unwrap();
    assert_eq!(paths(&changes), ["n"]);
    assert_eq!(
        changes.not_kept.iter().map(|it| (it.path.as_path(), it.why)).collect::<Vec<_>>(),
        [(Path::new(".GIT/config"), Why::Name)]
    );
    let undo = folder.workspace.plan_undo(&folder.path, &[&changes], &|_| true).unwrap();
    assert_eq!((undo.files.len(), undo.not_kept.len()), (1, 1));
    // The file exists before the next write, which does not change it.
    assert_eq!(write(&folder, "echo z > m").unwrap().not_kept, []);
}

#[test]
fn a_file_that_is_too_large_is_reported_quickly() {
    let folder = committed();
    let begun = std::time::Instant::now();
    let changes = write(&folder, "truncate -s 3G big; echo y > n").unwrap();
    assert!(begun.elapsed() < std::time::Duration::from_secs(10), "{:?}", begun.elapsed());
    assert_eq!(paths(&changes), ["n"]);
    assert_eq!((changes.not_kept[0].path.as_path(), changes.not_kept[0].why), (Path::new("big"), Why::Size));
    assert_eq!(write(&folder, "true"), None);
    assert_eq!(write(&folder, "echo x >> big").unwrap().not_kept.len(), 1);
}

#[test]
fn a_repository_created_around_stored_files_is_reported_and_the_files_are_restored() {
    let folder = committed();
    let changes = write(&folder, "git init -q d; echo changed > d/b; echo new > d/n").unwrap();
    assert_eq!(paths(&changes), ["d/b", "d/n"]);
    assert_eq!((changes.not_kept[0].path.as_path(), changes.not_kept[0].why), (Path::new("d/.git"), Why::Repository));
    let undo = folder.workspace.plan_undo(&folder.path, &[&changes], &|_| true).unwrap();
    assert_eq!((undo.conflicts.len(), undo.not_kept.len()), (0, 1));
    folder.workspace.carry_out(&undo).unwrap();
    assert_eq!(fs::read_to_string(folder.path.join("d/b")).unwrap(), "two\n");
}

#[test]
fn snapshots_of_an_earlier_version_are_found_in_the_repository() {
    let folder = committed();
    folder.git(&["update-ref", "refs/interlock/old/1", "HEAD^{tree}"]);
    folder.git(&["update-ref", "refs/interlock/old/named/chk", "HEAD^{tree}"]);
    let before = folder.files();
    folder.write("a", "changed\n");
    let tree = folder.workspace.tree_named(&folder.path, "refs/interlock/old/1").unwrap();
    assert_eq!(tree, folder.git(&["rev-parse", "HEAD^{tree}"]));
    let listed = folder.workspace.checkpoints(&folder.path, "old").unwrap();
    assert_eq!(listed.iter().map(|it| it.name.as_str()).collect::<Vec<_>>(), ["chk"]);
    // The numbering continues after the imported snapshots.
    assert_eq!(folder.workspace.take(&folder.path, "old").unwrap(), "refs/interlock/old/2");
    let found = folder.workspace.find_checkpoint(&folder.path, "old", "chk").unwrap();
    folder.workspace.restore_tree(&folder.path, &found.tree).unwrap();
    assert_eq!(folder.files(), before);
    assert_eq!(folder.workspace.forget(&folder.path, "old", false).unwrap(), 5);
}

#[test]
fn a_damaged_repository_is_repaired_and_the_damage_is_reported() {
    let damages = [
        ("rm -rf .git/refs/*", "the reference refs/heads/"),
        ("rm -rf .git/objects/*", "objects of commit"),
        ("echo garbage > .git/HEAD", "HEAD"),
        ("echo garbage > .git/index", "the index"),
        ("echo garbage > .git/refs/heads/side", "the reference refs/heads/side"),
        ("echo '[' > .git/config", "the configuration"),
        ("rm -rf .git", "was missing"),
        ("rm -rf .git; mkdir ../other; ln -s ../other .git", ".git was missing"),
        ("rm -rf .git; git init -q ../other; ln -s ../other/.git .git", ".git was missing"),
    ];
    for (damage, told) in damages {
        let folder = committed();
        folder.git(&["branch", "side"]);
        folder.write("staged", "s\n");
        folder.git(&["add", "staged"]);
        let standing = || {
            let heads = folder.git(&["for-each-ref", "--format=%(refname) %(objectname)"]);
            (heads, folder.git(&["status", "--porcelain"]), folder.git(&["ls-tree", "-r", "HEAD"]))
        };
        let before = standing();
        let changes = write(&folder, damage).unwrap();
        assert!(changes.breaches.iter().any(|said| said.contains(told)), "{damage}: {:?}", changes.breaches);
        assert_eq!(standing(), before, "{damage}: {:?}", changes.breaches);
        folder.git(&["commit", "-qm", "goes on"]);
    }
}

#[test]
fn regular_use_of_git_is_no_damage() {
    let commands = [
        "git switch -qc other; echo x > n; git add n; git -c user.name=x -c user.email=x@y commit -qm n",
        "git branch new; git tag v2; git branch -f side new; git stash -q",
        "git gc -q --prune=now; git pack-refs --all",
        "git switch -q --detach",
        "git worktree add -q ../elsewhere side",
    ];
    for command in commands {
        let folder = committed();
        folder.git(&["branch", "side"]);
        folder.git(&["tag", "v1"]);
        let changes = write(&folder, command);
        assert_eq!(changes.map(|changes| changes.breaches).unwrap_or_default(), Vec::<String>::new(), "{command}");
    }
}

#[test]
fn references_that_a_command_made_or_moved_are_recorded() {
    let folder = committed();
    folder.git(&["branch", "-M", "trunk"]);
    folder.git(&["branch", "other"]);
    let commit = "git -c user.name=x -c user.email=x@y commit -q --allow-empty -m n";
    let changes = write(&folder, &format!("{commit}; git branch made; git pack-refs --all")).unwrap();
    let moved = |moved: &interlock_workspace::Moved| (moved.reference.clone(), moved.before.is_some());
    let branches: Vec<_> = changes.references.iter().map(moved).collect();
    assert_eq!(branches, [("refs/heads/made".to_owned(), false), ("refs/heads/trunk".to_owned(), true)]);
    assert_eq!(paths(&changes), Vec::<String>::new());
}
