//! Running attempts: prepares them, starts them and cancels them.

#![expect(clippy::disallowed_methods, reason = "these files are in the store, which no program can change")]

use std::{
    any::Any,
    future::Future,
    panic::{AssertUnwindSafe, catch_unwind},
    path::PathBuf,
    sync::Arc,
    task::{Context, Poll, Waker},
};

use interlock_activity::{Activity, Attempt, Canceller, Outcome, Registry, code};
use interlock_core::ActivityId;
use interlock_journal::EvidenceStore;
use interlock_sandbox::Hold;
use tokio::sync::mpsc::UnboundedSender;

use crate::{
    Live, News,
    actor::Mail,
    fixed,
    host::RuntimeHost,
    place::Place,
    runtime::Shared,
    snapshots::{Before, Untaken, with_changes},
};

/// The code of an error: only the redacted form of a patch is available.
const REDACTED: &str = "REDACTED";

const ORIGINAL_GONE: &str = "the patch contains marks of redacted secrets, and its original is gone or not its own; nothing was written. \
                             Send the patch again, or let the machine pass it on unchanged";

/// An attempt that is running or about to start.
#[derive(Debug)]
pub(crate) struct RunningAttempt {
    canceller: Canceller,
    /// True if the attempt only waits, so that the run can be released before it ends.
    pub(crate) waits: bool,
    /// True if the attempt may write to the workspace.
    pub(crate) writes: bool,
}

impl RunningAttempt {
    /// Returns an attempt that nothing executes.
    #[cfg(test)]
    pub(crate) fn idle() -> Self {
        RunningAttempt { canceller: Canceller::new().0, waits: false, writes: true }
    }

    pub(crate) fn cancel(&self) {
        self.canceller.cancel();
    }
}

/// The results of preparing an attempt, which are needed to record it.
#[derive(Debug)]
pub(crate) struct Ready {
    pub(crate) place: Place,
    /// The snapshot of the workspace before the attempt, or the reason why it could not be taken.
    pub(crate) snapshot: Result<Option<String>, Untaken>,
}

/// Prepares an attempt: waits for a place and, if the attempt may write, takes a snapshot of the workspace. Then sends
/// [`Mail::Ready`] to the actor.
pub(crate) fn prepare(shared: &Arc<Shared>, live: &Live, id: ActivityId, after_ms: u64, to: UnboundedSender<Mail>) {
    let (shared, folder, run) = (Arc::clone(shared), live.folder.clone(), Arc::clone(&live.name));
    let is_write = live.may_write(id, &shared.registry);
    let uses_cores = live.activity_of(id, &shared.registry).is_none_or(|activity| activity.uses_cores());
    tokio::spawn(async move {
        if after_ms > 0 {
            tokio::time::sleep(std::time::Duration::from_millis(after_ms)).await;
        }
        let Some(place) = Place::wait(&shared.permits, uses_cores).await else { return };
        let snapshot = match is_write {
            true => {
                let taken = blocking(&shared, move |shared| Ok(shared.snapshots.take(&folder, &run))).await;
                taken.unwrap_or_else(|why| Err(Untaken::Folder(why)))
            }
            false => Ok(None),
        };
        // If the actor is gone, the attempt is no longer needed.
        let _ = to.send(Mail::Ready { id, ready: Ready { place, snapshot } });
    });
}

/// Runs work that may block on a thread for blocking work.
pub(crate) async fn blocking<T: Send + 'static>(
    shared: &Arc<Shared>,
    work: impl FnOnce(&Shared) -> Result<T, String> + Send + 'static,
) -> Result<T, String> {
    let shared = Arc::clone(shared);
    match tokio::task::spawn_blocking(move || work(&shared)).await {
        Ok(result) => result,
        Err(error) => Err(error.to_string()),
    }
}

/// Starts an attempt that is already recorded.
pub(crate) fn begin(
    shared: &Arc<Shared>,
    live: &Live,
    id: ActivityId,
    place: Place,
    to: UnboundedSender<Mail>,
) -> Option<RunningAttempt> {
    let activity = Arc::clone(live.activity_of(id, &shared.registry)?);
    let begun = live.activities.get(&id)?;
    let (canceller, cancel) = Canceller::new();
    let number = begun.number;
    let (with, is_gone) = shared.seals.open(&live.name, &begun.with);
    let is_refused = is_gone && live.may_write(id, &shared.registry);
    let lost = fixed::lost(&live.folder);
    let live_file = live_file(shared, &live.name, id, number);
    let evidence =
        shared.engine.evidence().redacting(shared.redactor_of(&live.state.data.input, &live.folder)).deferring();
    let attempt = Attempt {
        run: Arc::clone(&live.name),
        activity: id,
        invocation: Arc::clone(live.loaded.invocation(begun.invoke)),
        number,
        begun_ms: begun.begun_ms,
        with,
        folder: live.folder.clone(),
        snapshot: begun.snapshot.clone(),
        live: live_file.clone(),
        evidence: evidence.clone(),
        host: Arc::new(RuntimeHost { shared: Arc::downgrade(shared), place: place.clone() }),
        cancel,
    };
    let before = begun.snapshot.clone().map(|snapshot| Before {
        folder: live.folder.clone(),
        run: Arc::clone(&live.name),
        snapshot,
    });
    let (waits, writes, weak) = (activity.waits(), before.is_some(), Arc::downgrade(shared));
    shared.tell(News::Started { run: Arc::clone(&live.name), activity: id, name: activity.name().into(), number });
    let hold = before.is_some().then(|| Hold::new(&live_file));
    let (clock, registry) = (Arc::clone(&shared.clock), shared.registry.clone());
    let mut flight = Box::pin(async move {
        let outcome = match (lost, is_refused) {
            (Some(lost), _) => lost,
            (None, true) => Outcome::error(REDACTED, ORIGINAL_GONE),
            (None, false) => whole(&registry, &activity, attempt).await,
        };
        let at_ms = clock.now_ms();
        let outcome = settled(evidence, outcome).await;
        let outcome = match before {
            Some(before) => with_changes(weak, before, outcome).await,
            None => outcome,
        };
        hold.into_iter().for_each(Hold::kept);
        place.end();
        (outcome, at_ms)
    });
    let end = move |(outcome, at_ms)| drop(to.send(Mail::Ended { id, number, outcome: Box::new(outcome), at_ms }));
    // An attempt that ends at once needs no task, and there was no time to watch it. Any other is polled again by its
    // task, so no wake-up is lost.
    match flight.as_mut().poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(outcome) => end(outcome),
        Poll::Pending => drop(tokio::spawn(async move {
            let outcome = flight.await;
            let _ = std::fs::remove_file(live_file);
            end(outcome);
        })),
    }
    Some(RunningAttempt { canceller, waits, writes })
}

/// Returns the outcome after its evidence has been written to the disk.
async fn settled(evidence: EvidenceStore, outcome: Outcome) -> Outcome {
    if evidence.is_settled() {
        return outcome;
    }
    let why = match tokio::task::spawn_blocking(move || evidence.settle()).await {
        Ok(Ok(())) => return outcome,
        Ok(Err(error)) => error.to_string(),
        Err(error) => error.to_string(),
    };
    Outcome::not_stored(format!("its output could not be stored: {why}"))
}

/// Runs an activity from start to end, and turns a panic into an ordinary outcome.
async fn whole(registry: &Registry, activity: &Arc<dyn Activity>, attempt: Attempt) -> Outcome {
    let mut ending = match catch_unwind(AssertUnwindSafe(|| registry.start(activity, attempt))) {
        Ok(ending) => ending,
        Err(panic) => return broke_off(&*panic),
    };
    std::future::poll_fn(|context| {
        // The future is not polled again after a panic, so a half-changed state is never observed.
        match catch_unwind(AssertUnwindSafe(|| ending.as_mut().poll(context))) {
            Ok(poll) => poll,
            Err(panic) => Poll::Ready(broke_off(&*panic)),
        }
    })
    .await
}

fn broke_off(panic: &(dyn Any + Send)) -> Outcome {
    let said = panic.downcast_ref::<String>().map(String::as_str).or_else(|| panic.downcast_ref::<&str>().copied());
    Outcome::error(code::FAILED, format!("the activity panicked: {}", said.unwrap_or("no message")))
}

/// Returns the path of the file in which the output of a running attempt can be watched.
pub(crate) fn live_file(shared: &Shared, run: &str, id: ActivityId, number: u32) -> PathBuf {
    shared.live_folder.join(format!("{run}-{id}-{number}.log"))
}
