//! The contents of a report for people and their order, the same for every machine.

use interlock_activity::{
    refused::Refused,
    report::{Part, Section, TimeSpent},
};
use interlock_journal::moment;

use super::{Report, commands, failing, repeat};
use crate::{
    follow::{Spent, Tally},
    why,
};

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

/// Returns the sections before the picture: the failures, unless the story of an activity has a sentence of its own; the
/// refusals and the changes; the story; then the sections that every report has.
pub(super) fn sections(report: &Report) -> Vec<Section> {
    let mut sections = Vec::new();
    if report.story.as_ref().is_none_or(|story| story.sentence.is_empty()) {
        sections.push(Section::new("Failures", failing::table(&report.failing)));
    }
    sections.push(Section::new("Refused", refused(report)));
    sections.push(Section::new("Changes", report.changes.table(&report.difference)));
    sections.extend(report.story.iter().flat_map(|story| story.sections.clone()));
    sections.push(Section::new("Commands", commands::table(&report.commands)));
    sections.push(Section::new("Judgements", judged(report)));
    sections.push(Section::new("Cost", cost(report)));
    sections.push(Section::new("Time", time(report)));
    sections.extend(repeat::sections(report));
    sections.retain(|section| !section.parts.is_empty());
    sections
}

fn judged(report: &Report) -> Vec<Part> {
    let table = Part::table(&["judgement", "by", "answer", "evidence"], report.judged.rows.clone());
    table.into_iter().chain(report.judged.in_words().map(Part::Text)).collect()
}

/// Lists what policy or a person refused.
fn refused(report: &Report) -> Vec<Part> {
    let row = |(seq, one): &(u64, Refused)| {
        vec![seq.to_string(), format!("`{}`", one.what), one.rule.clone(), one.reason.clone()]
    };
    let rows = report.tally.refused.iter().map(row).collect();
    Part::table(&["record", "asked for", "rule", "reason"], rows).into_iter().collect()
}

/// Lists the tokens and the cost, with the same figures as the lists of runs.
fn cost(report: &Report) -> Vec<Part> {
    let Tally { agents, judges, .. } = &report.tally;
    let parts = [("judgements", *judges), ("coding agents", *agents), ("child runs", report.children)];
    let used: Vec<(&str, Spent)> = parts.into_iter().filter(|(_, spent)| *spent != Spent::default()).collect();
    let total = used.iter().fold(Spent::default(), |sum, (_, spent)| sum.and(*spent));
    let row =
        |(what, spent): (&str, Spent)| vec![what.to_owned(), spent.tokens.to_string(), format!("${:.4}", spent.cost)];
    let rows = match used.is_empty() {
        true => Vec::new(),
        false => used.into_iter().chain([("total", total)]).map(row).collect(),
    };
    Part::table(&["part", "tokens", "cost"], rows).into_iter().collect()
}

fn time(report: &Report) -> Vec<Part> {
    let time = TimeSpent::of(&report.run, report.judged.latency_ms);
    let seconds = |ms: u64| format!("{:.2} s", ms as f64 / 1_000.0);
    let rows = [
        ("total", seconds(time.total_ms)),
        ("programs", seconds(time.programs_ms)),
        ("models", seconds(time.models_ms)),
        ("coding agents", seconds(time.agents_ms)),
        ("child runs and other computers", seconds(time.others_ms)),
        ("waiting for people", seconds(time.waiting_ms)),
        ("Interlock itself", format!("{} ({:.1} %)", seconds(time.own_ms()), time.own_percent())),
    ];
    // A part that took no time says nothing, except Interlock's own.
    let rows = rows.into_iter().filter(|(_, time)| time != "0.00 s");
    let rows = rows.map(|(what, time)| vec![what.to_owned(), time]).collect();
    Part::table(&["part", "time"], rows).into_iter().collect()
}
