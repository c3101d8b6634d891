//! The example `fix-until-green` with goose: from a failing test to a passing one, and through a `kill -9`.

use std::{fs, path::Path, process::Stdio};

use interlock_testkit_activity::{model_server::Step, real_agents::RealAgent};

use super::scene::Scene;

fn scene(script: Vec<(&str, Vec<Step>)>) -> Option<Scene> {
    let makefile = "test:\n\t@grep -q hello greeting.txt && echo 1 test passed\n";
    Scene::new(RealAgent::Goose, &[("Makefile", makefile)], script)
}

fn example() -> String {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../examples/fix-until-green").display().to_string()
}

#[test]
fn agent_works_until_the_test_passes() {
    let steps = vec![Step::shell("echo hello > greeting.txt"), Step::say("Done: the greeting is there.")];
    let Some(scene) = scene(vec![("greet the world", steps)]) else { return };
    let listed = scene.run("agents");
    assert!(listed.code == Some(0) && listed.stdout.contains("* it  acp"), "{listed}");
    let done = scene.run(&format!("run {} --set 'goal=greet the world' --name r1 --agent it", example()));
    assert!(done.code == Some(0) && done.stdout.contains("r1  succeeded  fixed"), "{done}");
    let trace = scene.run("trace r1");
    assert!(trace.stdout.contains("turn_ended"), "{trace}");
    let wrong = scene.run(&format!("run {} --set goal=x --agent itt", example()));
    assert!(wrong.code == Some(2) && wrong.stderr.contains("did you mean `it`?"), "{wrong}");
}

#[test]
fn killed_turn_is_undone_and_its_agent_is_gone() {
    let steps = vec![Step::shell("echo half > half.txt; sleep 200"), Step::say("Done.")];
    let Some(scene) = scene(vec![("take long", steps)]) else { return };
    let mut process = scene
        .session
        .command(&format!("run {} --set 'goal=take long' --name r1", example()))
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    scene.wait_for("half.txt");
    process.kill().unwrap();
    process.wait().unwrap();
    let resumed = scene.run("resume r1");
    assert!(resumed.code == Some(1) && resumed.stdout.contains("r1  failed"), "{resumed}");
    assert!(!scene.path("half.txt").exists(), "{resumed}");
    let trace = scene.run("trace r1 --json").stdout;
    assert!(trace.contains("interrupted") || trace.contains("INTERRUPTED"), "{trace}");
    let work = scene.folder().canonicalize().unwrap();
    let here = fs::read_dir("/proc")
        .unwrap()
        .flatten()
        .filter(|entry| fs::read_link(entry.path().join("cwd")).is_ok_and(|cwd| cwd.starts_with(&work)));
    assert_eq!(here.count(), 0, "a process of the agent is left");
}
