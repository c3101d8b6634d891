//! A repository's settings and hooks are unchanged after a program has attacked them.

use std::{
    fs,
    os::unix::fs::{MetadataExt, PermissionsExt},
    path::Path,
    process::Command,
};

use interlock_sandbox::{Kind, workspace_of};

use crate::scene::{Done, Scene, has};

fn git(folder: &Path, arguments: &[&str]) {
    let done = Command::new("git")
        .args(["-c", "user.name=a", "-c", "user.email=a@b", "-c", "init.defaultBranch=main"])
        .args(arguments)
        .current_dir(folder)
        .output()
        .unwrap();
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
}

fn scene() -> Scene {
    let scene = Scene::new();
    git(&scene.rules.workspace, &["init", "-q"]);
    fs::write(scene.work(".git/hooks/pre-commit"), "#!/bin/sh\nexit 0\n").unwrap();
    fs::set_permissions(scene.work(".git/hooks/pre-commit"), fs::Permissions::from_mode(0o755)).unwrap();
    fs::write(scene.work("file"), "one\n").unwrap();
    git(&scene.rules.workspace, &["add", "file"]);
    git(&scene.rules.workspace, &["commit", "-qm", "one"]);
    scene
}

/// Returns all files that could make git run something.
fn danger(scene: &Scene) -> Vec<(String, String, u32)> {
    let mut paths = vec![scene.work(".git/config")];
    paths.extend(fs::read_dir(scene.work(".git/hooks")).unwrap().map(|entry| entry.unwrap().path()));
    paths.sort();
    let describe = |path: &std::path::PathBuf| {
        let mode = fs::symlink_metadata(path).unwrap().permissions().mode();
        (path.display().to_string(), fs::read_to_string(path).unwrap_or_else(|error| error.to_string()), mode)
    };
    paths.iter().map(describe).collect()
}

const ATTACKS: [&str; 12] = [
    "echo 'touch ../outside/new' > .git/hooks/pre-commit",
    "echo x > .git/hooks/post-checkout; chmod +x .git/hooks/post-checkout",
    "rm -r .git/hooks",
    "chmod 0 .git/hooks/pre-commit",
    "rm .git/hooks/pre-commit; ln -s /bin/true .git/hooks/pre-commit",
    "mv .git/hooks .git/h; mkdir .git/hooks; echo x > .git/hooks/pre-commit",
    "git config core.fsmonitor evil",
    "printf '[core]\\n\\thooksPath = .evil\\n' >> .git/config",
    "rm .git/config; ln -s ../file .git/config",
    "mkdir -p .git/hooks/deep/er && echo x > .git/hooks/deep/er/file",
    "rm -r .git/hooks; ln -s ../../outside .git/hooks",
    "echo x > .git/config.worktree",
];

#[test]
fn changed_hooks_and_settings_are_restored() {
    for attack in ATTACKS {
        let scene = scene();
        let before = danger(&scene);
        let done = scene.run(attack);
        assert_eq!(danger(&scene), before, "{attack}");
        assert!(done.broken().contains(&"git.protected"), "{attack}: {done:#?}");
        assert!(!scene.work(".git/config.worktree").exists());
        assert_eq!(fs::read_to_string(scene.path("outside/file")).unwrap(), "as it was\n");
        assert_eq!(fs::read_dir(scene.path("outside")).unwrap().count(), 1);
    }
}

#[test]
fn hooks_are_restored_if_the_git_directory_was_moved() {
    for attack in ["mv .git away; ln -s ../outside .git", "rm -rf .git; echo 'gitdir: ../outside' > .git"] {
        let scene = scene();
        let before = danger(&scene);
        let done = scene.run(attack);
        assert_eq!(danger(&scene), before, "{attack}: {done:#?}");
        assert_eq!(fs::read_dir(scene.path("outside")).unwrap().count(), 1, "{attack}: a file was written outside");
    }
}

#[test]
fn hooks_are_restored_if_interlock_is_killed() {
    let scene = scene();
    let before = danger(&scene);
    let running = scene.start("echo evil > .git/hooks/pre-commit; echo done > done; sleep 1000");
    scene.line_of("done");
    drop(running.control);
    let mut child = running.child;
    child.wait().unwrap();
    assert_eq!(danger(&scene), before);
}

#[test]
fn ordinary_work_with_git_is_no_breach() {
    let scene = scene();
    let work = "export GIT_AUTHOR_NAME=a GIT_AUTHOR_EMAIL=a@b GIT_COMMITTER_NAME=a GIT_COMMITTER_EMAIL=a@b; \
                echo two >> file && git add -A && git commit -qm two && git checkout -qb other && git tag t && git stash list && \
                git status --short && git gc -q && git log --oneline | wc -l";
    let done = scene.run(work);
    done.is_well();
    assert_eq!(done.stdout.trim(), "2");
    assert!(done.enforced().protected.iter().any(|path| path.ends_with(".git/hooks")), "{done:#?}");
}

#[test]
fn settings_can_be_changed_if_that_is_allowed() {
    let scene = scene();
    let config = scene.work(".git/config");
    let scene = scene.with(|rules| rules.write.push(config.clone()));
    scene.run("git config my.key value").is_well();
    assert!(fs::read_to_string(config).unwrap().contains("value"));
}

#[test]
fn hooks_and_settings_are_read_only_with_bubblewrap() {
    if !has("bwrap") {
        return;
    }
    let scene = scene().with(|rules| rules.sandbox = Kind::Bubblewrap);
    let done: Done = scene.run("echo x > .git/hooks/pre-commit; git config a.b c; rm -r .git/hooks; echo fine > file");
    assert_eq!(done.ended().breaches, [], "{done:#?}");
    assert_eq!(fs::read_to_string(scene.work("file")).unwrap(), "fine\n");
    assert!(fs::read_to_string(scene.work(".git/hooks/pre-commit")).unwrap().contains("exit 0"));
}

#[test]
fn commits_work_in_a_linked_worktree() {
    let scene = scene();
    let linked = scene.path("linked");
    git(&scene.rules.workspace, &["worktree", "add", "-q", linked.to_str().unwrap()]);
    let main = scene.work(".git/hooks/pre-commit");
    let scene = scene.with(|rules| rules.workspace = workspace_of(&linked).unwrap());
    let commit = "echo two > file && git -c user.name=a -c user.email=a@b commit -qam two";
    let done = scene.run(commit);
    done.is_well();
    let done = scene.run(&format!("echo evil > {}; git rev-parse HEAD", main.display()));
    assert_eq!(done.broken(), ["git.protected"], "{done:#?}");
    assert!(fs::read_to_string(main).unwrap().contains("exit 0"));
}

#[test]
fn the_git_file_of_a_linked_worktree_is_restored() {
    for (attack, is_plain) in
        ["rm .git; echo gitdir: ../outside/.git > .git", "rm .git; git init -q .", "rm .git; ln -s ../work/.git .git"]
            .into_iter()
            .flat_map(|attack| [(attack, false), (attack, true)])
    {
        let scene = scene();
        let linked = scene.path("linked");
        git(&scene.rules.workspace, &["worktree", "add", "-q", linked.to_str().unwrap()]);
        let before = fs::read_to_string(linked.join(".git")).unwrap();
        let scene = scene.with(|rules| rules.workspace = workspace_of(&linked).unwrap());
        let scene = if is_plain { scene.plain() } else { scene };
        let done = scene.run(attack);
        assert_eq!(fs::read_to_string(linked.join(".git")).unwrap_or_default(), before, "{attack}: {done:#?}");
        // In namespaces the file cannot be removed at all.
        assert!(done.ended().breaches.is_empty() || done.broken() == ["git.protected"], "{attack}: {done:#?}");
        assert!(!is_plain || done.broken() == ["git.protected"], "{attack}: {done:#?}");
    }
}

#[test]
fn a_replaced_git_directory_is_put_back() {
    let attacks = [
        "mv .git .git2; git init -q .",
        "mv .git sub; echo gitdir: ../outside > .git",
        "mkdir .new; mv .git .new/old; mv .new .git",
        "mv .git .git2",
    ];
    for (attack, is_plain) in attacks.into_iter().flat_map(|attack| [(attack, false), (attack, true)]) {
        let scene = scene();
        let scene = if is_plain { scene.plain() } else { scene };
        let inode = || fs::symlink_metadata(scene.work(".git")).unwrap().ino();
        let (before, danger_before) = (inode(), danger(&scene));
        let done = scene.run(attack);
        assert_eq!((inode(), danger(&scene)), (before, danger_before), "{attack}: {done:#?}");
        assert!(!is_plain || done.broken().contains(&"git.protected"), "{attack}: {done:#?}");
    }
}

/// A `.git` file that a program wrote must not give the next program access to other places.
#[test]
fn a_forged_worktree_gives_no_access() {
    let scene = Scene::new();
    fs::create_dir_all(scene.path("outside/worktrees/x")).unwrap();
    let forged = format!("gitdir: {}\n", scene.path("outside/worktrees/x").display());
    fs::write(scene.work(".git"), forged).unwrap();
    let done = scene.run("echo x > ../outside/new; echo x > ../outside/worktrees/x/new");
    assert!(!scene.path("outside/new").exists() && !scene.path("outside/worktrees/x/new").exists(), "{done:#?}");
}

#[test]
fn the_workspace_is_the_repository_around_a_directory() {
    let scene = scene();
    let deep = scene.work("a/b");
    fs::create_dir_all(&deep).unwrap();
    assert_eq!(workspace_of(&deep).unwrap(), scene.rules.workspace);
}

/// Git enters the repositories that the index names at every `git status`.
#[test]
fn the_git_directories_of_repositories_in_the_index_are_protected() {
    let make = |scene: &Scene| {
        let script = "git init -q ../outside/origin; git -C ../outside/origin -c user.name=a -c user.email=a@b commit -q --allow-empty -m o; \
                      git -c protocol.file.allow=always submodule --quiet add ../outside/origin module; \
                      git clone -q ../outside/origin plain; git add plain 2>/dev/null; mkdir unborn; \
                      git update-index --add --cacheinfo 160000,$(git rev-parse HEAD),unborn";
        let done = Command::new("sh").args(["-ec", script]).current_dir(&scene.rules.workspace).output().unwrap();
        assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    };
    let attacks = [
        (
            "git init -q evil; git -C evil config core.fsmonitor evil; echo gitdir: ../evil/.git > module/.git",
            "module/.git",
        ),
        ("rm module/.git; git init -q module; git -C module config core.fsmonitor evil", "module/.git"),
        ("git -C plain config core.fsmonitor evil", "plain/.git/config"),
        ("mv plain/.git p; git init -q plain; git -C plain config core.fsmonitor evil", "plain/.git/config"),
        ("git init -q unborn; git -C unborn config core.fsmonitor evil", "unborn/.git"),
    ];
    for (attack, path) in attacks {
        let scene = scene();
        make(&scene);
        let text = || fs::read_to_string(scene.work(path)).unwrap_or_default();
        let before = text();
        let done = scene.run(attack);
        assert_eq!(text(), before, "{attack}: {done:#?}");
        assert!(done.broken().contains(&"git.protected"), "{attack}: {done:#?}");
        assert!(path != "unborn/.git" || !scene.work(path).exists(), "{attack}");
    }
    let scene = scene();
    make(&scene);
    scene.run("echo new > module/new; echo new > plain/new; git -C plain status; git status").is_well();
}

/// The person's own git, outside of the sandbox, starts hooks and reads settings wherever its settings lead.
#[test]
fn nothing_that_git_would_run_outside_can_be_changed() {
    let cases = [
        ("printf '[core]\\n\\thooksPath = h # of the team\\n' >> .git/config", "h/pre-commit"),
        ("printf '[core]\\n\\thooksPath = \\\\\\n h\\n' >> .git/config", "h/pre-commit"),
        ("printf '[core]\\n\\thooksPath = \"h\"\\n' >> .git/config", "h/pre-commit"),
        (
            "printf '[include]\\n\\tpath = ../a.inc\\n' >> .git/config; printf '[core]\\nhooksPath=h\\n' > a.inc",
            "h/pre-commit",
        ),
        ("printf '[include]\\npath=../a.inc\\n' >> .git/config; printf '[include]\\npath=b.inc\\n' > a.inc", "b.inc"),
        ("printf '[include]\\n\\tpath = ~/../work/c.inc\\n' >> .git/config", "c.inc"),
        ("git config --global core.hooksPath h", "h/pre-commit"),
        ("git config --global include.path $PWD/c.inc", "c.inc"),
        ("git config --global core.hooksPath ~/hooks; ln -s $PWD/h ~/hooks", "h/pre-commit"),
        ("ln -s ../../h/pre-commit .git/hooks/commit-msg", "h/pre-commit"),
        (
            "git init -q ../outside/o; git -C ../outside/o -c user.name=a -c user.email=a@b commit -q --allow-empty -m o; \
             git -c protocol.file.allow=always submodule --quiet add ../outside/o sub; mkdir sub/h; \
             git -C sub config core.hooksPath h",
            "sub/h/pre-commit",
        ),
        (
            "git config extensions.worktreeConfig true; git worktree add -q tree; git -C tree config --worktree core.hooksPath h",
            "tree/h/pre-commit",
        ),
    ];
    for (prepare, path) in cases {
        let scene = scene();
        fs::create_dir_all(scene.work("h")).unwrap();
        fs::write(scene.work("h/pre-commit"), "exit 0\n").unwrap();
        let mut shell = Command::new("sh");
        shell.args(["-ec", prepare]).env("HOME", scene.path("home")).current_dir(&scene.rules.workspace);
        let done = shell.output().unwrap();
        assert!(done.status.success(), "{prepare}: {}", String::from_utf8_lossy(&done.stderr));
        let text = || fs::read_to_string(scene.work(path)).unwrap_or_default();
        let before = text();
        let done = scene.run(&format!("mkdir -p $(dirname {path}); echo evil > {path}"));
        assert_eq!(text(), before, "{prepare}: {done:#?}");
        assert!(done.broken().contains(&"git.protected"), "{prepare}: {done:#?}");
        scene.run("echo more > file").is_well();
    }
}

/// What is beyond a bound has no guard, so no program starts.
#[test]
fn more_repositories_than_can_be_guarded_are_refused() {
    let scene = scene();
    let many = "i=0; while [ $i -le 2000 ]; do echo \"160000 $(git rev-parse HEAD) 0\ta$i\"; i=$((i+1)); done | git update-index --index-info";
    let many = many.replace("$(git rev-parse HEAD)", "0123456789012345678901234567890123456789");
    assert!(Command::new("sh").args(["-ec", &many]).current_dir(&scene.rules.workspace).status().unwrap().success());
    let done = scene.run("echo x > file");
    let (why, is_refusal) = done.not_started.as_ref().unwrap();
    assert!(*is_refusal && why.contains("names more than 2000 repositories"), "{why}");
}
