//! The driver `coder`: another machine prompts our own coding agent, with nothing but a model.

use interlock_testkit_activity::model_server::{CoderTurn, Move};
use serde_json::json;

use super::scene::{AFTER, BEFORE, Scene, patch, repair};

const GOAL: &str = "count the arguments";

const MACHINE: &str = "\
machine: ask
version: 1
summary: Prompts a coding agent once.
input: { type: object, required: [goal], properties: { goal: { type: string } } }
initial: working
states:
  working:
    invoke:
      activity: agent.prompt
      with: { text: \"${input.goal}\" }
      signals: { turn_ended: { required: [summary], properties: { summary: { type: string } } } }
      effect: write
    on:
      turn_ended: { target: done, reason: \"${event.summary}\" }
      error: { target: broken, reason: \"${event.code}: ${event.message}\" }
  done: { type: final, outcome: success }
  broken: { type: final, outcome: failure }
";

fn scene(turns: Vec<CoderTurn>) -> Scene {
    let scene = Scene::new(turns);
    scene.write("../home/agents.toml", "[agents.own]\ndriver = \"coder\"\n");
    scene.write(".interlock/machines/ask/machine.yaml", MACHINE);
    scene
}

#[test]
fn a_machine_prompts_our_own_agent() {
    let command = Move::call("run_terminal_cmd", json!({ "command": "sh test.sh; true" }));
    let moves = vec![command, Move::call("apply_patch", patch()), Move::done("It counts its arguments now.")];
    let scene = scene(vec![CoderTurn::change(GOAL, &["count.sh"], &[], moves)]);
    let ended = scene.run(&format!("run ask --set 'goal={GOAL}' --name r1"));
    assert_eq!((ended.code, scene.read("count.sh").as_str()), (Some(0), AFTER), "{ended}");
    assert!(ended.stdout.contains("Summary of count the arguments.") || ended.stderr.contains("Summary of"), "{ended}");
    let child = scene.run("runs --machine coder --json");
    assert!(child.stdout.contains("TURN_COMPLETED"), "{child}");
    assert_eq!(scene.run("agents").code, Some(0));
}

#[test]
fn nobody_is_asked_and_a_dangerous_action_is_refused() {
    let moves = vec![
        Move::call("write_file", json!({ "path": ".github/workflows/ci.yml", "content": "x" })),
        Move::call("step_failed", json!({ "code": "E_POLICY_DENIED", "message": "it is refused" })),
    ];
    let scene = scene(vec![CoderTurn::change(GOAL, &["count.sh"], &[], moves)]);
    let ended = scene.run(&format!("run ask --set 'goal={GOAL}' --name r1"));
    assert_eq!((ended.code, scene.read("count.sh").as_str()), (Some(1), BEFORE), "{ended}");
    assert_eq!(scene.read(".github/workflows/ci.yml"), "");
}

#[test]
fn without_a_model_the_prompt_fails_with_the_next_action() {
    let scene = scene(vec![repair(GOAL)]);
    scene.write("../home/judges.toml", "");
    let ended = scene.run(&format!("run ask --set 'goal={GOAL}' --name r1"));
    assert!(ended.code == Some(1), "{ended}");
    assert!(format!("{}{}", ended.stdout, ended.stderr).contains("no model is configured"), "{ended}");
}
