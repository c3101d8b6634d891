//! The cards of the board: what a run does, what it has cost, and the actions on it.

use crate::scene::Scene;

/// Waits for a person in the middle of a write, so that there are changes to look at.
const WRITER: &str = "\
machine: writer
version: 1
summary: Writes a file and asks.
events: { fine: { from: user, summary: Keep it }, abort: { from: user, summary: Stop } }
initial: writing
on: { abort: { target: gone }, error: { target: gone }, timeout: { target: gone } }
states:
  writing:
    invoke: { activity: command.run, effect: write, with: { command: [sh, write.sh] }, signals: [passed, failed] }
    timeout: 5m
    on: { passed: { target: asking }, failed: { target: gone } }
  asking: { tags: [idle], on: { fine: { target: kept } } }
  kept: { type: final, outcome: success }
  gone: { type: final, outcome: aborted }
";

#[test]
fn the_diff_of_a_run_at_work_is_one_click_away_and_secrets_are_hidden() {
    let Some(scene) = Scene::new() else { return };
    scene.write(".interlock/machines/writer/machine.yaml", WRITER);
    scene.write("write.sh", "echo new > notes.txt; echo 'key ghp_0123456789abcdefghijABCDEFGHIJ012345' >> notes.txt\n");
    scene.write("notes.txt", "old\n");
    scene.run(&["run", "writer", "--name", "w1"]);
    let browser = scene.view("/board");
    browser.click(".card[data-run=w1]", "Diff");
    browser.until_text("dialog .diff td.minus", "old");
    browser.until_text("dialog .diff td.plus", "new");
    assert_eq!(browser.value("document.querySelector('dialog').textContent.includes('ghp_0123')"), false);
    browser.click("dialog header", "✕");
    browser.click(".card[data-run=w1]", "Answer");
    browser.until_text("dialog .answer", "Keep it");
    browser.click("dialog .answer", "fine");
    browser.click("dialog .answer", "Click again");
    browser.until("document.querySelector('.card.succeeded[data-run=w1]')");
}

#[test]
fn a_card_pauses_resumes_and_aborts_its_run() {
    let Some(scene) = Scene::new() else { return };
    scene.start_gate("g1");
    let browser = scene.view("/board");
    browser.click(".card[data-run=g1]", "Pause");
    browser.until("document.querySelector('.card.paused[data-run=g1]')");
    browser.click(".card[data-run=g1]", "Resume");
    browser.until("document.querySelector('.card.waiting[data-run=g1]')");
    browser.click(".card[data-run=g1]", "Abort");
    browser.click(".card[data-run=g1]", "Click again");
    browser.until("document.querySelector('.card.aborted[data-run=g1]')");
    assert_eq!(scene.shown("g1")["phase"], "aborted");
}

/// Lets a coding agent work for two turns.
const DRIVEN: &str = "\
machine: driven
version: 1
summary: Lets an agent work and asks.
events: { again: { from: user, summary: Once more }, fine: { from: user, summary: Keep it } }
initial: coding
on: { error: { target: failed, reason: '${event.message}' }, timeout: { target: failed } }
states:
  coding:
    invoke: { activity: agent.prompt, with: { text: Do it }, signals: [turn_ended] }
    timeout: 5m
    on: { turn_ended: { target: asking } }
  asking: { tags: [idle], on: { again: { target: coding, limit: 3 }, fine: { target: kept } } }
  kept: { type: final, outcome: success }
  failed: { type: final, outcome: failure }
";

/// An agent that reports its tokens and the cost of its session, and writes a file.
const AGENT: &str = r#"read prompt
date >> turns.txt
turns=$(wc -l < turns.txt)
echo '{"type":"usage","tokens":1200,"session_cost":0.'$turns'5}'
echo '{"type":"message","id":"1","text":"I have changed turns.txt"}'
echo '{"type":"end","reason":"done"}'
"#;

#[test]
fn a_card_shows_what_the_agents_of_a_run_have_cost_so_far() {
    let Some(scene) = Scene::new() else { return };
    scene.write(".interlock/machines/driven/machine.yaml", DRIVEN);
    scene.write("agent.sh", AGENT);
    let agent = scene.project().join("agent.sh");
    let settings =
        format!("[default]\nagent = \"small\"\n[agents.small]\ndriver = \"command\"\ncommand = [\"sh\", {agent:?}]\n");
    std::fs::write(scene.home().join("agents.toml"), settings).unwrap();
    scene.run(&["run", "driven", "--name", "d1"]);
    let browser = scene.view("/board");
    browser.until_text(".card[data-run=d1] .spent", "$0.15 · 1,200 tokens");
    // A second turn is added while the board is open; the cost of a session is a running total.
    scene.run(&["send", "d1", "again"]);
    scene.run(&["resume", "d1"]);
    browser.until_text(".card[data-run=d1] .spent", "$0.25 · 2,400 tokens");
    scene.view("/runs/d1").click(".tabs", "Time and cost");
    browser.until_text(".bars tbody", "2,400");
    browser.until_text(".panel", "2,400 tokens of agents · $0.25");
    scene.view("/board").click(".card[data-run=d1]", "Diff");
    browser.until_text("dialog .diff summary", "turns.txt");
}

/// Lets an agent work once.
const ONCE: &str = "\
machine: once
version: 1
summary: Lets an agent work.
initial: coding
on: { error: { target: failed, reason: '${event.message}' } }
states:
  coding:
    invoke: { activity: agent.prompt, with: { text: Do it }, signals: [turn_ended] }
    on: { turn_ended: { target: kept } }
  kept: { type: final, outcome: success }
  failed: { type: final, outcome: failure }
";

/// Starts a run of `once` and waits for its end.
const MANAGER: &str = "\
machine: manager
version: 1
summary: Has a child run do the work.
initial: working
on: { error: { target: failed, reason: '${event.message}' } }
states:
  working:
    invoke: { activity: run.start, with: { machine: once }, signals: [succeeded, failed, aborted] }
    on: { succeeded: { target: asking }, failed: { target: failed }, aborted: { target: failed } }
  asking: { tags: [idle], on: { fine: { target: done } } }
  done: { type: final, outcome: success }
  failed: { type: final, outcome: failure }
events: { fine: { from: user, summary: Keep it } }
";

#[test]
fn a_card_shows_what_the_child_runs_of_a_run_have_cost() {
    let Some(scene) = Scene::new() else { return };
    scene.write(".interlock/machines/once/machine.yaml", ONCE);
    scene.write(".interlock/machines/manager/machine.yaml", MANAGER);
    scene.write("agent.sh", AGENT);
    let agent = scene.project().join("agent.sh");
    let settings =
        format!("[default]\nagent = \"small\"\n[agents.small]\ndriver = \"command\"\ncommand = [\"sh\", {agent:?}]\n");
    std::fs::write(scene.home().join("agents.toml"), settings).unwrap();
    let browser = scene.view("/board?machine=manager");
    scene.run(&["run", "manager", "--name", "m1"]);
    browser.until_text(".card[data-run=m1] .spent", "+ $0.15 · 1,200 tokens in child runs (1)");
    assert_eq!(
        browser.value("document.querySelectorAll('.card[data-run=m1] .spent').length"),
        1,
        "it has no cost of its own"
    );
    scene.view("/runs/m1").click(".tabs", "Time and cost");
    browser.until_text(".panel", "+ $0.15 · 1,200 tokens in child runs (1)");
}
