//! The page for each role.

use crate::scene::Scene;

#[test]
fn a_viewer_sees_the_question_and_no_button() {
    let Some(scene) = Scene::new() else { return };
    scene.start_gate("g1");
    scene.log_in_as("viewer");
    scene.view("/inbox").until_text("[data-run=g1]", "more speed");
    assert_eq!(scene.browser.value("document.querySelectorAll('.card .answer button').length"), 0);
    scene.view("/runs/g1").until("document.querySelector('.timeline .row')");
    assert_eq!(scene.browser.value("document.querySelectorAll('.run-head button').length"), 0);
    scene.view("/start/gate").until_text("main", "can only read");
}

#[test]
fn an_operator_answers_under_the_name_of_the_token() {
    let Some(scene) = Scene::new() else { return };
    scene.start_gate("g1");
    scene.log_in_as("operator");
    scene.view("/runs/g1").click(".ask", "knock");
    scene.browser.until_text("#record-2 .marks", "operator");
}

#[test]
fn a_wrong_token_is_refused_with_a_hint() {
    let Some(scene) = Scene::new() else { return };
    scene.view("/").click(".tools .who", "");
    scene.browser.fill("#token", "nonsense");
    scene.browser.click("form", "Log in");
    scene.browser.until_text(".problem", "interlock token add");
}
