//! Moving a run and showing how it goes, until it ends, waits for a person, or is left.
//!
//! This is where `run`, `send` and `resume` meet. What is shown comes from the run's records, so that it is the same whichever process
//! moves it; Ctrl-C once leaves the run (nothing new is begun, what is under way is finished), twice stops what is under way, and SIGTERM does that at once:
//! whoever supervises programs kills what is still there some seconds later.

use std::{io::IsTerminal as _, time::Duration};

use interlock_chart::Value;
use interlock_journal::{Entry, Head, Phase, WorkerName};
use interlock_runtime::{News, Offers, Runtime};
use serde_json::{Value as Json, json};
use tokio::{
    signal::unix::{Signal, SignalKind, signal},
    sync::broadcast::{Receiver, error::RecvError},
};

use crate::{
    Exit, about,
    dialog::Dialog,
    escape,
    failure::Failure,
    family,
    follow::{Follower, Standing, Step},
    form,
    output::Output,
    overdue,
    progress::Progress,
    store::{Store, user},
    waiting,
};

/// How often what is shown is brought up to date.
const TICK: Duration = Duration::from_millis(100);

/// Moves one run.
pub(crate) struct Driver<'s> {
    runtime: Runtime,
    follower: Follower,
    progress: Progress<'s>,
    output: &'s Output,
    news: Receiver<News>,
    signals: [Signal; 2],
    interrupts: u32,
    /// Why the last move was made, as far as this process has seen one.
    reason: Option<String>,
    /// Whether a person can be asked.
    is_interactive: bool,
    /// Whether the run is left when only a timer can move it: whoever fires due timers comes again.
    leaves_timers: bool,
}

impl<'s> Driver<'s> {
    /// For a run that stands where `follower` is.
    pub(crate) fn new(
        store: &Store,
        runtime: &Runtime,
        follower: Follower,
        output: &'s Output,
        prefix: Option<&str>,
    ) -> Result<Self, Failure> {
        let listen =
            |kind| signal(kind).map_err(|error| Failure::failed(format!("cannot listen for signals: {error}")));
        Ok(Driver {
            runtime: runtime.clone(),
            news: runtime.news(),
            signals: [listen(SignalKind::interrupt())?, listen(SignalKind::terminate())?],
            interrupts: 0,
            reason: None,
            is_interactive: prefix.is_none() && std::io::stdin().is_terminal() && std::io::stderr().is_terminal(),
            leaves_timers: false,
            progress: Progress::new(output, store.live_folder(), prefix),
            follower,
            output,
        })
    }

    /// The same, but the run is left when only a timer can move it.
    pub(crate) fn leaving_timers(self) -> Self {
        Driver { leaves_timers: true, ..self }
    }

    /// Takes the run up, whatever it waits for.
    pub(crate) async fn adopt(&mut self) -> Result<(), Failure> {
        match self.runtime.adopt(self.follower.head.key).await? {
            None => Ok(()),
            Some(worker) => self.watch(&worker).await,
        }
    }

    /// Goes on until the run ends, waits for a person, or is left.
    pub(crate) async fn drive(&mut self) -> Result<(), Failure> {
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

    /// Shows how the run goes for as long as this process moves it.
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
                    self.leave_to_person()?;
                }
            }
        }
        self.look()?;
        self.progress.clear();
        Ok(())
    }

    /// A run that only waits for one that it started, which waits for a person, is left: nobody is to sit in front of it.
    fn leave_to_person(&self) -> Result<(), Failure> {
        let asking = family::asking(&self.follower)?;
        asking.iter().flat_map(|asking| &asking.chain).for_each(|run| self.runtime.leave(*run));
        Ok(())
    }

    fn hear(&mut self, news: Result<News, RecvError>) -> Result<(), Failure> {
        match news {
            Ok(news) if **news.run() != *self.follower.head.name => Ok(()),
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

    /// Shows what has been recorded since.
    fn look(&mut self) -> Result<(), Failure> {
        for step in self.follower.catch_up()? {
            self.progress.step(&step);
            self.reason = step.moves.last().map_or(self.reason.take(), |last| last.reason.clone());
        }
        self.progress.tick(&self.follower);
        Ok(())
    }

    fn interrupt(&mut self, order: Order) {
        self.interrupts = order.after(self.interrupts);
        match self.interrupts {
            1 => {
                self.progress.say("leaving: what is under way is finished first; Ctrl-C again stops it");
                self.runtime.detach();
            }
            2 => {
                self.progress.say("stopping what is under way");
                self.runtime.detach();
                self.runtime.stop_attempts();
            }
            // It does not listen: leave it as a crash would. The journal has everything that counts.
            _ => std::process::exit(Exit::Waiting.code().into()),
        }
    }

    /// Watches another worker move the run, until that worker gives it up.
    async fn watch(&mut self, worker: &WorkerName) -> Result<(), Failure> {
        self.progress.say(&format!("{worker} moves {}", self.follower.head.name));
        while self.interrupts == 0 {
            self.look()?;
            let is_moved = matches!(self.follower.standing(), Standing::Moving | Standing::Timer(_));
            if !is_moved || self.follower.holder()?.is_none_or(|holder| holder.worker != *worker) {
                break;
            }
            self.pause(TICK).await;
        }
        self.progress.clear();
        Ok(())
    }

    /// Waits for a timer, or for somebody else to move the run.
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

    /// Asks the person at the terminal, and sends what they say. Whether there was an answer.
    async fn ask(&mut self) -> Result<bool, Failure> {
        let (offers, place) = (self.follower.offers(), self.follower.live.place());
        for by_hand in &offers.by_hand {
            let words = format!("{} has {} done with {}", by_hand.state, by_hand.activity, by_hand.with);
            self.progress.say(&escape::line(&words));
        }
        self.progress.say(&about::above_form(&self.follower, &offers));
        let answer = match self.fill_in(&place, &offers).await? {
            Filled::Answer(answer) => answer,
            Filled::Nothing => return Ok(false),
            Filled::Closed => return Ok(true),
        };
        // A refused answer is reported and the form opens again: the run may have been moved by somebody else in the meantime.
        if let Err(error) = self.send(answer).await {
            Failure::from(error).tell(self.output);
        }
        Ok(true)
    }

    async fn send(&self, answer: form::Answer) -> interlock_runtime::Result<()> {
        let (runtime, head) = (&self.runtime, &self.follower.head);
        match answer {
            form::Answer::Event(event, data) => runtime.send(head, &event, Value::from(data), user()).await?,
            form::Answer::Grant(offer) => {
                for scope in &offer.scopes {
                    runtime.grant(head, scope, None, Some(1), user()).await?;
                }
                runtime.send(head, &offer.event, Value::empty(), user()).await?
            }
        };
        Ok(())
    }

    /// Shows a form until it is answered or what it asks is no longer asked.
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

    /// What has been recorded while a form is open. A deadline that has come fires here, if no other process moves the run.
    async fn steps_meanwhile(&mut self) -> Result<Vec<Step>, Failure> {
        if self.follower.live.due(self.follower.now_ms()).is_some() {
            self.runtime.adopt(self.follower.head.key).await?;
            self.runtime.settled(&self.follower.head).await?;
        }
        self.follower.catch_up()
    }

    fn tell_closed(&mut self, steps: &[Step]) {
        let is_deadline = steps.iter().any(|step| matches!(step.entry, Entry::Timer { .. }));
        self.progress.say(match is_deadline {
            true => "The deadline has passed, and the form is closed.",
            false => "The run was moved by somebody else, and the form is closed.",
        });
        for step in steps {
            self.progress.step(step);
            self.reason = step.moves.last().map_or(self.reason.take(), |last| last.reason.clone());
        }
    }

    /// Says how the run was left, and gives the code to end with.
    fn conclude(self) -> Result<Exit, Failure> {
        let output = self.output;
        self.close().tell(output)
    }

    /// How the run was left. What a person can do about it is said here; the rest is for whoever asks.
    pub(crate) fn close(mut self) -> Left {
        self.progress.clear();
        let follower = &self.follower;
        let run = &follower.head.name;
        let below = family::asking(follower).ok().flatten().map(|asking| asking.follower);
        let is_person_needed = matches!(follower.standing(), Standing::Person | Standing::Paused);
        let asking = below.as_ref().or(is_person_needed.then_some(follower));
        let phase = if below.is_some() { Phase::Waiting } else { follower.phase() };
        if let Some(asking) = asking {
            self.output.talk(&waiting::text_for(follower, asking));
            self.output.talk(&format!("`interlock show {}` has what it is about.\n", asking.head.name));
        } else if let Some(parent) = follower.head.parent.as_deref().filter(|_| phase.is_over()) {
            self.output.talk(&format!("{parent} started it. To go on with that one:\n    interlock resume {parent}\n"));
        } else if !phase.is_over() {
            self.output.talk(&format!("{run} is left as it is. To go on with it:\n    interlock resume {run}\n"));
        }
        let json = json!({
            "run": run,
            "machine": follower.head.machine,
            "phase": phase,
            "place": follower.live.place(),
            "seq": follower.live.seq,
            "reason": self.reason,
            "deadline": overdue::json(follower.live.due(i64::MAX).map(|(_, due_ms)| due_ms), follower.now_ms()),
            "waits_for": asking.map(waiting::json),
            "grant": asking.and_then(waiting::grant_json),
            "waits_for_run": below.as_ref().map(|below| &below.head.name),
            "output": follower.live.output.as_ref().map(Json::from),
        });
        let text = format!("{run}  {}  {}\n", phase.word(), follower.live.place());
        Left { exit: phase.into(), json, text }
    }
}

/// What became of a form.
enum Filled {
    /// The person answered.
    Answer(form::Answer),
    /// The person does not want to say anything now.
    Nothing,
    /// What it asked is no longer asked.
    Closed,
}

/// How a run was left.
#[derive(Debug)]
pub(crate) struct Left {
    /// The code to end with.
    pub(crate) exit: Exit,
    /// For programs.
    pub(crate) json: Json,
    /// For people.
    pub(crate) text: String,
}

impl Left {
    /// Says it on stdout, and gives the code to end with.
    pub(crate) fn tell(&self, output: &Output) -> Result<Exit, Failure> {
        match output.is_json() {
            true => output.json(&self.json)?,
            false => output.data(&self.text)?,
        }
        Ok(self.exit)
    }
}

/// How the process is asked to end.
#[derive(Clone, Copy)]
enum Order {
    /// By a person, who can say it again.
    CtrlC,
    /// By whoever started it, once.
    Terminate,
}

impl Order {
    /// How many Ctrl-C that makes, after so many.
    fn after(self, interrupts: u32) -> u32 {
        match self {
            Order::CtrlC => interrupts + 1,
            Order::Terminate => (interrupts + 1).max(2),
        }
    }
}

/// Returns when the process is asked to end.
async fn interrupted([interrupt, terminate]: &mut [Signal; 2]) -> Order {
    tokio::select! {
        _ = interrupt.recv() => Order::CtrlC,
        _ = terminate.recv() => Order::Terminate,
    }
}

/// Runs something that waits for other things. What is still under way in the background when it ends is not waited for.
pub(crate) fn block_on<T>(work: impl Future<Output = Result<T, Failure>>) -> Result<T, Failure> {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
        .map_err(|error| Failure::failed(format!("cannot start threads: {error}")))?;
    let result = runtime.block_on(work);
    runtime.shutdown_background();
    result
}

/// Moves a run and shows how it goes; messages of other processes to it are read in the meantime.
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

/// From now on messages of other processes are read.
pub(crate) fn listen(runtime: &Runtime) {
    let runtime = runtime.clone();
    tokio::spawn(async move { runtime.keep(false).await });
}

/// Waits until nobody here moves the run, beginning nothing new.
pub(crate) async fn let_go(runtime: &Runtime, head: &Head) -> Result<Head, Failure> {
    runtime.detach();
    Ok(runtime.settled(head).await?)
}
