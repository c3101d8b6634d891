//! `kill -9` of the process that moves the run, after each of its records and at random moments.

use std::{
    process::Stdio,
    time::{Duration, Instant},
};

use super::scene::{self, Scene};

const PRD: &str = "# Sums\n\n- [ ] T-001: [P0] Add numbers (add.sh)\n  * Verify: it works\n";

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
        let scene = Scene::new(&[("Makefile", "test:\n\tsh add.sh 1 2 | grep -qx 3\n"), ("add.sh", "")]);
        scene.planned(PRD);
        let at_go = killed(&scene, "send p1 go", records);
        resumed(&scene);
        assert_eq!(scene.json("show p1")["place"], "IMPLEMENT_TASK", "{}", scene.run("trace p1").stdout);
        scene.write("add.sh", "echo $(($1 + $2))\n");
        let at_end = killed(&scene, "send p1 code_changed", records);
        resumed(&scene);
        assert_eq!(scene.json("show p1")["place"], "READY", "{records}: {}", scene.run("trace p1").stdout);
        let log = scene.log();
        let count = |word: &str| log.iter().filter(|subject| subject.starts_with(word)).count();
        assert_eq!((count("feat: [T-001]"), count("docs: [PRD]")), (1, 1), "{records}: {log:?}");
        assert_eq!(scene.git("tag").lines().count(), 1, "{records}: the checkpoint is tagged once");
        assert!(scene.read("docs/prd/archive/sums.md").contains("- Status: DONE"));
        scene.is_verified();
        kills += usize::from(at_go) + usize::from(at_end);
        if !at_go && !at_end {
            break;
        }
    }
    assert!(kills > 4, "{kills} kills");
}

/// An agent that does the three tasks.
const AGENT: &str = "read -r prompt
case \"$prompt\" in
*T-001*) echo 1 >> a.txt ;;
*T-002*) echo 2 >> a.txt ;;
*T-003*) echo 3 >> a.txt ;;
esac
echo '{\"type\":\"end\",\"reason\":\"done\"}'
";

/// The number of kills: a few, or as many as this variable says.
const KILLS: (&str, u32) = ("INTERLOCK_KILLS", 6);

/// The most kills of one run: the machine repeats an interrupted step of a task twice, and then asks a person.
const KILLS_PER_RUN: u32 = 2;

/// The variable with the seed of the random moments; the time if it is not set.
const SEED: &str = "INTERLOCK_SEED";

/// A small random number generator, so that a seed repeats the moments.
struct Moments(u64);

impl Moments {
    fn next_ms(&mut self, below: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % below
    }
}

/// Runs a command and kills it after a time. Returns false if it ended before.
fn killed_after(scene: &Scene, arguments: &str, ms: u64) -> bool {
    let mut child = scene.session.command(arguments).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    let moment = Instant::now() + Duration::from_millis(ms);
    while Instant::now() < moment {
        if child.try_wait().unwrap().is_some() {
            return false;
        }
        std::thread::yield_now();
    }
    child.kill().unwrap();
    child.wait().unwrap();
    true
}

/// Returns the command that continues the run, or `None` if all tasks are done.
fn next(scene: &Scene) -> Option<&'static str> {
    let shown = scene.json("show p1");
    match shown["place"].as_str().unwrap() {
        "CONFIRMING" => Some("send p1 go"),
        "READY" if shown["context"]["history"].as_array().unwrap().is_empty() => panic!("{shown}"),
        "READY" => None,
        // An agent that is interrupted three times leaves the task to a person.
        "BLOCKED" => Some("send p1 HUMAN_INTERVENTION --data '{\"guidance\": \"go on\"}'"),
        _ => Some("resume p1"),
    }
}

#[test]
fn kills_at_random_moments_repeat_and_lose_nothing() {
    let time = std::time::SystemTime::UNIX_EPOCH.elapsed().unwrap().as_nanos();
    let seed = std::env::var(SEED).ok().and_then(|seed| seed.parse().ok()).unwrap_or(time as u64);
    let wanted = std::env::var(KILLS.0).ok().and_then(|kills| kills.parse().ok()).unwrap_or(KILLS.1);
    println!("{SEED}={seed}");
    let (mut moments, mut kills) = (Moments(seed), 0);
    while kills < wanted {
        let scene = Scene::new(&[("Makefile", "test:\n\tgrep -q . a.txt\n"), ("a.txt", "0\n")]);
        scene.write("../agent.sh", AGENT);
        let path = scene.path().join("../agent.sh");
        scene.write(
            "../home/agents.toml",
            &format!("[agents.it]\ndriver = \"command\"\ncommand = [\"sh\", {path:?}]\n"),
        );
        scene.planned(&scene::PRD.replace("`grep -q subtract calc.py`", "the tests pass").replace("calc.py", "a.txt"));
        let begun = kills;
        for _ in 0..100 {
            let Some(command) = next(&scene) else { break };
            match kills < wanted && kills - begun < KILLS_PER_RUN {
                true => kills += u32::from(killed_after(&scene, command, moments.next_ms(900))),
                false => drop(scene.run(command)),
            }
        }
        assert_eq!(next(&scene), None, "{SEED}={seed}: {}", scene.run("trace p1").stdout);
        let log = scene.log();
        assert_eq!(log.len(), 6, "{SEED}={seed}: every commit is made once: {log:?}");
        let trace = scene.run("trace p1").stdout;
        assert_eq!(scene.read("a.txt"), "0\n1\n2\n3\n", "{SEED}={seed}: every edit is made once: {trace}");
        assert_eq!(scene.git("tag").lines().count(), 1, "{SEED}={seed}");
        scene.is_verified();
    }
}
