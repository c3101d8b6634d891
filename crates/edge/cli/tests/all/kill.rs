//! `kill -9` at random moments of real runs on a real disk: every run reaches the same end.

use std::time::Duration;

use crate::hardship::{Chance, Scene, text};

/// The number of kills of one run before it may finish.
const KILLS_EACH: usize = 10;

/// The longest time before a process is killed.
const ALIVE_MS_MAX: u64 = 350;

fn kill_until(kills: usize, seed: u64) {
    let (mut chance, mut killed, mut runs) = (Chance(seed), 0, 0);
    while killed < kills {
        let scene = Scene::new();
        killed += torment(&scene, &mut chance);
        let last = scene.go_on().output().unwrap();
        // A run that had ended already cannot be resumed.
        assert!(last.status.success() || text(&last).contains("has ended"), "{}", text(&last));
        scene.check();
        runs += 1;
    }
    println!("{killed} kills in {runs} runs, and every run came to the same end");
}

/// Kills a run's process repeatedly. Returns the number of times that it was still alive.
fn torment(scene: &Scene, chance: &mut Chance) -> usize {
    let mut killed = 0;
    for _ in 0..KILLS_EACH {
        let mut process = scene.go_on().spawn().unwrap();
        std::thread::sleep(Duration::from_millis(5 + chance.below(ALIVE_MS_MAX)));
        if process.try_wait().unwrap().is_some() {
            break;
        }
        process.kill().unwrap();
        process.wait().unwrap();
        killed += 1;
    }
    killed
}

#[test]
fn a_hundred_kills_leave_no_trace() {
    kill_until(100, 1);
}

#[test]
fn nor_do_a_hundred_others() {
    kill_until(100, 2);
}
