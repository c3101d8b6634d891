//! Text of models, logs, files and people is never interpreted by the browser.

use crate::scene::Scene;

/// Would run a script in each context that interprets it: text, attribute, script, SVG.
const ATTACK: &str =
    r#""'><img src=x onerror="window.bad=1"><script>window.bad=2</script><svg onload="window.bad=3"></svg>"#;

/// Finds elements that only an interpreted attack can make.
const MADE: &str = "document.querySelectorAll('main script, main img, main [onerror], main [onload], main [onclick], main foreignObject').length";

/// A machine whose texts are attacks.
const ODD: &str = "\
machine: odd
version: 1
summary: TEXT
events: { go: { from: user, summary: TEXT } }
initial: here
states:
  here: { tags: [idle], summary: TEXT, on: { go: { target: there, reason: TEXT } } }
  there: { type: final, outcome: success }
";

#[test]
fn input_reasons_and_data_are_text_in_every_view() {
    let Some(scene) = Scene::new() else { return };
    let browser = scene.view("/start/gate");
    browser.fill("#name", "g1");
    browser.fill("form.card .fields input[type=text]", ATTACK);
    browser.click("form.card", "Start");
    browser.until_text(".run-head h1", "g1");
    browser.until_text(".shown", "<img");
    scene.view("/inbox").until_text("[data-run=g1] .shown", "<script>");
    assert_eq!(browser.value(MADE), 0);
    browser.click("[data-run=g1]", "open…");
    browser.fill("[data-run=g1] form textarea", ATTACK);
    browser.click("[data-run=g1] form", "Send open");
    browser.click("[data-run=g1] form", "Click again");
    browser.until("!document.querySelector('[data-run=g1]')");
    scene.view("/runs/g1").until_text(".timeline .why", "<img");
    browser.until_text(".panel", "<script>");
    for view in [
        "/",
        "/board",
        "/board?machine=gate",
        "/?prefix=%3Cscript%3E&machine=%22%3E%3Cimg%20src=x%20onerror=window.bad=4%3E",
    ] {
        scene.view(view).until("document.querySelector('h1')");
        assert_eq!(browser.value(MADE), 0, "{view}");
        assert_eq!(browser.value("window.bad ?? null"), serde_json::Value::Null, "{view}");
    }
}

#[test]
fn the_text_of_a_machine_is_text_in_its_picture_and_source() {
    let Some(scene) = Scene::new() else { return };
    let text = format!("'Odd {}'", ATTACK.replace('\'', ""));
    scene.write(".interlock/machines/odd/machine.yaml", &ODD.replace("TEXT", &text));
    for view in ["/machines", "/machines/odd", "/start/odd"] {
        let browser = scene.view(view);
        browser.until_text("main", "onerror=");
        assert_eq!(browser.value(MADE), 0, "{view}");
        assert_eq!(browser.value("window.bad ?? null"), serde_json::Value::Null, "{view}");
    }
}
