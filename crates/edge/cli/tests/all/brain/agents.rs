//! A coding agent in the session: a script that speaks the protocol of the driver `command`.

use interlock_testkit_activity::model_server::{Dialect, ModelServer};
use serde_json::json;

use super::scene::{RIGHT, Scene, until};

/// The beginning of an agent: reads the prompt and counts the rounds.
const ROUND: &str = "read -r prompt\nn=$(cat \"$HOME/n\" 2>/dev/null || echo 0); n=$((n + 1)); echo $n > \"$HOME/n\"\n";

/// The end of an agent's turn.
const END: &str = "echo '{\"type\":\"end\",\"reason\":\"done\"}'\n";

pub(super) fn says(text: &str) -> String {
    format!("echo '{}'\n", json!({ "type": "message", "id": "m", "text": text }))
}

/// Makes a scene whose agent is this script, and starts a run that needs no person.
pub(super) fn scene(script: &str) -> Scene {
    let scene = Scene::new();
    let agent = scene.folder().join("../agent.sh");
    scene.write("../agent.sh", &format!("{ROUND}{script}{END}"));
    let settings = format!("[agents.script]\ndriver = \"command\"\ncommand = [\"sh\", \"{}\"]\n", agent.display());
    scene.write("../home/agents.toml", &settings);
    let input = json!({ "task": "Count the arguments", "test": "sh tests/run.sh" });
    scene.write("../input.json", &input.to_string());
    scene
}

#[test]
fn agent_takes_a_failing_test_to_a_commit() {
    let edits = "if [ $n = 1 ]; then echo 'echo 7' > count.sh; else echo 'echo $#' > count.sh; fi\n";
    let scene = scene(&format!("{edits}{}", says("I counted them.")));
    let done = scene.run("run brain --input ../input.json --name b1");
    assert_eq!(done.code, Some(0), "{done}");
    assert_eq!(scene.git(&["show", "interlock/b1:count.sh"]), RIGHT.trim_end());
    let rounds = scene.json("sql 'select count(*) as n from brain_rounds'");
    assert_eq!(rounds[0]["n"], json!(2));
}

#[test]
fn question_of_the_agent_is_answered() {
    let asks =
        format!("if [ $n = 1 ]; then {}else echo 'echo $#' > count.sh; fi\n", says("Should I use $# or a loop?"));
    let scene = scene(&asks);
    let done = scene.run("run brain --input ../input.json --name b1");
    assert_eq!(done.code, Some(0), "{done}");
    assert!(done.stderr.contains("answered for the user"), "{done}");
}

#[test]
fn agent_that_only_claims_success_is_sent_back_five_times() {
    let scene = scene(&says("All tests pass. Done."));
    let done = scene.run("run brain --input ../input.json --name b1");
    assert_eq!(done.code, Some(1), "{done}");
    assert!(!scene.has_branch());
    assert_eq!(scene.context("warnings")[0], json!("review_limit"));
}

#[test]
fn agent_without_a_model_waits_for_the_user() {
    let scene = scene("echo '{\"type\":\"end\",\"reason\":\"model_unavailable\",\"text\":\"no answer\"}'\nexit 0\n");
    let waiting = scene.run("run brain --input ../input.json --name b1");
    assert!(waiting.code == Some(4) && waiting.stdout.contains("AWAITING_USER"), "{waiting}");
    assert_eq!(scene.context("asked"), json!("MODEL_UNAVAILABLE: no answer"));
}

#[test]
fn dirty_checkout_is_left_alone_and_the_run_gets_a_worktree() {
    let scene = scene(&format!("echo 'echo $#' > count.sh\n{}", says("I counted them.")));
    scene.write("count.sh", "echo mine\n");
    let done = scene.run("run brain --input ../input.json --name b1");
    assert_eq!(done.code, Some(0), "{done}");
    assert!(done.stderr.contains("on the branch interlock/b1"), "{done}");
    assert_eq!(scene.git(&["show", "interlock/b1:count.sh"]), RIGHT.trim_end());
    assert_eq!(scene.git(&["status", "--short"]), " M count.sh");
    assert_eq!(std::fs::read_to_string(scene.folder().join("count.sh")).unwrap(), "echo mine\n");
}

#[test]
fn agent_is_remembered_before_its_first_prompt() {
    let scene = scene("echo 'echo $#' > count.sh\n");
    let more = std::fs::read_to_string(scene.folder().join("../home/agents.toml")).unwrap();
    let other = "[agents.other]\ndriver = \"command\"\ncommand = [\"false\"]\n[default]\nagent = \"other\"\n";
    scene.write("../home/agents.toml", &format!("{more}{other}"));
    let mut child = scene.session.command("run brain --input ../input.json --name b1 --agent script").spawn().unwrap();
    // The run is killed as soon as it exists, most often before its first prompt.
    until("the run", || scene.folder().join("../home/agents/b1.json").exists() && scene.run("show b1").code == Some(0));
    child.kill().unwrap();
    child.wait().unwrap();
    scene.run("resume b1");
    let trace = scene.run("trace b1 --json").stdout;
    assert!(trace.contains("\"agent\":\"script\"") && !trace.contains("\"agent\":\"other\""), "{trace}");
}

#[test]
fn review_by_the_agents_own_model_sees_the_map_and_is_noted() {
    let model = json!({ "type": "model", "name": "tiny" });
    let scene = scene(&format!("echo '{model}'\necho 'echo $#' > count.sh\n{}", says("I counted them.")));
    let verdict = json!({ "reason": "it counts", "evidence_refs": ["task"], "confidence": 1, "signal": "no_issue", "data": { "reason": "it counts" } });
    let server = ModelServer::saying(vec![Dialect::Chat.says(&verdict.to_string())]);
    let judge = format!("[judges.near]\nprovider = \"openai-chat\"\nbase_url = \"{}\"\nmodel = \"tiny\"\n", server.url);
    scene.write(
        "../home/judges.toml",
        &format!("{judge}[chains]\n\"judge.review\" = [\"near\"]\ndefault = [\"rules\"]\n"),
    );
    scene.write("calc.py", "def add_numbers(a, b):\n    return a + b\n");
    scene.git(&["add", "-A"]);
    scene.git(&["commit", "-q", "-m", "Calc"]);
    let done = scene.run("run brain --input ../input.json --name b1");
    assert_eq!(done.code, Some(0), "{done}");
    assert!(done.stderr.contains("it counts (judged by the author's own model, tiny)"), "{done}");
    let asked = server.asked()[0].text();
    assert!(asked.contains("add_numbers") && asked.contains("echo $#"), "the map and the diff are shown: {asked}");
}
