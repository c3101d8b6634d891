//! `interlock coder`: a conversation on a real terminal, and one turn without a terminal.

use interlock_testkit_activity::model_server::{CoderTurn, Move};
use interlock_testkit_cli::terminal::Terminal;
use serde_json::{Value as Json, json};

use super::scene::{AFTER, BEFORE, Scene, repair};

const GOAL: &str = "count the arguments";

/// The keys that send a line and interrupt.
const ENTER: &str = "\r";
const CONTROL_C: &str = "\x03";

/// The prompt of a message; the last bytes before the keys.
const PROMPT: &str = "› ";

/// Opens a conversation on a terminal. Its store is in the repository.
fn terminal(scene: &Scene, arguments: &str) -> Terminal {
    scene.write("home/judges.toml", &scene.read("../home/judges.toml"));
    scene.write(".gitignore", "home\n");
    Terminal::new(env!("CARGO_BIN_EXE_interlock"), &scene.session, &format!("coder {arguments}"))
}

/// Returns the lines that a turn with `--json` prints.
fn lines(stdout: &str) -> Vec<Json> {
    stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[test]
fn a_turn_on_a_terminal_is_planned_confirmed_shown_and_undone() {
    let scene = Scene::new(vec![repair(GOAL)]);
    let mut terminal = terminal(&scene, &format!("'{GOAL}' --name c1"));
    terminal.answer("Make the change", "");
    terminal.answer("file count.sh", "");
    // Pressing Enter confirms nothing.
    terminal.answer("instead › ", ENTER);
    terminal.answer("instead › ", &format!("yes{ENTER}"));
    terminal.answer("read_file count.sh  (lines 1-1 of 1)", "");
    terminal.answer("apply_patch count.sh  (+1 -1)", "");
    terminal.answer("+echo $#", "");
    terminal.answer("verification: make test", "");
    terminal.answer("Summary of count the arguments.", "");
    terminal.answer("completed", "");
    terminal.answer(PROMPT, &format!("/diff{ENTER}"));
    terminal.answer("+echo $#", "");
    terminal.answer(PROMPT, &format!("/plan{ENTER}"));
    terminal.answer("Make the change", "");
    terminal.answer(PROMPT, &format!("/cost{ENTER}"));
    terminal.answer("answers of models", "");
    terminal.answer(PROMPT, &format!("/model{ENTER}"));
    terminal.answer("models: model; used: model", "");
    terminal.answer(PROMPT, &format!("/udno{ENTER}"));
    terminal.answer("did you mean `/undo`?", "");
    assert_eq!(scene.read("count.sh"), AFTER);
    terminal.answer(PROMPT, &format!("/undo{ENTER}"));
    terminal.answer("restored count.sh", "");
    terminal.answer(PROMPT, &format!("{GOAL} after all{ENTER}"));
    terminal.answer("instead › ", &format!("s{ENTER}"));
    terminal.answer("It counts its arguments now.", "");
    terminal.answer("completed", "");
    terminal.answer(PROMPT, &format!("/exit{ENTER}"));
    let (code, seen) = terminal.end();
    assert_eq!((code, scene.read("count.sh").as_str()), (Some(0), AFTER), "{seen}");
    assert!(seen.contains("interlock coder --resume c1"), "{seen}");
}

#[test]
fn a_committed_turn_is_undone_with_its_commit() {
    let scene = Scene::new(vec![repair(GOAL)]);
    let mut terminal = terminal(&scene, &format!("'{GOAL}' --name c1"));
    terminal.answer("instead › ", &format!("yes{ENTER}"));
    terminal.answer("completed", "");
    terminal.answer(PROMPT, &format!("/commit{ENTER}"));
    terminal.answer("it needs git.write:git commit", "");
    terminal.answer("instead › ", &format!("yes{ENTER}"));
    terminal.answer("committed ", "");
    assert_eq!(scene.git(&["branch", "--list", "interlock/*", "--format=%(refname:short)"]), "interlock/coder-c1");
    terminal.answer(PROMPT, &format!("/undo{ENTER}"));
    terminal.answer("removed branch interlock/coder-c1", "");
    assert_eq!(
        (scene.read("count.sh").as_str(), scene.git(&["branch", "--list", "interlock/*"]).as_str()),
        (BEFORE, "")
    );
    terminal.answer(PROMPT, &format!("/undo{ENTER}"));
    terminal.answer("there is nothing to undo", "");
    terminal.answer(PROMPT, &format!("/exit{ENTER}"));
    terminal.end();
}

#[test]
fn without_a_model_the_reason_is_shown() {
    let scene = Scene::new(Vec::new());
    scene.write("../home/judges.toml", "");
    let mut terminal = terminal(&scene, &format!("'{GOAL}' --name c1"));
    terminal.answer("blocked: ", "");
    terminal.answer(PROMPT, &format!("/exit{ENTER}"));
    let (_, seen) = terminal.end();
    assert!(seen.contains("model"), "{seen}");
}

#[test]
fn an_interrupt_cancels_the_turn_and_the_conversation_goes_on() {
    let scene = Scene::new(vec![repair(GOAL)]);
    let mut terminal = terminal(&scene, "--name c1");
    terminal.answer("What should be done?", "");
    terminal.answer(PROMPT, &format!("{GOAL}{ENTER}"));
    terminal.answer("instead › ", CONTROL_C);
    terminal.answer("cancelled", "");
    terminal.answer(PROMPT, CONTROL_C);
    terminal.answer("press Ctrl-C again", "");
    terminal.answer(PROMPT, CONTROL_C);
    let (code, seen) = terminal.end();
    assert_eq!((code, scene.read("count.sh").as_str()), (Some(0), BEFORE), "{seen}");
}

#[test]
fn feedback_makes_another_plan() {
    let scene = Scene::new(vec![repair(GOAL)]);
    let mut terminal = terminal(&scene, &format!("'{GOAL}' --name c1"));
    terminal.answer("instead › ", &format!("use a function{ENTER}"));
    terminal.answer("instead › ", &format!("no{ENTER}"));
    terminal.answer("refused", "");
    terminal.answer(PROMPT, &format!("/close{ENTER}"));
    let (code, seen) = terminal.end();
    assert_eq!((code, scene.read("count.sh").as_str()), (Some(1), BEFORE), "{seen}");
    let planned = scene.model.asked().into_iter().filter(|asked| asked.text().contains("# Planning"));
    assert!(planned.into_iter().any(|asked| asked.text().contains("use a function")));
}

#[test]
fn a_turn_without_a_terminal_is_lines_of_json() {
    let moves = vec![Move::call("read_file", json!({ "path": "count.sh" })), Move::done("It prints 0.")];
    let scene = Scene::new(vec![CoderTurn::question("what does count.sh print", moves)]);
    let told = scene.run("coder 'what does count.sh print' --ask --json");
    assert_eq!(told.code, Some(0), "{told}");
    let lines = lines(&told.stdout);
    let kinds: Vec<&str> = lines.iter().map(|line| line["type"].as_str().unwrap()).collect();
    assert!(kinds.contains(&"plan") && kinds.contains(&"tool_call") && kinds.contains(&"text"), "{told}");
    let result = lines.iter().find(|line| line["type"] == "tool_result").unwrap();
    assert_eq!((&result["name"], &result["payload"]["content"]), (&json!("read_file"), &json!(BEFORE)));
    let end = lines.last().unwrap();
    assert_eq!((&end["type"], &end["ending"], &end["exit_code"]), (&json!("end"), &json!("completed"), &json!(0)));
}

#[test]
fn a_question_to_nobody_ends_with_four_and_can_be_answered_later() {
    let scene = Scene::new(vec![repair(GOAL)]);
    let asked = scene.run(&format!("coder '{GOAL}' --name c1 --json"));
    assert_eq!(asked.code, Some(4), "{asked}");
    let end = lines(&asked.stdout).pop().unwrap();
    assert_eq!(end["asks"]["plan"]["steps"][0]["title"], "Make the change", "{end}");
    scene.send("CONFIRM", &json!({ "answer": "yes" }));
    assert_eq!(scene.read("count.sh"), AFTER);
}

#[test]
fn only_a_plan_is_made_and_unknown_models_are_refused() {
    let scene = Scene::new(vec![repair(GOAL)]);
    let told = scene.run(&format!("coder '{GOAL}' --plan"));
    assert_eq!((told.code, scene.read("count.sh").as_str()), (Some(0), BEFORE), "{told}");
    let refused = scene.run(&format!("coder '{GOAL}' --model modell"));
    assert!(refused.code == Some(2) && refused.stderr.contains("did you mean `model`?"), "{refused}");
    let refused = scene.run("coder");
    assert!(refused.code == Some(2) && refused.stderr.contains("give it as an argument"), "{refused}");
}
