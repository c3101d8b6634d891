//! Applies diffs of random trees that the real git has made. The result must equal the one of git.

use std::{
    collections::BTreeMap,
    fs,
    os::unix::fs::{PermissionsExt, symlink},
    path::Path,
    process::Command,
};

use interlock_workspace::patch::Patch;

use crate::{chance::Chance, folder::Folder};

/// Number of random trees.
const TREES: u64 = 25;

/// Number of random files with moved lines.
const MOVED: u64 = 12;

const NAMES: [&str; 14] = [
    "a",
    "b",
    "c.txt",
    "dir/a",
    "dir/b",
    "dir/sub/c",
    "with space",
    "dir/tab\there",
    "quote\"d",
    "ümlaut",
    "-dash",
    "e",
    "b.orig",
    "e/f/g",
];

/// Changes a tree at random: files are changed, deleted, created and renamed, become links or become executable.
fn grow(folder: &Folder, chance: &mut Chance) {
    for name in NAMES {
        let path = folder.path.join(name);
        let found = fs::symlink_metadata(&path).ok();
        match chance.below(6) {
            0 => drop(fs::remove_file(&path)),
            1 => put(&path, &chance.text()),
            2 if found.as_ref().is_some_and(fs::Metadata::is_file) => {
                put(&path, &chance.edited(&fs::read(&path).unwrap()))
            }
            3 if found.as_ref().is_some_and(fs::Metadata::is_file) => {
                let mode = *chance.pick(&[0o644, 0o755]);
                fs::set_permissions(&path, fs::Permissions::from_mode(mode)).unwrap();
            }
            4 if found.as_ref().is_some_and(fs::Metadata::is_file) => {
                let to = folder.path.join(format!("{name}.moved"));
                fs::rename(&path, to).unwrap();
            }
            5 if chance.is(2) && found.is_none_or(|found| !found.is_dir()) && make_way(&path) => {
                let _ = fs::remove_file(&path);
                symlink(chance.pick(&["a", "c.txt", "nowhere"]), &path).unwrap();
            }
            _ => {}
        }
    }
}

fn put(path: &Path, content: &[u8]) {
    let is_folder = fs::symlink_metadata(path).is_ok_and(|found| found.is_dir());
    if !is_folder && make_way(path) {
        // Remove the old file first, because a write must not follow a link.
        let _ = fs::remove_file(path);
        fs::write(path, content).unwrap();
    }
}

/// Creates the parent directories of a path. Returns false if a file or link blocks it.
fn make_way(path: &Path) -> bool {
    let above = path.parent().unwrap();
    let is_link = above.ancestors().any(|above| above.is_symlink());
    !is_link && fs::create_dir_all(above).is_ok()
}

/// Applies a patch with git. Returns true if it succeeded.
fn git_apply(folder: &Folder, patch: &[u8]) -> bool {
    let file = folder.path.with_extension("patch");
    fs::write(&file, patch).unwrap();
    Command::new("git")
        .current_dir(&folder.path)
        .args(["apply", "--whitespace=nowarn"])
        .arg(file)
        .output()
        .unwrap()
        .status
        .success()
}

fn copy(folder: &Folder) -> Folder {
    let copy = Folder::repository();
    let archive = Command::new("cp").args(["-a", "-T"]).arg(&folder.path).arg(&copy.path).status().unwrap();
    assert!(archive.success());
    copy
}

/// Returns the diff as bytes, because the text need not be UTF-8.
fn difference(folder: &Folder, arguments: &[&str]) -> Vec<u8> {
    folder.git(&["add", "--all"]);
    let mut git = Command::new("git");
    git.current_dir(&folder.path).args(["diff", "--cached", "--text"]).args(arguments);
    git.env("GIT_CONFIG_GLOBAL", "/dev/null").output().unwrap().stdout
}

#[test]
fn diffs_of_random_trees_apply_as_in_git() {
    let options: [&[&str]; 5] = [&[], &["-M"], &["-C", "-C"], &["-M", "-B"], &["--no-prefix", "-U1"]];
    let mut applied = 0;
    for seed in 0..TREES {
        let mut chance = Chance(seed);
        let before = Folder::repository();
        grow(&before, &mut chance);
        grow(&before, &mut chance);
        before.git(&["add", "--all"]);
        before.git(&["commit", "-q", "--allow-empty", "-m", "before"]);
        let after = copy(&before);
        grow(&after, &mut chance);
        let patch = difference(&after, options[seed as usize % options.len()]);
        let about = || format!("seed {seed}\n{}", String::from_utf8_lossy(&patch));
        if patch.is_empty() {
            continue;
        }
        let read = Patch::parse(&patch).unwrap_or_else(|problem| panic!("{problem}: {}", about()));
        let result = before.workspace.apply(&before.path, &read, &BTreeMap::new());
        assert!(result.is_ok(), "{}: {}", result.unwrap_err(), about());
        same(&before, &after, &about());
        applied += 1;
    }
    assert!(applied > TREES / 2, "only {applied} differences");
}

#[test]
fn moved_lines_are_found_at_the_same_positions_as_in_git() {
    let mut applied = 0;
    for seed in 0..MOVED {
        let mut chance = Chance(seed);
        let (top, middle, end) = (chance.text(), chance.text(), chance.text());
        let (top, end) = ([&top[..], b"\ntop\n"].concat(), [&b"\nend\n"[..], &end].concat());
        let folder = Folder::repository();
        folder.write_bytes("f", &[&top[..], &middle, &end].concat());
        folder.git(&["add", "f"]);
        folder.git(&["commit", "-q", "-m", "before"]);
        folder.write_bytes("f", &[&top[..], &chance.edited(&middle), &end].concat());
        let patch = difference(&folder, &[]);
        let moved = [&b"// new\n".repeat(chance.below(9))[..], &top, &middle, &end].concat();
        folder.write_bytes("f", &moved);
        if patch.is_empty() || !git_apply(&folder, &patch) {
            continue;
        }
        let expected = fs::read(folder.path.join("f")).unwrap();
        folder.write_bytes("f", &moved);
        let read = Patch::parse(&patch).unwrap();
        folder.workspace.apply(&folder.path, &read, &BTreeMap::new()).unwrap();
        let found = fs::read(folder.path.join("f")).unwrap();
        assert_eq!(found.escape_ascii().to_string(), expected.escape_ascii().to_string(), "seed {seed}");
        applied += 1;
    }
    assert!(applied > MOVED / 2, "only {applied} differences");
}

#[track_caller]
fn same(one: &Folder, other: &Folder, about: &str) {
    let relative = |folder: &Folder| -> BTreeMap<String, (String, bool)> {
        let file = |(path, (content, mode)): (std::path::PathBuf, (Vec<u8>, bool))| {
            let path = path.strip_prefix(&folder.path).unwrap().display().to_string();
            (path, (content.escape_ascii().to_string(), mode))
        };
        folder.files().into_iter().map(file).collect()
    };
    assert_eq!(relative(one), relative(other), "{about}");
}
