//! An engine that can die with its process: before a commit, or after it and before the caller receives the result.

use std::{
    collections::BTreeSet,
    sync::{Arc, Mutex},
};

use interlock_journal::{
    Append, Change, Claim, Definition, Engine, EvidenceStore, Filter, Hash, Head, Holder, Lease, Message, NewRun,
    Opened, Posted, Receipt, Record, Result, RunKey, Work, WorkerName,
};
use interlock_sqlite::Journal;
use tokio::sync::oneshot;

use super::world::World;

pub(crate) struct Mortal {
    pub(crate) journal: Journal,
    pub(crate) world: Arc<World>,
    /// The senders of receipts that are never completed. They are kept so that the receivers wait forever.
    silence: Mutex<Vec<Box<dyn Send>>>,
}

impl Mortal {
    pub(crate) fn new(journal: Journal, world: Arc<World>) -> Self {
        Mortal { journal, world, silence: Mutex::default() }
    }

    fn write<T: Send + 'static>(&self, what: &str, write: impl FnOnce() -> Receipt<T>) -> Receipt<T> {
        if self.world.dies(|| format!("before {what}")) {
            return self.never();
        }
        let receipt = write();
        if self.world.dies(|| format!("after {what}")) {
            return self.never();
        }
        receipt
    }

    fn never<T: Send + 'static>(&self) -> Receipt<T> {
        let (sender, receiver) = oneshot::channel();
        self.silence.lock().unwrap().push(Box::new(sender));
        Receipt::pending(receiver)
    }
}

impl Engine for Mortal {
    fn define(&self, definition: Definition) -> Receipt<()> {
        self.journal.define(definition)
    }

    fn definition(&self, hash: &str) -> Result<Definition> {
        self.journal.definition(hash)
    }

    fn create(&self, run: NewRun) -> Receipt<Head> {
        self.write("making the run", || self.journal.create(run))
    }

    fn append(&self, run: RunKey, after: u64, lease: Lease, append: Append) -> Receipt<u64> {
        self.write(&format!("record {}", after + 1), || self.journal.append(run, after, lease, append))
    }

    fn evidence_index(&self, run: RunKey) -> Result<BTreeSet<(u64, Hash)>> {
        self.journal.evidence_index(run)
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

    fn claim(&self, run: RunKey, now_ms: i64) -> Receipt<Claim> {
        self.write("a claim", || self.journal.claim(run, now_ms))
    }

    fn holder(&self, run: RunKey) -> Result<Option<Holder>> {
        self.journal.holder(run)
    }

    fn sent(&self, run: RunKey, id: &str) -> Result<Option<u64>> {
        self.journal.sent(run, id)
    }

    fn release(&self, run: RunKey, lease: Lease) -> Receipt<()> {
        self.write("a release", || self.journal.release(run, lease))
    }

    fn post(&self, run: RunKey, body: String) -> Receipt<i64> {
        self.journal.post(run, body)
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
