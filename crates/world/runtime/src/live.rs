//! A run in memory. This module performs no I/O: it returns the entries to record and the orders to carry out after
//! that (`commit.rs`).

use std::{collections::BTreeMap, path::PathBuf, sync::Arc};

use interlock_activity::{Activity, EffectClass, Registry, StandIn};
use interlock_chart::{
    Value,
    model::{InvokeId, Outcome},
};
use interlock_core::{ActivityId, Effect, Input, Observer, State, Status, TimerId, Trace, Verdict, step_with};
use interlock_journal::{Asked, Entry, EvidenceStore, Lease, Left, Phase, RunKey, TimerChange};
use serde::{Deserialize, Serialize};

use crate::{
    LoadedMachine,
    grants::Grants,
    moves::{self, Move},
    saved,
};

/// The number of records after which the state is stored again: few enough to fold quickly, many enough that storing
/// costs little.
const RECORDS_PER_SNAPSHOT: u64 = 64;

/// A run in memory, with its state after record `seq`.
#[derive(Clone, Debug)]
pub struct Live {
    /// The run's key within the engine.
    pub key: RunKey,
    /// The run's name, unique within a store.
    pub name: Arc<str>,
    /// The machine that the run executes.
    pub loaded: Arc<LoadedMachine>,
    /// The engine's state of the machine.
    pub state: State,
    /// The sequence number of the last record.
    pub seq: u64,
    /// The lease that allows this process to append records.
    pub lease: Lease,
    /// The directory in which the run works.
    pub folder: PathBuf,
    /// The name of the run that started it, if any.
    pub parent: Option<String>,
    /// The activities that have started and not ended.
    pub activities: BTreeMap<ActivityId, StartedActivity>,
    /// The attempts that write, whose states were left and whose outcomes are not recorded yet. A run that has not ended
    /// is active until then: what they have written is not known before.
    pub stopping: BTreeMap<ActivityId, StoppingAttempt>,
    /// The timers that are set, with the times at which they are due.
    pub timers: BTreeMap<TimerId, i64>,
    /// The grants that are not used up.
    pub grants: Grants,
    /// The data of the final state that ended the run.
    pub output: Option<Value>,
    /// The time of the last record, in milliseconds since 1970.
    pub at_ms: i64,
    /// How far the run's time is ahead of the clock, if the clock was set back after the last record.
    pub(crate) ahead_ms: i64,
    pub(crate) snapshot_seq: u64,
    /// The store with the large outputs, for the questions of activities that a person answers for.
    evidence: EvidenceStore,
}

/// An activity that the machine has started.
#[derive(Clone, Debug, PartialEq)]
pub struct StartedActivity {
    /// The invocation in the chart.
    pub invoke: InvokeId,
    /// The activity's input.
    pub with: Value,
    /// The number of the latest attempt; 0 before the first.
    pub number: u32,
    /// The time at which the first attempt began.
    pub begun_ms: i64,
    /// The snapshot to which its writes can be undone.
    pub snapshot: Option<String>,
    /// True if its outcome is recorded and is handled when the run is resumed.
    pub is_reported: bool,
    /// The reason why the activity is left to a person, if it is.
    pub left: Option<String>,
    /// The questions that its running attempt asks a person.
    pub questions: Vec<Asked>,
}

/// An attempt that was under way when its state was left.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct StoppingAttempt {
    /// The number of the attempt.
    pub number: u32,
    /// The snapshot to which its writes can be undone.
    pub snapshot: String,
}

/// The result of one input: the entries to record, and the orders to carry out after that.
#[derive(Debug)]
pub struct Turn {
    /// The entries, to be recorded before any order is carried out.
    pub entries: Vec<Entry>,
    /// The sequence number of the first of them.
    pub seq: u64,
    /// The time of the entries, in milliseconds since 1970.
    pub at_ms: i64,
    /// The phase of the run after the turn.
    pub phase: Phase,
    /// The active states after the turn, as text for people.
    pub place: String,
    /// The run in its stored form, if it is time to store it.
    pub snapshot: Option<String>,
    /// The timers that were set and cleared.
    pub timers: Vec<TimerChange>,
    /// The orders, to be carried out after the entries are durable.
    pub orders: Vec<AttemptOrder>,
    /// The engine's verdict on the input.
    pub verdict: Verdict,
    /// The engine's trace; empty unless the turn is watched or handles an event from outside.
    pub trace: Trace,
    /// The transitions taken; empty if the turn is not watched.
    pub moves: Vec<Move>,
    /// The question of a running attempt that the input answers, with the answer.
    pub answer: Option<((ActivityId, String), Value)>,
}

/// An action to carry out once a turn is recorded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AttemptOrder {
    /// Start an attempt that is already recorded.
    Start(ActivityId),
    /// Prepare an attempt, record it, then start it.
    Prepare(ActivityId),
    /// Cancel an activity, because its state was left.
    Cancel(ActivityId),
}

/// The start of an installed activity.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Beginning {
    /// Its first attempt is recorded together with the record that led to it.
    AtOnce,
    /// Its first attempt needs preparation and gets a record of its own.
    Prepare,
    /// It is not attempted: it is reserved for a person.
    Person,
}

/// Decides how a started activity begins. The decision may need I/O, so the caller makes it.
pub(crate) type Begin<'a> = &'a mut dyn FnMut(&Live, ActivityId) -> Beginning;

impl Live {
    /// Creates a run that has no records yet.
    pub fn new(
        name: Arc<str>,
        loaded: Arc<LoadedMachine>,
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
            stopping: BTreeMap::new(),
            timers: BTreeMap::new(),
            grants: Grants::default(),
            output: None,
            at_ms: 0,
            ahead_ms: 0,
            snapshot_seq: 0,
            evidence,
        }
    }

    /// Describes the expression that ended the run in failure, if one did: place, expression and values.
    pub fn failure(&self) -> Option<String> {
        let is_failure = self.state.status == Status::Done { outcome: Some(Outcome::Failure) };
        let output = self.output.as_ref().filter(|_| is_failure)?;
        interlock_core::Fault::from_payload(output).map(|fault| fault.sentence())
    }

    /// Applies an entry that is recorded or about to be recorded. Returns the engine's verdict and the changes.
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
        if let Entry::Left(left) = entry {
            self.stopping.remove(&left.activity);
            self.activities.get_mut(&left.activity).into_iter().for_each(|begun| begun.left = Some(left.why.clone()));
        }
        if let Entry::Outcome { activity, .. } = entry {
            self.stopping.remove(activity);
        }
        self.fold_questions(entry);
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
            // Clear the timers: a run that has ended needs no delayed events.
            changes
                .timers
                .extend(std::mem::take(&mut self.timers).into_keys().map(|timer| TimerChange::Clear { timer }));
        }
        // An activity whose held outcome has now been handled is over, even if its state was not left.
        let is_running = |id: &ActivityId| self.state.running.iter().any(|running| running.id == *id);
        let gone: Vec<ActivityId> = self.activities.keys().copied().filter(|id| !is_running(id)).collect();
        gone.into_iter().for_each(|id| self.forget(id));
        (verdict, changes)
    }

    /// Removes an activity whose state was left. An attempt that writes counts until its outcome is recorded.
    fn forget(&mut self, id: ActivityId) {
        let Some(begun) = self.activities.remove(&id) else { return };
        let is_open = begun.number > 0 && !begun.is_reported && begun.left.is_none();
        if let Some(snapshot) = begun.snapshot.filter(|_| is_open) {
            self.stopping.insert(id, StoppingAttempt { number: begun.number, snapshot });
        }
    }

    fn carry(&mut self, effect: Effect, at_ms: i64, changes: &mut Changes) {
        match effect {
            Effect::StartActivity { id, invoke, with } => {
                let number = 0;
                let begun = StartedActivity {
                    invoke,
                    with,
                    number,
                    begun_ms: at_ms,
                    snapshot: None,
                    is_reported: false,
                    left: None,
                    questions: Vec::new(),
                };
                self.activities.insert(id, begun);
                changes.started.push(id);
            }
            Effect::CancelActivity { id } => {
                self.forget(id);
                match changes.started.iter().position(|started| *started == id) {
                    Some(at) => drop(changes.started.remove(at)),
                    None => changes.cancelled.push(id),
                }
            }
            Effect::SetTimer { id, after_ms } => {
                let due_ms = at_ms.saturating_add(i64::try_from(after_ms).unwrap_or(i64::MAX));
                self.timers.insert(id, due_ms);
                changes.timers.push(TimerChange::Set { timer: id, due_ms });
            }
            Effect::ClearTimer { id } => {
                self.timers.remove(&id);
                changes.timers.push(TimerChange::Clear { timer: id });
            }
            Effect::Finish { data, .. } => self.output = data,
        }
    }

    /// Applies an input and returns the entries and orders. If the entries cannot be recorded, the caller must discard
    /// this run, because its state is already ahead of the journal.
    pub(crate) fn turn(
        &mut self,
        entry: Entry,
        now_ms: i64,
        registry: &Registry,
        is_watched: bool,
        begin: Begin<'_>,
    ) -> Turn {
        let answer = self.answer_of(&entry);
        let (verdict, mut changes, trace, moves) = self.fold_seen(&entry, now_ms, is_watched);
        let mut entries = vec![entry];
        let mut orders: Vec<AttemptOrder> = changes.cancelled.drain(..).map(AttemptOrder::Cancel).collect();
        for id in std::mem::take(&mut changes.started) {
            if self.activity_of(id, registry).is_none() {
                continue;
            }
            match begin(self, id) {
                Beginning::Person => entries.extend(self.leave(id, registry)),
                Beginning::Prepare => orders.push(AttemptOrder::Prepare(id)),
                Beginning::AtOnce => {
                    entries.extend(self.attempt(id, registry, None, now_ms));
                    orders.push(AttemptOrder::Start(id));
                }
            }
        }
        let turn = self.drafted(entries, now_ms, registry, changes.timers);
        Turn { orders, verdict, trace, moves, answer, ..turn }
    }

    /// Returns the turn that records the next attempt of an activity and starts it, or `None` if the activity is no
    /// longer running.
    pub(crate) fn trying(
        &mut self,
        id: ActivityId,
        snapshot: Option<String>,
        now_ms: i64,
        registry: &Registry,
    ) -> Option<Turn> {
        let entry = self.attempt(id, registry, snapshot, now_ms)?;
        let turn = self.drafted(vec![entry], now_ms, registry, Vec::new());
        Some(Turn { orders: vec![AttemptOrder::Start(id)], ..turn })
    }

    /// Leaves an installed activity to a person, such as a judgement reserved for people, and returns the entry. From
    /// then on a person decides, even if the settings that led to this change: a question that was asked stands.
    fn leave(&mut self, id: ActivityId, registry: &Registry) -> Option<Entry> {
        let why = self.activity_of(id, registry)?.not_taken_because().to_owned();
        let begun = self.activities.get_mut(&id)?;
        begun.left = Some(why.clone());
        Some(Entry::Left(Left { activity: id, number: begun.number, why, evidence: Vec::new() }))
    }

    fn fold_seen(&mut self, entry: &Entry, now_ms: i64, is_watched: bool) -> (Verdict, Changes, Trace, Vec<Move>) {
        let mut trace = Trace::default();
        // The sender of an event gets the reason for a refusal.
        if !is_watched && !matches!(entry, Entry::Event { .. }) {
            let (verdict, changes) = self.fold(entry, now_ms, &mut interlock_core::Silent);
            return (verdict, changes, trace, Vec::new());
        }
        let before = moves::Before::of(self, entry);
        let (verdict, changes) = self.fold(entry, now_ms, &mut trace);
        let moves = match is_watched {
            true => moves::of(self, self.seq + 1, now_ms, entry, &trace, &before),
            false => Vec::new(),
        };
        (verdict, changes, trace, moves)
    }

    /// Returns the entry of the next attempt of an activity, and folds it in.
    fn attempt(&mut self, id: ActivityId, registry: &Registry, snapshot: Option<String>, now_ms: i64) -> Option<Entry> {
        let (number, effect) = (self.activities.get(&id)?.number + 1, self.effect(id, registry));
        let entry = Entry::Attempt { activity: id, number, name: self.activity_name(id).to_owned(), effect, snapshot };
        self.fold(&entry, now_ms, &mut interlock_core::Silent);
        Some(entry)
    }

    /// Returns a turn of entries that are folded in already, without orders.
    fn drafted(&mut self, entries: Vec<Entry>, now_ms: i64, registry: &Registry, timers: Vec<TimerChange>) -> Turn {
        let seq = self.seq + 1;
        self.seq += entries.len() as u64;
        self.at_ms = now_ms;
        let is_due = self.seq >= self.snapshot_seq + RECORDS_PER_SNAPSHOT;
        if is_due {
            self.snapshot_seq = self.seq;
        }
        Turn {
            entries,
            seq,
            at_ms: now_ms,
            phase: self.phase(registry),
            place: self.place(),
            snapshot: is_due.then(|| saved::save(self)),
            timers,
            orders: Vec::new(),
            verdict: Verdict::Taken,
            trace: Trace::default(),
            moves: Vec::new(),
            answer: None,
        }
    }

    /// Returns the name of a started activity, as the machine invokes it.
    pub(crate) fn activity_name(&self, id: ActivityId) -> &str {
        let begun = self.activities.get(&id);
        begun.map_or("", |begun| self.loaded.chart().invoke(begun.invoke).activity.as_str())
    }

    /// Returns true if an activity may write to the workspace, so that its attempts need a snapshot.
    pub(crate) fn may_write(&self, id: ActivityId, registry: &Registry) -> bool {
        match self.effect(id, registry) {
            EffectClass::Read => false,
            EffectClass::Write => true,
            EffectClass::External => self.activity_of(id, registry).is_some_and(|activity| activity.also_writes()),
        }
    }

    /// Returns the implementation of a started activity, if it is installed and not left to a person.
    pub(crate) fn activity_of<'r>(&self, id: ActivityId, registry: &'r Registry) -> Option<&'r Arc<dyn Activity>> {
        let begun = self.activities.get(&id).filter(|begun| begun.left.is_none())?;
        registry.get(&self.loaded.chart().invoke(begun.invoke).activity)
    }

    /// Returns the context of an activity whose result a person reports, with its implementation. Returns `None` if the
    /// activity is not installed.
    pub(crate) fn stand_in<'r>(
        &'r self,
        begun: &'r StartedActivity,
        registry: &'r Registry,
    ) -> Option<(StandIn<'r>, &'r Arc<dyn Activity>)> {
        let invocation = self.loaded.invocation(begun.invoke);
        let activity = registry.get(&invocation.name)?;
        Some((StandIn { invocation, with: &begun.with, evidence: &self.evidence }, activity))
    }

    /// Returns the effect class of an activity: as the machine declares it, or else as the activity itself does, or
    /// else `External`.
    pub fn effect(&self, id: ActivityId, registry: &Registry) -> EffectClass {
        let said = self.activities.get(&id).and_then(|begun| self.loaded.chart().invoke(begun.invoke).effect);
        said.or_else(|| self.activity_of(id, registry).map(|activity| activity.effect()))
            .unwrap_or(EffectClass::External)
    }

    /// Returns the phase of the whole run.
    pub fn phase(&self, registry: &Registry) -> Phase {
        match self.state.status {
            Status::Running if !self.stopping.is_empty() && !self.state.is_paused() => Phase::Active,
            Status::Done { outcome: Some(Outcome::Success) | None } => Phase::Succeeded,
            Status::Done { outcome: Some(Outcome::Incomplete) } => Phase::Incomplete,
            Status::Done { outcome: Some(Outcome::Failure) } => Phase::Failed,
            Status::Done { outcome: Some(Outcome::Aborted) } => Phase::Aborted,
            Status::Ready | Status::Running if self.state.is_paused() => Phase::Paused,
            Status::Ready | Status::Running => {
                let works = self.activities.keys().any(|id| self.activity_of(*id, registry).is_some());
                if works { Phase::Active } else { Phase::Waiting }
            }
        }
    }

    /// Returns the active states as text for people.
    pub fn place(&self) -> String {
        self.state.places(&self.loaded.machine).join(", ")
    }
}

/// The changes of one step outside the engine's own state.
#[derive(Debug, Default)]
pub struct Changes {
    /// The activities to start.
    pub started: Vec<ActivityId>,
    /// The activities to cancel.
    pub cancelled: Vec<ActivityId>,
    /// The timers that were set and cleared.
    pub timers: Vec<TimerChange>,
}
