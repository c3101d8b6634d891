//! The server with many readers and many requests, and after a sudden end in the middle of them.

use std::{
    collections::BTreeMap,
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, Ordering},
    },
    time::{Duration, Instant},
};

use serde_json::json;

use super::scene::Scene;

/// The readers of events at the same time.
const READERS: usize = 200;

/// The requests of the short test: five seconds at 300 a second.
const REQUESTS: usize = 1_500;

/// The machine of these tests: it takes any number of ticks.
const TICKER: &str = "\
machine: ticker
version: 1
summary: Waits for ticks.
events: { tick: { from: any, summary: Go round } }
initial: even
states:
  even: { tags: [idle], on: { tick: { target: odd } } }
  odd: { tags: [idle], on: { tick: { target: even } } }
";

fn scene(runs: usize) -> (Scene, String) {
    let scene = Scene::new("1h");
    scene.session.write("project/.interlock/machines/ticker/machine.yaml", TICKER).unwrap();
    let token = scene.token("operator");
    for at in 0..runs {
        let body = json!({ "machine": "ticker", "folder": scene.project(), "name": format!("t{at}") });
        assert_eq!(scene.post(&token, "/runs", body).status, 201);
    }
    (scene, token)
}

#[test]
fn two_hundred_readers_get_every_record_once_and_in_order() {
    let (scene, token) = scene(4);
    let ticks = 60;
    let expected = 4 + ticks;
    let results: Mutex<Vec<Vec<u64>>> = Mutex::default();
    std::thread::scope(|scope| {
        for _ in 0..READERS {
            let mut events = scene.events(&token, 0);
            let results = &results;
            scope.spawn(move || {
                let numbers = (0..expected).map(|_| events.next().0).collect();
                results.lock().unwrap().push(numbers);
            });
        }
        for at in 0..ticks {
            let sent = scene.post(&token, &format!("/runs/t{}/events", at % 4), json!({ "event": "tick" }));
            assert_eq!(sent.status, 200, "{sent:?}");
        }
    });
    let results = results.into_inner().unwrap();
    assert_eq!(results.len(), READERS);
    let first = results.first().unwrap();
    assert!(first.windows(2).all(|two| two[0] < two[1]), "{first:?}");
    assert!(results.iter().all(|numbers| numbers == first));
}

#[test]
fn a_stream_of_requests_is_answered_without_an_error() {
    let (scene, token) = scene(10);
    let begun = Instant::now();
    let next = std::sync::atomic::AtomicUsize::new(0);
    let wrong: Mutex<Vec<String>> = Mutex::default();
    std::thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| {
                loop {
                    let at = next.fetch_add(1, Ordering::Relaxed);
                    if at >= REQUESTS {
                        return;
                    }
                    // At most 300 a second.
                    let due = begun + Duration::from_micros(at as u64 * 1_000_000 / 300);
                    std::thread::sleep(due.saturating_duration_since(Instant::now()));
                    let run = at % 10;
                    let answer = match at % 20 {
                        0 => scene.post(&token, &format!("/runs/t{run}/events"), json!({ "event": "tick" })),
                        kind if kind % 4 == 0 => scene.get(&token, "/runs"),
                        kind if kind % 4 == 1 => scene.get(&token, &format!("/runs/t{run}")),
                        kind if kind % 4 == 2 => scene.get(&token, &format!("/runs/t{run}/trace?from=-20")),
                        _ => scene.get(&token, "/inbox?count=true"),
                    };
                    if answer.status != 200 {
                        wrong.lock().unwrap().push(format!("{answer:?}"));
                    }
                }
            });
        }
    });
    let wrong = wrong.into_inner().unwrap();
    assert!(wrong.is_empty(), "{} of {REQUESTS}: {}", wrong.len(), wrong[0]);
}

#[test]
fn nothing_is_lost_or_doubled_when_the_server_is_killed_under_load() {
    let (mut scene, token) = scene(5);
    // The events that the server has confirmed, and those whose answer was lost, by their id.
    let sent: Arc<Mutex<BTreeMap<String, bool>>> = Arc::default();
    let is_over = AtomicBool::new(false);
    std::thread::scope(|scope| {
        for worker in 0..5 {
            let (scene, token, sent, is_over) = (&scene, &token, &sent, &is_over);
            scope.spawn(move || {
                for at in 0.. {
                    if is_over.load(Ordering::Relaxed) {
                        return;
                    }
                    let id = format!("{worker}-{at}");
                    sent.lock().unwrap().insert(id.clone(), false);
                    let body = json!({ "event": "tick", "id": id }).to_string();
                    match scene.try_post(token, &format!("/runs/t{worker}/events"), &body) {
                        Some(200) => drop(sent.lock().unwrap().insert(id, true)),
                        Some(other) => panic!("{other}"),
                        None => return,
                    }
                }
            });
        }
        std::thread::sleep(Duration::from_millis(1_500));
        scene.kill();
        is_over.store(true, Ordering::Relaxed);
    });
    scene.restart();
    let sent = sent.lock().unwrap().clone();
    assert!(sent.values().filter(|is_confirmed| **is_confirmed).count() >= 10, "{sent:?}");
    for (id, is_confirmed) in &sent {
        let worker = id.split('-').next().unwrap();
        let again = scene.post(&token, &format!("/runs/t{worker}/events"), json!({ "event": "tick", "id": id }));
        assert_eq!(again.status, 200, "{again:?}");
        assert!(!is_confirmed || again.json()["repeated"] == true, "{id} was confirmed and is lost");
    }
    for worker in 0..5 {
        let count = sent.keys().filter(|id| id.starts_with(&format!("{worker}-"))).count();
        let shown = scene.get(&token, &format!("/runs/t{worker}")).json();
        assert_eq!(shown["seq"], 1 + count, "each event is recorded once: {shown}");
    }
    let verified = scene.session.run("verify").unwrap();
    assert_eq!(verified.code, Some(0), "{verified}");
}
