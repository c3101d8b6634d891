//! Records the changes of commands and undoes them.

use std::{fmt::Write as _, fs, os::unix::fs::symlink, process::Command};

use expect_test::{Expect, expect};
use interlock_workspace::{Change, Changes};

use crate::folder::Folder;

/// Runs a shell command in the directory.
fn shell(folder: &Folder, command: &str) {
    assert!(Command::new("sh").current_dir(&folder.path).args(["-c", command]).status().unwrap().success());
}

/// Returns the recorded changes of a command.
fn write(folder: &Folder, command: &str) -> Option<Changes> {
    let before = folder.workspace.take(&folder.path, "run-1").unwrap();
    shell(folder, command);
    folder.workspace.changes_since(&folder.path, "run-1", &before).unwrap()
}

fn shown(changes: &Changes) -> String {
    let version = |version: &Option<interlock_workspace::Version>| match version {
        Some(version) => format!("{:?} {}", version.kind, &version.hash[..6]),
        None => "nothing".to_owned(),
    };
    let line = |change: &Change| {
        let from = change.renamed_from.as_ref().map(|from| format!(" (from {})", from.display())).unwrap_or_default();
        let lines = change.lines.map(|(added, removed)| format!(" +{added} -{removed}")).unwrap_or_default();
        format!("{}: {} -> {}{from}{lines}\n", change.path.display(), version(&change.before), version(&change.after))
    };
    changes.files.iter().fold(String::new(), |mut text, change| {
        let _ = write!(text, "{}", line(change));
        text
    })
}

#[track_caller]
fn check(before: &str, command: &str, expected: Expect) {
    for folder in [Folder::repository(), Folder::plain()] {
        shell(&folder, before);
        let files = folder.files();
        let changes = write(&folder, command).unwrap();
        expected.assert_eq(&shown(&changes));
        let json = serde_json::to_string(&changes).unwrap();
        assert_eq!(serde_json::from_str::<Changes>(&json).unwrap(), changes, "{json}");
        let undo = folder.workspace.plan_undo(&folder.path, &[&changes], &|_| true).unwrap();
        assert_eq!(undo.conflicts, []);
        folder.workspace.carry_out(&undo).unwrap();
        assert_eq!(folder.files(), files, "the undo restores the files");
    }
}

#[test]
fn changes_of_a_command_are_recorded_and_undone() {
    check(
        "echo one > changed; echo two > gone; echo three > kept",
        "echo 1 > changed; rm gone; mkdir -p d/e; echo new > d/e/new",
        expect![[r#"
            changed: File 5626ab -> File d00491 +1 -1
            d/e/new: nothing -> File 3e7576 +1 -0
            gone: File f719ef -> nothing +0 -1
        "#]],
    );
}

#[test]
fn modes_links_binary_files_and_renames_are_recorded_and_undone() {
    check(
        "echo run > script; printf 'a\\0b' > binary; ln -s script link; seq 20 > old; printf 'x\\351' > latin",
        "chmod +x script; printf 'c\\0d' > binary; ln -sf binary link; mv old new; rm latin; mkdir latin; echo y > latin/y",
        expect![[r#"
            binary: File 20b5be -> File 97cc66
            latin: File 90c073 -> nothing +0 -1
            latin/y: nothing -> File 975fbe +1 -0
            link: Link 2b804b -> Link cab89b +1 -1
            new: nothing -> File 0ff3bb (from old) +0 -0
            old: File 0ff3bb -> nothing
            script: File f5bdd2 -> Executable f5bdd2 +0 -0
        "#]],
    );
}

#[test]
fn no_change_makes_no_record() {
    let folder = Folder::repository();
    folder.write(".gitignore", "*.log\n");
    assert_eq!(write(&folder, "echo x > ignored.log; touch .gitignore"), None);
}

#[test]
fn names_that_are_not_utf8_are_recorded_and_undone() {
    let folder = Folder::repository();
    folder.write("x", "1");
    let before = folder.files();
    let changes = write(&folder, "printf 2 > \"$(printf 'n\\377')\"; rm x").unwrap();
    let json = serde_json::to_string(&changes).unwrap();
    assert!(json.contains(r#""path":{"hex":"6eff"}"#), "{json}");
    let read: Changes = serde_json::from_str(&json).unwrap();
    let undo = folder.workspace.plan_undo(&folder.path, &[&read], &|_| true).unwrap();
    folder.workspace.carry_out(&undo).unwrap();
    assert_eq!(folder.files(), before);
}

#[test]
fn several_writes_are_undone_newest_first_and_redone() {
    let folder = Folder::repository();
    folder.write("a", "0");
    let first = write(&folder, "printf 1 > a; printf 1 > b").unwrap();
    let second = write(&folder, "printf 2 > a; rm b").unwrap();
    let plan = |writes: &[&Changes]| folder.workspace.plan_undo(&folder.path, writes, &|_| true).unwrap();
    let read = || (fs::read_to_string(folder.path.join("a")).unwrap(), fs::read_to_string(folder.path.join("b")).ok());
    let undo = plan(&[&second, &first]);
    folder.workspace.carry_out(&undo).unwrap();
    assert_eq!(read(), ("0".into(), None));
    assert!(plan(&[&second, &first]).files.is_empty(), "a second undo has nothing to do");
    let undone = Changes { files: undo.files.clone(), after: None, ..second.clone() };
    folder.workspace.carry_out(&plan(&[&undone])).unwrap();
    assert_eq!(read(), ("2".into(), None));
    folder.workspace.carry_out(&plan(&[&second])).unwrap();
    assert_eq!(read(), ("1".into(), Some("1".into())));
}

#[test]
fn later_changes_of_others_are_a_conflict_with_a_three_way_view() {
    let folder = Folder::repository();
    folder.write("a", "top\nbefore\nend\n");
    folder.write("b", "before\n");
    let changes = write(&folder, "sed -i s/before/ours/ a b; echo new > c").unwrap();
    folder.write("a", "top\nmine\nmore\nend\n");
    fs::remove_file(folder.path.join("c")).unwrap();
    let undo = folder.workspace.plan_undo(&folder.path, &[&changes], &|_| true).unwrap();
    assert_eq!(undo.paths(), ["b"]);
    assert_eq!(undo.conflicts.len(), 1);
    expect![[r#"
        <<<<<<< before (from line 2)
        before
        ||||||| ours (from line 2)
        ours
        ======= now (from line 2)
        mine
        more
        >>>>>>>
    "#]]
    .assert_eq(&undo.conflicts[0].view);
    let only = folder.workspace.plan_undo(&folder.path, &[&changes], &|path| path.starts_with("b")).unwrap();
    assert_eq!((only.paths(), only.conflicts), (vec!["b".to_owned()], vec![]));
}

#[test]
fn temporary_files_of_a_killed_writer_are_removed_by_the_next_write() {
    let folder = Folder::repository();
    folder.write("a", "0");
    let changes = write(&folder, "printf 1 > a").unwrap();
    // No process has this id, because it is greater than the maximum.
    folder.write(".interlock-aside-4194999-1", "left");
    let undo = folder.workspace.plan_undo(&folder.path, &[&changes], &|_| true).unwrap();
    folder.workspace.carry_out(&undo).unwrap();
    assert_eq!(folder.files().len(), 1);
}

#[test]
fn undo_does_not_follow_a_link_on_the_way() {
    let folder = Folder::repository();
    let outside = tempfile::tempdir().unwrap();
    folder.write("d/a", "0");
    let changes = write(&folder, "printf 1 > d/a").unwrap();
    fs::remove_dir_all(folder.path.join("d")).unwrap();
    symlink(outside.path(), folder.path.join("d")).unwrap();
    fs::write(outside.path().join("a"), "1").unwrap();
    let undo = folder.workspace.plan_undo(&folder.path, &[&changes], &|_| true).unwrap();
    assert_eq!((undo.paths().len(), undo.conflicts.len()), (0, 1));
    assert!(undo.conflicts[0].why.contains("symbolic link"), "{}", undo.conflicts[0].why);
}
