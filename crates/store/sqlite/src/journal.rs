//! The SQLite engine: implements the engine trait with the tables, the writer and the worker locks.

use std::{
    collections::{BTreeMap, BTreeSet},
    path::{Path, PathBuf},
    sync::{Arc, Mutex, OnceLock, PoisonError},
    time::Duration,
};

use interlock_journal::{
    Append, Change, Claim, Definition, Engine, Error, EvidenceStore, Filter, Hash, Head, Holder, Lease, Message,
    NewRun, Opened, Phase, Posted, Receipt, Record, Result, RunKey, StoreHead, Work, WorkerName, private,
};
use rusqlite::Connection;

use crate::{
    Audit, audit,
    head_file::{self, HeadFile},
    liveness::{self, Worker},
    store::{self, Source, append, chain, leases, messages, read},
    worker::worker_name,
    writer::{OnCommit, Writer},
};

/// Runs and their records, in SQLite files of one directory.
#[derive(Debug)]
pub struct Journal {
    writer: Writer,
    readers: Mutex<Vec<Connection>>,
    evidence: EvidenceStore,
    worker: OnceLock<Arc<Worker>>,
    registering: Mutex<()>,
    folder: PathBuf,
    source: Source,
}

/// The name of the file that has the tables.
pub const STORE_FILE: &str = "journal.sqlite";

/// The name of the directory that has the evidence.
const EVIDENCE_FOLDER: &str = "evidence";

impl Journal {
    /// Opens the journal in a directory, and creates the directory if it does not exist. A journal that cannot be
    /// written, such as an auditor's copy, is opened for reading, and every write to it is refused.
    pub fn open(folder: &Path) -> Result<Self> {
        match Self::prepare(folder) {
            Ok((connection, head_file)) => Self::with(folder, Writer::on_thread(connection, head_file)?),
            Err(error) if error.is_read_only() && folder.join(STORE_FILE).is_file() => {
                Self::open_to_read(folder, error)
            }
            Err(error) => Err(error),
        }
    }

    fn open_to_read(folder: &Path, why: Error) -> Result<Self> {
        let file = folder.join(STORE_FILE);
        let source = Source::of(&file)?;
        store::is_current(&source.open()?, &file)?;
        let evidence = EvidenceStore::existing(folder.join(EVIDENCE_FOLDER));
        Ok(Self::of_parts(folder, Writer::refusing(why), evidence, source))
    }

    /// Returns true if the journal can only be read.
    pub fn is_read_only(&self) -> bool {
        self.writer.is_refusing()
    }

    /// Opens the journal such that the caller's thread does and commits every write: for tests that decide when a
    /// process dies.
    pub fn open_inline(folder: &Path) -> Result<Self> {
        let (connection, head_file) = Self::prepare(folder)?;
        Self::with(folder, Writer::inline(connection, head_file))
    }

    fn prepare(folder: &Path) -> Result<(Connection, HeadFile)> {
        private::folder(folder)?;
        let file = folder.join(STORE_FILE);
        private::file(&file)?;
        // First of all: nothing is put beside the database of another program.
        let connection = store::open(&file)?;
        private::folder(&workers(folder))?;
        let head_file = HeadFile::open(folder)?;
        head_file::compare(folder, &head_file, || Ok(chain::head(&connection)?))?;
        Ok((connection, head_file))
    }

    fn with(folder: &Path, writer: Writer) -> Result<Self> {
        let evidence = EvidenceStore::open(folder.join(EVIDENCE_FOLDER))?;
        let source = Source::of(&folder.join(STORE_FILE))?;
        Ok(Self::of_parts(folder, writer, evidence, source))
    }

    fn of_parts(folder: &Path, writer: Writer, evidence: EvidenceStore, source: Source) -> Self {
        Journal {
            writer,
            readers: Mutex::default(),
            evidence,
            worker: OnceLock::new(),
            registering: Mutex::default(),
            folder: folder.to_owned(),
            source,
        }
    }

    /// Returns the directory of the store.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Reads with a separate connection: readers never wait for the writer.
    fn read<T>(&self, read: impl FnOnce(&Connection) -> crate::Result<T>) -> Result<T> {
        let spare = self.readers.lock().unwrap_or_else(PoisonError::into_inner).pop();
        let connection = match spare {
            Some(connection) => connection,
            None => self.source.open()?,
        };
        let result = read(&connection);
        self.readers.lock().unwrap_or_else(PoisonError::into_inner).push(connection);
        result.map_err(Error::from)
    }

    /// Registers this process as a worker when it first claims a run.
    fn registered(&self) -> Result<Arc<Worker>> {
        let _one_at_a_time = self.registering.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(worker) = self.worker.get() {
            return Ok(worker.clone());
        }
        let folder = workers(&self.folder);
        let mut dead = Vec::new();
        let id = {
            let folder = folder.clone();
            let registered = self.writer.write(move |connection| {
                let dead = leases::forget_dead(connection, |worker| liveness::is_alive(&folder, worker))?;
                Ok((leases::register(connection, std::process::id())?, dead))
            });
            let (id, found) = wait_anywhere(registered)?;
            dead.extend(found);
            id
        };
        dead.into_iter().for_each(|worker| liveness::clean_up(&folder, worker));
        let worker = Arc::new(Worker::begin(&folder, id)?);
        Ok(self.worker.get_or_init(|| worker).clone())
    }

    /// Returns the hashes of the evidence that records refer to.
    pub fn evidence_in_use(&self) -> Result<BTreeSet<Hash>> {
        self.read(read::evidence_in_use)
    }

    /// Returns the records of a run that refer to evidence.
    pub fn records_with_evidence(&self, run: RunKey) -> Result<Vec<Record>> {
        self.read(|connection| read::records_with_evidence(connection, run))
    }

    /// Returns the end of the store's chain.
    pub fn store_head(&self) -> Result<StoreHead> {
        self.read(chain::head)
    }

    /// Checks the store as a whole; `at` lists the numbers of the records after which the caller needs the chain's
    /// hash.
    pub fn audit(&self, at: &BTreeSet<u64>) -> Result<Audit> {
        self.read(|connection| audit::audit(connection, &self.folder, &self.evidence, at))
    }

    /// Returns the losses of records that were noticed when the store was opened.
    pub fn losses(&self) -> Result<Vec<String>> {
        head_file::losses(&self.folder)
    }

    /// Sets a function that is called after every commit that added records. It must not block: the writer waits for
    /// it.
    pub fn on_commit(&self, call: OnCommit) {
        self.writer.on_commit(call);
    }

    /// Returns the result of SQLite's integrity check of the file.
    pub fn integrity(&self) -> Result<Vec<String>> {
        self.read(|connection| {
            let mut check = connection.prepare("PRAGMA integrity_check(20)")?;
            let rows = check.query_map([], |row| row.get::<_, String>(0))?;
            let said: Vec<String> = rows.collect::<rusqlite::Result<_>>()?;
            Ok(said.into_iter().filter(|line| line != "ok").collect())
        })
    }
}

/// Returns the version of SQLite that is built in.
pub fn sqlite_version() -> &'static str {
    rusqlite::version()
}

/// Waits for a receipt on a separate thread, because a thread of an async runtime must not block on the receipt
/// directly.
fn wait_anywhere<T: Send>(receipt: Receipt<T>) -> Result<T> {
    std::thread::scope(|scope| {
        scope.spawn(|| receipt.wait()).join().unwrap_or_else(|_| Err(Error::Stopped("its thread has ended".into())))
    })
}

fn workers(folder: &Path) -> PathBuf {
    folder.join("workers")
}

impl Engine for Journal {
    fn define(&self, definition: Definition) -> Receipt<()> {
        match definition.pack() {
            Ok(packed) => self.writer.write(move |connection| append::define(connection, &definition, &packed)),
            Err(error) => Receipt::of(Err(error)),
        }
    }

    fn definition(&self, hash: &str) -> Result<Definition> {
        self.read(|connection| read::definition(connection, hash))
    }

    fn create(&self, run: NewRun) -> Receipt<Head> {
        let worker = match run.claim.then(|| self.registered()).transpose() {
            Ok(worker) => worker.map(|worker| worker.id),
            Err(error) => return Receipt::of(Err(error)),
        };
        self.writer.write(move |connection| append::create(connection, run, worker))
    }

    fn append(&self, run: RunKey, after: u64, lease: Lease, append: Append) -> Receipt<u64> {
        self.writer.write(move |connection| append::append(connection, run, after, lease, append))
    }

    fn find(&self, name: &str) -> Result<Option<Head>> {
        self.read(|connection| read::find(connection, name))
    }

    fn head(&self, run: RunKey) -> Result<Head> {
        self.read(|connection| read::head(connection, run))
    }

    fn list(&self, filter: &Filter) -> Result<Vec<Head>> {
        self.read(|connection| read::list(connection, filter))
    }

    fn count(&self, filter: &Filter) -> Result<BTreeMap<Phase, u64>> {
        self.read(|connection| read::count(connection, filter))
    }

    fn changes(&self, since: u64, at_most: usize) -> Result<Vec<Change>> {
        self.read(|connection| read::changes(connection, since, at_most))
    }

    fn last_change(&self) -> Result<u64> {
        self.read(read::last_change)
    }

    fn open(&self, run: RunKey) -> Result<Opened> {
        self.read(|connection| read::open(connection, run))
    }

    fn records(&self, run: RunKey, from: u64, at_most: usize) -> Result<Vec<Record>> {
        self.read(|connection| read::records(connection, run, from, at_most))
    }

    fn evidence_index(&self, run: RunKey) -> Result<BTreeSet<(u64, Hash)>> {
        self.read(|connection| read::evidence_index(connection, run))
    }

    fn worker(&self) -> WorkerName {
        worker_name(std::process::id())
    }

    fn claim(&self, run: RunKey, now_ms: i64) -> Receipt<Claim> {
        let worker = match self.registered() {
            Ok(worker) => worker.id,
            Err(error) => return Receipt::of(Err(error)),
        };
        let folder = workers(&self.folder);
        self.writer.write(move |connection| {
            leases::claim(connection, run, worker, now_ms, |worker| liveness::is_alive(&folder, worker))
        })
    }

    fn holder(&self, run: RunKey) -> Result<Option<Holder>> {
        let folder = workers(&self.folder);
        self.read(|connection| match leases::holder(connection, run)? {
            Some((worker, since_ms)) if liveness::is_alive(&folder, worker) => {
                Ok(leases::pid(connection, worker)?.map(|pid| Holder { worker: worker_name(pid), since_ms }))
            }
            _ => Ok(None),
        })
    }

    fn sent(&self, run: RunKey, id: &str) -> Result<Option<u64>> {
        self.read(|connection| read::sent(connection, run, id))
    }

    fn release(&self, run: RunKey, lease: Lease) -> Receipt<()> {
        self.writer.write(move |connection| leases::release(connection, run, lease))
    }

    fn post(&self, run: RunKey, body: String) -> Receipt<i64> {
        self.writer.write(move |connection| messages::post(connection, run, &body))
    }

    fn ring(&self, run: RunKey) -> Result<()> {
        let holder = self.read(|connection| leases::holder(connection, run))?;
        holder.into_iter().for_each(|(worker, _)| liveness::ring(&workers(&self.folder), worker));
        Ok(())
    }

    fn posted(&self, message: i64) -> Result<Posted> {
        self.read(|connection| messages::posted(connection, message))
    }

    fn withdraw(&self, message: i64) -> Receipt<Posted> {
        self.writer.write(move |connection| messages::remove(connection, message))
    }

    fn messages(&self, run: RunKey) -> Result<Vec<Message>> {
        self.read(|connection| messages::open(connection, run))
    }

    fn answer(&self, message: i64, answer: String) -> Receipt<()> {
        self.writer.write(move |connection| messages::answer(connection, message, &answer))
    }

    fn work(&self, now_ms: i64) -> Result<Work> {
        let me = self.worker.get().map(|worker| worker.id);
        let folder = workers(&self.folder);
        self.read(|connection| leases::work(connection, me, now_ms, |worker| liveness::is_alive(&folder, worker)))
    }

    fn wait_for_bell(&self, at_most_ms: u64) {
        let at_most = Duration::from_millis(at_most_ms);
        match self.worker.get() {
            Some(worker) => worker.wait(at_most),
            None => std::thread::sleep(at_most),
        }
    }

    fn evidence(&self) -> &EvidenceStore {
        &self.evidence
    }
}
