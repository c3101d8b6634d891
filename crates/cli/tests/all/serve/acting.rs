//! The API: starting, answering, forking, undoing, and reading any part of a run.

use serde_json::json;

use super::scene::Scene;

#[test]
fn a_run_is_started_answered_and_read_through_the_api() {
    let scene = Scene::new("1h");
    let token = scene.token("operator");
    let started = scene.start_gate(&token, "g1");
    assert_eq!((started.status, started.json()["phase"].clone()), (201, json!("waiting")));
    let inbox = scene.get(&token, "/inbox").json();
    assert_eq!(inbox["items"][0]["run"], "g1");
    assert_eq!(inbox["items"][0]["offers"]["shown"][0]["data"], "more speed", "{inbox}");
    assert_eq!(inbox["items"][0]["waits"]["for"], "person");
    let wrong = scene.post(&token, "/runs/g1/events", json!({ "event": "open", "data": {} }));
    assert_eq!(wrong.status, 409, "{wrong:?}");
    let sent =
        scene.post(&token, "/runs/g1/events", json!({ "event": "open", "data": { "note": "fine" }, "id": "once" }));
    assert_eq!(sent.json()["seq"], 2, "{sent:?}");
    let again =
        scene.post(&token, "/runs/g1/events", json!({ "event": "open", "data": { "note": "fine" }, "id": "once" }));
    assert_eq!(again.json()["repeated"], true, "{again:?}");
    let shown = scene.until_phase(&token, "g1", "succeeded");
    assert_eq!(shown["context"]["note"], "fine");
    let trace = scene.get(&token, "/runs/g1/trace?from=2").json();
    assert_eq!(trace["records"][0]["moves"][0]["to_state"], "passed");
    assert!(trace["records"][0]["moves"][0]["by"]["name"].as_str().unwrap().starts_with("operator-"), "{trace}");
    let before = scene.get(&token, "/runs/g1/state/1").json();
    assert_eq!((before["place"].clone(), before["context"]["note"].clone()), (json!("closed"), json!("")));
    assert_eq!(scene.get(&token, "/runs/g1/state/3").status, 404);
    assert!(scene.get(&token, "/runs/g1/totals").json()["states"]["closed"]["entered"] == 1);
}

#[test]
fn a_fork_takes_another_way_and_an_abort_ends_it() {
    let scene = Scene::new("1h");
    let token = scene.token("operator");
    scene.start_gate(&token, "g1");
    scene.post(&token, "/runs/g1/events", json!({ "event": "open", "data": { "note": "fine" } }));
    let forked = scene.post(&token, "/runs/g1/fork", json!({ "at": 1, "name": "g2" }));
    assert_eq!((forked.status, forked.json()["place"].clone()), (201, json!("closed")), "{forked:?}");
    assert_eq!(scene.post(&token, "/runs/g2/pause", json!(null)).status, 200);
    scene.until_phase(&token, "g2", "paused");
    assert_eq!(scene.post(&token, "/runs/g2/resume", json!(null)).status, 200);
    assert_eq!(scene.post(&token, "/runs/g2/abort", json!(null)).json()["event"], "abort");
    scene.until_phase(&token, "g2", "aborted");
    let undone = scene.post(&token, "/runs/g2/undo", json!({ "dry_run": true }));
    assert_eq!((undone.status, undone.json()["done"].clone()), (200, json!(false)), "{undone:?}");
}

#[test]
fn lists_are_filtered_and_paged() {
    let scene = Scene::new("1h");
    let token = scene.token("operator");
    for name in ["a1", "a2", "b1"] {
        assert_eq!(scene.start_gate(&token, name).status, 201);
    }
    let names = |path: &str| {
        let list = scene.get(&token, path).json();
        let names = list["runs"].as_array().unwrap().iter().map(|run| run["run"].as_str().unwrap().to_owned());
        (names.collect::<Vec<_>>(), list["next"].as_str().map(str::to_owned))
    };
    let (first, next) = names("/runs?limit=2");
    assert_eq!(first, ["b1", "a2"]);
    assert_eq!(names(&format!("/runs?limit=2&before={}", next.unwrap())).0, ["a1"]);
    assert_eq!(names("/runs?prefix=a").0, ["a2", "a1"]);
    assert!(names("/runs?phase=succeeded,failed").0.is_empty());
    for wrong in ["/runs?phase=sleeping", "/runs?before=x", "/runs?colour=red"] {
        assert_eq!(scene.get(&token, wrong).status, 400, "{wrong}");
    }
}

#[test]
fn a_machine_is_described_drawn_and_proved() {
    let scene = Scene::new("1h");
    let token = scene.token("viewer");
    let machines = scene.get(&token, "/machines").json();
    assert!(machines["machines"].as_array().unwrap().iter().any(|machine| machine["id"] == "gate"), "{machines}");
    let described = scene.get(&token, "/machines/gate").json();
    assert_eq!(described["input"]["required"], json!(["change"]));
    assert_eq!(scene.get(&token, "/machines/gate/check").json()["ok"], true);
    let picture = scene.get(&token, "/machines/gate/picture");
    let svg = String::from_utf8_lossy(&picture.body).into_owned();
    assert!(svg.contains("data-state=\"closed\"") && !svg.contains("<style"), "{svg}");
    for path in ["/machines/..%2F..%2Fetc", "/machines/%2Fetc%2Fpasswd/check", "/machines/none/picture"] {
        assert_eq!(scene.get(&token, path).status, 404, "{path}");
    }
}

#[test]
fn a_server_that_ends_stops_its_activities_and_releases_their_runs() {
    let mut scene = Scene::new("1h");
    let slow = "machine: slow\nversion: 1\nsummary: Waits for a file.\ninitial: working\nstates:\n  working:\n    \
        invoke: { activity: command.run, with: { command: 'test -e ready || sleep 600' }, signals: [passed, failed] }\n    \
        on: { passed: good, failed: bad, error: { target: bad, reason: '${event.code}' } }\n  \
        good: { type: final, outcome: success }\n  bad: { type: final, outcome: failure }\n";
    scene.session.write("project/.interlock/machines/slow/machine.yaml", slow).unwrap();
    let token = scene.token("operator");
    let started = scene.post(&token, "/runs", json!({ "machine": "slow", "folder": scene.project(), "name": "s1" }));
    assert_eq!(started.status, 201, "{started:?}");
    let project = std::path::PathBuf::from(scene.project());
    let programs = || {
        let all = std::fs::read_dir("/proc").unwrap().flatten().map(|entry| entry.path().join("cwd"));
        all.filter(|cwd| std::fs::read_link(cwd).is_ok_and(|cwd| cwd == project)).count()
    };
    let deadline = std::time::Instant::now() + std::time::Duration::from_secs(60);
    while programs() == 0 {
        assert!(std::time::Instant::now() < deadline, "the command does not begin");
    }
    assert_eq!(scene.stop(), Some(0));
    assert_eq!(programs(), 0, "no program outlives the server");
    scene.session.write("project/ready", "").unwrap();
    let resumed = scene.session.run("resume s1").unwrap();
    assert_eq!(resumed.code, Some(0), "the stopped command is run again: {resumed}");
}

#[test]
fn timers_fire_and_runs_go_on_after_a_crash_of_the_server() {
    let mut scene = Scene::new("2s");
    let token = scene.token("operator");
    scene.start_gate(&token, "g1");
    scene.restart();
    let shown = scene.until_phase(&token, "g1", "failed");
    assert_eq!(shown["place"], "missed");
}
