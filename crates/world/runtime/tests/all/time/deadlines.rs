//! Due timers fire, in order, before any other input, and an event that comes too late is refused with the reason.

use std::sync::Arc;

use interlock_activity::Registry;
use interlock_journal::{By, Phase};
use interlock_runtime::{Error, verify};

use super::scene::{Hand, Scene, Work};

const REVIEW: &str = "\
machine: review
version: 1
summary: Asks for a while.
events: { approve: { from: user }, abort: { from: user }, note: { from: user } }
initial: reviewing
on: { abort: gone, note: {} }
states:
  reviewing:
    timeout: 4s
    on: { approve: merged, timeout: escalated }
  escalated: { on: { approve: merged } }
  merged: { type: final, outcome: success }
  gone: { type: final, outcome: aborted }
";

#[tokio::test]
async fn an_event_after_the_deadline_is_refused_with_the_deadline_and_its_effect() {
    let home = tempfile::tempdir().unwrap();
    let scene = Scene::new(home.path(), Hand::at(1_000), Registry::default());
    let head = scene.start(home.path(), REVIEW).await;
    scene.clock.set(7_000);
    // `escalated` takes `approve` too, but its question has not been asked yet.
    let error = scene.send(&head, "approve").await.unwrap_err();
    let Error::Refused(refused) = &error else { panic!("{error}") };
    assert_eq!(
        refused.why,
        "`approve` came too late for r and was not recorded: `timeout.reviewing` was due at 1970-01-01T00:00:05.000Z \
         and led from reviewing to escalated"
    );
    assert_eq!((refused.late.len(), refused.late[0].seq), (1, 2));
    assert_eq!(scene.records(&head), [(7_000, "t1".to_owned())]);
    let sent = scene.send(&head, "approve").await.unwrap();
    assert_eq!((sent.seq, sent.fired.len()), (3, 0));
    let head = scene.runtime.find("r").unwrap().unwrap();
    assert_eq!((head.phase, head.place.as_str()), (Phase::Succeeded, "merged"));
    assert_eq!(verify(&*scene.engine, &Registry::default(), &head).unwrap(), []);
}

#[tokio::test]
async fn an_event_that_the_deadline_does_not_touch_is_taken_after_it() {
    for (event, place) in [("note", "escalated"), ("abort", "gone")] {
        let home = tempfile::tempdir().unwrap();
        let scene = Scene::new(home.path(), Hand::at(1_000), Registry::default());
        let head = scene.start(home.path(), REVIEW).await;
        scene.clock.set(5_000);
        let sent = scene.send(&head, event).await.unwrap();
        assert_eq!((sent.seq, sent.fired[0].event.as_str()), (3, "timeout.reviewing"));
        assert_eq!(scene.runtime.find("r").unwrap().unwrap().place, place);
    }
}

#[tokio::test]
async fn due_timers_fire_in_the_order_in_which_they_were_due() {
    let machine = "\
machine: both
version: 1
summary: Waits in two regions.
events: { go: { from: user } }
initial: waiting
states:
  waiting:
    type: parallel
    on: { go: end }
    states:
      slow: { initial: s1, states: { s1: { timeout: 30s, on: { timeout.s1: s2 } }, s2: {} } }
      quick: { initial: q1, states: { q1: { timeout: 20s, on: { timeout.q1: q2 } }, q2: { timeout: 1ms, on: { timeout.q2: q3 } }, q3: {} } }
  end: { type: final, outcome: success }
";
    let home = tempfile::tempdir().unwrap();
    let scene = Scene::new(home.path(), Hand::at(1_000), Registry::default());
    let head = scene.start(home.path(), machine).await;
    scene.clock.set(90_000);
    let sent = scene.send(&head, "go").await.unwrap();
    let fired: Vec<&str> = sent.fired.iter().map(|fired| fired.event.as_str()).collect();
    // The time is read once: the timer of q2 counts from this turn, so it is not due in it.
    assert_eq!(fired, ["timeout.q1", "timeout.s1"]);
    let expected = ["t2", "t1", "go"].map(|kind| (90_000, kind.to_owned()));
    assert_eq!(scene.records(&head), expected);
}

#[tokio::test]
async fn a_paused_run_keeps_due_timers_until_it_is_resumed() {
    let home = tempfile::tempdir().unwrap();
    let scene = Scene::new(home.path(), Hand::at(1_000), Registry::default());
    let head = scene.start(home.path(), REVIEW).await;
    scene.runtime.pause(&head, By::user("ada")).await.unwrap();
    scene.runtime.settled(&head).await.unwrap();
    scene.clock.set(8_000);
    assert!(scene.send(&head, "approve").await.is_err(), "it is paused");
    assert_eq!(scene.runtime.find("r").unwrap().unwrap().place, "reviewing");
    scene.runtime.resume(&head, By::user("ada")).await.unwrap();
    scene.runtime.settled(&head).await.unwrap();
    let kinds: Vec<String> = scene.records(&head).into_iter().map(|(_, kind)| kind).collect();
    assert_eq!(kinds, ["paused", "t1", "resumed"]);
    assert_eq!(scene.runtime.find("r").unwrap().unwrap().place, "escalated");
}

const WORKING: &str = "\
machine: works
version: 1
summary: Works for a while.
initial: working
states:
  working:
    timeout: 4s
    invoke: { activity: work, signals: [worked] }
    on: { worked: good, timeout: late, error: bad }
  good: { type: final, outcome: success }
  late: { type: final, outcome: failure }
  bad: { type: final, outcome: failure }
";

#[tokio::test]
async fn an_outcome_counts_from_the_end_of_its_attempt() {
    // The time of the end, the time it is reported, the state it leads to, and the time that is recorded.
    let cases = [(4_999, 60_000, "good", 4_999), (5_000, 60_000, "late", 5_000), (9_000, 9_000, "late", 9_000)];
    for (ends_ms, heard_ms, place, at_ms) in cases {
        let home = tempfile::tempdir().unwrap();
        let clock = Hand::at(1_000);
        let work = Work { clock: Arc::clone(&clock), ends_ms, heard_ms };
        let scene = Scene::new(home.path(), clock, Registry::default().with(work));
        let head = scene.start(home.path(), WORKING).await;
        assert_eq!((head.place.as_str(), scene.records(&head)[1].0), (place, at_ms), "{ends_ms}");
    }
}

#[tokio::test]
async fn a_clock_that_was_set_back_does_not_postpone_a_deadline() {
    let home = tempfile::tempdir().unwrap();
    let head = Scene::new(home.path(), Hand::at(100_000), Registry::default()).start(home.path(), REVIEW).await;
    // Another process adopts the run ten seconds later, with a clock that is an hour behind: nothing is recorded in the
    // past.
    let scene = Scene::new(home.path(), Hand::at(-3_500_000), Registry::default());
    scene.send(&head, "note").await.unwrap();
    assert_eq!(scene.records(&head), [(100_000, "note".to_owned())]);
    // A process that keeps the run continues counting from the last record.
    scene.runtime.adopt(head.key).await.unwrap();
    scene.clock.set(-3_495_900);
    let error = scene.send(&head, "approve").await.unwrap_err();
    assert!(error.to_string().contains("came too late"), "{error}");
    assert_eq!(scene.records(&head)[1], (104_100, "t1".to_owned()));
}
