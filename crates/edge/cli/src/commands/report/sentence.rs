//! The first sentence of a report: the outcome of the run and its reason, the failures, the changes and their presence
//! in the directory, and the certainty of the result.

use interlock_activity::report::{Claim, RunRecord, reading::text};
use interlock_chart::counted;
use interlock_journal::{Entry, Phase};
use interlock_workspace::COMMIT_EVIDENCE;
use serde_json::Value as Json;

use super::{super::undo, Report, changes::ChangedPath, commands::Executed, failing::Failing, shown};

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
        moved_back(report),
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
    let reason = report.reason.as_deref().map(quoted).filter(|reason| !reason.is_empty());
    let goal = goal(&report.run.input).map(|goal| format!(" ({goal})")).unwrap_or_default();
    format!("{}{goal} {how}{}", report.run.machine, reason.map(|reason| format!(": {reason}")).unwrap_or_default())
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

/// Describes the changed files, and separates the changes that the run kept from those that were undone. Only the records
/// are known, so nothing is said about the directory: a person can have changed it since.
fn changed(report: &Report) -> Option<String> {
    let changes = &report.changes;
    if !changes.unknown.is_empty() && changes.paths.is_empty() {
        return Some(format!("the changes are not known: {}", quoted(&changes.unknown.join(", "))));
    }
    let (kept, back): (Vec<&ChangedPath>, Vec<&ChangedPath>) = changes.paths.iter().partition(|path| path.is_in_tree);
    let (of_children, kept): (Vec<&ChangedPath>, Vec<&ChangedPath>) =
        kept.into_iter().partition(|path| path.run.is_some());
    let when = report.run.reverted.as_ref().map(|undo| format!(" {}", undo.when())).unwrap_or_default();
    let was = |paths: &[&ChangedPath]| if paths.len() == 1 { "was" } else { "were" };
    let when_seen = if report.run.phase.is_over() { "by the run" } else { "so far" };
    let own = (!kept.is_empty()).then(|| format!("{} {} changed {when_seen}", named(&kept), was(&kept)));
    let children = of_children
        .first()
        .and_then(|first| first.run.as_ref())
        .map(|run| format!("{} {} changed by the child run {run}", named(&of_children), was(&of_children)));
    let undone = (!back.is_empty()).then(|| format!("{} {} changed and undone{when}", named(&back), was(&back)));
    let parts: Vec<String> = [own, children, undone].into_iter().flatten().collect();
    Some(if parts.is_empty() { unrecorded(report) } else { parts.join(", ") })
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

/// Says that the branches and tags of the run were moved back since. An undo that restored files is told with them.
fn moved_back(report: &Report) -> Option<String> {
    let undone = report.run.records.iter().filter_map(|record| match &record.entry {
        Entry::Undone(undone) => Some((record.seq, undone.clone())),
        _ => None,
    });
    let undone: Vec<_> = undone.collect();
    let (seq, undone) = undo::in_effect(&undone).filter(|_| report.run.reverted.is_none())?;
    Some(format!("its branches and tags were moved back in record {seq} by {}", undone.by.name))
}

fn named(paths: &[&ChangedPath]) -> String {
    let names: Vec<&str> = paths.iter().take(NAMED_MAX).map(|one| one.path.as_str()).collect();
    match paths.len() - names.len() {
        0 => names.join(", "),
        more => format!("{} and {}", names.join(", "), counted(more, "more file", "more files")),
    }
}

/// Describes the support for the result: checks that passed after the last change, or a person, or nothing. Only the
/// commands count that the machine declares as checks, and only the last record of them.
fn certainty(report: &Report) -> String {
    let checks = || report.commands.iter().filter(|one| one.command.is_check());
    let last = checks().map(|one| one.seq).max();
    let latest: Vec<&Executed> = checks().filter(|one| Some(one.seq) == last).collect();
    let doubt =
        report.run.records.iter().rev().find_map(|record| Some((record.seq, record.account.as_ref()?.doubt.clone()?)));
    if let Some((seq, doubt)) = doubt.filter(|(seq, _)| last.is_none_or(|last| *seq >= last)) {
        return format!("not verified: {} (record {seq})", quoted(&doubt));
    }
    if let Some(seq) = last.filter(|_| latest.iter().all(|one| one.command.has_passed)) {
        return with_earlier(report, seq, passed(report, seq, &latest));
    }
    let decided = report.run.records.iter().rev().filter(|record| !matches!(record.entry, Entry::Undone(_)));
    let last_move = decided.flat_map(|record| record.moves.iter().rev()).next();
    let by = last_move.and_then(|step| Some((step.by.as_ref()?, step.event.clone()?)));
    match by {
        _ if !report.run.phase.is_over() => "nothing is verified yet".to_owned(),
        Some((by, event)) => format!("not verified by a command: {} decided it with `{event}`", by.name),
        None if last.is_none() => unchecked(report),
        None => "not verified: the last check did not pass".to_owned(),
    }
}

/// Adds the checks of earlier commits, such as those of other tasks, to the words about the last check.
fn with_earlier(report: &Report, last: u64, told: String) -> String {
    let earlier = of_earlier_commits(report, last);
    if earlier.is_empty() {
        return told;
    }
    let weak: Vec<String> = earlier
        .iter()
        .filter_map(|(seq, checks)| {
            let why = checks.iter().find_map(|one| match one.command.has_passed {
                true => one.command.objection.as_deref().or(one.command.shortfall.as_deref()),
                false => Some("the check did not pass"),
            })?;
            Some(format!("in record {seq} {}", quoted(why)))
        })
        .take(NAMED_MAX)
        .collect();
    if weak.is_empty() {
        let records: Vec<String> = earlier.iter().map(|(seq, _)| seq.to_string()).collect();
        let commits = counted(earlier.len(), "earlier commit", "earlier commits");
        return format!("{told}, as did the checks of {commits} (records {})", records.join(", "));
    }
    let told = told.strip_prefix("verified: ").map_or(told.clone(), |told| format!("not fully verified: {told}"));
    format!("{told}; of earlier commits, {}", weak.join("; "))
}

/// Returns the last checks before each commit but the last one that has checks, with their record.
fn of_earlier_commits(report: &Report, last: u64) -> Vec<(u64, Vec<&Executed>)> {
    let has_commit = |record: &&RunRecord| record.entry.evidence().iter().any(|file| file.name == COMMIT_EVIDENCE);
    let (mut found, mut since) = (Vec::new(), 0);
    for commit in report.run.records.iter().filter(has_commit).map(|record| record.seq) {
        let checks = || {
            let checks = report.commands.iter().filter(|one| one.command.is_check());
            checks.filter(move |one| one.seq > since && one.seq < commit)
        };
        if let Some(seq) = checks().map(|one| one.seq).max().filter(|seq| *seq != last) {
            found.push((seq, checks().filter(|one| one.seq == seq).collect()));
        }
        since = commit;
    }
    found
}

/// Describes checks that passed in a record.
fn passed(report: &Report, seq: u64, checks: &[&Executed]) -> String {
    let names: Vec<String> = checks.iter().map(|one| format!("`{}`", quoted(&one.command.command))).collect();
    let commands = format!("{} passed in record {seq}", names.join(", "));
    if let Some(why) = checks.iter().find_map(|one| one.command.objection.as_ref()) {
        return format!("not verified: {commands}, but proves nothing, because {}", quoted(why));
    }
    let shortfall = checks.iter().find_map(|one| one.command.shortfall.as_deref());
    let shown = checks.iter().map(|one| one.command.shown.as_str()).find(|shown| !shown.is_empty());
    let shown = shown.map(|shown| format!(" ({})", quoted(shown))).unwrap_or_default();
    match report.changes.last_write {
        _ if report.run.reverted.is_some() => format!("not verified: {commands}, before the changes were undone"),
        Some(write) if write > seq => format!("not verified: {commands}, but record {write} changed files after it"),
        _ if shortfall.is_some() => {
            format!("not fully verified: {commands}{shown}, but {}", quoted(shortfall.unwrap_or_default()))
        }
        Some(_) => format!("verified: {commands}{shown}, and the run changed nothing after it"),
        None => format!("verified: {commands}{shown}"),
    }
}

/// Describes a run without a check: its last command is a fact and no proof.
fn unchecked(report: &Report) -> String {
    let last = report.commands.iter().rev().find(|one| one.command.claim == Claim::Step);
    let fact = last.map(|one| {
        let command = &one.command;
        let end = match (command.exit_code, command.has_passed) {
            (Some(code), _) => format!("ended with exit code {code}"),
            (None, true) => "ended".to_owned(),
            (None, false) => "did not end by itself".to_owned(),
        };
        let but = command.objection.as_ref().map(|why| format!(", but {}", quoted(why))).unwrap_or_default();
        format!("; `{}` {end} in record {}{but}", quoted(&command.command), one.seq)
    });
    format!(
        "not verified: the run executed no command that its machine declares as a check{}",
        fact.unwrap_or_default()
    )
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
