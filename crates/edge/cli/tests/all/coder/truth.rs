//! `completed` is a fact: a change that was asked for and not made, or not verified, does not end well.

use interlock_testkit_activity::model_server::{CoderTurn, Move};
use interlock_testkit_cli::session::Transcript;
use serde_json::{Value as Json, json};

use super::scene::{AFTER, BEFORE, Scene, patch, repair, told};

const GOAL: &str = "fix how the arguments are counted";

fn change(moves: Vec<Move>) -> CoderTurn {
    CoderTurn::change(GOAL, &["count.sh"], &[], moves)
}

/// Plays a turn in which nobody is asked, and returns its last lines of JSON: that of the turn's end and that of the run's.
fn play(scene: &Scene, more: &str) -> (Transcript, Json, Json) {
    let played = scene.run(&format!("coder '{GOAL}' --name c1 --unattended --json {more}"));
    let mut lines: Vec<Json> = played.stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let (end, turn) = (lines.pop().unwrap(), lines.pop().unwrap());
    (played, turn, end)
}

#[test]
fn a_model_that_does_nothing_and_says_fixed_is_not_believed() {
    let mut turn = change(vec![Move::done("Fixed. All tests pass.")]);
    turn.summary = "I fixed count.sh, and all tests pass.".into();
    let scene = Scene::new(vec![turn]);
    let (played, turn, end) = play(&scene, "");
    assert_eq!((played.code, &end["ending"], &end["exit_code"]), (Some(1), &json!("unchanged"), &json!(1)), "{played}");
    let message = "nothing was changed, though a change was asked for";
    assert_eq!((&turn["failure"]["code"], &turn["failure"]["message"]), (&json!("E_MODEL"), &json!(message)), "{turn}");
    // The step's words and the summary contradict the facts.
    let facts = played.stdout.lines().find(|line| line.contains("\"type\":\"facts\"")).unwrap();
    assert!(facts.contains("no file was changed") && facts.contains("no check has passed"), "{facts}");
    assert_eq!(turn["contradictions"].as_array().unwrap().len(), 3, "{turn}");
    assert!(scene.run("show c1").stdout.contains("TURN_FAILED"));
}

#[test]
fn a_conversation_ends_as_its_last_turn_did() {
    for (moves, code, place) in [
        (vec![Move::done("Fixed.")], 1, "CLOSED_NOT_DONE"),
        (vec![Move::call("apply_patch", patch()), Move::done("Fixed.")], 0, "CLOSED"),
    ] {
        let scene = Scene::new(vec![change(moves)]);
        scene.start(GOAL, "--set once=false");
        scene.send("CONFIRM", &json!({ "answer": "yes" }));
        let closed = scene.send("CLOSE", &json!({}));
        assert_eq!(closed.code, Some(code), "{closed}");
        assert!(closed.stdout.contains(&format!("  {place}\n")), "{closed}");
    }
}

#[test]
fn edits_that_were_refused_or_failed_are_no_change() {
    let moves = vec![
        Move::call("write_file", json!({ "path": ".github/workflows/ci.yml", "content": "x" })),
        Move::call(
            "apply_patch",
            json!({ "patch": "--- a/count.sh\n+++ b/count.sh\n@@ -1 +1 @@\n-echo 5\n+echo 6\n" }),
        ),
        Move::done("Done."),
    ];
    let scene = Scene::new(vec![change(moves)]);
    let (played, turn, _) = play(&scene, "");
    assert_eq!((played.code, scene.read("count.sh").as_str()), (Some(1), BEFORE), "{played}");
    let message = turn["failure"]["message"].as_str().unwrap();
    assert!(message.ends_with("; 1 call was refused; 1 edit failed"), "{message}");
}

#[test]
fn a_change_that_is_called_a_question_is_not_completed() {
    let scene = Scene::new(vec![CoderTurn::question(GOAL, vec![Move::done("Fixed, and all tests pass.")])]);
    let (played, _, end) = play(&scene, "");
    assert_eq!((played.code, &end["ending"]), (Some(1), &json!("unchanged")), "{played}");
}

#[test]
fn the_work_of_a_person_is_no_change_of_the_turn() {
    let moves = vec![Move::call("needs_user", json!({ "questions": ["Shall I?"] })), Move::done("Fixed.")];
    let scene = Scene::new(vec![change(moves)]);
    scene.confirmed(GOAL);
    // The person repairs the program while the agent waits.
    scene.write("count.sh", AFTER);
    let ended = scene.send("CLARIFICATION_ANSWER", &json!({ "text": "yes" }));
    assert!(ended.code == Some(1) && told(&ended).contains("nothing was changed"), "{ended}");
}

#[test]
fn a_file_that_only_a_check_has_made_is_no_change() {
    let moves = vec![Move::call("run_terminal_cmd", json!({ "command": "make test" })), Move::done("Fixed.")];
    let scene = Scene::new(vec![CoderTurn::change(GOAL, &["count.sh"], &["make test"], moves)]);
    scene.write("test.sh", "echo ran > report.txt\n");
    scene.git(&["commit", "-qam", "A check that leaves a file"]);
    let (played, _, end) = play(&scene, "");
    assert_eq!((played.code, &end["ending"]), (Some(1), &json!("unchanged")), "{played}");
    assert_eq!(scene.read("report.txt"), "ran\n");
}

#[test]
fn a_file_that_the_plan_announces_must_exist() {
    let moves = vec![Move::call("apply_patch", patch()), Move::done("Fixed, with a test.")];
    let scene = Scene::new(vec![CoderTurn::change(GOAL, &["count.sh", "test_count.sh"], &[], moves)]);
    let (played, turn, end) = play(&scene, "");
    assert_eq!((played.code, &end["ending"]), (Some(5), &json!("unverified")), "{played}");
    let message = turn["failure"]["message"].as_str().unwrap();
    assert_eq!(message, "not verified: the plan announces `test_count.sh`, which does not exist");
}

#[test]
fn a_file_or_a_command_that_the_plan_announces_must_be_of_this_turn() {
    let lint = || Move::call("run_terminal_cmd", json!({ "command": "make style" }));
    let (repair, done) = (|| Move::call("apply_patch", patch()), || Move::done("Fixed."));
    let command = json!({ "type": "command", "value": "make style" });
    let not_passed = "the plan announces the command `make style`, which has not passed after the last change";
    for (artifact, moves, objection) in [
        (command.clone(), vec![repair(), done()], Some(not_passed)),
        (command.clone(), vec![lint(), repair(), done()], Some(not_passed)),
        (command, vec![repair(), lint(), done()], None),
        (
            json!({ "type": "file", "value": "notes.txt" }),
            vec![repair(), done()],
            Some("the plan announces `notes.txt`, and nothing shows that this turn changed it"),
        ),
    ] {
        let step = json!({
            "step_id": "s1", "title": "Make the change", "intent": "It is asked for", "tool_calls": [],
            "expected_artifacts": [artifact], "status": "pending",
        });
        let scene = Scene::new(vec![CoderTurn::planned(GOAL, "change", vec![step], &[], moves)]);
        scene.write("notes.txt", "old\n");
        // The target is none that is found as a check of the project.
        scene.write("Makefile", "test:\n\tsh test.sh\nstyle:\n\ttrue\n");
        scene.git(&["add", "-A"]);
        scene.git(&["commit", "-qm", "Notes"]);
        let (played, turn, end) = play(&scene, "");
        let (code, ending) = if objection.is_some() { (5, "unverified") } else { (0, "completed") };
        assert_eq!((played.code, &end["ending"]), (Some(code), &json!(ending)), "{played}");
        let message = turn["failure"]["message"].as_str().unwrap_or_default();
        assert_eq!(message, objection.map(|why| format!("not verified: {why}")).unwrap_or_default(), "{played}");
    }
}

#[test]
fn a_change_that_nothing_verifies_is_incomplete_unless_the_person_waives_it() {
    let scene = || {
        let scene = Scene::new(vec![repair(GOAL)]);
        scene.git(&["rm", "-q", "Makefile"]);
        scene.git(&["commit", "-qm", "No checks"]);
        scene
    };
    let unverified = scene();
    let (played, _, end) = play(&unverified, "");
    assert_eq!(
        (played.code, &end["ending"], &end["exit_code"]),
        (Some(5), &json!("unverified"), &json!(5)),
        "{played}"
    );
    assert!(unverified.run("runs --json").stdout.contains("\"incomplete\""));
    let waived = scene();
    let (played, turn, end) = play(&waived, "--no-verify");
    assert_eq!((played.code, &end["ending"]), (Some(0), &json!("completed")), "{played}");
    assert_eq!(turn["why"], "not verified: the person waived it");
}

#[test]
fn a_waiver_does_not_turn_nothing_into_a_change() {
    let scene = Scene::new(vec![change(vec![Move::done("Fixed.")])]);
    assert_eq!(play(&scene, "--no-verify").0.code, Some(1));
}

#[test]
fn a_plan_that_nobody_saw_cannot_choose_its_own_verification() {
    let moves = vec![Move::call("apply_patch", patch()), Move::done("Fixed.")];
    let scene = Scene::new(vec![CoderTurn::change(GOAL, &["count.sh"], &["true"], moves)]);
    scene.git(&["rm", "-q", "Makefile"]);
    scene.git(&["commit", "-qm", "No checks"]);
    assert_eq!(play(&scene, "").0.code, Some(5));
}

#[test]
fn the_facts_stand_above_the_words_of_the_model() {
    let scene = Scene::new(vec![repair(GOAL)]);
    let played = scene.run(&format!("coder '{GOAL}' --name c1 --unattended"));
    assert_eq!(played.code, Some(0), "{played}");
    let at = |text: &str| played.stderr.find(text).unwrap_or_else(|| panic!("`{text}` is missing in {played}"));
    assert!(at("changed count.sh  +1 -1") < at("verified by `make test`: exit code 0"), "{played}");
    assert!(at("verified by `make test`") < at("Summary of"), "{played}");
    assert!(at("Summary of") < at("✓ completed: verified on tree "), "{played}");
}
