//! The directory of a run and the workspace stay where they are, whatever programs do with their paths.

use std::{
    fs,
    os::unix::fs::symlink,
    sync::atomic::{AtomicBool, Ordering},
    thread,
    time::Duration,
};

use rustix::fs::{CWD, RenameFlags, renameat_with};

use crate::scene::Scene;

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
