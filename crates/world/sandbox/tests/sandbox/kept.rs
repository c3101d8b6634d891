//! A program that must not change the workspace does not, whatever it tries, and its caches stay.

use std::{fs, os::unix::fs::lchown, process::Command};

use interlock_sandbox::{Kind, WorkspaceAccess};

use crate::scene::{Scene, has};

/// A repository with a tracked file, a cache that is ignored, and a directory that only claims to be one.
fn furnished(scene: Scene) -> Scene {
    let top = scene.rules.workspace.clone();
    let tag = "Signature: 8a477f597d28d172789f06886806bc55\n";
    let files = [
        ("src/a", "as it was\n"),
        ("target/CACHEDIR.TAG", tag),
        ("src/CACHEDIR.TAG", tag),
        (".gitignore", "target\n"),
        ("dist/x", "old\n"),
    ];
    for (name, content) in files {
        fs::create_dir_all(top.join(name).parent().unwrap()).unwrap();
        fs::write(top.join(name), content).unwrap();
    }
    for arguments in [&["init", "-q"][..], &["add", "-A"]] {
        assert!(
            Command::new("git")
                .args(["-c", "safe.directory=*"])
                .args(arguments)
                .current_dir(&top)
                .status()
                .unwrap()
                .success()
        );
    }
    if scene.is_nobody() {
        let all = Command::new("chown").args(["-R", "65534:65534"]).arg(&top).status().unwrap();
        assert!(all.success());
        lchown(&top, Some(65_534), Some(65_534)).unwrap();
    }
    scene.with(|rules| rules.keeps_workspace = true)
}

#[test]
fn nothing_in_a_workspace_that_is_only_read_is_changed_or_lost() {
    for scene in Scene::for_everybody().into_iter().map(furnished) {
        let scene = scene.with(|rules| rules.write.push(rules.workspace.join("dist")));
        let index = fs::read(scene.work(".git/index")).unwrap();
        let script = "echo changed > src/a; rm -f src/a; echo new > new; mkdir -p build && echo x > build/y; rm -rf .git; \
                      mv target moved; echo built > target/product && echo made > dist/x && cat src/a; exit 0";
        let done = scene.run(script);
        assert_eq!(done.ended().code, Some(0), "{done:#?}");
        assert!(done.ended().breaches.is_empty(), "{done:#?}");
        let read = |name: &str| fs::read_to_string(scene.work(name)).ok();
        assert_eq!(read("src/a").as_deref(), Some("as it was\n"), "{done:#?}");
        assert_eq!((read("new"), read("build/y")), (None, None));
        assert_eq!(fs::read(scene.work(".git/index")).unwrap(), index);
        assert_eq!(read("target/product").as_deref(), Some("built\n"), "{done:#?}");
        assert_eq!(read("dist/x").as_deref(), Some("made\n"), "{done:#?}");
        let enforced = done.enforced();
        let expected = match enforced.namespaces.is_empty() {
            true => WorkspaceAccess::ReadOnly,
            false => WorkspaceAccess::Private,
        };
        assert_eq!(enforced.workspace, expected, "{enforced:#?}");
        assert_eq!(scene.left_behind(), 0);
    }
}

#[test]
fn with_namespaces_a_check_can_write_its_products() {
    let scene = furnished(Scene::new());
    if scene.run("true").enforced().workspace != WorkspaceAccess::Private {
        return;
    }
    let done =
        scene.run("mkdir build && cp src/a build/a && echo more >> build/a && cat build/a && git status --short");
    done.is_well();
    assert!(done.stdout.starts_with("as it was\nmore\n"), "{done:#?}");
    assert!(!scene.work("build").exists());
}

#[test]
fn with_bubblewrap_a_workspace_that_is_only_read_cannot_be_changed() {
    let scene = furnished(Scene::new()).with(|rules| rules.sandbox = Kind::Bubblewrap);
    if has("bwrap") {
        scene.run("echo changed > src/a; rm -f src/a; true");
        assert_eq!(fs::read_to_string(scene.work("src/a")).unwrap(), "as it was\n");
    }
}
