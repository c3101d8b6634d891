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

/// A copy of a credential in a place that the program may change.
fn with_fleeting(scene: Scene) -> Scene {
    let folder = scene.work("home");
    std::fs::create_dir(&folder).unwrap();
    std::fs::write(folder.join("auth.json"), crate::scene::SECRET).unwrap();
    scene.with(|rules| rules.fleeting = vec![folder.join("auth.json")])
}

#[test]
fn fleeting_file_is_read_only_and_gone_after_the_program_wherever_it_was_moved() {
    let scene = with_fleeting(Scene::new());
    let mine = scene.path("outside");
    std::fs::write(mine.join("auth.json"), "mine").unwrap();
    let script = format!(
        "stat -c %a home/auth.json; ln home/auth.json linked; mv home moved; ln -s {} home; cat moved/auth.json",
        mine.display()
    );
    let done = scene.run(&script);
    assert_eq!(done.stdout, format!("400\n{}", crate::scene::SECRET), "{}", done.stderr);
    assert!(!scene.work("moved/auth.json").exists());
    assert_eq!(std::fs::read_to_string(scene.work("linked")).unwrap(), "");
    assert_eq!(std::fs::read_to_string(mine.join("auth.json")).unwrap(), "mine");
}

#[test]
fn fleeting_file_is_gone_if_interlock_is_gone() {
    let scene = with_fleeting(Scene::new());
    let mut running = scene.start_order(&scene.order(&["/bin/sh", "-c", "cat home/auth.json; echo; sleep 60"]));
    let mut line = String::new();
    BufReader::new(running.child.stdout.take().unwrap()).read_line(&mut line).unwrap();
    assert_eq!(line.trim(), crate::scene::SECRET);
    drop(running.control);
    running.child.wait().unwrap();
    assert!(!scene.work("home/auth.json").exists());
}
