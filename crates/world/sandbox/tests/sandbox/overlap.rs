//! Programs of several attempts in one workspace: what one of them plants is not what another one restores.

use std::{
    fs,
    os::unix::fs::{PermissionsExt, chown},
    path::Path,
    process::Command,
};

use interlock_sandbox::{project_is_unchanged, read_project};

use crate::scene::{NOBODY, Running, Scene, has, until};

/// Waits, at most for twenty seconds, until a test makes a file.
const AWAIT: &str = "n=0; until [ -e $1 ] || [ $n = 2000 ]; do n=$((n+1)); sleep 0.01; done";

const PLANTED: [&str; 7] = [
    ".git/hooks/pre-commit",
    ".interlock/policy.toml",
    ".interlock/machines/new/machine.yaml",
    ".envrc",
    ".vscode/tasks.json",
    ".github/workflows/ci.yml",
    ".husky/pre-commit",
];

/// A scene with a store and a repository, which have the owner of its programs.
fn furnish(scene: Scene) -> Scene {
    let top = scene.rules.workspace.clone();
    assert!(Command::new("git").args(["init", "-q"]).current_dir(&top).status().unwrap().success());
    fs::create_dir_all(top.join(".github/workflows")).unwrap();
    fs::write(top.join(".github/workflows/ci.yml"), "mine").unwrap();
    let store = scene.path("store");
    fs::create_dir(&store).unwrap();
    fs::set_permissions(&store, fs::Permissions::from_mode(0o700)).unwrap();
    if scene.is_nobody() {
        chown(&store, Some(NOBODY), Some(NOBODY)).unwrap();
        let owner = format!("{NOBODY}:{NOBODY}");
        assert!(Command::new("chown").args(["-R", &owner]).arg(&top).status().unwrap().success());
    }
    scene.with(|rules| rules.store = Some(store))
}

/// Starts a program that runs a script and then waits until `name` may end.
fn start(scene: &Scene, name: &str, script: &str) -> Running {
    let script = format!("{script}\necho at work > {name}.begun; set -- {name}.end; {AWAIT}");
    let running = scene.start(&script);
    scene.line_of(&format!("{name}.begun"));
    running
}

fn end(scene: &Scene, name: &str) {
    fs::write(scene.work(&format!("{name}.end")), "").unwrap();
}

fn plant() -> String {
    let plant = |path: &&str| format!("mkdir -p $(dirname {path}); echo evil > {path}; chmod +x {path}\n");
    PLANTED.iter().map(plant).collect::<String>() + "git config core.fsmonitor evil"
}

#[track_caller]
fn assert_clean(scene: &Scene) {
    let is_evil = |path: &&&str| fs::read_to_string(scene.work(path)).is_ok_and(|text| text.contains("evil"));
    assert_eq!(PLANTED.iter().find(is_evil), None);
    assert_eq!(fs::read_to_string(scene.work(".github/workflows/ci.yml")).unwrap(), "mine");
    assert!(!fs::read_to_string(scene.work(".git/config")).unwrap().contains("evil"));
    assert!(!scene.work(".interlock").exists() && !scene.work(".husky").exists());
}

/// Returns true if nothing of a baseline is left in the store.
fn is_free(store: &Path) -> bool {
    fs::read_dir(store).unwrap().count() == 0
}

#[test]
fn what_a_program_plants_is_not_what_another_one_restores() {
    for scene in Scene::for_everybody().into_iter().map(furnish) {
        let planting = start(&scene, "b", &plant());
        let other = start(&scene, "a", "true");
        end(&scene, "b");
        let done = planting.done();
        assert!(done.broken().contains(&"git.protected") && done.broken().contains(&"project.protected"), "{done:#?}");
        assert_clean(&scene);
        end(&scene, "a");
        let done = other.done();
        assert_eq!(done.broken(), [""; 0], "{done:#?}");
        assert_clean(&scene);
        assert!(is_free(&scene.path("store")));
    }
}

#[test]
fn the_last_of_several_programs_restores_what_was_there_before_the_first() {
    let scene = furnish(Scene::new());
    let first = start(&scene, "a", "true");
    let second = start(&scene, "b", "echo evil > .envrc");
    let third = start(&scene, "c", "echo evil > .npmrc");
    end(&scene, "a");
    first.done();
    let fourth = start(&scene, "d", &plant());
    for (name, running) in [("c", third), ("b", second), ("d", fourth)] {
        end(&scene, name);
        running.done();
    }
    assert_clean(&scene);
    assert!(!scene.work(".npmrc").exists() && is_free(&scene.path("store")));
    // When no program works, a person changes these files.
    fs::write(scene.work(".envrc"), "mine").unwrap();
    scene.run("true").is_well();
    assert_eq!(fs::read_to_string(scene.work(".envrc")).unwrap(), "mine");
}

/// A program that may change a path does not make its own changes there what another one restores, and the other way round.
#[test]
fn a_path_that_only_one_program_may_change_is_read_by_the_other_one() {
    let scene = furnish(Scene::new());
    let open = scene.work(".github/workflows/ci.yml");
    let mut order = scene.order(&["/bin/sh", "-c"]);
    order.rules.write.push(open.clone());
    let script = format!(
        "echo changed > .github/workflows/ci.yml; echo evil > .github/workflows/evil.yml\n\
         echo at work > b.begun; set -- b.end; {AWAIT}"
    );
    order.words.push(script.into());
    let planting = scene.start_order(&order);
    scene.line_of("b.begun");
    let other = start(&scene, "a", "echo again > .github/workflows/ci.yml");
    end(&scene, "b");
    planting.done();
    end(&scene, "a");
    let done = other.done();
    assert_eq!(done.broken(), ["project.protected"], "{done:#?}");
    assert_eq!(fs::read_to_string(&open).unwrap(), "changed\n");
    assert!(!scene.work(".github/workflows/evil.yml").exists());
}

#[test]
fn a_program_does_not_start_in_a_repository_that_another_one_has_put_there() {
    for scene in [Scene::new(), Scene::new().plain()].map(furnish) {
        let moving =
            start(&scene, "b", "cp -r .git evil; git -C evil config core.fsmonitor evil; mv .git old; mv evil .git");
        if !scene.work("old").exists() {
            // With namespaces `.git` cannot be renamed.
            continue;
        }
        let refused = scene.run("true");
        let (why, is_refusal) = refused.not_started.clone().unwrap();
        assert!(is_refusal && why.contains(".git was replaced by a program of another attempt"), "{why}");
        end(&scene, "b");
        moving.done();
        assert_clean(&scene);
        scene.run("true").is_well();
    }
}

/// Linked worktrees share the settings and hooks of their repository.
#[test]
fn programs_in_two_worktrees_restore_the_same_repository() {
    let scene = furnish(Scene::new());
    let git = |words: &[&str]| {
        let mut git = Command::new("git");
        git.args(["-c", "user.name=a", "-c", "user.email=a@b"]).args(words).current_dir(&scene.rules.workspace);
        assert!(git.status().unwrap().success());
    };
    git(&["commit", "-q", "--allow-empty", "-m", "first"]);
    let tree = scene.path("tree");
    git(&["worktree", "add", "-q", tree.to_str().unwrap()]);
    let repository = scene.work(".git");
    let planting = start(&scene, "b", &format!("echo evil > {}/hooks/pre-commit", repository.display()));
    let mut order = scene.order(&["/bin/sh", "-c"]);
    order.rules.workspace = tree.clone();
    order.folder = tree.clone();
    order.words.push(format!("echo at work > begun; set -- end; {AWAIT}").into());
    let other = scene.start_order(&order);
    until(|| fs::read_to_string(tree.join("begun")).ok().filter(|text| text.ends_with('\n')));
    end(&scene, "b");
    planting.done();
    fs::write(tree.join("end"), "").unwrap();
    let done = other.done();
    assert_eq!(done.broken(), [""; 0], "{done:#?}");
    assert!(!repository.join("hooks/pre-commit").exists());
}

#[test]
fn the_next_program_restores_what_a_killed_supervisor_could_not() {
    let scene = furnish(Scene::new());
    let mut killed = start(&scene, "b", &plant());
    killed.child.kill().unwrap();
    killed.child.wait().unwrap();
    let done = scene.run("cat .envrc");
    assert_clean(&scene);
    let missing = &done.enforced().missing;
    assert!(
        missing.iter().any(|said| said.contains("was killed, so") && said.contains(".envrc was changed")),
        "{done:#?}"
    );
    // What was there is kept: it may be the work of a person.
    let replaced = fs::read_dir(scene.path("store/guarded/replaced")).unwrap().next().unwrap().unwrap().path();
    let kept: Vec<_> = fs::read_dir(replaced).unwrap().map(|entry| entry.unwrap().path()).collect();
    assert!(kept.iter().any(|path| path.to_str().unwrap().ends_with("%.envrc")), "{kept:?}");
}

#[test]
fn the_baseline_can_be_read_by_its_owner_only() {
    let scene = furnish(Scene::new());
    let running = start(&scene, "b", "true");
    let mode = |name: &str| fs::metadata(scene.path("store").join(name)).unwrap().permissions().mode() & 0o777;
    assert_eq!((mode("guarded"), mode("guarded/baseline.json")), (0o700, 0o600));
    end(&scene, "b");
    running.done().is_well();
}

/// What is too deep to be read, and what has no content, stays if a program changes something beside it.
#[test]
fn what_is_not_read_is_not_removed() {
    for scene in Scene::for_everybody().into_iter().map(furnish) {
        let deep = scene.work(".devcontainer").join("d/".repeat(20));
        fs::create_dir_all(&deep).unwrap();
        fs::write(deep.join("file"), "mine").unwrap();
        let pipe = scene.work(".devcontainer/a-pipe");
        assert!(Command::new("mkfifo").arg(&pipe).status().unwrap().success());
        if scene.is_nobody() {
            let owner = format!("{NOBODY}:{NOBODY}");
            let mut chown = Command::new("chown");
            assert!(chown.args(["-R", &owner]).arg(scene.work(".devcontainer")).status().unwrap().success());
        }
        let done = scene.run("echo evil > .devcontainer/new");
        assert_eq!(done.broken(), ["project.protected"], "{done:#?}");
        assert!(!scene.work(".devcontainer/new").exists() && pipe.exists());
        assert_eq!(fs::read_to_string(deep.join("file")).unwrap(), "mine");
        // A pipe cannot be brought back, but everything beside it is.
        let done =
            scene.run("rm .devcontainer/a-pipe; echo evil > .devcontainer/a-pipe; echo evil > .devcontainer/new");
        assert!(done.ended().breaches.iter().any(|one| one.said.contains("could not be restored")), "{done:#?}");
        assert!(!scene.work(".devcontainer/new").exists() && !pipe.exists());
    }
}

#[test]
fn more_than_a_few_mib_are_guarded_and_more_than_that_is_refused() {
    let scene = furnish(Scene::new());
    let actions = scene.work(".github/actions/a/dist");
    fs::create_dir_all(&actions).unwrap();
    fs::write(actions.join("index.js"), vec![b'x'; 12 << 20]).unwrap();
    let done = scene.run("echo evil > .github/actions/a/dist/index.js; echo evil > .npmrc");
    assert_eq!(done.broken(), ["project.protected"; 2], "{done:#?}");
    assert_eq!(fs::metadata(actions.join("index.js")).unwrap().len(), 12 << 20);
    assert!(!scene.work(".npmrc").exists());
    fs::File::create(actions.join("more.js")).unwrap().set_len(64 << 20).unwrap();
    let (why, is_refusal) = scene.run("true").not_started.unwrap();
    assert!(is_refusal && why.contains(".github/actions") && why.contains("more.js"), "{why}");
    let scene = scene.with(|rules| rules.write.push(actions.parent().unwrap().parent().unwrap().to_owned()));
    scene.run("true").is_well();
}

/// Nothing that decides what a run may do is read while a program has changed it.
#[test]
fn a_project_file_that_a_program_has_changed_is_not_read() {
    let scene = furnish(Scene::new());
    let (store, top) = (scene.path("store"), scene.rules.workspace.clone());
    fs::create_dir_all(top.join(".interlock/machines/m")).unwrap();
    fs::write(top.join(".interlock/machines/m/machine.yaml"), "mine").unwrap();
    fs::write(top.join(".interlock/risk.toml"), "mine").unwrap();
    let read = |path: &str| read_project(Some(&store), &top, path, 1_000);
    let unchanged = |folder: &str| project_is_unchanged(Some(&store), &scene.work(folder));

    let quiet = start(&scene, "a", "mkdir -p sub");
    assert_eq!((read(".interlock/risk.toml"), read(".interlock/policy.toml")), (Ok(Some("mine".into())), Ok(None)));
    assert_eq!(unchanged("sub"), Ok(()));
    end(&scene, "a");
    quiet.done().is_well();

    let planting =
        start(&scene, "b", "echo evil > .interlock/machines/m/machine.yaml; echo evil > .interlock/policy.toml");
    let why = read(".interlock/policy.toml").unwrap_err();
    assert!(why.contains("policy.toml was changed while a program of another attempt works"), "{why}");
    assert_eq!(read(".interlock/risk.toml"), Ok(Some("mine".into())));
    let why = unchanged("sub").unwrap_err();
    assert!(why.contains(".interlock/machines/m/machine.yaml was changed"), "{why}");
    assert_eq!(unchanged("../outside"), Ok(()));
    end(&scene, "b");
    planting.done();
    assert_eq!((read(".interlock/policy.toml"), unchanged("")), (Ok(None), Ok(())));

    // What a killed supervisor could not restore is restored before anything is read.
    let mut killed = start(&scene, "c", "echo evil > .interlock/policy.toml");
    killed.child.kill().unwrap();
    killed.child.wait().unwrap();
    assert_eq!((read(".interlock/policy.toml"), unchanged("")), (Ok(None), Ok(())));
    // When no program works, the files of a person count.
    fs::write(top.join(".interlock/policy.toml"), "new").unwrap();
    assert_eq!((read(".interlock/policy.toml"), unchanged("")), (Ok(Some("new".into())), Ok(())));
}

#[test]
fn a_temporary_directory_is_never_behind_a_link_of_the_workspace() {
    for scene in Scene::for_everybody() {
        std::os::unix::fs::symlink(scene.path("outside"), scene.work("tmp")).unwrap();
        let mut order = scene.order(&["/bin/sh", "-c", "echo $TMPDIR; echo x > $TMPDIR/file"]);
        order.temp = scene.work("tmp");
        let done = scene.start_order(&order).done();
        done.is_well();
        assert!(done.stdout.starts_with("/tmp/interlock-temp-"), "{done:#?}");
        assert_eq!(fs::read_dir(scene.path("outside")).unwrap().count(), 1);
    }
}

#[test]
fn bubblewrap_takes_part() {
    if !has("bwrap") {
        return;
    }
    let scene = furnish(Scene::new());
    let planting = start(&scene, "b", &plant());
    let scene = scene.with(|rules| rules.sandbox = interlock_sandbox::Kind::Bubblewrap);
    let other = start(&scene, "a", "true");
    end(&scene, "b");
    planting.done();
    end(&scene, "a");
    assert_eq!(other.done().broken(), [""; 0]);
    assert_clean(&scene);
}
