//! Continues a run and shows its progress, until it ends, waits for a person, or is left.
//!
//! `run`, `send` and `resume` share this code. The progress is read from the run's records, so it looks the same if
//! another process runs the run. The first Ctrl-C leaves the run: no activity is started, and activities in progress
//! are finished. The second Ctrl-C stops the activities in progress. SIGTERM stops them at once, because supervisors
//! kill a process that is still alive some seconds later.

mod questions;

use std::{collections::BTreeSet, io::IsTerminal as _, time::Duration};

use interlock_chart::Value;
use interlock_core::ActivityId;
use interlock_journal::{Entry, Head, WorkerName};
use interlock_runtime::{News, Offers, Runtime};
use serde_json::json;
use tokio::{
    signal::unix::{Signal, SignalKind, signal},
    sync::broadcast::{Receiver, error::RecvError},
};

use crate::{
    Exit, about,
    closing::{Closing, Left},
    dialog::Dialog,
    escape,
    failure::Failure,
    family,
    follow::{Follower, Standing, Step},
    form,
    output::Output,
    progress::Progress,
    store::{Store, user},
    typed::{self, message_event},
};

/// The interval at which the display is updated.
const TICK: Duration = Duration::from_millis(100);

/// Threads per core. A thread waits for the disk when it writes a record alone, and for the kernel when it starts a
/// program; with one thread per core, many runs in one process would wait for each other.
const WORKERS_PER_CORE: usize = 4;

/// The fewest threads.
const WORKERS_MIN: usize = 8;

/// Continues one run and shows its progress.
pub(crate) struct Driver<'s> {
    store: &'s Store,
    runtime: Runtime,
    follower: Follower,
    progress: Progress<'s>,
    output: &'s Output,
    news: Receiver<News>,
    signals: [Signal; 2],
    interrupts: u32,
    /// The reason of the last move that this process has seen.
    reason: Option<String>,
    /// The reasons of the last record with moves that was shown.
    shown_reasons: Vec<String>,
    /// True if a person is at the terminal and can be asked.
    is_interactive: bool,
    /// The questions of running attempts that were shown.
    shown_questions: BTreeSet<questions::QuestionKey>,
    /// True if the run is left when only a timer can continue it, because `resume --due` will be called again.
    leaves_timers: bool,
    /// True while a person types a message; the status line would overwrite it.
    is_typing: bool,
    /// True if the hint about writing a message was shown.
    is_told_of_messages: bool,
}

impl<'s> Driver<'s> {
    /// Makes a driver for the run that `follower` has read.
    pub(crate) fn new(
        store: &'s Store,
        runtime: &Runtime,
        follower: Follower,
        output: &'s Output,
        prefix: Option<&str>,
    ) -> Result<Self, Failure> {
        let listen =
            |kind| signal(kind).map_err(|error| Failure::failed(format!("cannot listen for signals: {error}")));
        Ok(Driver {
            store,
            runtime: runtime.clone(),
            news: runtime.news(),
            signals: [listen(SignalKind::interrupt())?, listen(SignalKind::terminate())?],
            interrupts: 0,
            reason: None,
            shown_reasons: Vec::new(),
            is_interactive: prefix.is_none() && std::io::stdin().is_terminal() && std::io::stderr().is_terminal(),
            shown_questions: BTreeSet::new(),
            leaves_timers: false,
            is_typing: false,
            is_told_of_messages: false,
            progress: Progress::new(output, store.live_folder(), prefix),
            follower,
            output,
        })
    }

    /// Returns a driver that leaves the run when only a timer can continue it.
    pub(crate) fn leaving_timers(self) -> Self {
        Driver { leaves_timers: true, ..self }
    }

    /// Takes ownership of the run, or watches the process that owns it.
    pub(crate) async fn adopt(&mut self) -> Result<(), Failure> {
        match self.runtime.adopt(self.follower.head.key).await? {
            None => Ok(()),
            Some(worker) => self.watch(&worker).await,
        }
    }

    /// Continues until the run ends, waits for a person, or is left. Then this process has released the run.
    pub(crate) async fn drive(&mut self) -> Result<(), Failure> {
        self.keep_driving().await?;
        self.runtime.release(&self.follower.head).await?;
        Ok(())
    }

    async fn keep_driving(&mut self) -> Result<(), Failure> {
        loop {
            self.attend().await?;
            if self.interrupts > 0 || family::asking(&self.follower)?.is_some() {
                return Ok(());
            }
            match self.follower.standing() {
                Standing::Over | Standing::Paused => return Ok(()),
                Standing::Person if self.is_interactive => {
                    if !self.ask().await? {
                        return Ok(());
                    }
                }
                Standing::Person => return Ok(()),
                Standing::Timer(due_ms) if self.leaves_timers && self.follower.now_ms() < due_ms => return Ok(()),
                Standing::Timer(due_ms) => {
                    self.sleep(due_ms).await?;
                    if self.interrupts == 0 && matches!(self.follower.standing(), Standing::Timer(_)) {
                        self.adopt().await?;
                    }
                }
                Standing::Moving => self.adopt().await?,
            }
        }
    }

    /// Shows the run's progress for as long as this process runs it.
    async fn attend(&mut self) -> Result<(), Failure> {
        let (runtime, head) = (self.runtime.clone(), self.follower.head.clone());
        let settled = runtime.settled(&head);
        tokio::pin!(settled);
        let mut tick = tokio::time::interval(TICK);
        loop {
            tokio::select! {
                biased;
                result = &mut settled => {
                    result?;
                    break;
                }
                news = self.news.recv() => self.hear(news)?,
                order = interrupted(&mut self.signals) => self.interrupt(order),
                _ = tick.tick() => {
                    self.look()?;
                    self.hear_person().await?;
                    self.leave_to_person()?;
                    self.hear_questions().await?;
                }
            }
        }
        self.is_typing = false;
        self.look()?;
        self.progress.clear();
        Ok(())
    }

    /// Sends a line that the person typed. An empty line begins a message, or cancels the one that was begun.
    async fn hear_person(&mut self) -> Result<(), Failure> {
        if !self.is_interactive {
            return Ok(());
        }
        self.tell_of_messages();
        let Some(line) = typed::line() else { return Ok(()) };
        let offers = self.follower.offers();
        let Some(event) = message_event(&offers) else {
            self.is_typing = false;
            self.progress.say("This run takes no message now.");
            return Ok(());
        };
        let was_typing = std::mem::take(&mut self.is_typing);
        if line.is_empty() {
            self.is_typing = !was_typing;
            self.progress.say(if was_typing { "No message was sent." } else { "Message (Enter sends it):" });
            return Ok(());
        }
        let data = Value::from(json!({ "text": line }));
        // The run may have moved on: a refused message is reported, and the run is followed further.
        if let Err(error) = self.runtime.send(&self.follower.head, event, data, user()).await {
            Failure::from(error).tell(self.output);
        }
        Ok(())
    }

    /// Tells the person once that the run takes messages while it works.
    fn tell_of_messages(&mut self) {
        if !self.is_told_of_messages && message_event(&self.follower.offers()).is_some() {
            self.is_told_of_messages = true;
            self.progress.say("Press Enter to write a message to this run.");
        }
    }

    /// Leaves the run if it only waits for a child run that waits for a person, so that no process blocks on it.
    fn leave_to_person(&self) -> Result<(), Failure> {
        let asking = family::asking(&self.follower)?;
        asking.iter().flat_map(|asking| &asking.chain).for_each(|run| self.runtime.leave(*run));
        Ok(())
    }

    fn hear(&mut self, news: Result<News, RecvError>) -> Result<(), Failure> {
        match news {
            Ok(news) if **news.run() != *self.follower.head.name => Ok(()),
            // Views belong to no activity: they describe the run.
            Ok(News::Progress { text, activity: ActivityId(0), .. }) => {
                self.progress.place(&text);
                Ok(())
            }
            Ok(News::Progress { text, .. }) => {
                self.progress.note(&text);
                Ok(())
            }
            Ok(News::Stopped { error, .. }) => {
                self.progress.clear();
                Err(error.into())
            }
            Ok(News::Moved { .. } | News::Started { .. } | News::Settled { .. }) | Err(_) => self.look(),
        }
    }

    /// Shows the records that were added since the last call.
    fn look(&mut self) -> Result<(), Failure> {
        for step in self.follower.catch_up()? {
            self.show_step(&step);
        }
        if !self.is_typing {
            self.progress.tick(&self.follower);
        }
        Ok(())
    }

    fn show_step(&mut self, step: &Step) {
        self.progress.step(step);
        if let Some(last) = step.moves.last() {
            self.reason = last.reason.clone();
            self.shown_reasons = step.moves.iter().filter_map(|step| step.reason.clone()).collect();
        }
    }

    fn interrupt(&mut self, order: Interrupt) {
        self.interrupts = order.after(self.interrupts);
        match self.interrupts {
            1 => {
                self.progress.say("leaving after the current activities have ended; press Ctrl-C again to stop them");
                self.runtime.detach();
            }
            2 => {
                self.progress.say("stopping the current activities");
                self.runtime.detach();
                self.runtime.stop_attempts();
            }
            // The activity does not stop: exit as in a crash. The journal holds everything that matters.
            _ => std::process::exit(Exit::Waiting.code().into()),
        }
    }

    /// Watches another worker run the run, until that worker releases it.
    async fn watch(&mut self, worker: &WorkerName) -> Result<(), Failure> {
        self.progress.say(&format!("{worker} is running {}", self.follower.head.name));
        while self.interrupts == 0 {
            self.look()?;
            self.hear_questions().await?;
            let is_moved = matches!(self.follower.standing(), Standing::Moving | Standing::Timer(_));
            if !is_moved || self.follower.holder()?.is_none_or(|holder| holder.worker != *worker) {
                break;
            }
            self.pause(TICK).await;
        }
        self.progress.clear();
        Ok(())
    }

    /// Waits for a timer, or for a record by another process.
    async fn sleep(&mut self, due_ms: i64) -> Result<(), Failure> {
        let seq = self.follower.live.seq;
        while self.interrupts == 0 && self.follower.now_ms() < due_ms && self.follower.live.seq == seq {
            self.pause(TICK).await;
            self.look()?;
        }
        self.progress.clear();
        Ok(())
    }

    async fn pause(&mut self, time: Duration) {
        tokio::select! {
            () = tokio::time::sleep(time) => {}
            order = interrupted(&mut self.signals) => self.interrupts = order.after(self.interrupts),
        }
    }

    /// Asks the person at the terminal and sends the answer. Returns false if the person does not want to answer now.
    async fn ask(&mut self) -> Result<bool, Failure> {
        let (offers, place) = (self.follower.offers(), self.follower.live.place());
        for by_hand in &offers.by_hand {
            let words = format!("{} invokes {} with {}", by_hand.state, by_hand.activity, by_hand.with);
            self.progress.say(&escape::line(&words));
        }
        self.progress.say(&about::above_form(&self.follower, &offers));
        let answer = match self.fill_in(&place, &offers).await? {
            Filled::Answer(answer) => answer,
            Filled::Nothing => return Ok(false),
            Filled::Closed => return Ok(true),
        };
        // A refused answer is reported and the form opens again: another process may have changed the run in the
        // meantime.
        if let Err(error) = self.send(answer).await {
            Failure::from(error).tell(self.output);
        }
        Ok(true)
    }

    async fn send(&self, answer: form::FormAnswer) -> interlock_runtime::Result<()> {
        let (runtime, head) = (&self.runtime, &self.follower.head);
        match answer {
            form::FormAnswer::Event(event, data) => runtime.send(head, &event, Value::from(data), user()).await?,
            form::FormAnswer::Grant(offer) => {
                for scope in &offer.scopes {
                    runtime.grant(head, scope, None, Some(1), user()).await?;
                }
                runtime.send(head, &offer.event, Value::empty(), user()).await?
            }
        };
        Ok(())
    }

    /// Shows a form until it is answered or its question is obsolete.
    async fn fill_in(&mut self, place: &str, offers: &Offers) -> Result<Filled, Failure> {
        let dialog = Dialog::open(place, offers)?;
        let mut answer = tokio::task::spawn_blocking(dialog.answer());
        loop {
            tokio::select! {
                answer = &mut answer => {
                    dialog.close();
                    return Ok(answer.ok().flatten().map_or(Filled::Nothing, Filled::Answer));
                }
                order = interrupted(&mut self.signals) => {
                    self.interrupts = order.after(self.interrupts);
                    dialog.close();
                    return Ok(Filled::Nothing);
                }
                () = tokio::time::sleep(TICK) => {}
            }
            let steps = self.steps_meanwhile().await?;
            if place != self.follower.live.place() || *offers != self.follower.offers() {
                dialog.close();
                self.tell_closed(&steps);
                return Ok(Filled::Closed);
            }
        }
    }

    /// Returns the records added while a form is open. Fires a due deadline, if no other process runs the run.
    async fn steps_meanwhile(&mut self) -> Result<Vec<Step>, Failure> {
        if self.follower.live.due(self.follower.now_ms()).is_some() {
            self.runtime.adopt(self.follower.head.key).await?;
            self.runtime.settled(&self.follower.head).await?;
        }
        Ok(self.follower.catch_up()?)
    }

    fn tell_closed(&mut self, steps: &[Step]) {
        let is_deadline = steps.iter().any(|step| matches!(step.entry, Entry::Timer { .. }));
        self.progress.say(match is_deadline {
            true => "The form is closed: the deadline has passed.",
            false => "The form is closed: the run has changed its state.",
        });
        for step in steps {
            self.show_step(step);
        }
    }

    /// Reports the state in which the run was left, and returns the exit code.
    fn conclude(self) -> Result<Exit, Failure> {
        let output = self.output;
        self.close().tell(output)
    }

    /// Returns the state in which the run was left. The next actions for a person are printed here; the caller prints
    /// the rest.
    pub(crate) fn close(mut self) -> Left {
        self.progress.clear();
        let closing = Closing::of(self.store, &self.follower, self.reason.take(), &self.shown_reasons);
        self.output.talk(&closing.next_actions(self.is_interactive));
        closing.left()
    }
}

/// The result of a form.
enum Filled {
    /// The person answered the question.
    Answer(form::FormAnswer),
    /// The person does not want to answer now.
    Nothing,
    /// The question became obsolete, so the form was closed.
    Closed,
}

/// A signal that asks the process to end.
#[derive(Clone, Copy)]
enum Interrupt {
    /// SIGINT, from a person who can send it again.
    CtrlC,
    /// SIGTERM, which a supervisor sends once.
    Terminate,
}

impl Interrupt {
    /// Returns the number of interrupts after this signal. SIGTERM counts as at least two.
    fn after(self, interrupts: u32) -> u32 {
        match self {
            Interrupt::CtrlC => interrupts + 1,
            Interrupt::Terminate => (interrupts + 1).max(2),
        }
    }
}

/// Waits until the process is asked to end.
async fn interrupted([interrupt, terminate]: &mut [Signal; 2]) -> Interrupt {
    tokio::select! {
        _ = interrupt.recv() => Interrupt::CtrlC,
        _ = terminate.recv() => Interrupt::Terminate,
    }
}

/// Runs a future on a new async runtime. Background tasks that are still running when it ends are not awaited.
pub(crate) fn block_on<T>(work: impl Future<Output = Result<T, Failure>>) -> Result<T, Failure> {
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads((cores * WORKERS_PER_CORE).max(WORKERS_MIN))
        .enable_all()
        .build()
        .map_err(|error| Failure::failed(format!("cannot start threads: {error}")))?;
    let result = runtime.block_on(work);
    runtime.shutdown_background();
    result
}

/// Continues a run and shows its progress; messages from other processes are handled in the meantime.
pub(crate) async fn drive(
    store: &Store,
    runtime: &Runtime,
    follower: Follower,
    output: &Output,
) -> Result<Exit, Failure> {
    let mut driver = Driver::new(store, runtime, follower, output, None)?;
    driver.drive().await?;
    driver.conclude()
}

/// Starts to handle messages from other processes in the background.
pub(crate) fn listen(runtime: &Runtime) {
    let runtime = runtime.clone();
    tokio::spawn(async move { runtime.keep(false).await });
}

/// Starts no more activities, and waits until this process has released the run.
pub(crate) async fn let_go(runtime: &Runtime, head: &Head) -> Result<Head, Failure> {
    runtime.detach();
    Ok(runtime.settled(head).await?)
}
