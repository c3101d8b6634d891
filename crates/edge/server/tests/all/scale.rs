//! The page with many runs, and with a run of very many records.

use crate::{crowd, scene::Scene};

/// The records of the long run: an odd number.
const LONG: usize = 100_001;

#[test]
fn a_thousand_runs_are_listed_in_pages_and_the_list_stays_live() {
    let Some(scene) = Scene::new() else { return };
    scene.start_gate("model");
    crowd::copies(&scene.home(), "model", (0..1_000).map(|at| format!("g{at:04}")));
    let browser = scene.view("/");
    browser.until_text("tbody tr", "g0999");
    assert_eq!(browser.value("document.querySelectorAll('tbody tr').length"), 50);
    // Something moves on another page and on this one.
    scene.run(&["send", "g0000", "knock"]);
    scene.run(&["send", "g0990", "knock"]);
    browser.until_text("tr[data-run=g0990] .place", "heard");
    browser.click(".pager", "Older");
    browser.until_text("tbody tr", "g0949");
    assert_eq!(browser.value("document.querySelectorAll('tbody tr').length"), 50);
    browser.fill("input[type=search]", "g0000");
    browser.until("document.querySelectorAll('tbody tr').length === 1");
    browser.until_text("tr[data-run=g0000] .place", "heard");
    browser.until_text(".bar .number", "50+");
    // The board shows some of them and says how many there are.
    scene.view("/board").until("document.querySelectorAll('.card').length === 30");
    browser.until_text(".column[aria-label=waiting] h2", "1,001");
    browser.click(".column[aria-label=waiting]", "30 of 1,001");
    browser.until("document.querySelectorAll('.card').length === 60");
    scene.view("/inbox").until("document.querySelectorAll('.card').length === 50");
}

#[test]
fn a_run_with_a_hundred_thousand_records_scrolls_with_few_rows_on_the_page() {
    let Some(scene) = Scene::new() else { return };
    scene.write(".interlock/machines/ticker/machine.yaml", crowd::TICKER);
    scene.run(&["run", "ticker", "--name", "model"]);
    scene.run(&["send", "model", "tick"]);
    scene.run(&["send", "model", "tick"]);
    crowd::long_run(&scene.home(), "model", "long", LONG);
    let browser = scene.view("/runs/long");
    browser.until_text(".past", "record 100001 of 100001");
    browser.until_text("#record-100001", "a tock");
    // The frame, the chart and the state do not wait for the records.
    let paint = browser.value("performance.getEntriesByName('first-contentful-paint')[0].startTime").as_f64().unwrap();
    let rows = browser.value("performance.now()").as_f64().unwrap();
    eprintln!("first paint after {paint:.0} ms, rows after {rows:.0} ms");
    assert!(paint < 5_000.0, "{paint} ms");
    let rows = "document.querySelectorAll('.timeline .row').length";
    assert!(browser.value(rows).as_u64().unwrap() < 60);
    // Scrolling: each frame is drawn in time, and the rows of the place arrive.
    let scroll = "(() => { const list = document.querySelector('.timeline'); const times = []; let at = 0; window.scrolled = null; \
        const step = (now) => { times.push(now); at += 1; list.scrollTop = list.scrollHeight * (1 - at / 60); \
        if (at < 60) requestAnimationFrame(step); else window.scrolled = times.slice(1).map((time, index) => time - times[index]); }; \
        requestAnimationFrame(step); return true; })()";
    browser.value(scroll);
    browser.until("window.scrolled");
    let slow = browser.value("window.scrolled.sort((a, b) => a - b)[Math.floor(window.scrolled.length * 0.9)]");
    assert!(slow.as_f64().unwrap() < 250.0, "nine of ten frames take less than {slow} ms");
    assert!(browser.value(rows).as_u64().unwrap() < 60);
    browser.until_text("#record-1", "→ even");
    // The slider shows any moment.
    browser.value("(() => { const slider = document.querySelector('input[type=range]'); slider.value = 50001; slider.dispatchEvent(new Event('input')); return true; })()");
    browser.until_text(".past", "record 50001 of 100001");
    browser.until_text("#record-50001", "a tock");
    browser.until("document.querySelector('[data-state=even].lit')");
    browser.until_text(".detail", "#50001");
    // A new record appears at the end.
    browser.click(".past", "Back to live");
    scene.run(&["send", "long", "tick"]);
    browser.until_text("#record-100002", "a tick");
    browser.until("document.querySelector('[data-state=odd].lit')");
}
