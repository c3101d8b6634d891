//! Tests of `timer.wait` and `run.start`.

use std::sync::atomic::Ordering;

use interlock_activities::{RunStart, Settings, TimerWait, all};
use interlock_activity::{EffectClass, Registry};
use interlock_judge::Judge;
use serde_json::json;

use crate::trial::Trial;

#[tokio::test]
async fn a_wait_ends_when_it_is_due_however_often_it_is_tried() {
    let cases = [
        // The time of the start, the current time, the input, and the expected end.
        (1_000, 1_000, json!({ "seconds": 90 }), 91_000),
        (1_000, 61_000, json!({ "seconds": 90 }), 91_000),
        (1_000, 200_000, json!({ "seconds": 90 }), 91_000),
        (1_000, 1_000, json!({ "seconds": 0.25 }), 1_250),
        (0, 0, json!({ "until": 5_000 }), 5_000),
        (0, 0, json!({ "until": "1970-01-02T00:00:00Z" }), 86_400_000),
    ];
    for (begun_ms, now_ms, with, due_ms) in cases {
        let mut trial = Trial::new(with.clone());
        trial.attempt.begun_ms = begun_ms;
        trial.host.now_ms.store(now_ms, Ordering::SeqCst);
        let ended = trial.run(TimerWait).await;
        assert_eq!((ended.name.as_str(), &ended.data["due_ms"]), ("elapsed", &json!(due_ms)), "{with}");
        assert_eq!(trial.host.now_ms.load(Ordering::SeqCst), now_ms.max(due_ms), "{with}");
    }
}

#[tokio::test]
async fn what_a_wait_cannot_use_is_named() {
    let cases = [
        (json!({}), "`with.seconds` is missing, and so is `with.until`"),
        (json!({ "seconds": 1, "until": 1 }), "`with.until` cannot be given together with `with.seconds`"),
        (json!({ "seconds": -1 }), "`with.seconds` must be between 0 and"),
        (json!({ "until": "soon" }), "`with.until` is not a time like 2030-01-31T12:00:00Z: `soon`"),
        (json!({ "until": [] }), "`with.until` must be a time, not a list"),
    ];
    for (with, message) in cases {
        let (code, found) = Trial::new(with).run(TimerWait).await.error();
        assert_eq!(code, "BAD_INPUT");
        assert!(found.starts_with(message), "{found}");
    }
}

#[tokio::test]
async fn a_wait_can_be_stopped() {
    let trial = Trial::new(json!({ "until": i64::MAX }));
    trial.canceller.cancel();
    assert_eq!(trial.run(TimerWait).await.error().0, "CANCELLED");
}

#[tokio::test]
async fn a_run_is_started_by_whoever_hosts_the_attempt() {
    let trial = Trial::new(json!({ "machine": "other", "input": { "x": 1 } }));
    assert_eq!(trial.run(RunStart).await.name, "aborted");
    let runs = trial.host.runs.lock().unwrap().clone();
    assert_eq!((&*runs[0].parent, runs[0].machine.as_str()), ("run-1", "other"));
    assert_eq!(serde_json::Value::from(&runs[0].input), json!({ "x": 1 }));
    assert_eq!(runs[0].folder, trial.folder);
    let error = Trial::new(json!({ "input": {} })).run(RunStart).await.error();
    assert_eq!(error, ("BAD_INPUT".into(), "`with.machine` is missing".into()));
}

#[test]
fn the_general_activities_have_their_effects() {
    let registry = all(Registry::default(), Settings::default(), &Judge::new(None));
    let found: Vec<_> =
        registry.iter().map(|activity| (activity.name(), activity.effect(), activity.waits())).collect();
    let expected = [
        ("command.run", EffectClass::Write, false),
        ("external", EffectClass::External, false),
        ("git.commit", EffectClass::Write, false),
        ("http.request", EffectClass::External, false),
        ("judge.prd", EffectClass::Write, false),
        ("logs.triage", EffectClass::Read, false),
        ("policy.call", EffectClass::Read, false),
        ("policy.check", EffectClass::Read, false),
        ("policy.commit", EffectClass::Read, false),
        ("policy.plan", EffectClass::Read, false),
        ("project.detect", EffectClass::Read, false),
        ("project.try", EffectClass::Read, false),
        ("run.start", EffectClass::Read, true),
        ("timer.wait", EffectClass::Read, true),
        ("workspace.apply", EffectClass::Write, false),
        ("workspace.changes", EffectClass::Read, false),
        ("workspace.checkpoint", EffectClass::Read, false),
        ("workspace.commit", EffectClass::Write, false),
        ("workspace.context", EffectClass::Read, false),
        ("workspace.open", EffectClass::Read, false),
        ("workspace.restore", EffectClass::Write, false),
        ("workspace.snapshot", EffectClass::Read, false),
        ("workspace.undo", EffectClass::Write, false),
    ];
    assert_eq!(found, expected);
}
