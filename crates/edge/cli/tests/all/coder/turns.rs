//! Turns that end well: a change, a question, a plan, a conversation, a commit, an undo.

use interlock_testkit_activity::model_server::{CoderTurn, Dialect, Move};
use serde_json::json;

use super::scene::{AFTER, BEFORE, Scene, patch, repair, told};

#[test]
fn every_provider_carries_out_a_verified_change() {
    for dialect in Dialect::ALL {
        let scene = Scene::speaking(dialect, vec![repair("count the arguments")]);
        let ended = scene.confirmed("count the arguments");
        assert!(ended.code == Some(0) && told(&ended).contains("TURN_COMPLETED"), "{dialect:?} {ended}");
        assert_eq!(scene.read("count.sh"), AFTER);
        assert!(told(&ended).contains("Summary of count the arguments."), "{ended}");
        assert_eq!(scene.run("verify c1").code, Some(0));
    }
}

#[test]
fn a_question_is_answered_without_confirmation() {
    let moves = vec![
        Move::Calls(
            "I look at both.".into(),
            vec![
                ("read_file".into(), json!({ "path": "count.sh" })),
                ("read_file".into(), json!({ "path": "test.sh" })),
            ],
        ),
        Move::done("It prints 0."),
    ];
    let scene = Scene::new(vec![CoderTurn::question("what does count.sh print", moves)]);
    let ended = scene.start("what does count.sh print", "");
    assert_eq!(ended.code, Some(0), "{ended}");
    assert_eq!((scene.count("TOOL_READING"), scene.count("nothing_changed")), (2, 1), "{:?}", scene.trace());
}

#[test]
fn a_question_cannot_write() {
    let moves = vec![Move::call("write_file", json!({ "path": "x", "content": "y" })), Move::done("It prints 0.")];
    let scene = Scene::new(vec![CoderTurn::question("what does count.sh print", moves)]);
    let ended = scene.start("what does count.sh print", "");
    assert!(ended.code == Some(0) && told(&ended).contains("this turn only reads"), "{ended}");
    assert_eq!(scene.read("x"), "");
}

#[test]
fn only_a_plan_is_made_if_only_a_plan_is_asked_for() {
    let scene = Scene::new(vec![repair("count the arguments")]);
    let ended = scene.start("count the arguments", "--set plan_only=true");
    assert_eq!(ended.code, Some(0), "{ended}");
    assert_eq!((scene.read("count.sh").as_str(), scene.count("EXECUTING")), (BEFORE, 0));
}

#[test]
fn a_task_of_eight_calls_has_eight_records() {
    let mut moves: Vec<Move> = Vec::new();
    for path in ["count.sh", "test.sh", "Makefile"] {
        moves.push(Move::call("read_file", json!({ "path": path })));
    }
    moves.push(Move::call("list_dir", json!({})));
    moves.push(Move::call("grep", json!({ "pattern": "echo" })));
    moves.push(Move::call("glob", json!({ "pattern": "*.sh" })));
    moves.push(Move::call("apply_patch", patch()));
    moves.push(Move::call("git_diff", json!({})));
    moves.push(Move::done("done"));
    let scene = Scene::new(vec![CoderTurn::change("count the arguments", &["count.sh"], &[], moves)]);
    let ended = scene.confirmed("count the arguments");
    assert_eq!(ended.code, Some(0), "{ended}");
    assert_eq!(scene.count("TOOL_CALL_RESULT"), 8, "{:?}", scene.trace());
}

#[test]
fn a_conversation_goes_on_and_remembers() {
    let second = CoderTurn::question("now explain it", vec![Move::done("It prints the number of arguments.")]);
    let scene = Scene::new(vec![repair("count the arguments"), second]);
    let asked = scene.start("count the arguments", "--set once=false");
    assert_eq!(asked.code, Some(4), "{asked}");
    let ended = scene.send("CONFIRM", &json!({ "answer": "yes" }));
    assert!(ended.code == Some(4) && told(&ended).contains("IDLE"), "{ended}");
    let ended = scene.send("USER_MESSAGE", &json!({ "text": "now explain it" }));
    assert!(told(&ended).contains("Summary of now explain it."), "{ended}");
    let intake = scene.model.asked().into_iter().rev().find(|asked| asked.text().contains("# Intake")).unwrap();
    assert!(intake.text().contains("Summary of count the arguments."), "{}", intake.text());
}

#[test]
fn exactly_the_verified_change_is_committed() {
    let scene = Scene::new(vec![repair("count the arguments")]);
    scene.write("mine.txt", "uncommitted\n");
    scene.start("count the arguments", "--set once=false");
    scene.send("CONFIRM", &json!({ "answer": "yes" }));
    let asked = scene.send("COMMIT", &json!({ "message": "Count the arguments" }));
    assert!(asked.code == Some(4) && told(&asked).contains("COMMIT_ASKED"), "{asked}");
    let committed = scene.send("CONFIRM", &json!({ "answer": "yes" }));
    assert!(told(&committed).contains("commit_success"), "{committed}");
    let branch = scene.git(&["branch", "--list", "interlock/*", "--format=%(refname:short)"]);
    assert_eq!(scene.git(&["show", "--name-only", "--format=%s", &branch]), "Count the arguments\n\ncount.sh");
    assert_eq!(scene.git(&["log", "-1", "--format=%s", "main"]), "Begin");
}

#[test]
fn a_turn_can_be_undone() {
    let scene = Scene::new(vec![repair("count the arguments")]);
    scene.confirmed("count the arguments");
    assert_eq!(scene.read("count.sh"), AFTER);
    let undone = scene.run("undo c1");
    assert_eq!(undone.code, Some(0), "{undone}");
    assert_eq!(scene.read("count.sh"), BEFORE);
}

#[test]
fn a_cancelled_turn_is_rolled_back_on_request() {
    let moves = vec![
        Move::call("apply_patch", patch()),
        Move::call("needs_user", json!({ "questions": ["Which arguments?"] })),
    ];
    let scene = Scene::new(vec![CoderTurn::change("count the arguments", &["count.sh"], &[], moves)]);
    let asked = scene.confirmed("count the arguments");
    assert!(asked.code == Some(4) && told(&asked).contains("STEP_ASKED"), "{asked}");
    assert_eq!(scene.read("count.sh"), AFTER);
    let ended = scene.send("CANCEL", &json!({ "rollback": true }));
    assert_eq!((ended.code, scene.read("count.sh").as_str()), (Some(3), BEFORE), "{ended}");
}

#[test]
fn a_refused_plan_ends_the_turn() {
    let scene = Scene::new(vec![repair("count the arguments")]);
    scene.start("count the arguments", "");
    let ended = scene.send("CONFIRM", &json!({ "answer": "no" }));
    assert_eq!((ended.code, scene.read("count.sh").as_str()), (Some(1), BEFORE), "{ended}");
}

#[test]
fn an_answer_reaches_the_step_that_asked() {
    let moves = vec![
        Move::call("needs_user", json!({ "questions": ["Which arguments?"] })),
        Move::call("apply_patch", patch()),
        Move::done("done"),
    ];
    let scene = Scene::new(vec![CoderTurn::change("count the arguments", &["count.sh"], &[], moves)]);
    scene.confirmed("count the arguments");
    let ended = scene.send("CLARIFICATION_ANSWER", &json!({ "text": "all of them, please" }));
    assert_eq!((ended.code, scene.read("count.sh").as_str()), (Some(0), AFTER), "{ended}");
    assert!(scene.model.asked().iter().any(|asked| asked.text().contains("all of them, please")));
}

#[test]
fn the_report_names_the_verification_that_ran() {
    let scene = Scene::new(vec![repair("count the arguments")]);
    let ended = scene.confirmed("count the arguments");
    assert_eq!(ended.code, Some(0), "{ended}");
    let report: serde_json::Value = serde_json::from_str(&scene.run("report c1 --json").stdout).unwrap();
    let sentence = report["sentence"].as_str().unwrap();
    assert!(sentence.contains("verified: `make test` passed in record "), "{sentence}");
    let commands = report["commands"].as_array().unwrap();
    assert!(commands.iter().any(|one| one["command"] == "make test" && one["verifies"] == true), "{commands:?}");
}
