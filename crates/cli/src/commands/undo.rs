//! `interlock undo`: takes back what a run wrote.

use std::path::PathBuf;

use interlock_activity::Writes;
use interlock_core::ActivityId;
use interlock_journal::{Engine as _, Entry, Head, Undone};
use interlock_runtime::{TakeBackOrder, Undid};
use serde_json::{Value as Json, json};

use super::Outcome;
use crate::{
    Exit,
    args::Undo,
    drive::{block_on, let_go},
    failure::Failure,
    output::Output,
    store::{Store, user},
};

/// The code of what is left alone because somebody else has changed it.
const CONFLICT: &str = "E_CONFLICT";

/// Takes writes back, or says what would be done.
pub(crate) fn run(args: &Undo, output: &Output) -> Outcome {
    let store = Store::open()?;
    let head = store.find(&args.run)?;
    let order = order(args)?;
    let undid = block_on(async {
        let runtime = store.runtime()?;
        let undid = runtime.undo(&head, order, user()).await?;
        if store.journal.holder(head.key)?.is_none_or(|pid| pid == std::process::id()) {
            let_go(&runtime, &head).await?;
        }
        Ok(undid)
    })?;
    let is_refused = undid.has_conflicts() && !args.skip_conflicts;
    match output.is_json() {
        true => output.json(&as_json(args, &head, &undid, is_refused))?,
        false => tell(args, &head, &undid, is_refused, output)?,
    }
    match is_refused && !args.dry_run {
        true => Err(refused(&undid)),
        false => Ok(Exit::Good),
    }
}

fn order(args: &Undo) -> Result<TakeBackOrder, Failure> {
    let writes = match args {
        Undo { to: Some(seq), .. } => Writes::After(*seq),
        Undo { write: Some(seq), .. } => Writes::Record(*seq),
        Undo { activity: Some(id), .. } => Writes::Activity(activity(id)?),
        Undo { state: Some(name), .. } => Writes::State(name.clone()),
        _ => Writes::Run,
    };
    let clean = |path: &PathBuf| path.strip_prefix(".").map_or_else(|_| path.clone(), PathBuf::from);
    let paths = args.path.iter().map(clean).filter(|path| !path.as_os_str().is_empty()).collect();
    Ok(TakeBackOrder { writes, paths, is_dry: args.dry_run, skip_conflicts: args.skip_conflicts })
}

/// `a3` or `3`.
fn activity(id: &str) -> Result<ActivityId, Failure> {
    let number = id.strip_prefix('a').unwrap_or(id).parse();
    number.map(ActivityId).map_err(|_| {
        Failure::bad_input(format!("`{id}` is no start of an activity")).hint("they are called a1, a2 and so on")
    })
}

fn refused(undid: &Undid) -> Failure {
    let count = undid.conflicts.len() + undid.commits.iter().filter(|commit| !commit.is_ours).count();
    Failure::failed(format!("{CONFLICT}: {count} of them were changed by somebody else since; nothing was taken back"))
        .hint("`--skip-conflicts` takes back the rest and leaves those alone")
}

fn as_json(args: &Undo, head: &Head, undid: &Undid, is_refused: bool) -> Json {
    let mut json = json!({ "run": head.name, "done": undid.seq.is_some(), "dry_run": args.dry_run });
    if is_refused {
        json["code"] = json!(CONFLICT);
    }
    if let (Json::Object(json), Json::Object(fields)) = (&mut json, json!(undid)) {
        json.extend(fields);
    }
    json
}

fn tell(args: &Undo, head: &Head, undid: &Undid, is_refused: bool, output: &Output) -> Result<(), Failure> {
    for conflict in &undid.conflicts {
        output.talk(&format!("{} {}: {}\n", output.yellow(CONFLICT), conflict.path.display(), conflict.why));
        conflict.view.lines().for_each(|line| output.talk(&format!("    {line}\n")));
    }
    for commit in undid.commits.iter().filter(|commit| !commit.is_ours) {
        let Some(name) = commit.moved.reference.strip_prefix("refs/heads/").or(Some(&commit.moved.reference)) else {
            continue;
        };
        output.talk(&format!("{} {name}: it is not at our commit any more\n", output.yellow(CONFLICT)));
    }
    for (seq, why) in &undid.unknown {
        output.talk(&format!("what record {seq} changed is not known: {why}\n"));
    }
    if !is_refused || args.dry_run {
        output.data(&put_back(args, undid))?;
    }
    match (&undid.snapshot, undid.seq) {
        (Some(snapshot), Some(seq)) => {
            output.talk(&format!("recorded as {seq}; what was there is kept as {snapshot}\n"));
            output.talk(&format!("to take this back: interlock undo {} --write {seq}\n", head.name));
        }
        _ if undid.is_empty() && !is_refused => output.talk("there is nothing to take back\n"),
        _ => {}
    }
    Ok(())
}

fn put_back(args: &Undo, undid: &Undid) -> String {
    let would = if args.dry_run { "would be " } else { "" };
    let file = |change: &interlock_runtime::Change| {
        let what = match (&change.before, &change.after) {
            (None, Some(_)) => "made again",
            (Some(_), None) => "removed",
            _ => "put back",
        };
        format!("{would}{what}  {}\n", change.path.display())
    };
    let commits = undid.commits.iter().filter(|commit| commit.is_ours);
    let commit = |moved: &interlock_runtime::Moved| {
        let to = moved.before.as_deref().unwrap_or("nothing");
        format!("{would}moved  {} to {to}\n", moved.reference)
    };
    undid.files.iter().map(file).chain(commits.map(|back| commit(&back.moved))).collect()
}

/// The undos of a run, with their records.
pub(crate) fn of_run(store: &Store, head: &Head) -> Result<Vec<(u64, Undone)>, Failure> {
    let mut found = Vec::new();
    for record in store.journal.records_with_evidence(head.key)? {
        if let Entry::Undone(undone) = store.journal.entry(&record)? {
            found.push((record.seq, undone));
        }
    }
    Ok(found)
}
