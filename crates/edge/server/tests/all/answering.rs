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

#[test]
fn a_message_on_the_page_of_an_ended_run_continues_it_and_both_pages_name_the_other() {
    let Some(scene) = Scene::new() else { return };
    scene.run(&["run", "talk", "--name", "t1"]);
    scene.run(&["send", "t1", "enough"]);
    let browser = scene.view("/runs/t1");
    browser.until_text(".ask h2", "Continue it as a new run");
    browser.fill(".ask form textarea", "one more thing");
    browser.click(".ask form", "Send say");
    browser.until_text(".run-head h1", "t1-2");
    browser.until_text(".run-head", "continues t1");
    assert_eq!(scene.shown("t1-2")["context"]["said"][0], "one more thing");
    scene.view("/runs/t1").until_text(".run-head .continued", "t1-2");
    browser.until("!document.querySelector('.ask form')");
    scene.view("/").until_text("[data-run=t1] .now", "t1-2");
}
