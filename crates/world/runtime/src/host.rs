//! Services that the runtime offers to attempts.

use std::sync::{Arc, Weak};

use interlock_activity::{
    Ending, Future, Host, Outcome, PastMove, PastOutcome, ProjectFile, Question, StartRun, TakeBack, TakenBack,
    UseGrants, code,
};
use interlock_chart::{Value, library};
use interlock_core::ActivityId;
use interlock_journal::{By, Hash, Phase, RunKey};

use tokio::sync::oneshot;

use crate::{
    Error, News, Runtime, Start, actor::Mail, asking::AnswerSender, created, place::Place, project, recorded,
    runtime::Shared, undo,
};

/// The runtime as its attempts see it. It does not keep the runtime alive.
#[derive(Debug)]
pub(crate) struct RuntimeHost {
    pub(crate) shared: Weak<Shared>,
    /// The attempt's place among those that use this computer's cores.
    pub(crate) place: Place,
}

impl Host for RuntimeHost {
    fn progress(&self, run: &str, activity: ActivityId, text: &str) {
        if let Some(shared) = self.shared.upgrade() {
            let text = shared.redactor.text(text);
            shared.tell(News::Progress { run: run.into(), activity, text: text.as_ref().into() });
        }
    }

    fn now_ms(&self) -> i64 {
        self.shared.upgrade().map_or(0, |shared| shared.clock.now_ms())
    }

    fn sleep(&self, ms: u64) -> Future<()> {
        Box::pin(tokio::time::sleep(std::time::Duration::from_millis(ms)))
    }

    fn use_grants(&self, order: UseGrants) -> Future<bool> {
        let shared = self.shared.clone();
        Box::pin(async move {
            let Some(shared) = shared.upgrade() else { return false };
            let Ok(Some(head)) = shared.engine.find(&order.run) else { return false };
            let (reply, answer) = oneshot::channel();
            // A run that this process does not execute has no attempts here either.
            match shared.write_to(head.key, Some(Mail::UseGrants { order, reply })) {
                None => answer.await.unwrap_or(false),
                Some(_) => false,
            }
        })
    }

    fn ask(&self, question: Question) -> Future<Option<Value>> {
        let (shared, place) = (self.shared.clone(), self.place.clone());
        Box::pin(async move {
            let (to, answer) = oneshot::channel();
            let _withdrawn = Withdrawal::of(&shared, &question)?.send(question, to)?;
            place.give_up();
            let answer = answer.await.ok().flatten();
            let permits = Arc::clone(&shared.upgrade()?.permits);
            place.take_again(&permits).await;
            answer
        })
    }

    fn take_back(&self, order: TakeBack) -> Future<Result<TakenBack, String>> {
        let shared = self.shared.clone();
        Box::pin(async move {
            match shared.upgrade() {
                Some(shared) => undo::take_back(shared, order).await,
                None => Err("the runtime has ended".into()),
            }
        })
    }

    fn recorded(&self, run: &str, name: &str, at_most: usize) -> Result<Vec<Hash>, String> {
        match self.shared.upgrade() {
            Some(shared) => recorded::newest(&*shared.engine, run, name, at_most).map_err(|error| error.to_string()),
            None => Err("the runtime has ended".into()),
        }
    }

    fn outcomes(&self, run: &str, since: &str, at_most: usize) -> Result<Vec<PastOutcome>, String> {
        match self.shared.upgrade() {
            Some(shared) => recorded::outcomes(&*shared.engine, run, since, at_most),
            None => Err("the runtime has ended".into()),
        }
    }

    fn moves(&self, run: &str, at_most: usize) -> Result<Vec<PastMove>, String> {
        match self.shared.upgrade() {
            Some(shared) => shared.histories.newest(&*shared.engine, run, at_most).map_err(|error| error.to_string()),
            None => Err("the runtime has ended".into()),
        }
    }

    fn project_file(&self, run: &str, path: &str) -> Result<ProjectFile, String> {
        match self.shared.upgrade() {
            Some(shared) => project::kept(&*shared.engine, run, path),
            None => Err("the runtime has ended".into()),
        }
    }

    fn run(&self, start: StartRun) -> Ending {
        let shared = self.shared.clone();
        Box::pin(async move {
            match shared.upgrade() {
                Some(shared) => child(Runtime(shared), start).await,
                None => Outcome::cancelled("the runtime has ended"),
            }
        })
    }
}

/// Withdraws a question when it is dropped, so that a question that nobody waits for does not stay open.
struct Withdrawal {
    shared: Weak<Shared>,
    key: RunKey,
    activity: ActivityId,
    number: u32,
    id: String,
}

impl Withdrawal {
    fn of(shared: &Weak<Shared>, question: &Question) -> Option<Self> {
        let key = shared.upgrade()?.engine.find(&question.run).ok()??.key;
        let Question { activity, number, id, .. } = question;
        Some(Withdrawal { shared: shared.clone(), key, activity: *activity, number: *number, id: id.clone() })
    }

    /// Sends the question to the run. Returns `None` if this process does not run it.
    fn send(self, question: Question, to: AnswerSender) -> Option<Self> {
        let mail = Mail::Question { question: Box::new(question), to };
        self.shared.upgrade()?.write_to(self.key, Some(mail)).is_none().then_some(self)
    }
}

impl Drop for Withdrawal {
    fn drop(&mut self) {
        let Some(shared) = self.shared.upgrade() else { return };
        let (activity, number, id) = (self.activity, self.number, std::mem::take(&mut self.id));
        let _ = shared.write_to(self.key, Some(Mail::Withdraw { activity, number, id }));
    }
}

/// Starts a child run, or continues the one that an earlier attempt started: the name is derived from the parent and
/// the activity.
async fn child(runtime: Runtime, start: StartRun) -> Outcome {
    let name = format!("{}.{}", start.parent, start.activity);
    let begun = match runtime.find(&name) {
        Ok(Some(head)) => Ok(head),
        Ok(None) => begin_whole(runtime.clone(), name.clone(), start).await,
        Err(error) => Err(error),
    };
    let head = match begun {
        Ok(head) => head,
        Err(error @ Error::Unproved { .. }) => return Outcome::error(code::UNPROVED, error.to_string()),
        Err(error) => return Outcome::error(code::BAD_INPUT, error.to_string()),
    };
    match runtime.follow_to_end(&head).await {
        Ok(end) => {
            let signal = match end.phase {
                Phase::Succeeded => "succeeded",
                Phase::Incomplete => "incomplete",
                Phase::Aborted => "aborted",
                _ => "failed",
            };
            let output = match runtime.look_at(&end) {
                Ok(live) => live.output,
                Err(error) => return Outcome::error(code::FAILED, error.to_string()),
            };
            let data = [("run", Value::from(name.as_str())), ("state", Value::from(end.place.as_str()))];
            let output = output.map(|output| ("output", output));
            Outcome::signal(signal, Value::map(data.into_iter().chain(output)))
        }
        Err(error) => Outcome::error(code::FAILED, error.to_string()),
    }
}

/// Starts a child run completely, even if the attempt is cancelled meanwhile, so that no child is left half started.
async fn begin_whole(runtime: Runtime, name: String, start: StartRun) -> crate::Result<interlock_journal::Head> {
    let begun = tokio::spawn(async move {
        let head = begin(&runtime, &name, &start).await?;
        if !runtime.is_wanted(&head)? {
            runtime.abort_child(&head).await;
        }
        Ok(head)
    });
    begun.await.unwrap_or_else(|error| Err(crate::Error::Machine(error.to_string())))
}

async fn begin(runtime: &Runtime, name: &str, start: &StartRun) -> crate::Result<interlock_journal::Head> {
    let source = library::load(&start.machine, &start.folder).map_err(|error| Error::Machine(error.to_string()))?;
    let loaded = runtime.load(&source)?;
    let run = Start {
        loaded: Arc::clone(&loaded),
        input: start.input.clone(),
        folder: start.folder.clone(),
        by: By::run(start.parent.to_string()),
        parent: Some(start.parent.to_string()),
        name: Some(name.to_owned()),
        accepts_unproved: is_unproved(runtime, &start.parent)?,
    };
    runtime.start_as(run, start.is_detached).await
}

/// Returns true if a person accepted the parent as an unproved machine. Only then may its children be unproved: a
/// machine cannot decide that for itself, since its own proof depends on the behaviour of its children.
fn is_unproved(runtime: &Runtime, parent: &str) -> crate::Result<bool> {
    let Some(head) = runtime.find(parent)? else { return Ok(false) };
    Ok(created(&**runtime.engine(), &head)?.is_some_and(|created| created.unproved.is_some()))
}
