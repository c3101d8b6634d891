//! The ways into `BLOCKED` and out of it.

use super::scene::{PRD, Scene};

/// Returns a run that is blocked after three failed fixes of its first task.
fn blocked() -> Scene {
    let scene = Scene::python().confirmed(PRD);
    scene.python_task("add", "a - b", "add(1, 2) == 3");
    scene.waits("send p1 code_changed", "APPLY_FIX");
    for fix in 1..=3 {
        scene.write("notes.txt", &format!("fix {fix}\n"));
        scene.waits("send p1 fix_applied", if fix < 3 { "APPLY_FIX" } else { "BLOCKED" });
    }
    scene
}

#[test]
fn three_failed_fixes_block_with_their_logs_and_diffs() {
    let scene = blocked();
    let attempts = scene.context()["attempts"].clone();
    assert_eq!(attempts.as_array().unwrap().len(), 4, "the first failure and three fixes");
    for attempt in attempts.as_array().unwrap() {
        assert!(attempt["log"].as_str().unwrap().contains("test_add"), "{attempt}");
        assert!(attempt["diff"].as_str().unwrap().contains("+    return a - b"), "{attempt}");
    }
    let shown = scene.run("show p1").stdout;
    assert!(shown.contains("fix 2") && shown.contains("HUMAN_INTERVENTION"), "{shown}");
    assert_eq!(scene.log().len(), 2, "nothing was committed but the PRD");
}

#[test]
fn a_person_who_has_fixed_the_files_has_them_verified() {
    let scene = blocked();
    scene.write("calc.py", "def add(a, b=0):\n    return a + b\n\n");
    scene.waits("send p1 HUMAN_INTERVENTION --data '{\"guidance\": \"the sign\", \"done\": true}'", "IMPLEMENT_TASK");
    assert_eq!(scene.log()[0], "feat: [T-001] Add numbers");
    assert_eq!(scene.context()["task"]["id"], "T-002");
}

#[test]
fn guidance_goes_to_the_agent() {
    let scene = blocked();
    scene.waits("send p1 HUMAN_INTERVENTION --data '{\"guidance\": \"look at the sign\"}'", "IMPLEMENT_TASK");
    let with = scene.json("show p1")["activities"][0]["with"].clone();
    let text = with["text"].as_str().unwrap();
    assert!(text.starts_with("Task T-001: Add numbers\nFiles: calc.py\n"), "{text}");
    assert!(text.ends_with("Guidance from a person: look at the sign"), "{text}");
}

#[test]
fn a_skipped_task_is_taken_back_and_the_next_one_starts() {
    let scene = blocked();
    scene.waits("send p1 SKIP_TASK", "IMPLEMENT_TASK");
    assert_eq!(scene.context()["task"]["id"], "T-002");
    assert_eq!(scene.read("calc.py"), "", "the next task begins where this one did");
    assert_eq!(scene.context()["marks"][0]["status"], "BLOCKED");
    assert!(scene.run("trace p1").stdout.contains("the files before that are refs/interlock/p1/"));
}

#[test]
fn a_session_with_a_skipped_task_is_incomplete_and_one_that_was_rolled_back_fails() {
    let scene = blocked();
    for task in ["T-002", "T-003"] {
        scene.run(&format!("send p1 update_progress --data '{{\"task\": \"{task}\", \"status\": \"DONE\"}}'"));
    }
    scene.waits("send p1 SKIP_TASK", "READY");
    let closed = scene.run("send p1 CLOSE");
    assert!(closed.code == Some(5) && closed.stdout.contains("CLOSED_WITH_SKIPPED"), "{closed}");
    let back = blocked();
    back.waits("send p1 ROLLBACK", "READY");
    let closed = back.run("send p1 CLOSE");
    assert!(closed.code == Some(1) && closed.stdout.contains("NOT_DONE"), "{closed}");
}

#[test]
fn a_session_with_an_untested_task_is_incomplete_and_names_the_task_and_the_reason() {
    let scene =
        Scene::python().confirmed("# Sums\n\n- [ ] T-001: [P0] Add numbers (calc.py)\n  * Verify: the tests pass\n");
    scene.python_task("add", "a + b", "add(1, 2) == 3");
    scene.write("more.py", "def subtract(a, b):\n    return a * b\n");
    scene.waits("send p1 code_changed", "READY");
    assert_eq!(scene.log()[1], "feat: [T-001] Add numbers", "a warning holds nothing up");
    let closed = scene.run("send p1 CLOSE");
    assert!(closed.code == Some(5) && closed.stdout.contains("CLOSED_WITH_WARNINGS"), "{closed}");
    assert!(
        closed.stderr.contains("Measured, not verified: tree ") && !closed.stderr.contains("Verified:"),
        "{closed}"
    );
    let trace = scene.run("trace p1").stdout;
    assert!(trace.contains("T-001: the change in more.py is untested"), "{trace}");
    let report = scene.run("report p1").stdout;
    let told = [
        "not fully verified: `",
        "but the change in more.py is untested",
        "| programs | ",
        "3 commits moved refs/heads/main.",
    ];
    assert!(told.iter().all(|words| report.contains(words)), "{report}");
    let own = report.lines().find(|line| line.starts_with("| Interlock itself |")).unwrap();
    let percent: f64 = own.split(['(', '%']).nth(1).unwrap().trim().parse().unwrap();
    assert!(percent < 90.0, "the time of the checks is that of programs: {own}");
}

#[test]
fn a_report_tells_the_checks_of_every_task() {
    let second = "- [ ] T-002: [P1] Subtract numbers (calc.py)\n  * Verify: the tests pass\n";
    let scene = Scene::python()
        .confirmed(&format!("# Sums\n\n- [ ] T-001: [P0] Add numbers (calc.py)\n  * Verify: the tests pass\n{second}"));
    scene.python_task("add", "a + b", "add(1, 2) == 3");
    scene.write("more.py", "def subtract(a, b):\n    return a * b\n");
    scene.waits("send p1 code_changed", "IMPLEMENT_TASK");
    scene.python_task("subtract", "a - b", "subtract(3, 2) == 1");
    scene.waits("send p1 code_changed", "READY");
    let report = scene.run("report p1").stdout;
    assert!(report.contains("not fully verified: `"), "{report}");
    assert!(
        report.contains("; of earlier commits, in record ") && report.contains("the change in more.py"),
        "{report}"
    );
}

#[test]
fn a_rollback_restores_files_and_branch_and_keeps_the_work_of_a_person() {
    let scene = Scene::python();
    scene.write("before.txt", "not committed before the run\n");
    let scene = scene.confirmed(PRD);
    scene.python_task("add", "a + b", "add(1, 2) == 3");
    scene.waits("send p1 code_changed", "IMPLEMENT_TASK");
    scene.python_task("subtract", "a + b", "subtract(3, 2) == 1");
    scene.write("during.txt", "not committed during the run\n");
    scene.waits("send p1 code_changed", "APPLY_FIX");
    scene.waits("send p1 FORCE_STOP", "BLOCKED");
    scene.waits("send p1 ROLLBACK", "READY");
    assert_eq!(scene.log(), ["docs: [PRD] Arithmetic", "first"]);
    assert_eq!(
        (scene.read("calc.py"), scene.read("before.txt")),
        (String::new(), "not committed before the run\n".into())
    );
    assert!(!scene.path().join("during.txt").exists());
    assert_eq!(scene.git("status --porcelain"), "?? .agent/\n?? before.txt");
    let note = scene.context()["scratchpad"][0].as_str().unwrap().to_owned();
    let stash = note.rsplit('/').next().unwrap();
    let copy = scene.path().with_file_name("copy");
    assert_eq!(scene.run(&format!("snapshots p1 {stash} --into {}", copy.display())).code, Some(0));
    assert_eq!(std::fs::read_to_string(copy.join("during.txt")).unwrap(), "not committed during the run\n");
}

#[test]
fn a_rollback_over_the_commit_of_somebody_else_is_refused() {
    let scene = blocked();
    scene.write("theirs.txt", "theirs\n");
    scene.git("add theirs.txt");
    scene.git("commit -q -m theirs");
    scene.waits("send p1 ROLLBACK", "BLOCKED");
    let error = scene.context()["last_error"].as_str().unwrap().to_owned();
    assert!(error.contains("which this run did not make"), "{error}");
    assert_eq!((scene.log()[0].as_str(), scene.read("theirs.txt")), ("theirs", "theirs\n".into()));
}

#[test]
fn a_blocked_session_can_be_aborted() {
    let scene = blocked();
    assert_eq!(scene.run("abort p1").code, Some(0));
    assert_eq!(scene.json("show p1")["phase"], "aborted");
}

#[test]
fn a_missing_program_blocks_before_the_agent_works_and_is_looked_for_again() {
    let scene = Scene::new(&[("Makefile", "test:\n\tno-such-sdk --version\n"), ("a.txt", "")]);
    scene.planned("# A\n\n- [ ] T-001: [P0] Write (a.txt)\n  * Verify: it works\n");
    scene.waits("send p1 go", "BLOCKED");
    let error = scene.context()["last_error"].as_str().unwrap().to_owned();
    assert!(error.contains("`make test` cannot run: the program no-such-sdk is not installed"), "{error}");
    let again = "send p1 HUMAN_INTERVENTION --data '{\"guidance\": \"look again\"}'";
    scene.waits(again, "BLOCKED");
    scene.write("Makefile", "test:\n\tcat a.txt\n");
    scene.waits(again, "IMPLEMENT_TASK");
}

#[test]
fn a_changed_definition_of_a_command_needs_a_person() {
    let scene = Scene::new(&[("Makefile", "test:\n\tgrep -q done a.txt\n"), ("a.txt", "")]);
    let scene = scene.confirmed("# A\n\n- [ ] T-001: [P0] Write (a.txt)\n  * Verify: it works\n");
    scene.write("a.txt", "begun\n");
    scene.write("Makefile", "test:\n\ttrue\n");
    scene.waits("send p1 code_changed", "BLOCKED");
    let error = scene.context()["last_error"].as_str().unwrap().to_owned();
    assert!(error.contains("the commands pass, but they prove nothing about the task"), "{error}");
    let shown = scene.run("show p1").stdout;
    assert!(shown.contains("+++ b/Makefile") && shown.contains("grep -q done a.txt"), "{shown}");
    scene.waits("send p1 ACCEPT_COMMANDS", "READY");
    assert_eq!(scene.log()[1], "feat: [T-001] Write");
}

#[test]
fn a_branch_that_somebody_else_has_moved_needs_a_person() {
    let test = |count: u8| format!("test \"$(sh count.sh a b)\" = {count}\n");
    let strict = test(2);
    let files = [("Makefile", "test:\n\tsh tests/run.sh\n"), ("tests/run.sh", &*strict), ("count.sh", "echo 0\n")];
    let scene = Scene::new(&files).confirmed("# A\n\n- [ ] T-001: [P0] Count (count.sh)\n  * Verify: it works\n");
    scene.write("tests/run.sh", &test(7));
    scene.git("commit -q -a -m weaker");
    scene.git("checkout -q HEAD~1 -- tests/run.sh");
    scene.write("count.sh", "echo 7\n");
    scene.waits("send p1 code_changed", "BLOCKED");
    let objections = scene.context()["objections"].to_string();
    assert!(objections.contains("somebody else than this run has moved the branch main from "), "{objections}");
    assert!(objections.contains("tests/run.sh"), "the old test fails: {objections}");
    scene.waits("send p1 ACCEPT_COMMANDS", "READY");
    assert_eq!(scene.log()[1..3], ["feat: [T-001] Count", "weaker"]);
}

#[test]
fn weakened_tests_need_a_person() {
    let scene = Scene::python().confirmed(PRD);
    scene.python_task("add", "a + b", "add(1, 2) == 3");
    scene.waits("send p1 code_changed --data '{\"weakened\": [\"test_calc.py: a test was deleted\"]}'", "BLOCKED");
    scene.waits(
        "send p1 HUMAN_INTERVENTION --data '{\"guidance\": \"it was wrong\", \"done\": true}'",
        "IMPLEMENT_TASK",
    );
    assert_eq!(scene.log()[0], "feat: [T-001] Add numbers");
}

#[test]
fn commands_that_pass_without_a_change_are_not_believed() {
    let scene = Scene::python().confirmed("# Sums\n\n- [ ] T-001: [P0] Add numbers\n  * Verify: the tests pass\n");
    scene.waits("send p1 code_changed", "BLOCKED");
    assert!(scene.context()["last_error"].as_str().unwrap().contains("has changed nothing"));
}

#[test]
fn a_file_that_a_task_names_and_nobody_wrote_is_an_error() {
    let scene = Scene::python().confirmed(PRD);
    scene.waits("send p1 code_changed", "APPLY_FIX");
    let error = scene.context()["last_error"].as_str().unwrap().to_owned();
    assert!(error.contains("`calc.py` was to be written, and the change does not write it"), "{error}");
}

#[test]
fn files_that_commands_make_are_not_committed() {
    let scene = Scene::new(&[("Makefile", "test:\n\techo more >> log.txt\n"), ("a.txt", "")]);
    let scene = scene.confirmed("# A\n\n- [ ] T-001: [P0] Write (a.txt)\n  * Verify: it works\n");
    scene.write("a.txt", "done\n");
    scene.waits("send p1 code_changed", "READY");
    assert_eq!(scene.git("diff-tree --no-commit-id --name-only -r HEAD~1"), "a.txt");
}
