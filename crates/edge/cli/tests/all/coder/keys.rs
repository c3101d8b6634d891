//! Keys that are typed at, before and beside questions, on a real terminal.

use std::{
    io::Write as _,
    process::{Command, Stdio},
};

use interlock_testkit_activity::model_server::{CoderTurn, Move};
use interlock_testkit_cli::terminal::Terminal;
use serde_json::json;

use super::scene::{AFTER, BEFORE, Scene, patch, repair, told};

const GOAL: &str = "count the arguments";

/// The key that sends a line.
pub(crate) const ENTER: &str = "\r";

/// The prompt of a message; the last bytes before the keys.
pub(crate) const PROMPT: &str = "› ";

/// Opens a conversation on a terminal. Its store is in the repository.
pub(crate) fn terminal(scene: &Scene, arguments: &str) -> Terminal {
    scene.write("home/judges.toml", &scene.read("../home/judges.toml"));
    scene.write(".gitignore", "home\n");
    Terminal::new(env!("CARGO_BIN_EXE_interlock"), &scene.session, &format!("coder {arguments}"))
}

#[test]
fn a_yes_that_is_typed_before_the_question_does_not_answer_it() {
    let scene = Scene::new(vec![repair(GOAL)]);
    let mut terminal = terminal(&scene, "--name c1");
    terminal.answer(PROMPT, &format!("{GOAL}{ENTER}yes{ENTER}"));
    terminal.answer("kept for your next message", "");
    // The question still waits. The line is the next message, and begins a turn of its own.
    terminal.answer("instead › ", &format!("no{ENTER}"));
    terminal.answer("refused", "");
    terminal.answer("instead › ", &format!("no{ENTER}"));
    terminal.answer("refused", "");
    terminal.answer(PROMPT, &format!("/exit{ENTER}"));
    let (_, seen) = terminal.end();
    assert_eq!(scene.read("count.sh"), BEFORE, "{seen}");
    let asked = scene.model.asked();
    assert_eq!(asked.iter().filter(|asked| asked.text().contains("# Intake")).count(), 2, "{seen}");
}

#[test]
fn a_yes_to_a_plan_does_not_answer_the_call_that_comes_after_it() {
    let moves = vec![Move::call("delete_file", json!({ "path": "test.sh" })), Move::done("done")];
    let scene = Scene::new(vec![CoderTurn::change(GOAL, &["count.sh"], &[], moves)]);
    let mut terminal = terminal(&scene, &format!("'{GOAL}' --name c1"));
    terminal.answer("instead › ", &format!("yes{ENTER}yes{ENTER}"));
    terminal.answer("This call needs your yes: delete_file test.sh", "");
    terminal.answer("instead › ", &format!("no{ENTER}"));
    terminal.answer("refused", "");
    terminal.answer("instead › ", &format!("/exit{ENTER}"));
    let (_, seen) = terminal.end();
    assert!(!scene.read("test.sh").is_empty(), "{seen}");
}

#[test]
fn a_second_line_that_is_typed_ahead_is_the_next_input() {
    let scene = Scene::new(vec![repair(GOAL)]);
    let mut terminal = terminal(&scene, "--name c1");
    terminal.answer(PROMPT, &format!("{GOAL}{ENTER}/cost{ENTER}"));
    terminal.answer("instead › ", &format!("yes{ENTER}"));
    terminal.answer("completed", "");
    terminal.answer("answers of models", "");
    terminal.answer(PROMPT, &format!("/exit{ENTER}"));
    let (code, seen) = terminal.end();
    assert_eq!((code, scene.read("count.sh").as_str()), (Some(0), AFTER), "{seen}");
}

#[test]
fn commands_work_at_a_question_and_refuse_nothing() {
    let scene = Scene::new(vec![repair(GOAL)]);
    let mut terminal = terminal(&scene, &format!("'{GOAL}' --name c1"));
    terminal.answer("instead › ", &format!("/diff{ENTER}"));
    terminal.answer("the turn has changed no files", "");
    terminal.answer("instead › ", &format!("/help{ENTER}"));
    terminal.answer("/commit", "");
    terminal.answer("instead › ", &format!("?{ENTER}"));
    terminal.answer("anything else says what to do instead", "");
    terminal.answer("instead › ", &format!("/udno{ENTER}"));
    terminal.answer("cannot be used at a question", "");
    terminal.answer("instead › ", &format!("yes{ENTER}"));
    terminal.answer("completed", "");
    terminal.answer(PROMPT, &format!("/exit{ENTER}"));
    let (_, seen) = terminal.end();
    assert_eq!(scene.read("count.sh"), AFTER, "{seen}");
}

#[test]
fn words_instead_of_a_yes_to_a_call_reach_the_same_step() {
    let moves = vec![
        Move::call("run_terminal_cmd", json!({ "command": "rm test.sh" })),
        Move::call("apply_patch", patch()),
        Move::done("done"),
    ];
    let scene = Scene::new(vec![CoderTurn::change(GOAL, &["count.sh"], &[], moves)]);
    let mut terminal = terminal(&scene, &format!("'{GOAL}' --name c1"));
    terminal.answer("instead › ", &format!("yes{ENTER}"));
    terminal.answer("This call needs your yes: run_terminal_cmd rm test.sh", "");
    terminal.answer("instead › ", &format!("change count.sh only{ENTER}"));
    terminal.answer("completed", "");
    terminal.answer(PROMPT, &format!("/exit{ENTER}"));
    let (_, seen) = terminal.end();
    assert_eq!(scene.read("count.sh"), AFTER, "{seen}");
    assert!(!scene.read("test.sh").is_empty(), "{seen}");
    let asked = scene.model.asked();
    assert!(asked.iter().any(|asked| asked.text().contains("what to do instead: change count.sh only")), "{seen}");
    assert_eq!(asked.iter().filter(|asked| asked.text().contains("# Planning")).count(), 1, "{seen}");
}

#[test]
fn a_plain_terminal_keeps_lines_that_were_typed_before_a_question() {
    let mut scene = Scene::new(vec![repair(GOAL)]);
    scene.session = scene.session.clone().with("TERM", "dumb");
    let mut terminal = terminal(&scene, "--name c1");
    terminal.answer(PROMPT, &format!("{GOAL}{ENTER}/cost{ENTER}"));
    terminal.answer("kept for your next message", "");
    terminal.answer("instead › ", &format!("yes{ENTER}"));
    terminal.answer("completed", "");
    terminal.answer("answers of models", "");
    terminal.answer(PROMPT, &format!("/exit{ENTER}"));
    let (code, seen) = terminal.end();
    assert_eq!((code, scene.read("count.sh").as_str()), (Some(0), AFTER), "{seen}");
}

#[test]
fn without_a_terminal_nothing_on_standard_input_answers_a_question() {
    let scene = Scene::new(vec![repair(GOAL)]);
    let home = scene.session.folder().join("../home").canonicalize().unwrap();
    let mut command = Command::new("timeout");
    command
        .args(["60", env!("CARGO_BIN_EXE_interlock"), "coder", GOAL, "--name", "c1"])
        .current_dir(scene.session.folder());
    command.env("INTERLOCK_HOME", home).stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null());
    let mut child = command.spawn().unwrap();
    child.stdin.take().unwrap().write_all(b"yes\nyes\nyes\n").unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(4));
    assert_eq!(scene.read("count.sh"), BEFORE);
}

#[test]
fn a_yes_to_a_plan_covers_the_announced_files_only() {
    let moves = vec![
        Move::call("apply_patch", patch()),
        Move::call("write_file", json!({ "path": "other.txt", "content": "x\n" })),
        Move::done("done"),
    ];
    let scene = Scene::new(vec![CoderTurn::change(GOAL, &["count.sh"], &[], moves)]);
    let asked = scene.confirmed(GOAL);
    assert!(asked.code == Some(4) && told(&asked).contains("no step of the plan announces that other.txt"), "{asked}");
    assert_eq!((scene.read("count.sh").as_str(), scene.read("other.txt").as_str()), (AFTER, ""));
}

#[test]
fn a_yes_to_a_plan_does_not_cover_the_files_of_its_repair() {
    let moves = vec![
        Move::call("write_file", json!({ "path": "count.sh", "content": "echo 7\n" })),
        Move::done("done"),
        Move::call("write_file", json!({ "path": "other.txt", "content": "x\n" })),
    ];
    let step = json!({ "step_id": "s2", "title": "Repair", "intent": "The test fails" });
    let patch = json!({ "remove_steps": [], "update_steps": [], "add_steps": [step] });
    let data = json!({ "patch": patch, "builds_on_change": true, "reason": "it prints a constant" });
    let scene = Scene::new(vec![CoderTurn::change(GOAL, &["count.sh"], &[], moves).repaired_by("repairable", data)]);
    let asked = scene.confirmed(GOAL);
    assert!(asked.code == Some(4) && told(&asked).contains("no step of the plan announces that other.txt"), "{asked}");
    assert_eq!((scene.count("TRIAGE"), scene.read("other.txt").as_str()), (2, ""), "{asked}");
}
