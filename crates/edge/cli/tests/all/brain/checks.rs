//! Review, lint and test: which verdicts count, and when a person decides.

use interlock_testkit_cli::session::Transcript;
use serde_json::json;

use super::scene::{RIGHT, Scene, WRONG, until};

#[test]
fn review_that_objects_five_times_goes_on_with_a_warning() {
    let scene = Scene::new().with_person_for(&["judge.review"]);
    scene.start(&json!({}));
    for round in 0..5 {
        scene.reply(&format!("{RIGHT}# {round}\n"));
        let refused = scene.send("has_issue", &json!({ "reason": "no", "suggestion": "Do better." }));
        assert!(refused.stdout.contains("CODING"), "{refused}");
    }
    scene.reply(RIGHT);
    let last = scene.send("has_issue", &json!({ "reason": "still no", "suggestion": "Do better." }));
    assert!(last.code == Some(5) && last.stdout.contains("b1  incomplete  COMPLETED_WITH_WARNINGS"), "{last}");
    assert_eq!(scene.context("warnings"), json!(["review_limit"]));
    assert!(scene.has_branch());
}

#[test]
fn tests_that_never_pass_end_the_run_without_a_commit() {
    let scene = Scene::new();
    scene.start(&json!({}));
    for round in 0..3 {
        let failed = scene.reply(&format!("{WRONG}# {round}\n"));
        assert!(failed.code == Some(4) && failed.stdout.contains("CODING"), "{failed}");
    }
    let last = scene.reply(WRONG);
    assert_eq!(last.code, Some(1), "{last}");
    assert_eq!(scene.context("warnings"), json!(["tests_failed"]));
    assert!(!scene.has_branch());
}

/// Ends rounds with this program until the run does not go back to the agent any more.
fn insist(scene: &Scene, program: &str) -> Transcript {
    for round in 0..3 {
        let again = scene.reply(&format!("{program}# {round}\n"));
        assert_eq!(scene.place(), "CODING", "{again}");
        assert!(again.stderr.contains("test_unproved"), "the agent is told: {again}");
    }
    scene.reply(program)
}

/// Returns the objections that a person is asked about. Each ends with the hash of the content that it is about.
fn objections(scene: &Scene) -> String {
    let objections = scene.context("objections");
    for objection in objections.as_array().unwrap() {
        let text = objection.as_str().unwrap();
        let hash = text.trim_end_matches(')').rsplit_once(" (now ").map(|(_, hash)| hash).unwrap_or_default();
        assert!(hash.len() == 40 && hash.bytes().all(|byte| byte.is_ascii_hexdigit()), "{text}");
    }
    objections.to_string()
}

/// A run whose tests are found in a Makefile.
fn with_makefile() -> Scene {
    let scene = Scene::new();
    scene.write("Makefile", "test:\n\tsh tests/run.sh\n");
    scene.git(&["add", "-A"]);
    scene.git(&["commit", "-q", "-m", "Add a makefile"]);
    scene.write("../input.json", r#"{ "task": "Count the arguments" }"#);
    scene.run("run brain --input ../input.json --name b1 --in-place");
    scene
}

#[test]
fn a_weakened_test_goes_back_to_the_agent_and_then_to_a_person() {
    for (path, text) in [
        ("tests/run.sh", "true\n"),
        ("Makefile", "test:\n\ttrue\n"),
        ("Makefile", "SHELL = /bin/true\ntest:\n\tsh tests/run.sh\n"),
    ] {
        let scene = with_makefile();
        scene.write(path, text);
        let asked = insist(&scene, WRONG);
        assert_eq!(scene.place(), "AWAITING_CHECKS", "{asked}");
        assert!(objections(&scene).contains(path), "{}", objections(&scene));
        let shown = scene.run("show b1").stdout;
        assert!(shown.contains(&format!("+++ b/{path}")), "{shown}");
        assert!(!scene.has_branch(), "nothing is committed without a person");
    }
}

#[test]
fn an_accepted_objection_counts_for_that_content_only() {
    let scene = with_makefile();
    scene.write("tests/run.sh", "true\n");
    insist(&scene, WRONG);
    let rejected = scene.run("send b1 reject_checks");
    assert!(rejected.stdout.contains("CODING"), "{rejected}");
    scene.write("tests/run.sh", "echo again; true\n");
    let asked = scene.reply(WRONG);
    assert_eq!(scene.place(), "AWAITING_CHECKS", "{asked}");
    let accepted = scene.run("send b1 accept_checks");
    assert!(scene.has_branch(), "a person has accepted it: {accepted}");
}

#[test]
fn a_changed_script_that_is_the_product_is_honest_work() {
    let scene = with_makefile();
    let done = scene.reply(RIGHT);
    assert!(done.code == Some(0) && done.stdout.contains("COMPLETED"), "{done}");
}

#[test]
fn a_file_that_git_ignores_is_not_tested_and_not_committed() {
    let scene = Scene::new();
    scene.start(&json!({}));
    scene.write("out/helper.sh", "number() { echo \"$1\"; }\n");
    let failed = scene.reply(". ./out/helper.sh\nnumber $#\n");
    assert!(failed.code == Some(4) && failed.stdout.contains("CODING"), "the commit would fail: {failed}");
}

#[test]
fn files_that_a_test_makes_are_not_committed() {
    let scene = Scene::new();
    scene.start(&json!({ "test": "sh tests/run.sh && echo seen > seen.txt" }));
    let done = scene.reply(RIGHT);
    assert_eq!(done.code, Some(0), "{done}");
    assert!(!scene.git(&["ls-tree", "--name-only", "interlock/b1"]).contains("seen.txt"));
    assert!(!scene.folder().join("seen.txt").exists());
}

#[test]
fn a_missing_repository_ends_the_run_before_the_first_prompt() {
    let scene = Scene::new();
    std::fs::remove_dir_all(scene.folder().join(".git")).unwrap();
    scene.write("../input.json", r#"{ "task": "Count the arguments" }"#);
    let ended = scene.run("run brain --input ../input.json --name b1");
    let said = "NO_REPOSITORY: the folder is in no git repository, so nothing can be committed: run `git init`, then start a new run";
    assert!(ended.code == Some(1) && ended.stderr.contains(said), "{ended}");
    assert!(!ended.stderr.contains("CODING"), "nothing was prompted: {ended}");
}

#[test]
fn a_detected_runner_that_is_missing_ends_the_run_before_the_first_prompt() {
    for (file, text, line) in [
        ("justfile", "test:\n    sh tests/run.sh\n", "just test"),
        ("deno.json", "{}", "deno test"),
        ("tox.ini", "[tox]\n", "tox"),
    ] {
        let scene = Scene::new();
        scene.write(file, text);
        scene.git(&["add", "-A"]);
        scene.git(&["commit", "-q", "-m", "Add a runner"]);
        scene.write("../input.json", r#"{ "task": "Count the arguments" }"#);
        let program = line.split(' ').next().unwrap();
        if std::process::Command::new(program).arg("--version").output().is_ok() {
            eprintln!("left out: {program} is installed");
            continue;
        }
        let ended = scene.run("run brain --input ../input.json --name b1 --in-place");
        let told = format!("COMMAND_MISSING: the check `{line}` cannot run: its program is not installed");
        assert!(ended.code == Some(1) && ended.stderr.contains(&told), "{ended}");
        assert!(!ended.stderr.contains("CODING"), "nothing was prompted: {ended}");
    }
}

#[test]
fn a_program_that_the_tests_start_and_that_is_missing_ends_the_run_before_the_first_prompt() {
    let scene = Scene::new();
    scene.write("Makefile", "check:\n\tno-such-runner\ntest:\n\tsh tests/run.sh\n");
    scene.git(&["add", "-A"]);
    scene.git(&["commit", "-q", "-m", "Add a makefile"]);
    scene.write("../input.json", r#"{ "task": "Count the arguments", "test": "make check" }"#);
    let ended = scene.run("run brain --input ../input.json --name b1 --in-place");
    assert_eq!(ended.code, Some(1), "{ended}");
    let told = "`make check` cannot run: the program no-such-runner is not installed. Install it, or name another command; `make test` is installed";
    assert!(ended.stderr.contains(told), "{ended}");
    assert_eq!(scene.context("warnings"), json!(["COMMAND_MISSING"]));
}

#[test]
fn missing_tests_are_reported() {
    let scene = Scene::new();
    scene.write("../input.json", r#"{ "task": "Count the arguments" }"#);
    scene.run("run brain --input ../input.json --name b1 --in-place");
    let done = scene.reply(WRONG);
    // There is a result, and nothing was shown about it.
    assert!(done.code == Some(5) && done.stdout.contains("b1  incomplete  COMPLETED_WITH_WARNINGS"), "{done}");
    assert_eq!(scene.context("warnings"), json!(["no_tests"]));
    let trace = scene.run("trace b1").stdout;
    assert!(trace.contains("nothing will be tested before the commit"), "{trace}");
    let report = scene.run("report b1").stdout;
    assert!(report.contains("there was no test command: nothing was tested"), "{report}");
    assert!(
        report.contains("not verified: the run executed no command that its machine declares as a check"),
        "{report}"
    );
    let (_, checks) = report.split_once("## Checks").unwrap();
    let (checks, _) = checks.split_once("\n## ").unwrap();
    assert!(
        !checks.contains("`true`") && !checks.contains("| true |"),
        "what stands for no linter is no check: {checks}"
    );
}

#[test]
fn a_test_that_cannot_fail_is_told_as_passed_and_as_no_proof() {
    let scene = Scene::new();
    scene.start(&json!({ "test": "sh tests/run.sh | cat" }));
    insist(&scene, RIGHT);
    let report: serde_json::Value = serde_json::from_str(&scene.run("report b1 --json").stdout).unwrap();
    let sentence = report["sentence"].as_str().unwrap();
    let told = "not verified: `sh tests/run.sh | cat` passed in record ";
    assert!(sentence.contains(told) && sentence.contains(", but proves nothing, because "), "{sentence}");
    assert!(!sentence.contains("failed in TESTING"), "{sentence}");
    assert_eq!(report["failing"], json!([]), "the output of broken copies is no failure of the test");
}

#[test]
fn detected_commands_are_shown_and_used() {
    let scene = with_makefile();
    assert_eq!(scene.context("test"), json!("make test"));
}

#[test]
fn round_without_a_change_is_sent_back() {
    let scene = Scene::new();
    scene.start(&json!({}));
    let said = scene.send("ai_reply_done", &json!({ "tree": "x", "edited": true, "summary": "All done!" }));
    assert!(said.stdout.contains("CODING"), "{said}");
    assert!(scene.context("instruction").as_str().unwrap().starts_with("You have changed no file."));
}

#[test]
fn killed_test_is_run_again() {
    let scene = Scene::new();
    // The room has a copy of the workspace, so the sign to go on lies beside it.
    let go = scene.folder().join("../go").display().to_string();
    scene.write("../go", "");
    scene.start(&json!({ "test": format!("until test -e {go}; do sleep 0.02; done; sh tests/run.sh") }));
    std::fs::remove_file(&go).unwrap();
    scene.write("count.sh", RIGHT);
    let data = json!({ "tree": "", "edited": true, "summary": "done" });
    let mut process = scene.session.command(&format!("send b1 ai_reply_done --data '{data}'")).spawn().unwrap();
    until("the test", || scene.place() == "TESTING");
    process.kill().unwrap();
    process.wait().unwrap();
    scene.write("../go", "");
    let resumed = scene.run("resume b1");
    assert_eq!(resumed.code, Some(0), "{resumed}");
    let trace = scene.run("trace b1").stdout;
    assert!(trace.contains("the command was interrupted; it is run again"), "{trace}");
}
