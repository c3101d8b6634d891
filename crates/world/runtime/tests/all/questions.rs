//! A running attempt asks a person, and goes on with the answer.

use std::{path::Path, sync::Arc, time::Duration};

use interlock_activity::{Activity, Attempt, EffectClass, Ending, Outcome, Question, Registry, Requests, Signal, Site};
use interlock_chart::{Value, library};
use interlock_journal::{By, Engine, Entry, Head, Phase};
use interlock_runtime::{
    AnyMachine, Config, Live, News, NoSnapshots, Offers, Runtime, Start, SystemClock, offers, replay, verify,
};
use interlock_sqlite::Journal;
use tokio::sync::{Semaphore, broadcast::Receiver};

/// Asks one question per id under `with.ids`, all at once, and ends with the answers.
struct Asker {
    /// An attempt takes a permit before it asks.
    gate: Arc<Semaphore>,
}

impl Activity for Asker {
    fn name(&self) -> &str {
        "asker"
    }
    fn summary(&self) -> &str {
        "asks a person"
    }
    fn effect(&self) -> EffectClass {
        EffectClass::Read
    }
    fn schema(&self) -> interlock_activity::Schema {
        interlock_activity::schema::any()
    }

    fn requests(&self, _: &Site<'_>) -> Requests {
        Ok(Vec::new())
    }
    fn signals(&self) -> &[Signal] {
        const { &[Signal::open("answered")] }
    }
    fn start(&self, attempt: Attempt) -> Ending {
        let gate = Arc::clone(&self.gate);
        Box::pin(async move {
            let _permit = gate.acquire().await.unwrap();
            let timeout_ms = if attempt.with.get("hasty") == Some(&Value::Bool(true)) { 1 } else { 60_000 };
            let Some(Value::List(ids)) = attempt.with.get("ids") else { panic!("no ids") };
            let asking = ids.iter().filter_map(Value::as_str).map(|id| {
                let answer = attempt.host.ask(question(&attempt, id, timeout_ms));
                let id = id.to_owned();
                tokio::spawn(async move { (id, answer.await) })
            });
            let mut answers = Vec::new();
            for asked in asking.collect::<Vec<_>>() {
                let (id, answer) = asked.await.unwrap();
                let decision = answer.and_then(|data| data.get("decision").cloned());
                answers.push(Value::from(format!("{id}: {}", decision.unwrap_or_else(|| Value::from("none")))));
            }
            Outcome::signal("answered", Value::map([("answers", Value::List(answers.into()))]))
        })
    }
}

fn question(attempt: &Attempt, id: &str, timeout_ms: u64) -> Question {
    Question {
        run: Arc::clone(&attempt.run),
        activity: attempt.activity,
        number: attempt.number,
        event: "PERMIT".into(),
        id: id.into(),
        text: format!("May it do {id}? password=FAKEfake8"),
        shows: Value::map([("command", Value::from("rm -r build"))]),
        timeout_ms,
    }
}

const MACHINE: &str = r#"
machine: permit
version: 1
summary: Works, and asks a person on the way.
input: { type: object, required: [ids], properties: { ids: { type: array }, hasty: { type: boolean, default: false } } }
context: { answers: [] }
events:
  PERMIT:
    from: user
    summary: Allow or deny it
    data:
      type: object
      required: [id, decision]
      properties: { id: { type: string }, decision: { enum: [allow, deny] } }
  stop: { from: user, summary: Stop }
initial: working
states:
  working:
    invoke: { activity: asker, with: { ids: "${input.ids}", hasty: "${input.hasty}" }, signals: [answered] }
    on:
      PERMIT: {}
      stop: { target: stopped }
      answered: { target: done, assign: { answers: "${event.answers}" } }
  done: { type: final, outcome: success }
  stopped: { type: final, outcome: aborted }
"#;

struct Scene {
    home: tempfile::TempDir,
    engine: Arc<dyn Engine>,
    runtime: Runtime,
    /// Kept so that every record is announced, also one that is written while the test subscribes.
    _watched: Receiver<News>,
}

impl Scene {
    fn new() -> Self {
        Scene::at(tempfile::tempdir().unwrap(), Arc::new(Semaphore::new(1)))
    }

    fn at(home: tempfile::TempDir, gate: Arc<Semaphore>) -> Self {
        let engine: Arc<dyn Engine> = Arc::new(Journal::open(&home.path().join("store")).unwrap());
        let runtime = runtime(&engine, home.path(), gate);
        Scene { home, engine, _watched: runtime.news(), runtime }
    }

    async fn start(&self, machine: &str, ids: &[&str], hasty: bool) -> Head {
        let folder = self.home.path();
        let file = folder.join("permit.yaml");
        std::fs::write(&file, machine).unwrap();
        let source = library::load(file.to_str().unwrap(), folder).unwrap();
        let loaded = self.runtime.load(&source).unwrap_or_else(|_| panic!("{:?}", source.read().diagnostics));
        let ids = Value::List(ids.iter().map(|id| Value::from(*id)).collect());
        let input = Value::map([("ids", ids), ("hasty", Value::Bool(hasty))]);
        let (folder, by) = (folder.to_owned(), By::user("ada"));
        let start = Start { loaded, input, folder, by, parent: None, name: None, accepts_unproved: false };
        self.runtime.start(start).await.unwrap()
    }

    /// Returns the offers once as many questions are open, as every process can read them from the store.
    async fn asked(&self, head: &Head, count: usize) -> Offers {
        let mut news = self.runtime.news();
        let asked = async {
            loop {
                let offers = offers(&self.live(head), self.runtime.registry());
                if offers.asked.len() == count {
                    return offers;
                }
                news.recv().await.unwrap();
            }
        };
        tokio::time::timeout(Duration::from_secs(30), asked).await.expect("the questions are not open")
    }

    fn live(&self, head: &Head) -> Live {
        let head = &self.runtime.find(&head.name).unwrap().unwrap();
        replay(&*self.engine, head, u64::MAX, |_| {}).unwrap()
    }

    async fn permit(&self, head: &Head, id: &str, decision: &str) -> Result<(), String> {
        let data = Value::map([("id", Value::from(id)), ("decision", Value::from(decision))]);
        let sent = self.runtime.send(head, "PERMIT", data, By::user("ada")).await;
        sent.map(drop).map_err(|error| error.to_string())
    }

    /// Waits for the end of the run and returns its answers.
    async fn answers(&self, head: &Head) -> String {
        let ended = self.runtime.settled(head).await.unwrap();
        assert_eq!(ended.phase, Phase::Succeeded);
        assert_eq!(verify(&*self.engine, &Registry::default(), &ended).unwrap(), []);
        self.live(&ended).state.data.context[0].to_string()
    }

    /// Returns the reasons why questions ended without an answer.
    fn unanswered(&self, head: &Head) -> Vec<String> {
        let records = self.engine.records(head.key, 1, 100).unwrap();
        let entries = records.iter().map(|record| self.engine.entry(record).unwrap());
        let whys = entries.filter_map(|entry| match entry {
            Entry::Unanswered(ended) => Some(format!("{}: {}", ended.id, ended.why)),
            _ => None,
        });
        whys.collect()
    }
}

fn runtime(engine: &Arc<dyn Engine>, folder: &Path, gate: Arc<Semaphore>) -> Runtime {
    Runtime::new(Config {
        engine: Arc::clone(engine),
        registry: Registry::default().with(Asker { gate }),
        clock: Arc::new(SystemClock),
        snapshots: Arc::new(NoSnapshots),
        attempts_max: 4,
        live_folder: folder.into(),
        redactor: Default::default(),
        prover: Arc::new(AnyMachine),
    })
}

#[tokio::test(flavor = "multi_thread")]
async fn answers_reach_the_attempt_that_asked() {
    let scene = Scene::new();
    let head = scene.start(MACHINE, &["q1", "q2"], false).await;
    let offers = scene.asked(&head, 2).await;
    let open = &offers.asked[0];
    assert_eq!((open.event.as_str(), open.state.as_str(), open.activity.as_str()), ("PERMIT", "working", "asker"));
    assert!(open.text.starts_with("May it do q") && !open.text.contains("FAKE"), "{}", open.text);
    assert_eq!(open.shows["command"], "rm -r build");
    assert!(offers.events.iter().any(|offer| offer.event == "PERMIT"), "the answer is offered");
    let wrong = scene.permit(&head, "q3", "allow").await.unwrap_err();
    assert!(wrong.contains("no open question has the id `q3`") && wrong.contains("q2"), "{wrong}");
    scene.permit(&head, "q2", "deny").await.unwrap();
    scene.asked(&head, 1).await;
    let twice = scene.permit(&head, "q2", "allow").await.unwrap_err();
    assert!(twice.contains("no open question has the id `q2`"), "{twice}");
    scene.permit(&head, "q1", "allow").await.unwrap();
    assert_eq!(scene.answers(&head).await, r#"["q1: allow","q2: deny"]"#);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_text_that_the_engine_cannot_hold_is_refused() {
    let scene = Scene::new();
    let head = scene.start(MACHINE, &["q1"], false).await;
    scene.asked(&head, 1).await;
    let refused = scene.permit(&head, "q1", &"x".repeat(1_200_000)).await.unwrap_err();
    assert!(refused.contains("1200000 bytes, and at most 1048576 are accepted"), "{refused}");
    scene.permit(&head, "q1", "allow").await.unwrap();
    assert_eq!(scene.answers(&head).await, r#"["q1: allow"]"#);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_event_is_irreversible_only_if_its_limit_is_reached() {
    let limited = MACHINE.replace(
        "      stop: { target: stopped }\n",
        "      stop:\n        - { limit: 1, reason: not yet }\n        - { target: stopped }\n",
    );
    let scene = Scene::new();
    let head = scene.start(&limited, &["q1"], false).await;
    let stop = |offers: Offers| offers.events.into_iter().find(|offer| offer.event == "stop").unwrap().irreversible;
    assert_eq!(stop(scene.asked(&head, 1).await), None);
    scene.runtime.send(&head, "stop", Value::empty(), By::user("ada")).await.unwrap();
    assert_eq!(stop(scene.asked(&head, 1).await).as_deref(), Some("it ends the run"));
}

#[tokio::test(flavor = "multi_thread")]
async fn an_unanswered_question_ends_at_its_deadline() {
    let scene = Scene::new();
    let head = scene.start(MACHINE, &["q1"], true).await;
    assert_eq!(scene.answers(&head).await, r#"["q1: none"]"#);
    assert_eq!(scene.unanswered(&head), ["q1: nobody answered in time"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_question_that_the_machine_cannot_take_is_not_asked() {
    let scene = Scene::new();
    let head = scene.start(&MACHINE.replace("      PERMIT: {}\n", ""), &["q1"], false).await;
    assert_eq!(scene.answers(&head).await, r#"["q1: none"]"#);
    assert_eq!(scene.unanswered(&head), ["q1: the machine does not accept `PERMIT` in working"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn leaving_the_state_ends_the_question() {
    let scene = Scene::new();
    let head = scene.start(MACHINE, &["q1"], false).await;
    scene.asked(&head, 1).await;
    scene.runtime.send(&head, "stop", Value::empty(), By::user("ada")).await.unwrap();
    let ended = scene.runtime.settled(&head).await.unwrap();
    assert_eq!((ended.phase, scene.live(&ended).open_questions().count()), (Phase::Aborted, 0));
}

#[tokio::test(flavor = "multi_thread")]
async fn leaving_the_run_ends_the_question() {
    let scene = Scene::new();
    let head = scene.start(MACHINE, &["q1"], false).await;
    scene.asked(&head, 1).await;
    scene.runtime.detach();
    assert_eq!(scene.answers(&head).await, r#"["q1: none"]"#);
    assert_eq!(scene.unanswered(&head), ["q1: the process that asked is being left"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_answer_is_offered_only_while_a_question_is_open() {
    let scene = Scene::new();
    let head = scene.start(MACHINE, &[], false).await;
    let ended = scene.runtime.settled(&head).await.unwrap();
    let begun = replay(&*scene.engine, &ended, 1, |_| {}).unwrap();
    let offered: Vec<String> =
        offers(&begun, scene.runtime.registry()).events.into_iter().map(|offer| offer.event).collect();
    assert_eq!(offered, ["stop"]);
}

#[test]
fn a_crash_ends_the_question_and_the_next_attempt_asks_again() {
    let threads = || tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    let first = threads();
    let (scene, head) = first.block_on(async {
        let scene = Scene::new();
        let head = scene.start(MACHINE, &["q1"], false).await;
        scene.asked(&head, 1).await;
        (scene, head)
    });
    first.shutdown_timeout(Duration::from_secs(5));
    let Scene { home, engine, runtime, _watched } = scene;
    drop((engine, runtime, _watched));
    threads().block_on(async {
        // The second attempt asks nothing before the answer to the first one has been refused.
        let gate = Arc::new(Semaphore::new(0));
        let scene = Scene::at(home, Arc::clone(&gate));
        let gone = scene.permit(&head, "q1", "allow").await.unwrap_err();
        // The reason depends on whether the second attempt has begun already.
        let reasons = ["the attempt that asked question `q1` has ended", "no such question is open"];
        assert!(reasons.iter().any(|reason| gone.contains(reason)), "{gone}");
        let mut news = scene.runtime.news();
        while scene.live(&head).activities.values().all(|begun| begun.number < 2) {
            news.recv().await.unwrap();
        }
        gate.add_permits(1);
        scene.asked(&head, 1).await;
        scene.permit(&head, "q1", "deny").await.unwrap();
        assert_eq!(scene.answers(&head).await, r#"["q1: deny"]"#);
    });
}
