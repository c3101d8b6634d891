//! The files of attempts that a crash interrupted: their changes are undone, or a person is asked.
//!
//! `recover.rs` finds those attempts, and `interlock_workspace::Recovery` finds their changes.

use std::{path::Path, sync::Arc};

use interlock_activity::{Outcome, code};
use interlock_core::ActivityId;
use interlock_journal::{Engine, Entry, Left, RunKey};
use interlock_workspace::{Changes, Recovery, Workspace};

use crate::{
    Result,
    actor::Actor,
    dispatch::blocking,
    recover,
    snapshots::{Before, CHANGES, CutOff, Recovered, with_changes},
};

/// The most paths that a question or a message lists.
const NAMED_MAX: usize = 10;

/// The number of records that are read at once.
const RECORDS_AT_ONCE: usize = 512;

/// Undoes the writes of interrupted attempts, unless a person must be asked first.
pub(crate) fn recover(workspace: &Workspace, cut_off: &CutOff) -> std::result::Result<Recovered, String> {
    let before: Vec<&str> = cut_off.before.iter().map(String::as_str).collect();
    let others: Vec<&Changes> = cut_off.others.iter().collect();
    let plan = workspace.plan_recovery(&cut_off.folder, &cut_off.run, &before, &others);
    let recovery = plan.map_err(|error| error.to_string())?;
    if recovery.is_question() {
        let changes = serde_json::to_vec(&recovery.changes).map_err(|error| error.to_string())?;
        return Ok(Recovered::Question { why: question(&cut_off.run, &recovery), changes });
    }
    if recovery.undo.files.is_empty() {
        return Ok(Recovered::PutBack { said: "no change can be attributed to it alone".to_owned() });
    }
    workspace.carry_out(&recovery.undo).map_err(|error| error.to_string())?;
    let (removed, put_back): (Vec<_>, Vec<_>) =
        recovery.undo.files.iter().map(|change| (change.after.is_none(), change.path.as_path())).partition(|it| it.0);
    let said = format!(
        "{} restored{}, {} removed{}; the previous files are {}",
        put_back.len(),
        named(&put_back),
        removed.len(),
        named(&removed),
        kept(&cut_off.run, &recovery)
    );
    Ok(Recovered::PutBack { said })
}

/// Returns the first of some paths in brackets; nothing if there is none.
fn named(paths: &[(bool, &Path)]) -> String {
    let mut names: Vec<String> = paths.iter().take(NAMED_MAX).map(|(_, path)| path.display().to_string()).collect();
    match paths.len() {
        0 => return String::new(),
        all if all > NAMED_MAX => names.push(format!("{} more", all - NAMED_MAX)),
        _ => {}
    }
    format!(" ({})", names.join(", "))
}

/// Names the snapshot of the files as they were found, and the command that copies it.
fn kept(run: &str, recovery: &Recovery) -> String {
    let number = recovery.kept.rsplit('/').next().unwrap_or_default();
    format!("stored as snapshot {number} (`interlock snapshots {run} {number} --into DIR` copies them)")
}

fn question(run: &str, recovery: &Recovery) -> String {
    let conflicts = &recovery.undo.conflicts;
    let named = conflicts.iter().take(NAMED_MAX).map(|it| format!("{} ({})", it.path.display(), it.why));
    let mut named: Vec<String> = named.collect();
    if conflicts.len() > NAMED_MAX {
        named.push(format!("{} more", conflicts.len() - NAMED_MAX));
    }
    format!(
        "it was interrupted, and a person must decide about {}. No file was changed; the current files are {}",
        named.join(", "),
        kept(run, recovery)
    )
}

/// Returns the recorded changes of a run's finished attempts, oldest first.
fn recorded(engine: &dyn Engine, run: RunKey) -> Result<Vec<Changes>> {
    let (mut found, mut from) = (Vec::new(), 1);
    loop {
        let records = engine.records(run, from, RECORDS_AT_ONCE)?;
        let Some(last) = records.last() else { return Ok(found) };
        from = last.seq + 1;
        for record in &records {
            let Entry::Outcome { evidence, .. } = record.entry(engine.evidence())? else { continue };
            let Some(changes) = evidence.iter().find(|evidence| evidence.name == CHANGES) else { continue };
            // Evidence that only gives the reason why the changes are unknown lists no path.
            found.extend(serde_json::from_slice(&engine.evidence().get(&changes.hash)?).ok());
        }
    }
}

impl Actor {
    /// Records the attempts that were stopping when their process ended: what they have written becomes a write of the
    /// run, so that it can be undone.
    pub(crate) async fn record_stopped(&mut self) -> Result<()> {
        for (activity, stopping) in self.live.stopping.clone() {
            let (folder, run) = (self.live.folder.clone(), Arc::clone(&self.live.name));
            let before = Before { folder, run, snapshot: stopping.snapshot };
            let stopped =
                Outcome::cancelled("its state was left, and its process ended before its outcome was recorded");
            let stopped = with_changes(Arc::downgrade(&self.shared), before, stopped).await;
            self.ended(activity, stopping.number, stopped, self.shared.clock.now_ms()).await?;
        }
        Ok(())
    }

    /// Undoes the writes of interrupted activities. If that fails, the machine receives the error: the state of the
    /// files is then unknown.
    pub(crate) async fn recover_files(&mut self, cut_off: Vec<(ActivityId, String)>) -> Result<()> {
        if cut_off.is_empty() {
            return Ok(());
        }
        let (folder, run, key) = (self.live.folder.clone(), Arc::clone(&self.live.name), self.live.key);
        let before = cut_off.iter().map(|(_, snapshot)| snapshot.clone()).collect();
        let recovered = blocking(&self.shared, move |shared| {
            let others = recorded(&*shared.engine, key).map_err(|error| error.to_string())?;
            shared.snapshots.recover(&CutOff { folder, run, before, others })
        });
        let (code, message) = match recovered.await {
            Ok(Recovered::Question { why, changes }) => return self.ask_about_files(cut_off, &why, &changes).await,
            Ok(Recovered::PutBack { said }) => {
                (code::INTERRUPTED, format!("it was interrupted, and its changes were undone: {said}"))
            }
            Err(why) => {
                (code::UNKNOWN_OUTCOME, format!("it was interrupted, and its changes could not be undone: {why}"))
            }
        };
        let message = self.shared.redactor.text(&message).into_owned();
        for (id, _) in cut_off {
            let entry = recover::cut_off(&self.live, id, code, &message);
            self.happen(entry).await?;
        }
        Ok(())
    }

    /// Leaves the activities to a person. Their possible changes become a write of the record, so that `undo` can undo
    /// them.
    async fn ask_about_files(&mut self, cut_off: Vec<(ActivityId, String)>, why: &str, changes: &[u8]) -> Result<()> {
        let evidence = self.shared.engine.evidence().put(CHANGES, "application/json", changes)?;
        // Fire due timers before the record's number is computed: they become records too.
        let at_ms = self.now_ms();
        self.fire_due(at_ms).await?;
        let (run, seq) = (Arc::clone(&self.live.name), self.live.seq + 1);
        let why = format!(
            "{why}. `interlock undo {run} --write {seq}` puts files back to what they were before the attempt; \
             `--path FILE` chooses, and files that it is not told about stay. Then send an outcome to go on"
        );
        let why = self.shared.redactor.text(&why).into_owned();
        let mut evidence = vec![evidence];
        for (activity, _) in cut_off {
            let number = self.live.activities.get(&activity).map_or(0, |begun| begun.number);
            let left = Left { activity, number, why: why.clone(), evidence: std::mem::take(&mut evidence) };
            self.record(Entry::Left(left), at_ms, None).await?;
        }
        Ok(())
    }
}
