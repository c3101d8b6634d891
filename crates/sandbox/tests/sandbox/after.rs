//! The command that stores a program's changes runs if Interlock is gone, and only then.

use std::io::{BufRead as _, BufReader, Write as _};

use interlock_sandbox::{After, KEPT, LaunchOrder};

use crate::scene::{Scene, until};

/// Builds an order for a script, with a command that creates a file when it runs.
fn order(scene: &Scene, script: &str) -> LaunchOrder {
    let file = scene.path("kept").display().to_string();
    let words = ["/bin/sh", "-c", "ls \"$0\" > \"$1\".new; mv \"$1\".new \"$1\""];
    let words = words.map(Into::into).into_iter().chain([scene.work("").into_os_string(), file.into()]);
    let after = After { words: words.collect(), env: vec![("PATH".into(), "/usr/bin:/bin".into())] };
    LaunchOrder { after: Some(after), ..scene.order(&["/bin/sh", "-c", script]) }
}

#[test]
fn the_command_runs_after_the_program_if_interlock_is_gone() {
    let scene = Scene::new();
    let mut running = scene.start_order(&order(&scene, "echo x > made; echo begun; sleep 60"));
    let mut line = String::new();
    BufReader::new(running.child.stdout.take().unwrap()).read_line(&mut line).unwrap();
    drop(running.control);
    let seen = until(|| std::fs::read_to_string(scene.path("kept")).ok());
    assert!(seen.contains("made"), "{seen}");
    running.child.wait().unwrap();
}

#[test]
fn the_command_runs_if_interlock_ends_before_it_confirms() {
    let scene = Scene::new();
    let mut running = scene.start_order(&order(&scene, "echo x > made"));
    // The reports end although the supervisor still waits for the confirmation.
    assert!(BufReader::new(&running.control).lines().count() >= 2);
    assert!(!scene.path("kept").exists());
    drop(running.control);
    running.child.wait().unwrap();
    assert!(scene.path("kept").exists());
}

#[test]
fn the_command_does_not_run_if_interlock_has_stored_the_changes() {
    let scene = Scene::new();
    let mut running = scene.start_order(&order(&scene, "echo x > made"));
    assert!(BufReader::new(&running.control).lines().count() >= 2);
    running.control.write_all(KEPT).unwrap();
    running.child.wait().unwrap();
    assert!(!scene.path("kept").exists());
}
