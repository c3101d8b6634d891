//! `brain` with each real agent: from a failing test to a verified commit.

use interlock_testkit_activity::{model_server::Step, real_agents::RealAgent};

use super::scene::Scene;

const FILES: [(&str, &str); 2] =
    [("count.sh", "echo 0\n"), ("tests/run.sh", "test \"$(sh count.sh a b)\" = 2 || { echo it is not 2; exit 1; }\n")];

/// The first round is wrong. The second one is told the output of the failed test, and is right.
fn commits(agent: RealAgent) {
    let first = vec![Step::shell("echo 'echo 7' > count.sh"), Step::say("Done: it counts.")];
    let second = vec![Step::shell("echo 'echo $#' > count.sh"), Step::say("Done: it counts now.")];
    let script = vec![("Count the arguments", first), ("ended with exit code 1", second)];
    let Some(scene) = Scene::new(agent, &FILES, script) else { return };
    let done = scene.run("run brain --set 'task=Count the arguments' --set 'test=sh tests/run.sh' --name r1");
    assert!(done.code == Some(0) && done.stdout.contains("r1  succeeded  COMPLETED"), "{done}");
    assert_eq!(scene.git("show interlock/r1:count.sh"), "echo $#");
    assert_eq!(scene.git("log --format=%s interlock/r1"), "Count the arguments\nfirst");
    assert_eq!(scene.git("diff --name-only main interlock/r1"), "count.sh");
    let rounds = scene.json("sql 'select ai_summary from brain_rounds order by round_number'");
    let rounds: Vec<&str> = rounds.as_array().unwrap().iter().filter_map(|row| row["ai_summary"].as_str()).collect();
    assert_eq!(rounds, ["Done: it counts.", "Done: it counts now."]);
    let trace = scene.run("trace r1").stdout;
    assert!(trace.contains("test_fail") && trace.contains("exit code 0 on tree"), "{trace}");
    let verified = scene.run("verify r1");
    assert_eq!(verified.code, Some(0), "{verified}");
}

#[test]
fn goose_takes_a_failing_test_to_a_verified_commit() {
    commits(RealAgent::Goose);
}

#[test]
fn claude_takes_a_failing_test_to_a_verified_commit() {
    commits(RealAgent::Claude);
}

#[test]
fn codex_takes_a_failing_test_to_a_verified_commit() {
    commits(RealAgent::Codex);
}

#[test]
fn gemini_takes_a_failing_test_to_a_verified_commit() {
    commits(RealAgent::Gemini);
}

#[test]
fn qwen_takes_a_failing_test_to_a_verified_commit() {
    commits(RealAgent::Qwen);
}

#[test]
fn opencode_takes_a_failing_test_to_a_verified_commit() {
    commits(RealAgent::Opencode);
}

/// aider has no tools: its model writes files.
#[test]
fn aider_takes_a_failing_test_to_a_verified_commit() {
    let file = |line: &str| vec![Step::say(&format!("count.sh\n```\n{line}\n```\n"))];
    let script = vec![("Count the arguments", file("echo 7")), ("ended with exit code 1", file("echo $#"))];
    let Some(scene) = Scene::new(RealAgent::Aider, &FILES, script) else { return };
    let done = scene.run("run brain --set 'task=Count the arguments' --set 'test=sh tests/run.sh' --name r1");
    assert!(done.code == Some(0) && done.stdout.contains("r1  succeeded  COMPLETED"), "{done}");
    assert_eq!(scene.git("show interlock/r1:count.sh"), "echo $#");
    assert_eq!(scene.git("diff --name-only main interlock/r1"), "count.sh");
    let spent = scene.json("show r1")["spent"]["tokens"].as_u64();
    assert!(spent >= Some(240), "{spent:?}");
}
