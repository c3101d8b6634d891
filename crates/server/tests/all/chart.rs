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
fn all_states_are_collapsed_at_once_and_the_picture_becomes_smaller() {
    let Some(scene) = Scene::new() else { return };
    let browser = scene.view("/machines/brain");
    browser.until("document.querySelectorAll('.fold').length > 2");
    let area = || {
        browser.value("(({ width, height }) => width * height)(document.querySelector('svg.machine').viewBox.baseVal)")
    };
    let before = area().as_f64().unwrap();
    browser.script("document.querySelector('.chart-tools [aria-label=\"Collapse all states\"]').click()");
    browser.until("document.querySelectorAll('[data-fold=closed]').length > 0");
    assert!(area().as_f64().unwrap() < before / 2.0);
    browser.script("document.querySelector('.chart-tools [aria-label=\"Expand all states\"]').click()");
    browser.until("document.querySelectorAll('[data-fold=closed]').length === 0");
}
