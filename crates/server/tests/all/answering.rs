//! Starts runs and answers them on the page.

use crate::scene::Scene;

#[test]
fn a_run_starts_from_the_form_and_its_chart_is_lit() {
    let Some(scene) = Scene::new() else { return };
    let browser = scene.view("/start/gate");
    browser.fill("#name", "g1");
    browser.click("form.card", "Start");
    browser.until_text(".field-error", "fill out this field");
    browser.fill("form.card .fields input[type=text]", "more speed");
    browser.click("form.card", "Start");
    browser.until_text(".run-head h1", "g1");
    browser.until("document.querySelector('[data-state=closed].lit')");
    assert_eq!(scene.shown("g1")["input"]["change"], "more speed");
}

#[test]
fn an_answer_in_the_inbox_moves_the_run_and_the_chart_elsewhere() {
    let Some(scene) = Scene::new() else { return };
    scene.start_gate("g1");
    let browser = scene.view("/runs/g1");
    browser.until("document.querySelector('[data-state=closed].lit')");
    let chart = browser.open_window();
    scene.view("/inbox").until_text("[data-run=g1] .shown", "more speed");
    browser.click("[data-run=g1]", "open…");
    browser.fill("[data-run=g1] form textarea", "good enough");
    // The event ends the run, so the first click only asks.
    browser.click("[data-run=g1] form", "Send open");
    browser.until_text("[data-run=g1] form button", "Click again");
    assert_eq!(scene.shown("g1")["phase"], "waiting");
    browser.click("[data-run=g1] form", "Click again");
    browser.until("!document.querySelector('[data-run=g1]')");
    browser.go_to_window(&chart);
    browser.until("document.querySelector('[data-state=passed].lit')");
    browser.until_text(".timeline .why", "good enough");
    assert_eq!(scene.shown("g1")["context"]["note"], "good enough");
}

#[test]
fn counters_are_shown_as_n_of_max_and_transitions_are_numbered() {
    let Some(scene) = Scene::new() else { return };
    scene.start_gate("g1");
    let browser = scene.view("/runs/g1");
    browser.click(".ask", "knock");
    browser.until_text(".limits", "1 of 30");
    browser.until("document.querySelector('[data-state=heard].lit')");
    browser.until_text("svg .mark", "2");
}
