//! An event that is sent again with the same id is recorded once, even if the process that owns the run ends.

use std::{
    collections::BTreeSet,
    sync::{Arc, Mutex},
};

use interlock_activity::Registry;
use interlock_chart::Value;
use interlock_journal::{
    Append, By, Change, Claim, Definition, Engine, EvidenceStore, Filter, Hash, Head, Holder, Lease, Message, NewRun,
    Opened, Posted, Receipt, Record, Result, RunKey, Work, WorkerName,
};
use interlock_sqlite::Journal;

use super::scene::{Hand, Scene};

const COUNTER: &str = "\
machine: counter
version: 1
summary: Counts.
context: { count: 0 }
events:
  add: { from: user, data: { type: object, properties: { n: { type: integer, default: 1 } } } }
  end: { from: user }
initial: counting
states:
  counting: { on: { add: { assign: { count: \"${context.count + event.n}\" } }, end: done } }
  done: { type: final, outcome: success, data: { count: \"${context.count}\" } }
";

fn number(n: i64) -> Value {
    Value::map([("n", Value::Int(n))])
}

#[tokio::test]
async fn the_same_id_is_recorded_once_and_answered_with_the_first() {
    let home = tempfile::tempdir().unwrap();
    let scene = Scene::new(home.path(), Hand::at(1_000), Registry::default());
    let head = scene.start(home.path(), COUNTER).await;
    let send = |event: &'static str, data: Value, id: &'static str| {
        let (runtime, head) = (scene.runtime.clone(), head.clone());
        async move { runtime.send_once(&head, event, data, By::user("ada"), id).await }
    };
    let first = send("add", Value::empty(), "x").await.unwrap();
    assert_eq!((first.seq, first.is_repeated), (2, false));
    for data in [Value::empty(), number(1)] {
        let again = send("add", data, "x").await.unwrap();
        assert_eq!((again.seq, again.is_repeated), (2, true), "defaults are no difference");
    }
    for (event, data) in [("end", Value::empty()), ("add", number(2))] {
        let other = send(event, data, "x").await.unwrap_err().to_string();
        assert_eq!(other, "the id `x` belongs to another event of r: record 2");
    }
    send("end", Value::empty(), "y").await.unwrap();
    assert_eq!(send("end", Value::empty(), "y").await.unwrap().seq, 3, "even of a run that has ended");
    assert_eq!(scene.records(&head).len(), 2);
}

/// A store in which another process owns the run. That process answers between the sender's check of the message and
/// its check of the owner, and then dies.
struct Haunted {
    journal: Journal,
    /// The answer that has not been given yet.
    answer: Mutex<Option<&'static str>>,
    message: Mutex<i64>,
}

/// Waits on another thread, because this one executes tasks.
fn done<T: Send>(receipt: Receipt<T>) -> Result<T> {
    std::thread::scope(|scope| scope.spawn(|| receipt.wait()).join().unwrap())
}

impl Engine for Haunted {
    fn claim(&self, run: RunKey, now_ms: i64) -> Receipt<Claim> {
        match *self.answer.lock().unwrap() {
            Some(_) => Receipt::of(Ok(Claim::Held { worker: WorkerName("process 1".into()) })),
            None => self.journal.claim(run, now_ms),
        }
    }
    fn post(&self, run: RunKey, body: String) -> Receipt<i64> {
        let message = done(self.journal.post(run, body)).unwrap();
        *self.message.lock().unwrap() = message;
        Receipt::of(Ok(message))
    }
    fn holder(&self, run: RunKey) -> Result<Option<Holder>> {
        match self.answer.lock().unwrap().take() {
            Some("") => Ok(None),
            Some(answer) => {
                done(self.journal.answer(*self.message.lock().unwrap(), answer.into()))?;
                Ok(None)
            }
            None => self.journal.holder(run),
        }
    }
    fn define(&self, definition: Definition) -> Receipt<()> {
        self.journal.define(definition)
    }
    fn definition(&self, hash: &str) -> Result<Definition> {
        self.journal.definition(hash)
    }
    fn create(&self, run: NewRun) -> Receipt<Head> {
        self.journal.create(run)
    }
    fn append(&self, run: RunKey, after: u64, lease: Lease, append: Append) -> Receipt<u64> {
        self.journal.append(run, after, lease, append)
    }
    fn find(&self, name: &str) -> Result<Option<Head>> {
        self.journal.find(name)
    }
    fn head(&self, run: RunKey) -> Result<Head> {
        self.journal.head(run)
    }

    fn list(&self, filter: &Filter) -> Result<Vec<Head>> {
        self.journal.list(filter)
    }

    fn last_change(&self) -> Result<u64> {
        self.journal.last_change()
    }
    fn changes(&self, since: u64, at_most: usize) -> Result<Vec<Change>> {
        self.journal.changes(since, at_most)
    }

    fn worker(&self) -> WorkerName {
        self.journal.worker()
    }

    fn open(&self, run: RunKey) -> Result<Opened> {
        self.journal.open(run)
    }
    fn records(&self, run: RunKey, from: u64, at_most: usize) -> Result<Vec<Record>> {
        self.journal.records(run, from, at_most)
    }
    fn evidence_index(&self, run: RunKey) -> Result<BTreeSet<(u64, Hash)>> {
        self.journal.evidence_index(run)
    }
    fn sent(&self, run: RunKey, id: &str) -> Result<Option<u64>> {
        self.journal.sent(run, id)
    }
    fn release(&self, run: RunKey, lease: Lease) -> Receipt<()> {
        self.journal.release(run, lease)
    }
    fn ring(&self, run: RunKey) -> Result<()> {
        self.journal.ring(run)
    }
    fn posted(&self, message: i64) -> Result<Posted> {
        self.journal.posted(message)
    }
    fn withdraw(&self, message: i64) -> Receipt<Posted> {
        self.journal.withdraw(message)
    }
    fn messages(&self, run: RunKey) -> Result<Vec<Message>> {
        self.journal.messages(run)
    }
    fn answer(&self, message: i64, answer: String) -> Receipt<()> {
        self.journal.answer(message, answer)
    }
    fn work(&self, now_ms: i64) -> Result<Work> {
        self.journal.work(now_ms)
    }
    fn wait_for_bell(&self, at_most_ms: u64) {
        self.journal.wait_for_bell(at_most_ms);
    }
    fn evidence(&self) -> &EvidenceStore {
        self.journal.evidence()
    }
}

#[tokio::test]
async fn a_holder_that_dies_after_its_answer_has_answered() {
    // The answer of the process that dies, if it gave one, the sequence number that the sender receives, and the number
    // of records.
    for (answer, seq, records) in [(r#"{"Ok":{"seq":7}}"#, 7, 0), ("", 2, 1)] {
        let home = tempfile::tempdir().unwrap();
        let journal = Journal::open_inline(&home.path().join("store")).unwrap();
        let engine = Arc::new(Haunted { journal, answer: Mutex::new(None), message: Mutex::new(0) });
        let haunted = Arc::clone(&engine);
        let scene = Scene::over(home.path(), Hand::at(1_000), Registry::default(), engine);
        let head = scene.start(home.path(), COUNTER).await;
        *haunted.answer.lock().unwrap() = Some(answer);
        let sent = scene.runtime.send_once(&head, "add", Value::empty(), By::user("ada"), "x").await.unwrap();
        assert_eq!(sent.seq, seq);
        assert_eq!(scene.records(&head).len(), records);
    }
}
