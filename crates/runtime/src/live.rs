//! A run in memory. Nothing here touches the world: it says what to record and what is then to be done.

use std::{collections::BTreeMap, path::PathBuf, sync::Arc};

use interlock_activity::{Activity, Effect, Registry, StandIn};
use interlock_chart::{
    Value,
    model::{InvokeId, Outcome},
};
use interlock_core::{
    ActivityId, Effect as Order_, Input, Observer, State, Status, TimerId, Trace, Verdict, step_with,
};
use interlock_journal::{
    Append, Entry, Evidence, EvidenceStore, Lease, Left, Opened, Phase, RunKey, TimerChange, Unchained,
};

use crate::{
    Error, Loaded, Result,
    grants::Grants,
    moves::{self, Move},
    saved,
};

/// Records after which the state is stored again: few enough to fold in no time, many enough to cost nothing.
const RECORDS_PER_SNAPSHOT: u64 = 64;

/// A run in memory.
#[derive(Clone, Debug)]
pub struct Live {
    /// Within the engine.
    pub key: RunKey,
    /// Its name.
    pub name: Arc<str>,
    /// Its machine.
    pub loaded: Arc<Loaded>,
    /// As the machine sees it.
    pub state: State,
    /// The last record.
    pub seq: u64,
    /// The right to move it.
    pub lease: Lease,
    /// The folder it works in.
    pub folder: PathBuf,
    /// The run that started it.
    pub parent: Option<String>,
    /// Activities under way.
    pub activities: BTreeMap<ActivityId, Begun>,
    /// Timers set, and when they are due.
    pub timers: BTreeMap<TimerId, i64>,
    /// What people have said yes to.
    pub grants: Grants,
    /// The data of the final state that ended it.
    pub output: Option<Value>,
    /// The moment of the last record.
    pub at_ms: i64,
    /// How far the run's time is ahead of the clock, which was set back after the run was recorded last.
    pub(crate) ahead_ms: i64,
    snapshot_seq: u64,
    evidence: EvidenceStore,
}

/// An activity that the machine has started.
#[derive(Clone, Debug, PartialEq)]
pub struct Begun {
    /// Which.
    pub invoke: InvokeId,
    /// What it is given.
    pub with: Value,
    /// How often it was tried; 0 before the first time.
    pub number: u32,
    /// When the first try began.
    pub begun_ms: i64,
    /// What its writes can be taken back to.
    pub snapshot: Option<String>,
    /// Its outcome is recorded and waits for the run to be resumed.
    pub is_reported: bool,
    /// Why it is left to a person, where it is.
    pub left: Option<String>,
}

/// What follows from something that happened.
#[derive(Debug)]
pub struct Turn {
    /// To be recorded first.
    pub append: Append,
    /// To be done then.
    pub orders: Vec<Order>,
    /// What became of it.
    pub verdict: Verdict,
    /// The transitions taken, where anybody watches.
    pub moves: Vec<Move>,
}

/// Something to be done once a turn is recorded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Order {
    /// Begin a try that is recorded already.
    Start(ActivityId),
    /// Get a try ready, record it, then begin it.
    Prepare(ActivityId),
    /// Stop an activity: its state was left.
    Cancel(ActivityId),
}

/// Which new activities can be tried without further ado: their try is recorded together with what led to it.
pub(crate) type AtOnce<'a> = &'a mut dyn FnMut(&Live, ActivityId) -> bool;

impl Live {
    /// A run about to begin.
    pub fn new(
        name: Arc<str>,
        loaded: Arc<Loaded>,
        folder: PathBuf,
        parent: Option<String>,
        evidence: EvidenceStore,
    ) -> Self {
        let state = State::ready(&loaded.machine);
        Live {
            key: RunKey(0),
            name,
            loaded,
            state,
            seq: 0,
            lease: Lease { epoch: 1 },
            folder,
            parent,
            activities: BTreeMap::new(),
            timers: BTreeMap::new(),
            grants: Grants::default(),
            output: None,
            at_ms: 0,
            ahead_ms: 0,
            snapshot_seq: 0,
            evidence,
        }
    }

    /// A run as it was left: its last stored state with the records since folded in.
    pub fn load(opened: &Opened, loaded: Arc<Loaded>, lease: Lease, evidence: &EvidenceStore) -> Result<Self> {
        let Entry::Created(created) = opened.first.entry(evidence)? else {
            return Err(Error::State {
                run: opened.head.name.clone(),
                why: "its first record does not begin it".into(),
            });
        };
        let folder = created.folder.map(PathBuf::from).unwrap_or_default();
        let mut live = Live::new(opened.head.name.as_str().into(), loaded, folder, created.parent, evidence.clone());
        (live.key, live.lease) = (opened.head.key, lease);
        if let Some((seq, json)) = &opened.snapshot {
            let wrong = |why| Error::State { run: opened.head.name.clone(), why };
            let stored = saved::load(json, &live.loaded.machine).map_err(wrong)?;
            if stored.state.semantics != created.semantics {
                return Err(wrong(
                    "its stored state selects transitions by other rules than its first record says".into(),
                ));
            }
            (live.grants, live.output) = (stored.grants, stored.output);
            (live.state, live.seq, live.snapshot_seq) = (stored.state, *seq, *seq);
            live.activities = stored.activities.into_iter().collect();
        }
        for record in &opened.tail {
            live.fold(&record.entry(evidence)?, record.at_ms, &mut interlock_core::Silent);
            live.seq = record.seq;
        }
        live.timers = opened.timers.iter().copied().collect();
        live.at_ms = opened.head.updated_ms;
        Ok(live)
    }

    /// Lets something that is recorded happen again. Returns what became of it and what changed.
    pub fn fold(&mut self, entry: &Entry, at_ms: i64, trace: &mut impl Observer) -> (Verdict, Changes) {
        let mut changes = Changes::default();
        self.grants.fold(entry, self.seq + 1);
        if let Entry::Attempt { activity, number, snapshot, .. } = entry
            && let Some(begun) = self.activities.get_mut(activity)
        {
            if *number == 1 {
                begun.begun_ms = at_ms;
            }
            (begun.number, begun.snapshot) = (*number, snapshot.clone());
        }
        if let Entry::Left(left) = entry
            && let Some(begun) = self.activities.get_mut(&left.activity)
        {
            begun.left = Some(left.why.clone());
        }
        let Some(input) = entry.input() else { return (Verdict::Taken, changes) };
        let (ended, fired) = match &input {
            Input::ActivityFinished { activity, .. } => (Some(*activity), None),
            Input::TimerFired { timer } => (None, Some(*timer)),
            _ => (None, None),
        };
        let mut effects = Vec::new();
        let verdict = step_with(&self.loaded.machine, &mut self.state, input, trace, &mut effects);
        if let Some(timer) = fired {
            self.timers.remove(&timer);
            changes.timers.push(TimerChange::Clear { timer });
        }
        if let Some(activity) = ended {
            match verdict {
                Verdict::Held => {
                    self.activities.get_mut(&activity).into_iter().for_each(|begun| begun.is_reported = true)
                }
                _ => drop(self.activities.remove(&activity)),
            }
        }
        for effect in effects {
            self.carry(effect, at_ms, &mut changes);
        }
        if self.state.is_done() {
            // A delayed event of a run that has ended wakes nobody.
            changes
                .timers
                .extend(std::mem::take(&mut self.timers).into_keys().map(|timer| TimerChange::Clear { timer }));
        }
        // What was held and has now been handled is over, whether or not its state was left.
        self.activities.retain(|id, _| self.state.running.iter().any(|running| running.id == *id));
        (verdict, changes)
    }

    fn carry(&mut self, effect: Order_, at_ms: i64, changes: &mut Changes) {
        match effect {
            Order_::StartActivity { id, invoke, with } => {
                let number = 0;
                let begun =
                    Begun { invoke, with, number, begun_ms: at_ms, snapshot: None, is_reported: false, left: None };
                self.activities.insert(id, begun);
                changes.started.push(id);
            }
            Order_::CancelActivity { id } => {
                self.activities.remove(&id);
                match changes.started.iter().position(|started| *started == id) {
                    Some(at) => drop(changes.started.remove(at)),
                    None => changes.cancelled.push(id),
                }
            }
            Order_::SetTimer { id, after_ms } => {
                let due_ms = at_ms.saturating_add(i64::try_from(after_ms).unwrap_or(i64::MAX));
                self.timers.insert(id, due_ms);
                changes.timers.push(TimerChange::Set { timer: id, due_ms });
            }
            Order_::ClearTimer { id } => {
                self.timers.remove(&id);
                changes.timers.push(TimerChange::Clear { timer: id });
            }
            Order_::Finish { data, .. } => self.output = data,
        }
    }

    /// Something happens: the state moves, and what to record and to do comes out. Whoever cannot record it must forget this run.
    pub fn turn(
        &mut self,
        entry: Entry,
        now_ms: i64,
        registry: &Registry,
        is_watched: bool,
        at_once: AtOnce<'_>,
    ) -> Result<Turn> {
        let (verdict, mut changes, moves) = match is_watched {
            true => self.fold_watched(&entry, now_ms),
            false => {
                let (verdict, changes) = self.fold(&entry, now_ms, &mut interlock_core::Silent);
                (verdict, changes, Vec::new())
            }
        };
        let mut entries = vec![entry];
        let mut orders: Vec<Order> = changes.cancelled.drain(..).map(Order::Cancel).collect();
        for id in std::mem::take(&mut changes.started) {
            if self.activity_of(id, registry).is_none() {
                entries.extend(self.leave(id, registry));
                continue;
            }
            if at_once(self, id) {
                entries.extend(self.attempt(id, registry, None));
                self.began(id, now_ms, None);
                orders.push(Order::Start(id));
            } else {
                orders.push(Order::Prepare(id));
            }
        }
        let append = self.append(entries, now_ms, registry, changes.timers)?;
        Ok(Turn { append, orders, verdict, moves })
    }

    /// What to record of an activity that takes no start, as a judgement that is for a person alone. From then on it is theirs, whatever becomes of what
    /// that was read from: a question that was put stands.
    fn leave(&mut self, id: ActivityId, registry: &Registry) -> Option<Entry> {
        let begun = self.activities.get_mut(&id)?;
        registry.get(&self.loaded.chart().invoke(begun.invoke).activity)?;
        let why = "nobody else is asked".to_owned();
        begun.left = Some(why.clone());
        Some(Entry::Left(Left { activity: id, number: begun.number, why, evidence: Vec::new() }))
    }

    fn fold_watched(&mut self, entry: &Entry, now_ms: i64) -> (Verdict, Changes, Vec<Move>) {
        let (mut trace, before) = (Trace::default(), moves::Before::of(self, entry));
        let (verdict, changes) = self.fold(entry, now_ms, &mut trace);
        let moves = moves::of(self, self.seq + 1, now_ms, entry, &trace, &before);
        (verdict, changes, moves)
    }

    /// A try is about to begin: what to record of it.
    pub fn trying(
        &mut self,
        id: ActivityId,
        snapshot: Option<String>,
        now_ms: i64,
        registry: &Registry,
    ) -> Result<Option<Append>> {
        let Some(entry) = self.attempt(id, registry, snapshot.clone()) else { return Ok(None) };
        self.began(id, now_ms, snapshot);
        self.append(vec![entry], now_ms, registry, Vec::new()).map(Some)
    }

    fn attempt(&self, id: ActivityId, registry: &Registry, snapshot: Option<String>) -> Option<Entry> {
        let begun = self.activities.get(&id)?;
        let name = self.loaded.chart().invoke(begun.invoke).activity.clone();
        let effect = self.effect(id, registry);
        Some(Entry::Attempt { activity: id, number: begun.number + 1, name, effect, snapshot })
    }

    fn began(&mut self, id: ActivityId, now_ms: i64, snapshot: Option<String>) {
        if let Some(begun) = self.activities.get_mut(&id) {
            if begun.number == 0 {
                begun.begun_ms = now_ms;
            }
            begun.number += 1;
            begun.snapshot = snapshot;
        }
    }

    /// Records of entries that are folded in already.
    pub(crate) fn append(
        &mut self,
        entries: Vec<Entry>,
        now_ms: i64,
        registry: &Registry,
        timers: Vec<TimerChange>,
    ) -> Result<Append> {
        let records: Vec<Unchained> =
            entries.iter().map(|entry| Unchained::kept(now_ms, entry, &self.evidence)).collect::<Result<_, _>>()?;
        let evidence = entries
            .iter()
            .enumerate()
            .flat_map(|(at, entry)| entry.evidence().iter().map(move |evidence| (at, Evidence::clone(evidence))));
        let evidence = evidence.collect();
        self.seq += records.len() as u64;
        self.at_ms = now_ms;
        let is_due = self.seq >= self.snapshot_seq + RECORDS_PER_SNAPSHOT;
        if is_due {
            self.snapshot_seq = self.seq;
        }
        Ok(Append {
            records,
            evidence,
            phase: self.phase(registry),
            place: self.place(),
            snapshot: is_due.then(|| saved::save(self)),
            timers,
            answer: None,
        })
    }

    /// The activity behind a start, where it is implemented and not left to a person.
    pub(crate) fn activity_of<'r>(&self, id: ActivityId, registry: &'r Registry) -> Option<&'r Arc<dyn Activity>> {
        let begun = self.activities.get(&id).filter(|begun| begun.left.is_none())?;
        let name = &self.loaded.chart().invoke(begun.invoke).activity;
        registry.get(name).filter(|activity| activity.takes(name, &self.folder))
    }

    /// What a person stands in for who answers in place of a start, and the activity that knows more about it, where there is one.
    pub(crate) fn stand_in<'r>(
        &'r self,
        begun: &'r Begun,
        registry: &'r Registry,
    ) -> Option<(StandIn<'r>, &'r Arc<dyn Activity>)> {
        let invocation = self.loaded.invocation(begun.invoke);
        let activity = registry.get(&invocation.name)?;
        Some((StandIn { invocation, with: &begun.with, evidence: &self.evidence }, activity))
    }

    /// What an activity may do: as the machine says, or else as the activity itself does.
    pub fn effect(&self, id: ActivityId, registry: &Registry) -> Effect {
        let said = self.activities.get(&id).and_then(|begun| self.loaded.chart().invoke(begun.invoke).effect);
        said.or_else(|| self.activity_of(id, registry).map(|activity| activity.effect())).unwrap_or(Effect::External)
    }

    /// Where the run stands as a whole.
    pub fn phase(&self, registry: &Registry) -> Phase {
        match self.state.status {
            Status::Done { outcome: Some(Outcome::Success) | None } => Phase::Succeeded,
            Status::Done { outcome: Some(Outcome::Failure) } => Phase::Failed,
            Status::Done { outcome: Some(Outcome::Aborted) } => Phase::Aborted,
            Status::Ready | Status::Running if self.state.is_paused() => Phase::Paused,
            Status::Ready | Status::Running => {
                let works = self.activities.keys().any(|id| self.activity_of(*id, registry).is_some());
                if works { Phase::Active } else { Phase::Waiting }
            }
        }
    }

    /// The active states, for people.
    pub fn place(&self) -> String {
        self.state.places(&self.loaded.machine).join(", ")
    }
}

/// What a step changed outside the engine's own state.
#[derive(Debug, Default)]
pub struct Changes {
    /// Activities to begin.
    pub started: Vec<ActivityId>,
    /// Activities to stop.
    pub cancelled: Vec<ActivityId>,
    /// Timers set and cleared.
    pub timers: Vec<TimerChange>,
}
