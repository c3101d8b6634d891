//! The contents of a report for people and their order, the same for every machine.

use interlock_activity::report::{Part, Section, TimeSpent};
use interlock_journal::moment;

use super::{Report, commands, failing, repeat};
use crate::why;

/// The explanation below a picture.
pub(super) const PICTURE_CAPTION: &str = "Only the states that the run visited and the transitions that it took. \
                                          A number such as 3× says how often a transition was taken; without one, it was taken once.";

/// Returns the rows of the table below the first sentence.
pub(super) fn facts(report: &Report) -> Vec<(&'static str, String)> {
    let Report { head, follower, run, .. } = report;
    let definition = &follower.live.loaded.definition;
    let last_ms = run.records.last().map_or(head.updated_ms, |record| record.at_ms);
    let mut facts = vec![
        ("machine", format!("{} version {}", head.machine, definition.version)),
        ("outcome", format!("{} in {}", run.phase.word(), follower.live.place())),
        ("started", moment::rfc3339(head.created_ms)),
        ("last record", format!("{} at {}", follower.live.seq, moment::rfc3339(last_ms))),
        ("directory", run.folder.display().to_string()),
    ];
    facts.extend(report.created().map(|created| ("started by", created.by.name.clone())));
    facts.extend(report.unproved().map(|refusals| ("unproved", why::unproved(refusals))));
    facts.extend(head.parent.clone().map(|parent| ("started by run", parent)));
    facts.extend(run.reverted.as_ref().map(|undo| ("undone", undo.when())));
    facts
}

/// Returns the sections before the picture: the failures and the changes, unless the story of an activity has a sentence
/// of its own; the story; then the sections that every report has.
pub(super) fn sections(report: &Report) -> Vec<Section> {
    let mut sections = Vec::new();
    if report.story.as_ref().is_none_or(|story| story.sentence.is_empty()) {
        sections.push(Section::new("Failures", failing::table(&report.failing)));
        sections.push(Section::new("Changes", report.changes.table()));
    }
    sections.extend(report.story.iter().flat_map(|story| story.sections.clone()));
    sections.push(Section::new("Commands", commands::table(&report.commands)));
    sections.push(Section::new("Judgements", judged(report)));
    sections.push(Section::new("Time", time(report)));
    sections.extend(repeat::sections(report));
    sections.retain(|section| !section.parts.is_empty());
    sections
}

fn judged(report: &Report) -> Vec<Part> {
    let table = Part::table(&["judgement", "by", "answer", "evidence"], report.judged.rows.clone());
    table.into_iter().chain(report.judged.in_words().map(Part::Text)).collect()
}

fn time(report: &Report) -> Vec<Part> {
    let time = TimeSpent::of(&report.run, report.judged.latency_ms);
    let seconds = |ms: u64| format!("{:.2} s", ms as f64 / 1_000.0);
    let rows = [
        ("total", seconds(time.total_ms)),
        ("programs", seconds(time.programs_ms)),
        ("models", seconds(time.models_ms)),
        ("waiting for people", seconds(time.waiting_ms)),
        ("Interlock itself", format!("{} ({:.1} %)", seconds(time.own_ms()), time.own_percent())),
    ];
    let rows = rows.into_iter().map(|(what, time)| vec![what.to_owned(), time]).collect();
    Part::table(&["part", "time"], rows).into_iter().collect()
}
