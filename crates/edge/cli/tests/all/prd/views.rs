//! `active_context.md` and `interlock context`.

use super::scene::{PRD, Scene};

const VIEW: &str = ".agent/memory/active_context.md";

#[test]
fn the_file_follows_every_state() {
    let scene = Scene::python();
    assert!(scene.read(VIEW).contains("task_status: IDLE\n"), "{}", scene.read(VIEW));
    scene.planned(PRD);
    assert!(scene.read(VIEW).contains("task_status: CONFIRMING\n"));
    scene.waits("send p1 go", "IMPLEMENT_TASK");
    let text = scene.read(VIEW);
    assert!(
        text.contains("session_id: \"p1\"\ntask_status: EXECUTING\nauto_fix_attempts: 0\nlast_checkpoint: \"chk-2"),
        "{text}"
    );
    assert!(text.contains("- [PENDING] T-001: [P0] Add numbers (calc.py)\n"), "{text}");
    scene.python_task("add", "a + b", "add(1, 2) == 3");
    scene.waits("send p1 code_changed", "IMPLEMENT_TASK");
    assert!(scene.read(VIEW).contains("- [DONE] T-001: [P0] Add numbers (calc.py), commit "));
    let trees = scene.git("ls-tree -r --name-only HEAD");
    assert!(!trees.contains(".agent"), "{trees}");
}

#[test]
fn a_hand_edit_is_overruled_and_reported() {
    let scene = Scene::python().confirmed(PRD);
    scene.write(VIEW, "---\ntask_status: IDLE\n---\n");
    scene.python_task("add", "a + b", "add(1, 2) == 3");
    scene.waits("send p1 code_changed", "IMPLEMENT_TASK");
    let text = scene.read(VIEW);
    assert!(text.contains("task_status: EXECUTING\n") && text.contains("was edited by hand"), "{text}");
    let shown = scene.run("context p1").stdout;
    assert!(shown.contains("was edited by hand"), "{shown}");
}

#[test]
fn progress_is_updated_the_legal_way() {
    let scene = Scene::python().confirmed(PRD);
    let sent = scene.run("context p1 update_progress T-002 blocked 'not now'");
    assert_eq!(sent.code, Some(4), "{sent}");
    let context = scene.json("context p1");
    assert_eq!((&context["done"], &context["pending"], &context["blocked"]), (&0.into(), &2.into(), &1.into()));
    scene.python_task("add", "a + b", "add(1, 2) == 3");
    scene.waits("send p1 code_changed", "IMPLEMENT_TASK");
    assert_eq!(scene.context()["task"]["id"], "T-003", "a blocked task is not taken");
    let text = scene.run("context p1").stdout;
    assert!(
        text.starts_with("p1: EXECUTING\n  goal        do sums\n  tasks       1 done, 1 pending, 1 blocked (33 %)\n"),
        "{text}"
    );
    assert_ne!(scene.run("context p1 update_progress T-999 DONE").code, Some(4));
}
