//! Runs with worktrees of their own: apart from the checkout, applied, undone and removed.

use std::{fs, path::PathBuf, process::Command};

use interlock_testkit_cli::session::Session;
use tempfile::TempDir;

use super::scene::{json, run};

/// A machine that writes a file and waits, and asks for a worktree if the checkout is in use.
const WRITER: &str = "\
machine: writer
version: 1
summary: Writes and waits.
input: { type: object, properties: { worktree: { enum: [auto, always, never], default: auto } } }
events: { finish: { from: user } }
initial: writing
on:
  error: { target: failed, reason: \"${event.code}: ${event.message}\" }
states:
  writing:
    invoke: { activity: command.run, with: { command: 'echo run > a; cat local > seen 2>/dev/null; echo x > new' }, signals: [passed, failed] }
    on: { passed: { target: resting }, failed: { target: failed } }
  resting:
    tags: [idle]
    on: { finish: { target: done } }
  done: { type: final, outcome: success }
  failed: { type: final, outcome: failure }
";

/// A repository with a machine, a separate store and a separate cache.
struct Scene {
    here: PathBuf,
    session: Session,
    _folder: TempDir,
}

impl Scene {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let here = folder.path().canonicalize().unwrap();
        let repository = here.join("repository");
        fs::create_dir(&repository).unwrap();
        let session = Session::new(env!("CARGO_BIN_EXE_interlock"), &repository)
            .with("INTERLOCK_HOME", here.join("home").display().to_string())
            .with("XDG_CACHE_HOME", here.join("cache").display().to_string())
            .with("INTERLOCK_USER", "ada");
        session.write(".interlock/machines/writer/machine.yaml", WRITER).unwrap();
        session.write(".gitignore", "local\nseen\nready\n").unwrap();
        session.write("a", "checkout\n").unwrap();
        let scene = Scene { here: repository, session, _folder: folder };
        for words in ["init -q", "add -A", "-c user.name=ada -c user.email=ada@localhost commit -qm begin"] {
            scene.git(words);
        }
        scene
    }

    fn git(&self, words: &str) -> String {
        let done = Command::new("git").args(words.split(' ')).current_dir(&self.here).output().unwrap();
        assert!(done.status.success(), "git {words}: {}", String::from_utf8_lossy(&done.stderr));
        String::from_utf8(done.stdout).unwrap().trim().to_owned()
    }

    fn text(&self, name: &str) -> String {
        fs::read_to_string(self.here.join(name)).unwrap()
    }

    /// Returns the worktree that a transcript names.
    fn worktree(&self, run: &str) -> PathBuf {
        let list = self.git("worktree list --porcelain");
        let mut trees = list.lines().filter_map(|line| line.strip_prefix("worktree "));
        PathBuf::from(trees.find(|path| path.ends_with(&format!("/{run}/tree"))).unwrap())
    }
}

#[test]
fn a_run_in_a_worktree_is_applied_and_removed() {
    let scene = Scene::new();
    scene.session.write("local", "KEY=1\n").unwrap();
    scene.session.write(".interlock/worktree.toml", "copy = [\"local\"]\nsetup = \"echo ok > ready\"\n").unwrap();
    let begun = run(&scene.session, "run writer --worktree --name w1");
    assert_eq!(begun.code, Some(4), "{begun}");
    assert!(begun.stderr.contains("on the branch interlock/w1"), "{begun}");
    let tree = scene.worktree("w1");
    assert_eq!(fs::read_to_string(tree.join("seen")).unwrap(), "KEY=1\n");
    assert_eq!(fs::read_to_string(tree.join("ready")).unwrap(), "ok\n");
    assert_eq!(scene.text("a"), "checkout\n");
    assert_eq!(run(&scene.session, "send w1 finish").code, Some(0));
    assert_eq!(json(&scene.session, "gc")["worktrees"], 0, "its result is nowhere else");
    let applied = json(&scene.session, "apply w1");
    assert_eq!(applied["paths"], serde_json::json!(["a", "new"]));
    assert_eq!((scene.text("a"), scene.text("new")), ("run\n".into(), "x\n".into()));
    assert_eq!(json(&scene.session, "gc")["worktrees"], 1);
    assert!(!tree.exists());
    assert_eq!(scene.git("branch --list interlock/*"), "");
    let gone = run(&scene.session, "apply w1");
    assert_eq!(gone.code, Some(2), "{gone}");
}

#[test]
fn a_conflict_is_refused_and_changes_nothing() {
    let scene = Scene::new();
    run(&scene.session, "run writer --worktree --name w1");
    scene.session.write("a", "mine\n").unwrap();
    let refused = run(&scene.session, "apply w1");
    assert_eq!(refused.code, Some(1), "{refused}");
    assert!(refused.stderr.contains("these files have uncommitted changes in the checkout too: a"), "{refused}");
    assert_eq!(scene.text("a"), "mine\n");
    assert!(!scene.here.join("new").exists());
}

#[test]
fn a_machine_gets_a_worktree_if_the_checkout_is_in_use() {
    let scene = Scene::new();
    let first = run(&scene.session, "run writer --name w1");
    assert!(!first.stderr.contains("on the branch"), "{first}");
    assert_eq!(scene.text("a"), "run\n", "the checkout was free and clean");
    scene.git("checkout -q -- a");
    fs::remove_file(scene.here.join("new")).unwrap();
    let second = run(&scene.session, "run writer --name w2");
    assert!(second.stderr.contains("on the branch interlock/w2"), "another run works in the checkout\n{second}");
    assert_eq!(scene.text("a"), "checkout\n");
    run(&scene.session, "send w1 finish");
    scene.session.write("mine", "uncommitted\n").unwrap();
    let third = run(&scene.session, "run writer --name w3");
    assert!(third.stderr.contains("on the branch interlock/w3"), "the checkout is dirty\n{third}");
    let fourth = run(&scene.session, "run writer --name w4 --in-place");
    assert!(!fourth.stderr.contains("on the branch"), "{fourth}");
}

#[test]
fn writes_in_a_worktree_can_be_undone() {
    let scene = Scene::new();
    run(&scene.session, "run writer --worktree --name w1");
    let tree = scene.worktree("w1");
    assert_eq!(fs::read_to_string(tree.join("a")).unwrap(), "run\n");
    let undone = run(&scene.session, "undo w1");
    assert_eq!(undone.code, Some(0), "{undone}");
    assert_eq!(fs::read_to_string(tree.join("a")).unwrap(), "checkout\n");
    assert!(!tree.join("new").exists());
}

#[test]
fn a_set_up_that_fails_leaves_nothing_behind() {
    let scene = Scene::new();
    for (text, why) in [
        ("setup = \"echo no; exit 3\"\n", "ended with the exit code 3"),
        ("copy = [\"a\"]\n", "`a` is not ignored by git"),
        ("install = 3\n", "unknown field"),
    ] {
        scene.session.write(".interlock/worktree.toml", text).unwrap();
        let refused = run(&scene.session, "run writer --worktree --name w1");
        assert_eq!(refused.code, Some(2), "{refused}");
        assert!(refused.stderr.contains(why), "{refused}");
        assert_eq!(scene.git("branch --list interlock/*"), "");
        assert_eq!(scene.git("worktree list --porcelain").matches("worktree ").count(), 1);
    }
}
