//! A runtime whose clock the test sets, over a store that outlives it.

use std::{
    path::Path,
    sync::{
        Arc,
        atomic::{AtomicI64, Ordering},
    },
};

use interlock_activity::{Activity, Attempt, EffectClass, Ending, Outcome, Registry, Requests, Signal, Site};
use interlock_chart::{Value, library};
use interlock_journal::{By, Engine, Entry, Head};
use interlock_runtime::{AnyMachine, Clock, Config, NoSnapshots, Runtime, Sent, Start};
use interlock_sqlite::Journal;

/// A clock that stands still until the test sets it, or until code under test moves it to the next time.
#[derive(Debug, Default)]
pub(crate) struct Hand {
    now_ms: AtomicI64,
    /// The time after the next reading, if it is not 0.
    next_ms: AtomicI64,
}

impl Hand {
    pub(crate) fn at(now_ms: i64) -> Arc<Self> {
        Arc::new(Hand { now_ms: AtomicI64::new(now_ms), next_ms: AtomicI64::new(0) })
    }

    pub(crate) fn set(&self, now_ms: i64) {
        self.now_ms.store(now_ms, Ordering::SeqCst);
    }

    /// Makes the next reading return `now_ms`, and all later ones `then_ms`.
    fn jump(&self, now_ms: i64, then_ms: i64) {
        self.set(now_ms);
        self.next_ms.store(then_ms, Ordering::SeqCst);
    }
}

impl Clock for Hand {
    fn now_ms(&self) -> i64 {
        let now_ms = self.now_ms.load(Ordering::SeqCst);
        match self.next_ms.swap(0, Ordering::SeqCst) {
            0 => {}
            next_ms => self.set(next_ms),
        }
        now_ms
    }
}

/// An activity that ends at one time of the clock and whose end is reported at another.
pub(crate) struct Work {
    pub(crate) clock: Arc<Hand>,
    pub(crate) ends_ms: i64,
    pub(crate) heard_ms: i64,
}

impl Activity for Work {
    fn name(&self) -> &str {
        "work"
    }
    fn summary(&self) -> &str {
        "works"
    }
    fn effect(&self) -> EffectClass {
        EffectClass::Read
    }
    fn signals(&self) -> &[Signal] {
        const { &[Signal::open("worked")] }
    }
    fn schema(&self) -> interlock_activity::Schema {
        interlock_activity::schema::any()
    }

    fn requests(&self, _: &Site<'_>) -> Requests {
        Ok(Vec::new())
    }
    fn start(&self, _: Attempt) -> Ending {
        let (clock, ends_ms, heard_ms) = (Arc::clone(&self.clock), self.ends_ms, self.heard_ms);
        Box::pin(async move {
            clock.jump(ends_ms, heard_ms);
            Outcome::signal("worked", Value::empty())
        })
    }
}

/// A runtime over a store, with a clock that the test sets.
pub(crate) struct Scene {
    pub(crate) clock: Arc<Hand>,
    pub(crate) runtime: Runtime,
    pub(crate) engine: Arc<dyn Engine>,
}

impl Scene {
    pub(crate) fn new(home: &Path, clock: Arc<Hand>, registry: Registry) -> Self {
        let engine: Arc<dyn Engine> = Arc::new(Journal::open_inline(&home.join("store")).unwrap());
        Scene::over(home, clock, registry, engine)
    }

    pub(crate) fn over(home: &Path, clock: Arc<Hand>, registry: Registry, engine: Arc<dyn Engine>) -> Self {
        let runtime = Runtime::new(Config {
            engine: Arc::clone(&engine),
            registry,
            clock: Arc::clone(&clock) as Arc<dyn Clock>,
            snapshots: Arc::new(NoSnapshots),
            prover: Arc::new(AnyMachine),
            attempts_max: 4,
            live_folder: home.into(),
            redactor: Default::default(),
        });
        Scene { clock, runtime, engine }
    }

    /// Starts a run called `r` and waits until it rests.
    pub(crate) async fn start(&self, home: &Path, machine: &str) -> Head {
        let file = home.join("m.yaml");
        std::fs::write(&file, machine).unwrap();
        let source = library::load(file.to_str().unwrap(), home).unwrap();
        let loaded = self.runtime.load(&source).unwrap_or_else(|_| panic!("{:?}", source.read().diagnostics));
        let (input, folder, by) = (Value::empty(), home.to_owned(), By::user("ada"));
        let start = Start { loaded, input, folder, by, parent: None, name: Some("r".into()), accepts_unproved: false };
        let head = self.runtime.start(start).await.unwrap();
        self.runtime.settled(&head).await.unwrap()
    }

    pub(crate) async fn send(&self, head: &Head, event: &str) -> interlock_runtime::Result<Sent> {
        let sent = self.runtime.send_once(head, event, Value::empty(), By::user("ada"), &format!("{event}-1")).await;
        self.runtime.settled(head).await.unwrap();
        sent
    }

    /// Returns the records after the first, each as its time and its kind.
    pub(crate) fn records(&self, head: &Head) -> Vec<(i64, String)> {
        let records = self.engine.records(head.key, 2, usize::MAX).unwrap();
        let said = |record: &interlock_journal::Record| match self.engine.entry(record).unwrap() {
            Entry::Event { event, .. } => event,
            Entry::Timer { timer } => timer.to_string(),
            _ => record.kind_word().to_owned(),
        };
        records.iter().map(|record| (record.at_ms, said(record))).collect()
    }
}
