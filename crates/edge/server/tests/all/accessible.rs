//! Every view follows the rules of axe-core: names, roles, contrast, order, and what else a program can check.

use interlock_testkit_activity::{browser::Browser, parts};

use crate::scene::Scene;

/// Finds violations. The page must be at rest, so that no colour is between two others.
const LOOK: &str = "const done = arguments[arguments.length - 1]; \
    axe.run(document, { resultTypes: ['violations'] }).then(({ violations }) => done(violations.map(({ id, nodes }) => \
    `${id}: ${nodes.slice(0, 3).map(({ html, failureSummary }) => `${html.slice(0, 300)} ${failureSummary}`).join(' | ')}`)), \
    (error) => done([String(error)]));";

struct Rules<'a> {
    source: String,
    browser: &'a Browser,
}

impl Rules<'_> {
    fn check(&self, place: &str) {
        self.browser.script(&self.source);
        let found = self.browser.script_later(LOOK);
        let found: Vec<&str> = found.as_array().unwrap().iter().map(|one| one.as_str().unwrap()).collect();
        assert!(found.is_empty(), "{place}:\n{}", found.join("\n"));
    }
}

#[test]
fn no_view_violates_a_rule_in_light_colours_on_a_desk_and_on_a_phone() {
    check_all("light", &[1360, 390]);
}

#[test]
fn no_view_violates_a_rule_in_dark_colours() {
    check_all("dark", &[1360]);
}

fn check_all(theme: &str, widths: &[u32]) {
    let Some(folder) = parts::installed("axe.sh") else { return };
    let Some(scene) = Scene::new() else { return };
    let source = std::fs::read_to_string(folder.join("node_modules/axe-core/axe.min.js")).unwrap();
    scene.write("make.sh", "printf -- '--- a/x\\n+++ b/x\\n@@ -1 +1 @@\\n-old\\n+new\\n'\n");
    scene.start_gate("g1");
    scene.run(&["send", "g1", "knock"]);
    scene.run(&["send", "g1", "knock"]);
    scene.start_gate("g2");
    scene.run(&["send", "g2", "open", "--data", r#"{"note":"fine"}"#]);
    scene.run(&["run", "maker", "--name", "m1"]);
    let rules = Rules { source, browser: &scene.browser };
    let views = [
        ("/", "tr[data-run=g1]"),
        ("/?prefix=nothing", ".empty:not([hidden])"),
        ("/inbox", "[data-run=g1]"),
        ("/board", "[data-run=g1]"),
        ("/board?machine=gate", "[data-run=g1]"),
        ("/runs/g1", ".timeline .row .what"),
        ("/runs/m1", ".timeline .row .what"),
        ("/machines", "tbody tr"),
        ("/machines/gate", ".verdict"),
        ("/machines/brain", ".fold"),
        ("/start/gate", "form.card"),
    ];
    for width in widths {
        scene.browser.resize(*width, 900);
        scene.view("/").script(&format!("localStorage.setItem('theme', '{theme}')"));
        for (path, ready) in views {
            scene.view(path).until(&format!("document.querySelector({ready:?})"));
            rules.check(&format!("{path} {theme} {width}"));
        }
        check_dialogs(&scene, &rules, &format!("{theme} {width}"));
    }
}

/// Checks the parts that a person opens.
fn check_dialogs(scene: &Scene, rules: &Rules<'_>, place: &str) {
    let browser = scene.view("/runs/m1");
    browser.click(".tabs", "Evidence");
    browser.click(".panel", "stdout");
    browser.until("document.querySelector('dialog .diff')");
    rules.check(&format!("a diff, {place}"));
    let browser = scene.view("/runs/g1");
    browser.click(".tabs", "Time and cost");
    browser.until("document.querySelector('.bars')");
    browser.click("#record-1", "");
    browser.until("document.querySelector('.past button')");
    rules.check(&format!("the past, {place}"));
    let browser = scene.view("/inbox");
    browser.click("[data-run=g1]", "open…");
    browser.until("document.querySelector('[data-run=g1] form')");
    rules.check(&format!("an answer, {place}"));
    browser.click(".tools", "?");
    browser.until("document.querySelector('dialog[open]')");
    rules.check(&format!("the keys, {place}"));
}
