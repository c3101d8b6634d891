//! Compares the trees and differences that are made here with those of `git`, after random changes of a workspace.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test that cannot go on has failed")]

use std::{
    fs,
    os::unix::fs::{PermissionsExt, symlink},
    path::Path,
    process::Command,
    time::{Duration, SystemTime},
};

use tempfile::TempDir;

use super::{difference, listings, take, walk::stamp_at};
use crate::{Workspace, changes, private::Private};

/// A pseudo-random number generator with its state.
struct Chance(u64);

impl Chance {
    fn below(&mut self, below: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        ((self.0 >> 33) % below as u64) as usize
    }
}

const NAMES: [&str; 8] = ["a", "b.txt", "c d", "sub", "sub.x", "sub-y", "ü", "ignored.log"];

struct Place {
    folder: TempDir,
    _home: TempDir,
    workspace: Workspace,
}

impl Place {
    fn new(init: Option<&str>) -> Self {
        let (folder, home) = (TempDir::new().unwrap(), TempDir::new().unwrap());
        if let Some(format) = init {
            git(folder.path(), &["init", "--quiet", &format!("--object-format={format}")]);
        }
        let workspace = Workspace::new(home.path());
        Place { folder, _home: home, workspace }
    }

    fn root(&self) -> &Path {
        self.folder.path()
    }

    fn private(&self) -> Private {
        self.workspace.open_private(self.root()).unwrap()
    }

    fn take(&self) -> (String, String) {
        self.workspace.take_tree(self.root(), "r").unwrap()
    }

    /// Returns the tree by `git`, which remembers nothing.
    fn by_git(&self) -> String {
        Workspace::default().tree(self.root()).unwrap()
    }

    /// Makes one random change.
    fn change(&self, chance: &mut Chance) -> String {
        let depth = 1 + chance.below(3);
        let path: Vec<&str> = (0..depth).map(|_| NAMES[chance.below(NAMES.len())]).collect();
        let path = self.root().join(path.join("/"));
        let what = chance.below(12);
        let made = match what {
            0..=4 => path.parent().map(fs::create_dir_all).map(|_| fs::write(&path, text(chance))),
            5 => Some(fs::remove_file(&path).or_else(|_| fs::remove_dir_all(&path))),
            6 => path.parent().map(fs::create_dir_all).map(|_| symlink(NAMES[chance.below(NAMES.len())], &path)),
            7 => Some(fs::set_permissions(&path, fs::Permissions::from_mode([0o755, 0o644][chance.below(2)]))),
            8 => Some(fs::rename(&path, self.root().join(NAMES[chance.below(NAMES.len())]))),
            9 => Some(fs::create_dir_all(&path)),
            10 if chance.below(3) == 0 => {
                Some(fs::write(self.root().join(".gitignore"), ["*.log\n", "", "sub/\n"][chance.below(3)]))
            }
            11 if chance.below(3) == 0 && self.root().join(".git").exists() => {
                git(self.root(), &["add", "--force", "--all"]);
                None
            }
            _ => None,
        };
        format!("{what} {} {made:?}", path.display())
    }
}

fn text(chance: &mut Chance) -> String {
    (0..chance.below(30)).map(|_| format!("line {}\n", chance.below(12))).collect()
}

fn git(folder: &Path, arguments: &[&str]) {
    assert!(Command::new("git").args(arguments).current_dir(folder).status().unwrap().success());
}

/// Changes a workspace at random and compares every result with that of `git`. Returns how often `git` was not needed.
fn compare(init: Option<&str>, seed: u64, rounds: usize) -> usize {
    let (place, mut chance, mut log) = (Place::new(init), Chance(seed), Vec::new());
    let mut without_git = 0;
    let (mut before, mut before_tree) = place.take();
    for round in 0..rounds {
        for _ in 0..chance.below(4) {
            log.push(place.change(&mut chance));
        }
        let private = place.private();
        let expected = place.by_git();
        let is_new_rule = log.iter().rev().take(4).any(|line| line.starts_with("10"));
        if let Some(changes) = place.workspace.changes_since(place.root(), "r", &before).unwrap() {
            let after = changes.after_tree.unwrap();
            // Without a changed rule the rules of the snapshot are the current ones.
            assert!(is_new_rule || init.is_some() || after == expected, "round {round} of seed {seed}: {log:#?}");
            if let Some(found) = difference(&private, &before_tree, &after) {
                let by_git = changes::difference(&private.git(), &before_tree, &after).unwrap();
                assert_eq!(found, by_git, "round {round} of seed {seed}: {log:#?}");
            }
        }
        without_git += usize::from(take(&private).is_some());
        (before, before_tree) = place.take();
        assert_eq!(before_tree, expected, "round {round} of seed {seed}: {log:#?}");
    }
    without_git
}

#[test]
fn random_changes_give_the_trees_of_git() {
    let without_git: usize = (0..2).map(|seed| compare(None, seed, 20)).sum();
    assert!(without_git > 15, "{without_git} of 40 snapshots were made without git");
}

#[test]
fn random_changes_in_a_repository_give_the_trees_of_git() {
    let without_git: usize = (10..12).map(|seed| compare(Some("sha1"), seed, 20)).sum();
    assert!(without_git > 15, "{without_git} of 40 snapshots were made without git");
    compare(Some("sha256"), 20, 8);
}

#[test]
fn write_that_keeps_size_and_time_is_noticed() {
    let place = Place::new(None);
    let path = place.root().join("a");
    fs::write(&path, "one").unwrap();
    let modified = fs::metadata(&path).unwrap().modified().unwrap();
    // The metadata of a file that was just written is not trusted.
    std::thread::sleep(Duration::from_millis(50));
    let (_, before) = place.take();
    assert!(take(&place.private()).is_some());
    fs::write(&path, "two").unwrap();
    fs::File::open(&path).unwrap().set_modified(modified).unwrap();
    let (_, after) = place.take();
    assert_ne!(before, after);
    assert_eq!(after, place.by_git());
}

#[test]
fn metadata_of_a_file_that_was_just_written_is_not_trusted() {
    let place = Place::new(None);
    fs::write(place.root().join("a"), "one").unwrap();
    let stamp = stamp_at(place.root(), Path::new("a")).unwrap();
    assert_eq!(stamp.if_older_than(SystemTime::now()), None);
    std::thread::sleep(Duration::from_millis(50));
    assert_eq!(stamp.if_older_than(SystemTime::now()), Some(stamp));
}

#[test]
fn nothing_is_remembered_after_objects_were_collected() {
    let place = Place::new(None);
    fs::write(place.root().join("a"), "one").unwrap();
    place.take();
    assert!(take(&place.private()).is_some());
    place.workspace.sweep(Duration::ZERO, false).unwrap();
    assert!(take(&place.private()).is_none());
    place.take();
    assert!(take(&place.private()).is_some());
    // The same for a store that was removed.
    fs::remove_dir_all(place.private().folder).unwrap();
    assert!(take(&place.private()).is_none());
}

#[test]
fn link_that_git_refuses_is_left_to_git() {
    let place = Place::new(None);
    fs::write(place.root().join("a"), "one").unwrap();
    let (before, _) = place.take();
    assert!(take(&place.private()).is_some());
    symlink("a", place.root().join(".gitmodules")).unwrap();
    assert!(take(&place.private()).is_none());
    assert!(place.workspace.changes_since(place.root(), "r", &before).unwrap().is_none());
    place.workspace.restore(place.root(), &before).unwrap();
}

#[test]
fn new_file_beside_ignored_ones_is_noticed() {
    let place = Place::new(None);
    fs::write(place.root().join(".gitignore"), "*.o\n:*\n").unwrap();
    fs::create_dir(place.root().join("x")).unwrap();
    fs::write(place.root().join("x/a.o"), "ignored").unwrap();
    std::thread::sleep(Duration::from_millis(50));
    let (before, _) = place.take();
    assert!(take(&place.private()).is_some());
    fs::write(place.root().join("x/new.txt"), "new").unwrap();
    let changes = place.workspace.changes_since(place.root(), "r", &before).unwrap().unwrap();
    assert_eq!(changes.files.iter().map(|change| change.path.as_path()).collect::<Vec<_>>(), [Path::new("x/new.txt")]);
    // A rule that begins like a special path of git.
    fs::write(place.root().join(":foo"), "ignored").unwrap();
    assert!(take(&place.private()).is_none());
    assert_eq!(place.take().1, place.by_git());
}

#[test]
fn rules_that_vanish_with_their_directory_are_left_to_git() {
    let place = Place::new(None);
    fs::create_dir(place.root().join("a")).unwrap();
    fs::write(place.root().join("a/.gitignore"), "*.o\n").unwrap();
    fs::write(place.root().join("a/f"), "").unwrap();
    std::thread::sleep(Duration::from_millis(50));
    place.take();
    assert!(take(&place.private()).is_some());
    fs::remove_dir_all(place.root().join("a")).unwrap();
    fs::write(place.root().join("a"), "a file").unwrap();
    assert!(take(&place.private()).is_none());
}

#[test]
fn nested_repository_is_left_to_git() {
    let place = Place::new(None);
    fs::write(place.root().join("a"), "one").unwrap();
    place.take();
    assert!(take(&place.private()).is_some());
    fs::create_dir(place.root().join("inner")).unwrap();
    git(&place.root().join("inner"), &["init", "--quiet"]);
    assert!(take(&place.private()).is_none());
    place.take();
    assert!(!listings().contains_key(&place.private().folder));
}
