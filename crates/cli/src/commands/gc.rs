//! `interlock gc`: removes files that no run refers to, and snapshots of runs that ended long ago.

use std::{
    path::PathBuf,
    time::{Duration, SystemTime},
};

use interlock_chart::counted;
use interlock_journal::{Engine as _, Entry, Filter, Head, Phase};
use interlock_runtime::Workspace;
use serde_json::json;

use super::Outcome;
use crate::{Exit, args::Gc, failure::Failure, output::Output, store::Store};

/// The least age at which leftovers of workspaces are removed. Younger ones may belong to a call in progress.
const SWEPT_AFTER: Duration = Duration::from_secs(60 * 60);

/// Removes the unused files and reports how many there were.
pub(crate) fn run(args: &Gc, output: &Output) -> Outcome {
    let store = Store::open()?;
    let grace = Duration::from_secs(args.older_than.saturating_mul(60));
    let used = store.journal.evidence_in_use()?;
    let done = store.journal.evidence().collect(&used, SystemTime::now(), grace, args.dry_run)?;
    let snapshots = forget(&store, args, output)?;
    let swept = Workspace::new(&store.home).sweep(grace.max(SWEPT_AFTER), args.dry_run);
    let swept = swept.map_err(|error| Failure::failed(error.to_string()))?;
    if output.is_json() {
        let mut json = json!(done);
        json["snapshots"] = json!(snapshots);
        json["workspaces"] = json!(swept);
        output.json(&json)?;
        return Ok(Exit::Good);
    }
    let verb = if args.dry_run { "would be removed" } else { "removed" };
    if snapshots > 0 {
        output.data(&format!("{} {verb}\n", counted(snapshots, "snapshot", "snapshots")))?;
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
    let phases = vec![Phase::Succeeded, Phase::Failed, Phase::Aborted];
    let (workspace, mut count) = (Workspace::new(&store.home), 0);
    for head in store.journal.list(&Filter { phases, ..Filter::default() })? {
        let Some(folder) = folder(store, &head)?.filter(|folder| head.updated_ms <= before_ms && folder.is_dir())
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

/// Returns the directory that a run worked in.
fn folder(store: &Store, head: &Head) -> Result<Option<PathBuf>, Failure> {
    let first = store.journal.records(head.key, 1, 1)?;
    let Some(record) = first.first() else { return Ok(None) };
    match store.journal.entry(record)? {
        Entry::Created(created) => Ok(created.folder.map(PathBuf::from)),
        _ => Ok(None),
    }
}
