//! Every view fits a phone, also with content that has no place to break.

use crate::scene::Scene;

/// The width of a common phone, in CSS pixels.
const WIDTH: u32 = 390;

/// Asks with wide words, a patch and a table.
const WIDE: &str = "\
machine: wide
version: 1
summary: Shows wide things.
input: { type: object, properties: { patch: { type: string }, word: { type: string }, table: { type: array } } }
events:
  an_event_with_a_long_name_that_has_no_blank_at_all_and_is_wide: { from: user, summary: a-summary-that-has-no-blank-at-all-and-is-wide, data: { type: object, required: [a_field_with_a_very_long_name_that_does_not_fit], properties: { a_field_with_a_very_long_name_that_does_not_fit: { type: string } } } }
  approve: { from: user, summary: fine }
initial: a_state_with_a_long_name_that_has_no_blank_at_all_and_is_wide
states:
  a_state_with_a_long_name_that_has_no_blank_at_all_and_is_wide: { tags: [idle], summary: this/path/that/has/no/blank/and/is/very/long/indeed/so/that/it/does/not/fit, shows: { patch: '${input.patch}', word: '${input.word}', table: '${input.table}' }, on: { approve: passed, an_event_with_a_long_name_that_has_no_blank_at_all_and_is_wide: passed } }
  passed: { type: final, outcome: success }
";

#[test]
fn no_view_is_wider_than_a_phone() {
    let Some(scene) = Scene::new() else { return };
    scene.write(".interlock/machines/wide/machine.yaml", WIDE);
    let long = "x".repeat(200);
    let patch =
        format!("--- a/src/very/long/{long}.c\n+++ b/src/very/long/{long}.c\n@@ -1 +1 @@ {long}\n-{long}\n+{long}\n");
    let row: serde_json::Map<_, _> =
        (0..8).map(|at| (format!("a_long_column_name_{at}"), long.clone().into())).collect();
    let input = serde_json::json!({ "patch": patch, "word": long, "table": [row] });
    scene.write("input.json", &input.to_string());
    let name = format!("run-{}", "y".repeat(80));
    scene.run(&["run", "wide", "--name", &name, "--input", "input.json"]);
    scene.write("make.sh", &format!("echo {long} > {long}; echo {long}; sleep 0\n"));
    scene.run(&["run", "maker", "--name", "m1"]);
    scene.browser.resize(WIDTH, 844);
    let tab = |name: &str| {
        format!(
            "[...document.querySelectorAll('[role=tab], .run-head button')].find((one) => one.textContent === '{name}').click()"
        )
    };
    let open = "for (const one of document.querySelectorAll('.choices button')) one.click()";
    let (of_wide, of_maker) = (format!("/runs/{name}"), "/runs/m1".to_owned());
    let mut views: Vec<(String, String, String)> = [
        ("/", "tbody tr"),
        ("/inbox", ".card"),
        ("/board", ".card"),
        ("/board?machine=wide", ".card"),
        ("/machines", "tbody tr"),
        ("/machines/wide", ".verdict"),
        ("/machines/brain", ".verdict"),
        ("/start/wide", "form.card"),
        ("/start/firmware", "form.card"),
    ]
    .map(|(path, there)| (path.to_owned(), there.to_owned(), String::new()))
    .into();
    views.push(("/inbox".to_owned(), ".card".to_owned(), open.to_owned()));
    for run in [of_wide, of_maker] {
        views.extend(
            ["Data", "Report", "Evidence", "Time and cost", "Output", "Diff", "Undo"]
                .map(|name| (run.clone(), ".timeline .row .what".to_owned(), tab(name))),
        );
    }
    for (path, there, act) in views {
        scene.view(&path).until(&format!("document.querySelector({there:?})"));
        scene.browser.script(&act);
        scene.browser.until("!document.querySelector('main, dialog')?.textContent.includes('Loading')");
        // A phone shows a page that is too wide smaller, so the width of its window says nothing.
        let width = scene
            .browser
            .value("Math.max(document.documentElement.scrollWidth, document.body.scrollWidth, innerWidth)");
        assert_eq!(width, WIDTH, "{path} {act}");
    }
}
