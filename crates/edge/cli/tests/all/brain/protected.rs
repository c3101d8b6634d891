//! Protected files that the agent changes, and check commands that need a permission or a program: a person is asked at
//! once, before turns are paid for nothing.

use serde_json::json;

use super::{
    agents::{says, scene},
    scene::Scene,
};

/// An agent that adds a workflow in its first two rounds and the program in all of them.
fn with_workflow() -> Scene {
    let edits = "printf '%s' \"$prompt\" > \"$HOME/prompt.$n\"\n\
                 mkdir -p .github/workflows && echo 'on: push' > .github/workflows/ci.yml\necho 'echo $#' > count.sh\n";
    scene(&format!("{edits}{}", says("Done: CI runs the tests.")))
}

fn second_prompt(scene: &Scene) -> String {
    let found = scene.session.folder().join("../cache/interlock/agents");
    let store = std::fs::read_dir(found).unwrap().next().unwrap().unwrap().path();
    std::fs::read_to_string(store.join("b1/script/prompt.2")).unwrap()
}

#[test]
fn edit_of_a_workflow_is_asked_about_and_repeated_after_the_grant() {
    let scene = with_workflow();
    let asked = scene.run("run brain --input ../input.json --name b1 --in-place");
    assert!(asked.code == Some(4) && asked.stdout.contains("GRANT_FOR_EDIT"), "{asked}");
    assert!(asked.stderr.contains("the agent changed .github/workflows, which was put back"), "{asked}");
    assert!(asked.stderr.contains("interlock grant b1 'fs.write:.github/workflows'"), "{asked}");
    assert!(!scene.folder().join(".github/workflows").exists());
    let offers = scene.json("show b1")["offers"].to_string();
    assert!(offers.contains("fs.write:.github/workflows") && offers.contains("which was put back"), "{offers}");
    let done = scene.run("grant b1 'fs.write:.github/workflows'");
    assert!(done.code == Some(0) && done.stdout.contains("COMPLETED"), "{done}");
    assert_eq!(scene.git(&["show", "interlock/b1:.github/workflows/ci.yml"]), "on: push");
    let told = second_prompt(&scene);
    assert!(told.contains(".github/workflows was put back") && told.contains("A person has allowed you"), "{told}");
    assert!(scene.run("report b1").stdout.contains("which was put back"));
}

#[test]
fn refused_edit_leaves_the_rest_of_the_work_and_a_warning() {
    let scene = with_workflow();
    scene.run("run brain --input ../input.json --name b1 --in-place");
    let done = scene.send("grant_refused", &json!({}));
    assert!(done.code == Some(5) && done.stdout.contains("COMPLETED_WITH_WARNINGS"), "{done}");
    assert_eq!(scene.context("warnings"), json!(["edit_refused"]));
    assert_eq!(scene.git(&["diff", "--name-only", "main", "interlock/b1"]), "count.sh");
}

#[test]
fn message_is_taken_while_a_grant_is_awaited() {
    let scene = with_workflow();
    scene.run("run brain --input ../input.json --name b1 --in-place");
    let again = scene.send("user_message", &json!({ "text": "do without the workflow" }));
    // The agent does not listen, so the person is asked again, and nothing is lost.
    assert!(again.code == Some(4) && again.stdout.contains("GRANT_FOR_EDIT"), "{again}");
    let told = second_prompt(&scene);
    assert!(told.contains("do without the workflow") && told.contains("Count the arguments"), "{told}");
    assert!(told.contains("needs a permission"), "{told}");
}

#[test]
fn check_that_needs_a_permission_is_asked_about_before_the_first_prompt() {
    let scene = scene(&format!("echo 'echo $#' > count.sh\n{}", says("Done.")));
    scene.write("../input.json", &json!({ "task": "Count the arguments", "test": "npm install left-pad" }).to_string());
    let asked = scene.run("run brain --input ../input.json --name b1 --in-place");
    assert!(asked.code == Some(4) && asked.stdout.contains("GRANT_FOR_CHECKS"), "{asked}");
    assert!(!scene.run("trace b1").stdout.contains("agent.prompt"), "nothing was prompted");
    let refused = scene.send("grant_refused", &json!({}));
    assert!(refused.code == Some(1), "{refused}");
}

#[test]
fn check_whose_program_is_missing_ends_the_run_before_the_first_prompt() {
    let scene = scene(&says("Done."));
    scene.write("../input.json", &json!({ "task": "Count the arguments", "test": "no-such-runner --all" }).to_string());
    let failed = scene.run("run brain --input ../input.json --name b1 --in-place");
    assert!(failed.code == Some(1) && failed.stderr.contains("`no-such-runner` is not installed"), "{failed}");
    assert!(!scene.run("trace b1").stdout.contains("agent.prompt"), "nothing was prompted");
    // A shell knows words that are no programs.
    scene.write(
        "../input.json",
        &json!({ "task": "Count the arguments", "test": "if true; then true; fi" }).to_string(),
    );
    let begun = scene.run("run brain --input ../input.json --name b2 --in-place");
    assert!(begun.stderr.contains("CODING"), "{begun}");
}
