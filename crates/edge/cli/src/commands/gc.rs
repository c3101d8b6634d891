//! `interlock gc`: removes files that no run refers to, snapshots of runs that ended long ago, and worktrees and homes of
//! agents of runs that are over.

use std::{
    collections::BTreeSet,
    time::{Duration, SystemTime},
};

use interlock_chart::counted;
use interlock_journal::{Engine as _, Filter, Phase};
use interlock_runtime::Workspace;
use serde_json::json;

use super::Outcome;
use crate::{
    Exit,
    args::Gc,
    failure::Failure,
    output::Output,
    store::Store,
    worktree::{self, folder_of},
};

/// The least age at which leftovers of workspaces are removed. Younger ones may belong to a call in progress.
const SWEPT_AFTER: Duration = Duration::from_secs(60 * 60);

/// The age at which a room of verifications counts as unused.
const ROOM_UNUSED_AFTER: Duration = Duration::from_secs(14 * 24 * 60 * 60);

/// Removes the unused files and reports how many there were.
pub(crate) fn run(args: &Gc, output: &Output) -> Outcome {
    let store = Store::open()?;
    let grace = Duration::from_secs(args.older_than.saturating_mul(60));
    let used = store.journal.evidence_in_use()?;
    let done = store.journal.evidence().collect(&used, SystemTime::now(), grace, args.dry_run)?;
    let snapshots = forget(&store, args, output)?;
    let swept = Workspace::new(&store.home).sweep(grace.max(SWEPT_AFTER), args.dry_run);
    let swept = swept.map_err(|error| Failure::failed(error.to_string()))?;
    let worktrees = remove_worktrees(&store, args, output)?;
    let homes = remove_agent_homes(&store, args)?;
    let rooms = interlock_verification::remove_old_rooms(&store.home, ROOM_UNUSED_AFTER, args.dry_run);
    let rooms = rooms.map_err(|error| Failure::file("remove", &store.home.join("rooms"), &error))?;
    if output.is_json() {
        let mut json = json!(done);
        json["snapshots"] = json!(snapshots);
        json["workspaces"] = json!(swept);
        json["worktrees"] = json!(worktrees);
        json["agent_homes"] = json!(homes);
        json["rooms"] = json!(rooms);
        output.json(&json)?;
        return Ok(Exit::Good);
    }
    let verb = if args.dry_run { "would be removed" } else { "removed" };
    if snapshots > 0 {
        output.data(&format!("{} {verb}\n", counted(snapshots, "snapshot", "snapshots")))?;
    }
    if worktrees > 0 {
        output.data(&format!("{} {verb}\n", counted(worktrees, "worktree", "worktrees")))?;
    }
    if homes > 0 {
        output.data(&format!("{} {verb}\n", counted(homes, "home of an agent", "homes of agents")))?;
    }
    if rooms > 0 {
        output.data(&format!("{} {verb}\n", counted(rooms, "room of verifications", "rooms of verifications")))?;
    }
    output.data(&format!(
        "{} {verb}, {}; {} kept\n",
        counted(done.removed, "file", "files"),
        counted(done.bytes, "byte", "bytes"),
        done.kept
    ))?;
    Ok(Exit::Good)
}

/// Forgets the snapshots of runs that ended long ago and returns their number.
fn forget(store: &Store, args: &Gc, output: &Output) -> Result<u64, Failure> {
    let age = Duration::from_secs(args.snapshots_older_than.saturating_mul(24 * 60 * 60));
    let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    let before_ms = i64::try_from(now.saturating_sub(age).as_millis()).unwrap_or(i64::MAX);
    let phases = Phase::ENDED.to_vec();
    let (workspace, mut count) = (Workspace::new(&store.home), 0);
    for head in store.journal.list(&Filter { phases, ..Filter::default() })? {
        let Some(folder) = folder_of(store, &head)?.filter(|folder| head.updated_ms <= before_ms && folder.is_dir())
        else {
            continue;
        };
        match workspace.forget(&folder, &head.name, args.dry_run) {
            Ok(forgotten) => count += forgotten,
            Err(error) => output.talk(&format!("{}: {error}\n", head.name)),
        }
    }
    Ok(count)
}

/// Removes the worktrees of runs that are over, if they were applied or have not changed, and returns their number.
fn remove_worktrees(store: &Store, args: &Gc, output: &Output) -> Result<u64, Failure> {
    let mut count = 0;
    for kept in worktree::all(store)? {
        let head = store.journal.find(&kept.tree.run)?;
        let is_over = head.is_none_or(|head| head.phase.is_over()) && !is_used(store, &kept)?;
        let is_done = match is_over {
            true => kept.tree.is_done().map_err(|error| Failure::failed(error.to_string())),
            false => Ok(false),
        };
        let removed = is_done.and_then(|is_done| match is_done && !args.dry_run {
            true => kept.remove().map(|()| is_done),
            false => Ok(is_done),
        });
        match removed {
            Ok(is_done) => count += u64::from(is_done),
            Err(failure) => {
                output.talk(&format!("the worktree of {} stays\n", kept.tree.run));
                let _ = failure.tell(output);
            }
        }
    }
    Ok(count)
}

/// Returns true if a run that is not over works in a worktree: one that continues another run.
fn is_used(store: &Store, kept: &worktree::Kept) -> Result<bool, Failure> {
    let phases = vec![Phase::Active, Phase::Waiting, Phase::Paused];
    for head in store.journal.list(&Filter { phases, ..Filter::default() })? {
        if folder_of(store, &head)?.is_some_and(|folder| folder.starts_with(&kept.tree.path)) {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Removes the private homes of agents whose runs are over, and returns the number of those runs.
fn remove_agent_homes(store: &Store, args: &Gc) -> Result<u64, Failure> {
    let Some(homes) = interlock_agent::homes(&store.home, None) else { return Ok(0) };
    if !args.dry_run {
        interlock_agent::remove_left_logins(&homes).map_err(|error| Failure::failed(error.to_string()))?;
    }
    let phases = vec![Phase::Active, Phase::Waiting, Phase::Paused];
    let running = store.journal.list(&Filter { phases, ..Filter::default() })?;
    let running: BTreeSet<String> = running.iter().map(|head| head.name.to_string()).collect();
    interlock_agent::remove_homes(&homes, &running, args.dry_run)
        .map_err(|error| Failure::file("remove", &homes, &error))
}
