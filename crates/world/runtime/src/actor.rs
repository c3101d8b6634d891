//! One task per run that is being executed. Only this task changes the run: every input reaches it as mail and is
//! handled in order.

#![expect(clippy::disallowed_methods, reason = "these files are in the store, which no program can change")]

use std::{collections::BTreeMap, sync::Arc, time::Duration};

use interlock_activity::{EffectClass, Outcome, OutcomeKind, Question, RunView, UseGrants, code, error_data};
use interlock_core::ActivityId;
use interlock_journal::{AttemptResult, By, Entry, Left, Phase};
use tokio::sync::{
    mpsc::{UnboundedReceiver, UnboundedSender},
    oneshot,
};

use crate::{
    Fired, Live, News, Result, Settled, Untaken,
    asking::{AnswerSender, PendingAnswer},
    attempts::{AttemptInput, Attempts},
    deadline::DUE_TIMERS_MAX,
    dispatch::{self, Ready},
    recover::{self, RecoveryAction},
    request::{Reply, Request},
    runtime::Shared,
    views,
};

/// The longest delay of a timer, in milliseconds, for which the run stays in memory.
const NEAR_MS: i64 = 2_000;

/// The longest interval between two readings of the clock while the run waits for a timer.
const CLOCK_LOOK: Duration = Duration::from_secs(30);

/// The reason why open questions end if the process is being left.
pub(crate) const LEAVING: &str = "the process that asked is being left";

/// A message to an actor.
#[derive(Debug)]
pub(crate) enum Mail {
    /// A request to the run.
    Ask { request: Request, by: By, reply: Reply },
    /// An attempt is prepared: it can be recorded and started.
    Ready { id: ActivityId, ready: Ready },
    /// An attempt ended at this time of the clock.
    Ended { id: ActivityId, number: u32, outcome: Box<Outcome>, at_ms: i64 },
    /// An attempt needs to use grants of the run.
    UseGrants { order: UseGrants, reply: oneshot::Sender<bool> },
    /// A running attempt asks a person.
    Question { question: Box<Question>, to: AnswerSender },
    /// An attempt no longer waits for the answer to its question.
    Withdraw { activity: ActivityId, number: u32, id: String },
    /// The abort of a child run has finished, successfully or not.
    ChildEnded,
    /// The engine may hold messages for the run.
    Look,
    /// Start nothing new, and release the run when the running attempts have ended.
    Detach,
    /// Cancel the running attempts.
    StopAttempts,
}

pub(crate) struct Actor {
    pub(crate) shared: Arc<Shared>,
    pub(crate) live: Live,
    mail: UnboundedReceiver<Mail>,
    pub(crate) to_self: UnboundedSender<Mail>,
    pub(crate) attempts: Attempts,
    /// The attempts that may write and wait until a cancelled one has ended, with their delays.
    postponed: Vec<(ActivityId, u64)>,
    /// The attempts that wait for a person's answer, by their activity and the question's id.
    pub(crate) pending: BTreeMap<(ActivityId, String), PendingAnswer>,
    pub(crate) is_detaching: bool,
    /// The number of child runs that are being aborted.
    pub(crate) ending: usize,
    /// True if the process is stopping and has cancelled the running attempts instead of waiting for them.
    is_stopping: bool,
    /// The files that show this run.
    pub(crate) views: Vec<Arc<dyn RunView>>,
}

impl Actor {
    pub(crate) fn new(
        shared: Arc<Shared>,
        mut live: Live,
        mail: UnboundedReceiver<Mail>,
        to_self: UnboundedSender<Mail>,
    ) -> Self {
        live.ahead_ms = live.at_ms.saturating_sub(shared.clock.now_ms()).max(0);
        let views = views::of(&shared, &live);
        Actor {
            shared,
            views,
            live,
            mail,
            to_self,
            attempts: Attempts::default(),
            postponed: Vec::new(),
            pending: BTreeMap::new(),
            is_detaching: false,
            ending: 0,
            is_stopping: false,
        }
    }

    /// Executes the run until it rests, ends or can no longer be recorded.
    pub(crate) async fn work(mut self, is_taken_up: bool) {
        let result = self.work_on(is_taken_up).await;
        let run = Arc::clone(&self.live.name);
        // Cancel the attempts that are still running: their outcome could not be recorded.
        self.attempts.stop_all();
        match result {
            Ok(settled) => self.shared.tell(News::Settled { run, how: settled }),
            Err(error) => {
                self.shared.forget(self.live.key);
                self.give_up().await;
                self.shared.tell(News::Stopped { run, error });
            }
        }
    }

    async fn work_on(&mut self, is_taken_up: bool) -> Result<Settled> {
        views::update(&self.shared, &self.live, &self.views).await;
        if is_taken_up {
            self.recover_activities().await?;
        }
        loop {
            if self.is_at_rest() {
                self.let_go().await;
                match self.is_kept() {
                    true => self.rest(),
                    false if self.shared.forget_if(self.live.key, || self.mail.is_empty()) => {
                        return self.leave().await;
                    }
                    false => {}
                }
            }
            let due = self.live.timers.values().copied().chain(self.next_expiry_ms()).min();
            let pause = due.map(|due| Duration::from_millis(due.saturating_sub(self.now_ms()).max(0) as u64));
            tokio::select! {
                biased;
                mail = self.mail.recv() => match mail {
                    Some(mail) => self.read(mail).await?,
                    None => return self.leave().await,
                },
                () = sleep(pause) => {
                    let now_ms = self.now_ms();
                    self.fire_due(now_ms).await?;
                    self.expire_questions(now_ms).await?;
                }
            }
        }
    }

    /// Returns true if nothing can happen soon without an input from outside.
    fn is_at_rest(&self) -> bool {
        if self.ending > 0 {
            return false;
        }
        if self.is_detaching {
            return self.attempts.only_wait();
        }
        if !self.attempts.is_empty() {
            return false;
        }
        let now_ms = self.now_ms();
        let phase = self.live.phase(&self.shared.registry);
        let is_due_soon = self.live.timers.values().any(|due| *due <= now_ms + NEAR_MS);
        phase.is_over() || phase == Phase::Paused || (phase == Phase::Waiting && !is_due_soon)
    }

    /// Returns true if this process keeps the run although it waits, because an activity of its machine leaves something
    /// in the process.
    fn is_kept(&self) -> bool {
        let mut activities = self.shared.activities(&self.live.loaded);
        let is_over = self.live.phase(&self.shared.registry).is_over();
        !self.is_detaching && !is_over && activities.any(|activity| activity.stays_in_process())
    }

    /// Announces that the run waits in this process.
    fn rest(&self) {
        if self.shared.rest_if(self.live.key, || self.mail.is_empty()) {
            let run = Arc::clone(&self.live.name);
            self.shared.tell(News::Settled { run, how: self.settled() });
        }
    }

    fn settled(&self) -> Settled {
        Settled { phase: self.live.phase(&self.shared.registry), seq: self.live.seq }
    }

    async fn leave(&mut self) -> Result<Settled> {
        // Resources of this process end before another process continues the run.
        self.give_up().await;
        self.shared.engine.release(self.live.key, self.live.lease).await?;
        Ok(self.settled())
    }

    /// Releases what this process holds for a run that it no longer executes.
    async fn give_up(&self) {
        let (shared, live) = (Arc::clone(&self.shared), (Arc::clone(&self.live.loaded), Arc::clone(&self.live.name)));
        let released = tokio::task::spawn_blocking(move || {
            let (loaded, run) = live;
            shared.activities(&loaded).for_each(|it| it.run_released(&run));
        });
        let _ = released.await;
    }

    /// Releases the resources of a run that is over, before the end is announced.
    async fn let_go(&self) {
        if self.live.phase(&self.shared.registry).is_over() {
            let (shared, run) = (Arc::clone(&self.shared), Arc::clone(&self.live.name));
            let over = tokio::task::spawn_blocking(move || {
                shared.registry.iter().for_each(|it| it.run_ended(&run));
                shared.seals.forget(&run);
                shared.histories.forget(&run);
            });
            let _ = over.await;
        }
    }

    async fn read(&mut self, mail: Mail) -> Result<()> {
        match mail {
            Mail::Ask { request, by, reply } => self.ask(request, by, reply).await,
            Mail::Ready { id, ready } => self.ready(id, ready).await,
            Mail::Ended { id, number, outcome, at_ms } => self.ended(id, number, *outcome, at_ms).await,
            Mail::UseGrants { order, reply } => self.use_grants(order, reply).await,
            Mail::Question { question, to } => self.question(*question, to).await,
            Mail::Withdraw { activity, number, id } => self.withdraw(activity, number, &id).await,
            Mail::ChildEnded => {
                self.ending -= 1;
                Ok(())
            }
            Mail::Look => self.look().await,
            Mail::Detach => {
                self.is_detaching = true;
                self.close_questions(LEAVING).await
            }
            Mail::StopAttempts => {
                self.is_stopping = true;
                self.attempts.stop_all();
                self.pending.clear();
                Ok(())
            }
        }
    }

    /// The run's time. It is read once per piece of mail, so that everything done for that mail has the same time.
    pub(crate) fn now_ms(&self) -> i64 {
        self.live.now_ms(self.shared.clock.now_ms())
    }

    /// Records an entry at the current time, after the timers that are due, and carries out its orders.
    pub(crate) async fn happen(&mut self, entry: Entry) -> Result<()> {
        let at_ms = self.now_ms();
        self.fire_due(at_ms).await?;
        self.record(entry, at_ms, None).await.map(drop)
    }

    /// Fires the timers that are due at `at_ms`, earliest first. If the run is paused, they are recorded and handled on
    /// resume.
    pub(crate) async fn fire_due(&mut self, at_ms: i64) -> Result<Vec<Fired>> {
        let mut all = Vec::new();
        while let Some((timer, due_ms)) = self.live.due(at_ms).filter(|_| all.len() < DUE_TIMERS_MAX) {
            let fired = Fired::new(&self.live, timer, due_ms);
            self.record(Entry::Timer { timer }, at_ms, None).await?;
            all.push(Fired { to: self.live.place(), ..fired });
        }
        Ok(all)
    }

    pub(crate) fn prepare(&mut self, id: ActivityId, after_ms: u64) {
        if self.is_detaching {
            return;
        }
        self.attempts.apply(id, AttemptInput::Prepare);
        // A cancelled attempt may go on writing until it has ended. Its last changes are its own, and the next attempt
        // sees all of them.
        if self.attempts.is_write_stopping() && self.live.may_write(id, &self.shared.registry) {
            self.postponed.push((id, after_ms));
            return;
        }
        dispatch::prepare(&self.shared, &self.live, id, after_ms, self.to_self.clone());
    }

    /// Prepares the attempts that waited for the end of a cancelled one.
    fn prepare_postponed(&mut self) {
        if self.attempts.is_write_stopping() {
            return;
        }
        for (id, after_ms) in std::mem::take(&mut self.postponed) {
            dispatch::prepare(&self.shared, &self.live, id, after_ms, self.to_self.clone());
        }
    }

    async fn ready(&mut self, id: ActivityId, ready: Ready) -> Result<()> {
        self.attempts.apply(id, AttemptInput::Prepared);
        let now_ms = self.now_ms();
        self.fire_due(now_ms).await?;
        if self.is_detaching || !self.live.activities.contains_key(&id) {
            return Ok(());
        }
        let snapshot = match ready.snapshot {
            Ok(snapshot) => snapshot,
            Err(Untaken::Disk(why)) => return Err(interlock_journal::Error::Stopped(why).into()),
            Err(Untaken::Folder(why)) => {
                let why = self.shared.redactor.text(&why).into_owned();
                let entry = recover::cut_off(
                    &self.live,
                    id,
                    code::FAILED,
                    &format!("the workspace could not be stored: {why}"),
                );
                return self.happen(entry).await;
            }
        };
        let shared = Arc::clone(&self.shared);
        let Some(turn) = self.live.trying(id, snapshot, now_ms, &shared.registry) else { return Ok(()) };
        self.attempts.apply(id, AttemptInput::Admit(ready.place));
        self.commit(turn, None).await.map(drop)
    }

    /// Records the end of an attempt. A signal counts only if it fits the machine's schema; an outcome that arrives too
    /// late is recorded and changes nothing.
    pub(crate) async fn ended(&mut self, id: ActivityId, number: u32, outcome: Outcome, clock_ms: i64) -> Result<()> {
        self.attempts.apply(id, AttemptInput::End);
        self.prepare_postponed();
        self.forget_questions(id);
        // If the process is stopping, leave the attempt as a crash would, for the next owner: a read is retried, and
        // writes are undone. An external attempt is recorded as cancelled, which is more than could be known after a
        // crash.
        let is_elsewhere = self.live.effect(id, &self.shared.registry) == EffectClass::External;
        if self.is_stopping && !is_elsewhere && matches!(outcome.kind, OutcomeKind::Cancelled { .. }) {
            return Ok(());
        }
        // A timer that was due when the attempt ended fires first; a timer that became due since then does not.
        let at_ms = self.live.now_ms(clock_ms);
        self.fire_due(at_ms).await?;
        let result = match outcome.kind {
            OutcomeKind::Signal { name, data } => AttemptResult::Signal { name, data },
            OutcomeKind::Error { data } => AttemptResult::Error { data },
            OutcomeKind::Cancelled { reason } => AttemptResult::Error { data: error_data(code::CANCELLED, reason) },
            OutcomeKind::NotStored { reason } => return Err(interlock_journal::Error::Stopped(reason).into()),
            OutcomeKind::NeedsPerson { reason } => {
                let why = self.shared.redactor.text(&reason).into_owned();
                let left = Left { activity: id, number, why, evidence: outcome.evidence };
                return self.record(Entry::Left(left), at_ms, None).await.map(drop);
            }
        };
        // Redaction comes first: everything after it, including the machine, sees only the redacted result.
        let redactor = self.shared.redactor_of(&self.live.state.data.input, &self.live.folder);
        let result = self.believe(id, self.shared.seals.result(&redactor, &self.live.name, result));
        let entry = Entry::Outcome { activity: id, number, result, evidence: outcome.evidence, by: None, id: None };
        self.record(entry, at_ms, None).await.map(drop)
    }

    fn believe(&self, id: ActivityId, result: AttemptResult) -> AttemptResult {
        let (AttemptResult::Signal { name, data }, Some(begun)) = (&result, self.live.activities.get(&id)) else {
            return result;
        };
        match self.live.loaded.admit_signal(begun.invoke, name, data) {
            Ok(data) => AttemptResult::Signal { name: name.clone(), data },
            Err(wrong) => {
                let message = format!("the data of its signal `{name}` does not fit the schema: {}", wrong.join("; "));
                AttemptResult::Error { data: error_data(code::BAD_OUTCOME, message) }
            }
        }
    }

    /// Records the use of grants before the attempt that needs them continues.
    async fn use_grants(&mut self, order: UseGrants, reply: oneshot::Sender<bool>) -> Result<()> {
        let now_ms = self.now_ms();
        self.fire_due(now_ms).await?;
        let used = self.live.grants.cover(&order, now_ms);
        let is_granted = used.is_some();
        for used in used.into_iter().flatten() {
            self.record(Entry::GrantUsed(used), now_ms, None).await?;
        }
        let _ = reply.send(is_granted);
        Ok(())
    }

    /// Handles the activities that were under way when the previous owner released the run.
    async fn recover_activities(&mut self) -> Result<()> {
        self.end_leftovers().await;
        self.record_stopped().await?;
        self.end_orphans()?;
        let mut cut_off = Vec::new();
        for action in recover::actions(&self.live, &self.shared.registry) {
            match action {
                RecoveryAction::Try { id, after_ms } => self.prepare(id, after_ms),
                RecoveryAction::Fail { id, code, message } => {
                    let entry = recover::cut_off(&self.live, id, code, &message);
                    self.happen(entry).await?;
                }
                RecoveryAction::Restore { id, snapshot } => cut_off.push((id, snapshot)),
            }
        }
        self.recover_files(cut_off).await
    }

    /// Ends programs left over from interrupted attempts, so that none of them runs during a restore or a retry.
    async fn end_leftovers(&self) {
        let begun = self.live.activities.iter().filter(|(_, begun)| begun.number > 0 && !begun.is_reported);
        let begun = begun.map(|(id, begun)| (*id, begun.number));
        let begun = begun.chain(self.live.stopping.iter().map(|(id, stopping)| (*id, stopping.number)));
        let files = begun.map(|(id, number)| dispatch::live_file(&self.shared, &self.live.name, id, number));
        // The file is created before the program starts, so a missing file means that there is no program.
        let files: Vec<_> = files.filter(|file| file.exists()).collect();
        if files.is_empty() {
            return;
        }
        let ended = dispatch::blocking(&self.shared, move |_| {
            files.iter().for_each(|file| {
                interlock_sandbox::end_leftovers(file);
                let _ = std::fs::remove_file(file);
            });
            Ok(())
        });
        let _ = ended.await;
    }
}

/// Sleeps for `pause`, but at most for `CLOCK_LOOK`: the computer may have been suspended, so the clock must be read
/// again.
async fn sleep(pause: Option<Duration>) {
    match pause {
        Some(pause) => tokio::time::sleep(pause.min(CLOCK_LOOK)).await,
        None => std::future::pending().await,
    }
}
