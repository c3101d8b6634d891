//! Review, lint and test: which verdicts count, and when a person decides.

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

/// Returns the reports about checks, each without the hash of the content that it must end with.
fn weakened(scene: &Scene) -> Vec<String> {
    let reports = scene.context("weakened");
    let plain = |report: &str| {
        let (plain, hash) = report.trim_end_matches(')').rsplit_once(" (now ").unwrap_or_else(|| panic!("{report}"));
        assert!(hash.len() == 40 && hash.bytes().all(|byte| byte.is_ascii_hexdigit()), "{report}");
        plain.to_owned()
    };
    reports.as_array().unwrap().iter().map(|report| plain(report.as_str().unwrap())).collect()
}

/// A run whose tests are found in a Makefile.
fn with_makefile() -> Scene {
    let scene = Scene::new();
    scene.write("Makefile", "test:\n\tsh tests/run.sh\n");
    scene.write("../input.json", r#"{ "task": "Count the arguments" }"#);
    scene.run("run brain --input ../input.json --name b1 --in-place");
    scene
}

#[test]
fn accepted_check_that_changes_again_is_asked_about_again() {
    let scene = with_makefile();
    // A script and a definition, each accepted and then changed once more. The tests fail, so the agent has another round.
    for (path, first, second) in [
        ("tests/run.sh", "echo first; false\n", "echo second; false\n"),
        ("Makefile", "test:\n\tsh tests/run.sh first\n", "test:\n\tsh tests/run.sh second\n"),
    ] {
        scene.write(path, first);
        let asked = scene.reply(WRONG);
        assert_eq!(scene.place(), "AWAITING_CHECKS", "{path}: {asked}");
        let accepted = scene.run("send b1 accept_checks");
        assert_eq!(scene.place(), "CODING", "{path}: {accepted}");
        scene.write(path, second);
        let again = scene.reply(WRONG);
        assert_eq!(scene.place(), "AWAITING_CHECKS", "{path}: another change needs another answer: {again}");
        assert_eq!(weakened(&scene).len(), 1, "{path}");
        scene.write(path, first);
        scene.run("send b1 reject_checks");
    }
    let quiet = scene.reply(&format!("{WRONG}# again\n"));
    assert_eq!(scene.place(), "CODING", "what was accepted stays accepted while it stays the same: {quiet}");
}

#[test]
fn weakened_test_waits_for_a_person() {
    let scene = Scene::new();
    scene.start(&json!({ "test": "sh ./check.sh" }));
    scene.write("check.sh", "true\n");
    let asked = scene.reply(WRONG);
    assert!(asked.code == Some(4) && asked.stdout.contains("AWAITING_CHECKS"), "{asked}");
    assert_eq!(weakened(&scene), ["check.sh changed, which `sh ./check.sh` runs"]);
    let rejected = scene.run("send b1 reject_checks");
    assert!(rejected.stdout.contains("CODING"), "{rejected}");
    scene.reply(WRONG);
    let accepted = scene.run("send b1 accept_checks");
    assert_eq!(accepted.code, Some(0), "{accepted}");
}

#[test]
fn test_script_of_a_recipe_that_is_changed_waits_for_a_person() {
    let scene = with_makefile();
    scene.write("tests/run.sh", "true\n");
    let asked = scene.reply(WRONG);
    assert!(asked.code == Some(4) && asked.stdout.contains("AWAITING_CHECKS"), "{asked}");
    assert_eq!(weakened(&scene), ["tests/run.sh changed, which `make test` runs"]);
}

#[test]
fn test_that_changes_files_is_run_again_and_its_files_are_reviewed() {
    let scene = Scene::new();
    scene.start(&json!({ "test": "sh tests/run.sh && echo seen > seen.txt" }));
    let done = scene.reply(RIGHT);
    assert_eq!(done.code, Some(0), "{done}");
    let trace = scene.run("trace b1").stdout;
    assert!(trace.contains("the tests changed files; they are reviewed and tested again"), "{trace}");
    assert_eq!(scene.git(&["show", "interlock/b1:seen.txt"]), "seen");
}

#[test]
fn missing_repository_is_reported_at_the_start() {
    let scene = Scene::new();
    std::fs::remove_dir_all(scene.folder().join(".git")).unwrap();
    scene.write("../input.json", r#"{ "task": "Count the arguments" }"#);
    let started = scene.run("run brain --input ../input.json --name b1");
    let said = "detected  the folder is in no git repository, so nothing can be committed: run `git init` first";
    assert!(started.stderr.contains(said), "{started}");
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
}

#[test]
fn detected_commands_are_shown_and_used() {
    let scene = with_makefile();
    assert_eq!(scene.context("test"), json!("make test"));
    let asked = {
        scene.write("Makefile", "test:\n\ttrue\n");
        scene.reply(WRONG)
    };
    assert!(asked.stdout.contains("AWAITING_CHECKS"), "{asked}");
    assert_eq!(weakened(&scene), ["the definition of `make test` changed"]);
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
    scene.start(&json!({ "test": "echo begun >> out/begun; until test -e out/go; do sleep 0.02; done" }));
    std::fs::create_dir(scene.folder().join("out")).unwrap();
    scene.write("count.sh", RIGHT);
    let data = json!({ "tree": "", "edited": true, "summary": "done" });
    let mut process = scene.session.command(&format!("send b1 ai_reply_done --data '{data}'")).spawn().unwrap();
    until("the test", || scene.folder().join("out/begun").exists());
    process.kill().unwrap();
    process.wait().unwrap();
    scene.write("out/go", "");
    let resumed = scene.run("resume b1");
    assert_eq!(resumed.code, Some(0), "{resumed}");
    let trace = scene.run("trace b1").stdout;
    assert!(trace.contains("the command was interrupted; it is run again"), "{trace}");
}
