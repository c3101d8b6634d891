//! All runs of this process.

use std::{
    collections::{BTreeMap, BTreeSet, HashMap, HashSet},
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
    Clock, Error, Fired, Live, Loaded, News, Prover, Result, Snapshots,
    actor::{Actor, Mail, try_at_once},
    children, fresh_id, fresh_name, project, proof,
    request::{Answer, Letter, Reply, Request, Sending},
    seals::Seals,
};

/// How long a living process has to answer a message.
const ANSWER_WAIT: Duration = Duration::from_secs(10);

/// How often a run is asked while those who hold it end.
const ASKED_MAX: usize = 3;

/// News kept for those who are slow to read them.
const NEWS_KEPT: usize = 4_096;

/// How often to look for work when nobody rings.
const LOOK_EVERY_MS: u64 = 1_000;

/// How far what gets ready stands back behind what somebody waits for.
const READY_NICE: i32 = 5;

/// What a runtime is made of.
pub struct Config {
    /// What makes runs durable.
    pub engine: Arc<dyn Engine>,
    /// What can be done.
    pub registry: Registry,
    /// The time.
    pub clock: Arc<dyn Clock>,
    /// What writes can be taken back to.
    pub snapshots: Arc<dyn Snapshots>,
    /// Most attempts under way at once.
    pub attempts_max: usize,
    /// Where output can be watched while it comes in.
    pub live_folder: PathBuf,
    /// What takes secrets out of everything before it is kept or shown.
    pub redactor: Arc<Redactor>,
    /// Decides whether a machine may run.
    pub prover: Arc<dyn Prover>,
}

/// A run to be started.
#[derive(Clone, Debug)]
pub struct Start {
    /// Its machine.
    pub loaded: Arc<Loaded>,
    /// What it is given.
    pub input: Value,
    /// Where it works.
    pub folder: PathBuf,
    /// Who starts it.
    pub by: By,
    /// The run that starts it.
    pub parent: Option<String>,
    /// Its name; a fresh one where nothing is said.
    pub name: Option<String>,
    /// Whether a machine that `check` refuses is run all the same. The refusals are then recorded in the run.
    pub accepts_unproved: bool,
}

/// What became of something that was asked of a run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Sent {
    /// The record that it became.
    pub seq: u64,
    /// Whether it had become that record before, when it was sent with the same id.
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

/// How a run was left.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Settled {
    /// Where it stands.
    pub phase: Phase,
    /// Its last record.
    pub seq: u64,
}

/// Moves runs.
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
    prover: Arc<dyn Prover>,
    live: Mutex<HashMap<RunKey, UnboundedSender<Mail>>>,
    machines: Mutex<HashMap<String, Arc<Loaded>>>,
    /// Definitions that this process has stored.
    defined: Mutex<HashSet<String>>,
    /// One adoption at a time, so that no run is taken up twice by the same process.
    adopting: tokio::sync::Mutex<()>,
    news: broadcast::Sender<News>,
    /// Of the news only what says that a run is no longer moved here, so that nobody who waits for that is woken by all the rest.
    endings: broadcast::Sender<News>,
}

impl std::fmt::Debug for Shared {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.debug_struct("Runtime").field("registry", &self.registry).finish_non_exhaustive()
    }
}

impl Shared {
    /// The activities that a machine invokes.
    fn activities<'s>(&'s self, loaded: &'s Loaded) -> impl Iterator<Item = &'s Arc<dyn Activity>> {
        let names: BTreeSet<&str> = loaded.chart().invokes.iter().map(|invoke| invoke.activity.as_str()).collect();
        names.into_iter().filter_map(|name| self.registry.get(name))
    }

    /// What the activities that a machine invokes have against a run of it.
    fn objections(&self, loaded: &Loaded, input: &Value, folder: &Path) -> Vec<String> {
        self.activities(loaded).flat_map(|activity| activity.objections(input, folder)).collect()
    }

    /// Lets the activities that a machine invokes get ready, until there is a run of it.
    fn get_ready(&self, loaded: &Loaded) {
        if !lock(&self.defined).contains(&loaded.definition.hash) {
            let activities: Vec<_> = self.activities(loaded).cloned().collect();
            // On a thread that nobody waits for; without it everything takes its time when it is first needed.
            let _ = std::thread::Builder::new().spawn(move || {
                let _ = rustix::process::nice(READY_NICE);
                activities.iter().for_each(|it| it.get_ready());
            });
        }
    }

    pub(crate) fn tell(&self, news: News) {
        // Nobody listening is fine.
        if let News::Settled { .. } | News::Stopped { .. } = news {
            let _ = self.endings.send(news.clone());
        }
        let _ = self.news.send(news);
    }

    /// Whether anybody reads the news.
    pub(crate) fn is_watched(&self) -> bool {
        self.news.receiver_count() > 0
    }

    pub(crate) fn forget(&self, run: RunKey) {
        lock(&self.live).remove(&run);
    }

    /// Forgets a run, unless mail has come in the meantime: whoever writes to a run holds the same lock.
    pub(crate) fn forget_if(&self, run: RunKey, is_quiet: impl FnOnce() -> bool) -> bool {
        let mut live = lock(&self.live);
        let quiet = is_quiet();
        if quiet {
            live.remove(&run);
        }
        quiet
    }

    /// Writes to a run that is being moved here; otherwise the mail (if any) comes back.
    pub(crate) fn write_to(&self, run: RunKey, mail: Option<Mail>) -> Option<Option<Mail>> {
        match (lock(&self.live).get(&run), mail) {
            (Some(to), Some(mail)) => to.send(mail).err().map(|back| Some(back.0)),
            (Some(_), None) => None,
            (None, mail) => Some(mail),
        }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Runtime {
    /// A runtime.
    pub fn new(config: Config) -> Self {
        Runtime(Arc::new(Shared {
            engine: config.engine,
            registry: config.registry,
            clock: config.clock,
            snapshots: config.snapshots,
            permits: Arc::new(Semaphore::new(config.attempts_max)),
            seals: Seals::new(&config.live_folder),
            live_folder: config.live_folder,
            redactor: config.redactor,
            prover: config.prover,
            live: Mutex::default(),
            machines: Mutex::default(),
            defined: Mutex::default(),
            adopting: tokio::sync::Mutex::default(),
            news: broadcast::Sender::new(NEWS_KEPT),
            endings: broadcast::Sender::new(NEWS_KEPT),
        }))
    }

    /// What makes its runs durable.
    pub fn engine(&self) -> &Arc<dyn Engine> {
        &self.0.engine
    }

    /// What can be done.
    pub fn registry(&self) -> &Registry {
        &self.0.registry
    }

    /// What happens from now on.
    pub fn news(&self) -> broadcast::Receiver<News> {
        self.0.news.subscribe()
    }

    /// A run by its name.
    pub fn find(&self, name: &str) -> Result<Option<Head>> {
        Ok(self.0.engine.find(name)?)
    }

    /// A machine from its files.
    pub fn load(&self, source: &Source) -> Result<Arc<Loaded>> {
        let reading = source.read();
        let Some(chart) = reading.chart else {
            return Err(Error::Machine(format!(
                "the machine {} cannot be used; `interlock check` says why",
                source.name
            )));
        };
        let hash = chart.hash.clone();
        let loaded = Arc::new(Loaded::of(Definition::new(source, &chart), chart));
        Ok(Arc::clone(lock(&self.0.machines).entry(hash).or_insert(loaded)))
    }

    pub(crate) fn loaded(&self, hash: &str) -> Result<Arc<Loaded>> {
        if let Some(loaded) = lock(&self.0.machines).get(hash) {
            return Ok(Arc::clone(loaded));
        }
        let loaded = Arc::new(Loaded::new(self.0.engine.definition(hash)?)?);
        Ok(Arc::clone(lock(&self.0.machines).entry(hash.to_owned()).or_insert(loaded)))
    }

    /// Starts a run. Its first record is durable when this returns.
    pub async fn start(&self, start: Start) -> Result<Head> {
        self.start_as(start, false).await
    }

    /// The same for a run that may go on when the state that started it is left.
    pub(crate) async fn start_as(&self, start: Start, is_detached: bool) -> Result<Head> {
        let name = start.name.unwrap_or_else(|| fresh_name(&start.loaded.chart().id));
        let input = self.0.seals.value(&self.0.redactor, &name, start.input);
        let input = start.loaded.admit_input(&input)?;
        let shared = &self.0;
        shared.get_ready(&start.loaded);
        let objections = shared.objections(&start.loaded, &input, &start.folder);
        if !objections.is_empty() {
            return Err(Error::Input(objections));
        }
        let unproved = proof::ask(&shared.prover, &start.loaded, &start.folder, start.accepts_unproved).await?;
        let rules = project::keep(&start.folder, shared.engine.evidence(), &shared.redactor).map_err(Error::Project)?;
        let hash = &start.loaded.definition.hash;
        // Once a process is enough: definitions are never removed, and packing one takes longer than a step.
        if !lock(&shared.defined).contains(hash) {
            shared.engine.define((*start.loaded.definition).clone()).await?;
            lock(&shared.defined).insert(hash.clone());
        }
        let evidence = shared.engine.evidence().clone();
        let mut live =
            Live::new(name.as_str().into(), start.loaded, start.folder.clone(), start.parent.clone(), evidence);
        let created = Entry::Created(Created {
            machine: live.loaded.chart().id.clone(),
            definition: live.loaded.definition.hash.clone(),
            session: name.clone(),
            input,
            folder: Some(start.folder.display().to_string()),
            by: start.by,
            parent: start.parent.clone(),
            detached: is_detached,
            fork: None,
            unproved,
            project: Some(rules),
            made_with: Some(live.loaded.made_with()),
            semantics: Semantics::CURRENT,
        });
        let mut permits = BTreeMap::new();
        let now_ms = shared.clock.now_ms();
        let turn = live.turn(created, now_ms, &shared.registry, true, &mut |live, id| {
            try_at_once(shared, live, id, &mut permits)
        })?;
        let new = NewRun {
            name,
            machine: live.loaded.chart().id.clone(),
            definition: live.loaded.definition.hash.clone(),
            parent: start.parent,
            claim: true,
            first: turn.append,
        };
        let head = shared.engine.create(new).await?;
        (live.key, live.lease) = (head.key, interlock_journal::Lease { epoch: head.epoch });
        shared.tell(News::Moved {
            run: Arc::clone(&live.name),
            seq: live.seq,
            moves: turn.moves.into(),
            phase: head.phase,
            place: head.place.as_str().into(),
        });
        let (to, mail) = unbounded_channel();
        lock(&shared.live).insert(head.key, to.clone());
        let actor = Actor::new(Arc::clone(shared), live, mail, to);
        tokio::spawn(actor.work(turn.orders, permits, false));
        Ok(head)
    }

    /// Takes a run up: its state is loaded, and what was under way is looked after. If another living worker owns it: its name.
    pub async fn adopt(&self, run: RunKey) -> Result<Option<WorkerName>> {
        self.deliver(run, None).await
    }

    /// Brings mail to a run, which is taken up for it where nobody has it. If another living worker owns it: its name.
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
        let live = Live::load(&opened, loaded, lease, shared.engine.evidence())?;
        let (to, inbox) = unbounded_channel();
        // Messages left for whoever held it before come first. All are there before the run can come to rest again.
        let mail = self.end_unless_wanted(&opened.head)?.into_iter().chain([Mail::Look]).chain(mail);
        mail.for_each(|mail| drop(to.send(mail)));
        lock(&shared.live).insert(run, to.clone());
        let actor = Actor::new(Arc::clone(shared), live, inbox, to);
        tokio::spawn(actor.work(Vec::new(), BTreeMap::new(), true));
        Ok(None)
    }

    /// What a run that was left by whoever started it is told before anything else.
    fn end_unless_wanted(&self, head: &Head) -> Result<Option<Mail>> {
        if head.phase.is_over() || self.is_wanted(head)? {
            return Ok(None);
        }
        let parent = head.parent.clone().unwrap_or_default();
        let request = Request::Abort { why: children::left(&parent) };
        Ok(Some(Mail::Ask { request, by: By::run(parent), reply: Reply::Nobody }))
    }

    /// Sends an event to a run, wherever it is. The number of the record it became.
    pub async fn send(&self, run: &Head, event: &str, data: Value, by: By) -> Result<u64> {
        Ok(self.send_once(run, event, data, by, &fresh_id()).await?.seq)
    }

    /// Sends an event with an id. Whoever sends it again with the same id is told what became of the first, and nothing else happens.
    pub async fn send_once(&self, run: &Head, event: &str, data: Value, by: By, id: &str) -> Result<Sent> {
        // Before it is written anywhere: a message to another process is in the store, too.
        let data = self.0.seals.value(&self.0.redactor, &run.name, data);
        let sending = Sending { event: event.to_owned(), data, id: Some(id.to_owned()) };
        self.ask(run, Request::Send(sending), by).await
    }

    /// Makes a run stand still.
    pub async fn pause(&self, run: &Head, by: By) -> Result<u64> {
        Ok(self.ask(run, Request::Pause, by).await?.seq)
    }

    /// Lets a paused run go on.
    pub async fn resume(&self, run: &Head, by: By) -> Result<u64> {
        Ok(self.ask(run, Request::Resume, by).await?.seq)
    }

    /// A person says yes to something that policy asks about, for a time, for a number of uses, or both.
    pub async fn grant(&self, run: &Head, scope: &str, for_ms: Option<u64>, uses: Option<u32>, by: By) -> Result<u64> {
        Ok(self.ask(run, Request::Grant { scope: scope.to_owned(), for_ms, uses }, by).await?.seq)
    }

    pub(crate) async fn ask(&self, run: &Head, request: Request, by: By) -> Result<Sent> {
        // Again where the process that held it has ended without an answer.
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

    /// What the journal knows of a request that nobody answered.
    fn recorded(&self, run: &Head, request: &Request) -> Result<Sent> {
        let Request::Send(Sending { id: Some(id), .. }) = request else { return Err(self.gone(run)) };
        let seq = self.0.engine.sent(run.key, id)?;
        seq.map(|seq| Sent::new(seq, Vec::new())).ok_or_else(|| self.gone(run))
    }

    fn gone(&self, run: &Head) -> Error {
        Error::State { run: run.name.clone(), why: "it stopped before it could answer".into() }
    }

    /// Asks the process that holds the run. Nothing where that process has ended without answering.
    async fn ask_there(&self, run: &Head, request: &Request, by: &By, owner: &WorkerName) -> Result<Option<Answer>> {
        let engine = &self.0.engine;
        let letter = Letter { request: request.clone(), by: by.clone() };
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
                // The holder may have answered and ended since: what the message was when it was taken back is the truth.
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

    /// Waits until nobody here moves the run any more.
    pub async fn settled(&self, run: &Head) -> Result<Head> {
        let mut endings = self.0.endings.subscribe();
        loop {
            if !lock(&self.0.live).contains_key(&run.key) {
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

    /// Begins nothing new in one run; it is left as soon as what is under way has ended or only waits.
    pub fn leave(&self, run: RunKey) {
        lock(&self.0.live).get(&run).into_iter().for_each(|to| drop(to.send(Mail::Detach)));
    }

    /// Begins nothing new in any run here; they are left as soon as what is under way has ended.
    pub fn detach(&self) {
        lock(&self.0.live).values().for_each(|to| drop(to.send(Mail::Detach)));
    }

    /// Stops what is under way in all runs here.
    pub fn stop_attempts(&self) {
        lock(&self.0.live).values().for_each(|to| drop(to.send(Mail::StopAttempts)));
    }

    /// How many runs are being moved here.
    pub fn live_count(&self) -> usize {
        lock(&self.0.live).len()
    }

    /// Looks after messages for runs held here, for ever. With `all`, takes up every run that needs somebody as well.
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
