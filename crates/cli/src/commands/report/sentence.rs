//! The first sentence of a report: the outcome of the run and its reason, the failures, the changes and their presence
//! in the directory, and the certainty of the result.

use interlock_activity::report::reading::text;
use interlock_chart::counted;
use interlock_journal::Phase;
use interlock_runtime::Move;
use serde_json::Value as Json;

use crate::follow::reason_of;

use super::{Report, changes::ChangedPath, commands::Executed, failing::Failing, shown};

/// The most files that the sentence names.
const NAMED_MAX: usize = 3;

/// The most fields of the input that the sentence names if the input has no goal.
const FIELDS_MAX: usize = 3;

/// The length to which text from the run's data is shortened.
const QUOTED_CHARS_MAX: usize = 160;

/// Returns the sentence of a report: that of an activity's story, or else one made from the run's facts.
pub(super) fn of(report: &Report) -> String {
    let told = report.story.as_ref().map(|story| story.sentence.trim()).filter(|told| !told.is_empty());
    if let Some(told) = told {
        let opening: Vec<String> = [Some(outcome(report)), refused(report)].into_iter().flatten().collect();
        return shown::without_hashes(&format!("{}. {told}", opening.join("; ")));
    }
    let remark = report.story.as_ref().map(|story| story.remark.clone()).filter(|remark| !remark.is_empty());
    let parts = [
        Some(outcome(report)),
        refused(report),
        remark,
        failure(report),
        changed(report),
        Some(certainty(report)),
        unproved(report),
    ];
    let parts: Vec<String> = parts.into_iter().flatten().collect();
    shown::without_hashes(&format!("{}.", parts.join("; ").trim_end_matches('.')))
}

/// Describes the outcome: `tea for "oolong" succeeded in drunk: the reason`.
fn outcome(report: &Report) -> String {
    let place = report.follower.live.place();
    let how = match report.run.phase {
        Phase::Active => format!("is in progress in {place}"),
        Phase::Waiting => format!("waits in {place}"),
        Phase::Paused => format!("is paused in {place}"),
        Phase::Succeeded => format!("succeeded in {place}"),
        Phase::Incomplete => format!("ended incomplete in {place}"),
        Phase::Failed => format!("failed in {place}"),
        Phase::Aborted => format!("was aborted in {place}"),
    };
    let reason = reason(report).map(|reason| quoted(&reason)).filter(|reason| !reason.is_empty());
    let goal = goal(&report.run.input).map(|goal| format!(" ({goal})")).unwrap_or_default();
    format!("{}{goal} {how}{}", report.run.machine, reason.map(|reason| format!(": {reason}")).unwrap_or_default())
}

/// Returns the reason of the last transition that was taken.
pub(super) fn reason(report: &Report) -> Option<String> {
    let last = report.moves.iter().rev().find(|step| step.taken)?.seq;
    let moves: Vec<Move> = report.moves.iter().filter(|step| step.seq == last).cloned().collect();
    reason_of(&moves)
}

/// Describes the last refusal, if the run has ended because of it: its record led to the end, or to the question whose
/// answer did.
fn refused(report: &Report) -> Option<String> {
    let (seq, refused) = report.tally.refused.last()?;
    let is_stopped = matches!(report.run.phase, Phase::Aborted | Phase::Failed | Phase::Incomplete | Phase::Waiting);
    is_stopped.then(|| format!("{} in record {seq}", quoted(&refused.words())))
}

/// Returns the goal of the run's input, or else the first fields of that input.
fn goal(input: &Json) -> Option<String> {
    if let Some(goal) = ["goal", "task", "request", "problem"].iter().find_map(|name| input[*name].as_str()) {
        return Some(format!("\"{}\"", quoted(goal)));
    }
    let fields = input.as_object()?.iter().filter(|(_, value)| !value.is_object() && !value.is_null());
    let fields: Vec<String> =
        fields.take(FIELDS_MAX).map(|(name, value)| format!("{name} {}", quoted(&text(value)))).collect();
    (!fields.is_empty()).then(|| fields.join(", "))
}

/// Describes the last failure that was not repaired, or else the last one that was.
fn failure(report: &Report) -> Option<String> {
    // A refusal is told already.
    let is_refusal = |one: &&Failing| report.tally.refused.iter().any(|(seq, _)| *seq == one.seq);
    let all: Vec<&Failing> = report.failing.iter().filter(|one| !is_refusal(one)).collect();
    let one = all.iter().rev().find(|one| one.passed_in.is_none()).or(all.last())?;
    let first = all.iter().find(|other| other.seq == one.seq).unwrap_or(one);
    let place = if first.place.is_empty() { String::new() } else { format!(" at {}", first.place) };
    let more = all.iter().filter(|other| other.seq == one.seq).count() - 1;
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    let later = first.passed_in.map(|seq| format!(", but passed in record {seq}")).unwrap_or_default();
    Some(format!("{} failed in {}: {}{place}{more}{later}", first.what, first.state, quoted(&first.message)))
}

/// Describes the changed files, and separates the changes that are in the directory from those that were undone.
fn changed(report: &Report) -> Option<String> {
    let changes = &report.changes;
    if !changes.unknown.is_empty() && changes.paths.is_empty() {
        return Some(format!("the changes are not known: {}", quoted(&changes.unknown.join(", "))));
    }
    let (kept, back): (Vec<&ChangedPath>, Vec<&ChangedPath>) = changes.paths.iter().partition(|path| path.is_in_tree);
    let when = report.run.reverted.as_ref().map(|undo| format!(" {}", undo.when())).unwrap_or_default();
    Some(match (kept.as_slice(), back.as_slice()) {
        ([], []) => unrecorded(report),
        (kept, []) => format!(
            "{} {} in the directory",
            named(kept),
            if kept.len() == 1 { "was changed and is" } else { "were changed and are" }
        ),
        ([], back) => format!(
            "{} {} undone{when}",
            named(back),
            if back.len() == 1 { "was changed and" } else { "were changed and" }
        ),
        (kept, back) => format!("{} changed and in the directory, {} undone{when}", named(kept), named(back)),
    })
}

/// Describes changes without a recorded write: a person who reported the result of an activity may have changed files.
fn unrecorded(report: &Report) -> String {
    let mut trees = report.commands.iter().filter_map(|one| one.command.tree.as_deref());
    let (first, last) = (trees.next(), trees.next_back());
    match last.is_some_and(|last| Some(last) != first) {
        true => "files in the directory changed during the run, but no activity of the run changed them".to_owned(),
        false => "the run changed no files".to_owned(),
    }
}

fn named(paths: &[&ChangedPath]) -> String {
    let names: Vec<&str> = paths.iter().take(NAMED_MAX).map(|one| one.path.as_str()).collect();
    match paths.len() - names.len() {
        0 => names.join(", "),
        more => format!("{} and {}", names.join(", "), counted(more, "more file", "more files")),
    }
}

/// Describes the support for the result: commands that passed after the last change, or a person, or nothing. Only the
/// commands count whose activity says that they verify the result, and only the last record of them.
fn certainty(report: &Report) -> String {
    let verifying = || report.commands.iter().filter(|one| one.command.verifies);
    let last = verifying().map(|one| one.seq).max();
    let latest: Vec<&Executed> = verifying().filter(|one| Some(one.seq) == last).collect();
    let doubt =
        report.run.records.iter().rev().find_map(|record| Some((record.seq, record.account.as_ref()?.doubt.clone()?)));
    if let Some((seq, doubt)) = doubt.filter(|(seq, _)| last.is_none_or(|last| *seq >= last)) {
        return format!("not verified: {} (record {seq})", quoted(&doubt));
    }
    if let Some(seq) = last.filter(|_| latest.iter().all(|one| one.command.has_passed)) {
        let names: Vec<String> = latest.iter().map(|one| format!("`{}`", quoted(&one.command.command))).collect();
        let commands = format!("{} passed in record {seq}", names.join(", "));
        return match report.changes.last_write {
            _ if report.run.reverted.is_some() => {
                format!("not verified: {commands}, before the changes were undone")
            }
            Some(write) if write > seq => {
                format!("not verified: {commands}, but record {write} changed files after it")
            }
            Some(_) => format!("verified: {commands}, and nothing was changed after it"),
            None => format!("verified: {commands}"),
        };
    }
    let by = report.run.moves().next_back().and_then(|step| Some((step.by.as_ref()?, step.event.clone()?)));
    match by {
        _ if !report.run.phase.is_over() => "nothing is verified yet".to_owned(),
        Some((by, event)) => format!("not verified by a command: {} decided it with `{event}`", by.name),
        None if last.is_none() => "not verified: the run executed no command that checks it".to_owned(),
        None => "not verified: the last command did not pass".to_owned(),
    }
}

fn unproved(report: &Report) -> Option<String> {
    report.unproved().map(|_| "the machine itself is not proved (`--unproved`)".to_owned())
}

/// Puts text from the run's data on one line and shortens it.
fn quoted(words: &str) -> String {
    let line = words.split_whitespace().collect::<Vec<_>>().join(" ");
    let line = line.trim_end_matches('.');
    match line.char_indices().nth(QUOTED_CHARS_MAX) {
        Some((end, _)) => format!("{}…", &line[..end]),
        None => line.to_owned(),
    }
}
