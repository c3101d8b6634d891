//! Project files that decide what runs outside the sandbox are unchanged after a program has attacked them.

use std::{
    collections::BTreeMap,
    fs,
    os::unix::fs::{MetadataExt, PermissionsExt, lchown},
    path::{Path, PathBuf},
    process::Command,
};

use crate::scene::{Scene, is_root};

const POLICY: &str = "version = 1\n";

/// Adds a repository with rules for Interlock, workflows, a submodule with a slash in its name, and hooks in the
/// workspace.
fn furnish(scene: Scene) -> Scene {
    let top = scene.rules.workspace.clone();
    assert!(Command::new("git").args(["init", "-q"]).current_dir(&top).status().unwrap().success());
    let files = [
        (".interlock/policy.toml", POLICY),
        (".interlock/machines/coder/prompts/plan.md", "plan"),
        (".github/workflows/ci.yml", "on: push"),
        (".gitmodules", "[submodule \"a/b\"]"),
        (".git/modules/a/b/HEAD", "ref: refs/heads/main"),
        (".git/modules/a/b/config", "[core]"),
        (".git/worktrees/w/config.worktree", "[core]"),
        (".hooks/pre-commit", "true"),
        (".vscode/tasks.json", "{}"),
        (".husky/pre-commit", "true"),
        (".cargo/note", "x"),
        ("src/a.c", "int a;"),
        ("sub/dir/file", "x"),
    ];
    for (name, content) in files {
        fs::create_dir_all(top.join(name).parent().unwrap()).unwrap();
        fs::write(top.join(name), content).unwrap();
    }
    let settings = fs::read_to_string(top.join(".git/config")).unwrap();
    fs::write(top.join(".git/config"), settings + "[core]\n\thooksPath = .hooks\n").unwrap();
    let owner = fs::metadata(&top).unwrap();
    for path in all(&top) {
        lchown(path, Some(owner.uid()), Some(owner.gid())).unwrap();
    }
    scene
}

fn all(top: &Path) -> Vec<PathBuf> {
    let (mut found, mut open) = (vec![top.to_owned()], vec![top.to_owned()]);
    while let Some(folder) = open.pop() {
        for entry in fs::read_dir(&folder).unwrap().map(Result::unwrap) {
            found.push(entry.path());
            open.extend(entry.file_type().unwrap().is_dir().then(|| entry.path()));
        }
    }
    found
}

/// Returns all files that could make another program run something.
fn danger(scene: &Scene) -> BTreeMap<PathBuf, (String, u32)> {
    // Everything that no attack may leave behind: only the names that they use on the way are not dangerous.
    let names = ["elsewhere", "other", "link", "evil", "x", "src"];
    let is_one = |path: &&PathBuf| {
        let inside = path.strip_prefix(&scene.rules.workspace).unwrap();
        !names.iter().any(|name| inside.starts_with(name))
    };
    let describe = |path: &PathBuf| {
        let about = fs::symlink_metadata(path).unwrap();
        let content = match about.is_file() {
            true => fs::read_to_string(path).unwrap_or_else(|error| error.to_string()),
            false => format!("{:?}", about.file_type()),
        };
        (path.clone(), (content, about.permissions().mode()))
    };
    all(&scene.rules.workspace).iter().filter(is_one).map(describe).collect()
}

const ATTACKS: [&str; 38] = [
    "echo evil > .interlock/policy.toml",
    "echo evil > .interlock/judges.toml",
    "echo evil > .interlock/machines/coder/prompts/plan.md",
    "mkdir -p .interlock/machines/new && echo evil > .interlock/machines/new/machine.yaml",
    "rm .interlock/policy.toml; mkfifo .interlock/policy.toml",
    "rm .interlock/policy.toml; ln -s /dev/zero .interlock/policy.toml",
    "rm -rf .interlock",
    "rm -rf .interlock; ln -s ../outside .interlock",
    "mv .interlock elsewhere; mkdir .interlock; echo evil > .interlock/policy.toml; rm -rf elsewhere",
    "ln .interlock/policy.toml other && echo evil >> other",
    "ln .interlock/policy.toml other",
    "ln -s .interlock link && echo evil > link/policy.toml",
    "python3 -c 'import os; f=os.open(\".interlock/policy.toml\", os.O_RDWR); os.ftruncate(f, 0)'",
    "chmod 0 .interlock/policy.toml; chmod 0 .interlock",
    "mkdir sub/dir/.interlock && echo evil > sub/dir/.interlock/policy.toml",
    "echo evil > .github/workflows/more.yml",
    "mv .github x; mkdir -p .github/workflows; echo evil > .github/workflows/ci.yml; rm -r x",
    "rm -r .github; mkdir -p evil/workflows; echo evil > evil/workflows/ci.yml; ln -s evil .github",
    "echo evil > .gitlab-ci.yml",
    "mkdir evil; echo evil > evil/config.yml; ln -s evil .circleci",
    "echo evil > Jenkinsfile",
    "echo evil >> .gitmodules",
    "mkdir evil; echo ../evil > .git/commondir",
    "echo evil > .git/modules/a/b/config",
    "echo evil > .git/worktrees/w/config.worktree",
    "echo evil > .hooks/pre-commit",
    "echo evil > .vscode/tasks.json",
    "mv .vscode x; mkdir .vscode; echo evil > .vscode/tasks.json; rm -r x",
    "echo evil > .envrc",
    "echo evil > sub/dir/.envrc",
    "mkdir evil; echo evil > evil/settings.json; ln -s evil .claude",
    "echo evil > .mcp.json",
    "echo evil > .cargo/config.toml",
    "echo evil > .pre-commit-config.yaml",
    "echo evil >> .husky/pre-commit",
    "echo evil > .husky/post-checkout",
    "echo evil > .nvim.lua",
    "echo evil > .npmrc",
];

#[test]
fn changed_project_files_are_restored() {
    for scene in Scene::for_everybody() {
        let scene = furnish(scene);
        let before = danger(&scene);
        for attack in ATTACKS {
            let mut order = scene.order(&[
                "/bin/sh",
                "-c",
                &format!("cd {}; rm -rf other link evil elsewhere x; {attack}", scene.rules.workspace.display()),
            ]);
            order.folder = scene.work("sub/dir");
            let done = scene.start_order(&order).done();
            assert!(done.broken().iter().any(|rule| rule.ends_with(".protected")), "{attack}: {done:#?}");
            assert_eq!(danger(&scene), before, "{attack}: {done:#?}");
            assert_eq!(fs::read_dir(scene.path("outside")).unwrap().count(), 1, "{attack}");
        }
    }
}

/// Protected files that did not exist before do not exist afterwards.
#[test]
fn created_project_files_are_removed() {
    let attacks = [
        "mkdir .interlock; echo evil > .interlock/policy.toml",
        "ln -s ../outside .interlock",
        "mkdir -p .github/workflows; echo evil > .github/workflows/ci.yml",
        "mkdir -p evil/workflows; echo evil > evil/workflows/ci.yml; ln -s evil .github",
        "echo evil > .gitmodules",
    ];
    for attack in attacks {
        let scene = Scene::new();
        let done = scene.run(attack);
        assert_eq!(done.broken(), ["project.protected"], "{attack}: {done:#?}");
        for name in [".interlock", ".github/workflows", ".gitmodules"] {
            assert!(!scene.work(name).exists() && !scene.work(name).is_symlink(), "{attack}: {name}");
        }
    }
}

#[test]
fn directories_without_access_permission_hide_no_change() {
    for scene in Scene::for_everybody() {
        let scene = furnish(scene);
        let before = danger(&scene);
        let done =
            scene.run("echo evil > .git/config; echo evil > .interlock/policy.toml; chmod 0 .git .interlock .github");
        assert_eq!(danger(&scene), before, "{done:#?}");
        assert!(done.broken().len() >= 2, "{done:#?}");
    }
}

#[test]
fn a_named_path_can_be_changed_but_not_its_neighbours() {
    let scene = furnish(Scene::new());
    let allowed = scene.work(".github/workflows/ci.yml");
    let scene = scene.with(|rules| rules.write.push(allowed.clone()));
    scene.run("echo changed > .github/workflows/ci.yml").is_well();
    assert_eq!(fs::read_to_string(&allowed).unwrap(), "changed\n");
    let done = scene.run("echo again > .github/workflows/ci.yml; echo evil > .github/workflows/evil.yml");
    assert_eq!(done.broken(), ["project.protected"], "{done:#?}");
    assert_eq!(fs::read_to_string(&allowed).unwrap(), "again\n");
    assert!(!scene.work(".github/workflows/evil.yml").exists());
    let folder = scene.work(".github/workflows");
    let scene = scene.with(|rules| rules.write.push(folder));
    scene.run("echo new > .github/workflows/new.yml").is_well();
    assert!(scene.work(".github/workflows/new.yml").exists());
}

#[test]
fn ordinary_work_is_no_breach() {
    for scene in Scene::for_everybody() {
        let scene = furnish(scene);
        scene.run("cat .interlock/policy.toml .github/workflows/ci.yml > copy; echo x > .github/README; mkdir out; mv src out/").is_well();
    }
}

#[test]
fn root_can_work_on_the_workspace_of_another_user() {
    if !is_root() {
        return;
    }
    let scene = Scene::new();
    lchown(&scene.rules.workspace, Some(65_534), Some(65_534)).unwrap();
    let done = scene.run("echo x > new && cat new");
    done.is_well();
    assert!(done.enforced().missing.iter().any(|said| said.contains("CAP_DAC_OVERRIDE")), "{done:#?}");
}
