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

/// Output whose parts are attacks, in the forms that the page shows in a special way.
fn outputs() -> [(&'static str, String); 4] {
    let attack = serde_json::json!(ATTACK);
    let code = serde_json::json!({
        "cells": [
            { "cell_type": "markdown", "source": [ATTACK, "[link](javascript:window.bad=5)"] },
            { "cell_type": "code", "source": ATTACK, "outputs": [
                { "data": { "text/html": ATTACK, "image/svg+xml": ATTACK, "text/plain": ATTACK } },
                { "data": { "image/png": ATTACK } },
                { "traceback": [ATTACK] },
            ] },
        ],
    });
    let name = ATTACK.replace(' ', "");
    [
        ("a tree", serde_json::json!({ ATTACK: ATTACK, "list": [ATTACK, { "x": attack }] }).to_string()),
        ("a notebook", code.to_string()),
        (
            "a diff",
            format!(
                "diff --git a/{name} b/{name}\n--- a/{name}\n+++ b/{name}\n@@ -1 +1 @@ {ATTACK}\n-{ATTACK}\n+{ATTACK}\n"
            ),
        ),
        ("a log", format!("\u{1b}[31m{ATTACK}\u{1b}[0m \u{1b}]8;;javascript:window.bad=6\u{7}link\u{1b}]8;;\u{7}\n")),
    ]
}

#[test]
fn evidence_of_every_form_is_text() {
    let Some(scene) = Scene::new() else { return };
    scene.write("make.sh", "cat output\n");
    for (at, (form, output)) in outputs().into_iter().enumerate() {
        scene.write("output", &output);
        let run = format!("m{at}");
        scene.run(&["run", "maker", "--name", &run]);
        let browser = scene.view(&format!("/runs/{run}"));
        browser.click(".tabs", "Evidence");
        browser.click(".panel", "stdout");
        browser.until_text("dialog .evidence", "onerror=");
        // Trees open their branches on demand.
        browser.script("document.querySelectorAll('dialog details').forEach((part) => { part.open = true; })");
        let made = browser.value(
            "[...document.querySelectorAll('dialog script, dialog svg, dialog iframe, dialog [onerror], dialog [onload], dialog a:not([download])')].length",
        );
        assert_eq!(made, 0, "{form}");
        let images = browser.value("[...document.querySelectorAll('dialog img')].filter((image) => !image.src.startsWith('data:image/png;base64,')).length");
        assert_eq!(images, 0, "{form}");
        assert_eq!(browser.value("window.bad ?? null"), serde_json::Value::Null, "{form}");
    }
}
