//! The runtime: starts, adopts and addresses all runs of this process.

use std::{
    collections::{BTreeSet, HashMap, HashSet},
    path::{Path, PathBuf},
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use interlock_activity::{Activity, Registry};
use interlock_chart::{Value, library::Source};
use interlock_core::Semantics;
use interlock_journal::{
    By, Claim, Created, Definition, Engine, Entry, Head, NewRun, Phase, Posted, RunKey, WorkerName,
};
use interlock_redact::Redactor;
use serde::{Deserialize, Serialize};
use tokio::sync::{
    Semaphore, broadcast,
    mpsc::{UnboundedSender, unbounded_channel},
    oneshot,
};

use crate::{
    Clock, Error, Fired, Live, LoadedMachine, NewFork, News, Prover, Result, Snapshots,
    actor::{Actor, Mail},
    children, fixed, fork, fresh_id, fresh_name,
    history::Histories,
    project, proof, redaction,
    request::{Reply, Request, RequestResult, Sending, StoredRequest},
    seals::Seals,
};

/// The time that a live process has to answer a message.
const ANSWER_WAIT: Duration = Duration::from_secs(10);

/// The most times a request is sent while one owner after another ends without an answer.
const ASKED_MAX: usize = 3;

/// The number of notifications kept for slow readers.
const NEWS_KEPT: usize = 4_096;

/// The interval in milliseconds at which the runtime looks for work if the bell does not ring.
const LOOK_EVERY_MS: u64 = 1_000;

/// The niceness of threads that prepare activities, so that they yield to work that a caller waits for.
const READY_NICE: i32 = 5;

/// The parts of a runtime.
pub struct Config {
    /// The engine that makes runs durable.
    pub engine: Arc<dyn Engine>,
    /// The activities that machines can invoke.
    pub registry: Registry,
    /// The source of the current time.
    pub clock: Arc<dyn Clock>,
    /// The snapshots to which writes can be undone.
    pub snapshots: Arc<dyn Snapshots>,
    /// The most attempts that run at once.
    pub attempts_max: usize,
    /// The directory of the files that show the output of running attempts.
    pub live_folder: PathBuf,
    /// Removes secrets from all data before it is stored or shown.
    pub redactor: Arc<Redactor>,
    /// Decides if a machine may run.
    pub prover: Arc<dyn Prover>,
}

/// The parameters of a new run.
#[derive(Clone, Debug)]
pub struct Start {
    /// The machine that the run executes.
    pub loaded: Arc<LoadedMachine>,
    /// The run's input.
    pub input: Value,
    /// The directory in which the run works.
    pub folder: PathBuf,
    /// The person or run that starts it.
    pub by: By,
    /// The name of the run that starts it, if any.
    pub parent: Option<String>,
    /// The run's name. If it is `None`, a new name is generated.
    pub name: Option<String>,
    /// Accepts a machine that `check` refuses. The refusals are then recorded in the run.
    pub accepts_unproved: bool,
}

/// The result of a request to a run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Sent {
    /// The sequence number of the record that it became.
    pub seq: u64,
    /// True if an earlier request with the same id had already become that record.
    #[serde(default)]
    pub is_repeated: bool,
    /// The deadlines that were due and fired first.
    #[serde(default)]
    pub fired: Vec<Fired>,
}

impl Sent {
    pub(crate) fn new(seq: u64, fired: Vec<Fired>) -> Self {
        Sent { seq, is_repeated: false, fired }
    }
}

/// The state in which a process released a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Settled {
    /// The phase of the run.
    pub phase: Phase,
    /// The sequence number of its last record.
    pub seq: u64,
}

/// A handle to the runtime, which executes runs. Clones share the same runtime.
#[derive(Clone, Debug)]
pub struct Runtime(pub(crate) Arc<Shared>);

pub(crate) struct Shared {
    pub(crate) engine: Arc<dyn Engine>,
    pub(crate) registry: Registry,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) snapshots: Arc<dyn Snapshots>,
    pub(crate) permits: Arc<Semaphore>,
    pub(crate) live_folder: PathBuf,
    pub(crate) redactor: Arc<Redactor>,
    pub(crate) seals: Seals,
    pub(crate) histories: Histories,
    prover: Arc<dyn Prover>,
    live: Mutex<HashMap<RunKey, LiveRun>>,
    /// Hashes of the definitions that this process has stored.
    defined: Mutex<HashSet<String>>,
    /// Allows one adoption at a time, so that the same process does not adopt a run twice.
    adopting: tokio::sync::Mutex<()>,
    news: broadcast::Sender<News>,
    /// Only the notifications that this process no longer executes a run, so that a task waiting for that is not woken
    /// by all others.
    endings: broadcast::Sender<News>,
}

/// A run that this process executes.
struct LiveRun {
    to: UnboundedSender<Mail>,
    /// True if the run waits and this process keeps it.
    is_resting: bool,
}

impl LiveRun {
    /// Sends mail to the run, which no longer rests then.
    fn write(&mut self, mail: Mail) -> Option<Mail> {
        self.is_resting = false;
        self.to.send(mail).err().map(|back| back.0)
    }
}

impl std::fmt::Debug for Shared {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.debug_struct("Runtime").field("registry", &self.registry).finish_non_exhaustive()
    }
}

impl Shared {
    /// Returns the redactor for a run with this input in this directory. The variables that the input names as the place
    /// of a secret hold secrets, whatever they are called; a part of the directory's path is not a secret.
    pub(crate) fn redactor_of(&self, input: &Value, folder: &Path) -> Arc<Redactor> {
        let used: Vec<String> =
            redaction::variables(input).into_iter().filter_map(|name| std::env::var(name).ok()).collect();
        let redactor = match used.is_empty() {
            true => Arc::clone(&self.redactor),
            false => Arc::new(self.redactor.also(used)),
        };
        let sparing = folder.to_str().and_then(|folder| redactor.sparing(folder));
        sparing.map_or(redactor, Arc::new)
    }

    /// Returns the activities that a machine invokes.
    pub(crate) fn activities<'s>(&'s self, loaded: &'s LoadedMachine) -> impl Iterator<Item = &'s Arc<dyn Activity>> {
        let names: BTreeSet<&str> = loaded.chart().invokes.iter().map(|invoke| invoke.activity.as_str()).collect();
        names.into_iter().filter_map(|name| self.registry.get(name))
    }

    /// Returns the objections of the machine's activities to a run with this input.
    fn objections(&self, loaded: &LoadedMachine, input: &Value, folder: &Path) -> Vec<String> {
        self.activities(loaded).flat_map(|activity| activity.objections(input, folder)).collect()
    }

    /// Lets the machine's activities prepare themselves, if this process has not run the machine yet.
    fn get_ready(&self, loaded: &LoadedMachine) {
        if !lock(&self.defined).contains(&loaded.definition.hash) {
            let activities: Vec<_> = self.activities(loaded).cloned().collect();
            // The thread is not awaited. If it cannot be started, each activity prepares itself when it is first used.
            let _ = std::thread::Builder::new().spawn(move || {
                let _ = rustix::process::nice(READY_NICE);
                activities.iter().for_each(|it| it.get_ready());
            });
        }
    }

    pub(crate) fn tell(&self, news: News) {
        // A send fails only if there are no listeners, which is not an error.
        if let News::Settled { .. } | News::Stopped { .. } = news {
            let _ = self.endings.send(news.clone());
        }
        let _ = self.news.send(news);
    }

    /// Returns true if the notifications have a reader.
    pub(crate) fn is_watched(&self) -> bool {
        self.news.receiver_count() > 0
    }

    /// Accepts mail for a run from now on.
    pub(crate) fn enlist(&self, run: RunKey, to: UnboundedSender<Mail>) {
        lock(&self.live).insert(run, LiveRun { to, is_resting: false });
    }

    pub(crate) fn forget(&self, run: RunKey) {
        lock(&self.live).remove(&run);
    }

    /// Forgets a run, unless mail has arrived in the meantime: a sender of mail holds the same lock.
    pub(crate) fn forget_if(&self, run: RunKey, is_quiet: impl FnOnce() -> bool) -> bool {
        let mut live = lock(&self.live);
        let quiet = is_quiet();
        if quiet {
            live.remove(&run);
        }
        quiet
    }

    /// Marks a run as waiting in this process, unless mail has arrived in the meantime. Returns true if it was not marked
    /// before.
    pub(crate) fn rest_if(&self, run: RunKey, is_quiet: impl FnOnce() -> bool) -> bool {
        let mut live = lock(&self.live);
        let quiet = is_quiet();
        let resting = live.get_mut(&run).filter(|live| quiet && !live.is_resting);
        resting.map(|live| live.is_resting = true).is_some()
    }

    /// Sends mail to a run that this process executes; otherwise returns the mail, if any.
    pub(crate) fn write_to(&self, run: RunKey, mail: Option<Mail>) -> Option<Option<Mail>> {
        match (lock(&self.live).get_mut(&run), mail) {
            (Some(live), Some(mail)) => live.write(mail).map(Some),
            (Some(_), None) => None,
            (None, mail) => Some(mail),
        }
    }
}

pub(crate) fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Runtime {
    /// Creates a runtime from its parts.
    pub fn new(config: Config) -> Self {
        Runtime(Arc::new(Shared {
            engine: config.engine,
            registry: config.registry,
            clock: config.clock,
            snapshots: config.snapshots,
            permits: Arc::new(Semaphore::new(config.attempts_max)),
            seals: Seals::new(&config.live_folder),
            histories: Histories::default(),
            live_folder: config.live_folder,
            redactor: config.redactor,
            prover: config.prover,
            live: Mutex::default(),
            defined: Mutex::default(),
            adopting: tokio::sync::Mutex::default(),
            news: broadcast::Sender::new(NEWS_KEPT),
            endings: broadcast::Sender::new(NEWS_KEPT),
        }))
    }

    /// Returns the engine that makes runs durable.
    pub fn engine(&self) -> &Arc<dyn Engine> {
        &self.0.engine
    }

    /// Returns the activities that machines can invoke.
    pub fn registry(&self) -> &Registry {
        &self.0.registry
    }

    /// Subscribes to the notifications from now on.
    pub fn news(&self) -> broadcast::Receiver<News> {
        self.0.news.subscribe()
    }

    /// Finds a run by its name.
    pub fn find(&self, name: &str) -> Result<Option<Head>> {
        Ok(self.0.engine.find(name)?)
    }

    /// Loads a machine from its source files.
    pub fn load(&self, source: &Source) -> Result<Arc<LoadedMachine>> {
        let reading = source.read();
        let Some(chart) = reading.chart else {
            return Err(Error::Machine(format!(
                "the machine {} cannot be used; `interlock check` shows the problems",
                source.name
            )));
        };
        let definition = Definition::new(source, &chart);
        let hash = definition.hash.clone();
        let known = LoadedMachine::known(&hash);
        Ok(known.unwrap_or_else(|| LoadedMachine::of(definition, chart).share()))
    }

    pub(crate) fn loaded(&self, hash: &str) -> Result<Arc<LoadedMachine>> {
        LoadedMachine::shared(&*self.0.engine, hash)
    }

    /// Starts a run. Its first record is durable when this returns.
    pub async fn start(&self, start: Start) -> Result<Head> {
        self.start_as(start, false).await
    }

    /// Starts a run. A detached run continues when the state that started it is left.
    pub(crate) async fn start_as(&self, start: Start, is_detached: bool) -> Result<Head> {
        let start = Start { folder: fixed::real(start.folder, start.parent.is_some()), ..start };
        let name = start.name.unwrap_or_else(|| fresh_name(&start.loaded.chart().id));
        let input = self.0.seals.value(&self.0.redactor_of(&start.input, &start.folder), &name, start.input);
        let input = start.loaded.admit_input(&input)?;
        let shared = &self.0;
        shared.get_ready(&start.loaded);
        let objections = shared.objections(&start.loaded, &input, &start.folder);
        if !objections.is_empty() {
            return Err(Error::Input(objections));
        }
        let unproved = proof::ask(&shared.prover, &start.loaded, &start.folder, start.accepts_unproved).await?;
        let home = shared.snapshots.workspace().and_then(|workspace| workspace.store());
        let rules = project::keep(&start.folder, home, shared.engine.evidence(), &shared.redactor);
        let rules = rules.map_err(Error::Project)?;
        let hash = &start.loaded.definition.hash;
        // Once per process is enough: definitions are never removed, and packing one takes longer than a step.
        if !lock(&shared.defined).contains(hash) {
            shared.engine.define((*start.loaded.definition).clone()).await?;
            lock(&shared.defined).insert(hash.clone());
        }
        let evidence = shared.engine.evidence().clone();
        let live = Live::new(name.as_str().into(), start.loaded, start.folder.clone(), start.parent.clone(), evidence);
        let created = Entry::Created(Created {
            machine: live.loaded.chart().id.clone(),
            definition: live.loaded.definition.hash.clone(),
            session: name.clone(),
            input,
            folder: Some(start.folder.display().to_string()),
            place: fixed::begin(&start.folder, start.parent.is_some()).map(Box::new),
            by: start.by,
            parent: start.parent.clone(),
            detached: is_detached,
            fork: None,
            unproved,
            project: Some(rules),
            made_with: Some(live.loaded.made_with()),
            semantics: Semantics::CURRENT,
        });
        let (to, mail) = unbounded_channel();
        let mut actor = Actor::new(Arc::clone(shared), live, mail, to);
        let head = actor.create(created).await?;
        tokio::spawn(actor.work(false));
        Ok(head)
    }

    /// Makes a new run that shares the first records of another, if its machine is proved or the caller accepts an
    /// unproved one. The caller creates it in the engine.
    pub fn fork(&self, head: &Head, wanted: NewFork) -> Result<NewRun> {
        fork(&*self.0.engine, &*self.0.prover, head, wanted)
    }

    /// Adopts a run: loads its state and handles its interrupted activities. If another live worker owns the run,
    /// returns that worker's name.
    pub async fn adopt(&self, run: RunKey) -> Result<Option<WorkerName>> {
        self.deliver(run, None).await
    }

    /// Delivers mail to a run, and adopts the run if no worker owns it. If another live worker owns it, returns that
    /// worker's name.
    async fn deliver(&self, run: RunKey, mail: Option<Mail>) -> Result<Option<WorkerName>> {
        let shared = &self.0;
        let _one_at_a_time = shared.adopting.lock().await;
        let Some(mail) = shared.write_to(run, mail) else { return Ok(None) };
        let lease = match shared.engine.claim(run, shared.clock.now_ms()).await? {
            Claim::Ours(lease) => lease,
            Claim::Held { worker } => return Ok(Some(worker)),
        };
        let opened = shared.engine.open(run)?;
        let loaded = self.loaded(&opened.head.definition)?;
        if let Entry::Created(created) = opened.first.entry(shared.engine.evidence())? {
            fixed::go_on(&created);
        }
        let live = Live::load(&opened, loaded, lease, shared.engine.evidence())?;
        let (to, inbox) = unbounded_channel();
        // Messages left for the previous owner come first. All are in the inbox before the run can come to rest again.
        let mail = self.end_unless_wanted(&opened.head)?.into_iter().chain([Mail::Look]).chain(mail);
        mail.for_each(|mail| drop(to.send(mail)));
        shared.enlist(run, to.clone());
        let actor = Actor::new(Arc::clone(shared), live, inbox, to);
        tokio::spawn(actor.work(true));
        Ok(None)
    }

    /// Returns a request to abort the run if its parent has left it. It is delivered before all other mail.
    fn end_unless_wanted(&self, head: &Head) -> Result<Option<Mail>> {
        if head.phase.is_over() || self.is_wanted(head)? {
            return Ok(None);
        }
        let parent = head.parent.clone().unwrap_or_default();
        let request = Request::Abort { why: children::left(&parent) };
        Ok(Some(Mail::Ask { request, by: By::run(parent), reply: Reply::Nobody }))
    }

    /// Sends an event to a run in any process. Returns the sequence number of its record.
    pub async fn send(&self, run: &Head, event: &str, data: Value, by: By) -> Result<u64> {
        Ok(self.send_once(run, event, data, by, &fresh_id()).await?.seq)
    }

    /// Sends an event with an id. Sending it again with the same id returns the result of the first, and has no other
    /// effect.
    pub async fn send_once(&self, run: &Head, event: &str, data: Value, by: By, id: &str) -> Result<Sent> {
        // Redact first: a message to another process is stored, too.
        let data = self.0.seals.value(&self.0.redactor, &run.name, data);
        let sending = Sending { event: event.to_owned(), data, id: Some(id.to_owned()) };
        self.ask(run, Request::Send(sending), by).await
    }

    /// Pauses a run: nothing new starts until it is resumed.
    pub async fn pause(&self, run: &Head, by: By) -> Result<u64> {
        Ok(self.ask(run, Request::Pause, by).await?.seq)
    }

    /// Resumes a paused run.
    pub async fn resume(&self, run: &Head, by: By) -> Result<u64> {
        Ok(self.ask(run, Request::Resume, by).await?.seq)
    }

    /// Grants a scope that policy asks about, for a time, for a number of uses, or both. Only people can grant.
    pub async fn grant(&self, run: &Head, scope: &str, for_ms: Option<u64>, uses: Option<u32>, by: By) -> Result<u64> {
        Ok(self.ask(run, Request::Grant { scope: scope.to_owned(), for_ms, uses }, by).await?.seq)
    }

    pub(crate) async fn ask(&self, run: &Head, request: Request, by: By) -> Result<Sent> {
        // Ask again if the owning process has ended without an answer.
        for _ in 0..ASKED_MAX {
            let (reply, answer) = oneshot::channel();
            let mail = Mail::Ask { request: request.clone(), by: by.clone(), reply: Reply::Here(reply) };
            let Some(owner) = self.deliver(run.key, Some(mail)).await? else {
                return match answer.await {
                    Ok(answer) => answer,
                    Err(_) => self.recorded(run, &request),
                };
            };
            if let Some(answer) = self.ask_there(run, &request, &by, &owner).await? {
                return answer.map_err(Error::from);
            }
        }
        self.recorded(run, &request)
    }

    /// Returns the result of an unanswered request, if the journal holds its record.
    fn recorded(&self, run: &Head, request: &Request) -> Result<Sent> {
        let Request::Send(Sending { id: Some(id), .. }) = request else { return Err(self.gone(run)) };
        let seq = self.0.engine.sent(run.key, id)?;
        seq.map(|seq| Sent::new(seq, Vec::new())).ok_or_else(|| self.gone(run))
    }

    fn gone(&self, run: &Head) -> Error {
        Error::State { run: run.name.clone(), why: "the process ended before it answered".into() }
    }

    /// Asks the process that owns the run. Returns `None` if that process has ended without answering.
    async fn ask_there(
        &self,
        run: &Head,
        request: &Request,
        by: &By,
        owner: &WorkerName,
    ) -> Result<Option<RequestResult>> {
        let engine = &self.0.engine;
        let letter = StoredRequest { request: request.clone(), by: by.clone() };
        let body = serde_json::to_string(&letter).unwrap_or_default();
        let message = engine.post(run.key, body).await?;
        engine.ring(run.key)?;
        let mut pause = Duration::from_millis(2);
        let deadline = tokio::time::Instant::now() + ANSWER_WAIT;
        loop {
            let is_answered = engine.posted(message)? != Posted::Open;
            let is_held = matches!(engine.holder(run.key)?, Some(holder) if holder.worker == *owner);
            let is_given_up = tokio::time::Instant::now() > deadline;
            if is_answered || !is_held || is_given_up {
                // The owner may have answered and ended since then: the state of the message at its withdrawal decides.
                return match engine.withdraw(message).await? {
                    Posted::Answered(answer) => Ok(serde_json::from_str(&answer).ok()),
                    Posted::Open if is_held => Err(Error::NoAnswer { run: run.name.clone(), worker: owner.clone() }),
                    Posted::Open => Ok(None),
                };
            }
            tokio::time::sleep(pause).await;
            pause = (pause * 2).min(Duration::from_millis(100));
        }
    }

    /// Waits until this process no longer moves the run: it has ended, it waits, or another process executes it.
    pub async fn settled(&self, run: &Head) -> Result<Head> {
        self.wait_until(run, |live| live.is_none_or(|live| live.is_resting)).await
    }

    /// Releases a run that waits in this process, so that another process can continue it.
    pub async fn release(&self, run: &Head) -> Result<Head> {
        self.leave(run.key);
        self.wait_until(run, |live| live.is_none()).await
    }

    /// Waits until the run is in a state of this process.
    async fn wait_until(&self, run: &Head, is_reached: impl Fn(Option<&LiveRun>) -> bool) -> Result<Head> {
        let mut endings = self.0.endings.subscribe();
        loop {
            if is_reached(lock(&self.0.live).get(&run.key)) {
                return self.find(&run.name)?.ok_or_else(|| interlock_journal::Error::NoRun(run.name.clone()).into());
            }
            match endings.recv().await {
                Ok(News::Stopped { run: stopped, error }) if *stopped == *run.name => return Err(error),
                Ok(_) | Err(broadcast::error::RecvError::Lagged(_)) => {}
                Err(broadcast::error::RecvError::Closed) => return Err(self.gone(run)),
            }
        }
    }

    /// Follows a run to its end, through waits of any length.
    pub(crate) async fn follow_to_end(&self, run: &Head) -> Result<Head> {
        let mut pause = Duration::from_millis(10);
        loop {
            let head = match self.adopt(run.key).await? {
                None => self.settled(run).await?,
                Some(_) => self.find(&run.name)?.unwrap_or_else(|| run.clone()),
            };
            if head.phase.is_over() {
                return Ok(head);
            }
            tokio::time::sleep(pause).await;
            pause = (pause * 2).min(Duration::from_secs(1));
        }
    }

    /// Starts nothing new in one run, and releases it as soon as its running attempts have ended or only wait.
    pub fn leave(&self, run: RunKey) {
        lock(&self.0.live).get_mut(&run).into_iter().for_each(|live| drop(live.write(Mail::Detach)));
    }

    /// Starts nothing new in any run of this process, and releases each as soon as its attempts have ended or only
    /// wait.
    pub fn detach(&self) {
        lock(&self.0.live).values_mut().for_each(|live| drop(live.write(Mail::Detach)));
    }

    /// Cancels the running attempts of all runs of this process.
    pub fn stop_attempts(&self) {
        lock(&self.0.live).values_mut().for_each(|live| drop(live.write(Mail::StopAttempts)));
    }

    /// Returns the number of runs that this process executes.
    pub fn live_count(&self) -> usize {
        lock(&self.0.live).len()
    }

    /// Handles messages for runs owned by this process, forever. With `all`, also adopts every run that has no owner or
    /// is due.
    pub async fn keep(&self, all: bool) {
        loop {
            if let Err(error) = self.look(all).await {
                self.0.tell(News::Stopped { run: "".into(), error });
            }
            let engine = Arc::clone(&self.0.engine);
            let _ = tokio::task::spawn_blocking(move || engine.wait_for_bell(LOOK_EVERY_MS)).await;
        }
    }

    async fn look(&self, all: bool) -> Result<()> {
        let work = self.0.engine.work(self.0.clock.now_ms())?;
        for run in work.messages {
            let _ = self.0.write_to(run, Some(Mail::Look));
        }
        if all {
            for run in work.orphans.into_iter().chain(work.due) {
                self.adopt(run).await?;
            }
        }
        Ok(())
    }
}
