//! Repositories that a confined program has prepared for the git that Interlock starts.

use std::{
    fs,
    os::unix::{fs::symlink, net::UnixListener},
    path::{Path, PathBuf},
    process::Command,
    time::{Duration, Instant},
};

use interlock_redact::Redactor;
use interlock_workspace::{Commit, Error, Worktree, apply_in_place};
use tempfile::TempDir;

use crate::{chance::Chance, folder::Folder};

/// The time in which every operation ends, whatever is in place of a file.
const PATIENCE: Duration = Duration::from_secs(120);

/// A workspace with a submodule whose settings name a program at every place where git starts one.
struct Scene {
    folder: Folder,
    mark: PathBuf,
}

impl Scene {
    fn new() -> Self {
        let folder = Folder::repository();
        let mark = folder.home().with_file_name("mark");
        folder.write("a.txt", "one\n");
        let inner = folder.path.join("inner");
        sh(&folder.path, "git init -q inner && echo 1 > inner/x && git -C inner add x");
        sh(&inner, "git -c user.name=i -c user.email=i@i commit -qm inner");
        folder.commit_all();
        let scene = Scene { folder, mark };
        scene.prepare(&inner.join(".git"));
        sh(&inner, "echo 2 > x; touch y");
        scene
    }

    /// Names a program wherever git would start one, in a git directory.
    fn prepare(&self, git_dir: &Path) {
        let evil = self.mark.with_file_name("evil");
        fs::write(&evil, format!("#!/bin/sh\ntouch {}\ncat\n", self.mark.display())).unwrap();
        sh(Path::new("/"), &format!("chmod +x {0} && mkdir -p {1}/hooks {1}/info", evil.display(), git_dir.display()));
        let evil = evil.display();
        let names = [
            "filter.x.clean",
            "filter.x.smudge",
            "filter.x.process",
            "diff.x.textconv",
            "diff.x.command",
            "merge.x.driver",
            "core.fsmonitor",
            "core.pager",
            "core.editor",
            "core.sshCommand",
            "core.askPass",
            "core.gitProxy",
            "core.alternateRefsCommand",
            "diff.external",
            "gpg.program",
            "credential.helper",
            "alias.status",
            "trailer.x.command",
            "pager.diff",
            "pager.log",
            "uploadpack.packObjectsHook",
            "gc.recentObjectsHook",
            "hook.x.command",
        ];
        let settings: String = names.map(|name| format!("git config --file config {name} {evil};")).concat();
        sh(
            git_dir,
            &format!(
                "{settings} git config --file config filter.x.required false; echo '* filter=x diff=x merge=x' > info/attributes"
            ),
        );
        let hooks =
            ["pre-commit", "post-checkout", "post-merge", "reference-transaction", "post-index-change", "pre-auto-gc"];
        for hook in hooks {
            sh(git_dir, &format!("cp {evil} hooks/{hook}"));
        }
    }

    /// Runs everything that looks at the workspace with git. Returns the names of what failed.
    fn operate(&self) -> Vec<(&'static str, String)> {
        let (folder, workspace) = (&self.folder.path, &self.folder.workspace);
        let cache = TempDir::new().unwrap();
        let mut failed = Vec::new();
        let mut note = |name, result: Result<(), Error>| {
            assert!(!self.mark.exists(), "{name} started a program");
            failed.extend(result.err().map(|error| (name, error.to_string())));
        };
        let commit = |message: &str| Commit { message: message.into(), ..Commit::default() };
        let before = workspace.take(folder, "r");
        let name = before.as_ref().cloned().unwrap_or_default();
        note("take", before.map(drop));
        let began = workspace.tree(folder).unwrap_or_default();
        self.folder.write("b.txt", "new\n");
        self.folder.write("inner/x", "3\n");
        let after = workspace.tree(folder).unwrap_or_default();
        note("tree", workspace.tree(folder).map(drop));
        note("changes", workspace.changes_since(folder, "r", &name).map(drop));
        note("checkpoint", workspace.checkpoint(folder, "r", "one").map(drop));
        note("tag", workspace.tagged_checkpoint(folder, "r", "chk", "kept").map(drop));
        note("diff", workspace.history_diff(folder, "HEAD", None, Path::new("")).map(drop));
        note("log", workspace.history_log(folder, Path::new(""), 5).map(drop));
        note("dirty", Worktree::is_dirty(folder).map(drop));
        workspace.kept_tree(folder).map(drop).unwrap_or_default();
        let only = Commit { only: Some((began, after)), ..commit("the difference") };
        note("commit of a difference", workspace.commit(folder, &only).map(drop));
        self.folder.write("a.txt", "two\n");
        let paths = Commit { paths: vec!["a.txt".into()], ..commit("a path") };
        note("commit of a path", workspace.commit(folder, &paths).map(drop));
        self.folder.write("c.txt", "new\n");
        note("commit of everything", workspace.commit(folder, &commit("all")).map(drop));
        let tree = Worktree::create(folder, &cache.path().join("tree"), "r");
        if let Ok(tree) = &tree {
            fs::write(tree.path.join("d.txt"), "d\n").unwrap();
            note("content", tree.content().map(drop));
            note("apply", tree.apply().map(drop));
            note("remove", tree.remove());
        }
        note("worktree", tree.map(drop));
        note("apply in place", apply_in_place(folder, "HEAD", &Redactor::default()).map(drop));
        note("restore", workspace.restore(folder, &name).map(drop));
        failed
    }
}

fn sh(folder: &Path, script: &str) -> bool {
    let mut shell = Command::new("sh");
    shell.arg("-ec").arg(script).current_dir(folder).env("GIT_CONFIG_GLOBAL", "/dev/null");
    shell.output().unwrap().status.success()
}

#[test]
fn no_operation_starts_a_program_that_a_submodule_names() {
    let scene = Scene::new();
    assert_eq!(scene.operate(), []);
    sh(&scene.folder.path, "git status");
    assert!(scene.mark.exists(), "git by itself enters the submodule, so the scene is a trap");
}

#[test]
fn no_operation_starts_a_program_after_the_git_file_of_a_submodule_was_replaced() {
    let scene = Scene::new();
    sh(&scene.folder.path, "mv inner/.git elsewhere && echo 'gitdir: ../elsewhere' > inner/.git");
    let failed = scene.operate();
    // The repository beside the submodule is new, so it is not committed.
    let is_new = |why: &str| why.contains("elsewhere is a git repository of its own") || why.contains("elsewhere");
    assert!(failed.iter().all(|(_, why)| is_new(why)), "{failed:?}");
}

#[test]
fn no_operation_starts_a_program_that_the_repository_names() {
    let scene = Scene::new();
    scene.prepare(&scene.folder.path.join(".git"));
    let failed = scene.operate();
    assert!(failed.iter().all(|(_, why)| why.contains("filter")), "{failed:?}");
    assert!(failed.iter().any(|(name, _)| *name == "commit of everything"), "refused by name: {failed:?}");
}

#[test]
fn a_new_repository_inside_is_not_committed() {
    let folder = Folder::repository();
    folder.write("a.txt", "one\n");
    folder.commit_all();
    sh(
        &folder.path,
        "git init -q planted; cd planted; git -c user.name=i -c user.email=i@i commit -q --allow-empty -m i",
    );
    folder.write("a.txt", "two\n");
    let commit = Commit { message: "all".into(), ..Commit::default() };
    let refused = folder.workspace.commit(&folder.path, &commit).unwrap_err().to_string();
    assert_eq!(
        refused,
        "planted is a git repository of its own that no commit has yet; remove it, or add it yourself with `git submodule add`"
    );
    assert_eq!(folder.git(&["log", "--format=%s"]).lines().count(), 1);
}

/// The files that git is known to open, relative to the workspace.
const OPENED: [&str; 30] = [
    ".gitignore",
    "d/.gitignore",
    ".gitattributes",
    "d/.gitattributes",
    ".gitmodules",
    ".mailmap",
    "inner/.git/HEAD",
    "inner/.git/config",
    "inner/.git/packed-refs",
    ".git/HEAD",
    ".git/config",
    ".git/config.worktree",
    ".git/packed-refs",
    ".git/info/exclude",
    ".git/info/attributes",
    ".git/info/sparse-checkout",
    ".git/info/grafts",
    ".git/shallow",
    ".git/commondir",
    ".git/index",
    ".git/index.lock",
    ".git/HEAD.lock",
    ".git/refs/heads/main",
    ".git/refs/heads/new",
    ".git/logs/HEAD",
    ".git/objects/info/alternates",
    ".git/objects/info/packs",
    ".git/objects/pack/pack-0.idx",
    ".git/refs/replace",
    ".git/FETCH_HEAD",
];

fn with_pipes() -> Folder {
    let folder = Folder::plain();
    folder.write("d/a.txt", "one\n");
    sh(&folder.path, "git init -q -b main && git init -q inner && echo 1 > inner/x && git -C inner add x");
    sh(&folder.path.join("inner"), "git -c user.name=i -c user.email=i@i commit -qm inner");
    folder.commit_all();
    folder
}

#[test]
fn pipes_at_every_name_that_git_opens_are_taken_away_after_an_attempt() {
    let folder = with_pipes();
    let before = folder.workspace.take(&folder.path, "r").unwrap();
    for name in OPENED {
        sh(&folder.path, &format!("mkdir -p $(dirname {name}); rm -rf {name}; mkfifo {name}"));
    }
    let began = Instant::now();
    let changes = folder.workspace.changes_since(&folder.path, "r", &before).unwrap().unwrap();
    for name in OPENED {
        let done = if name.contains(".git/") { "removed" } else { "moved to" };
        let said = format!("{name} is a named pipe; it was {done}");
        assert!(changes.breaches.iter().any(|breach| breach.contains(&said)), "{name}: {:?}", changes.breaches);
    }
    folder.workspace.take(&folder.path, "r").unwrap();
    folder.workspace.history_log(&folder.path, Path::new(""), 1).unwrap();
    assert!(began.elapsed() < PATIENCE);
}

#[test]
fn whatever_is_in_place_of_a_file_of_git_no_operation_waits_for_ever() {
    std::thread::scope(|scope| {
        for (seed, name) in OPENED.into_iter().enumerate() {
            scope.spawn(move || {
                let folder = with_pipes();
                let path = folder.path.join(name);
                fs::create_dir_all(path.parent().unwrap()).unwrap();
                sh(&folder.path, &format!("rm -rf {name}"));
                let kind = Chance(seed as u64).below(6);
                match kind {
                    0 => symlink("/dev/zero", &path).unwrap(),
                    1 => symlink("/dev/tty", &path).unwrap(),
                    2 => drop(UnixListener::bind(&path)),
                    3 => fs::create_dir_all(&path).unwrap(),
                    _ => assert!(sh(&folder.path, &format!("mkfifo {name}"))),
                }
                let began = Instant::now();
                let results = [
                    folder.workspace.take(&folder.path, "r").map(drop),
                    folder.workspace.history_log(&folder.path, Path::new(""), 1).map(drop),
                ];
                for result in results {
                    if let Err(Error::GitStopped(why)) = result {
                        assert!(why.contains("Remove it and try again"), "{name}: {why}");
                    }
                }
                assert!(began.elapsed() < PATIENCE, "{name} ({kind}) took {:?}", began.elapsed());
            });
        }
    });
}
