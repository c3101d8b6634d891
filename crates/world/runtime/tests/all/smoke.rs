//! A run from its start to its end, in one process.

use std::sync::Arc;

use interlock_activity::{Activity, Attempt, EffectClass, Ending, Outcome, Registry, Requests, Signal, Site};
use interlock_chart::{Value, library};
use interlock_journal::{By, Engine, Phase};
use interlock_runtime::{AnyMachine, Config, NoSnapshots, Runtime, Start, SystemClock, verify};
use interlock_sqlite::Journal;

struct Echo;

impl Activity for Echo {
    fn name(&self) -> &str {
        "echo"
    }
    fn summary(&self) -> &str {
        "says what it is told"
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
        const { &[Signal::open("said")] }
    }
    fn start(&self, attempt: Attempt) -> Ending {
        Box::pin(async move { Outcome::signal("said", attempt.with) })
    }
}

const MACHINE: &str = r#"
machine: talk
version: 1
summary: Says three things, then asks.
input: { type: object, properties: { word: { type: string, default: hello } } }
context: { said: 0 }
events:
  enough: { from: user, summary: Stop talking }
initial: talking
states:
  talking:
    invoke: { activity: echo, with: { word: "${input.word}" }, signals: [said] }
    on:
      said:
        - { target: talking, limit: 2, assign: { said: "${context.said + 1}" }, reason: "${event.word}" }
        - { target: asking }
  asking: { on: { enough: { target: silent } } }
  silent: { type: final, outcome: success }
"#;

#[tokio::test(flavor = "multi_thread")]
async fn a_run_goes_on_by_itself_then_waits_then_ends() {
    let home = tempfile::tempdir().unwrap();
    let file = home.path().join("talk.yaml");
    std::fs::write(&file, MACHINE).unwrap();
    let source = library::load(file.to_str().unwrap(), home.path()).unwrap();
    let journal: Arc<dyn Engine> = Arc::new(Journal::open(&home.path().join("store")).unwrap());
    let runtime = Runtime::new(Config {
        engine: Arc::clone(&journal),
        registry: Registry::default().with(Echo),
        clock: Arc::new(SystemClock),
        snapshots: Arc::new(NoSnapshots),
        attempts_max: 4,
        live_folder: home.path().into(),
        redactor: Default::default(),
        prover: Arc::new(AnyMachine),
    });
    let loaded = runtime.load(&source).unwrap_or_else(|_| panic!("{:?}", source.read().diagnostics));
    let start = Start {
        loaded,
        input: Value::empty(),
        folder: home.path().into(),
        by: By::user("ada"),
        parent: None,
        name: None,
        accepts_unproved: false,
    };
    let head = runtime.start(start).await.unwrap();
    let waiting = runtime.settled(&head).await.unwrap();
    assert_eq!((waiting.phase, waiting.place.as_str()), (Phase::Waiting, "asking"));
    let refused = runtime.send(&head, "said", Value::empty(), By::user("ada")).await.unwrap_err();
    assert!(refused.hint().unwrap().contains("enough"), "{refused}");
    runtime.send(&head, "enough", Value::empty(), By::user("ada")).await.unwrap();
    let ended = runtime.settled(&head).await.unwrap();
    assert_eq!((ended.phase, ended.place.as_str()), (Phase::Succeeded, "silent"));
    assert_eq!(verify(&*journal, &Registry::default(), &ended).unwrap(), []);
}
