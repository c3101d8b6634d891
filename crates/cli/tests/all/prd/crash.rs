//! `kill -9` of the process that moves the run, after each of its records.

use std::{
    process::Stdio,
    time::{Duration, Instant},
};

use super::scene::Scene;

const PRD: &str = "# Sums\n\n- [ ] T-001: [P0] Add numbers (a.txt)\n  * Verify: it works\n";

/// The most records that one command of this run writes.
const RECORDS_MAX: u64 = 40;

/// Starts a command and kills it as soon as the run has `records` more records. Returns false if it ended before.
fn killed(scene: &Scene, arguments: &str, records: u64) -> bool {
    let seq = || scene.json("show p1")["seq"].as_u64().unwrap();
    let goal = seq() + records;
    let mut child = scene.session.command(arguments).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    let deadline = Instant::now() + Duration::from_secs(60);
    loop {
        if child.try_wait().unwrap().is_some() {
            return false;
        }
        assert!(Instant::now() < deadline, "{arguments} does not end");
        if seq() >= goal {
            child.kill().unwrap();
            child.wait().unwrap();
            return true;
        }
    }
}

/// Resumes the run until it waits for a person.
fn resumed(scene: &Scene) {
    let resumed = scene.run("resume p1");
    assert!(matches!(resumed.code, Some(4 | 2)), "{resumed}");
}

#[test]
fn a_kill_after_any_record_repeats_and_loses_nothing() {
    let mut kills = 0;
    for records in 1..RECORDS_MAX {
        let scene = Scene::new(&[("Makefile", "test:\n\tgrep -q done a.txt\n"), ("a.txt", "")]);
        scene.planned(PRD);
        let at_go = killed(&scene, "send p1 go", records);
        resumed(&scene);
        assert_eq!(scene.json("show p1")["place"], "IMPLEMENT_TASK", "{}", scene.run("trace p1").stdout);
        scene.write("a.txt", "done\n");
        let at_end = killed(&scene, "send p1 code_changed", records);
        resumed(&scene);
        assert_eq!(scene.json("show p1")["place"], "READY", "{records}: {}", scene.run("trace p1").stdout);
        let log = scene.log();
        let count = |word: &str| log.iter().filter(|subject| subject.starts_with(word)).count();
        assert_eq!((count("feat: [T-001]"), count("docs: [PRD]")), (1, 1), "{records}: {log:?}");
        assert!(scene.read("docs/prd/archive/sums.md").contains("- Status: DONE"));
        scene.is_verified();
        kills += usize::from(at_go) + usize::from(at_end);
        if !at_go && !at_end {
            break;
        }
    }
    assert!(kills > 4, "{kills} kills");
}
