//! The connection of the page: lost and found again, and several windows.

use crate::scene::Scene;

#[test]
fn a_lost_connection_is_shown_and_nothing_is_lost_or_doubled() {
    let Some(mut scene) = Scene::new() else { return };
    scene.start_gate("g1");
    scene.view("/runs/g1").until("document.querySelector('[data-state=closed].lit')");
    scene.run(&["send", "g1", "knock"]);
    scene.browser.until("document.querySelector('[data-state=heard].lit')");
    scene.kill_server();
    scene.browser.until("!document.querySelector('.banner').hidden");
    // These records are written while the page cannot see them.
    for _ in 0..3 {
        scene.run(&["send", "g1", "knock"]);
    }
    scene.start_server();
    scene.browser.until("document.querySelector('.banner').hidden");
    scene.browser.until_text(".past", "record 5 of 5");
    scene.browser.until("document.querySelector('[data-state=closed].lit')");
    let rows = "[...document.querySelectorAll('.timeline .seq')].map((cell) => cell.textContent).join()";
    assert_eq!(scene.browser.value(rows), "1,2,3,4,5");
}

#[test]
fn every_notice_reaches_each_of_two_windows_once() {
    let Some(scene) = Scene::new() else { return };
    scene.start_gate("g1");
    // A listener of its own in each window, beside the one of the page.
    let listen = "(() => { window.numbers = []; const source = new EventSource('/api/v1/events?run=g1&since=0'); \
        source.addEventListener('record', (event) => window.numbers.push(JSON.parse(event.data).seq)); return true; })()";
    scene.view("/").value(listen);
    let first = scene.browser.open_window();
    scene.view("/board").value(listen);
    for _ in 0..4 {
        scene.run(&["send", "g1", "knock"]);
    }
    scene.browser.until("window.numbers.length >= 5");
    scene.browser.until_text("[data-run=g1]", "closed");
    assert_eq!(scene.browser.value("window.numbers.join()"), "1,2,3,4,5");
    scene.browser.go_to_window(&first);
    scene.browser.until("window.numbers.length >= 5");
    scene.browser.until_text("tr[data-run=g1] .place", "closed");
    assert_eq!(scene.browser.value("window.numbers.join()"), "1,2,3,4,5");
}

#[test]
fn more_windows_than_connections_follow_a_run() {
    let Some(scene) = Scene::new() else { return };
    scene.start_gate("g1");
    let mut windows = Vec::new();
    // A browser allows six connections to a server.
    for _ in 0..7 {
        scene.view("/runs/g1").until("document.querySelector('[data-state=closed].lit')");
        windows.push(scene.browser.open_window());
    }
    scene.run(&["send", "g1", "knock"]);
    for window in &windows {
        scene.browser.go_to_window(window);
        scene.browser.until("document.querySelector('[data-state=heard].lit')");
    }
}
