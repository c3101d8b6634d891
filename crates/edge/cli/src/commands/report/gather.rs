//! Reads all data of a report: records, files, writes, visited states, and the story of an activity.

use std::path::{Path, PathBuf};

use interlock_activity::report::{RecordedMove, RecordedRun, Reverted, RunRecord, Story};
use interlock_journal::{Engine as _, Entry, Evidence, EvidenceStore, Filter, Head};
use interlock_judge::JudgementSummary;
use interlock_runtime::{History, Move, Workspace};

use super::{super::undo, Report, changes::Changes, commands, failing};
use crate::{
    failure::Failure,
    follow::{Difference, Follower, Spent, Step, Tally, descendants, state_json},
    store::{Store, registry},
    worktree,
};

/// The size of the largest file that a report embeds.
const EMBEDDED_BYTES_MAX: u64 = 64 * 1_024;

/// The total size of the files that one report embeds.
const EMBEDDED_TOTAL_MAX: u64 = 4 * 1_024 * 1_024;

/// A file that a record refers to.
pub(super) struct File {
    pub(super) seq: u64,
    pub(super) evidence: Evidence,
    /// The content, if it is text and short enough to be embedded.
    pub(super) text: Option<String>,
}

/// Reads a run and gathers the data of its report.
pub(super) fn report(store: &Store, head: Head) -> Result<Report, Failure> {
    let mut follower = Follower::from_start(store, head.clone())?;
    let steps = follower.catch_up()?;
    let last_hash = steps.last().map(|step| step.record.hash.to_string()).unwrap_or_default();
    let visits = follower.visits(&steps);
    let moves: Vec<Move> = steps.iter().flat_map(|step| step.moves.clone()).collect();
    let reason = crate::follow::reason(&steps);
    let history = History::of(&*store.engine(), &head)?;
    let run = run(store, &head, &follower, steps);
    let commands = commands::of(&run);
    let named = store.journal.list(&Filter { prefix: Some(format!("{}.", head.name)), ..Filter::default() })?;
    let mut children = Spent::default();
    for child in descendants(&head.name, &named) {
        children.add(Tally::of(&*store.engine(), child)?.spent());
    }
    let difference = Difference::of(&*store.engine(), &Workspace::new(&store.home), &head)?;
    Ok(Report {
        changes: Changes::of(&history, &difference, &run),
        difference,
        reason,
        place: place(store, &head, &run.folder),
        tally: Tally::of(&*store.engine(), &head)?,
        children,
        failing: failing::of(&run, &commands),
        files: files(&run),
        story: story(&follower, &run),
        judged: JudgementSummary::of(&run),
        last_hash,
        commands,
        visits,
        moves,
        run,
        head,
        follower,
    })
}

fn run(store: &Store, head: &Head, follower: &Follower, steps: Vec<Step>) -> RecordedRun {
    let state = state_json(&follower.live, follower.now_ms());
    let reverted = reverted(&steps);
    RecordedRun {
        name: head.name.clone(),
        machine: head.machine.clone(),
        folder: follower.live.folder.clone(),
        phase: follower.phase(),
        created_ms: head.created_ms,
        input: state["input"].clone(),
        context: state["context"].clone(),
        records: steps.into_iter().map(|step| record(step, store.journal.evidence())).collect(),
        reverted,
        evidence: store.journal.evidence().clone(),
    }
}

fn record(step: Step, evidence: &EvidenceStore) -> RunRecord {
    let mut record = RunRecord {
        seq: step.record.seq,
        at_ms: step.record.at_ms,
        entry: step.entry,
        activity: step.activity,
        moves: step.moves.into_iter().map(recorded).collect(),
        is_busy: step.is_busy,
        account: None,
    };
    if matches!(record.entry, Entry::Outcome { .. }) {
        record.account = registry().account(&record, evidence);
    }
    record
}

fn recorded(step: Move) -> RecordedMove {
    RecordedMove {
        from_state: step.from_state,
        to_state: step.to_state,
        event: step.event,
        reason: step.reason,
        by: step.by,
        evidence_refs: step.evidence_refs,
        iteration_index: step.iteration_index,
    }
}

/// Returns the directory in which a run can be repeated. A worktree belongs to one run, so the checkout counts.
fn place(store: &Store, head: &Head, folder: &Path) -> Option<PathBuf> {
    let kept = worktree::find(store, &head.name).ok().flatten().map(|kept| kept.tree.checkout);
    let own = kept.unwrap_or_else(|| folder.to_owned());
    if own.is_dir() { Some(own) } else { Workspace::new(&store.home).checkout(folder) }
}

/// Returns the undo that is currently in effect.
fn reverted(steps: &[Step]) -> Option<Reverted> {
    let undone = steps.iter().filter_map(|step| match &step.entry {
        Entry::Undone(undone) => Some((step.record.seq, undone.clone())),
        _ => None,
    });
    let undone: Vec<_> = undone.collect();
    let (seq, undone) = undo::standing(&undone)?;
    let record = &steps.iter().find(|step| step.record.seq == *seq)?.record;
    Some(Reverted { at_ms: record.at_ms, by: undone.by.name.clone(), left: undone.left })
}

/// Returns the story of the first activity of the machine that has one.
fn story(follower: &Follower, run: &RecordedRun) -> Option<Story> {
    let invokes = follower.live.loaded.chart().invokes.iter();
    let mut activities = invokes.filter_map(|invoke| registry().get(&invoke.activity));
    activities.find_map(|activity| activity.story(run))
}

/// Returns every file of the run, with the text of those that are short enough.
fn files(run: &RecordedRun) -> Vec<File> {
    let mut total = 0;
    let file = |(seq, evidence): (u64, &Evidence)| {
        let fits = evidence.bytes <= EMBEDDED_BYTES_MAX && total + evidence.bytes <= EMBEDDED_TOTAL_MAX;
        let text = if fits { run.text(evidence) } else { None };
        total += text.as_ref().map_or(0, |text| text.len() as u64);
        File { seq, evidence: evidence.clone(), text }
    };
    run.files().map(file).collect()
}
