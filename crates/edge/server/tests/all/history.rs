//! The past of a run: replay, fork, undo.

use crate::scene::Scene;

#[test]
fn a_record_of_the_past_shows_the_chart_and_data_of_then_and_can_be_forked() {
    let Some(scene) = Scene::new() else { return };
    scene.start_gate("g1");
    scene.run(&["send", "g1", "open", "--data", r#"{"note":"fine"}"#]);
    let browser = scene.view("/runs/g1");
    browser.until("document.querySelector('[data-state=passed].lit')");
    browser.until_text(".panel", "fine");
    browser.click("#record-1", "");
    browser.until("document.querySelector('[data-state=closed].lit')");
    browser.until("!document.querySelector('.panel').textContent.includes('fine')");
    browser.click(".past", "Fork from here");
    browser.click(".past", "Click again");
    browser.until("document.querySelector('.run-head h1')?.textContent !== 'g1'");
    browser.until("document.querySelector('.run-head .phase.waiting')");
    assert_eq!(scene.shown("g1")["phase"], "succeeded");
}

#[test]
fn an_undo_is_previewed_and_leaves_files_that_others_have_changed() {
    let Some(scene) = Scene::new() else { return };
    scene.write("make.sh", "echo one > one.txt; echo two > two.txt\n");
    let browser = scene.view("/start/maker");
    browser.click("form.card", "Start");
    browser.until("document.querySelector('.run-head .phase.succeeded')");
    scene.write("two.txt", "by a person\n");
    browser.click(".run-head", "Undo");
    browser.until_text("dialog", "one.txt");
    browser.until_text("dialog", "it has been changed since");
    assert!(scene.project().join("one.txt").exists());
    browser.click("dialog", "Undo the rest");
    browser.click("dialog", "Click again");
    browser.until_text(".toast", "restored");
    assert!(!scene.project().join("one.txt").exists());
    assert_eq!(std::fs::read_to_string(scene.project().join("two.txt")).unwrap(), "by a person\n");
}
