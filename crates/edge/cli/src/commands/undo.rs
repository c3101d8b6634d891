//! `interlock undo`: undoes the writes of a run.

use std::{collections::BTreeSet, path::PathBuf};

use interlock_activity::Writes;
use interlock_core::ActivityId;
use interlock_firmware::learned;
use interlock_journal::{Engine as _, Entry, Head, Undone};
use interlock_knowledge::Knowledge;
use interlock_runtime::{TakeBackOrder, Undid};
use serde_json::{Value as Json, json};

use super::Outcome;
use crate::{
    Exit,
    applied::Ways,
    args::Undo,
    drive::{block_on, let_go},
    escape,
    failure::Failure,
    output::Output,
    store::{Store, user},
};

/// The code of a path that is not undone because it was changed after the run wrote it.
const CONFLICT: &str = "E_CONFLICT";

/// The code of a path that cannot be undone because its content was not kept.
const NOT_KEPT: &str = "E_NOT_KEPT";

/// Undoes writes, or reports the changes that an undo would make.
pub(crate) fn run(args: &Undo, output: &Output) -> Outcome {
    let store = Store::open()?;
    let head = store.find(&args.run)?;
    let order = order(args)?;
    let is_whole = order.writes == Writes::Run && order.paths.is_empty();
    let mut ways = Ways::of(&store, &head.name)?;
    let stays = match is_whole && !ways.is_empty() {
        true => ways.check().err(),
        false => None,
    };
    if let Some(why) = stays.as_ref().filter(|_| !args.skip_conflicts && !args.dry_run) {
        let failure = format!(
            "{CONFLICT}: the result was applied and cannot be taken out of the checkout: {why}; nothing was undone"
        );
        return Err(Failure::failed(failure).hint("`--skip-conflicts` undoes the run and leaves the checkout as it is"));
    }
    let undid = block_on(async {
        let runtime = store.runtime()?;
        let undid = runtime.undo(&head, order, user()).await?;
        if store.journal.holder(head.key)?.is_none_or(|holder| holder.worker == store.journal.worker()) {
            let_go(&runtime, &head).await?;
        }
        Ok(undid)
    })?;
    let is_refused = undid.has_conflicts() && !args.skip_conflicts;
    let unmarked = if undid.seq.is_some() { remember(&store, &head)? } else { None };
    if let Some(error) = unmarked {
        output.talk(&format!(
            "{} the knowledge base entries of {} could not be marked as undone: {error}\n",
            output.yellow("warning:"),
            head.name
        ));
    }
    match output.is_json() {
        true => output.json(&as_json(args, &head, &undid, is_refused))?,
        false => tell(args, &head, &undid, is_refused, output)?,
    }
    if is_refused && !args.dry_run {
        return Err(refused(&undid));
    }
    take_out(args, &mut ways, is_whole, stays, output)?;
    match undid.unknown.len() {
        writes if writes > 0 && undid.is_empty() && !args.dry_run => {
            Err(Failure::failed(format!("{NOT_KEPT}: {writes} of the run's changes are not known; nothing was undone"))
                .hint("`interlock snapshots` lists the snapshots of the run and copies one; restore the files by hand"))
        }
        _ => Ok(Exit::Good),
    }
}

/// Takes an applied result out of the checkout too, and says what happens to it.
fn take_out(
    args: &Undo,
    ways: &mut Ways,
    is_whole: bool,
    stays: Option<String>,
    output: &Output,
) -> Result<(), Failure> {
    if ways.is_empty() {
        return Ok(());
    }
    if let Some(why) = stays {
        output.talk(&format!("{} the applied result stays in the checkout: {why}\n", output.yellow(CONFLICT)));
    } else if !is_whole {
        output.talk(
            "The result that was applied stays in the checkout. `interlock undo` of the whole run takes it out\n",
        );
    } else if args.dry_run {
        output.talk("The applied result would be taken out of the checkout\n");
    } else {
        for checkout in ways.go_back()? {
            output.talk(&format!("The applied result was taken out of {}\n", checkout.display()));
        }
    }
    Ok(())
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

/// Parses the id of an activity: `a3` or `3`.
fn activity(id: &str) -> Result<ActivityId, Failure> {
    let number = id.strip_prefix('a').unwrap_or(id).parse();
    number.map(ActivityId).map_err(|_| {
        Failure::bad_input(format!("`{id}` is not the id of an activity")).hint("ids are a1, a2 and so on")
    })
}

fn refused(undid: &Undid) -> Failure {
    let changed = undid.conflicts.len() + undid.commits.iter().filter(|commit| !commit.is_ours).count();
    let partial = undid.not_kept.len() + undid.unknown.len();
    let hint = "`--skip-conflicts` undoes the rest and skips those paths";
    match (changed, partial) {
        (_, 0) => Failure::failed(format!("{CONFLICT}: {changed} paths have changed since; nothing was undone")),
        (0, _) => Failure::failed(format!("{NOT_KEPT}: {partial} of the run's changes were not stored or are not known; nothing was undone")),
        _ => Failure::failed(format!(
            "{CONFLICT}: {changed} paths have changed since, and {partial} changes were not stored or are not known; nothing was undone"
        )),
    }
    .hint(hint)
}

fn as_json(args: &Undo, head: &Head, undid: &Undid, is_refused: bool) -> Json {
    let mut json = json!({ "run": head.name, "done": undid.seq.is_some(), "dry_run": args.dry_run });
    if is_refused {
        let changed = !undid.conflicts.is_empty() || undid.commits.iter().any(|commit| !commit.is_ours);
        json["code"] = json!(if changed { CONFLICT } else { NOT_KEPT });
    }
    if let (Json::Object(json), Json::Object(fields)) = (&mut json, json!(undid)) {
        json.extend(fields);
    }
    json
}

fn tell(args: &Undo, head: &Head, undid: &Undid, is_refused: bool, output: &Output) -> Result<(), Failure> {
    for conflict in &undid.conflicts {
        output.talk(&format!("{} {}: {}\n", output.yellow(CONFLICT), escape::path(&conflict.path), conflict.why));
        conflict.view.lines().for_each(|line| output.talk(&format!("    {line}\n")));
    }
    for commit in undid.commits.iter().filter(|commit| !commit.is_ours) {
        let Some(name) = commit.moved.reference.strip_prefix("refs/heads/").or(Some(&commit.moved.reference)) else {
            continue;
        };
        output.talk(&format!("{} {name}: it no longer points to the run's commit\n", output.yellow(CONFLICT)));
    }
    for path in &undid.not_kept {
        let (code, why) = (output.yellow(NOT_KEPT), path.why.words());
        output.talk(&format!("{code} {}: the run changed it, but {why}\n", escape::path(&path.path)));
    }
    for (seq, why) in &undid.unknown {
        output.talk(&format!("{} the changes of record {seq} are not known: {why}\n", output.yellow(NOT_KEPT)));
    }
    for (seq, before) in &undid.before_unknown {
        let number = before.rsplit('/').next().unwrap_or(before);
        output.talk(&format!(
            "the files before record {seq} are kept: `interlock snapshots {} {number} --into DIR` copies them\n",
            head.name
        ));
    }
    if !is_refused || args.dry_run {
        output.data(&put_back(args, undid))?;
    }
    if is_refused && args.dry_run {
        output.talk("only with `--skip-conflicts`; without it nothing would be undone\n");
    }
    match (&undid.snapshot, undid.seq) {
        (Some(snapshot), Some(seq)) => {
            output.talk(&format!("recorded as {seq}; the previous files are stored as {snapshot}\n"));
            output.talk(&format!("to undo this: interlock undo {} --write {seq}\n", head.name));
        }
        // An error follows: what is not known may be anything.
        _ if undid.is_empty() && !undid.unknown.is_empty() => {}
        _ if undid.is_empty() && undid.is_partial() => output.talk("Nothing else to undo\n"),
        _ if undid.is_empty() && !is_refused => {
            output.talk("Nothing to undo. Changes of ignored files are not recorded\n");
        }
        _ => {}
    }
    Ok(())
}

fn put_back(args: &Undo, undid: &Undid) -> String {
    let would = if args.dry_run { "would be " } else { "" };
    let file = |change: &interlock_runtime::Change| {
        let what = match (&change.before, &change.after) {
            (None, Some(_)) => "recreated",
            (Some(_), None) => "removed",
            _ => "restored",
        };
        format!("{would}{what}  {}\n", escape::path(&change.path))
    };
    let commits = undid.commits.iter().filter(|commit| commit.is_ours);
    let commit = |moved: &interlock_runtime::Moved| match &moved.before {
        Some(before) if moved.is_deleted() => format!("{would}recreated  {} at {before}\n", moved.reference),
        Some(before) => format!("{would}moved  {} to {before}\n", moved.reference),
        None => format!("{would}removed  {}, which was not there before\n", moved.reference),
    };
    undid.files.iter().map(file).chain(commits.map(|back| commit(&back.moved))).collect()
}

/// Marks the knowledge entries of the run with the presence of its fix. Returns the reason if that fails; the undo itself
/// still stands.
pub(crate) fn remember(store: &Store, head: &Head) -> Result<Option<String>, Failure> {
    if !store.home.join(interlock_knowledge::FILE).exists() {
        return Ok(None);
    }
    let is_back = standing(&of_run(store, head)?).is_some();
    let marked = Knowledge::open(&store.home).and_then(|base| learned::mark(&base, &head.name, is_back));
    Ok(marked.err().map(|error| error.to_string()))
}

/// Returns the undo of files that is currently in effect. An undo that failed or that was undone itself does not count.
pub(crate) fn standing(undone: &[(u64, Undone)]) -> Option<&(u64, Undone)> {
    // An undo that only moved a branch back did not change the sources.
    latest(undone, |undone| undone.put_back > 0)
}

/// Returns the undo that is currently in effect, also one that only moved branches and tags back.
pub(crate) fn in_effect(undone: &[(u64, Undone)]) -> Option<&(u64, Undone)> {
    latest(undone, |_| true)
}

/// Returns the latest undo in effect among those that count.
fn latest(undone: &[(u64, Undone)], counts: impl Fn(&Undone) -> bool) -> Option<&(u64, Undone)> {
    let is_undo = |seq: &u64| undone.iter().any(|(known, _)| known == seq);
    let (mut taken_back, mut has_failed) = (BTreeSet::new(), false);
    for each in undone.iter().rev() {
        let (seq, undone) = each;
        // The record of the failure follows directly after the undo.
        let is_void = std::mem::replace(&mut has_failed, undone.failed.is_some());
        if is_void || undone.failed.is_some() || taken_back.contains(seq) {
            continue;
        }
        if counts(undone) && !undone.writes.iter().all(is_undo) {
            return Some(each);
        }
        taken_back.extend(undone.writes.iter().copied());
    }
    None
}

/// Returns the undos of a run, with the numbers of their records.
pub(crate) fn of_run(store: &Store, head: &Head) -> Result<Vec<(u64, Undone)>, Failure> {
    let mut found = Vec::new();
    for record in store.journal.records_with_evidence(head.key)? {
        if let Entry::Undone(undone) = store.journal.entry(&record)? {
            found.push((record.seq, undone));
        }
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use interlock_journal::{By, Undone};

    use super::{in_effect, standing};

    fn undone(writes: &[u64], failed: Option<&str>) -> Undone {
        let (by, failed) = (By::user("ada"), failed.map(str::to_owned));
        Undone { by, writes: writes.to_vec(), put_back: 1, left: 0, snapshot: None, failed, evidence: Vec::new() }
    }

    #[test]
    fn an_undo_stands_until_it_is_taken_back_itself_and_one_that_failed_never_did() {
        let first = (8, undone(&[5], None));
        let back = (9, undone(&[8], None));
        let again = (10, undone(&[9, 8, 5], None));
        let found = |undone: &[(u64, Undone)]| standing(undone).map(|(seq, _)| *seq);
        assert_eq!(found(&[]), None);
        let of_a_branch = [(8, Undone { put_back: 0, ..undone(&[6], None) })];
        assert_eq!((found(&of_a_branch), in_effect(&of_a_branch).is_some()), (None, true));
        assert_eq!(found(std::slice::from_ref(&first)), Some(8));
        assert_eq!(found(&[first.clone(), back.clone()]), None);
        assert_eq!(found(&[first.clone(), back, again]), Some(10));
        assert_eq!(found(&[first.clone(), (9, undone(&[5], Some("the disk is full")))]), None);
        assert_eq!(found(&[first.clone(), (9, undone(&[8], None)), (10, undone(&[8], Some("no")))]), Some(8));
    }
}
