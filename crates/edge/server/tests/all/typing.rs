//! Text that a person types is never lost, whatever happens on the page meanwhile.

use interlock_testkit_activity::browser::Browser;

use crate::scene::Scene;

/// Returns the text of the focused field and the place of the caret.
fn typed(browser: &Browser) -> (String, u64) {
    let value = browser.value("[document.activeElement.value ?? '', document.activeElement.selectionStart ?? 0]");
    (value[0].as_str().unwrap_or_default().to_owned(), value[1].as_u64().unwrap_or(0))
}

#[test]
fn typing_goes_on_while_other_cards_move_and_its_own_question_changes() {
    let Some(scene) = Scene::new() else { return };
    for name in ["g1", "g2", "g3"] {
        scene.start_gate(name);
    }
    let browser = scene.view("/inbox");
    browser.click("[data-run=g2]", "open…");
    browser.until("document.activeElement.matches('[data-run=g2] textarea')");
    browser.press("go to ");
    // The card above moves to the end; its run asks anew.
    scene.run(&["send", "g1", "knock"]);
    browser.until_text("[data-run=g1]", "heard");
    browser.until("[...document.querySelectorAll('.inbox .card')].at(-1).dataset.run === 'g1'");
    browser.press("inbox ");
    assert_eq!(typed(browser), ("go to inbox ".to_owned(), 12));
    // The run itself moves on: the card keeps the text and says so.
    scene.run(&["send", "g2", "knock"]);
    browser.until_text("[data-run=g2] .outdated", "The question has changed");
    browser.press("gibm");
    assert_eq!(typed(browser), ("go to inbox gibm".to_owned(), 16));
    // It is answered elsewhere: the text still stays, until the person drops it.
    scene.run(&["send", "g2", "knock"]);
    scene.run(&["send", "g2", "open", "--data", r#"{"note":"fine"}"#]);
    browser.until_text("[data-run=g2] .outdated", "no longer open");
    browser.press("!");
    assert_eq!(typed(browser), ("go to inbox gibm!".to_owned(), 17));
    assert_eq!(browser.value("location.pathname"), "/inbox");
    browser.click("[data-run=g2] .outdated", "Drop the text");
    browser.until("!document.querySelector('[data-run=g2]')");
}

#[test]
fn letters_are_no_shortcuts_if_the_field_goes_while_a_person_types() {
    let Some(scene) = Scene::new() else { return };
    scene.start_gate("g1");
    let browser = scene.view("/inbox");
    browser.click("[data-run=g1]", "open…");
    browser.until("document.activeElement.matches('[data-run=g1] textarea')");
    browser.press("lo");
    browser.script("document.activeElement.blur()");
    browser.press("gm/?gb");
    assert_eq!(
        browser.value("[location.pathname, document.querySelectorAll('dialog').length]"),
        serde_json::json!(["/inbox", 0])
    );
    // A person who has left the field by a click uses them.
    browser.click("[data-run=g1]", "open…");
    browser.press("gm");
    browser.until("location.pathname === '/machines'");
}

#[test]
fn unsent_text_comes_back_with_its_form_and_goes_when_it_is_sent() {
    let Some(scene) = Scene::new() else { return };
    scene.start_gate("g1");
    let browser = scene.view("/runs/g1");
    browser.click(".ask", "open…");
    browser.until("document.activeElement.matches('.ask textarea')");
    browser.press("half a sen");
    // A record of the run does not take the form away.
    scene.run(&["send", "g1", "knock"]);
    browser.until("document.querySelector('[data-state=heard].lit')");
    browser.press("tence");
    assert_eq!(typed(browser).0, "half a sentence");
    scene.run(&["send", "g1", "knock"]);
    // Another view, and back; then the form of the inbox.
    scene.view("/machines").until_text("tbody", "gate");
    scene.view("/inbox").click("[data-run=g1]", "open…");
    browser.until("document.activeElement.value === 'half a sentence'");
    browser.click("[data-run=g1] form", "Send open");
    browser.click("[data-run=g1] form", "Click again");
    browser.until("!document.querySelector('[data-run=g1]')");
    assert_eq!(scene.shown("g1")["context"]["note"], "half a sentence");
    scene.view("/start/gate").fill("form.card .fields input[type=text]", "a new change");
    scene.view("/").until_text("tbody", "g1");
    scene
        .view("/start/gate")
        .until("document.querySelector('form.card .fields input[type=text]').value === 'a new change'");
    browser.fill("#name", "g2");
    browser.click("form.card", "Start");
    browser.until_text(".run-head h1", "g2");
    scene.view("/start/gate").until("document.querySelector('form.card .fields input[type=text]').value === ''");
}
