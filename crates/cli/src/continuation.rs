//! Continues a run that has ended: an event that its machine declares with `continues: true` starts a new run, which shares
//! all records up to the state before the end and takes the event there.
//!
//! The new run is a fork, so everything that is proved about the machine holds for it, and its first record names the run
//! that it continues. It works in the same directory and goes on with the agent's session. The ended run stays as it is.

use interlock_journal::{Engine as _, Head};
use interlock_runtime::{Live, LoadedMachine, NewFork, created, fork, offers, replay};
use serde_json::json;

use crate::{
    commands::undo,
    failure::Failure,
    sample::sample,
    store::{Store, registry, user},
    waiting,
    worktree::folder_of,
};

/// The most runs that continue one run.
const RUNS_MAX: u32 = 1_000;

/// Starts a run that continues an ended one, if its machine allows that for this event. `None` if it does not.
pub(crate) fn start(store: &Store, head: &Head, event: &str) -> Result<Option<Head>, Failure> {
    if !head.phase.is_over() || !is_continuing(store, head, event)? {
        return Ok(None);
    }
    let Some((at, live)) = before_end(store, head)? else { return Ok(None) };
    if !offers(&live, registry()).events.iter().any(|offer| offer.event == event) {
        return Ok(None);
    }
    if undo::standing(&undo::of_run(store, head)?).is_some() {
        return Err(Failure::failed(format!("{} was undone, so it cannot be continued", head.name))
            .hint("start a new run with the task and your message"));
    }
    let folder = folder_of(store, head)?.unwrap_or_default();
    if !folder.is_dir() {
        return Err(Failure::failed(format!("{} cannot be continued: {} is gone", head.name, folder.display()))
            .hint("start a new run; its branch and its records are still there"));
    }
    let accepts_unproved = created(&*store.engine(), head)?.is_some_and(|created| created.unproved.is_some());
    let mut new = fork(&*store.engine(), &store.proofs(), head, NewFork { at, by: user(), accepts_unproved })?;
    new.name = free_name(store, &head.name)?;
    interlock_agent::continue_run(&store.home, None, &head.name, &new.name).map_err(Failure::failed)?;
    Ok(Some(store.journal.create(new).wait()?))
}

/// Returns true if the machine of a run declares that an event continues an ended run.
fn is_continuing(store: &Store, head: &Head, event: &str) -> Result<bool, Failure> {
    let loaded = LoadedMachine::shared(&*store.engine(), &head.definition)?;
    Ok(loaded.chart().events.iter().any(|known| known.continues && known.name == event))
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
fn free_name(store: &Store, run: &str) -> Result<String, Failure> {
    let first = match run.rsplit_once('-') {
        Some((first, number)) if number.parse::<u32>().is_ok_and(|number| number > 1) => first,
        _ => run,
    };
    for number in 2..=RUNS_MAX {
        let name = format!("{first}-{number}");
        if store.journal.find(&name)?.is_none() {
            return Ok(name);
        }
    }
    Err(Failure::failed(format!("{run} was continued {RUNS_MAX} times; start a new run")))
}

/// Returns the command that continues an ended run; `None` if its machine has no such event.
pub(crate) fn command(live: &Live) -> Option<String> {
    let event = live.loaded.chart().events.iter().find(|event| event.continues)?;
    let mut data = sample(&event.data);
    if data.get("text").is_some() {
        data = json!({ "text": "…" });
    }
    Some(waiting::command(&live.name, &event.name, &data))
}
