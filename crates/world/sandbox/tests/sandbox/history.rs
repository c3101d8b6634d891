//! The history of a repository: read-only for programs with a mount namespace, and reported as writable for others.

use std::{
    fs,
    path::Path,
    process::{Command, Output},
};

use interlock_sandbox::GitHistory;

use crate::scene::{Done, Scene};

/// How many commits there are: some in a pack, some loose.
const COMMITS: usize = 4;

fn git(scene: &Scene, folder: &Path, arguments: &[&str]) -> Output {
    let mut git = scene.outside("git");
    git.args(["-c", "user.name=a", "-c", "user.email=a@b", "-c", "init.defaultBranch=main"])
        .env("HOME", "/nonexistent");
    let done = git.args(arguments).current_dir(folder).output().unwrap();
    assert!(done.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&done.stderr));
    done
}

/// A repository with a history. Returns the last commit.
fn with_history(scene: &Scene) -> String {
    let work = &scene.rules.workspace;
    git(scene, work, &["init", "-q"]);
    for number in 0..COMMITS {
        if number == COMMITS / 2 {
            git(scene, work, &["gc", "-q"]);
        }
        git(scene, work, &["commit", "-q", "--allow-empty", "-m", &number.to_string()]);
    }
    String::from_utf8(git(scene, work, &["rev-parse", "HEAD"]).stdout).unwrap().trim().to_owned()
}

/// How many commits of the history can be read, whatever else was done to the repository.
fn readable(scene: &Scene, head: &str) -> usize {
    let other = tempfile::tempdir().unwrap();
    let git = |arguments: &[&str]| {
        Command::new("git")
            .args(arguments)
            .current_dir(other.path())
            .env("GIT_ALTERNATE_OBJECT_DIRECTORIES", scene.work(".git/objects"))
            .output()
            .unwrap()
    };
    git(&["init", "-q"]);
    // A commit graph would name commits whose objects are gone.
    let listed = git(&["-c", "core.commitGraph=false", "rev-list", head]);
    if listed.status.success() { String::from_utf8(listed.stdout).unwrap().lines().count() } else { 0 }
}

fn has_namespaces(done: &Done) -> bool {
    done.enforced().namespaces.iter().any(|name| name == "mount")
}

const ATTACKS: [&str; 8] = [
    "rm -rf .git/objects",
    "rm -rf .git",
    "chmod -R u+w .git/objects; find .git/objects -type f -exec sh -c 'echo x > \"$1\"' - {} \\;",
    "chmod -R u+w .git/objects; truncate -s 0 .git/objects/pack/*; truncate -s 0 .git/objects/??/*",
    "mv .git/objects/pack away; mv .git/objects/?? .",
    "mv .git/objects away",
    "mv .git away",
    "for file in $(find .git/objects -type f); do cp /dev/null x; mv -f x $file; ln -sf /dev/null $file; done",
];

#[test]
fn with_a_mount_namespace_no_program_can_change_it() {
    for attack in ATTACKS {
        for scene in Scene::for_everybody() {
            let head = with_history(&scene);
            let done = scene.run(attack);
            match has_namespaces(&done) {
                true => {
                    assert_eq!(done.enforced().git_history, GitHistory::ReadOnly, "{attack}: {done:#?}");
                    assert_eq!(readable(&scene, &head), COMMITS, "{attack}: {done:#?}");
                }
                // The directory is put back when the program has ended.
                false if attack == "mv .git away" => {
                    assert_eq!(readable(&scene, &head), COMMITS, "{attack}: {done:#?}");
                    assert_eq!(done.broken()[0], "git.protected", "{attack}: {done:#?}");
                }
                false => {
                    assert_eq!(done.enforced().git_history, GitHistory::Writable, "{attack}: {done:#?}");
                    assert!(readable(&scene, &head) < COMMITS, "{attack} was stopped, but not said to be: {done:#?}");
                }
            }
        }
    }
}

#[test]
fn ordinary_work_goes_on() {
    let work = "set -e; export GIT_AUTHOR_NAME=a GIT_AUTHOR_EMAIL=a@b GIT_COMMITTER_NAME=a GIT_COMMITTER_EMAIL=a@b
        for n in $(seq 40); do echo $n > file$n; git add file$n; git commit -qm more$n; done
        git checkout -qb other; echo x > x; git add x; git commit -qm x; git checkout -q -; git merge -q --no-ff -m merged other
        echo y >> x; git stash -q; git stash pop -q; git reset -q --hard
        git clone -q . ../work/copy; git -C copy commit -q --allow-empty -m far; git fetch -q ./copy; git merge -q FETCH_HEAD
        git repack -adq; git gc -q; git fsck --no-progress > fsck; git rev-list --count HEAD";
    for scene in Scene::for_everybody() {
        let head = with_history(&scene);
        let done = scene.run(work);
        done.is_well();
        assert_eq!(done.stdout.trim(), (COMMITS + 43).to_string(), "{done:#?}");
        assert_eq!(readable(&scene, &head), COMMITS);
        git(&scene, &scene.rules.workspace, &["gc", "-q", "--prune=now"]);
        git(&scene, &scene.rules.workspace, &["fsck", "--full", "--strict", "--no-progress"]);
    }
}

#[test]
fn other_repositories_are_not_in_the_way() {
    let scene = Scene::new();
    let done =
        scene.run("git init -q; git -c user.name=a -c user.email=a@b commit -q --allow-empty -m x; rm -rf .git; ls -A");
    done.is_well();
    assert_eq!((done.enforced().git_history, done.stdout.trim()), (GitHistory::NoRepository, ""));
}

#[test]
fn a_machine_can_open_it() {
    let scene = Scene::new();
    let head = with_history(&scene);
    let git = scene.work(".git");
    let scene = scene.with(|rules| rules.write.push(git.clone()));
    let done = scene.run("rm -rf .git/objects/pack");
    assert_eq!(done.enforced().git_history, GitHistory::Writable);
    assert_eq!(readable(&scene, &head), 0);
    assert!(!fs::exists(git.join("objects/pack")).unwrap());
}
