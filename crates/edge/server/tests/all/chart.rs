//! The picture of a machine: states that can be collapsed, with mouse and keyboard.

use crate::scene::Scene;

/// Has a composite state.
const NEST: &str = "\
machine: nest
version: 1
summary: Has states within a state.
events: { go: { from: user, summary: Go on }, out: { from: user, summary: Leave } }
initial: outer
states:
  outer:
    initial: first
    on: { out: { target: left } }
    states:
      first: { tags: [idle], on: { go: { target: second } } }
      second: { tags: [idle], on: { go: { target: first } } }
  left: { type: final, outcome: success }
";

#[test]
fn a_composite_state_is_collapsed_and_expanded_with_the_keyboard() {
    let Some(scene) = Scene::new() else { return };
    scene.write(".interlock/machines/nest/machine.yaml", NEST);
    scene.run(&["run", "nest", "--name", "n1"]);
    let browser = scene.view("/runs/n1");
    browser.until("document.querySelector('[data-state=first].lit')");
    let press = "document.activeElement.dispatchEvent(new KeyboardEvent('keydown', { key: 'Enter', bubbles: true }))";
    browser.script("document.querySelector('.fold').focus()");
    browser.script(press);
    browser.until("!document.querySelector('[data-state=first]')");
    // The state that contains the active one is lit, and keeps the focus.
    browser.until("document.querySelector('[data-state=outer].lit .box')");
    assert_eq!(browser.value("document.activeElement.getAttribute('aria-label')"), "Expand outer");
    assert_eq!(browser.value("document.activeElement.getAttribute('aria-expanded')"), "false");
    // The chart stays collapsed while the run moves.
    scene.run(&["send", "n1", "go"]);
    browser.until_text(".timeline", "second");
    assert_eq!(browser.value("document.querySelectorAll('[data-state=second]').length"), 0);
    browser.script(press);
    browser.until("document.querySelector('[data-state=second].lit')");
}

#[test]
fn a_large_machine_begins_as_an_overview_and_is_expanded_and_collapsed_at_once() {
    let Some(scene) = Scene::new() else { return };
    let browser = scene.view("/machines/brain");
    let area = || {
        let size = "(({ width, height }) => width * height)(document.querySelector('svg.machine').viewBox.baseVal)";
        browser.value(size).as_f64().unwrap()
    };
    let (open, closed) = (
        "document.querySelectorAll('[data-fold=open]').length",
        "document.querySelectorAll('[data-fold=closed]').length",
    );
    browser.until(&format!("{closed} > 0 && {open} > 0"));
    let overview = area();
    browser.click_labelled("Expand all states");
    browser.until(&format!("{closed} === 0"));
    let whole = area();
    assert!(overview < whole * 0.8, "{overview} {whole}");
    browser.click_labelled("Collapse all states");
    browser.until(&format!("{open} === 0"));
    assert!(area() < overview);
    // A search finds a state inside a collapsed one.
    browser.fill("input[type=search]", "CODING");
    browser.until("document.querySelector('[data-state=CODING].found')");
}
