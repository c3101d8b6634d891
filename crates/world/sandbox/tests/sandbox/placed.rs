//! The directory of a run, the workspace and the store stay where they are, whatever programs do with their paths.

use std::{
    fs,
    os::unix::fs::symlink,
    sync::atomic::{AtomicBool, Ordering},
    thread,
    time::Duration,
};

use interlock_sandbox::Kind;
use rustix::fs::{CWD, RenameFlags, renameat_with};

use crate::scene::{Scene, has};

/// A scene with a run in a directory below the root of the workspace.
fn furnish(scene: Scene) -> Scene {
    for folder in ["sub/deep", "other"] {
        fs::create_dir_all(scene.work(folder)).unwrap();
    }
    fs::write(scene.work("sub/deep/file"), "as it was\n").unwrap();
    let folder = scene.work("sub/deep");
    if scene.is_nobody() {
        let owner = format!("{0}:{0}", crate::scene::NOBODY);
        let mut chown = std::process::Command::new("chown");
        assert!(chown.args(["-R", &owner]).arg(&scene.rules.workspace).status().unwrap().success());
    }
    scene.with(|rules| rules.folder = folder)
}

#[test]
fn a_link_in_place_of_the_directory_of_the_run_is_replaced_by_it() {
    let attacks = [
        ("mv sub s2; ln -s ../outside sub", "sub was replaced and put back"),
        ("mv sub other; ln -s ../outside sub", "sub was replaced and put back"),
        ("mv sub/deep d; ln -s ../../outside sub/deep", "sub/deep was replaced and put back"),
        ("mv sub s2; mv s2/deep d; ln -s ../outside sub; ln -s ../../outside s2/deep", "sub was replaced and put back"),
        ("mv sub $TMPDIR/s; ln -s ../outside sub", "it is an empty directory now"),
        ("rm -r sub; ln -s ../outside sub", "it is an empty directory now"),
    ];
    for (attack, said) in attacks {
        for scene in Scene::for_everybody().into_iter().map(furnish) {
            let done = scene.run(attack);
            let breaches = &done.ended().breaches;
            assert!(breaches.iter().any(|breach| breach.said.contains(said)), "{attack}: {done:#?}");
            assert!(!scene.work("sub").is_symlink() && !scene.work("sub/deep").is_symlink(), "{attack}");
            let is_kept = said.ends_with("put back");
            let text = fs::read_to_string(scene.work("sub/deep/file"));
            assert!(!is_kept || text.unwrap() == "as it was\n", "{attack}");
            assert_eq!(fs::read_dir(scene.path("outside")).unwrap().count(), 1, "{attack}");
        }
    }
}

#[test]
fn the_project_files_of_the_run_are_protected_wherever_a_program_starts() {
    let scene = furnish(Scene::new());
    for attack in ["mkdir sub/.interlock; echo x > sub/.interlock/policy.toml", "echo x > sub/deep/.envrc"] {
        let done = scene.run(attack);
        assert_eq!(done.broken(), ["project.protected"], "{attack}: {done:#?}");
    }
    assert!(!scene.work("sub/.interlock").exists() && !scene.work("sub/deep/.envrc").exists());
}

#[test]
fn a_directory_that_is_made_anew_is_no_breach() {
    let scene = furnish(Scene::new());
    scene.run("rm -r sub; mkdir -p sub/deep; echo new > sub/deep/file").is_well();
    assert_eq!(fs::read_to_string(scene.work("sub/deep/file")).unwrap(), "new\n");
    scene.run("mv sub s2").is_well();
}

/// Another program exchanges the workspace for a link while programs start. Whatever it shows at a moment, no program gets
/// access to the place that the link leads to.
#[test]
fn a_workspace_that_is_exchanged_for_a_link_gives_no_access() {
    for scene in [Scene::new(), Scene::new().plain()] {
        let (work, link) = (scene.rules.workspace.clone(), scene.path("link"));
        symlink(scene.path("outside"), &link).unwrap();
        let done = AtomicBool::new(false);
        thread::scope(|scope| {
            scope.spawn(|| {
                while !done.load(Ordering::Relaxed) {
                    let _ = renameat_with(CWD, &work, CWD, &link, RenameFlags::EXCHANGE);
                    thread::sleep(Duration::from_micros(300));
                }
            });
            let outside = scene.path("outside").display().to_string();
            for _ in 0..20 {
                scene.run(&format!("echo x > {outside}/new; echo x > new; echo x > {outside}/file"));
            }
            done.store(true, Ordering::Relaxed);
        });
        assert_eq!(fs::read_to_string(scene.path("outside/file")).unwrap(), "as it was\n");
        assert!(!scene.path("outside/new").exists());
    }
}

/// The store with the records of runs, two directories below the root of the workspace.
fn with_store(scene: Scene) -> Scene {
    fs::create_dir_all(scene.work("keep/store/kernels/k")).unwrap();
    fs::write(scene.work("keep/store/runs.db"), "records\n").unwrap();
    let (store, kernel) = (scene.work("keep/store"), scene.work("keep/store/kernels/k"));
    scene.with(|rules| {
        rules.store = Some(store);
        rules.write.push(kernel);
    })
}

const ON_THE_STORE: &str = "cat keep/store/runs.db; echo x > keep/store/runs.db; echo x > keep/store/new; rm -rf keep/store/runs.db; \
                            mv keep k2; mv keep/store s2; echo mine > keep/store/kernels/k/file; echo x > top; cat top";

#[test]
fn a_store_in_the_workspace_is_hidden() {
    let mut scenes = vec![with_store(Scene::new())];
    if has("bwrap") {
        scenes.push(with_store(Scene::new()).with(|rules| rules.sandbox = Kind::Bubblewrap));
    }
    for scene in scenes {
        let done = scene.run(ON_THE_STORE);
        assert_eq!(done.stdout, "x\n", "{done:#?}");
        assert_eq!(fs::read_to_string(scene.work("keep/store/runs.db")).unwrap(), "records\n", "{done:#?}");
        assert_eq!(fs::read_to_string(scene.work("keep/store/kernels/k/file")).unwrap(), "mine\n");
        assert_eq!(fs::read_dir(scene.work("keep/store")).unwrap().count(), 2);
        // `mv` copies what it cannot rename.
        assert!(!scene.work("k2/store/runs.db").exists() && !scene.work("s2/runs.db").exists());
    }
}

#[test]
fn a_program_does_not_start_if_a_store_in_the_workspace_cannot_be_hidden() {
    let scene = with_store(Scene::new().plain());
    let done = scene.run(ON_THE_STORE);
    let (why, is_refusal) = done.not_started.clone().unwrap();
    assert!(is_refusal && why.contains("Set INTERLOCK_HOME to a directory outside of it"), "{why}");
    assert_eq!(fs::read_to_string(scene.work("keep/store/runs.db")).unwrap(), "records\n");
}
