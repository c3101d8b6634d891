//! The result of a run: where it is, how it gets into the checkout, what it cost, and how it is taken out again.

use serde_json::json;

use super::{
    agents::{says, scene},
    scene::{RIGHT, Scene},
};

/// An agent that does the work and reports its cost.
fn counting() -> Scene {
    let usage = json!({ "type": "usage", "tokens": 1200, "session_cost": 0.28 });
    scene(&format!("echo '{usage}'\necho 'echo $#' > count.sh\necho new > new.txt\n{}", says("Done.")))
}

fn file(scene: &Scene, name: &str) -> Option<String> {
    std::fs::read_to_string(scene.folder().join(name)).ok()
}

#[test]
fn result_of_a_run_in_place_is_applied_with_the_printed_command_and_undone() {
    let scene = counting();
    scene.write("mine.txt", "mine\n");
    scene.write("tests/run.sh", "# mine\ntest \"$(sh count.sh a b)\" = 2\n");
    let done = scene.run("run brain --input ../input.json --name b1 --in-place");
    assert_eq!(done.code, Some(0), "{done}");
    let lines: Vec<&str> = done.stderr.lines().collect();
    let at = lines.iter().position(|line| line.contains("on the branch interlock/b1")).unwrap();
    assert_eq!(lines[at + 2].trim(), "interlock apply b1", "{done}");
    let applied = scene.run("apply b1");
    assert!(applied.code == Some(0) && applied.stdout.contains("2 files changed, 1 commit"), "{applied}");
    assert_eq!(scene.git(&["log", "--format=%s", "main"]), "Count the arguments\nBegin");
    assert_eq!(scene.git(&["status", "--short"]), " M tests/run.sh\n?? mine.txt", "my own changes stay uncommitted");
    assert!(scene.run("apply b1").stdout.contains("nothing to apply"));
    assert_eq!(scene.git(&["switch", "-q", "interlock/b1"]), "");
    scene.git(&["switch", "-q", "main"]);
    let undone = scene.run("undo b1");
    assert_eq!(undone.code, Some(0), "{undone}");
    assert_eq!(scene.git(&["log", "--format=%s", "main"]), "Begin");
    assert_eq!(scene.git(&["status", "--short"]), " M tests/run.sh\n?? mine.txt");
    assert_eq!((file(&scene, "count.sh").as_deref(), file(&scene, "new.txt")), (Some("echo 0\n"), None));
}

#[test]
fn result_in_place_is_applied_over_files_that_a_person_changed_or_put_away() {
    let scene = counting();
    assert_eq!(scene.run("run brain --input ../input.json --name b1 --in-place").code, Some(0));
    scene.git(&["checkout", "-q", "--", "count.sh"]);
    scene.write("new.txt", "new\nand mine\n");
    let applied = scene.run("apply b1");
    assert_eq!(applied.code, Some(0), "{applied}");
    assert_eq!(file(&scene, "count.sh").as_deref(), Some(RIGHT));
    assert_eq!(file(&scene, "new.txt").as_deref(), Some("new\nand mine\n"));
    assert_eq!(scene.git(&["status", "--short"]), " M new.txt");
    // The person's own change is not lost by an undo either.
    let refused = scene.run("undo b1");
    assert_ne!(refused.code, Some(0), "{refused}");
    assert_eq!(scene.git(&["log", "-1", "--format=%s", "main"]), "Count the arguments");
    assert_eq!(file(&scene, "new.txt").as_deref(), Some("new\nand mine\n"));
}

#[test]
fn result_in_place_is_not_applied_over_other_commits() {
    let scene = counting();
    assert_eq!(scene.run("run brain --input ../input.json --name b1 --in-place").code, Some(0));
    scene.write("other.txt", "other\n");
    scene.git(&["add", "other.txt"]);
    scene.git(&["commit", "-q", "-m", "Other", "--only", "other.txt"]);
    let before = scene.git(&["status", "--short"]);
    let refused = scene.run("apply b1");
    assert!(refused.code == Some(1) && refused.stderr.contains("git merge interlock/b1"), "{refused}");
    assert_eq!((scene.git(&["status", "--short"]), scene.git(&["log", "-1", "--format=%s"])), (before, "Other".into()));
}

#[test]
fn undo_of_an_applied_worktree_changes_the_checkout_too() {
    let scene = counting();
    let done = scene.run("run brain --input ../input.json --name b1 --worktree");
    assert!(done.code == Some(0) && done.stderr.contains("interlock apply b1"), "{done}");
    assert!(done.stderr.contains("its files are in"), "{done}");
    assert_eq!(scene.run("apply b1").code, Some(0));
    assert_eq!(scene.git(&["log", "-1", "--format=%s", "main"]), "Count the arguments");
    scene.write("mine.txt", "mine\n");
    let undone = scene.run("undo b1");
    assert!(undone.code == Some(0) && undone.stderr.contains("was taken out of"), "{undone}");
    assert_eq!(scene.git(&["log", "-1", "--format=%s", "main"]), "Begin");
    assert_eq!((file(&scene, "count.sh").as_deref(), file(&scene, "new.txt")), (Some("echo 0\n"), None));
    assert_eq!(file(&scene, "mine.txt").as_deref(), Some("mine\n"));
}

#[test]
fn undo_refuses_if_the_applied_files_were_changed_since() {
    let scene = counting();
    assert_eq!(scene.run("run brain --input ../input.json --name b1 --worktree").code, Some(0));
    assert_eq!(scene.run("apply b1").code, Some(0));
    scene.write("count.sh", "echo mine\n");
    let refused = scene.run("undo b1");
    assert!(refused.code == Some(1) && refused.stderr.contains("E_CONFLICT"), "{refused}");
    assert_eq!(file(&scene, "count.sh").as_deref(), Some("echo mine\n"));
    assert_eq!(scene.git(&["show", "interlock/b1:count.sh"]), RIGHT.trim_end(), "nothing was undone");
}

#[test]
fn tokens_and_cost_of_the_agent_are_in_runs_and_show() {
    let scene = counting();
    assert_eq!(scene.run("run brain --input ../input.json --name b1 --in-place").code, Some(0));
    let expected = json!({ "tokens": 1200, "cost": 0.28 });
    assert_eq!(scene.json("show b1")["spent"], expected);
    assert_eq!(scene.json("runs")[0]["spent"], expected);
    assert!(scene.run("runs").stdout.contains("1200 tokens, $0.28"));
    assert!(scene.run("show b1").stdout.contains("spent: 1200 tokens, $0.28"));
}
