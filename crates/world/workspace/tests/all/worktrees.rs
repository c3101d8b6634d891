//! Worktrees of runs: apart from the checkout, and brought back completely or not at all.

use std::{fs, path::PathBuf};

use interlock_workspace::{Error, Worktree};
use tempfile::TempDir;

use crate::folder::Folder;

/// A repository with one commit, and a worktree of it.
fn scene() -> (Folder, Worktree, TempDir) {
    let folder = Folder::repository();
    folder.write("a.txt", "one\ntwo\nthree\n");
    folder.write("b.txt", "b\n");
    folder.write(".gitignore", ".env\ncache\n");
    folder.commit_all();
    let cache = TempDir::new().unwrap();
    let tree = Worktree::create(&folder.path, &cache.path().join("deep/tree"), "fix-1").unwrap();
    (folder, tree, cache)
}

impl Folder {
    pub(crate) fn commit_all(&self) {
        self.git(&["add", "-A"]);
        self.git(&["commit", "-qm", "begin"]);
    }

    fn text_of(&self, name: &str) -> String {
        fs::read_to_string(self.path.join(name)).unwrap()
    }
}

fn put(tree: &Worktree, name: &str, content: impl AsRef<[u8]>) {
    let path = tree.path.join(name);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, content).unwrap();
}

fn commit(tree: &Worktree, message: &str) {
    let git = |words: &[&str]| {
        let all = [&["-c", "user.name=run", "-c", "user.email=run@localhost"][..], words].concat();
        let done = std::process::Command::new("git").args(all).current_dir(&tree.path).output().unwrap();
        assert!(done.status.success(), "{done:?}");
    };
    git(&["add", "-A"]);
    git(&["commit", "-qm", message]);
}

#[test]
fn a_worktree_begins_at_the_commit_and_leaves_the_checkout_alone() {
    let folder = Folder::repository();
    folder.write("a.txt", "one\n");
    folder.commit_all();
    folder.write("a.txt", "my work\n");
    assert!(Worktree::is_dirty(&folder.path).unwrap());
    let cache = TempDir::new().unwrap();
    let tree = Worktree::create(&folder.path, &cache.path().join("tree"), "fix-1").unwrap();
    assert_eq!(fs::read_to_string(tree.path.join("a.txt")).unwrap(), "one\n");
    assert_eq!(tree.branch, "interlock/fix-1");
    assert_eq!(tree.folder(&folder.path.join("sub")), tree.path.join("sub"));
    assert!(!Worktree::is_dirty(&tree.path).unwrap());
    assert_eq!(folder.text_of("a.txt"), "my work\n");
    assert!(tree.is_done().unwrap(), "nothing was done in it");
}

#[test]
fn uncommitted_results_become_uncommitted_changes() {
    let (folder, mut tree, _cache) = scene();
    folder.write("b.txt", "my own\n");
    put(&tree, "a.txt", "one\n2\nthree\n");
    put(&tree, "new.bin", [0, 159, 146, 150]);
    put(&tree, ".env", "KEY=1\n");
    assert!(!tree.is_done().unwrap());
    let applied = tree.apply().unwrap();
    assert_eq!((applied.commits, &applied.paths[..]), (0, &["a.txt".to_owned(), "new.bin".to_owned()][..]));
    assert_eq!(folder.text_of("a.txt"), "one\n2\nthree\n");
    assert_eq!(fs::read(folder.path.join("new.bin")).unwrap(), [0, 159, 146, 150]);
    assert_eq!(folder.text_of("b.txt"), "my own\n", "other work is left alone");
    assert!(!folder.path.join(".env").exists(), "ignored files are not results");
    tree.applied = Some(applied.content);
    assert!(tree.is_done().unwrap());
    put(&tree, "a.txt", "again\n");
    assert!(!tree.is_done().unwrap(), "it was changed after it was applied");
}

#[test]
fn view_files_of_runs_are_no_results() {
    let (folder, mut tree, _cache) = scene();
    let view = ".agent/memory/active_context.md";
    fs::create_dir_all(tree.path.join(".agent/memory")).unwrap();
    put(&tree, view, "first\n");
    assert!(tree.is_done().unwrap(), "nothing was done in it");
    put(&tree, "a.txt", "one\n2\nthree\n");
    let applied = tree.apply().unwrap();
    assert_eq!(applied.paths, ["a.txt"]);
    assert!(!folder.path.join(view).exists());
    tree.applied = Some(applied.content);
    put(&tree, view, "second\n");
    assert!(tree.is_done().unwrap());
}

#[test]
fn commits_move_the_branch_forward() {
    let (folder, tree, _cache) = scene();
    folder.write("b.txt", "my own\n");
    put(&tree, "a.txt", "committed\n");
    commit(&tree, "first");
    put(&tree, "a.txt", "committed\nand more\n");
    let applied = tree.apply().unwrap();
    assert_eq!(applied.commits, 1);
    assert_eq!(folder.git(&["log", "-1", "--format=%s"]), "first");
    assert_eq!(folder.text_of("a.txt"), "committed\nand more\n");
    assert_eq!(folder.git(&["status", "--porcelain"]), " M a.txt\n M b.txt");
}

#[test]
fn later_commits_are_applied_after_earlier_ones() {
    let (folder, mut tree, _cache) = scene();
    for text in ["first\n", "second\n", "third\n"] {
        put(&tree, "a.txt", text);
        commit(&tree, text.trim());
        let applied = tree.apply().unwrap();
        assert_eq!((applied.commits, applied.paths), (1, vec!["a.txt".to_owned()]));
        tree.applied = Some(applied.content);
        assert_eq!((folder.text_of("a.txt").as_str(), folder.git(&["status", "--porcelain"]).as_str()), (text, ""));
        assert_eq!(folder.git(&["log", "-1", "--format=%s"]), text.trim());
    }
    folder.write("b.txt", "my own\n");
    folder.git(&["commit", "-qam", "mine"]);
    put(&tree, "a.txt", "fourth\n");
    commit(&tree, "fourth");
    let applied = tree.apply().unwrap();
    assert_eq!((applied.commits, folder.git(&["status", "--porcelain"]).as_str()), (0, " M a.txt"));
}

#[test]
fn a_conflict_changes_nothing() {
    for is_committed in [false, true] {
        let (folder, tree, _cache) = scene();
        put(&tree, "a.txt", "theirs\n");
        put(&tree, "c.txt", "new\n");
        if is_committed {
            commit(&tree, "first");
        }
        folder.write("c.txt", "mine\n");
        let before = folder.git(&["rev-parse", "HEAD"]);
        let Err(Error::Worktree(why)) = tree.apply() else { unreachable!() };
        assert!(why.contains("nothing was changed") && why.contains("c.txt"), "{why}");
        assert_eq!((folder.text_of("a.txt"), folder.text_of("c.txt")), ("one\ntwo\nthree\n".into(), "mine\n".into()));
        assert_eq!(folder.git(&["rev-parse", "HEAD"]), before);
    }
}

#[test]
fn a_checkout_that_has_moved_on_takes_what_fits() {
    let (folder, tree, _cache) = scene();
    put(&tree, "a.txt", "one\ntwo\n3\n");
    commit(&tree, "first");
    folder.write("b.txt", "moved\n");
    folder.commit_all();
    let applied = tree.apply().unwrap();
    assert_eq!((applied.commits, folder.text_of("a.txt")), (0, "one\ntwo\n3\n".into()));
    folder.write("a.txt", "entirely different\n");
    folder.commit_all();
    let Err(Error::Worktree(why)) = tree.apply() else { unreachable!() };
    assert!(why.contains("does not fit the checkout, and nothing was changed"), "{why}");
    assert_eq!(folder.text_of("a.txt"), "entirely different\n");
}

#[test]
fn ignored_files_are_copied_or_linked_and_others_refused() {
    let (folder, tree, _cache) = scene();
    folder.write(".env", "KEY=1\n");
    folder.write("cache/deep/file", "cached\n");
    tree.copy(".env").unwrap();
    tree.link("cache").unwrap();
    tree.copy("missing").unwrap();
    assert_eq!(fs::read_to_string(tree.path.join(".env")).unwrap(), "KEY=1\n");
    assert_eq!(fs::read_to_string(tree.path.join("cache/deep/file")).unwrap(), "cached\n");
    assert!(tree.is_done().unwrap(), "ignored files are not results");
    for bad in ["a.txt", "../outside", "/etc/passwd", ".git/config", ""] {
        assert!(tree.copy(bad).is_err(), "{bad}");
    }
}

#[test]
fn removing_keeps_the_branch_only_for_commits_that_are_nowhere_else() {
    let (folder, tree, _cache) = scene();
    tree.remove().unwrap();
    assert!(!tree.path.exists());
    assert_eq!(folder.git(&["branch", "--list", "interlock/*"]), "");
    let (folder, tree, _cache) = scene();
    put(&tree, "a.txt", "committed\n");
    commit(&tree, "first");
    tree.remove().unwrap();
    assert!(!tree.path.exists());
    assert_eq!(folder.git(&["branch", "--list", "interlock/*"]).trim(), "interlock/fix-1");
}

#[test]
fn no_configured_program_is_run() {
    let folder = Folder::repository();
    folder.write(".gitattributes", "*.txt filter=evil\n");
    folder.write("a.txt", "one\n");
    folder.commit_all();
    let mark: PathBuf = folder.home().with_file_name("mark");
    let evil = format!("sh -c 'touch {}; cat'", mark.display());
    for name in ["clean", "smudge"] {
        folder.git(&["config", &format!("filter.evil.{name}"), &evil]);
    }
    folder.write_bytes(".git/hooks/post-checkout", format!("#!/bin/sh\ntouch {}\n", mark.display()).as_bytes());
    folder.git(&["config", "core.hooksPath", ".git/hooks"]);
    let cache = TempDir::new().unwrap();
    let tree = Worktree::create(&folder.path, &cache.path().join("tree"), "fix-1").unwrap();
    put(&tree, "a.txt", "two\n");
    let Err(Error::Worktree(why)) = tree.apply() else { unreachable!() };
    assert!(why.contains("filter program"), "{why}");
    assert!(!mark.exists());
}

#[test]
fn a_secret_in_the_history_of_a_worktree_is_not_applied() {
    let (folder, tree, _cache) = scene();
    put(&tree, "a.txt", "one\nthe-key-of-the-agent\nthree\n");
    commit(&tree, "add it");
    put(&tree, "a.txt", "one\ntwo again\nthree\n");
    commit(&tree, "take it out again");
    let secrets = interlock_redact::Redactor::new(["the-key-of-the-agent"]);
    let refused = tree.apply_refusing(&secrets).unwrap_err().to_string();
    assert!(refused.contains("a commit has a secret, so nothing was applied: a.txt:2 (known secret)"), "{refused}");
    assert!(!refused.contains("the-key-of"), "{refused}");
    assert_eq!(folder.text_of("a.txt"), "one\ntwo\nthree\n");
}

#[test]
fn an_ignored_file_in_place_of_a_new_one_is_not_overwritten() {
    for is_committed in [false, true] {
        let (folder, tree, _cache) = scene();
        put(&tree, ".gitignore", "other\n");
        put(&tree, "a.txt", "better\n");
        put(&tree, ".env", "KEY=theirs\n");
        if is_committed {
            commit(&tree, "first");
        }
        folder.write(".env", "KEY=mine\n");
        let Err(Error::Worktree(why)) = tree.apply() else { unreachable!() };
        assert!(why.contains("nothing was changed") && why.contains(".env"), "{why}");
        assert_eq!(
            (folder.text_of(".env"), folder.text_of("a.txt")),
            ("KEY=mine\n".into(), "one\ntwo\nthree\n".into())
        );
        assert_eq!(folder.git(&["status", "--porcelain"]), "");
    }
}

#[test]
fn a_result_is_taken_out_again_and_other_work_stays() {
    for is_committed in [false, true] {
        let (folder, tree, _cache) = scene();
        put(&tree, "a.txt", "better\n");
        put(&tree, "new/c.txt", "new\n");
        fs::remove_file(tree.path.join("b.txt")).unwrap();
        if is_committed {
            commit(&tree, "first");
        }
        put(&tree, "a.txt", "better\nand more\n");
        let undo = tree.apply().unwrap().undo.unwrap();
        assert!(folder.path.join("new/c.txt").exists() && !folder.path.join("b.txt").exists());
        folder.write("mine.txt", "mine\n");
        undo.run(true).unwrap();
        assert_eq!(folder.text_of("a.txt"), "better\nand more\n");
        undo.run(false).unwrap();
        assert_eq!(folder.git(&["status", "--porcelain"]), "?? mine.txt");
        assert_eq!(folder.git(&["rev-parse", "HEAD"]), tree.base);
        assert!(!folder.path.join("new").exists());
    }
}

#[test]
fn line_ends_are_those_that_the_attributes_ask_for() {
    let folder = Folder::repository();
    folder.write(".gitattributes", "*.bat text eol=crlf\n");
    folder.write("a.bat", "one\r\n");
    folder.commit_all();
    let cache = TempDir::new().unwrap();
    let tree = Worktree::create(&folder.path, &cache.path().join("tree"), "fix-1").unwrap();
    put(&tree, "a.bat", "one\r\ntwo\r\n");
    tree.apply().unwrap();
    assert_eq!(folder.text_of("a.bat"), "one\r\ntwo\r\n");
}

#[test]
fn what_an_ignored_directory_became_is_copied_without_following_it() {
    let (folder, tree, _cache) = scene();
    folder.write("cache/file", "cached\n");
    let outside = TempDir::new().unwrap();
    fs::write(outside.path().join("key"), "mine\n").unwrap();
    std::os::unix::fs::symlink(outside.path(), folder.path.join("cache/link")).unwrap();
    let pipe = std::process::Command::new("mkfifo").arg(folder.path.join("cache/pipe")).status().unwrap();
    assert!(pipe.success());
    tree.copy("cache").unwrap();
    assert!(tree.path.join("cache/link").is_symlink() && tree.path.join("cache/file").exists());
    assert!(!tree.path.join("cache/pipe").exists());
    let refused = tree.copy("cache/link/key").unwrap_err().to_string();
    assert!(refused.contains("leads through a symbolic link"), "{refused}");
}
