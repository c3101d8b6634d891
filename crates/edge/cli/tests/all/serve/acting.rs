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
    let rows = scene.get(&token, "/runs").json();
    assert_eq!(
        (&rows["runs"][0]["outcome"], &rows["runs"][0]["reason"]),
        (&json!("success"), &json!("fine")),
        "{rows}"
    );
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

/// A machine whose ended runs go on when somebody says more.
const TALK: &str = "\
machine: talk
version: 1
summary: A person says something until it is enough.
context: { said: [] }
events:
  say: { from: user, summary: Say more, continues: true, data: { type: object, required: [text], properties: { text: { type: string } } } }
  enough: { from: user, summary: End it }
  abort: { from: user, summary: Stop it }
initial: open
on: { abort: { target: gone } }
states:
  open:
    tags: [idle]
    on:
      say: { limit: 9, assign: { said: \"${context.said + [event.text]}\" }, reason: \"${event.text}\" }
      enough: { target: done, reason: it is enough }
  done: { type: final, outcome: success }
  gone: { type: final, outcome: aborted }
";

#[test]
fn an_event_to_an_ended_run_continues_it_once_as_on_the_command_line() {
    let scene = Scene::new("1h");
    scene.session.write("project/.interlock/machines/talk/machine.yaml", TALK).unwrap();
    let token = scene.token("operator");
    let started = scene.post(&token, "/runs", json!({ "machine": "talk", "folder": scene.project(), "name": "t-1" }));
    assert_eq!(started.status, 201, "{started:?}");
    let say = |run: &str, text: &str, id: &str| {
        scene.post(
            &token,
            &format!("/runs/{run}/events"),
            json!({ "event": "say", "data": { "text": text }, "id": id }),
        )
    };
    assert_eq!(say("t-1", "one", "first").json()["run"], "t-1");
    scene.post(&token, "/runs/t-1/events", json!({ "event": "enough" }));
    let ended = scene.until_phase(&token, "t-1", "succeeded");
    assert_eq!(
        (ended["offers"]["events"][0]["event"].clone(), ended["continued_by"].clone()),
        (json!("say"), json!(null))
    );
    // A repeated sending makes no second run, and any other event is refused as before.
    for _ in 0..2 {
        let sent = say("t-1", "two", "again");
        assert_eq!(
            (sent.status, sent.json()["run"].clone(), sent.json()["continues"].clone()),
            (200, json!("t-1-2"), json!("t-1")),
            "{sent:?}"
        );
    }
    assert_ne!(scene.post(&token, "/runs/t-1/events", json!({ "event": "enough" })).status, 200);
    let next = scene.get(&token, "/runs/t-1-2").json();
    assert_eq!(
        (next["continues"]["run"].clone(), next["context"]["said"].clone()),
        (json!("t-1"), json!(["one", "two"]))
    );
    let ended = scene.get(&token, "/runs/t-1").json();
    assert_eq!((ended["continued_by"].clone(), ended["offers"]["events"].clone()), (json!("t-1-2"), json!([])));
    let rows = scene.get(&token, "/runs?prefix=t-1").json();
    assert_eq!(rows["runs"][1]["continued_by"], "t-1-2", "{rows}");
    // A run is continued once: the next event belongs to the run that continues it.
    let refused = say("t-1", "three", "third");
    assert!(refused.status != 200 && refused.json()["error"]["message"].to_string().contains("t-1-2"), "{refused:?}");
    scene.post(&token, "/runs/t-1-2/events", json!({ "event": "enough" }));
    scene.until_phase(&token, "t-1-2", "succeeded");
    let sent = scene.session.run("send t-1-2 say --data '{\"text\": \"three\"}' --no-follow").unwrap();
    assert!(sent.stderr.contains("t-1-2 has ended; t-1-3 continues it"), "{sent}");
    let listed = scene.session.run("runs").unwrap();
    assert!(listed.stdout.contains("continued by t-1-3"), "{listed}");
    let shown = scene.session.run("show t-1").unwrap();
    assert!(shown.stdout.contains("t-1-2 continues it"), "{shown}");
    let verified = scene.session.run("verify t-1").unwrap();
    assert_eq!(verified.code, Some(0), "{verified}");
    // An aborted run is continued from the state before; a run that another fork shares is not continued by that.
    scene.post(&token, "/runs/t-1-3/fork", json!({ "at": 1, "name": "t-1-9" }));
    assert_eq!(scene.get(&token, "/runs/t-1").json()["continued_by"], "t-1-2");
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
