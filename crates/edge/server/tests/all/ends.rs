//! The ends of runs on the page: no failure is hidden, an incomplete end looks like one, and a refusal names its rule.

use crate::{crowd, scene::Scene};

/// Ends as a person says.
const ENDS: &str = "\
machine: ends
version: 1
summary: Ends as it is told.
events: { good: { from: user }, half: { from: user }, bad: { from: user } }
initial: open
states:
  open: { tags: [idle], on: { good: { target: done }, half: { target: partly, reason: the second step was not verified }, bad: { target: broken, reason: the tests fail } } }
  done: { type: final, outcome: success }
  partly: { type: final, outcome: incomplete }
  broken: { type: final, outcome: failure }
";

/// Runs a command that policy denies; the machine's own reason says nothing about it.
const DENIED: &str = "\
machine: denied
version: 1
summary: Tries something.
initial: working
on: { error: { target: stopped, reason: it did not work }, timeout: { target: stopped } }
states:
  working:
    summary: The main session works.
    invoke: { activity: command.run, with: { command: sudo true }, signals: [passed, failed] }
    timeout: 5m
    on: { passed: { target: made }, failed: { target: stopped } }
  made: { type: final, outcome: success }
  stopped: { type: final, outcome: aborted }
";

fn end(scene: &Scene, name: &str, event: &str) {
    scene.run(&["run", "ends", "--name", name]);
    // The exit code says how the run ended.
    let _ = scene.try_run(&["send", name, event]);
}

#[test]
fn old_failures_are_on_the_board_and_in_the_list_however_many_runs_succeed_later() {
    let Some(scene) = Scene::new() else { return };
    scene.write(".interlock/machines/ends/machine.yaml", ENDS);
    end(&scene, "bad", "bad");
    crowd::copies(&scene.home(), "bad", (0..7).map(|at| format!("bad{at}")));
    end(&scene, "half", "half");
    end(&scene, "good", "good");
    crowd::copies(&scene.home(), "good", (0..99).map(|at| format!("good{at:02}")));
    let browser = scene.view("/board");
    browser.until_text(".column[aria-label=failed] h2", "8");
    browser.until_text(".column[aria-label=incomplete] h2", "1");
    browser.until_text(".column[aria-label=succeeded] h2", "100");
    assert_eq!(browser.value("document.querySelectorAll('.column[aria-label=failed] .card').length"), 8);
    browser.click(".column[aria-label=succeeded]", "30 of 100: load more");
    browser.until("document.querySelectorAll('.column[aria-label=succeeded] .card').length === 60");
    // By state, the columns of failures are there too, and a column that is not complete says so.
    scene.view("/board?machine=ends").until_text(".column[aria-label=broken] h2", "8");
    browser.until_text(".column[aria-label=done] h2", "30+");
    browser.until_text(".totals", "failed 8");
    scene.view("/").until_text(".chip", "failed 8");
    browser.until_text(".chip", "succeeded 100");
    // A run that fails meanwhile is counted.
    scene.view("/board").until_text(".column[aria-label=failed] h2", "8");
    end(&scene, "late", "bad");
    browser.until_text(".column[aria-label=failed] h2", "9");
}

#[test]
fn an_incomplete_end_is_shown_with_its_reason() {
    let Some(scene) = Scene::new() else { return };
    scene.write(".interlock/machines/ends/machine.yaml", ENDS);
    end(&scene, "half", "half");
    let browser = scene.view("/runs/half");
    browser.until_text(".end.incomplete", "incomplete: the second step was not verified");
    browser.click(".tabs", "Report");
    browser.until_text(".report p", "ends ended incomplete in partly: the second step was not verified");
    assert_eq!(scene.shown("half")["outcome"], "incomplete");
    assert_eq!(scene.shown("half")["reason"], "the second step was not verified");
}

#[test]
fn a_run_that_policy_stopped_shows_the_command_and_the_rule() {
    let Some(scene) = Scene::new() else { return };
    scene.write(".interlock/machines/denied/machine.yaml", DENIED);
    let _ = scene.try_run(&["run", "denied", "--name", "d1"]);
    let browser = scene.view("/runs/d1");
    browser.until_text(".end .refusal code", "sudo true");
    browser.until_text(".end .refusal", "other-rights");
    browser.click(".tabs", "Report");
    browser.until_text(".report p", "policy refused sudo true (rule other-rights) in record 3");
    let shown = scene.run(&["show", "d1"]);
    assert!(shown.contains("policy refused `sudo true` (rule other-rights) in record 3"), "{shown}");
    assert_eq!(scene.shown("d1")["refused"][0]["refused"]["rule"], "other-rights");
}
