//! Recovery after interrupted attempts: only their changes are undone.

use std::{collections::BTreeMap, fs};

use interlock_workspace::{Recovery, patch::Patch};

use crate::folder::Folder;

fn scene() -> (Folder, String) {
    let folder = Folder::repository();
    folder.write("a", "one\n");
    folder.write("b", "two\n");
    let before = folder.workspace.take(&folder.path, "run-1").unwrap();
    (folder, before)
}

fn recover(folder: &Folder, before: &str) -> Recovery {
    folder.workspace.plan_recovery(&folder.path, "run-1", &[before], &[]).unwrap()
}

fn paths(recovery: &Recovery) -> Vec<String> {
    recovery.undo.paths()
}

#[test]
fn an_interrupted_patch_is_undone_from_its_recorded_plan() {
    let (folder, before) = scene();
    let text = b"*** Begin Patch\n*** Update File: a\n@@\n-one\n+1\n*** Add File: n\n+n\n*** End Patch\n";
    let patch = Patch::parse(text).unwrap();
    folder.workspace.apply_in(&folder.path, &patch, &BTreeMap::new(), Some(("run-1", before.as_str()))).unwrap();
    // Simulate a crash midway, and a person who then changed other files.
    fs::remove_file(folder.path.join("n")).unwrap();
    folder.write("b", "by a person\n");
    folder.write("mine", "by a person\n");
    let recovery = recover(&folder, &before);
    assert!(recovery.is_end_known && !recovery.is_question());
    assert_eq!(paths(&recovery), ["a"]);
    folder.workspace.carry_out(&recovery.undo).unwrap();
    assert_eq!(fs::read_to_string(folder.path.join("a")).unwrap(), "one\n");
    assert_eq!(fs::read_to_string(folder.path.join("b")).unwrap(), "by a person\n");
    assert!(folder.path.join("mine").exists());
}

#[test]
fn two_attempts_interrupted_together_are_undone_together() {
    let (folder, first) = scene();
    folder.write("a", "by the first\n");
    let second = folder.workspace.take(&folder.path, "run-1").unwrap();
    folder.write("a", "by the second\n");
    folder.write("b", "by one of them\n");
    folder.workspace.keep_ended(&folder.path, "run-1", &second).unwrap();
    folder.workspace.keep_ended(&folder.path, "run-1", &first).unwrap();
    let before = [second.as_str(), first.as_str()];
    let recovery = folder.workspace.plan_recovery(&folder.path, "run-1", &before, &[]).unwrap();
    assert!(!recovery.is_question());
    folder.workspace.carry_out(&recovery.undo).unwrap();
    assert_eq!(fs::read_to_string(folder.path.join("a")).unwrap(), "one\n");
    assert_eq!(fs::read_to_string(folder.path.join("b")).unwrap(), "two\n");
    // If the recovery is interrupted and repeated, files that are already restored are no conflict.
    assert_eq!(paths(&recover(&folder, &first)), Vec::<String>::new());
}

#[test]
fn recorded_changes_of_another_attempt_stay_and_shared_paths_are_conflicts() {
    let (folder, before) = scene();
    let other = folder.workspace.take(&folder.path, "run-1").unwrap();
    folder.write("a", "by the other\n");
    folder.write("b", "by the other\n");
    let recorded = folder.workspace.changes_since(&folder.path, "run-1", &other).unwrap().unwrap();
    folder.write("c", "by the one\n");
    folder.workspace.keep_ended(&folder.path, "run-1", &before).unwrap();
    let plan = || folder.workspace.plan_recovery(&folder.path, "run-1", &[before.as_str()], &[&recorded]).unwrap();
    assert_eq!((paths(&plan()), plan().is_question()), (vec!["c".to_owned()], false));
    folder.write("b", "by the one\n");
    folder.workspace.keep_ended(&folder.path, "run-1", &before).unwrap();
    let conflicts: Vec<_> = plan().undo.conflicts.iter().map(|it| it.path.display().to_string()).collect();
    assert_eq!(conflicts, ["b"]);
}

#[test]
fn recovery_stores_the_files_as_found_under_a_name() {
    let (folder, before) = scene();
    folder.write("a", "half\n");
    folder.workspace.keep_ended(&folder.path, "run-1", &before).unwrap();
    let recovery = recover(&folder, &before);
    folder.workspace.carry_out(&recovery.undo).unwrap();
    let names: Vec<_> =
        folder.workspace.snapshots(&folder.path, "run-1").unwrap().into_iter().map(|it| it.name).collect();
    assert_eq!(names, ["1", "2", "3", "found-1"]);
    let copy = folder.home().join("copy");
    let tree = folder.workspace.tree_named(&folder.path, &recovery.kept).unwrap();
    folder.workspace.export_tree(&folder.path, &tree, &copy).unwrap();
    assert_eq!(fs::read_to_string(copy.join("a")).unwrap(), "half\n");
}

#[test]
fn concurrent_changes_of_another_run_stay() {
    let (folder, before) = scene();
    let other = folder.workspace.take(&folder.path, "run-2").unwrap();
    folder.write("a", "by the other run\n");
    folder.workspace.changes_since(&folder.path, "run-2", &other).unwrap().unwrap();
    folder.write("b", "half\n");
    folder.workspace.keep_ended(&folder.path, "run-1", &before).unwrap();
    let recovery = recover(&folder, &before);
    assert_eq!((paths(&recovery), recovery.is_question()), (vec!["b".to_owned()], false));
}
