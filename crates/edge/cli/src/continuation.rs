//! Continues a run that has ended: an event that its machine declares with `continues: true` starts a new run, which shares
//! all records up to the state before the end and takes the event there. Commands and the server continue runs here.
//!
//! The new run is a fork, so everything that is proved about the machine holds for it, and its first record names the run
//! that it continues. It works in the same directory and goes on with the agent's session. The ended run stays as it is;
//! `interlock_follow::continued` finds the run that continues it.

use interlock_follow::continued::{continued_by, is_continuing, stem, successors};
use interlock_journal::{By, Engine as _, Head};
use interlock_runtime::{Live, NewFork, Offer, created, fork, offers, replay};
use interlock_workspace::Workspace;
use serde_json::json;

use crate::{
    commands::undo,
    failure::Failure,
    sample::sample,
    store::{Store, registry},
    waiting,
    worktree::folder_of,
};

/// The most runs that continue one run.
const RUNS_MAX: u32 = 1_000;

/// An event to an ended run.
pub(crate) struct Message<'m> {
    /// The event's name.
    pub(crate) event: &'m str,
    /// The id of the sending: if the run that continues has it already, the event was sent before.
    pub(crate) id: &'m str,
    /// The person or program that sends it.
    pub(crate) by: By,
}

/// Returns the run that takes an event to an ended run: a new run, or the one that took the event before. `None` if the
/// machine declares no such event, or if the run could not take it before its end.
pub(crate) fn start(store: &Store, head: &Head, message: Message<'_>) -> Result<Option<Head>, Failure> {
    let Message { event, id, by } = message;
    if !head.phase.is_over() || !is_continuing(&*store.engine(), head, event)? {
        return Ok(None);
    }
    let Some((at, live)) = before_end(store, head)? else { return Ok(None) };
    if !offers(&live, registry()).events.iter().any(|offer| offer.event == event) {
        return Ok(None);
    }
    if let Some(next) = continued_by(&*store.engine(), head)? {
        return match store.journal.sent(next.key, id)? {
            Some(_) => Ok(Some(next)),
            None => Err(Failure::failed(format!("{} is already continued by {}", head.name, next.name))
                .hint(format!("send it there: `interlock send {} {event}`", next.name))),
        };
    }
    if let Some(refusal) = refusal(store, head)? {
        return Err(refusal);
    }
    // A process that died before it sent the event has left a run without it.
    let unused = successors(&*store.engine(), head)?.into_iter().find(|(next, from)| from.at == at && next.seq == at);
    if let Some((next, _)) = unused {
        return Ok(Some(next));
    }
    let accepts_unproved = created(&*store.engine(), head)?.is_some_and(|created| created.unproved.is_some());
    let mut new = fork(&*store.engine(), &store.proofs(), head, NewFork { at, by, accepts_unproved })?;
    new.name = free_name(store, head)?;
    interlock_agent::continue_run(&store.home, None, &head.name, &new.name).map_err(Failure::failed)?;
    remember_begin(store, head, &new.name)?;
    Ok(Some(store.journal.create(new).wait()?))
}

/// Gives a run that shares the records of another what was measured when that one began.
pub(crate) fn remember_begin(store: &Store, from: &Head, run: &str) -> Result<(), Failure> {
    let Some(folder) = folder_of(store, from)?.filter(|folder| folder.is_dir()) else { return Ok(()) };
    let workspace = Workspace::new(&store.home);
    workspace.continue_run(&folder, &from.name, run).map_err(|error| Failure::failed(error.to_string()))?;
    interlock_verification::share_dependencies(&workspace, Some(&store.home), &folder, (&from.name, run))
        .map_err(Failure::failed)
}

/// Returns the events that continue an ended run now; none if it is continued already, or cannot be.
pub(crate) fn offered(store: &Store, head: &Head) -> Result<Vec<Offer>, Failure> {
    let engine = store.engine();
    let is_declared = || {
        Ok::<_, Failure>(interlock_follow::loaded(&*engine, head)?.chart().events.iter().any(|event| event.continues))
    };
    if !head.phase.is_over()
        || !is_declared()?
        || continued_by(&*engine, head)?.is_some()
        || refusal(store, head)?.is_some()
    {
        return Ok(Vec::new());
    }
    let Some((_, live)) = before_end(store, head)? else { return Ok(Vec::new()) };
    let events = &live.loaded.chart().events;
    let continues = |offer: &Offer| events.iter().any(|event| event.continues && event.name == offer.event);
    let all = offers(&live, registry()).events.into_iter().filter(continues);
    // After the end it is the only event, however many states of the machine take it.
    Ok(all.map(|offer| Offer { is_general: false, ..offer }).collect())
}

/// Returns the reason why an ended run cannot be continued any more, if there is one.
fn refusal(store: &Store, head: &Head) -> Result<Option<Failure>, Failure> {
    if undo::in_effect(&undo::of_run(store, head)?).is_some() {
        let failure = Failure::failed(format!("{} was undone, so it cannot be continued", head.name));
        return Ok(Some(failure.hint("start a new run with the task and your message")));
    }
    let folder = folder_of(store, head)?.unwrap_or_default();
    if folder.is_dir() {
        return Ok(None);
    }
    let failure = Failure::failed(format!("{} cannot be continued: {} is gone", head.name, folder.display()));
    Ok(Some(failure.hint("start a new run; its branch and its records are still there")))
}

/// Returns the last record before a run ended, and the run as it was then.
fn before_end(store: &Store, head: &Head) -> Result<Option<(u64, Live)>, Failure> {
    let mut end = None;
    replay(&*store.engine(), head, head.seq, |frame| {
        if frame.live.state.is_done() && end.is_none() {
            end = Some(frame.record.seq);
        }
    })?;
    let Some(at) = end.and_then(|end| end.checked_sub(1)).filter(|at| *at > 0) else { return Ok(None) };
    Ok(Some((at, replay(&*store.engine(), head, at, |_| {})?)))
}

/// Returns a free name: `RUN-2`, `RUN-3` and so on.
fn free_name(store: &Store, head: &Head) -> Result<String, Failure> {
    let stem = stem(&*store.engine(), head)?;
    for number in 2..=RUNS_MAX {
        let name = format!("{stem}-{number}");
        if store.journal.find(&name)?.is_none() {
            return Ok(name);
        }
    }
    Err(Failure::failed(format!("{stem} was continued {RUNS_MAX} times; start a new run")))
}

/// Returns the command that continues an ended run; `None` if nothing does.
pub(crate) fn command(store: &Store, head: &Head) -> Option<String> {
    // A run whose records cannot be read is shown without the command.
    let offer = offered(store, head).ok()?.into_iter().next()?;
    let mut data = sample(&offer.data);
    if data.get("text").is_some() {
        data = json!({ "text": "…" });
    }
    Some(waiting::command(&head.name, &offer.event, &data))
}
